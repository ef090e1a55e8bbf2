use crate::calls::ForCaller;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::paths::Open;
use crate::check::rule::{Look, Rule};
use crate::flow::Action;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unsafe-outside-window",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "an unsafe_*() access where no window is open",
    why: "It neither opens the gate nor checks the range. With SMAP, PAN or KUAP it faults each time; \
          without them it reads or writes whatever the address says, the kernel's own memory too.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let words = function.file.words;
    let named = words.named_for_caller(&function.body.name, ForCaller::Inside);
    for (node, state) in function.states() {
        let Some(place) = function.graph.nodes.get(node) else {
            continue;
        };
        let inside = match &place.action {
            // A helper may be for the kernel's own memory as well.
            Action::Inside(inside) if !inside.called => inside,
            _ => continue,
        };
        let message = format!("{}() is reached with no window open", inside.call);
        let mut violation =
            function
                .file
                .violation(&INFO, place.span, "no window is open here", message);
        match state.open.last() {
            Some(Open::Here(_)) => continue,
            None => out.push(violation),
            Some(Open::Caller) if named => continue,
            Some(Open::Caller) => {
                violation.message = format!(
                    "{}() is used in a function that opens no window and that is called in none",
                    inside.call
                );
                violation.unless_called_in_window = Some(function.body.name.clone());
                out.push(violation);
                return;
            }
        }
    }
}
