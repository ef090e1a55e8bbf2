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
