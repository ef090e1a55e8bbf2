use crate::check::graph::Action;
use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "read-after-fault",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a variable is used on the path where unsafe_get_user() failed to fill it",
    why: "get_user() sets its variable to 0 when it faults; unsafe_get_user() need not. What is used here \
          may be what lay on the stack.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for (node, state) in scene.moments() {
        let Some(place) = scene.graph.nodes.get(node) else {
            continue;
        };
        let Action::Use(name) = &place.action else {
            continue;
        };
        let Some((_, at)) = state.unset.iter().find(|(unset, _)| unset == name) else {
            continue;
        };
        let read = scene.place(*at);
        let message = format!(
            "{name} is used although the read on line {} may have faulted",
            scene.line(read)
        );
        let mut violation = scene
            .page
            .violation(&INFO, place.span, "may hold nothing", message);
        violation.related.push(
            scene
                .page
                .mark(read, "jumps here when it faults, without a value"),
        );
        out.push(violation);
    }
}
