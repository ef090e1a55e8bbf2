//! Members of a struct of the function that go to the user, and that nothing has set: on no way to
//! there, or on none through one arm of what decides over the rest.

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::Local;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::accesses::Access;
use super::arms::arms;
use super::context::FunctionContext;
use super::filled::{Filled, filled_past, mentions_before};
use super::leading::elsewhere;

/// So many mentions of a struct are looked through.
const FEW: usize = 32;

/// A member that goes out so.
pub(crate) struct UnsetPart<'f> {
    pub(crate) local: &'f Local,
    /// The member, from the variable on: `x.a.b`.
    pub(crate) part: String,
    /// What of it is not set; none where that is padding.
    pub(crate) never: Option<String>,
    /// What decides over whether it is.
    pub(crate) decides: Option<Span>,
}

/// The member that an access gives to the user, `put_user(x.a, p)` or `copy_to_user(p, &x.a, n)`, where
/// it is not set.
pub(crate) fn unset_part<'f>(
    function: &'f FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<UnsetPart<'f>> {
    (access.word.direction == Direction::Write).then_some(())?;
    let value = function.expression_of(access.value_node);
    let place = match &value.uncast().1.term {
        Term::Address(place) if access.word.count.is_some() => place.uncast().1,
        Term::Member { .. } | Term::Element { .. } if access.word.count.is_none() => {
            value.uncast().1
        }
        _ => return None,
    };
    let (root, path) = path_of(place)?;
    let local = function.local_at(root, access.span)?;
    let own = local.plain && !local.initialised && !local.lasting && !local.cleaned;
    (own && !function.graph.unseen.contains(&local.name)).then_some(())?;
    let named = || mentions_before(function, local, access);
    // What was fetched as a whole is set.
    let few = named().count() <= FEW && !named().any(|own| is_fetched(function, own));
    few.then_some(())?;
    let told = |never: Option<String>, decides: Option<Span>| UnsetPart {
        local,
        part: format!("{root}.{path}"),
        never,
        decides,
    };
    // What other cases set says nothing here.
    let apart = elsewhere(function, named(), access.span);
    let passes = |place: Span| apart.contains(&place);
    let all = filled_past(function, local, access, passes);
    if all.cleared.is_empty()
        && let Some(never) = missing(function, (local, &path), &all)
    {
        return Some(told(never, None));
    }
    let clean = all.cleared.is_empty() && all.fetched.is_empty();
    clean.then_some(())?;
    let named = named().filter(|own| !is_asked(function, *own) && !passes(span(*own)));
    let ways = arms(function, named, (local.declared, access.span));
    ways.iter().find_map(|arm| {
        let own = filled_past(function, local, access, |place| {
            passes(place) || arm.leaves_out(place)
        });
        let never = missing(function, (local, &path), &own)?;
        Some(told(never, Some(arm.decides)))
    })
}

/// Whether nothing is set that lies in one outer member with a member, of a struct of which nobody knows
/// how it lies.
fn is_bare((local, path): (&Local, &str), filled: &Filled) -> bool {
    let outer = |own: &str| own.split('.').next().map(str::to_owned);
    let apart = local.base_type.starts_with("struct ") && !local.base_type.contains('{');
    let partly = filled.partly.iter().map(|(own, _)| own.as_str());
    let mut set = filled.members.iter().map(String::as_str).chain(partly);
    !set.any(|own| !apart || outer(own) == outer(path))
}

/// Whether a read from the user fills all of a variable where it is named.
fn is_fetched(function: &FunctionContext<'_>, variable: Node<'_>) -> bool {
    let address = function.above(variable);
    let address = address.filter(|own| own.known_kind() == "pointer_expression");
    let mut accesses = function.accesses.iter();
    address.is_some_and(|own| {
        accesses.any(|read| read.value == span(own) && read.word.direction == Direction::Read)
    })
}

/// Whether a condition names the variable there, which decides over nothing by itself.
fn is_asked(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node);
    let holder = around.find(|own| own.is_statement());
    let condition = holder.and_then(|own| own.part("condition"));
    condition.is_some_and(|own| span(own).contains(span(node)))
}

/// The variable and the path from it on: `x` and `a.b` of `x.a.b`.
fn path_of(place: &Expression) -> Option<(&str, String)> {
    let (holder, field) = match &place.term {
        // An element stands for its whole array.
        Term::Element { array, .. } => return path_of(array),
        Term::Member {
            holder,
            arrow: false,
            field,
        } => (holder, field),
        _ => return None,
    };
    match holder.name() {
        Some(root) => Some((root, field.clone())),
        None => {
            let (root, path) = path_of(holder)?;
            Some((root, format!("{path}.{field}")))
        }
    }
}

/// What of a member is set by nothing that is known: a member of it, or padding; nothing where that is
/// not known, or all is set.
fn missing(
    function: &FunctionContext<'_>,
    (local, path): (&Local, &str),
    filled: &Filled,
) -> Option<Option<String>> {
    let open = filled.elsewhere || filled.handed || filled.front.is_some();
    let known = !open && filled.cleared.is_empty() && filled.fetched.is_empty();
    known.then_some(())?;
    let Some(of) = function.file.layout(&local.base_type) else {
        return is_bare((local, path), filled).then(|| Some(path.to_owned()));
    };
    let Ok((front, part)) = of.at(path) else {
        return None;
    };
    let partly = filled.partly.iter().map(|(own, _)| own.as_str());
    let set = filled.members.iter().map(String::as_str).chain(partly);
    let Ok(left) = of.uncovered(0, set) else {
        return None;
    };
    let (from, to) = (front * 8, (front + part.size) * 8);
    let mut gaps = left.gaps.iter();
    gaps.find(|(start, end)| *start < to && *end > from)?;
    let within = |own: &&String| {
        let inner = own
            .strip_prefix(path)
            .is_some_and(|own| own.starts_with('.'));
        let outer = path.strip_prefix(own.as_str());
        inner || outer.is_some_and(|own| own.is_empty() || own.starts_with('.'))
    };
    match left.members.iter().find(within) {
        Some(own) => Some(Some(own.clone())),
        None => matches!(part.shape, Shape::Struct(_)).then_some(None),
    }
}
