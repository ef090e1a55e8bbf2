//! How long a number may be that is printed.

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::span::Span;
use crate::types::{Shape, Type};

use super::bounded::is_compared;
use super::context::FunctionContext;
use super::format::{Numeral, NumeralSize, Part, parts};
use super::space;

/// So often a variable may be what another one was.
const STEPS: usize = 3;

/// The least that the longest text of a format takes.
pub(crate) struct Longest {
    /// How many bytes, without the 0.
    pub(crate) bytes: u64,
    /// The first number that may be so large.
    pub(crate) number: Span,
}

/// What a format writes at least where its numbers are as large as their types let them be, and
/// nothing says that they are less; none where that is so of no number.
pub(crate) fn longest(
    function: &FunctionContext<'_>,
    format: &str,
    given: &[Expression],
) -> Option<Longest> {
    let mut given = given.iter();
    let (mut bytes, mut first) = (0_u64, None);
    for part in parts(format)? {
        let own = match part {
            Part::Text(bytes) => bytes,
            Part::Cut { .. } => {
                given.next()?;
                0
            }
            Part::String { width } => {
                given.next()?;
                width
            }
            Part::Number { width, numeral } => {
                let number = given.next()?.uncast().1;
                let digits = digits(function, number, numeral);
                first = first.or(digits.map(|_| number.span));
                digits.unwrap_or(1).max(width)
            }
        };
        bytes = bytes.saturating_add(own);
    }
    Some(Longest {
        bytes,
        number: first?,
    })
}

/// How many characters a number takes that may be as large as its type lets it be.
fn digits(function: &FunctionContext<'_>, number: &Expression, numeral: Numeral) -> Option<u64> {
    let most = match numeral.size {
        NumeralSize::Bytes(bytes) => bytes,
        NumeralSize::Long => function.file.layout("long")?.size,
    };
    let Open { bytes, signed } = open(function, number, STEPS)?;
    let (bytes, signed) = match bytes < most {
        true => (bytes, signed),
        false => (most, matches!(numeral.letter, b'd' | b'i')),
    };
    let mark = |own: u64| if numeral.marked { own } else { 0 };
    Some(match numeral.letter {
        b'x' | b'X' => bytes * 2 + mark(2),
        b'o' => (bytes * 8).div_ceil(3) + mark(1),
        b'c' => 1,
        _ => decimal(bytes, signed),
    })
}

/// `-2147483648`, `4294967295`
fn decimal(bytes: u64, signed: bool) -> u64 {
    match (bytes, signed) {
        (1, false) => 3,
        (1, true) => 4,
        (2, false) => 5,
        (2, true) => 6,
        (4, false) => 10,
        (4, true) => 11,
        _ => 20,
    }
}

/// How large a number may be.
#[derive(Clone, Copy)]
struct Open {
    bytes: u64,
    signed: bool,
}

impl Open {
    /// What a type holds: no truth, and no name of an enumeration.
    fn of(own: &Type) -> Option<Self> {
        match own.shape {
            Shape::Scalar {
                signed,
                counts: true,
            } => Some(Self {
                bytes: own.size,
                signed,
            }),
            _ => None,
        }
    }

    /// Not an int: what a function gives as one is often whether something is so, or an error number.
    fn is_number(self) -> bool {
        !self.signed || self.bytes > 4
    }

    fn least(self, other: Self) -> Self {
        if other.bytes < self.bytes {
            other
        } else {
            self
        }
    }
}

/// How large a number may be that somebody else has set, and that nothing is compared with.
fn open(function: &FunctionContext<'_>, number: &Expression, steps: usize) -> Option<Open> {
    let left = steps.checked_sub(1)?;
    let number = number.uncast().1;
    match &number.term {
        Term::Name(name) => match function.local_at(name, number.span) {
            Some(local) if local.plain && !local.lasting => {
                let own = Open::of(&space::type_of(function, number)?)?;
                let most = taken(function, name, (own, left))?;
                (!asked(function, number)).then(|| own.least(most))
            }
            Some(_) => None,
            None if function.is_parameter(name) => None,
            None => {
                let written = super::range::file_scalar_type(function, name)?;
                let own = Open::of(&function.file.layout(&written)?)?;
                (!asked(function, number)).then_some(own)
            }
        },
        Term::Member { .. } if !is_bits(function, number) => {
            let own = Open::of(&space::type_of(function, number)?)?;
            (!asked(function, number)).then_some(own)
        }
        _ => None,
    }
}

fn asked(function: &FunctionContext<'_>, number: &Expression) -> bool {
    is_compared(function, number, Span::default())
}

/// How large what a variable takes may be: what a function gives, or what somebody else has set;
/// none of one that counts.
fn taken(function: &FunctionContext<'_>, name: &str, (own, left): (Open, usize)) -> Option<Open> {
    let graph = function.graph;
    let counts = |own: &Effect| matches!(&own.kind, EffectKind::Write(write) if write.next || write.compound);
    let all = || {
        graph
            .effects
            .iter()
            .filter(|own| graph.name_of(own) == name)
    };
    if all().any(counts) {
        return None;
    }
    let fetched = all().any(|own| own.kind == EffectKind::Handed { by_address: true });
    let values = graph.assignments().filter(|(own, _)| *own == name);
    let values = values.filter_map(|(_, value)| function.expression(value));
    let open = values.filter_map(|value| {
        let value = value.uncast().1;
        match value.call() {
            Some((name, _)) => given(function, name),
            None => open(function, value, left),
        }
    });
    let fetched = Some(own).filter(|own| fetched && own.is_number());
    open.chain(fetched).max_by_key(|own| own.bytes)
}

/// How large what a function of the file gives may be.
fn given(function: &FunctionContext<'_>, name: &str) -> Option<Open> {
    let body = function.file.body_named(name)?;
    let header = function.file.tokens_in(body.header);
    let text = function.file.text;
    let words = header
        .iter()
        .take_while(|own| own.span.of(text) != name.as_bytes());
    let words = words.map(|own| own.span.text(text));
    let words = words.filter(|own| !matches!(own.as_str(), "static" | "inline" | "const"));
    let written = words.collect::<Vec<_>>().join(" ");
    Open::of(&function.file.layout(&written)?).filter(|own| own.is_number())
}

/// Whether a member has only some bits of its type.
fn is_bits(function: &FunctionContext<'_>, member: &Expression) -> bool {
    let Term::Member {
        holder,
        arrow,
        field,
    } = &member.term
    else {
        return false;
    };
    let holder = match arrow {
        true => holder.behind(),
        false => (**holder).clone(),
    };
    let Some(of) = space::type_of(function, &holder) else {
        return false;
    };
    let members = of.members();
    let mut own = members.iter().filter(|(_, own)| own.name == *field);
    own.any(|(_, own)| own.bits.is_some())
}
