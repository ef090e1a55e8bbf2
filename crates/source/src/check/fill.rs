//! What a call puts into an object: all of it, or only what its source has.

use std::collections::BTreeSet;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;
use crate::types::Shape;

use super::context::FunctionContext;
use super::format::{least, literal};
use super::space;

/// What a call that copies something puts into the object that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// Every byte of it.
    All,
    /// So many bytes from its front on.
    Bytes(u64),
    /// A string, and nothing behind the 0 at its end.
    String,
    /// So many of its elements, each by its number.
    Elements(usize),
    /// Elements of it, in some rounds of a loop.
    Rounds,
    /// As many bytes as a number says that is no constant.
    Counted,
}

/// A call, and what it puts into what it is given.
pub(crate) struct Filling {
    pub(crate) call: Span,
    pub(crate) put: Put,
}

/// What the call puts into an object that is one of its arguments, or whose address is;
/// none where it is not known to copy into that, or how much.
pub(crate) fn filling(function: &FunctionContext<'_>, object: Node<'_>) -> Option<Filling> {
    let argument = argument(function, object);
    let arguments = function.above(argument)?;
    let call = arguments
        .parent()
        .filter(|own| own.known_kind() == "call_expression")?;
    let name = String::from_utf8_lossy(function.called(call)).into_owned();
    let words = function.file.words;
    let cleared = words.clears(&name).map(|own| (own.object, Some(own.count)));
    let filled = words.fills(&name).map(|own| (own.object, own.count));
    let (at, count) = cleared.or(filled)?;
    let part = |at: usize| arguments.named_child(answer::fits(at)?);
    part(at).filter(|own| own.id() == argument.id())?;
    let size = size(function, object)?;
    let put = match count {
        None if is_as_long(function, call, &name, size) => Put::All,
        None => (size > 1).then_some(Put::String)?,
        Some(count) => {
            let count = Expression::of(function.context, part(count)?);
            match space::bytes(function, &count)? {
                bytes if bytes >= size => Put::All,
                bytes => Put::Bytes(bytes),
            }
        }
    };
    let call = span(call);
    Some(Filling { call, put })
}

/// A call that copies as many bytes into an array as a number says, which nothing holds to be all
/// that there is room for.
pub(crate) fn counted(function: &FunctionContext<'_>, object: Node<'_>) -> Option<Filling> {
    let argument = argument(function, object);
    let arguments = function.above(argument)?;
    let call = arguments
        .parent()
        .filter(|own| own.known_kind() == "call_expression")?;
    let filled = function.file.words.fills(function.callee(call)?)?;
    let part = |at: usize| arguments.named_child(answer::fits(at)?);
    part(filled.object).filter(|own| own.id() == argument.id())?;
    let count = Expression::of(function.context, part(filled.count?)?);
    let place = Expression::of(function.context, object);
    let of = space::type_of(function, &place)?;
    let array = matches!(of.shape, Shape::Array(_, 2..));
    let open = array && space::bytes(function, &count).is_none();
    (open && !is_told_apart(function, &count)).then(|| Filling {
        call: span(call),
        put: Put::Counted,
    })
}

/// Whether a function asks of what a number is made of whether it is one in particular, or of one
/// that it never is 0: `if (n != sizeof(x->name))`.
pub(crate) fn is_told_apart(function: &FunctionContext<'_>, count: &Expression) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression", "switch_statement"], |node| {
        if found {
            return;
        }
        let asked = match node.known_kind() {
            "switch_statement" => node.part("condition"),
            _ => {
                let alike = matches!(function.context.operator(node), b"==" | b"!=");
                Some(node).filter(|_| alike)
            }
        };
        let asked = asked.map(|own| function.expression_of(own));
        found = asked.is_some_and(|own| {
            count.any(&|part| {
                let place = part.name().is_some() || matches!(part.term, Term::Member { .. });
                place && own.any(&|own| own == part)
            })
        });
    });
    found
}

/// Whether the string that a call prints has so many bytes at least, with the 0 at its end: one
/// that is told how much room there is may cut it.
pub(crate) fn is_as_long(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    name: &str,
    size: u64,
) -> bool {
    let least = || {
        let writes = function.file.words.results().writes(name)?;
        let whole = function.expression_of(call);
        let (_, given) = whole.call()?;
        let room = writes
            .count
            .map(|at| space::bytes(function, given.get(at)?.uncast().1));
        // What has less room ends before.
        room.is_none_or(|own| own.is_some_and(|own| own >= size))
            .then_some(())?;
        least(&literal(given.get(writes.format)?.uncast().1)?)
    };
    least().is_some_and(|least| least >= size.saturating_sub(1))
}

/// The number of an element that is set by itself: `x.version[2] = 1`; none where it is
/// no constant.
pub(crate) fn element(function: &FunctionContext<'_>, array: Node<'_>) -> Option<u64> {
    let element = array
        .parent()
        .filter(|own| own.known_kind() == "subscript_expression")?;
    let own = |part: &str| element.part(part).map(|part| part.id());
    (own("argument") == Some(array.id())).then_some(())?;
    let index = Expression::of(function.context, element.part("index")?);
    space::bytes(function, index.uncast().1)
}

/// The elements of one array that are set each by its number, and the first place.
pub(crate) struct Elements {
    pub(crate) numbers: BTreeSet<u64>,
    pub(crate) first: Span,
}

impl Elements {
    pub(crate) fn new(first: Span) -> Self {
        Self {
            numbers: BTreeSet::new(),
            first,
        }
    }

    /// What that puts into an array of so many.
    pub(crate) fn of(&self, count: u64) -> Filling {
        let set = self.numbers.iter().filter(|own| **own < count).count();
        Filling {
            call: self.first,
            put: match u64::try_from(set) == Ok(count) {
                true => Put::All,
                false => Put::Elements(set),
            },
        }
    }
}

/// The argument that a place is: itself, its address or either in a cast.
fn argument<'t>(function: &FunctionContext<'t>, object: Node<'t>) -> Node<'t> {
    let mut own = object;
    while let Some(around) = function.above(own) {
        let address = around.known_kind() == "pointer_expression"
            && function.context.operator(around) == b"&";
        if !address
            && (around.known_kind() == "argument_list" || bare(around).id() != bare(own).id())
        {
            break;
        }
        own = around;
    }
    own
}

/// The bytes of an array of the function, or of any other place.
fn size(function: &FunctionContext<'_>, object: Node<'_>) -> Option<u64> {
    let place = Expression::of(function.context, object);
    let own = place
        .name()
        .and_then(|name| function.local_at(name, place.span));
    match own.filter(|own| own.array) {
        Some(local) => space::array(function, local),
        None => {
            let of = space::type_of(function, &place)?;
            (!matches!(of.shape, Shape::Pointer { .. })).then_some(of.size)
        }
    }
}
