//! A comment that allows something without saying why.

use crate::check::model::{Confidence, RuleInfo, Severity};
use crate::check::rule::{Look, Rule};

pub(crate) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Comments,
};

pub(crate) const INFO: RuleInfo = RuleInfo {
    name: "allow-without-reason",
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "a comment that allows something, but does not say why or what",
    why: "Whoever reads the comment later has to know whether it still holds; without a rule that exists \
          and a reason behind it nothing is allowed.",
};
