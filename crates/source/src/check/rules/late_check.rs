use tree_sitter::Node;

use crate::check::accesses::{Access, root_of};
use crate::check::asked_late::{AskedLate, asked_late};
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::old_value::{OldValue, old_values};
use crate::check::rule::{Look, Rule};
use crate::flow::{Action, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "late-check",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "the range of an access that checks nothing is checked only behind it",
    why: "__get_user() and its like go wherever the pointer leads, to the kernel's own memory as well: \
          what checks it has to come before.",
};

/// A check of a range: the call, and the variable that its address starts from.
struct Check {
    at: Span,
    root: String,
}

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for access in function.accesses {
        let late = asked_late(function, access);
        out.extend(late.map(|late| size(function, access, &late)));
    }
    out.extend(old_values(function).iter().map(|own| of_old(function, own)));
    let bare = |access: &&Access<'_>| !access.inside && !access.word.checked && !access.word.part;
    let mut bare = function.accesses.iter().filter(bare).peekable();
    if bare.peek().is_none() {
        return;
    }
    let calls = function.calls.iter();
    let checks: Vec<Check> = calls
        .filter_map(|call| range_check(function, *call))
        .collect();
    if checks.is_empty() {
        return;
    }
    let mut told: Vec<&str> = Vec::new();
    for access in bare {
        let Some(late) = late(function, access, &checks) else {
            continue;
        };
        if !told.contains(&access.user_root.as_str()) {
            told.push(&access.user_root);
            out.push(violation(function, access, late));
        }
    }
}

/// A member that takes what nobody has refused.
fn of_old(function: &FunctionContext<'_>, own: &OldValue) -> Violation {
    let file = function.file;
    let [member, number] = [&own.member, &own.number].map(|own| file.plain(own.span));
    let message = format!(
        "line {} refuses what {member} was, and nothing refuses {number}, the user's, which it takes for it",
        function.line(own.asked)
    );
    let mut violation = file.violation(&INFO, own.taken, "not checked", message);
    violation.confidence = Confidence::Medium;
    violation.related.push(file.mark(own.asked, "checked here"));
    violation
}

/// A copy of so many bytes, of which the function asks only behind it whether the object has as many.
fn size(function: &FunctionContext<'_>, access: &Access<'_>, late: &AskedLate) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() copies {} bytes, and only line {} refuses more than the object has",
        access.word.name,
        late.number,
        function.line(late.asked)
    );
    let mut violation = file.violation(&INFO, access.span, "not checked yet", message);
    violation.confidence = Confidence::Medium;
    violation
        .related
        .push(file.mark(late.asked, "checked here"));
    violation
}

fn range_check(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Check> {
    let checks = function.file.words.checks_range(function.called(call));
    let address = call.part("arguments")?.named_child(0).filter(|_| checks)?;
    Some(Check {
        at: span(call),
        root: root_of(function.context, address),
    })
}

/// The check behind an access of the pointer as it was there, where nothing before it
/// checks.
fn late<'c>(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    checks: &'c [Check],
) -> Option<&'c Check> {
    let root = &access.user_root;
    let own = || checks.iter().filter(|check| check.root == *root);
    let before = own().any(|check| check.at.start < access.span.start);
    if before || is_checked_otherwise(function, access) {
        return None;
    }
    own().find(|check| {
        let between = Span::new(access.span.end, check.at.start);
        between.start <= between.end
            && !is_set(function, root, between)
            && comes_to(function, access.span, check.at)
    })
}

/// Whether a begin or an access that checks by itself comes before.
fn is_checked_otherwise(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let mut begins = function.graph.nodes.iter();
    let begin = begins
        .any(|node| matches!(node.action, Action::Begin(_)) && node.span.start < access.span.start);
    let mut others = function.accesses.iter();
    begin
        || others.any(|other| {
            let earlier = other.span.start < access.span.start;
            other.word.checked && earlier && other.user_root == access.user_root
        })
}

/// Whether the variable takes a value in a place; a declaration without one does not.
fn is_set(function: &FunctionContext<'_>, name: &str, place: Span) -> bool {
    let mut effects = function.graph.effects_in(place);
    effects.any(|effect| {
        let sets =
            matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some() || write.next);
        let handed = matches!(effect.kind, EffectKind::Address);
        (sets || handed)
            && function.graph.name_of(effect) == name
            && !function.graph.is_behind(effect)
    })
}

/// Whether a way leads from one call to the other.
fn comes_to(function: &FunctionContext<'_>, from: Span, to: Span) -> bool {
    let graph = function.graph;
    let mut starts = graph.nodes_in(from);
    starts.any(|start| {
        let reached = graph.reached_behind(start, |_| false);
        graph.nodes_in(to).any(|node| reached.contains(&node))
    })
}

fn violation(function: &FunctionContext<'_>, access: &Access<'_>, late: &Check) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() checks nothing, and {} is checked only on line {}",
        access.word.name,
        access.user_root,
        function.line(late.at)
    );
    let mut violation = file.violation(&INFO, access.span, "not checked yet", message);
    violation.related.push(file.mark(late.at, "checked here"));
    violation
}
