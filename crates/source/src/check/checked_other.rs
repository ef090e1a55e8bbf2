//! Accesses that check nothing, of another size than was checked, or of all of it and behind where
//! that begins.

use crate::compared::{Ordered, compares};
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::accesses::Access;
use super::behind_front::begun;
use super::context::FunctionContext;
use super::range::related;
use super::space;
use super::unbounded::given_to_a_program;

/// A range that something checks.
pub(crate) struct Checked<'c> {
    pub(crate) place: Span,
    pub(crate) address: &'c Expression,
    pub(crate) size: &'c Expression,
}

/// What is wrong with the size of an access, in words.
pub(crate) fn told(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    checked: &Checked<'_>,
) -> Option<String> {
    let plain = |own: Span| function.file.plain(own);
    let other = other_size(function, access, checked).map(|own| {
        format!(
            "accesses as many as {} says, which nothing holds against that",
            plain(own)
        )
    });
    other.or_else(|| {
        let by = plain(moved_behind(function, access, checked)?);
        Some(format!("accesses as many from {by} on"))
    })
}

/// The number of bytes that are accessed, where the range has another number that nothing holds
/// against it: `access_ok(p, args->at)` and `__copy_from_user(to, p, args->size)`.
fn other_size(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    checked: &Checked<'_>,
) -> Option<Span> {
    let (size, count) = elements(checked.size, access.bytes.as_ref()?);
    let same = access.address.uncast().1 == checked.address.uncast().1;
    let kept = || is_kept(function, size) && is_kept(function, count);
    let apart = same && size != count && (kept() || is_only_checked(function, checked, count));
    (apart && stays(function, checked.address, checked.place)).then_some(())?;
    let told = is_made_of(function, size, count) || is_held_against(function, size, count);
    let reached = !told && function.leads(checked.place, access.span);
    reached.then_some(count.span)
}

/// Whether nothing but the check looks at how many bytes a read() or write() is given, so that nothing
/// can hold them against another number.
fn is_only_checked(
    function: &FunctionContext<'_>,
    checked: &Checked<'_>,
    count: &Expression,
) -> bool {
    let number = matches!(count.term, Term::Name(_) | Term::Member { .. });
    let given = || {
        let own = checked.size.uncast().1.name()?;
        let (_, asked) = given_to_a_program(function).filter(|(_, asked)| asked == own)?;
        let mut named = function.mentions(&asked);
        Some(named.all(|own| checked.place.contains(span(own))))
    };
    number && given() == Some(true)
}

/// What is not checked of `access_ok(p, n)` and `__copy_to_user(p + at, from, n)`: the bytes that lie so
/// far behind.
fn moved_behind(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    checked: &Checked<'_>,
) -> Option<Span> {
    let (size, count) = (checked.size.uncast().1, access.bytes.as_ref()?.uncast().1);
    let (front, by) = begun(access.address.uncast().1)?;
    let whole = size == count && front == checked.address.uncast().1 && !by.is_zero();
    let kept = whole
        && stays(function, size, checked.place)
        && stays(function, checked.address, checked.place);
    (kept && function.leads(checked.place, access.span)).then_some(by.span)
}

/// How many elements two sizes are of, where they have the same one.
fn elements<'e>(size: &'e Expression, count: &'e Expression) -> (&'e Expression, &'e Expression) {
    let (size, count) = (size.uncast().1, count.uncast().1);
    match (times(size), times(count)) {
        (Some((one, unit)), Some((other, same))) if unit == same => (one, other),
        _ => (size, count),
    }
}

/// `n` and `sizeof(x)` of their product.
fn times(size: &Expression) -> Option<(&Expression, &Expression)> {
    let Term::Binary(left, operator, right) = &size.term else {
        return None;
    };
    let unit = |own: &Expression| matches!(own.term, Term::SizeOf(_) | Term::SizeOfType(_));
    let sides = [(left, right), (right, left)].into_iter();
    let mut sides = sides.filter(|(_, by)| operator == "*" && unit(by.uncast().1));
    let (number, by) = sides.next()?;
    Some((number.uncast().1, by.uncast().1))
}

/// Whether a number is a variable of the function or a member, and nothing but one value of it is
/// known of.
fn is_kept(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let graph = function.graph;
    let variable = |name: &str| function.is_parameter(name) || graph.local(name).is_some();
    let one = |name: &str| graph.only_value(name).is_some() || !graph.takes_a_value(name);
    match &number.term {
        Term::Name(name) => variable(name) && one(name) && !is_shown(function, number),
        Term::Member { holder, .. } => {
            let root = holder.root().name();
            let own = root.is_some_and(|root| variable(root) && one(root));
            own && !function.assigns(number) && !is_shown(function, number.root())
        }
        _ => false,
    }
}

/// Whether a call that is no access may ask or set a variable, or what it leads to.
fn is_shown(function: &FunctionContext<'_>, root: &Expression) -> bool {
    let Some(name) = root.name() else { return true };
    let whole = |own: &Expression| match &own.uncast().1.term {
        Term::Address(of) => of.root().name() == Some(name),
        _ => false,
    };
    let member = space::type_of(function, root);
    let leads =
        member.is_some_and(|of| matches!(of.shape, Shape::Pointer { .. } | Shape::Struct(_)));
    function.calls.iter().any(|call| {
        let place = span(*call);
        if function.accesses.iter().any(|own| own.span == place)
            || !function.graph.names(place, name)
        {
            return false;
        }
        let own = function.expression_of(*call);
        let Term::Call(_, given) = &own.term else {
            return true;
        };
        let by_itself = |own: &Expression| leads && own.uncast().1.name() == Some(name);
        given.iter().any(|own| whole(own) || by_itself(own))
    })
}

/// Whether a place keeps its value behind a check.
fn stays(function: &FunctionContext<'_>, place: &Expression, check: Span) -> bool {
    let graph = function.graph;
    let place = place.uncast().1;
    let root = place.root().name();
    let changes = |name: &str| {
        let mut effects = graph.effects.iter();
        effects.any(|own| {
            let written = matches!(own.kind, EffectKind::Write(_));
            written
                && own.span.end > check.start
                && graph.is_whole(own)
                && graph.name_of(own) == name
        })
    };
    root.is_some_and(|root| !changes(root)) && (place.name().is_some() || !function.assigns(place))
}

/// Whether one of two numbers is made of the other, by whatever way, or both are one.
fn is_made_of(function: &FunctionContext<'_>, one: &Expression, other: &Expression) -> bool {
    let named = |own: &Expression| own.name().is_some();
    match (one.root().name(), other.root().name()) {
        // Two members of a union are.
        (Some(_), Some(_)) if !named(one) && !named(other) => [one, other].into_iter().any(|own| {
            let Term::Member { holder, arrow, .. } = &own.term else {
                return true;
            };
            let holder = match arrow {
                true => space::type_of(function, &holder.behind()),
                false => space::type_of(function, holder),
            };
            holder.is_some_and(|of| matches!(of.shape, Shape::Union(_)))
        }),
        (Some(first), Some(second)) => related(function, first).contains(second),
        _ => true,
    }
}

/// Whether anything holds one number against the other, or takes the lesser one; that both together
/// are no more than a third says nothing.
fn is_held_against(function: &FunctionContext<'_>, one: &Expression, other: &Expression) -> bool {
    let Some(root) = one.root().name() else {
        return true;
    };
    let mut found = false;
    let kinds = [
        "binary_expression",
        "call_expression",
        "conditional_expression",
    ];
    function.each_of(&kinds, |node| {
        let names =
            |name: Option<&str>| name.is_some_and(|name| function.graph.names(span(node), name));
        if found || !names(Some(root)) || !names(other.root().name()) {
            return;
        }
        let own = function.expression_of(node);
        let both = |of: &Expression| {
            let has = |what: &Expression| of.any(&|part| part == what);
            has(one) && has(other)
        };
        found = match &own.term {
            Term::Binary(_, operator, _) if compares(operator) => {
                both(&own) && !is_sum(&own, one, other)
            }
            Term::Call(_, given) => {
                let access = function.accesses.iter().any(|own| own.span == span(node));
                // What is printed is not asked for.
                let printed = given
                    .iter()
                    .any(|own| super::format::literal(own).is_some());
                !access && !printed && both(&own)
            }
            Term::Choice(..) => both(&own),
            _ => false,
        };
    });
    found
}

/// `one + other > all`, `one > all - other`
fn is_sum(asked: &Expression, one: &Expression, other: &Expression) -> bool {
    let Some(order) = Ordered::of(asked) else {
        return false;
    };
    let sign = |number: &Expression| {
        let less = sign(order.less, number);
        less.or_else(|| sign(order.more, number).map(|own| !own))
    };
    matches!((sign(one), sign(other)), (Some(one), Some(other)) if one == other)
}

/// Whether a number is added to the rest of a sum, or else taken off; none where it is no part.
fn sign(sum: &Expression, number: &Expression) -> Option<bool> {
    let sum = sum.uncast().1;
    if sum == number {
        return Some(true);
    }
    match &sum.term {
        Term::Binary(left, operator, right) if matches!(operator.as_str(), "+" | "-") => {
            let behind = || sign(right, number).map(|own| own == (operator == "+"));
            sign(left, number).or_else(behind)
        }
        _ => None,
    }
}
