//! Parts of what a fetch from the user fills.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;
use crate::types::{Shape, Type};

use super::context::FunctionContext;
use super::fetch::Fetch;
use super::fetched::member_of;
use super::space;

/// A part of what a second fetch fills.
#[derive(PartialEq, Eq)]
pub(crate) enum Part {
    /// `len` of `p->len`.
    Field(String),
    /// The same, which lies at the front.
    Front(String),
    /// `p[0]`
    First,
}

/// What of the second's object the first's address is: `&p->len`, `&p[0]`.
pub(crate) fn part_of(first: &Expression, whole: &Expression) -> Option<Part> {
    if first == whole {
        return Some(Part::First);
    }
    // `p + offsetof(struct s, len)`
    if let Term::Binary(left, operator, right) = &first.term {
        let field = right.offset_of().filter(|_| operator == "+")?;
        return (left.uncast().1 == whole).then(|| Part::Field(field.to_owned()));
    }
    let Term::Address(place) = &first.term else {
        return None;
    };
    match &place.term {
        Term::Member { .. } => member_of(first, whole).map(Part::Field),
        Term::Element { array, index } if **array == *whole && index.is_zero() => Some(Part::First),
        _ => None,
    }
}

/// Whether a node is that part of a variable.
pub(crate) fn is_part(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    variable: &str,
    wanted: &Part,
) -> bool {
    match (part(function, node, variable), wanted) {
        (Some(Part::Field(own)), Part::Front(front)) => own == *front,
        (own, wanted) => own.as_ref() == Some(wanted),
    }
}

/// The part, if the node is one of that variable.
fn part(function: &FunctionContext<'_>, node: Node<'_>, variable: &str) -> Option<Part> {
    if node.known_kind() != "subscript_expression" {
        return field(function, node, variable).map(Part::Field);
    }
    let array = bare(node.part("argument")?);
    let index = Expression::of(function.context, node.part("index")?);
    let own = function.context.seen(array) == variable.as_bytes() && index.is_zero();
    own.then_some(Part::First)
}

/// The field, if the node is one of that variable.
pub(crate) fn field(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    variable: &str,
) -> Option<String> {
    let mut holder = bare(node.part("argument")?);
    if holder.known_kind() == "pointer_expression" && function.context.operator(holder) == b"*" {
        holder = bare(holder.part("argument")?);
    }
    (function.context.seen(holder) == variable.as_bytes())
        .then(|| node.part("field"))
        .flatten()
        .map(|field| function.context.written(field))
}

/// The member of a member that is named there: all of `a.b.c` for its `a.b`.
pub(crate) fn inmost<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> Node<'t> {
    let around = function.above(node);
    match around.filter(|own| own.known_kind() == "field_expression") {
        Some(whole) if whole.part("argument") == Some(node) => inmost(function, whole),
        _ => node,
    }
}

/// The number that lies at the front of the structure which a fetch fills.
pub(crate) fn front_of(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> Option<Part> {
    let named = || Expression {
        span: fetch.span,
        term: Term::Name(fetch.value_root.clone()),
    };
    let filled = fetch.value.clone().unwrap_or_else(named);
    let of = match &filled.term {
        Term::Address(place) => space::type_of(function, place),
        _ => space::type_of(function, &filled.behind()),
    };
    first_member(&of?).map(Part::Front)
}

/// The first member of a structure, where that is a number.
fn first_member(of: &Type) -> Option<String> {
    let Shape::Struct(members) = &of.shape else {
        return None;
    };
    let mut front = members.iter().filter(|own| own.offset == 0);
    let number = |shape: &Shape| matches!(shape, Shape::Scalar { .. });
    let own = front.next().filter(|own| number(&own.of.shape))?;
    (own.bits.is_none() && front.next().is_none()).then(|| own.name.clone())
}

/// Whether a fetch of so many bytes is one of a number.
pub(crate) fn is_of_number(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> bool {
    let Some(Term::Address(place)) = fetch.value.as_ref().map(|own| &own.term) else {
        return false;
    };
    let of = space::type_of(function, place);
    place.name().is_some() && of.is_some_and(|of| matches!(of.shape, Shape::Scalar { .. }))
}

/// Whether two fetches are of one value at the same address: the same member, or the first one and
/// the front.
pub(crate) fn is_same_place(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let front = |whole: &Fetch<'_>, own: &Fetch<'_>| {
        whole.address.name() == Some(&whole.user_root) && is_first(function, own.user)
    };
    first.address == second.address || front(first, second) || front(second, first)
}

/// Whether an address is that of the first member behind a pointer: `&p->m`.
fn is_first(function: &FunctionContext<'_>, user: Span) -> bool {
    let address = function.expression(user);
    let address = address.as_deref().map(|own| own.uncast().1);
    let Some(Term::Address(place)) = address.map(|own| &own.term) else {
        return false;
    };
    let Term::Member {
        holder,
        arrow: true,
        field,
    } = &place.term
    else {
        return false;
    };
    let of = space::type_of(function, &holder.behind());
    of.and_then(|of| first_member(&of)).as_deref() == Some(field)
}

/// Whether the first fetch is of the last byte of what the second copies, and nothing looks at
/// that of the copy: `get_user(c, p + n - 1)` and `memdup_user(p, n)`.
pub(crate) fn is_last_alone(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    let Some(count) = last_of(&first.address, &second.address) else {
        return false;
    };
    let copied = second.bytes.as_ref().map(|own| own.uncast().1);
    let duplicated = || {
        let at = function.duplicates(function.callee(second.node)?)?.count;
        let whole = function.expression_of(second.node);
        Some(whole.call()?.1.get(at)?.uncast().1 == count)
    };
    let all = copied.map_or_else(|| duplicated() == Some(true), |own| own == count);
    all && !picks_again(function, second)
}

/// `n` of `p + n - 1`, `p + (n - 1)` and `&p[n - 1]`.
fn last_of<'e>(last: &'e Expression, front: &Expression) -> Option<&'e Expression> {
    let before = |own: &'e Expression| match &own.uncast().1.term {
        Term::Binary(left, operator, one) if operator == "-" => {
            matches!(&one.term, Term::Number(one) if one == "1").then(|| left.uncast().1)
        }
        _ => None,
    };
    let behind = |own: &'e Expression| match &own.uncast().1.term {
        Term::Binary(left, operator, by) if operator == "+" => {
            (left.uncast().1 == front).then(|| by.uncast().1)
        }
        _ => None,
    };
    match &last.term {
        Term::Address(place) => match &place.term {
            Term::Element { array, index } if array.uncast().1 == front => before(index),
            _ => None,
        },
        _ => before(last)
            .and_then(behind)
            .or_else(|| before(behind(last)?)),
    }
}

/// Whether anything behind a fetch picks an element of what it fills by a number that is not known.
fn picks_again(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> bool {
    let mut found = false;
    function.each_of(&["subscript_expression"], |node| {
        if found || span(node).start < fetch.span.end {
            return;
        }
        let own = function.expression_of(node);
        found = own.root().name() == Some(&fetch.value_root);
    });
    found
}

/// Whether the first that is done with what a fetch filled is to hold it down, `len = min_t(u32, len, n)`,
/// or to leave with all but one number, `if (len != sizeof(x)) return -EINVAL;`.
pub(crate) fn is_held_down(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> bool {
    let name = &fetch.value_root;
    let mut behind = function.mentions(name);
    let Some(first) = behind.find(|own| own.start_byte() >= fetch.span.end) else {
        return false;
    };
    let around = function.above(first);
    if around.is_some_and(|own| leaves_with_others(function, own)) {
        return true;
    }
    let set = around.filter(|own| own.known_kind() == "assignment_expression");
    let value = set.and_then(|own| own.part("right"));
    value.is_some_and(|value| {
        let whole = function.expression_of(value);
        let least = whole.uncast().1.call();
        least.is_some_and(|(call, given)| {
            let own = given.iter().any(|own| own.uncast().1.name() == Some(name));
            function.file.words.gives_least(call) && own
        })
    })
}

/// Whether a comparison is all of the condition of an `if` that leaves the function with any other
/// number than one that is known, and is not 0.
fn leaves_with_others(function: &FunctionContext<'_>, compared: Node<'_>) -> bool {
    let differs = compared.known_kind() == "binary_expression"
        && function.context.operator(compared) == b"!=";
    let one = compared.part("right").filter(|_| differs);
    let one = one.and_then(|own| space::bytes(function, &function.expression_of(own)));
    if one.is_none_or(|own| own == 0) {
        return false;
    }
    let mut around = function.around(compared);
    let holder = around.find(|own| own.known_kind() != "parenthesized_expression");
    let asks = holder
        .filter(|own| own.known_kind() == "if_statement" && own.part("alternative").is_none());
    asks.is_some_and(|own| {
        let mut inside = function.graph.inside(span(own));
        inside.any(|own| function.graph.leaves(own))
    })
}
