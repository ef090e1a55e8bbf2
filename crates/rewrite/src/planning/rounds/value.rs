//! What the tree's definitions say of a value: a constant, the length of an array, the
//! type of a variable.

use tollgate_source::{Expression, Shape, Span, Token, Type};

use crate::planning::declared::{joined, members, pointee};
use crate::subject::Subject;

/// Whether a limit is never negative.
pub(super) fn is_natural(subject: &Subject<'_>, limit: &Expression) -> bool {
    let of = limit.name().and_then(|name| scalar(subject, name));
    of.is_some_and(|of| subject.styled.types.is_unsigned(&of)) || constant(subject, limit).is_some()
}

/// The value of what names no variable of the function, `ARRAY_SIZE()` of one included.
pub(crate) fn constant(subject: &Subject<'_>, own: &Expression) -> Option<u64> {
    if let Some(("ARRAY_SIZE", [array])) = own.call() {
        return elements(subject, array);
    }
    let flow = subject.flow;
    let of_function = |name: &str| flow.local(name).is_some() || flow.is_parameter(name);
    let own_name = |part: &Expression| part.name().is_some_and(of_function);
    if own.any(&own_name) {
        return None;
    }
    value(subject, own)
}

/// What the tree's own constants say; what is not the same in all configurations bounds
/// nothing.
fn value(subject: &Subject<'_>, own: &Expression) -> Option<u64> {
    let Ok(value) = subject.styled.types.value(&subject.line(own.span)) else {
        return None;
    };
    Some(value)
}

/// How many elements an array has: a variable of the function, or a member behind one.
fn elements(subject: &Subject<'_>, array: &Expression) -> Option<u64> {
    if let Some(name) = array.name() {
        return dimension(subject, name);
    }
    let pointer = array.root();
    let path = members(array, pointer)?;
    let of = pointee(subject, pointer.name()?)?;
    array_of(subject, &of, &joined(&path)).map(|(_, count)| count)
}

/// `4` of `int a[4];`
fn dimension(subject: &Subject<'_>, name: &str) -> Option<u64> {
    let local = subject.flow.local(name).filter(|local| local.array)?;
    let code: Vec<Token> = subject
        .tokens(local.declared)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let at = code
        .iter()
        .position(|token| subject.at(token.span) == name)?;
    let open = code.get(at + 1).filter(|token| token.is(b'['))?;
    let close = tollgate_source::closing(&code, at + 1)?;
    let more = code.get(close + 1).is_some_and(|token| token.is(b'['));
    let inside = Span::new(open.span.end, code.get(close)?.span.start);
    let size = subject.expression(inside).filter(|_| !more)?;
    value(subject, &size)
}

/// The largest value of an unsigned type that is small.
pub(super) fn narrow(subject: &Subject<'_>, of: &str) -> Option<u64> {
    let types = &subject.styled.types;
    let size = types.scalar(of).filter(|_| types.is_unsigned(of));
    (size? == 1).then_some(u8::MAX.into())
}

/// The type of a plain variable of the function.
pub(crate) fn scalar(subject: &Subject<'_>, name: &str) -> Option<String> {
    match subject.flow.local(name) {
        Some(local) => local.plain.then(|| local.base_type.clone()),
        None => parameter(subject, name),
    }
}

/// The type of a parameter that is no pointer; `SYSCALL_DEFINE` has a comma before the
/// name.
fn parameter(subject: &Subject<'_>, name: &str) -> Option<String> {
    let header = subject.tokens(subject.function.header);
    let code: Vec<Token> = header.into_iter().filter(Token::is_code).collect();
    let at = code
        .iter()
        .rposition(|token| subject.at(token.span) == name)?;
    let mut front = code.get(..at)?;
    if let [rest @ .., last] = front
        && last.is(b',')
    {
        front = rest;
    }
    let begins = |token: &Token| token.is(b',') || token.is(b'(');
    let first = front.iter().rposition(begins)? + 1;
    let words = front.get(first..)?;
    let plain = !words.is_empty() && !words.iter().any(|token| token.is(b'*'));
    let all = words.iter().map(|token| subject.at(token.span));
    plain.then(|| all.collect::<Vec<_>>().join(" "))
}

/// What the elements of an array behind a pointer are, and how many there are.
pub(super) fn array_of(subject: &Subject<'_>, pointee: &str, path: &str) -> Option<(Type, u64)> {
    let Ok(of) = subject.styled.types.outline(pointee) else {
        return None;
    };
    match of.at(path) {
        Ok((_, own)) => match &own.shape {
            Shape::Array(element, count) => Some(((**element).clone(), *count)),
            _ => None,
        },
        Err(_) => None,
    }
}
