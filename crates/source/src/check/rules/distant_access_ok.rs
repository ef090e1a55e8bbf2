use crate::check::accesses::root_of;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::words::Permission;
use crate::flow::{Action, Node};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "distant-access-ok",
    severity: Severity::Note,
    confidence: Confidence::Medium,
    summary: "a range check stands far from the access that needs it",
    why: "Whoever changes the code between the two no longer sees that they belong together: that is how \
          checks get lost. The begin of a window checks by itself, right where it opens.",
};

/// Lines between a check and its window that are still one glance.
const NEAR: u32 = 10;
/// Lines between a check and an access that does not check.
const FAR: u32 = 25;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let mut checks = Vec::new();
    function.calls.iter().for_each(|&call| {
        let name = function.called(call);
        if function.file.words.checks_range(name)
            && let Some(address) = call.part("arguments").and_then(|a| a.named_child(0))
        {
            let name = String::from_utf8_lossy(name).into_owned();
            checks.push((span(call), name, root_of(function.context, address)));
        }
    });
    for (at, name, root) in &checks {
        let again = checks
            .iter()
            .filter(|(other, _, of)| other != at && of == root);
        let again: Vec<Span> = again.map(|(other, ..)| *other).collect();
        let check = RangeCheck {
            at: *at,
            behind: behind(function, *at, &again),
            root,
            what: format!("{name}() of {root}"),
        };
        let found = window(function, &check);
        out.extend(found.or_else(|| unchecked(function, &check)));
    }
}

/// A check of a range.
struct RangeCheck<'s> {
    at: Span,
    /// The nodes that ways from it come to before the same pointer is checked again.
    behind: HashSet<usize>,
    /// The variable that the address is made from.
    root: &'s str,
    /// The check in words.
    what: String,
}

fn behind(function: &FunctionContext<'_>, check: Span, again: &[Span]) -> HashSet<usize> {
    let graph = function.graph;
    let checks_again = |node: &Node| {
        node.action != Action::Join && again.iter().any(|other| other.contains(node.span))
    };
    let own = graph.nodes_in(check);
    own.flat_map(|node| graph.reached_behind(node, checks_again))
        .collect()
}

/// The check before a window that checks again, or that cannot check.
fn window(function: &FunctionContext<'_>, check: &RangeCheck<'_>) -> Option<Violation> {
    let RangeCheck {
        at: from,
        behind,
        root,
        what,
    } = check;
    let nodes = function.graph.nodes.iter().enumerate();
    let mut begins = nodes.filter_map(|(at, node)| match &node.action {
        Action::Begin(begin) if node.span.start > from.end && behind.contains(&at) => {
            Some((begin, node.span))
        }
        _ => None,
    });
    let (begin, opened) = begins.find(|(begin, _)| {
        begin.address.is_none_or(|address| {
            let node = function
                .root
                .descendant_for_byte_range(address.start, address.end);
            node.is_some_and(|node| root_of(function.context, node) == *root)
        })
    })?;
    let lines = function.line(opened).saturating_sub(function.line(*from));
    let calls = between(function, *from, opened).calls;
    if lines <= NEAR && calls == 0 {
        return None;
    }
    let message = format!(
        "{what} stands {lines} lines and {calls} calls before {}()",
        begin.call
    );
    Some(violation(
        function,
        *from,
        opened,
        "the window opens here",
        message,
    ))
}

/// The check before an access that does not check.
fn unchecked(function: &FunctionContext<'_>, check: &RangeCheck<'_>) -> Option<Violation> {
    let RangeCheck {
        at: from,
        behind,
        root,
        what,
    } = check;
    let comes_to = |place: Span| {
        let mut nodes = function.graph.nodes_in(place);
        nodes.any(|node| behind.contains(&node))
    };
    let access = function.accesses.iter().find(|access| {
        access.span.start > from.end
            && access.user_root == *root
            && !access.word.checked
            && !access.inside
            && comes_to(access.span)
    })?;
    let lines = function
        .line(access.span)
        .saturating_sub(function.line(*from));
    let Between {
        calls,
        sleeps,
        switches,
    } = between(function, *from, access.span);
    if lines <= FAR && !sleeps {
        return None;
    }
    let message = format!(
        "{what} stands {lines} lines and {calls} calls before {}()",
        access.word.name
    );
    let mut violation = violation(function, *from, access.span, "it is needed here", message);
    if !sleeps && !switches {
        violation.confidence = Confidence::Low;
    }
    Some(violation)
}

fn violation(
    function: &FunctionContext<'_>,
    check: Span,
    need: Span,
    told: &str,
    message: String,
) -> Violation {
    let file = function.file;
    let mut violation = file.violation(&INFO, check, "checked here", message);
    violation.related.push(file.mark(need, told));
    violation
}

/// The calls between two places.
#[derive(Default)]
struct Between {
    calls: usize,
    /// Whether one may sleep, lock or allocate.
    sleeps: bool,
    /// Whether one switches preemption or interrupts.
    switches: bool,
}

fn between(function: &FunctionContext<'_>, from: Span, to: Span) -> Between {
    let mut found = Between::default();
    function.calls.iter().for_each(|&call| {
        let place = span(call);
        let inside = from.end <= place.start && place.end <= to.start;
        if !inside {
            return;
        }
        let name = String::from_utf8_lossy(function.called(call)).into_owned();
        let words = function.file.words;
        // Preemption on and off neither sleeps nor locks, and may be where others run.
        let group = words.atomic_of(&name);
        if group.is_some_and(|(group, _)| words.is_fallible(group)) {
            found.switches = true;
            return;
        }
        let permission = words.permission(&name);
        found.calls += usize::from(
            permission != Permission::Allowed && function.file.words.access(&name).is_none(),
        );
        found.sleeps |= matches!(permission, Permission::Forbidden(deed) if deed.takes_time());
    });
    found
}
