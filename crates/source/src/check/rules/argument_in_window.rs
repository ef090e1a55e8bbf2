use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::rules::call_in_window::{calls, judged};
use crate::flow::{Action, Effect, EffectKind, Inside};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "argument-in-window",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "an argument of an access is worked out inside the window",
    why: "Arguments are evaluated where the macro uses them, with the window open. task_pid_vnr() in one \
          crashed riscv; a side effect happens or not, depending on the fault. Work it out before the begin.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (place, call, opened) in calls(function) {
        if call.argument_of.is_some() {
            out.extend(judged(function, &INFO, place, &call.name, opened));
        }
    }
    for (node, place) in function.graph.nodes.iter().enumerate() {
        let reached = function
            .paths
            .before
            .get(node)
            .is_some_and(|s| !s.is_empty());
        if let Action::Inside(inside) = &place.action
            && reached
        {
            let effects = function.graph.effects_in(place.span);
            let changes = effects.filter(|e| matches!(e.kind, EffectKind::Write(_)));
            out.extend(changes.filter_map(|effect| changed(function, inside, effect)));
        }
    }
}

/// An assignment inside an argument. One to the address alone, `p++`, is
/// evaluated once by every kernel macro and is common.
fn changed(function: &FunctionContext<'_>, inside: &Inside, effect: &Effect) -> Option<Violation> {
    let (number, address) = effect.argument_of?;
    let call = function.graph.accesses.get(number)?;
    let other = if address { inside.value } else { inside.user };
    let name = function.graph.name_of(effect);
    let twice = other.is_some_and(|other| function.graph.names(other, name));
    let message = if twice {
        format!(
            "an argument of {call}() changes {}, which the other one uses",
            name
        )
    } else {
        format!(
            "an argument of {call}() changes {}, whether the access faults or not",
            name
        )
    };
    let mut violation =
        function
            .file
            .violation(&INFO, effect.span, "changed inside the window", message);
    violation.confidence = match (twice, address) {
        (true, _) => Confidence::High,
        (false, false) => Confidence::Medium,
        (false, true) => Confidence::Low,
    };
    if !twice {
        violation.severity = Severity::Note;
    }
    Some(violation)
}
