use tree_sitter::Node as Syntax;

use crate::check::accesses::{each, root_of};
use crate::check::checked_other;
use crate::check::context::FunctionContext;
use crate::check::counting;
use crate::check::extent::{self, Extent};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::moved::{self, Checked};
use crate::check::paths::Open;
use crate::check::range::{Range, checks_range, declared_type, is_picked, is_related, member};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::expression::{Expression, Term};
use crate::flow::{Action, Begin, EffectKind, Inside, Node, Opening};
use crate::model::Reach;
use crate::node::Parts as _;
use crate::span::Span;
use crate::types::Shape;

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
        return unchecked(function, begin, opened, accesses);
    };
    if let Some(message) = range.wrong(function) {
        return vec![
            function
                .file
                .violation(&INFO, opened, "checks this range", message),
        ];
    }
    let mut around: Vec<String> = Vec::new();
    let mut found: Vec<Violation> = accesses
        .iter()
        .filter_map(|(inside, place)| {
            let beyond = outside(function, &range, begin, inside, *place);
            let beyond = beyond.or_else(|| behind(function, &range, node, inside, *place));
            // A pointer that goes around is told once, with its first access.
            let elsewhere = || {
                let own = elsewhere(function, &range, node, inside, *place)?;
                let new = !around.contains(&own.message);
                around.push(own.message.clone());
                new.then_some(own)
            };
            let other = || of_another_size(function, &range, opened, *place);
            beyond.or_else(elsewhere).or_else(other)
        })
        .collect();
    found.extend(handed(function, &range, node));
    found.extend(counts(function, &range, opened).filter(|_| found.is_empty()));
    found.extend(too_many(function, &range, accesses, opened).filter(|_| found.is_empty()));
    for violation in &mut found {
        if violation.mark.span != opened {
            let told = format!("checks {}", range.words());
            violation.related.push(function.file.mark(opened, told));
        }
    }
    found
}

/// An access of another number of bytes than the begin has checked, or of as many from another
/// place on.
fn of_another_size(
    function: &FunctionContext<'_>,
    range: &Range,
    opened: Span,
    place: Span,
) -> Option<Violation> {
    let mut accesses = function.accesses.iter();
    let access = accesses.find(|own| own.span == place && own.user_root == range.root)?;
    let (address, size) = range.parts()?;
    let checked = checked_other::Checked {
        place: opened,
        address,
        size,
    };
    let own = checked_other::told(function, access, &checked)?;
    let message = format!(
        "{}() {own}, and the begin checked no more than this: {}",
        access.word.name,
        range.words()
    );
    Some(violation(function, place, message, Confidence::Medium))
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
    let through = range.leaves_by(address.uncast().1);
    let (what, confidence) = if let Some(through) = through.filter(|_| root == range.root) {
        let through = function.file.plain(through.span);
        (format!("{text} lies behind {through}"), Confidence::High)
    } else if let Some(checked) = other_pointer(function, range, address.uncast().1) {
        let checked = function.file.plain(checked);
        (format!("{text} is not in {checked}"), Confidence::Medium)
    } else if root == range.root {
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
    } else if checks_range(function, &root) {
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
    } else if is_taken_back(function, &root, &range.root)
        || range.is_exact(function) && is_taken_back(function, &range.root, &root)
    {
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

/// The member that leads to what the begin has checked, where an address is what another member of the
/// same object leads to: `&d->sizes[i]`, and `&d->indices[i]` was checked.
fn other_pointer(
    function: &FunctionContext<'_>,
    range: &Range,
    address: &Expression,
) -> Option<Span> {
    let (checked, _) = range.parts()?;
    let (own, checked) = (
        leading_member(address)?,
        leading_member(checked.uncast().1)?,
    );
    let apart = own != checked && own.root() == checked.root();
    let pointer = |place| {
        let of = space::type_of(function, place);
        of.is_some_and(|of| matches!(of.shape, Shape::Pointer { .. }))
    };
    (apart && pointer(own) && pointer(checked)).then_some(checked.span)
}

/// The member whose value an address is, or an element behind.
fn leading_member(address: &Expression) -> Option<&Expression> {
    match &address.term {
        Term::Member { .. } => Some(address),
        Term::Address(inner) => match &inner.term {
            Term::Element { array, .. } => leading_member(array),
            _ => None,
        },
        Term::Binary(left, operator, _) if operator == "+" => leading_member(left),
        _ => None,
    }
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

/// An access to bytes that are not among those that were checked, as the types and the
/// moves of the pointer say.
fn behind(
    function: &FunctionContext<'_>,
    range: &Range,
    node: usize,
    inside: &Inside,
    place: Span,
) -> Option<Violation> {
    let user = inside.user?;
    let root = function.root_in(user)?;
    let text = function.file.plain(user);
    let message = if root != range.root {
        let alias = range.has_one(function.begin(node)?.0)
            && is_alias(function, &root, &range.root)
            && is_moved(function, node, &root, place);
        alias.then(|| format!("{root} moves behind {}", range.root))?
    } else if is_moved(function, node, &root, place) {
        let steps = || strides(function, range, node, place);
        moved_over(function, range, node, (user, place)).or_else(steps)?
    } else {
        let at = beyond(function, range, user, place)?;
        format!("{text} ends {} bytes behind {root}", at.end)
    };
    let message = format!(
        "{message}, and the begin checked no more than this: {}",
        range.words()
    );
    Some(violation(function, place, message, Confidence::Medium))
}

/// The bytes of an access that do not lie in the checked ones.
fn beyond(
    function: &FunctionContext<'_>,
    range: &Range,
    user: Span,
    place: Span,
) -> Option<Extent> {
    let checked = range.extent?;
    let address = function.expression(user)?;
    let mut accesses = function.accesses.iter();
    let access = accesses.find(|access| access.span == place)?;
    let count = access.bytes.as_ref();
    let count = count.map(|count| extent::bytes(function, count));
    let touched = extent::touched(function, &address, &range.root, count)?;
    (touched.start < checked.start || touched.end > checked.end).then_some(touched)
}

/// Whether the one pointer is nothing but the other by another name.
fn is_alias(function: &FunctionContext<'_>, one: &str, other: &str) -> bool {
    let named = |value: Span| function.expression(value);
    let mut own = function
        .graph
        .assignments()
        .filter(|(name, _)| *name == one);
    own.any(|(_, value)| named(value).is_some_and(|value| value.uncast().1.name() == Some(other)))
}

/// What is wrong where the pointer moves in the window over all that was checked.
fn moved_over(
    function: &FunctionContext<'_>,
    range: &Range,
    node: usize,
    (user, place): (Span, Span),
) -> Option<String> {
    let (root, size) = (range.root.as_str(), range.size_at_root()?);
    let nodes = vec![node];
    let checked = Checked { nodes, root, size };
    let by = moved::over(function, &checked, &*function.expression(user)?, place)?;
    let by = function.file.plain(by.span);
    Some(format!("{root} has moved by {by} elements"))
}

/// What is wrong where the pointer moves in the window: back from where the checked
/// bytes begin, or by more elements a round than are checked for one.
fn strides(
    function: &FunctionContext<'_>,
    range: &Range,
    node: usize,
    place: Span,
) -> Option<String> {
    let root = &range.root;
    let steps = moves(function, node, root, place);
    let back = |step: &Expression| moved_by(step).is_some_and(|(operator, _)| operator == "-=");
    if !steps.is_empty() && steps.iter().all(back) {
        return Some(format!("{root} is moved back in the window"));
    }
    let rounds = range.rounds(function)?;
    let by = |step: &Expression| match moved_by(step)? {
        ("+=", by) => extent::bytes(function, by),
        _ => None,
    };
    let by = steps.iter().filter_map(by).find(|by| *by > 1)?;
    let compared = function.graph.comparisons.iter();
    let mut limits = compared.filter(|at| function.graph.names(**at, rounds));
    limits.next()?;
    Some(format!(
        "{root} moves by {by} elements a round, {rounds} times"
    ))
}

/// `p += n`, `p -= n`
fn moved_by(step: &Expression) -> Option<(&str, &Expression)> {
    match &step.term {
        Term::Assignment(_, operator, by) => Some((operator, by)),
        _ => None,
    }
}

/// Elements that are counted by what the begin was given as a number of bytes.
fn counts(function: &FunctionContext<'_>, range: &Range, opened: Span) -> Option<Violation> {
    let (count, root) = (range.counted()?, &range.root);
    counting::is_of_elements(function, count, root).then(|| {
        let message =
            format!("{count} is how many elements of {root} there are, not how many bytes");
        violation(function, opened, message, Confidence::Medium)
    })
}

/// The pointer as it was before it was masked, given to what runs in the window.
fn handed(function: &FunctionContext<'_>, range: &Range, node: usize) -> Vec<Violation> {
    let Some((begin, opened)) = function.begin(node) else {
        return Vec::new();
    };
    let masked = masked(function, range, begin, opened);
    let Some(masked) = masked.filter(|masked| *masked != range.root && begin.scope.is_none())
    else {
        return Vec::new();
    };
    let open = function.graph.nodes.iter().zip(&function.paths.before);
    let open = open.filter(|(_, states)| {
        let mut states = states.iter();
        states.any(|state| state.open.last() == Some(&Open::Here(node)))
    });
    let given = open.filter(|(step, _)| {
        let runs = match &step.action {
            Action::Call(_) => !step.span.contains(opened),
            Action::Inside(inside) => inside.wrapper,
            _ => false,
        };
        runs && function.graph.names(step.span, &range.root)
    });
    let message = format!(
        "{} is not the address that {}() masks: that is {masked}",
        range.root, begin.call
    );
    given
        .map(|(step, _)| violation(function, step.span, message.clone(), Confidence::Medium))
        .collect()
}

/// A window that checks nothing, in a system call: what a program gives it was checked
/// by nobody.
fn unchecked(
    function: &FunctionContext<'_>,
    begin: &Begin,
    opened: Span,
    accesses: &[(&Inside, Span)],
) -> Vec<Violation> {
    if begin.address.is_some() || !function.body.is_system_call() {
        return Vec::new();
    }
    let bare = |root: &str| {
        let given = function.is_parameter(root) && !function.graph.takes_a_value(root);
        given && !checks_range(function, root)
    };
    let users = accesses
        .iter()
        .filter_map(|(inside, place)| Some((function.root_in(inside.user?)?, *place)));
    let first = users.into_iter().find(|(root, _)| bare(root));
    let told = first.map(|(root, place)| {
        let message = format!(
            "nothing checks the range of {root}, which a program gives; {}() only opens",
            begin.call
        );
        let mut violation = violation(function, place, message, Confidence::High);
        let told = "opens without a check";
        violation.related.push(function.file.mark(opened, told));
        violation
    });
    told.into_iter().collect()
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
            let made = one && is_made_of(function, &root, &masked);
            let own = scope_of(function, begin, opened);
            let around = match is_alias(function, &root, &masked) {
                true => !takes(function, &root, &masked, own),
                false => made && !is_written(function, &root, own),
            };
            if !around || root == masked {
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
    takes(one, other) || takes(other, one) && function.is_parameter(one)
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

/// Whether the one variable takes a value in a place that names the other.
fn takes(function: &FunctionContext<'_>, one: &str, other: &str, place: Span) -> bool {
    let graph = function.graph;
    let mut own = graph.assignments().filter(|(name, _)| *name == one);
    own.any(|(_, value)| place.contains(value) && graph.names(value, other))
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
    !moves(function, begin, name, access).is_empty()
}

/// What moves the variable on the ways from a begin to an access, if anything does; what
/// stands for nothing that can be read is there as well.
fn moves(
    function: &FunctionContext<'_>,
    begin: usize,
    name: &str,
    access: Span,
) -> Vec<Expression> {
    let stops = |node: &Node| matches!(node.action, Action::Begin(_) | Action::End { .. });
    let steps = moved::steps(function, &[begin], name, access, stops).into_iter();
    steps
        .map(|(_, effect)| moved::expression(function, effect))
        .collect()
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
fn is_taken_back(function: &FunctionContext<'_>, one: &str, other: &str) -> bool {
    let mut own = function
        .graph
        .assignments()
        .filter(|(name, _)| *name == one);
    own.any(|(_, value)| {
        let node = function
            .root
            .descendant_for_byte_range(value.start, value.end);
        node.is_some_and(|node| goes_back(function, node, other))
    })
}

/// Whether something is taken away from the pointer in an expression.
fn goes_back(function: &FunctionContext<'_>, node: Syntax<'_>, pointer: &str) -> bool {
    let mut found = false;
    each(node, &mut |node| {
        let minus =
            node.known_kind() == "binary_expression" && function.context.operator(node) == b"-";
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
