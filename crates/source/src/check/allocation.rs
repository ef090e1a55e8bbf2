//! Memory that a function allocates for what it copies.

use crate::expression::{Expression, Term};
use crate::span::Span;

use super::context::FunctionContext;
use super::{space, unbounded};

/// Memory that a variable of the function leads to.
pub(crate) struct Allocation {
    /// Where it is allocated.
    pub(crate) place: Span,
    /// How many bytes.
    size: Expression,
    /// How often that.
    count: Option<Expression>,
    /// Whether every byte is 0.
    pub(crate) zeroed: bool,
}

impl Allocation {
    /// What the variable is given, if that is all that it is ever given before a place.
    pub(crate) fn of(function: &FunctionContext<'_>, name: &str, at: Span) -> Option<Self> {
        let graph = function.graph;
        let local = graph.local(name).filter(|own| !own.array && !own.lasting)?;
        let mut values = graph.assignments().filter(|(own, value)| {
            // Before it is allocated there is none.
            let none = function.expression(*value);
            *own == local.name && none.is_none_or(|own| !own.is_null())
        });
        let (_, place) = values.next()?;
        let value = function
            .expression(place)
            .filter(|_| place.end <= at.start)?;
        let (callee, arguments) = value.uncast().1.call()?;
        let known = function.file.words.allocates(callee)?;
        let size = arguments.get(known.size)?.clone();
        let count = match known.count {
            Some(at) => Some(arguments.get(at)?.clone()),
            None => None,
        };
        values.next().is_none().then_some(Self {
            place,
            size,
            count,
            zeroed: known.zeroed,
        })
    }

    /// What is wrong where so many bytes are copied to or from its front.
    pub(crate) fn exceeded(
        &self,
        function: &FunctionContext<'_>,
        bytes: &Expression,
        at: Span,
    ) -> Option<String> {
        match (self.bytes(function), space::bytes(function, bytes)) {
            (Some(size), Some(bytes)) => (bytes > size)
                .then(|| format!("{bytes} bytes are copied, and {size} were allocated")),
            (Some(size), None) => {
                let source = unbounded::users(function, bytes, at)?;
                let judged = unbounded::is_handed_before(function, bytes, at);
                (!judged).then(|| {
                    format!("{size} bytes were allocated, and nothing bounds {source}, which is the user's")
                })
            }
            (None, _) => self.is_short_of(bytes).then(|| {
                let said = function.file.plain(self.size.span);
                let copied = function.file.plain(bytes.span);
                format!("{copied} bytes are copied, and {said} were allocated")
            }),
        }
    }

    /// How many bytes it has, where that is a constant.
    pub(crate) fn bytes(&self, function: &FunctionContext<'_>) -> Option<u64> {
        let size = space::bytes(function, &self.size)?;
        match &self.count {
            Some(count) => size.checked_mul(space::bytes(function, count)?),
            None => Some(size),
        }
    }

    /// `n + 1` of `n`
    fn is_short_of(&self, bytes: &Expression) -> bool {
        let more = |own: &Expression| {
            matches!(&own.term, Term::Number(number) if number != "0")
                || matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_))
        };
        match &bytes.term {
            Term::Binary(left, operator, right) if self.count.is_none() => {
                operator == "+"
                    && (**left == self.size && more(right) || **right == self.size && more(left))
            }
            _ => false,
        }
    }
}
