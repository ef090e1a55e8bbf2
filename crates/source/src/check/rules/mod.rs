//! The rules: one file each. Each has a page in `docs/rules/`.

use super::change::Change;
use super::model::{Confidence, Severity, Violation};
use super::scene::{Page, Scene};

mod argument_in_window;
mod call_in_window;
mod changed_order;
mod changed_value;
mod copied_holes;
mod cut_short;
mod distant_access_ok;
mod double_fetch;
mod dropped_check;
mod dropped_fence;
mod end_after_failed_begin;
mod half_done_pair;
mod ignored_fault;
mod jump_out_of_cleanup;
mod macro_label;
mod mismatched_end;
mod misread_result;
mod nested_window;
mod other_object_checked;
mod outside_checked_range;
mod read_after_fault;
mod unchecked_begin;
mod undefined_call;
mod unfenced_read;
mod unsafe_outside_window;
mod user_pointer_dereferenced;
mod window_closed_twice;
mod window_left_open;
mod wrong_argument_count;
mod wrong_direction;

/// A rule's name and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its name; `docs/rules/NAME.md` is its page.
    pub name: &'static str,
    /// How bad it is where nothing else is said.
    pub severity: Severity,
    /// How sure it is where nothing else is said.
    pub confidence: Confidence,
    /// What it finds, a few words.
    pub summary: &'static str,
    /// Why that is wrong, a sentence or two.
    pub why: &'static str,
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// The words of a file, behind every `#if`.
    Words(fn(&Page<'_>, &mut Vec<Violation>)),
    /// A function that opens, closes or uses a window.
    Window(fn(&Scene<'_>, &mut Vec<Violation>)),
    /// A function that accesses user memory in any way.
    Access(fn(&Scene<'_>, &mut Vec<Violation>)),
    /// A function before and after a change.
    Change(fn(&Change<'_>, &mut Vec<Violation>)),
    /// Nothing by itself: comments that allow something.
    Comments,
}

pub(crate) struct Rule {
    pub(crate) info: &'static RuleInfo,
    pub(crate) look: Look,
}

pub(crate) const ALLOW_WITHOUT_REASON: RuleInfo = RuleInfo {
    name: "allow-without-reason",
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "a comment that allows something, but does not say why or what",
    why: "Whoever reads the comment later has to know whether it still holds; without a rule that exists \
          and a reason behind it nothing is allowed.",
};

pub(crate) const UNUSED_ALLOW: RuleInfo = RuleInfo {
    name: "unused-allow",
    severity: Severity::Note,
    confidence: Confidence::High,
    summary: "a comment that allows what is not there",
    why: "What it allowed is gone, or moved away from it; left in place it hides the next one.",
};

pub(crate) const RULES: [Rule; 32] = [
    window_left_open::RULE,
    end_after_failed_begin::RULE,
    window_closed_twice::RULE,
    mismatched_end::RULE,
    nested_window::RULE,
    unchecked_begin::RULE,
    unsafe_outside_window::RULE,
    wrong_direction::RULE,
    outside_checked_range::RULE,
    other_object_checked::RULE,
    user_pointer_dereferenced::RULE,
    call_in_window::RULE,
    argument_in_window::RULE,
    wrong_argument_count::RULE,
    undefined_call::RULE,
    macro_label::RULE,
    jump_out_of_cleanup::RULE,
    read_after_fault::RULE,
    ignored_fault::RULE,
    misread_result::RULE,
    half_done_pair::RULE,
    copied_holes::RULE,
    double_fetch::RULE,
    distant_access_ok::RULE,
    unfenced_read::RULE,
    changed_value::RULE,
    changed_order::RULE,
    cut_short::RULE,
    dropped_check::RULE,
    dropped_fence::RULE,
    Rule {
        info: &ALLOW_WITHOUT_REASON,
        look: Look::Comments,
    },
    Rule {
        info: &UNUSED_ALLOW,
        look: Look::Comments,
    },
];

/// Every rule, in the order in which they are documented.
#[must_use]
pub fn rules() -> Vec<&'static RuleInfo> {
    RULES.iter().map(|rule| rule.info).collect()
}

/// The rule of that name.
#[must_use]
pub fn rule(name: &str) -> Option<&'static RuleInfo> {
    RULES
        .iter()
        .map(|rule| rule.info)
        .find(|info| info.name == name)
}
