//! Which bytes the rounds of a loop access, one element behind the other.

use tollgate_source::{Expression, Hazard, Loop, Run, Span, StatementKind, Term};

use crate::planning::declared::{declared, joined, members, pointee};
use crate::planning::rounds::bound::Bound;
use crate::planning::rounds::counter::{Counter, is_set, is_step};
use crate::planning::rounds::value::{array_of, constant};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// The most bytes that the rounds of one window access: a page, which is what masking
/// covers and what fs/select.c writes behind one begin.
const PAGE: u64 = 4096;

/// Elements of user memory, one for each round.
pub(crate) struct Extent {
    /// Where the first one is, as C.
    base: String,
    /// Whether the counter is the index of it.
    indexed: bool,
    /// The type or the expression whose size an element is; none for one byte.
    element: Option<String>,
    /// How many bytes that are.
    bytes: u64,
    /// The pointer that moves on by one element in each round.
    pub(crate) moves: Option<String>,
    /// Where the address stands.
    place: Span,
    /// The line of the refusal.
    line: u32,
}

impl Extent {
    /// How many rounds there are at most.
    pub(crate) fn rounds(&self, counter: &Counter, bound: &Bound) -> Result<usize, Refusal> {
        let most = bound.most_rounds(counter);
        let bytes = most.saturating_mul(self.bytes);
        let long = || Refusal {
            line: self.line,
            reason: Reason::LongWindow(bytes, PAGE),
        };
        let short = tollgate_defect::answer::fits(most).filter(|_| bytes <= PAGE);
        short.ok_or_else(long)
    }

    /// The object and the size of the range, as C.
    pub(crate) fn range(&self, counter: &Counter, bound: &Bound) -> (String, String) {
        let object = match self.indexed && counter.first > 0 {
            true => format!("&{}[{}]", self.base, counter.written),
            false => self.base.clone(),
        };
        let rounds = bound.rounds(counter);
        let size = match &self.element {
            None => bare(&rounds).to_owned(),
            Some(_) if rounds == format!("ARRAY_SIZE({})", self.base) => {
                format!("sizeof({})", self.base)
            }
            Some(element) => format!("{rounds} * sizeof({element})"),
        };
        (object, size)
    }
}

/// `n - 1` of `(n - 1)`, which [`Bound::rounds`] puts in brackets.
fn bare(rounds: &str) -> &str {
    let inner = rounds
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'));
    inner.unwrap_or(rounds)
}

/// The elements that a loop accesses, if they are known before it.
pub(crate) fn of(
    subject: &Subject<'_>,
    own: &Loop,
    run: &Run,
    counter: &Counter,
) -> Result<Extent, Refusal> {
    let site = run
        .sites
        .first()
        .ok_or_else(|| unknown(subject, own.span))?;
    let refuse = || unknown(subject, site.address);
    let address = subject.expression(site.address).ok_or_else(refuse)?;
    let moved = moved(subject, own, counter, &address);
    let stepped = matches!(address.term, Term::Step(_));
    let effects = site
        .hazards
        .iter()
        .filter(|h| **h == Hazard::SideEffect)
        .count();
    if effects != usize::from(stepped && moved.is_some()) {
        return Err(subject.refuse(site.span, Reason::SideEffect));
    }
    let names_counter = subject.flow.names(site.address, &counter.name);
    let found = match moved {
        Some(pointer) if !names_counter => walked(subject, &address, pointer),
        Some(_) => None,
        None => indexed(subject, own, &address, counter),
    };
    let found = found.ok_or_else(refuse)?;
    still(subject, own, &found)?;
    Ok(found)
}

fn unknown(subject: &Subject<'_>, place: Span) -> Refusal {
    subject.refuse(place, Reason::Range(subject.line(place)))
}

/// The one pointer of the address that each round moves on by one.
fn moved(
    subject: &Subject<'_>,
    own: &Loop,
    counter: &Counter,
    address: &Expression,
) -> Option<String> {
    if let Some(pointer) = is_step(subject, address) {
        return Some(pointer);
    }
    let flow = subject.flow;
    let along = counter.along.iter().cloned();
    let plain = flow
        .inside(own.body)
        .filter(|s| s.kind == StatementKind::Expression);
    let steps = plain.filter_map(|s| is_step(subject, &subject.expression_of(s.span)?));
    let mut all = along.chain(steps);
    all.find(|pointer| flow.names(address.span, pointer))
}

/// `p`, `p++` or `&p->a`, where `p` moves on.
fn walked(subject: &Subject<'_>, address: &Expression, pointer: String) -> Option<Extent> {
    let (element, bytes) = behind(subject, &pointer)?;
    let plain = match &address.term {
        Term::Name(name) => *name == pointer,
        Term::Step(of) => of.name() == Some(&pointer) && is_behind_name(subject, address),
        Term::Address(place) => {
            let holder = subject.written(&pointer)?;
            members(place, &holder).is_some_and(|path| path.iter().all(|m| m.index.is_none()))
        }
        _ => false,
    };
    plain.then(|| Extent {
        base: pointer.clone(),
        indexed: false,
        element,
        bytes,
        moves: Some(pointer),
        place: address.span,
        line: subject.line_of(address.span),
    })
}

/// Whether it is `p++`, whose value is `p`, and not `++p`.
fn is_behind_name(subject: &Subject<'_>, step: &Expression) -> bool {
    let first = subject.tokens(step.span).into_iter().next();
    first.is_some_and(|token| !token.is(b'+'))
}

/// `&a[i]`, `a + i`, `&a[i].b`, where `a` is a pointer, what is added to one, or an
/// array behind one.
fn indexed(
    subject: &Subject<'_>,
    own: &Loop,
    address: &Expression,
    counter: &Counter,
) -> Option<Extent> {
    let is_counter = |part: &Expression| part.name() == Some(&counter.name);
    let array = match &address.term {
        Term::Address(place) => match &element_of(place)?.term {
            Term::Element { array, index } if is_counter(index) => (**array).clone(),
            _ => return None,
        },
        Term::Binary(left, operator, right) if operator == "+" && is_counter(right) => {
            (**left).clone()
        }
        Term::Cast(to, inner) => return cast_bytes(subject, own, to, inner, counter),
        _ => return None,
    };
    let (element, bytes) = element(subject, own, &array)?;
    let base = subject.line(array.span);
    let simple = matches!(
        array.term,
        Term::Name(_) | Term::Member { .. } | Term::Cast(..)
    );
    Some(Extent {
        base: match simple || counter.first == 0 {
            true => base,
            false => format!("({base})"),
        },
        indexed: true,
        element,
        bytes,
        moves: None,
        place: address.span,
        line: subject.line_of(address.span),
    })
}

/// `a[i]` of `a[i].b.c`.
fn element_of(place: &Expression) -> Option<&Expression> {
    match &place.term {
        Term::Element { .. } => Some(place),
        Term::Member {
            holder,
            arrow: false,
            ..
        } => element_of(holder),
        _ => None,
    }
}

/// What an element of the array is as the operand of `sizeof`, and its bytes.
fn element(subject: &Subject<'_>, own: &Loop, array: &Expression) -> Option<(Option<String>, u64)> {
    let fixed = |name: &str| subject.flow.is_private(name) && !is_set(subject, own.span, name);
    match &array.term {
        Term::Name(name) => behind(subject, name).filter(|_| fixed(name)),
        Term::Cast(to, value) => {
            let pointer = value.name().filter(|name| fixed(name))?;
            let one = to.pointers == 1 && to.dimensions.is_empty();
            let cast = sized(subject, &to.base).filter(|_| one);
            cast.filter(|_| declared(subject, pointer).is_some())
        }
        Term::Binary(left, operator, right) if operator == "+" => {
            let more = right
                .name()
                .map_or(constant(subject, right).is_some(), fixed);
            element(subject, own, left).filter(|_| more)
        }
        Term::Member { .. } => {
            let root = array.root();
            let name = root.name().filter(|name| fixed(name))?;
            let path = members(array, root)?;
            let (of, _) = array_of(subject, &pointee(subject, name)?, &joined(&path))?;
            Some((Some(format!("*{}", subject.line(array.span))), of.size))
        }
        _ => None,
    }
}

/// `(char __user *)(address + i)`: bytes, whatever the address is.
fn cast_bytes(
    subject: &Subject<'_>,
    own: &Loop,
    to: &tollgate_source::TypeName,
    inner: &Expression,
    counter: &Counter,
) -> Option<Extent> {
    let Term::Binary(left, operator, right) = &inner.term else {
        return None;
    };
    let fixed = |name: &str| subject.flow.is_private(name) && !is_set(subject, own.span, name);
    let name = left.name().filter(|name| fixed(name))?;
    let one = |of: &str| subject.styled.types.size_everywhere(of) == Some(1);
    let bytes = match declared(subject, name) {
        Some(pointer) => matches!(pointer.pointee().as_str(), "void") || one(&pointer.pointee()),
        None => true,
    };
    let own_step = operator == "+" && right.name() == Some(&counter.name);
    let to_bytes = to.pointers == 1 && to.dimensions.is_empty() && one(&to.base);
    let cast = format!("({} __user *)", to.base);
    (own_step && to_bytes && bytes && counter.first == 0).then(|| Extent {
        base: format!("{cast}{name}"),
        indexed: true,
        element: None,
        bytes: 1,
        moves: None,
        place: inner.span,
        line: subject.line_of(inner.span),
    })
}

/// What a pointer variable points to, as the operand of `sizeof`, and its bytes.
fn behind(subject: &Subject<'_>, pointer: &str) -> Option<(Option<String>, u64)> {
    let of = declared(subject, pointer)?.pointee();
    let (one, bytes) = sized(subject, &of)?;
    Some((one.map(|_| format!("*{pointer}")), bytes))
}

/// A type as the operand of `sizeof`, none for one byte, and its bytes.
fn sized(subject: &Subject<'_>, of: &str) -> Option<(Option<String>, u64)> {
    // What is not known has no bytes to count.
    let Ok(layout) = subject.styled.types.layout(of) else {
        return None;
    };
    let bytes = layout.size;
    (bytes > 0).then(|| ((bytes > 1).then(|| of.to_owned()), bytes))
}

/// What moves on does so once in a round, and nothing else sets it.
fn still(subject: &Subject<'_>, own: &Loop, found: &Extent) -> Result<(), Refusal> {
    let Some(pointer) = &found.moves else {
        return Ok(());
    };
    let flow = subject.flow;
    let set = flow.effects_in(own.span).filter(|e| {
        !matches!(e.kind, tollgate_source::EffectKind::Read)
            && flow.is_whole(e)
            && flow.name_of(e) == pointer
    });
    match set.count() == 1 && flow.is_private(pointer) {
        true => Ok(()),
        false => Err(subject.refuse(found.place, Reason::Moving(pointer.clone()))),
    }
}
