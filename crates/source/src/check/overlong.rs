//! How much a string that is written would have, where that is more than there is room for.

use std::rc::Rc;

use tollgate_defect::answer;

use crate::Direction;
use crate::calls::Writes;
use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::added_up::added_up;
use super::context::FunctionContext;
use super::digits::longest;
use super::format::{Part, literal, parts};
use super::space;
use super::unbounded;

/// The most that a number in a string takes: 64 bits in octal, with a sign.
const NUMBER: u64 = 23;

/// What a copy to the user takes for the length of what lies in a buffer.
pub(crate) struct Overlong {
    /// The copy.
    pub(crate) copy: Span,
    /// The call that wrote the buffer, and says how much it would have written.
    pub(crate) written: Span,
    pub(crate) name: String,
    /// The buffer.
    pub(crate) buffer: Span,
    /// What may be longer than there is room for.
    pub(crate) long: String,
}

/// The copies of a function to the user: the copy, what is read, and how many bytes.
fn copies(function: &FunctionContext<'_>) -> Vec<(Span, Expression, Expression)> {
    let accesses = function.accesses.iter().chain(function.through);
    let writes = accesses.filter(|own| own.word.direction == Direction::Write);
    let own = writes.filter_map(|own| {
        let value = function.expression_of(own.value_node);
        Some((own.span, (*value).clone(), own.bytes.clone()?))
    });
    let others = function.calls.iter().filter_map(|call| {
        let out = function.file.words.shows(function.callee(*call)?)?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        Some((
            span(*call),
            given.get(out.value)?.clone(),
            given.get(out.count?)?.clone(),
        ))
    });
    own.chain(others).collect()
}

/// Every copy whose length is how much a string would have, where nothing asks whether there was
/// room for that.
pub(crate) fn overlong(function: &FunctionContext<'_>) -> Vec<Overlong> {
    let all = copies(function).into_iter();
    all.filter_map(|(copy, buffer, count)| {
        let own = (&buffer, &count);
        of_copy(function, copy, own).or_else(|| added_up(function, copy, own))
    })
    .collect()
}

fn of_copy(
    function: &FunctionContext<'_>,
    copy: Span,
    (buffer, count): (&Expression, &Expression),
) -> Option<Overlong> {
    let number = count.uncast().1;
    let written = match number.name() {
        Some(name) => {
            function.graph.local(name).filter(|own| own.plain)?;
            function.expression(function.graph.only_value(name)?)?
        }
        None => Rc::new(number.clone()),
    };
    let call = written.uncast().1;
    let (name, given) = call.call()?;
    let writes = function.file.words.results().writes(name)?;
    let own = given.get(writes.object)?.uncast().1;
    (*own == *buffer.uncast().1).then_some(())?;
    let long = beyond(function, writes, given)?;
    let asked = number
        .name()
        .is_some_and(|name| is_compared(function, name))
        || unbounded::is_handed_before(function, number, copy);
    (!asked).then(|| Overlong {
        copy,
        written: call.span,
        name: name.to_owned(),
        buffer: own.span,
        long,
    })
}

/// Whether the number is compared with anything but 0.
fn is_compared(function: &FunctionContext<'_>, name: &str) -> bool {
    let named = |own: &Expression| own.any(&|part| part.name() == Some(name));
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let own = function.expression_of(node);
        let Term::Binary(left, operator, right) = &own.term else {
            return;
        };
        let compares = compares(operator);
        let with_0 = left.is_zero() || right.is_zero();
        found |= compares && !with_0 && (named(left) || named(right));
    });
    found
}

/// What of a format may be longer than there is room for: the format itself, which nobody knows,
/// or a string in it.
fn beyond(function: &FunctionContext<'_>, writes: Writes, given: &[Expression]) -> Option<String> {
    let format = given.get(writes.format)?.uncast().1;
    let file = function.file;
    let Some(text) = literal(format) else {
        // What has a name of its own elsewhere may be a constant.
        let name = format.name()?;
        return function.is_parameter(name).then(|| file.plain(format.span));
    };
    let room = given
        .get(writes.count?)
        .and_then(|own| space::bytes(function, own));
    let mut rest = given.iter().skip(writes.format + 1);
    let (mut most, mut long) = (0_u64, None);
    for part in parts(&text)? {
        let own = match part {
            Part::Text(bytes) => Some(bytes),
            Part::Number { width, .. } => {
                rest.next()?;
                Some(width.max(NUMBER))
            }
            Part::Cut { most } => {
                rest.next()?;
                Some(most)
            }
            Part::String { width } => {
                let string = rest.next()?;
                let length = length(function, string)?;
                if long.is_none() && !matches!(length, Length::Literal(_)) {
                    long = Some(file.plain(string.span));
                }
                length.most().map(|own| own.max(width))
            }
        };
        most = match own {
            Some(own) => most.saturating_add(own),
            None => u64::MAX,
        };
    }
    let fits = room.is_some_and(|room| most < room) || room.is_none() && most < u64::MAX;
    let printed = || {
        let own = longest(function, &text, given.get(writes.format + 1..)?)?;
        (own.bytes >= room?).then(|| file.plain(own.number))
    };
    long.filter(|_| !fits).or_else(printed)
}

/// The most that a call writes for one string; none where nothing says how long that may be.
pub(crate) fn most(
    function: &FunctionContext<'_>,
    writes: Writes,
    given: &[Expression],
) -> Option<u64> {
    let text = literal(given.get(writes.format)?.uncast().1)?;
    // What is not taken apart takes no more than an address of any kind, as it is printed.
    let Some(parts) = parts(&text) else {
        return answer::fits::<u64, _>(text.len())?.checked_mul(NUMBER);
    };
    let mut rest = given.iter().skip(writes.format + 1);
    parts.into_iter().try_fold(0_u64, |all, part| {
        let own = match part {
            Part::Text(bytes) => return all.checked_add(bytes),
            Part::Number { width, .. } => width.max(NUMBER),
            Part::Cut { most } => most,
            Part::String { width } => {
                match rest.clone().next().and_then(|own| length(function, own)) {
                    // What nobody knows may be a short name.
                    None => width.max(NUMBER),
                    Some(own) => own.most()?.max(width),
                }
            }
        };
        rest.next();
        all.checked_add(own)
    })
}

/// A string that is written into an array of the function, which has no room for all of it.
pub(crate) struct Overrun {
    /// The call that writes it.
    pub(crate) call: Span,
    pub(crate) name: String,
    /// How many bytes it may write, with the 0.
    pub(crate) bytes: u64,
    /// The array, and how many it has.
    pub(crate) array: String,
    pub(crate) size: u64,
    /// The copy that shows it to a program.
    pub(crate) shown: Span,
}

/// Every string that a function writes for a program, whatever room there is for it.
pub(crate) fn overruns(function: &FunctionContext<'_>) -> Vec<Overrun> {
    let all = function.calls.iter();
    all.filter_map(|call| {
        let writes = function
            .file
            .words
            .results()
            .writes(function.callee(*call)?)?;
        writes.count.is_none().then_some(())?;
        of_write(function, &function.expression_of(*call), writes)
    })
    .collect()
}

fn of_write(function: &FunctionContext<'_>, call: &Expression, writes: Writes) -> Option<Overrun> {
    let (name, given) = call.call()?;
    let array = given.get(writes.object)?.uncast().1.name()?;
    let local = function
        .local_at(array, call.span)
        .filter(|own| own.array)?;
    let text = literal(given.get(writes.format)?.uncast().1)?;
    let size = space::array(function, local)?;
    let own = longest(function, &text, given.get(writes.format + 1..)?)?;
    let bytes = own.bytes.checked_add(1).filter(|own| *own > size)?;
    let mut copies = copies(function).into_iter();
    let (shown, _, _) = copies.find(|(_, value, _)| value.uncast().1.name() == Some(array))?;
    Some(Overrun {
        call: call.span,
        name: name.to_owned(),
        bytes,
        array: array.to_owned(),
        size,
        shown,
    })
}

/// How long a string may be.
enum Length {
    Literal(u64),
    /// An array of so many bytes.
    Array(u64),
    Any,
}

impl Length {
    fn most(&self) -> Option<u64> {
        match self {
            Self::Literal(most) | Self::Array(most) => Some(*most),
            Self::Any => None,
        }
    }
}

/// How long a string may be; none where nobody knows what it is.
fn length(function: &FunctionContext<'_>, of: &Expression) -> Option<Length> {
    let of = of.uncast().1;
    if let Some(text) = literal(of) {
        return Some(Length::Literal(answer::fits(text.len())?));
    }
    match &of.term {
        Term::Choice(_, Some(one), other) => {
            let (one, other) = (length(function, one)?, length(function, other)?);
            match (one, other) {
                (Length::Literal(one), Length::Literal(other)) => {
                    Some(Length::Literal(one.max(other)))
                }
                _ => None,
            }
        }
        Term::Name(name) => match function.local_at(name, of.span) {
            Some(local) if local.array => Some(Length::Array(space::array(function, local)?)),
            Some(_) => None,
            None => function.is_parameter(name).then_some(Length::Any),
        },
        Term::Member { .. } => match space::type_of(function, of)?.shape {
            Shape::Array(_, count) if count > 1 => Some(Length::Array(count - 1)),
            Shape::Pointer { .. } => Some(Length::Any),
            _ => None,
        },
        _ => None,
    }
}
