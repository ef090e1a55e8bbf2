use crate::check::model::{Confidence, Severity, Violation};
use crate::check::paths::Last;
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
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

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    (0..scene.graph.nodes.len()).for_each(|node| out.extend(into_scope(scene, node)));
    for (node, state) in scene.moments() {
        let (Some(place), Last::Failed(begin)) = (scene.graph.nodes.get(node), state.last) else {
            continue;
        };
        let Action::End { call, .. } = &place.action else {
            continue;
        };
        let Some((opening, tried)) = scene.begin(begin).filter(|_| state.open.is_empty()) else {
            continue;
        };
        let message = format!(
            "{call}() is reached when {}() on line {} has failed and nothing is open",
            opening.call,
            scene.line(tried)
        );
        let page = scene.page;
        let mut violation = page.violation(&INFO, place.span, "closes what is not open", message);
        violation
            .related
            .push(page.mark(tried, "0 here: no window was opened"));
        out.push(violation);
    }
}

/// A scope whose begin goes to a label in it where it fails: the end of the scope
/// closes what was not opened.
fn into_scope(scene: &Scene<'_>, node: usize) -> Option<Violation> {
    let (begin, opened) = scene.begin(node)?;
    let scope = begin.scope?;
    let mut jumps = scene.graph.jumps.iter();
    let (_, label) = jumps.find(|(from, _)| *from == opened)?;
    let mut labels = scene.graph.labels.iter();
    let (_, target) = labels.find(|(name, at)| name == label && scope.contains(*at))?;
    let message = format!(
        "{}() goes to {label} where it fails, which lies in its scope",
        begin.call
    );
    let page = scene.page;
    let mut violation = page.violation(&INFO, *target, "nothing is open here", message);
    violation
        .related
        .push(page.mark(opened, "jumps into its own scope"));
    Some(violation)
}
