//! Locks, as the calls that take them and let them go name them.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::split::Body;

use super::context::FunctionContext;

/// The lock that a call is given: its first argument.
pub(crate) fn given(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Expression> {
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    given.first().cloned()
}

/// The member or the variable that a lock is: `lock` of `&d->lock` and of `lock`. What is the
/// same member of another object may be the same object.
pub(crate) fn member(lock: &Expression) -> Option<&str> {
    match &lock.uncast().1.term {
        Term::Address(inner) => member(inner),
        Term::Member { field, .. } => Some(field),
        _ => lock.uncast().1.name(),
    }
}

/// Whether a function of the file names a call that is so: it may let go what its caller took.
pub(crate) fn names(
    function: &FunctionContext<'_>,
    body: &Body,
    is: impl Fn(&str) -> bool,
) -> bool {
    first(function, body, |name| is(name).then_some(())).is_some()
}

/// What is known of the first that a function of the file names, of those of which it is.
pub(crate) fn first<T>(
    function: &FunctionContext<'_>,
    body: &Body,
    known: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    let file = function.file;
    let mut words = file.tokens_in(body.span).iter();
    words.find_map(|word| answer::text(word.span.of(file.text)).and_then(&known))
}

/// What an inline function of a header does to a lock, where the file has none of that name.
pub(crate) fn headers(function: &FunctionContext<'_>, name: &str) -> Option<(usize, bool)> {
    let own = function.file.words.locker(name)?;
    let hidden = function.file.bodies.iter().any(|body| body.name == name);
    (!hidden).then_some(own)
}
