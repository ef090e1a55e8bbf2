//! How far behind a pointer an access begins: a number of bytes, or what no more than
//! 32-bit numbers add up to, which leads from user memory to no other where addresses
//! have 64 bits.

use tollgate_source::{EffectKind, Expression, Shape, Site, Span, Statement, Term, TypeName};

use crate::planning::declared::{Member, members, part, pointee};
use crate::planning::rounds::value::{constant, scalar};
use crate::styles::pointer::PAGE;
use crate::subject::Subject;

/// Bytes behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distance {
    /// So many.
    Known(u64),
    /// What 32-bit numbers come to.
    Narrow,
}

/// Where an address leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// How far it is.
    pub(super) at: Distance,
    /// Whether it is made from the pointer itself: from another one that is near it
    /// otherwise, which a mask leaves alone.
    pub(super) own: bool,
}

/// An address, and the size of what it points to.
struct Reached {
    at: Distance,
    unit: Option<u64>,
}

impl Reached {
    fn moved(&self, by: Distance, back: bool) -> Option<Distance> {
        let unit = self.unit.filter(|unit| *unit <= PAGE)?;
        Some(match (self.at, by, back) {
            (Distance::Known(at), Distance::Known(by), false) => {
                Distance::Known(at.checked_add(by.checked_mul(unit)?)?)
            }
            (Distance::Known(at), Distance::Known(by), true) if at >= by.checked_mul(unit)? => {
                Distance::Known(at - by * unit)
            }
            (_, Distance::Known(by), _) if by > u32::MAX.into() => return None,
            _ => Distance::Narrow,
        })
    }
}

/// How far behind the pointer an access begins, if that is known to be less than what
/// lies between user memory and any other. `from` is where the window opens.
pub(super) fn of(subject: &Subject<'_>, site: &Site, pointer: &str, from: usize) -> Option<Place> {
    let address = subject.expression(site.address)?;
    if let Some(found) = reached(subject, &address, pointer) {
        return Some(Place {
            at: found.at,
            own: true,
        });
    }
    let name = address.root().name()?;
    reached(subject, &address, name)?;
    near(subject, pointer, name, from)
        .or_else(|| near(subject, name, pointer, from))
        .map(|()| Place {
            at: Distance::Narrow,
            own: false,
        })
}

/// An address that is made from a variable.
fn reached(subject: &Subject<'_>, own: &Expression, base: &str) -> Option<Reached> {
    match &own.term {
        Term::Name(name) if name == base => Some(Reached {
            at: Distance::Known(0),
            unit: pointee(subject, base).and_then(|of| size(subject, &of)),
        }),
        Term::Cast(to, inner) => Some(Reached {
            at: reached(subject, inner, base)?.at,
            unit: behind(subject, to),
        }),
        Term::Address(place) => reached_place(subject, place, base),
        // An array stands for its first element.
        Term::Member { .. } => reached_place(subject, own, base).filter(|_| {
            let path = path(subject, own, base);
            path.is_some_and(|path| is_array(subject, base, &path))
        }),
        Term::Binary(left, sign, right) if matches!(sign.as_str(), "+" | "-") => {
            let from = reached(subject, left, base)?;
            let by = amount(subject, right)?;
            Some(Reached {
                at: from.moved(by, sign == "-")?,
                unit: from.unit,
            })
        }
        Term::Call(_, arguments) => {
            let [argument] = arguments.as_slice() else {
                return None;
            };
            let (parameter, body) = subject.calls.macro_of(own.call()?.0)?;
            let given = reached(subject, argument, base)?;
            let inner = of_macro(subject, &subject.written(&body)?, &parameter)?;
            let at = match (given.at, inner.at) {
                (Distance::Known(a), Distance::Known(b)) => Distance::Known(a.checked_add(b)?),
                _ => Distance::Narrow,
            };
            Some(Reached {
                at,
                unit: inner.unit,
            })
        }
        _ => None,
    }
}

/// What a macro makes of its parameter: casts, and numbers that are added. What else its
/// names mean is not known here.
fn of_macro(subject: &Subject<'_>, own: &Expression, parameter: &str) -> Option<Reached> {
    match &own.term {
        Term::Name(name) if name == parameter => Some(Reached {
            at: Distance::Known(0),
            unit: None,
        }),
        Term::Cast(to, inner) => Some(Reached {
            at: of_macro(subject, inner, parameter)?.at,
            unit: behind(subject, to),
        }),
        Term::Binary(left, sign, right) if sign == "+" => {
            let from = of_macro(subject, left, parameter)?;
            let by = match &right.term {
                Term::Number(text) => tollgate_defect::answer::number(text)?,
                _ => size(subject, right.sized()?)?,
            };
            Some(Reached {
                at: from.moved(Distance::Known(by), false)?,
                unit: from.unit,
            })
        }
        _ => None,
    }
}

/// The address of a place.
fn reached_place(subject: &Subject<'_>, place: &Expression, base: &str) -> Option<Reached> {
    if let Some(path) = path(subject, place, base) {
        let (at, found) = part(subject, &pointee(subject, base)?, &path)?;
        let unit = match &found.shape {
            Shape::Array(element, _) => element.size,
            _ => found.size,
        };
        return Some(Reached {
            at: Distance::Known(at),
            unit: Some(unit),
        });
    }
    match &place.term {
        Term::Element { array, index } => {
            let from = reached(subject, array, base)?;
            Some(Reached {
                at: from.moved(amount(subject, index)?, false)?,
                unit: from.unit,
            })
        }
        Term::Behind(inner) => reached(subject, inner, base),
        _ => None,
    }
}

fn path(subject: &Subject<'_>, place: &Expression, base: &str) -> Option<Vec<Member>> {
    let path = members(place, &subject.written(base)?)?;
    let known = |member: &Member| {
        let index = member.index.as_deref();
        index.is_none_or(|index| index.bytes().all(|byte| byte.is_ascii_digit()))
    };
    path.iter().all(known).then_some(path)
}

fn is_array(subject: &Subject<'_>, base: &str, path: &[Member]) -> bool {
    let found = pointee(subject, base).and_then(|of| part(subject, &of, path));
    found.is_some_and(|(_, found)| matches!(found.shape, Shape::Array(..)))
}

/// The size of what a pointer of that type points to.
fn behind(subject: &Subject<'_>, to: &TypeName) -> Option<u64> {
    match to.pointers {
        0 => Some(1),
        1 => size(subject, &to.base),
        _ => None,
    }
}

/// The size of a type; what has none counts as bytes, as gcc has it.
fn size(subject: &Subject<'_>, of: &str) -> Option<u64> {
    if of.split_whitespace().any(|word| word == "void") {
        return Some(1);
    }
    part(subject, of, &[]).map(|(_, of)| of.size)
}

/// How much a number is.
fn amount(subject: &Subject<'_>, own: &Expression) -> Option<Distance> {
    if let Some(known) = constant(subject, own) {
        return Some(Distance::Known(known));
    }
    match &own.term {
        Term::Name(name) => is_narrow(subject, name).then_some(Distance::Narrow),
        // The size of an object is no more than it is anywhere.
        Term::SizeOf(_) | Term::SizeOfType(_) => Some(Distance::Narrow),
        Term::Binary(left, sign, right) if matches!(sign.as_str(), "+" | "-") => {
            amount(subject, left)?;
            amount(subject, right).map(|_| Distance::Narrow)
        }
        // It is no more than the left.
        Term::Binary(left, sign, _) if matches!(sign.as_str(), "%" | "/" | ">>") => {
            amount(subject, left)
        }
        _ => None,
    }
}

/// Whether a variable of the function has 32 bits at most.
fn is_narrow(subject: &Subject<'_>, name: &str) -> bool {
    let of = scalar(subject, name);
    let size = of.and_then(|of: String| subject.styled.types.size_everywhere(&of));
    size.is_some_and(|size| size <= 4)
}

/// Whether one pointer is made from another before a place, as narrow a way from it, and
/// neither is set again.
fn near(subject: &Subject<'_>, one: &str, other: &str, from: usize) -> Option<()> {
    let flow = subject.flow;
    let made = only_value(subject, one, from)?;
    let known = |name: &str| flow.is_private(name) && pointee(subject, name).is_some();
    if !known(one) || !known(other) {
        return None;
    }
    match only_value(subject, other, from) {
        Some(first) if first.end <= made.start => {}
        None if flow.is_parameter(other) && !flow.takes_a_value(other) => {}
        _ => return None,
    }
    reached(subject, &subject.expression(made)?, other).map(|_| ())
}

/// The value of a variable that is set once, on every way to a place.
fn only_value(subject: &Subject<'_>, name: &str, from: usize) -> Option<Span> {
    let flow = subject.flow;
    let effects = flow.effects_in(subject.function.body);
    let own = effects.filter(|e| flow.name_of(e) == name && flow.is_whole(e));
    let mut values = own.filter_map(|effect| match &effect.kind {
        EffectKind::Write(write) => Some(write.value),
        EffectKind::Handed { .. } => (!computes(subject, effect.span)).then_some(None),
        _ => None,
    });
    // `int x;` gives it none.
    let declared = flow.local(name).filter(|local| !local.initialised);
    if declared.is_some() && values.next()?.is_some() {
        return None;
    }
    let value = values.next().filter(|_| values.next().is_none())??;
    let set = statement(subject, value)?;
    let block = flow.holder(set).map_or(subject.function.body, |h| h.span);
    let reached = block.contains(Span::new(from, from)) && set.span.end <= from;
    reached.then_some(value)
}

/// The innermost statement around a place.
fn statement<'s>(subject: &'s Subject<'_>, place: Span) -> Option<&'s Statement> {
    let all = subject.flow.statements_in(subject.function.body);
    let around = all.filter(|own| own.span.contains(place));
    around.min_by_key(|own| own.span.end - own.span.start)
}

/// Whether what a statement calls around a place only computes.
fn computes(subject: &Subject<'_>, place: Span) -> bool {
    let called = statement(subject, place).and_then(|own| subject.flow.called_in(own.span));
    called.is_some_and(|names| names.iter().all(|name| subject.calls.only_computes(name)))
}
