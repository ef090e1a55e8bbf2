//! What checks the range of an address: access_ok().

use crate::expression::Expression;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::accesses::root_of;
use super::context::FunctionContext;

/// A check of a range.
pub(crate) struct Check {
    pub(crate) place: Span,
    pub(crate) name: String,
    pub(crate) root: String,
    /// Whether the address is nothing but the variable.
    pub(crate) plain: bool,
    pub(crate) address: Expression,
    pub(crate) size: Option<Expression>,
}

/// Those of a function.
pub(crate) fn checks(function: &FunctionContext<'_>) -> Vec<Check> {
    let mut found = Vec::new();
    function.calls.iter().for_each(|&call| {
        let name = function.called(call);
        let arguments = call.part("arguments");
        let address = arguments.and_then(|a| a.named_child(0));
        if let Some(address) = address.filter(|_| function.file.words.checks_range(name)) {
            let size = arguments.and_then(|a| a.named_child(1));
            found.push(Check {
                place: span(call),
                name: String::from_utf8_lossy(name).into_owned(),
                root: root_of(function.context, address),
                plain: Expression::of(function.context, bare(address))
                    .name()
                    .is_some(),
                address: Expression::of(function.context, bare(address)),
                size: size.map(|size| Expression::of(function.context, size)),
            });
        }
    });
    found
}
