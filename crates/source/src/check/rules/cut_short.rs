use crate::Direction;
use crate::check::change::{FunctionChange, Touch};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Change(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "cut-short",
    severity: Severity::Note,
    confidence: Confidence::Medium,
    summary: "a change leaves at the first fault where all stores were tried before",
    why: "err |= __put_user() goes on after a fault, and the stores behind it still happen. A window \
          jumps out at the first one: what the user finds after a fault is less than before.",
};

fn check(change: &FunctionChange<'_>, out: &mut Vec<Violation>) {
    let tried = |t: &&Touch| t.direction == Direction::Write && t.goes_on;
    let before: Vec<&Touch> = change.before.touches.iter().filter(tried).collect();
    let converted = |t: &&Touch| {
        let leaves = !t.goes_on && t.direction == Direction::Write;
        leaves && before.iter().any(|b| b.address == t.address)
    };
    let after: Vec<&Touch> = change.after.touches.iter().filter(converted).collect();
    let [first, _, ..] = after.as_slice() else {
        return;
    };
    let message = format!(
        "a fault here leaves out the other {} stores, which were all tried before the change",
        after.len() - 1
    );
    out.push(
        change
            .file
            .violation(&INFO, first.span, "leaves at the first fault", message),
    );
}
