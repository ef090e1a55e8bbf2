//! Memory that the user's bytes may fill to the last one, so that no 0 is left of what lay there.

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::allocation::Allocation;
use super::context::FunctionContext;
use super::limit::{changed, limit};
use super::{bounded, space, unbounded};

/// Bytes of the user's that a call copies.
pub(crate) struct Copy {
    /// Where they go.
    object: Expression,
    /// The variable that this is made from.
    pub(crate) root: String,
    /// How many at most: as many as each of these says.
    counts: Vec<Expression>,
    /// The call.
    pub(crate) span: Span,
}

/// Those of a function whose number is an argument.
pub(crate) fn copies(function: &FunctionContext<'_>) -> Vec<Copy> {
    let reads = function.accesses.iter();
    let reads = reads.filter(|own| own.word.direction == Direction::Read);
    let own = reads.filter_map(|own| {
        Some(Copy {
            object: (*function.expression_of(own.value_node)).clone(),
            root: own.value_root.clone(),
            counts: vec![own.bytes.clone()?],
            span: own.span,
        })
    });
    let from_a_byte_on = function.calls.iter().filter_map(|call| {
        let name = function.callee(*call)?;
        let fills = function.file.words.results().fills_from(name)?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let object = given.get(fills.object)?.clone();
        let counts = [fills.room, fills.count];
        let counts = counts.into_iter().filter_map(|at| given.get(at).cloned());
        Some(Copy {
            root: object.root().name()?.to_owned(),
            counts: counts.collect(),
            object,
            span: span(*call),
        })
    });
    own.chain(from_a_byte_on)
        .chain(from_somewhere(function))
        .collect()
}

/// Those of calls that know by themselves where the bytes come from: `copy_from_iter(buf, n, from)`.
fn from_somewhere<'f>(function: &'f FunctionContext<'_>) -> impl Iterator<Item = Copy> + 'f {
    let words = function.file.words;
    function.calls.iter().filter_map(move |call| {
        let name = function.callee(*call)?;
        let (object, count) = (words.fetches(name)?, words.fetched(name)?);
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let object = given.get(object)?.clone();
        Some(Copy {
            root: object.root().name()?.to_owned(),
            counts: vec![given.get(count)?.clone()],
            object,
            span: span(*call),
        })
    })
}

/// Where a copy before a place may fill all of an array of the function, of the struct that it
/// lies in, or of memory that was allocated.
pub(crate) fn filling(
    function: &FunctionContext<'_>,
    copies: &[Copy],
    (place, root): (&Expression, &str),
    at: Span,
) -> Option<Span> {
    let own = copies.iter();
    let mut own = own.filter(|copy| copy.root == root && copy.span.end <= at.start);
    let full = own.find(|copy| fills_all(function, copy, place));
    full.map(|copy| copy.span)
}

fn fills_all(function: &FunctionContext<'_>, copy: &Copy, place: &Expression) -> bool {
    let object = copy.object.uncast().1;
    let Some(local) = function.local_at(&copy.root, copy.span) else {
        return false;
    };
    let size = match &object.term {
        Term::Name(_) if local.array => space::array(function, local),
        Term::Name(_) => return fills_memory(function, copy),
        Term::Address(whole) if whole.name().is_some() && local.plain => {
            space::type_of(function, whole).map(|own| own.size)
        }
        Term::Member { .. } if object == place => {
            space::type_of(function, place).map(|own| own.size)
        }
        _ => None,
    };
    size.is_some_and(|size| {
        may_be(function, copy, &|own, at| {
            most(function, own, at).is_some_and(|most| most >= size)
        })
    })
}

/// Whether each of the numbers that say how many bytes there are may be as large as that, or what
/// it takes, where that is one value.
fn may_be(
    function: &FunctionContext<'_>,
    copy: &Copy,
    reaches: &dyn Fn(&Expression, Span) -> bool,
) -> bool {
    let counts = || copy.counts.iter().map(|own| own.uncast().1);
    let reaches = |own: &Expression| {
        let value = || {
            let value = function.graph.only_value(own.name()?)?;
            function.expression(value)
        };
        let taken = || value().is_some_and(|value| reaches(value.uncast().1, copy.span));
        reaches(own, copy.span) || taken()
    };
    // Of two one may be any number, unless something is asked of it.
    let any = |own: &Expression| {
        let free = copy.counts.len() > 1 && space::bytes(function, own).is_none();
        free && limit(function, own, copy.span).is_none()
            && !bounded::is_compared_on_the_way(function, own, copy.span)
    };
    counts().any(reaches) && counts().all(|own| reaches(own) || any(own))
}

/// The same of memory that was allocated, with so many bytes or as many as the same number says.
fn fills_memory(function: &FunctionContext<'_>, copy: &Copy) -> bool {
    let Some(memory) = Allocation::of(function, &copy.root, copy.span) else {
        return false;
    };
    let size = memory.bytes(function);
    may_be(function, copy, &|own, at| {
        let same = |own: &Expression| {
            memory.is_of_bytes(function, own) && !changed(function, own, memory.place, at)
        };
        same(own)
            || least(function, own).any(|own| same(own.uncast().1))
            || size.is_some_and(|size| most(function, own, at).is_some_and(|most| most >= size))
    })
}

/// What a call is given that gives the least of it.
fn least<'e>(
    function: &FunctionContext<'_>,
    own: &'e Expression,
) -> impl Iterator<Item = &'e Expression> {
    let call = own.call();
    let call = call.filter(|(name, _)| function.file.words.gives_least(name));
    call.into_iter().flat_map(|(_, given)| given)
}

/// How many bytes a copy has that is as long as the user says.
fn most(function: &FunctionContext<'_>, count: &Expression, at: Span) -> Option<u64> {
    let known = |own: &Expression| space::bytes(function, own.uncast().1);
    if let Some(bytes) = known(count) {
        return Some(bytes);
    }
    let picked = least(function, count).filter_map(known).min();
    let most = picked.or_else(|| limit(function, count, at)?.value);
    most.filter(|_| unbounded::users_within(function, count, at).is_some())
}
