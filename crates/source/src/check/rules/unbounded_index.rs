use tree_sitter::Node;

use crate::check::bits::{self, Bit};
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::{bounded, extent, space, unbounded};
use crate::compared::Ordered;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unbounded-index",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "an element of a kernel's array is picked by a number that the user gives as it is",
    why: "Any number picks an element: what lies behind the array is read, or written over. A bound has to \
          come before it, and array_index_nospec() where an attacker may train the branch.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    function.each_of(&["subscript_expression"], |node| {
        if node.known_kind() == "subscript_expression" {
            out.extend(picked(function, node));
        }
    });
    for access in function.accesses.iter().chain(function.through) {
        out.extend(reached(function, access.value_node));
    }
    for call in function.calls {
        out.extend(bits::picked(function, *call).and_then(|own| bit(function, &own)));
    }
}

/// A bit of a map, as the user says.
fn bit(function: &FunctionContext<'_>, own: &Bit) -> Option<Violation> {
    let source = unbounded::users(function, &own.number, own.at)?;
    let may_be_bounded = is_parameter(function, &own.number)
        || unbounded::is_handed_before(function, &own.number, own.at)
        || own.is_small(function);
    (!may_be_bounded).then(|| {
        let file = function.file;
        let map = file.plain(own.map.span);
        let told =
            format!("{source} is the user's, and nothing bounds it before it picks a bit of {map}");
        file.violation(&INFO, own.at, "any number gets here", told)
    })
}

fn picked(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let element = function.expression_of(node);
    let Term::Element { array, index } = &element.term else {
        return None;
    };
    let number = index.uncast().1;
    let rounds = || counted(function, array, number, node);
    let source = unbounded::users(function, number, element.span).or_else(rounds)?;
    told(function, (array, number), &element, &source)
}

/// `array + index`, of which a copy begins.
fn reached(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let address = function.expression_of(node);
    let address = address.uncast().1;
    let Term::Binary(array, operator, index) = &address.term else {
        return None;
    };
    space::elements(function, array).filter(|_| operator == "+")?;
    let number = index.uncast().1;
    let source = unbounded::users(function, number, address.span)?;
    told(function, (array, number), address, &source)
}

fn told(
    function: &FunctionContext<'_>,
    (array, number): (&Expression, &Expression),
    element: &Expression,
    source: &str,
) -> Option<Violation> {
    let may_be_bounded = is_parameter(function, number)
        || fits_by_type(function, number, array)
        || fits_by_values(function, number, array)
        || is_held_by_loop(function, number, element.span)
        || is_made_for(function, array, number)
        || unbounded::is_handed_before(function, number, element.span)
        || space::is_users(function, array);
    (!may_be_bounded).then(|| {
        let array = function.file.plain(array.span);
        let message = format!(
            "{source} is the user's, and nothing bounds it before it picks an element of {array}"
        );
        function
            .file
            .violation(&INFO, element.span, "any number gets here", message)
    })
}

/// The user's number of rounds, where a loop counts through an array which has a number of
/// elements of its own, and nothing else ends it.
fn counted(
    function: &FunctionContext<'_>,
    array: &Expression,
    number: &Expression,
    node: Node<'_>,
) -> Option<String> {
    let name = number.name()?;
    let mut around = std::iter::successors(Some(node), Node::parent);
    let round = around.find(|own| own.known_kind() == "for_statement")?;
    let asked = function.expression_of(round.part("condition")?);
    let Term::Binary(left, operator, most) = &asked.term else {
        return None;
    };
    let counts = operator == "<" && left.name() == Some(name);
    let most = Some(most.uncast().1).filter(|_| counts)?;
    let source = unbounded::users(function, most, span(round))?;
    let root = most.root().name()?;
    let kept = !bounded::is_compared(function, number, span(round))
        && !unbounded::is_handed_before(function, most, span(round))
        && !function.is_parameter(root);
    // A type takes a search of the headers.
    kept.then_some(())?;
    space::elements(function, array.uncast().1).map(|_| source)
}

/// Whoever calls the function by a pointer to it may have bounded it.
fn is_parameter(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let root = number.root().name();
    root.is_some_and(|root| function.is_parameter(root))
        && unbounded::is_callback(function)
        && !function.file.answers_a_program(function.body)
}

/// Whether every value that its type has is an index of the array.
fn fits_by_type(function: &FunctionContext<'_>, number: &Expression, array: &Expression) -> bool {
    let Some(size) = space::type_of(function, number).map(|of| of.size) else {
        // A bit field, or of a type that nobody knows.
        return true;
    };
    let elements = match space::type_of(function, array).map(|of| of.shape) {
        Some(Shape::Array(_, count)) => count,
        _ => 0,
    };
    match size {
        // A table that bytes pick from has an element for each, unless its type says
        // otherwise.
        1 => elements == 0 || elements >= 1 << 8,
        2 => elements >= 1 << 16,
        _ => false,
    }
}

/// Whether each round of a loop around a place asks whether the number is less than one that no variable
/// says: `for (; i < n && i < MOST; i++)`.
fn is_held_by_loop(function: &FunctionContext<'_>, number: &Expression, at: Span) -> bool {
    let mut held = false;
    function.each_of(&LOOPS, |node| {
        let condition = node.part("condition").filter(|_| !held);
        let Some(condition) = condition.filter(|_| span(node).contains(at)) else {
            return;
        };
        let asked = function.expression_of(condition);
        held = all_of(&asked).into_iter().any(|own| {
            let ordered = Ordered::of(own);
            ordered.is_some_and(|own| {
                own.less.uncast().1 == number && extent::constant(function, own.more).is_some()
            })
        });
    });
    held
}

/// What has to hold, each by itself, where all of it does.
fn all_of(asked: &Expression) -> Vec<&Expression> {
    match &asked.uncast().1.term {
        Term::Binary(left, operator, right) if operator == "&&" => {
            let mut all = all_of(left);
            all.extend(all_of(right));
            all
        }
        _ => vec![asked],
    }
}

/// Whether a place is where a variable is declared.
fn is_declared(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let local = function.graph.local(name);
    local.is_some_and(|own| own.declared.contains(at))
}

/// Whether all that a variable ever takes are places whose types say so: `i = kbs->kb_func` of a byte.
fn fits_by_values(function: &FunctionContext<'_>, number: &Expression, array: &Expression) -> bool {
    let Some(name) = number
        .name()
        .filter(|own| function.graph.local(own).is_some())
    else {
        return false;
    };
    let graph = function.graph;
    let mut taken = graph
        .assignments()
        .filter(|(own, _)| *own == name)
        .peekable();
    let Some(elements) = space::elements(function, array) else {
        return false;
    };
    let only = graph.effects.iter().all(|own| match &own.kind {
        EffectKind::Write(write) if graph.name_of(own) == name => {
            write.value.is_some() || is_declared(function, name, own.span)
        }
        EffectKind::Handed { .. } => graph.name_of(own) != name,
        _ => true,
    });
    only && taken.peek().is_some()
        && taken.all(|(_, value)| {
            let value = function.expression(value);
            value.is_some_and(|value| {
                let place = value.uncast().1;
                let size = matches!(place.term, Term::Member { .. })
                    .then(|| space::type_of(function, place).map(|of| of.size));
                match size.flatten() {
                    Some(1) => elements >= 1 << 8,
                    Some(2) => elements >= 1 << 16,
                    _ => false,
                }
            })
        })
}

/// Whether the array was made with as many elements as the number says.
fn is_made_for(function: &FunctionContext<'_>, array: &Expression, number: &Expression) -> bool {
    let Some(number) = number.root().name() else {
        return true;
    };
    let Some(array) = array.uncast().1.name() else {
        return false;
    };
    let graph = function.graph;
    let mut writes = graph
        .effects
        .iter()
        .filter(|own| graph.name_of(own) == array);
    writes.any(|own| match &own.kind {
        EffectKind::Write(write) if graph.is_whole(own) => {
            write.value.is_some_and(|value| graph.names(value, number))
        }
        EffectKind::Handed { by_address } => *by_address,
        _ => false,
    })
}
