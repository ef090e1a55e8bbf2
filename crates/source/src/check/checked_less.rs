//! Accesses that check nothing, of what access_ok() has not seen: in front of it, more elements
//! than it was told of, or another member.

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;
use crate::types::Shape;

use super::accesses::Access;
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::limit::limit;
use super::range_check::{Check, checks};
use super::{bounded, extent, space, unbounded};

/// By how much an access begins in front of what was checked: `fp - sizeof(x)` where that was `fp`.
pub(crate) fn in_front_of(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
) -> Option<Span> {
    let checked = check.address.uncast().1;
    checked.name()?;
    let own = access.address.uncast().1;
    let value = || function.expression(function.graph.only_value(own.name()?)?);
    let value = value();
    let address = value.as_deref().unwrap_or(own).uncast().1;
    let Term::Binary(left, operator, by) = &address.term else {
        return None;
    };
    let front = operator == "-" && left.uncast().1 == checked && !by.is_zero();
    let front = front && stays(function, &check.root);
    (front && function.leads(check.place, access.span)).then_some(by.span)
}

/// Whether a pointer leads to one place alone.
fn stays(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    graph.only_value(name).is_some() || !graph.takes_a_value(name)
}

/// A loop that goes through more than was checked.
pub(crate) struct OneForAll {
    /// How many bytes were.
    pub(crate) checked: u64,
    /// What says how many rounds there are.
    pub(crate) count: Span,
}

/// `for (i = 0; i < n; i++) … p[i]`, where `sizeof(n)` bytes were checked, or one element.
pub(crate) fn one_for_all(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
) -> Option<OneForAll> {
    let index = picked(access.address.uncast().1, &check.root).filter(|_| check.plain)?;
    let size = check.size.as_ref()?.uncast().1;
    let checked = extent::bytes(function, size).or_else(|| space::bytes(function, size))?;
    let mut around = function.around(access.node);
    let count = around.find_map(|round| rounds(function, round, index))?;
    let open = space::bytes(function, &count).is_none()
        && limit(function, &count, check.place).is_none()
        && !bounded::is_compared_on_the_way(function, &count, check.place);
    open.then_some(OneForAll {
        checked,
        count: count.span,
    })
}

/// The variable that picks the element: `p + i`, `&p[i]`.
fn picked<'e>(address: &'e Expression, root: &str) -> Option<&'e str> {
    let (front, index) = match &address.term {
        Term::Binary(front, operator, index) if operator == "+" => (front, index),
        Term::Address(place) => match &place.term {
            Term::Element { array, index } => (array, index),
            _ => return None,
        },
        _ => return None,
    };
    index
        .name()
        .filter(|_| front.uncast().1.name() == Some(root))
}

/// What a loop holds an index against.
fn rounds(function: &FunctionContext<'_>, round: Node<'_>, index: &str) -> Option<Expression> {
    let looped = matches!(round.known_kind(), "for_statement" | "while_statement");
    let asked = round.part("condition").filter(|_| looped)?;
    match &function.expression_of(bare(asked)).term {
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "<" | "!=") => {
            let count = right.uncast().1;
            let place = matches!(count.term, Term::Name(_) | Term::Member { .. });
            (place && left.uncast().1.name() == Some(index)).then(|| count.clone())
        }
        _ => None,
    }
}

/// The number of the user's that says how many bytes are checked, where more are accessed for all
/// that is asked on some way.
pub(crate) fn no_least(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    check: &Check,
) -> Option<Span> {
    let size = check.size.as_ref()?.uncast().1;
    let name = size.name().filter(|_| check.plain)?;
    // What takes it may be asked for.
    let taken = |value: Span| function.graph.names(value, name);
    let kept = stays(function, &check.root)
        && !function.graph.assignments().any(|(_, value)| taken(value));
    kept.then_some(())?;
    let plain = access.address.uncast().1.name() == Some(&check.root);
    let known = match &access.bytes {
        Some(bytes) => space::bytes(function, bytes.uncast().1).is_some(),
        None => true,
    };
    (plain && known && function.leads(check.place, access.span)).then_some(())?;
    let asked = asked(function, name);
    (!function.graph.passes(&asked, access.span)).then_some(())?;
    let own = Span::new(check.place.start, check.place.start);
    let users = unbounded::users_within_both(function, size, own).is_some();
    (users && !unbounded::is_judged_before(function, size, own)).then_some(size.span)
}

/// Where a number is compared with anything but 0, or said by a `switch`.
fn asked(function: &FunctionContext<'_>, name: &str) -> Vec<Span> {
    let mut found = Vec::new();
    function.each_of(&["binary_expression", "switch_statement"], |node| {
        let node = match node.known_kind() {
            "switch_statement" => node.part("condition"),
            _ => Some(node),
        };
        let named = node.filter(|own| function.graph.names(span(*own), name));
        let Some(node) = named else { return };
        let counts = match &function.expression_of(node).term {
            Term::Binary(left, operator, right) => {
                compares(operator) && !left.is_zero() && !right.is_zero()
            }
            _ => true,
        };
        if counts {
            found.push(span(node));
        }
    });
    found
}

/// What a function of the file accesses that is given another member than was checked.
pub(crate) struct HandedBeside {
    pub(crate) call: Span,
    pub(crate) name: String,
    pub(crate) given: Span,
}

/// `f(&p->m)` where `access_ok(&p->o, sizeof(p->o))` was asked, and `f()` checks nothing.
pub(crate) fn handed_beside(function: &FunctionContext<'_>, check: &Check) -> Option<HandedBeside> {
    let (front, checked) = member(&check.address, &check.root)?;
    let size = check.size.as_ref()?.uncast().1;
    let whole = matches!((&size.term, &check.address.term),
        (Term::SizeOf(of), Term::Address(place)) if of == place);
    whole.then_some(())?;
    let of = space::type_of(function, &front.behind());
    let apart = of.is_none_or(|own| !matches!(own.shape, Shape::Union(_)));
    apart.then_some(())?;
    let mut calls = function.calls.iter();
    calls.find_map(|call| {
        let whole = function.expression_of(*call);
        let (name, given) = whole.call()?;
        function.file.body_named(name)?;
        let mut places = given.iter().enumerate();
        let (at, given) = places.find(|(_, own)| {
            let other = member(own.uncast().1, &check.root);
            other.is_some_and(|(_, other)| other != checked)
        })?;
        let bare = look_into(function, name, |callee| {
            let own = parameter(callee, at)?;
            accesses_unchecked(callee, &own).then_some(())
        });
        bare.filter(|_| function.leads(check.place, span(*call)))?;
        Some(HandedBeside {
            call: span(*call),
            name: name.to_owned(),
            given: given.span,
        })
    })
}

/// Whether a function accesses what a parameter leads to and checks nothing.
fn accesses_unchecked(function: &FunctionContext<'_>, name: &str) -> bool {
    let mut accesses = function.accesses.iter();
    let own = accesses.any(|own| !own.word.checked && !own.inside && own.user_root == name);
    let own = own && !function.graph.takes_a_value(name);
    own && !checks(function).iter().any(|own| own.root == name)
}

/// `p` and `m` of `&p->m`, of `&p->m.n` and of `p->m`, which is an array.
fn member<'e>(address: &'e Expression, root: &str) -> Option<(&'e Expression, &'e str)> {
    let mut place = match &address.term {
        Term::Address(place) => &**place,
        _ => address,
    };
    loop {
        match &place.term {
            Term::Member {
                holder,
                arrow: true,
                field,
            } => {
                return (holder.name() == Some(root)).then_some((&**holder, field.as_str()));
            }
            Term::Member {
                holder,
                arrow: false,
                ..
            } => place = holder,
            _ => return None,
        }
    }
}
