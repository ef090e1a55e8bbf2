use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::fate::{fallible, fate};
use crate::check::locks;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::flow::{Action, Node as Step};
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
    for call in function.calls {
        out.extend(freed_behind(function, *call));
    }
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

/// What a file was made of that is the program's already, and is freed where an access behind that
/// faults: the last that closes the file goes on with it.
fn freed_behind(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Violation> {
    let (graph, words) = (function.graph, function.file.words);
    let at = words.makes_file_of(function.callee(call)?)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let object = given.get(at)?.uncast().1;
    object.name()?;
    let behind = graph.reached_behind_any(graph.nodes_in(span(call)), |_| false);
    let frees = |node: &Step| {
        let Action::Call(own) = &node.action else {
            return None;
        };
        let whole = function.expression(node.span)?;
        let (name, given) = whole.call()?;
        let goes = given.iter().any(|own| own.uncast().1 == object);
        let body = || function.file.body_named(&own.name);
        let helper =
            || body().is_some_and(|own| locks::names(function, own, |own| words.frees(own)));
        (goes && (words.frees(name) || helper())).then_some(node.span)
    };
    let freed = fallible(function).find_map(|access| {
        let is_behind = graph.nodes_in(access.span).any(|own| behind.contains(&own));
        let arms = is_behind.then(|| fate(function, &access)).flatten()?.arms;
        let on = graph.reached_any(arms.iter().map(|own| own.fault), |_| false);
        let nodes = on.iter().filter_map(|at| graph.nodes.get(*at));
        nodes.filter_map(frees).min()
    })?;
    let file = function.file;
    let message = format!(
        "{} is freed behind a fault, and goes with the file that is the program's since line {}",
        file.plain(object.span),
        function.line(span(call))
    );
    let mut violation = file.violation(&INFO, freed, "freed here", message);
    let made = file.mark(span(call), "given to the program here");
    violation.related.push(made);
    Some(violation)
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
