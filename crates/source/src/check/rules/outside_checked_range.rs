use tree_sitter::Node as Syntax;

use crate::check::accesses::{each, root_of};
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::paths::Open;
use crate::check::range::{Range, declared_type, is_picked, is_related, member};
use crate::check::rule::{Look, Rule};
use crate::expression::Expression;
use crate::flow::{Action, Begin, Effect, EffectKind, Inside, Node, Opening};
use crate::model::Reach;
use crate::node::Parts as _;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "outside-checked-range",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "an access outside the object or the size that the begin checked",
    why: "unsafe_*() check nothing themselves. What the begin did not check may be the kernel's own \
          memory; on book3s/32 it also is not open, since a window there covers segments of 256 MB.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for node in 0..function.graph.nodes.len() {
        if let Some((begin, opened)) = function.begin(node) {
            let accesses = accesses(function, node);
            out.extend(window(function, (node, begin), opened, &accesses));
        }
    }
}

/// The accesses that are reached with the window of that begin open.
fn accesses<'s>(function: &'s FunctionContext<'_>, begin: usize) -> Vec<(&'s Inside, Span)> {
    let nodes = function.graph.nodes.iter().zip(&function.paths.before);
    let open = nodes.filter(|(_, states)| {
        states
            .iter()
            .any(|state| state.open.last() == Some(&Open::Here(begin)))
    });
    open.filter_map(|(node, _)| match &node.action {
        Action::Inside(inside) if !inside.wrapper => Some((inside, node.span)),
        _ => None,
    })
    .collect()
}

fn window(
    function: &FunctionContext<'_>,
    (node, begin): (usize, &Begin),
    opened: Span,
    accesses: &[(&Inside, Span)],
) -> Vec<Violation> {
    let Some(range) = Range::of(function, begin) else {
        return Vec::new();
    };
    if let Some(message) = range.wrong(function) {
        return vec![
            function
                .file
                .violation(&INFO, opened, "checks this range", message),
        ];
    }
    let mut found: Vec<Violation> = accesses
        .iter()
        .filter_map(|(inside, place)| {
            let beyond = outside(function, &range, begin, inside, *place);
            beyond.or_else(|| elsewhere(function, &range, node, inside, *place))
        })
        .collect();
    found.extend(too_many(function, &range, accesses, opened).filter(|_| found.is_empty()));
    for violation in &mut found {
        if violation.mark.span != opened {
            let told = format!("checks {}", range.words());
            violation.related.push(function.file.mark(opened, told));
        }
    }
    found
}

fn outside(
    function: &FunctionContext<'_>,
    range: &Range,
    begin: &Begin,
    inside: &Inside,
    place: Span,
) -> Option<Violation> {
    let user = inside.user?;
    let node = function
        .root
        .descendant_for_byte_range(user.start, user.end)?;
    let root = root_of(function.context, node);
    let (object, reach) = function.context.object(node);
    let text = function.file.plain(user);
    let address = Expression::of(function.context, node);
    let (what, confidence) = if root == range.root {
        let beyond = match reach {
            Reach::Element(index) if object == root => range
                .elements
                .is_some_and(|n| u64::from(index) >= n)
                .then(|| (format!("{text} is element {index}"), Confidence::High)),
            Reach::Field | Reach::Whole if range.leaves_member(address.uncast().1) => {
                Some((format!("{text} is another member"), Confidence::High))
            }
            Reach::Field | Reach::Whole => range
                .is_short_of(address.uncast().1)
                .then(|| (format!("{text} is more than that"), Confidence::Medium)),
            Reach::Computed => range
                .has_one(begin)
                .then(|| is_picked(address.uncast().1, &root))
                .filter(|picked| *picked)
                .map(|_| (format!("{text} may be another element"), Confidence::Medium)),
            Reach::Element(_) => None,
        };
        beyond?
    } else if range.is_checked_elsewhere(function, &root) {
        return None;
    } else if !is_related(function, &root, &range.root) {
        let sure = if is_checked_by_hand(function, &root, place) {
            Confidence::Low
        } else if declared_type(function, &root).is_some() {
            Confidence::High
        } else {
            Confidence::Medium
        };
        (format!("{text} is not in {}", range.root), sure)
    } else if range.is_exact(function) && is_before(function, &root, &range.root) {
        (
            format!("{root} may lie before or behind {}", range.root),
            Confidence::Medium,
        )
    } else {
        return None;
    };
    let message = format!(
        "{what}, which is all that the begin checked: {}",
        range.words()
    );
    Some(violation(function, place, message, confidence))
}

fn violation(
    function: &FunctionContext<'_>,
    place: Span,
    message: String,
    confidence: Confidence,
) -> Violation {
    let file = function.file;
    let mut violation = file.violation(&INFO, place, "outside what was checked", message);
    violation.confidence = confidence;
    violation
}

/// An access that goes where the checked address does not lead any more, or by
/// another way than through the one that is masked.
fn elsewhere(
    function: &FunctionContext<'_>,
    range: &Range,
    node: usize,
    inside: &Inside,
    place: Span,
) -> Option<Violation> {
    let (begin, opened) = function.begin(node)?;
    let root = function.root_in(inside.user?)?;
    let message =
        if root == range.root && range.has_one(begin) && is_moved(function, node, &root, place) {
            format!(
                "{root} has moved since its range was checked: {}",
                range.words()
            )
        } else {
            let masked = masked(function, range, begin, opened)?;
            let one = begin.scope.is_none() || range.has_one(begin);
            let around = one && root != masked && is_made_of(function, &root, &masked);
            let own = scope_of(function, begin, opened);
            if !around || is_written(function, &root, own) {
                return None;
            }
            format!(
                "{root} is not the address that {}() masks: that is {masked}",
                begin.call
            )
        };
    let sure = match is_checked_by_hand(function, &root, place) {
        true => Confidence::Low,
        false => Confidence::Medium,
    };
    Some(violation(function, place, message, sure))
}

/// Whether the one variable takes a value that names the other, or the other such a
/// value before it is masked.
fn is_made_of(function: &FunctionContext<'_>, one: &str, other: &str) -> bool {
    let graph = function.graph;
    let takes = |one: &str, other: &str| {
        let mut own = graph.assignments().filter(|(name, _)| *name == one);
        own.any(|(_, value)| graph.names(value, other))
    };
    takes(one, other) || takes(other, one) && function.graph.is_parameter(one)
}

/// The variable that holds the masked address: that of a scope's begin is hidden by
/// one of its name, that of another takes the begin's result.
fn masked(
    function: &FunctionContext<'_>,
    range: &Range,
    begin: &Begin,
    opened: Span,
) -> Option<String> {
    if begin.scope.is_some() {
        return Some(range.root.clone());
    }
    if begin.opening != Opening::Always {
        return None;
    }
    let mut effects = function.graph.effects.iter();
    let stored = effects.find(|effect| match &effect.kind {
        EffectKind::Write(write) => write.value.is_some_and(|value| value.contains(opened)),
        _ => false,
    })?;
    Some(function.graph.name_of(stored).to_owned())
}

/// Where a window is open, as far as its begin says.
fn scope_of(function: &FunctionContext<'_>, begin: &Begin, opened: Span) -> Span {
    begin
        .scope
        .unwrap_or(Span::new(opened.start, function.body.span.end))
}

/// Whether a variable takes a value in a place.
fn is_written(function: &FunctionContext<'_>, name: &str, place: Span) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects_in(place);
    effects.any(|effect| {
        let written = matches!(effect.kind, EffectKind::Write(_));
        written && graph.is_whole(effect) && graph.name_of(effect) == name
    })
}

/// Whether a way from a begin to an access moves the variable.
fn is_moved(function: &FunctionContext<'_>, begin: usize, name: &str, access: Span) -> bool {
    let graph = function.graph;
    let stops = |node: &Node| matches!(node.action, Action::Begin(_) | Action::End { .. });
    let moves = |effect: &Effect| {
        let written = matches!(effect.kind, EffectKind::Write(_));
        let later = access.contains(effect.span);
        written && !later && graph.is_whole(effect) && graph.name_of(effect) == name
    };
    let open = graph.reached_behind(begin, stops);
    let movers = open
        .into_iter()
        .filter(|node| graph.effects_of(*node).iter().any(moves));
    let own: Vec<usize> = graph.nodes_in(access).collect();
    movers.into_iter().any(|node| {
        let behind = graph.reached(node, stops);
        own.iter().any(|own| behind.contains(own))
    })
}

/// Whether the pointer is made from a number that the function compares before:
/// `if (at >= limit) …; p = (u32 __user *)at;`.
fn is_checked_by_hand(function: &FunctionContext<'_>, root: &str, access: Span) -> bool {
    let graph = function.graph;
    let compared = |name: &str| {
        let mut earlier = graph.comparisons.iter().filter(|at| at.end <= access.start);
        earlier.any(|at| graph.names(*at, name))
    };
    graph.assignments().any(|(name, value)| {
        let related = name == root || is_made_of(function, root, name);
        let mut made_of = graph.effects_in(value).map(|own| graph.name_of(own));
        related && made_of.any(compared)
    })
}

/// Whether the one pointer is the other, moved back by something.
fn is_before(function: &FunctionContext<'_>, root: &str, of: &str) -> bool {
    let graph = function.graph;
    graph.assignments().any(|(name, value)| {
        let other = if name == root { of } else { root };
        let node = function
            .root
            .descendant_for_byte_range(value.start, value.end);
        let own = name == root || name == of;
        own && node.is_some_and(|node| goes_back(function, node, other))
    })
}

/// Whether something is taken away from the pointer in an expression.
fn goes_back(function: &FunctionContext<'_>, node: Syntax<'_>, pointer: &str) -> bool {
    let mut found = false;
    each(node, &mut |node| {
        let minus = node.kind() == "binary_expression" && function.context.operator(node) == b"-";
        let from = node.part("left").filter(|_| minus);
        found |= from.is_some_and(|from| root_of(function.context, from) == pointer);
    });
    found
}

/// Several members, with the size of one scalar checked.
fn too_many(
    function: &FunctionContext<'_>,
    range: &Range,
    accesses: &[(&Inside, Span)],
    opened: Span,
) -> Option<Violation> {
    let bytes = range.bytes?;
    let users = accesses.iter().filter_map(|(inside, _)| inside.user);
    let mut members: Vec<Expression> = Vec::new();
    for address in users.filter_map(|user| function.expression(user)) {
        let place = member(address.uncast().1).filter(|place| !members.contains(place));
        members.extend(place.cloned());
    }
    let too_small = members.len() as u64 > bytes || bytes <= 8 && members.len() > 1;
    too_small.then(|| {
        let message = format!(
            "{} members of {} are accessed, but only {bytes} bytes are checked",
            members.len(),
            range.root
        );
        let mut violation = function
            .file
            .violation(&INFO, opened, "checks too little", message);
        violation.confidence = Confidence::Medium;
        violation
    })
}
