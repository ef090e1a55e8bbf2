//! The rules: one file each. Each has a page in `docs/rules/`.

use super::model::RuleInfo;
use super::rule::Rule;

pub(super) mod allow_without_reason;
mod argument_in_window;
mod beyond_argument;
mod beyond_array;
mod beyond_variable;
mod call_in_window;
mod changed_order;
mod changed_value;
mod copied_holes;
mod cut_short;
pub(super) mod diagnostic;
mod distant_access_ok;
mod double_fetch;
mod dropped_check;
mod dropped_fence;
mod early_descriptor;
mod elements_for_bytes;
mod end_after_failed_begin;
mod error_pointer;
mod fault_in_atomic;
mod half_done_pair;
mod ignored_fault;
mod impossible_test;
mod inverted_test;
mod jump_out_of_cleanup;
mod kept_lock;
mod kept_memory;
mod kept_pointer;
mod kept_position;
mod kept_secret;
mod kernel_address;
mod kernel_pointer_expected;
mod late_check;
mod macro_label;
mod mismatched_end;
mod misread_result;
mod nested_window;
mod nobodys_memory;
mod other_layout;
mod other_object_checked;
mod outside_checked_range;
mod read_after_fault;
mod released_memory;
mod signed_bound;
mod sizeof_pointer;
mod swallowed_fault;
mod swapped_arguments;
mod unbounded_index;
mod unbounded_operand;
mod unchecked_access;
mod unchecked_begin;
mod undefined_call;
mod unfenced_read;
mod unread_answer;
mod unread_copy;
mod unsafe_outside_window;
mod unterminated_string;
pub(super) mod unused_allow;
mod user_pointer_dereferenced;
mod window_closed_twice;
mod window_left_open;
mod wrapping_size;
mod wrong_argument_count;
mod wrong_direction;

pub(crate) const RULES: &[Rule] = &[
    window_left_open::RULE,
    end_after_failed_begin::RULE,
    window_closed_twice::RULE,
    mismatched_end::RULE,
    nested_window::RULE,
    nobodys_memory::RULE,
    unchecked_access::RULE,
    unchecked_begin::RULE,
    unsafe_outside_window::RULE,
    wrong_direction::RULE,
    outside_checked_range::RULE,
    other_object_checked::RULE,
    late_check::RULE,
    user_pointer_dereferenced::RULE,
    kernel_pointer_expected::RULE,
    call_in_window::RULE,
    argument_in_window::RULE,
    wrapping_size::RULE,
    wrong_argument_count::RULE,
    undefined_call::RULE,
    macro_label::RULE,
    jump_out_of_cleanup::RULE,
    read_after_fault::RULE,
    ignored_fault::RULE,
    swallowed_fault::RULE,
    unread_copy::RULE,
    unread_answer::RULE,
    misread_result::RULE,
    fault_in_atomic::RULE,
    impossible_test::RULE,
    inverted_test::RULE,
    swapped_arguments::RULE,
    half_done_pair::RULE,
    kernel_address::RULE,
    kept_lock::RULE,
    kept_memory::RULE,
    kept_pointer::RULE,
    kept_position::RULE,
    kept_secret::RULE,
    released_memory::RULE,
    early_descriptor::RULE,
    copied_holes::RULE,
    sizeof_pointer::RULE,
    elements_for_bytes::RULE,
    other_layout::RULE,
    beyond_argument::RULE,
    beyond_array::RULE,
    beyond_variable::RULE,
    unbounded_index::RULE,
    unbounded_operand::RULE,
    signed_bound::RULE,
    unterminated_string::RULE,
    error_pointer::RULE,
    double_fetch::RULE,
    distant_access_ok::RULE,
    unfenced_read::RULE,
    changed_value::RULE,
    changed_order::RULE,
    cut_short::RULE,
    dropped_check::RULE,
    dropped_fence::RULE,
    diagnostic::RULE,
    allow_without_reason::RULE,
    unused_allow::RULE,
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
