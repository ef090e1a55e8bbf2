use crate::Direction;
use crate::check::change::{Facts, FunctionChange, Touch};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Change(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "changed-order",
    severity: Severity::Note,
    confidence: Confidence::Medium,
    summary: "a change stores to the user in another order",
    why: "Where a store faults, those before it stay. Another order leaves other bytes behind, and another \
          thread of the user sees them appear in another order; move_addr_to_user() changed so.",
};

fn check(change: &FunctionChange<'_>, out: &mut Vec<Violation>) {
    let before = stores(change.before);
    let after = stores(change.after);
    let mut last: Option<(usize, &Touch)> = None;
    for touch in &after {
        let Some(at) = before.iter().position(|t| t.address == touch.address) else {
            continue;
        };
        if let Some((earlier, other)) = last
            && at < earlier
        {
            let message = format!(
                "{} is stored after {}; before the change it was the other way round",
                touch.written.0, other.written.0
            );
            let file = change.file;
            let mut violation = file.violation(&INFO, touch.span, "now stored second", message);
            violation
                .related
                .push(file.mark(other.span, "now stored first"));
            out.push(violation);
            return;
        }
        last = Some((at, touch));
    }
}

/// The stores whose address occurs once.
fn stores(facts: &Facts) -> Vec<&Touch> {
    let writes: Vec<&Touch> = facts
        .touches
        .iter()
        .filter(|t| t.direction == Direction::Write)
        .collect();
    let alone = |touch: &&Touch| writes.iter().filter(|t| t.address == touch.address).count() == 1;
    writes.iter().copied().filter(alone).collect()
}
