use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::flow::{Effect, EffectKind};

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
        let mut unset = state.unset.clone();
        for effect in scene.graph.effects_of(node) {
            let was = unset.iter().position(|(place, _)| *place == effect.place);
            let before = was.map(|at| unset.remove(at));
            if let (Some((_, at)), EffectKind::Read) = (before, &effect.kind) {
                out.push(used(scene, effect, at));
            }
        }
    }
}

fn used(scene: &Scene<'_>, effect: &Effect, at: usize) -> Violation {
    let name = scene.graph.name_of(effect);
    let read = scene.place(at);
    let message = format!(
        "{name} is used although the read on line {} may have faulted",
        scene.line(read)
    );
    let mut violation = scene
        .page
        .violation(&INFO, effect.span, "may hold nothing", message);
    violation.related.push(
        scene
            .page
            .mark(read, "jumps here when it faults, without a value"),
    );
    violation
}
