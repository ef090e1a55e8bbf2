//! What reads from the user fill before a place.

use tollgate_defect::answer;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::tokens::parameter_spans;

/// Whether a read from the user fills the variable before an access.
pub(crate) fn is_filled(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let mut reads = function.accesses.iter();
    let fetched = reads.any(|read| {
        read.word.direction == Direction::Read
            && read.value_root == name
            && read.span.end <= at.start
    });
    fetched || is_fetched_elsewise(function, name, at)
}

/// Whether a read from the user fills a place behind a pointer that another one lies in:
/// `copy_from_user(&d->request, …)` and `d->request.index`.
pub(crate) fn is_filled_place(
    function: &FunctionContext<'_>,
    place: &Expression,
    at: Span,
) -> bool {
    let mut reads = function.accesses.iter();
    reads.any(|read| {
        let before = read.word.direction == Direction::Read && read.span.end <= at.start;
        let value = before.then(|| function.expression_of(read.value_node));
        value.is_some_and(|value| match &value.uncast().1.term {
            Term::Address(filled) => filled.pointer().is_some() && place.lies_in(filled),
            // `get_user(p->n, …)`
            Term::Member { .. } if read.word.count.is_none() => {
                value.uncast().1.pointer().is_some() && place == value.uncast().1
            }
            _ => false,
        })
    })
}

/// Whether what knows by itself where the user's bytes are fills the variable before an access:
/// `copy_from_iter(&x, …)`.
fn is_fetched_elsewise(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let calls = function
        .calls
        .iter()
        .filter(|own| own.end_byte() <= at.start);
    let words = function.file.words;
    let is_own = |given: &Expression| match &given.uncast().1.term {
        Term::Address(place) => place.name() == Some(name),
        _ => false,
    };
    let mut fills = calls.filter_map(|call| {
        let callee = answer::text(function.called(*call))?;
        let (object, parses) = (words.fetches(callee), words.parses(callee));
        object.or(parses.map(|own| own.into))?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let Some(parses) = parses else {
            return given.get(object?).map(is_own);
        };
        let count = if parses.all { given.len() } else { 1 };
        let mut into = given.iter().skip(parses.into).take(count);
        let text = given.get(parses.text)?.root();
        let users = into.any(is_own).then(|| text.name())??;
        Some(is_users_text(function, users, span(*call)))
    });
    fills.any(|own| own)
}

/// Whether what a variable leads to before a place is a copy of what the user has.
fn is_users_text(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let mut reads = function.accesses.iter();
    let fetched = reads.any(|read| {
        read.word.direction == Direction::Read
            && read.value_root == name
            && read.span.end <= at.start
    });
    fetched || is_copied(function, name, at)
}

/// Whether a read from the user fills what a variable leads to, and no member of it alone.
fn is_filled_from_front(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let mut reads = function.accesses.iter();
    reads.any(|read| {
        let value = Expression::of(function.context, read.value_node);
        read.word.direction == Direction::Read
            && value.uncast().1.name() == Some(name)
            && read.span.end <= at.start
    })
}

/// Whether a parameter leads to a copy of the user's bytes by what the function is declared to take.
pub(crate) fn is_given_copy(function: &FunctionContext<'_>, name: &str) -> bool {
    let (file, body) = (function.file, function.body);
    let kept = function.is_parameter(name) && !function.graph.takes_a_value(name);
    let Some(all) = parameter_spans(file.tokens, body).filter(|_| kept) else {
        return false;
    };
    let has = |place: &Span, wanted: &str| {
        let mut words = file.tokens_in(*place).iter();
        words.any(|own| own.span.of(file.text) == wanted.as_bytes())
    };
    file.words.handlers().given_copies().iter().any(|own| {
        let copy = all.get(own.copy);
        let copy = copy.is_some_and(|place| has(place, name) && !has(place, "__user"));
        let alike = || all.iter().zip(&own.takes).all(|(place, of)| has(place, of));
        copy && all.len() == own.takes.len() && alike()
    })
}

/// Whether all that a pointer of the function leads to before an access is a copy of what the
/// user has.
pub(crate) fn is_copied(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let values = function.graph.assignments();
    let mut values = values.filter(|(own, value)| {
        let none = function.expression(*value);
        *own == name && none.is_none_or(|own| !own.is_null())
    });
    let value = values
        .next()
        .and_then(|(_, place)| function.expression(place));
    let only = values.next().is_none();
    let given = value.as_ref().and_then(|value| value.uncast().1.name());
    if only && given.is_some_and(|name| is_given_copy(function, name)) {
        return true;
    }
    let call = value.as_ref().and_then(|value| value.uncast().1.call());
    call.filter(|_| only).is_some_and(|(callee, _)| {
        let ends = function.file.words.results().ends_copy(callee);
        let duplicated = function.duplicates(callee).is_some() || ends.is_some();
        let allocated = function.file.words.allocates(callee).is_some();
        duplicated || allocated && is_filled_from_front(function, name, at)
    })
}

/// The pointer behind which a member lies, or a member of that: `p` of `p->a.b`.
pub(crate) fn pointer_of(member: &Expression) -> Option<&str> {
    match &member.term {
        Term::Member {
            holder,
            arrow: true,
            ..
        } => holder.name(),
        Term::Member { holder, .. } => pointer_of(holder),
        _ => None,
    }
}

/// The name that a member behind a pointer has in the place to which that points.
pub(crate) fn named_in(member: &Expression, place: &Expression) -> Option<Expression> {
    let Term::Member {
        holder,
        arrow,
        field,
    } = &member.term
    else {
        return None;
    };
    let holder = match arrow {
        true => place.clone(),
        false => named_in(holder, place)?,
    };
    Some(Expression {
        span: member.span,
        term: Term::Member {
            holder: Box::new(holder),
            arrow: false,
            field: field.clone(),
        },
    })
}
