use crate::Direction;
use crate::check::change::{Facts, FunctionChange, Touch};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Change(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "changed-value",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a change stores another value at the same user address",
    why: "A conversion changes how values get to the user, not which. One of put_cmsg() stored len \
          where cmlen had been, and boots hung.",
};

fn check(change: &FunctionChange<'_>, out: &mut Vec<Violation>) {
    for touch in &change.after.touches {
        let (Some(before), Some(after)) = (only(change.before, touch), only(change.after, touch))
        else {
            continue;
        };
        if before.value == after.value || before.call == after.call {
            continue;
        }
        let message = format!(
            "{} gets {} here; before the change it got {}",
            touch.written.0, after.written.1, before.written.1
        );
        out.push(
            change
                .file
                .violation(&INFO, touch.span, "another value than before", message),
        );
    }
}

/// The one store to that address; none where there are several.
fn only<'f>(facts: &'f Facts, like: &Touch) -> Option<&'f Touch> {
    let mut all = facts
        .touches
        .iter()
        .filter(|t| t.direction == Direction::Write && t.address == like.address);
    let first = all.next()?;
    (all.next().is_none() && like.direction == Direction::Write).then_some(first)
}
