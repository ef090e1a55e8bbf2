//! Sizes of as many elements as a number says, by a size that is less than theirs.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::accesses::Access;
use super::allocation::Allocation;
use super::context::FunctionContext;
use super::limit::limit;
use super::{space, unbounded};

/// Such a size.
pub(crate) struct ElementSize {
    /// What has the elements, and how many bytes each of them.
    pub(crate) object: Span,
    pub(crate) element: u64,
    /// How many bytes there are for each.
    pub(crate) size: u64,
    /// Where.
    pub(crate) place: Span,
    /// Where all of the elements are gone through, or are made.
    pub(crate) all: Span,
}

/// Memory that a call gives for so many: `u32 *p = kmalloc(n * sizeof(u16), GFP_KERNEL)`, where a loop
/// goes through `n` elements of `p`.
pub(crate) fn of_memory(function: &FunctionContext<'_>, call: Node<'_>) -> Option<ElementSize> {
    let name = function.callee(call)?;
    let allocated = function.file.words.allocates(name);
    let allocated = allocated.filter(|own| own.object.is_none());
    let copied = || Some((function.duplicates(name)?.count, None));
    // `memdup_array_user(from, n, sizeof(x))`
    let several = || {
        let at = function.file.words.elements(name)?;
        Some((at + 1, Some(at)))
    };
    let (size, count) = allocated
        .map(|own| (own.size, own.count))
        .or_else(copied)
        .or_else(several)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let size = given.get(size)?;
    let (number, size) = match count {
        Some(at) => (given.get(at)?.clone(), size.clone()),
        None => product(function, size)?,
    };
    let object = function.taker(call)?;
    less(
        function,
        &object,
        (number.uncast().1, &size),
        span(call),
        |_| None,
    )
}

/// A copy of so many elements.
pub(crate) fn of_copy(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<ElementSize> {
    let (number, size) = product(function, access.bytes.as_ref()?)?;
    let value = function.expression_of(access.value_node);
    let object = value.uncast().1;
    less(
        function,
        object,
        (number.uncast().1, &size),
        access.span,
        |number| {
            let memory = Allocation::of(function, object.name()?, access.span)?;
            memory
                .is_of_elements(function, number)
                .then_some(memory.place)
        },
    )
}

/// More bytes for each of so many elements than an array has: `u8 a[N]`, of which `n` up to `N` are
/// copied as `n * sizeof(u16)` bytes.
pub(crate) fn of_larger(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<ElementSize> {
    let (number, size) = product(function, access.bytes.as_ref()?)?;
    let number = number.uncast().1;
    let variable = matches!(number.term, Term::Name(_) | Term::Member { .. });
    let value = function.expression_of(access.value_node);
    let object = value.uncast().1;
    let count = space::elements(function, object).filter(|_| variable)?;
    let known = space::bytes(function, &size)?;
    let element = space::element(function, object).filter(|own| *own < known)?;
    function.pays()?;
    let all = held_against(function, number, count, access.span)?;
    // What a program may make too much is another rule's.
    let limit = limit(function, number, access.span).and_then(|own| own.value);
    let users = limit.is_some()
        && unbounded::users_within(function, number, access.span).is_some()
        && !unbounded::is_handed_before(function, number, access.span);
    (!users).then_some(ElementSize {
        object: object.span,
        element,
        size: known,
        place: access.span,
        all,
    })
}

/// Where a number is held against how many elements there are, before a place.
fn held_against(
    function: &FunctionContext<'_>,
    number: &Expression,
    count: u64,
    at: Span,
) -> Option<Span> {
    let before = function.graph.comparisons.iter();
    let mut before = before.filter(|own| own.end <= at.start);
    before.find_map(|place| {
        let asked = function.expression(*place)?;
        let Term::Binary(left, operator, right) = &asked.term else {
            return None;
        };
        let own = left.uncast().1 == number && matches!(operator.as_str(), ">" | "<=");
        let all = own.then(|| space::bytes(function, right.uncast().1))??;
        (all == count).then_some(*place)
    })
}

/// `n` and `sizeof(x)` of `n * sizeof(x)`, or of a variable that is nothing but that.
fn product(function: &FunctionContext<'_>, bytes: &Expression) -> Option<(Expression, Expression)> {
    let named = bytes.uncast().1.name().and_then(|name| {
        let value = function.graph.only_value(name)?;
        function.expression(value)
    });
    let bytes = named.as_deref().unwrap_or(bytes).uncast().1;
    // `array_size(n, sizeof(x))`
    if let Some((name, given)) = bytes.call() {
        let at = function.file.words.elements(name)?;
        return Some((given.get(at)?.clone(), given.get(at + 1)?.clone()));
    }
    let Term::Binary(left, operator, right) = &bytes.term else {
        return None;
    };
    let sized = |own: &Expression| matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_));
    let (left, right) = (left.uncast().1, right.uncast().1);
    match (operator.as_str(), sized(left), sized(right)) {
        ("*", true, false) => Some((right.clone(), left.clone())),
        ("*", false, true) => Some((left.clone(), right.clone())),
        _ => None,
    }
}

fn less(
    function: &FunctionContext<'_>,
    object: &Expression,
    (number, size): (&Expression, &Expression),
    place: Span,
    made: impl Fn(&Expression) -> Option<Span>,
) -> Option<ElementSize> {
    // The size of the pointer itself is another rule's.
    let itself = matches!(&size.uncast().1.term, Term::SizeOf(of) if of.uncast().1 == object);
    let variable = !itself && matches!(number.term, Term::Name(_) | Term::Member { .. });
    let known = space::bytes(function, size).filter(|_| variable)?;
    let element = space::element(function, object).filter(|own| *own > known)?;
    function.pays()?;
    let all = made(number).or_else(|| gone_through(function, object, number))?;
    Some(ElementSize {
        object: object.span,
        element,
        size: known,
        place,
        all,
    })
}

/// The loop that goes through so many elements: `for (i = 0; i < n; i++) … p[i]`.
pub(crate) fn gone_through(
    function: &FunctionContext<'_>,
    object: &Expression,
    number: &Expression,
) -> Option<Span> {
    let mut found = None;
    function.each_of(&["subscript_expression"], |node| {
        if found.is_some() {
            return;
        }
        let own = function.expression_of(node);
        let Term::Element { array, index } = &own.term else {
            return;
        };
        let index = index
            .uncast()
            .1
            .name()
            .filter(|_| array.uncast().1 == object);
        found = index.and_then(|index| {
            let mut around = function.around(node);
            around.find_map(|round| counts(function, round, index, number))
        });
    });
    found
}

/// What a loop asks, where that is whether an index is less than a number.
fn counts(
    function: &FunctionContext<'_>,
    round: Node<'_>,
    index: &str,
    number: &Expression,
) -> Option<Span> {
    let asked = round
        .part("condition")
        .filter(|_| matches!(round.known_kind(), "for_statement" | "while_statement"))?;
    match &function.expression_of(bare(asked)).term {
        Term::Binary(left, operator, right) if operator == "<" => {
            let own = left.uncast().1.name() == Some(index) && right.uncast().1 == number;
            own.then(|| span(asked))
        }
        _ => None,
    }
}
