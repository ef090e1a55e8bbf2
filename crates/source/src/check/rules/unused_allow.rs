//! A comment that allows what is not there.

use crate::check::model::{Confidence, RuleInfo, Severity};
use crate::check::rule::{Look, Rule};

pub(crate) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Comments,
};

pub(crate) const INFO: RuleInfo = RuleInfo {
    name: "unused-allow",
    severity: Severity::Note,
    confidence: Confidence::High,
    summary: "a comment that allows what is not there",
    why: "What it allowed is gone, or moved away from it; left in place it hides the next one.",
};
