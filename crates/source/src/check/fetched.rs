//! What a function of the file fetches from the user and asks something of, so that its
//! result tells its caller what it was.

use std::cell::Cell;
use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::known::{Asked, Fetched};

/// The fetches of a function whose address is made of its parameters, where something
/// is asked of what they gave.
pub(crate) fn fetches(function: &FunctionContext<'_>, names: &[String]) -> Vec<Fetched> {
    let reads = |own: &&Access<'_>| own.word.direction == Direction::Read && !own.inside;
    let all = function.accesses.iter().filter(reads);
    let own = all.filter_map(|access| {
        let address = by_parameters(function, names, access.address.clone())?;
        Some(Fetched {
            address,
            counted: access.count.is_some(),
            asked: asked(function, access)?,
        })
    });
    own.collect()
}

/// So many variables may stand between an address and the parameter that it is made of.
const STEPS: usize = 3;

/// So many variables a value may be made of that stands for another one.
const MOST: usize = 4;

/// How often a value names a variable.
fn variables(value: &Expression) -> usize {
    let found = Cell::new(0);
    // Nothing is looked for: all of it is looked at.
    value.any(&|part| {
        found.set(found.get() + usize::from(part.name().is_some()));
        false
    });
    found.get()
}

/// An address by the parameters that it is made of, which keep their values: a variable
/// that takes one value is that.
fn by_parameters(
    function: &FunctionContext<'_>,
    names: &[String],
    mut address: Expression,
) -> Option<Expression> {
    for _ in 0..STEPS {
        let root = address.root().name()?.to_owned();
        let mut values = function.graph.assignments().filter(|(own, _)| *own == root);
        let Some((_, value)) = values.next() else {
            let own = names.contains(&root) && !function.graph.takes_a_value(&root);
            return own.then_some(address);
        };
        let value = function
            .expression(value)
            .filter(|_| values.next().is_none())?;
        if variables(&value) > MOST {
            return None;
        }
        address = address.replaced(&root, value.uncast().1);
    }
    None
}

/// What is asked behind an access of what it filled, by a condition or by what is returned.
fn asked(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Asked> {
    let (mut whole, mut value, mut fields) = (false, false, BTreeSet::new());
    for node in function.mentions(&access.value_root) {
        let own = access.span.end <= node.start_byte() && is_asked(function, node);
        let Some(around) = function.above(node).filter(|_| own) else {
            continue;
        };
        match around.known_kind() {
            "field_expression" => {
                let field = around.part("field");
                fields.extend(field.map(|field| function.context.written(field)));
            }
            "pointer_expression" => whole |= is_argument(function, around),
            _ => {
                whole |= access.count.is_some() && is_argument(function, node);
                value |= access.count.is_none();
            }
        }
    }
    match (whole, value) {
        (true, _) => Some(Asked::Whole),
        (_, true) => Some(Asked::Value),
        _ => (!fields.is_empty()).then_some(Asked::Fields(fields)),
    }
}

/// Whether a call is given words to print, and nothing asks what it gives: whatever else it is
/// given, it judges nothing.
pub(crate) fn is_line_of_log(call: Node<'_>) -> bool {
    let alone = call.parent().map(|own| own.known_kind()) == Some("expression_statement");
    let Some(list) = call.part("arguments").filter(|_| alone) else {
        return false;
    };
    let mut cursor = list.walk();
    let mut given = list.named_children(&mut cursor);
    given.any(|own| matches!(own.known_kind(), "string_literal" | "concatenated_string"))
}

/// Whether a node stands in a condition, or in what is returned.
fn is_asked(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(around) = function.above(inner) {
        let condition = around.part("condition").map(|own| own.id());
        match around.known_kind() {
            "return_statement" => return true,
            "if_statement" | "while_statement" | "switch_statement" | "conditional_expression" => {
                return condition == Some(inner.id());
            }
            "declaration" => return false,
            _ if around.is_statement() => return false,
            _ => inner = around,
        }
    }
    false
}

fn is_argument(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let around = function.above(node);
    around.is_some_and(|around| around.known_kind() == "argument_list")
}

/// Whether a call stands in one of some conditions, or what takes its result is asked in
/// one: what it found is known there.
pub(crate) fn is_told(function: &FunctionContext<'_>, call: Node<'_>, conditions: &[Span]) -> bool {
    let holder = function.above(call);
    let taken = holder.and_then(|holder| match holder.known_kind() {
        "assignment_expression" => holder.part("left"),
        "init_declarator" => holder.part("declarator"),
        _ => None,
    });
    let name = taken.map(|own| function.context.written(bare(own)));
    conditions.iter().any(|condition| {
        let named = name.as_ref();
        condition.contains(span(call))
            || named.is_some_and(|name| function.graph.names(*condition, name))
    })
}

/// Whether an expression is the address of a variable, or an array or a pointer itself.
pub(crate) fn is_all_of(own: &Expression, variable: &str) -> bool {
    match &own.uncast().1.term {
        Term::Address(of) => of.name() == Some(variable),
        Term::Name(name) => name == variable,
        _ => false,
    }
}

/// The member of what lies at an address that another address is that of: `&p->len`.
pub(crate) fn member_of(of: &Expression, whole: &Expression) -> Option<String> {
    let Term::Address(place) = &of.term else {
        return None;
    };
    let Term::Member {
        holder,
        arrow,
        field,
    } = &place.term
    else {
        return None;
    };
    let holder = holder.uncast().1;
    let inside = match arrow {
        true => holder == whole,
        false => is_at(holder, whole),
    };
    inside.then(|| field.clone())
}

/// Whether an address is that of an object: `&x` of `x`, `p + n` of `p[n]`.
fn is_at(object: &Expression, address: &Expression) -> bool {
    match (&object.term, &address.term) {
        (_, Term::Address(place)) => place.uncast().1 == object,
        (Term::Element { array, index }, Term::Binary(front, operator, by)) => {
            let same = front.uncast().1 == array.uncast().1 && by.uncast().1 == index.uncast().1;
            operator == "+" && same
        }
        _ => false,
    }
}
