use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
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

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (node, state) in function.states() {
        let mut unset = state.unset.clone();
        for effect in function.graph.effects_of(node) {
            let was = unset.iter().position(|(place, _)| *place == effect.place);
            let before = was.map(|at| unset.remove(at));
            if let (Some((_, at)), EffectKind::Read) = (before, &effect.kind) {
                out.push(used(function, effect, at));
            }
        }
    }
}

fn used(function: &FunctionContext<'_>, effect: &Effect, at: usize) -> Violation {
    let name = function.graph.name_of(effect);
    let read = function.place(at);
    let message = format!(
        "{name} is used although the read on line {} may have faulted",
        function.line(read)
    );
    let mut violation = function
        .file
        .violation(&INFO, effect.span, "may hold nothing", message);
    violation.related.push(
        function
            .file
            .mark(read, "jumps here when it faults, without a value"),
    );
    violation
}
