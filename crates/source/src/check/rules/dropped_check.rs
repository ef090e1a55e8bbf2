use crate::check::change::{FunctionChange, Touch};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Change(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "dropped-check",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a change loses the range check of an object",
    why: "put_user() checks its address, __put_user() and unsafe_put_user() do not. A conversion of \
          waitid() lost the check that way: any user could write to kernel memory (CVE-2017-5123).",
};

/// Whether what checked by itself does so no more, and some way comes to it past no check.
fn is_bared(change: &FunctionChange<'_>, touch: &Touch) -> bool {
    let mut before = change.before.touches.iter();
    let checked = before.any(|own| own.checked && own.address == touch.address);
    let bare = !touch.checked && !touch.inside;
    bare && checked && !touch.behind_check
}

fn check(change: &FunctionChange<'_>, out: &mut Vec<Violation>) {
    let mut told: Vec<&str> = Vec::new();
    for touch in &change.after.touches {
        let root = touch.root.as_str();
        let lost = !touch.checked && change.before.checks(root) && !change.after.checks(root);
        let accessed = change.before.touches.iter().any(|t| t.root == root);
        if !(lost && accessed || is_bared(change, touch)) || told.contains(&root) {
            continue;
        }
        told.push(root);
        let message =
            format!("nothing checks the range of {root} any more; before the change something did");
        out.push(
            change
                .file
                .violation(&INFO, touch.span, "goes through unchecked", message),
        );
    }
}
