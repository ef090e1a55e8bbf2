//! Copies of as many bytes as something else than their object bounds.

use crate::span::Span;

use super::accesses::Access;
use super::clamped_by_whole::clamped_by_whole;
use super::context::FunctionContext;
use super::counted_up::counted_up;
use super::greater::greater;
use super::hoisted::hoisted;
use super::position_left_out::position_left_out;
use super::rest_of_page::rest_of_page;
use super::told_by_call::told_by_call;

/// What is wrong with the number of bytes of a copy, and what says so.
pub(crate) fn other_bound(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<(String, Span)> {
    let file = function.file;
    let by_whole = clamped_by_whole(function, access).map(|own| own.told(file));
    by_whole
        .or_else(|| Some(hoisted(function, access)?.told(file)))
        .or_else(|| Some(position_left_out(function, access)?.told(file)))
        .or_else(|| Some(counted_up(function, access)?.told(file)))
        .or_else(|| Some(greater(function, access)?.told(file)))
        .or_else(|| Some(told_by_call(function, access)?.told(file)))
        .or_else(|| Some(rest_of_page(function, access)?.told(file)))
}
