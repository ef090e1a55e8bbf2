use crate::Direction;
use crate::check::change::{Change, Touch};
use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Change(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "dropped-fence",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a change loses what stopped speculation before a read",
    why: "copy_from_user(), get_user() and the begins fence or clamp; raw_copy_from_user() behind an \
          access_ok() does neither. copy_from_user_iter() lacked a barrier that way until it was found.",
};

fn check(change: &Change<'_>, out: &mut Vec<Violation>) {
    let reads = |t: &&Touch| t.direction == Direction::Read;
    let raw = |t: &&Touch| t.part;
    let fewer = change.after.fences < change.before.fences;
    let (before, after) = (&change.before.touches, &change.after.touches);
    let was_raw = before.iter().filter(reads).any(|t| raw(&t));
    let Some(read) = after.iter().filter(reads).find(|t| match fewer {
        true => !t.checked && !t.inside,
        false => raw(t) && !was_raw && change.after.fences == 0,
    }) else {
        return;
    };
    if !before.iter().any(|t| t.direction == Direction::Read) {
        return;
    }
    let message = format!(
        "{}() may run ahead of the range check; before the change it could not",
        read.call
    );
    out.push(
        change
            .page
            .violation(&INFO, read.span, "no fence before this", message),
    );
}
