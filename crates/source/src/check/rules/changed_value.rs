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
    summary: "a change stores another value at the same user address, or reads one from another",
    why: "A conversion changes how values get to the user, not which. One of put_cmsg() stored len \
          where cmlen had been, and boots hung.",
};

fn check(change: &FunctionChange<'_>, out: &mut Vec<Violation>) {
    for touch in &change.after.touches {
        let (Some(before), Some(after)) = (only(change.before, touch), only(change.after, touch))
        else {
            continue;
        };
        let same = (&before.value, &before.address) == (&after.value, &after.address);
        let moved = touch.direction == Direction::Read && before.root != after.root;
        if same || moved || before.call == after.call {
            continue;
        }
        let (place, now, then) = match touch.direction {
            Direction::Write => (&after.written.0, &after.written.1, &before.written.1),
            Direction::Read => (&after.written.1, &after.written.0, &before.written.0),
        };
        let message = format!("{place} gets {now} here; before the change it got {then}");
        out.push(
            change
                .file
                .violation(&INFO, touch.span, "another value than before", message),
        );
    }
}

/// The one access that fills the same place: the user's that is stored to, or the
/// variable that is read into; none where there are several.
fn only<'f>(facts: &'f Facts, like: &Touch) -> Option<&'f Touch> {
    let filled = |touch: &Touch| match touch.direction {
        Direction::Write => touch.address == like.address,
        Direction::Read => touch.value == like.value,
    };
    let all = facts.touches.iter();
    let mut all = all.filter(|touch| touch.direction == like.direction && filled(touch));
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
