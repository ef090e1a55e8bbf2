use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::{Access, each};
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "double-fetch",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a value is fetched from the user, checked, and fetched again for its use",
    why: "Another thread of the user can change it between the two. What was checked is then not what is \
          used. Fetch once, check the copy and use the copy.",
};

/// So many fetches of a function are compared with each other.
const FETCHES: usize = 64;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let reads = function.accesses.iter();
    let reads = reads.filter(|access| access.word.direction == Direction::Read);
    let fetches: Vec<&Access<'_>> = reads.take(FETCHES).collect();
    for (at, first) in fetches.iter().enumerate() {
        let later = fetches.iter().skip(at + 1);
        let again = later.filter(|second| follows(function, first, second));
        if let Some(second) = again
            .into_iter()
            .find(|second| is_double(function, first, second))
        {
            out.push(violation(function, first, second));
        }
    }
}

fn violation(function: &FunctionContext<'_>, first: &Access<'_>, second: &Access<'_>) -> Violation {
    let file = function.file;
    let message = format!(
        "what line {} fetched and the code checked is fetched again here, and used from here",
        function.line(first.span)
    );
    let mut violation = file.violation(&INFO, second.span, "fetched again", message);
    violation
        .related
        .push(file.mark(first.span, "fetched first, then checked"));
    violation
}

/// Whether a path leads from the one to the other, with the same user pointer.
fn follows(function: &FunctionContext<'_>, first: &Access<'_>, second: &Access<'_>) -> bool {
    let place = Span::new(first.span.start, second.span.end);
    let address: BTreeSet<&str> = names(function, first.user).collect();
    let moved = |effect: &Effect| {
        matches!(effect.kind, EffectKind::Write(_))
            && address.contains(function.graph.name_of(effect))
            && !function.graph.is_behind(effect)
    };
    first.user_root == second.user_root
        && !function.graph.effects_in(place).any(moved)
        && together(first.node, second.node)
}

/// The variables that are named in a place.
fn names<'s>(function: &'s FunctionContext<'_>, place: Span) -> impl Iterator<Item = &'s str> {
    let effects = function.graph.effects_in(place);
    effects.map(|effect| function.graph.name_of(effect))
}

/// Whether every branch that holds the first holds the second, too.
fn together(first: Node<'_>, second: Node<'_>) -> bool {
    let mut node = first;
    while let Some(parent) = node.parent() {
        let branch = match parent.kind() {
            "if_statement" => Some(node.id()) != parent.part("condition").map(|c| c.id()),
            "case_statement" | "else_clause" | "conditional_expression" => true,
            _ => false,
        };
        if branch && !span(node).contains(span(second)) {
            return false;
        }
        node = parent;
    }
    true
}

fn is_double(function: &FunctionContext<'_>, first: &Access<'_>, second: &Access<'_>) -> bool {
    let single = |access: &Access<'_>| access.count.is_none();
    match (single(first), single(second)) {
        (true, true) => {
            first.address == second.address
                && is_checked(function, first, second, &first.value_root)
                && is_used(function, second, &second.value_root)
        }
        (true, false) => field_of(&first.address, &second.address).is_some_and(|field| {
            is_checked(function, first, second, &first.value_root)
                && uses_field(function, first, second, &field)
        }),
        (false, false) if first.address == second.address => checked_field(function, first, second)
            .is_some_and(|field| uses_field(function, first, second, &field)),
        _ => false,
    }
}

/// `len` where the first address is `&p->len` and the second is `p`.
fn field_of(first: &Expression, whole: &Expression) -> Option<String> {
    let Term::Address(place) = &first.term else {
        return None;
    };
    match &place.term {
        Term::Member {
            holder,
            arrow: true,
            field,
        } if **holder == *whole => Some(field.clone()),
        _ => None,
    }
}

/// The conditions between two fetches.
fn conditions(
    function: &FunctionContext<'_>,
    first: &Access<'_>,
    second: &Access<'_>,
) -> Vec<Span> {
    let mut found = conditions_from(function, first.span.end);
    found.retain(|place| place.start < second.span.start && !place.contains(second.span));
    found
}

/// The conditions that end behind a byte.
fn conditions_from(function: &FunctionContext<'_>, byte: usize) -> Vec<Span> {
    let mut found = Vec::new();
    each(function.root, &mut |node| {
        let condition = match node.kind() {
            "if_statement" | "while_statement" | "switch_statement" => node.part("condition"),
            _ => None,
        };
        found.extend(condition.map(span).filter(|place| byte <= place.end));
    });
    found
}

/// Whether a condition between the two asks for the variable, beyond the fetch
/// that fills it.
fn is_checked(
    function: &FunctionContext<'_>,
    first: &Access<'_>,
    second: &Access<'_>,
    variable: &str,
) -> bool {
    let between = Span::new(first.span.end, second.span.start);
    let made = made_of(function, variable, between);
    let mut conditions = conditions(function, first, second).into_iter();
    conditions.any(|condition| {
        let from = if condition.contains(first.span) {
            Span::new(first.span.end, condition.end)
        } else {
            condition
        };
        let named = function.graph.names(from, variable);
        named || made.iter().any(|name| is_limited(function, from, name))
    })
}

/// Whether a condition compares the variable with a limit.
fn is_limited(function: &FunctionContext<'_>, condition: Span, variable: &str) -> bool {
    let graph = function.graph;
    let limits = graph
        .comparisons
        .iter()
        .filter(|at| condition.contains(**at));
    limits.into_iter().any(|at| graph.names(*at, variable))
}

/// What is made of a variable between two places: `size` of `size = n * 8`.
fn made_of<'s>(function: &'s FunctionContext<'_>, variable: &str, place: Span) -> Vec<&'s str> {
    let graph = function.graph;
    let assigned = graph
        .assignments()
        .filter(|(_, value)| place.contains(*value));
    let made = assigned.filter(|(name, value)| *name != variable && graph.names(*value, variable));
    made.map(|(name, _)| name).collect()
}

fn is_used(function: &FunctionContext<'_>, second: &Access<'_>, variable: &str) -> bool {
    let mut reads = function.reads(variable);
    reads.any(|read| second.span.end <= read.span.start)
}

/// The field of the first copy that a condition between the two asks for.
fn checked_field(
    function: &FunctionContext<'_>,
    first: &Access<'_>,
    second: &Access<'_>,
) -> Option<String> {
    let conditions = conditions(function, first, second);
    let mut found = None;
    each(function.root, &mut |node| {
        let place = span(node);
        let asked = node.kind() == "field_expression"
            && first.span.end <= place.start
            && conditions.iter().any(|c| c.contains(place));
        if asked && found.is_none() {
            found = field(function, node, &first.value_root);
        }
    });
    found
}

/// The field, if the node is one of that variable.
fn field(function: &FunctionContext<'_>, node: Node<'_>, variable: &str) -> Option<String> {
    let holder = bare(node.part("argument")?);
    (function.context.seen(holder) == variable.as_bytes())
        .then(|| node.part("field"))
        .flatten()
        .map(|field| function.context.written(field))
}

/// Whether the second copy's own field is read after it, and neither set nor
/// checked again.
fn uses_field(
    function: &FunctionContext<'_>,
    first: &Access<'_>,
    second: &Access<'_>,
    wanted: &str,
) -> bool {
    let (mut read, mut set) = (false, false);
    let checks = operands(function, &conditions(function, first, second));
    let later = operands(function, &conditions_from(function, second.span.end));
    let again = |place: Span| {
        let mut own = later.iter().filter(|own| own.span.contains(place));
        own.any(|own| checks.contains(own))
    };
    each(function.root, &mut |node| {
        if span(node).start < second.span.end || node.kind() != "field_expression" {
            return;
        }
        if field(function, node, &second.value_root).as_deref() != Some(wanted) {
            return;
        }
        let assigned = node.parent().is_some_and(|p| {
            p.kind() == "assignment_expression" && p.part("left").map(|l| l.id()) == Some(node.id())
        });
        // Set again, compared with what was checked, or checked as it was.
        let settled = assigned || is_compared(function, node) || again(span(node));
        set |= settled;
        read |= !settled;
    });
    read && !set
}

/// What conditions ask for, each thing by itself.
fn operands(function: &FunctionContext<'_>, conditions: &[Span]) -> Vec<Expression> {
    let mut found = Vec::new();
    for whole in conditions.iter().filter_map(|at| function.expression(*at)) {
        let either = whole.joined("||").into_iter();
        found.extend(either.flat_map(|own| own.joined("&&")).cloned());
    }
    found
}

/// Whether a condition compares the node with something.
fn is_compared(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut node = node;
    while let Some(parent) = node.parent() {
        let operator = function.context.operator(parent);
        if parent.kind() == "binary_expression" && matches!(operator, b"!=" | b"==") {
            return true;
        }
        if parent.kind().ends_with("_statement") {
            return false;
        }
        node = parent;
    }
    false
}
