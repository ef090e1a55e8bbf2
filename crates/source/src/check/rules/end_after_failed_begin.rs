use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::paths::Last;
use crate::check::rule::{Look, Rule};
use crate::flow::Action;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "end-after-failed-begin",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a window is closed that its begin did not open",
    why: "A begin that returns 0 has opened nothing. The end then closes what somebody else may \
          have opened; objtool calls it a redundant UACCESS disable.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    (0..function.graph.nodes.len()).for_each(|node| out.extend(into_scope(function, node)));
    for (node, state) in function.states() {
        let (Some(place), Last::Failed(begin)) = (function.graph.nodes.get(node), state.last)
        else {
            continue;
        };
        let Action::End { call, .. } = &place.action else {
            continue;
        };
        let Some((opening, tried)) = function.begin(begin).filter(|_| state.open.is_empty()) else {
            continue;
        };
        let message = format!(
            "{call}() is reached when {}() on line {} has failed and nothing is open",
            opening.call,
            function.line(tried)
        );
        let file = function.file;
        let mut violation = file.violation(&INFO, place.span, "closes what is not open", message);
        violation
            .related
            .push(file.mark(tried, "0 here: no window was opened"));
        out.push(violation);
    }
}

/// A scope whose begin goes to a label in it where it fails: the end of the scope
/// closes what was not opened.
fn into_scope(function: &FunctionContext<'_>, node: usize) -> Option<Violation> {
    let (begin, opened) = function.begin(node)?;
    let scope = begin.scope?;
    let mut jumps = function.graph.jumps.iter();
    let (_, label) = jumps.find(|(from, _)| *from == opened)?;
    let mut labels = function.graph.labels.iter();
    let (_, target) = labels.find(|(name, at)| name == label && scope.contains(*at))?;
    let message = format!(
        "{}() goes to {label} where it fails, which lies in its scope",
        begin.call
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, *target, "nothing is open here", message);
    violation
        .related
        .push(file.mark(opened, "jumps into its own scope"));
    Some(violation)
}
