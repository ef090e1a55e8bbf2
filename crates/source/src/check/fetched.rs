//! What a function of the file fetches from the user and asks something of, so that its
//! result tells its caller what it was.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};

use super::accesses::{Access, each};
use super::context::FunctionContext;

/// A fetch in a function, by its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// The user's address, without casts, as the function names it.
    pub(crate) address: Expression,
    /// Whether it is of so many bytes, and not of one value.
    pub(crate) counted: bool,
    /// What of it was asked.
    pub(crate) asked: Asked,
}

/// What of a fetched object a function asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All of it, by another function that is given its address.
    Whole,
    /// Its value, of what is but one.
    Value,
    /// So many of its members.
    Fields(BTreeSet<String>),
}

impl Fetched {
    /// The fetches of a function whose address is made of its parameters, where something
    /// is asked of what they gave.
    pub(crate) fn all(function: &FunctionContext<'_>, names: &[String]) -> Vec<Self> {
        let reads = |own: &&Access<'_>| own.word.direction == Direction::Read && !own.inside;
        let all = function.accesses.iter().filter(reads);
        let own = all.filter_map(|access| {
            let address = by_parameters(function, names, access.address.clone())?;
            Some(Self {
                address,
                counted: access.count.is_some(),
                asked: asked(function, access)?,
            })
        });
        own.collect()
    }

    /// The address as a caller names it, who gives these arguments for those parameters.
    pub(crate) fn given(&self, names: &[String], arguments: &[Expression]) -> Expression {
        let all = names.iter().zip(arguments);
        all.fold(self.address.clone(), |own, (name, argument)| {
            own.replaced(name, argument.uncast().1)
        })
    }
}

/// So many variables may stand between an address and the parameter that it is made of.
const STEPS: usize = 3;

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
        address = address.replaced(&root, value.uncast().1);
    }
    None
}

/// What is asked behind an access of what it filled, by a condition or by what is returned.
fn asked(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Asked> {
    let (mut whole, mut value, mut fields) = (false, false, BTreeSet::new());
    let variable = access.value_root.as_bytes();
    each(function.root, &mut |node| {
        let own = node.kind() == "identifier"
            && function.context.seen(node) == variable
            && access.span.end <= node.start_byte()
            && is_asked(node);
        let Some(around) = node.parent().filter(|_| own) else {
            return;
        };
        match around.kind() {
            "field_expression" => {
                let field = around.part("field");
                fields.extend(field.map(|field| function.context.written(field)));
            }
            "pointer_expression" => whole |= is_argument(around),
            _ => {
                whole |= access.count.is_some() && is_argument(node);
                value |= access.count.is_none();
            }
        }
    });
    match (whole, value) {
        (true, _) => Some(Asked::Whole),
        (_, true) => Some(Asked::Value),
        _ => (!fields.is_empty()).then_some(Asked::Fields(fields)),
    }
}

/// Whether a node stands in a condition, or in what is returned.
fn is_asked(node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(around) = inner.parent() {
        let condition = around.part("condition").map(|own| own.id());
        match around.kind() {
            "return_statement" => return true,
            "if_statement" | "while_statement" | "switch_statement" | "conditional_expression" => {
                return condition == Some(inner.id());
            }
            kind if kind.ends_with("_statement") || kind == "declaration" => return false,
            _ => inner = around,
        }
    }
    false
}

fn is_argument(node: Node<'_>) -> bool {
    let around = node.parent();
    around.is_some_and(|around| around.kind() == "argument_list")
}

/// Whether a call stands in a condition, or what takes its result is asked in one before
/// the byte: what it found is known there.
pub(crate) fn is_told(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    conditions: &[crate::span::Span],
) -> bool {
    let holder = call.parent();
    let taken = holder.and_then(|holder| match holder.kind() {
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
