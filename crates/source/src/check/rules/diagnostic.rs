//! What a compiler, sparse or objtool said of a function that accesses user memory.

use crate::check::model::{Confidence, RuleInfo, Severity};
use crate::check::rule::{Look, Rule};

pub(crate) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Said,
};

pub(crate) const INFO: RuleInfo = RuleInfo {
    name: "diagnostic",
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "what another tool said of a function that accesses user memory",
    why: "Who said it is named; it was read from the log that --compiler-log gives, and is as true as its tool.",
};
