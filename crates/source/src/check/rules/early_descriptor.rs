use crate::check::context::FunctionContext;
use crate::check::fate::{fallible, fate};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::flow::Action;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "early-descriptor",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a file is the program's already where an access may still fault",
    why: "Another thread may use and close the descriptor from fd_install() on: nothing takes it back. What \
          puts the file or the number away where the access faults takes them from under it.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let installs: Vec<Span> = installs(function).collect();
    let Some(first) = installs.first() else {
        return;
    };
    let graph = function.graph;
    let from = installs.iter().flat_map(|own| graph.nodes_in(*own));
    let behind = graph.reached_behind_any(from, |_| false);
    for call in fallible(function) {
        let mut nodes = graph.nodes_in(call.span);
        let arms = fate(function, &call).map_or_else(Vec::new, |fate| fate.arms);
        let leaves = arms.iter().any(|arm| leaves(function, arm.fault));
        if leaves && nodes.any(|node| behind.contains(&node)) {
            out.push(violation(function, call.span, &call.name, *first));
        }
    }
}

/// The calls that make a descriptor the program's.
fn installs(function: &FunctionContext<'_>) -> impl Iterator<Item = Span> {
    let own = function.calls.iter().filter(|call| {
        let name = function.callee(**call);
        name.is_some_and(|name| function.file.words.installs(name))
    });
    own.map(|call| span(*call))
}

/// Whether some way from a node leaves the function.
fn leaves(function: &FunctionContext<'_>, fault: usize) -> bool {
    let graph = function.graph;
    let nodes = graph.reached(fault, |_| false);
    let mut own = nodes.iter().filter_map(|at| graph.nodes.get(*at));
    own.any(|node| matches!(node.action, Action::Exit { .. }))
}

fn violation(
    function: &FunctionContext<'_>,
    access: Span,
    name: &str,
    installed: Span,
) -> Violation {
    let file = function.file;
    let message = format!(
        "{name}() may fault, and the descriptor is the program's since line {}",
        function.line(installed)
    );
    let mut violation = file.violation(&INFO, access, "may fault", message);
    violation
        .related
        .push(file.mark(installed, "given to the program here"));
    violation
}
