//! Memory that has as many bytes as the user says, and is taken for a structure.

use crate::expression::Term;
use crate::flow::Local;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::{asked, unbounded};

/// A structure that is read where as little may lie as the user likes.
pub(crate) struct Short {
    /// What says how many bytes there are.
    pub(crate) number: Span,
    /// Where it says so.
    pub(crate) made: Span,
    /// The member that is looked at.
    pub(crate) member: Span,
}

/// The first member that a function looks at behind a pointer of its own, which leads to as many
/// bytes as a number of the user's says and nothing else: only whether that is more than
/// something is asked of it.
pub(crate) fn short(function: &FunctionContext<'_>, local: &Local) -> Option<Short> {
    let values = function
        .graph
        .assignments()
        .filter(|(own, _)| *own == local.name);
    let mut values = values.filter_map(|(_, place)| function.expression(place));
    let value = values.find(|own| !own.is_null())?;
    let (callee, given) = value.uncast().1.call()?;
    let words = function.file.words;
    let allocated = words.allocates(callee);
    let allocated = allocated.filter(|own| own.object.is_none() && own.count.is_none());
    let at = match (allocated, function.duplicates(callee)) {
        (Some(own), _) => own.size,
        (_, Some(own)) => own.count,
        _ => return None,
    };
    let number = given.get(at)?.uncast().1;
    let place = matches!(number.term, Term::Name(_) | Term::Member { .. });
    let alone = place && values.next().is_none() && asked::may_be_least(function, number);
    alone.then_some(())?;
    let member = looked_at(function, local, value.span)?;
    function.pays()?;
    let users = unbounded::users_within(function, number, value.span);
    let users = users.filter(|own| !own.is_handed)?;
    let least = users
        .by
        .iter()
        .all(|own| asked::may_be_least(function, own));
    let judged = unbounded::is_handed_before(function, number, value.span);
    (least && !judged).then_some(Short {
        number: number.span,
        made: value.span,
        member,
    })
}

/// The first member that is read or written behind the variable.
fn looked_at(function: &FunctionContext<'_>, local: &Local, made: Span) -> Option<Span> {
    let mut found = None;
    function.each_of(&["field_expression"], |node| {
        let at = span(node);
        if found.is_some() || at.start < made.end {
            return;
        }
        let own = function.expression_of(node);
        let Term::Member { holder, arrow, .. } = &own.term else {
            return;
        };
        let address = function.above(node).is_some_and(|around| {
            around.known_kind() == "pointer_expression" && function.context.operator(around) == b"&"
        });
        let behind = *arrow && holder.name() == Some(&local.name) && !address;
        found = behind.then_some(at);
    });
    found
}
