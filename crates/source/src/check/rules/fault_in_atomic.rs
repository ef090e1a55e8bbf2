use std::collections::HashSet;

use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::flow::{Action, Node};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "fault-in-atomic",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "an access that may sleep stands where nobody may",
    why: "A page of the user that is not there is read from a disk, and who waits for it sleeps: with a \
          spinlock held, in a reader of RCU, or with preemption or interrupts off that ends in a hang or \
          in a report of might_sleep(). Copy before, behind, or with page faults disabled.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let sleeps =
        |own: &&Access<'_>| !own.inside && !function.file.words.is_sleepless(&own.word.name);
    let accesses: Vec<&Access<'_>> = function.accesses.iter().filter(sleeps).collect();
    let mut told = HashSet::new();
    for (at, node) in function.graph.nodes.iter().enumerate() {
        let Some((group, true)) = group(function, node) else {
            continue;
        };
        if accesses.is_empty() {
            return;
        }
        let held = held(function, at, group);
        for access in &accesses {
            let mut own = function.graph.nodes_in(access.span);
            if own.any(|node| held.contains(&node)) && told.insert(access.span) {
                let mut own = violation(function, access, node);
                if function.file.words.is_fallible(group) {
                    own.confidence = Confidence::Low;
                }
                out.push(own);
            }
        }
    }
}

/// The group that a node begins or ends.
fn group(function: &FunctionContext<'_>, node: &Node) -> Option<(usize, bool)> {
    match &node.action {
        Action::Call(call) => function.file.words.atomic_of(&call.name),
        _ => None,
    }
}

/// The nodes that are reached with what a node begins, and no way else: what some way
/// comes to without it may be asked for on both sides.
fn held(function: &FunctionContext<'_>, begin: usize, group: usize) -> HashSet<usize> {
    let graph = function.graph;
    let of = |node: &Node, begins: bool| self::group(function, node) == Some((group, begins));
    let words = function.file.words;
    let off = |name: &str| words.is_sleepless(name) && words.access(name).is_none();
    let stops = |node: &Node| match &node.action {
        Action::Call(call) => off(&call.name) || unlocks(function, &call.name, group),
        _ => false,
    };
    let free = graph.reached(0, |node| of(node, true));
    let mut held = graph.reached_behind(begin, |node| of(node, false) || stops(node));
    held.retain(|node| !free.contains(node));
    held
}

/// Whether a function of the file ends the group, which may be its caller's.
fn unlocks(function: &FunctionContext<'_>, name: &str, group: usize) -> bool {
    let file = function.file;
    let mut bodies = file.bodies.iter().filter(|body| body.name == name);
    bodies.any(|body| {
        let mut words = file.tokens_in(body.span).iter();
        words.any(|word| file.words.atomic_of(&word.span.text(file.text)) == Some((group, false)))
    })
}

fn violation(function: &FunctionContext<'_>, access: &Access<'_>, begin: &Node) -> Violation {
    let file = function.file;
    let call = match &begin.action {
        Action::Call(call) => call.name.as_str(),
        _ => "",
    };
    let message = format!(
        "{}() may sleep, and stands behind {call}() on line {}",
        access.word.name,
        function.line(begin.span)
    );
    let mut violation = file.violation(&INFO, access.span, "may sleep", message);
    violation
        .related
        .push(file.mark(begin.span, "nobody may sleep from here on"));
    violation
}
