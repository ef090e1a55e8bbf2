use crate::Direction;
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
    name: "wrong-direction",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a read in a write window, or a write in a read window",
    why: "x86 and arm64 open both ways, so it works there. powerpc opens the one that was asked for: \
          the access faults each time.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (node, state) in function.states() {
        let Some(place) = function.graph.nodes.get(node) else {
            continue;
        };
        let (Action::Inside(inside), Some(Open::Here(at))) = (&place.action, state.open.last())
        else {
            continue;
        };
        let (Some(direction), Some((begin, opened))) = (inside.direction, function.begin(*at))
        else {
            continue;
        };
        if begin.kind.lets(direction) {
            continue;
        }
        let does = match direction {
            Direction::Read => "reads",
            Direction::Write => "writes",
        };
        let message = format!("{}() {does} in a {} window", inside.call, begin.kind.name());
        let mut violation =
            function
                .file
                .violation(&INFO, place.span, &format!("{does} user memory"), message);
        if inside.wrapper {
            violation.confidence = Confidence::Medium;
        }
        let told = format!("opens a {} window", begin.kind.name());
        violation.related.push(function.file.mark(opened, told));
        out.push(violation);
    }
}
