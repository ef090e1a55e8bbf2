use crate::check::graph::{Action, Assign};
use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::call_in_window::{calls, judged};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::runs::mentions;
use crate::span::Span;

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

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for (place, call, opened) in calls(scene) {
        if call.argument_of.is_some() {
            out.extend(judged(scene, &INFO, place, call, opened));
        }
    }
    for (node, place) in scene.graph.nodes.iter().enumerate() {
        let reached = scene.flow.before.get(node).is_some_and(|s| !s.is_empty());
        if let Action::Assign(assign) = &place.action
            && reached
        {
            out.extend(effect(scene, node, place.span, assign));
        }
    }
}

/// An assignment inside an argument. One to the address alone, `p++`, is
/// evaluated once by every kernel macro and is common.
fn effect(scene: &Scene<'_>, node: usize, place: Span, assign: &Assign) -> Option<Violation> {
    let (call, address) = assign.argument_of.as_ref()?;
    let access = scene
        .graph
        .nodes
        .iter()
        .skip(node)
        .find_map(|n| match &n.action {
            Action::Inside(inside) if n.span.contains(place) => Some(inside),
            _ => None,
        })?;
    let other = if *address { access.value } else { access.user };
    let text = other
        .map(|span| span.of(scene.page.text))
        .unwrap_or_default();
    let twice = mentions(text, assign.variable.as_bytes());
    let message = if twice {
        format!(
            "an argument of {call}() changes {}, which the other one uses",
            assign.variable
        )
    } else {
        format!(
            "an argument of {call}() changes {}, whether the access faults or not",
            assign.variable
        )
    };
    let mut violation = scene
        .page
        .violation(&INFO, place, "changed inside the window", message);
    violation.confidence = match (twice, *address) {
        (true, _) => Confidence::High,
        (false, false) => Confidence::Medium,
        (false, true) => Confidence::Low,
    };
    if !twice {
        violation.severity = Severity::Note;
    }
    Some(violation)
}
