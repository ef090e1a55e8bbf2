use crate::Direction;
use crate::check::change::{FunctionChange, Touch};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};

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

fn check(change: &FunctionChange<'_>, out: &mut Vec<Violation>) {
    let bare = |t: &&Touch| t.direction == Direction::Read && !t.fenced;
    let was_fenced = |own: &Touch| {
        let mut before = change.before.touches.iter();
        let same = |t: &&Touch| t.direction == Direction::Read && t.root == own.root;
        before.find(same).is_some_and(|t| t.fenced)
    };
    let mut after = change.after.touches.iter().filter(bare);
    let Some(read) = after.find(|read| was_fenced(read)) else {
        return;
    };
    let message = format!(
        "{}() may run ahead of the range check; before the change it could not",
        read.call
    );
    out.push(
        change
            .file
            .violation(&INFO, read.span, "no fence before this", message),
    );
}
