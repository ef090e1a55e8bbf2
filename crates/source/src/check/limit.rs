//! The largest value that a number may have where a function refuses larger ones.

use std::rc::Rc;

use tree_sitter::Node;

use crate::compared::{Ordered, compares};
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::bounded::{comes_before, is_compared, is_of_loop, is_of_zero, refuses_less};
use super::context::FunctionContext;
use super::narrowed::{is_repeated, lesser, refused, repeated};
use super::range::file_constant;
use super::space;
use super::taken_anew::takes_off;

/// So many limits of a number are held against each other.
const LIMITS: usize = 16;

/// No machine has smaller pages, where the configuration decides (`arch/Kconfig`:
/// `CONFIG_PAGE_SHIFT`, from 12 on).
const PAGE: u64 = 1 << 12;

/// What a number is compared with, and refused where it is more.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    /// The largest value that is not refused; none where nobody knows the other's.
    pub(crate) value: Option<u64>,
    /// What it is compared with.
    pub(crate) other: Expression,
    /// Whether it may be as much as that.
    pub(crate) included: bool,
    /// The comparison, or the call that gives it.
    pub(crate) place: Span,
    /// Whether it is what a copy from the user gave.
    pub(crate) given: bool,
}

/// The limit of a number at a place that it only comes to behind the comparison; none where
/// anything that is not understood may bound it as well.
pub(crate) fn limit(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<Limit> {
    if let Term::Binary(left, operator, right) = &number.term {
        return of_two(function, (left, operator, right), at);
    }
    if number.call().is_some() {
        return of_least(function, number, at);
    }
    let mut own = compared(function, number, at)?;
    own.extend(given(function, number, at));
    own.extend(least(function, number, at));
    if own.is_empty() {
        return None;
    }
    function.pays()?;
    let kept = own.iter().filter(|own| {
        function.graph.passes(&[own.place], at) && !changed(function, number, own.place, at)
    });
    let mut kept: Vec<&Limit> = kept.collect();
    kept.sort_by_key(|own| own.value);
    match kept.as_slice() {
        [only] if own.len() == 1 => Some((*only).clone()),
        [least, ..] if own.iter().all(|own| own.value.is_some()) => Some((*least).clone()),
        _ => None,
    }
}

/// All that a number is refused more than where it comes to a place; none where anything that is not
/// understood may bound it as well.
pub(crate) fn limits(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<Vec<Limit>> {
    let mut own = compared(function, number, at).filter(|own| !own.is_empty())?;
    own.extend(given(function, number, at));
    function.pays()?;
    let kept = |own: &Limit| {
        function.graph.passes(&[own.place], at) && !changed(function, number, own.place, at)
    };
    own.iter().all(kept).then_some(own)
}

/// The limit of a sum or a product of a number and a constant.
fn of_two(
    function: &FunctionContext<'_>,
    (left, operator, right): (&Expression, &str, &Expression),
    at: Span,
) -> Option<Limit> {
    let constant = |one: &Expression| space::bytes(function, one.uncast().1);
    let (number, by) = match (constant(left), constant(right)) {
        (None, Some(by)) => (left, by),
        (Some(by), None) => (right, by),
        _ => return None,
    };
    let of: fn(u64, u64) -> Option<u64> = match operator {
        "+" => u64::checked_add,
        "*" => u64::checked_mul,
        _ => return None,
    };
    let own = limit(function, number.uncast().1, at)?;
    let value = Some(of(own.value?, by)?);
    Some(Limit { value, ..own })
}

/// How much a number is at least that may be a limit.
fn bytes(function: &FunctionContext<'_>, other: &Expression) -> Option<u64> {
    let page = || (other.name() == Some("PAGE_SIZE")).then_some(PAGE);
    let constant = || {
        let name = other.name().filter(|own| !function.is_parameter(own))?;
        let own = function.local_at(name, other.span).is_some();
        (!own).then(|| file_constant(function, name))?
    };
    space::bytes(function, other)
        .or_else(page)
        .or_else(constant)
}

/// The limit of what `min()` and its like give: the least constant of it, where nothing else bounds
/// the others; and of `strnlen(s, N)`.
fn of_least(function: &FunctionContext<'_>, number: &Expression, at: Span) -> Option<Limit> {
    let (name, given) = number.call()?;
    let words = function.file.words;
    if !words.gives_least(name) {
        let other = given.get(words.at_most(name)?)?.uncast().1;
        return Some(Limit {
            value: Some(bytes(function, other)?),
            other: other.clone(),
            included: true,
            place: number.span,
            given: words.may_fault(name),
        });
    }
    let known = |own: &Expression| Some((bytes(function, own)?, own.clone()));
    let all = given.iter().map(Expression::uncast);
    let (others, constants): (Vec<_>, Vec<_>) = all
        .map(|(_, own)| (own, known(own)))
        .partition(|(_, known)| known.is_none());
    let bounded = others.iter().any(|(own, _)| is_compared(function, own, at));
    let constants = constants.into_iter().filter_map(|(_, known)| known);
    let (value, other) = constants.min_by_key(|(value, _)| *value)?;
    (!bounded).then_some(Limit {
        value: Some(value),
        other,
        included: true,
        place: number.span,
        given: false,
    })
}

/// The call whose result a number has at a place, whichever way leads there.
fn only_call(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<(Span, Expression)> {
    let name = number.name()?;
    let values = function.graph.assignments();
    let mut before = values.filter(|(own, place)| *own == name && place.end <= at.start);
    before.find_map(|(_, place)| {
        let value = function.expression(place)?;
        let call = value.uncast().1;
        let only = call.call().is_some()
            && function.graph.passes(&[place], at)
            && !changed(function, number, place, at);
        only.then(|| (place, call.clone()))
    })
}

/// What a call that copies from the user gives at most, where that is what the number holds.
fn given(function: &FunctionContext<'_>, number: &Expression, at: Span) -> Option<Limit> {
    let (place, value) = only_call(function, number, at)?;
    let (callee, arguments) = value.call()?;
    let words = function.file.words;
    let other = arguments.get(words.at_most(callee)?)?.uncast().1;
    words.may_fault(callee).then_some(())?;
    // The count may be bounded before: `min(count, sizeof(a))`.
    let most = || limit(function, other, place)?.value;
    Some(Limit {
        value: bytes(function, other).or_else(most),
        other: other.clone(),
        included: true,
        place,
        given: true,
    })
}

/// The constants of `n = min(n, N)` and `n = clamp(n, 1, N)`, whatever the number was before.
fn least(function: &FunctionContext<'_>, number: &Expression, at: Span) -> Vec<Limit> {
    let name = number.name();
    let values = function.graph.assignments();
    let values = values.filter(|(own, place)| Some(*own) == name && place.end <= at.start);
    let own = values.filter_map(|(_, place)| {
        let value = function.expression(place)?;
        let known = |own: &Expression| Some((bytes(function, own.uncast().1)?, own.clone()));
        let (value, other) = match lesser(&value) {
            Some((_, most)) => known(most)?,
            None => {
                let (callee, arguments) = value.uncast().1.call()?;
                let words = function.file.words;
                let most = words.at_most(callee);
                let picks =
                    |at: &usize| words.lessens(callee) && most.is_none_or(|most| most == *at);
                let picked = arguments.iter().enumerate().filter(|(at, _)| picks(at));
                let constants = picked.filter_map(|(_, own)| known(own));
                constants.min_by_key(|(value, _)| *value)?
            }
        };
        Some(Limit {
            value: Some(value),
            other,
            included: true,
            place,
            given: false,
        })
    });
    own.collect()
}

/// What a number takes before a place, where it is a variable, and the number itself.
pub(crate) fn taken(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Vec<Rc<Expression>> {
    let values = function.graph.assignments();
    let own = values.filter(|(name, place)| Some(*name) == number.name() && place.end <= at.start);
    let own = own.filter_map(|(_, place)| function.expression(place));
    own.chain([Rc::new(number.clone())]).collect()
}

/// What a number is held against before a place, or is the lesser of it and something else, and
/// where that is said.
pub(crate) fn held_against(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Vec<(Expression, Span)> {
    let mut found = Vec::new();
    for value in taken(function, number, at) {
        let call = value.uncast().1.call();
        let call = call.filter(|(name, _)| function.file.words.gives_least(name));
        let given = call.into_iter().flat_map(|(_, given)| given);
        let most = lesser(&value).map(|(_, most)| most);
        let all = given.chain(most);
        found.extend(all.map(|own| (own.uncast().1.clone(), value.span)));
    }
    let held = number.name().and_then(|_| limit(function, number, at));
    found.extend(held.map(|own| (own.other.uncast().1.clone(), own.place)));
    found
}

/// What the number is compared with before a place; none where a comparison is not
/// understood.
fn compared(function: &FunctionContext<'_>, number: &Expression, at: Span) -> Option<Vec<Limit>> {
    let root = number.root().name()?;
    let behind = Span::new(at.end, at.end);
    let variable = |place: Span| function.local_at(root, place).map(|own| own.declared);
    let mut all = Some(Vec::new());
    function.each_of(&["switch_statement", "binary_expression"], |node| {
        // Last what takes longest.
        let own = span(node);
        let unasked = all.is_none() || !function.graph.names(own, root);
        if unasked || !comes_before(function, own, behind) || variable(own) != variable(at) {
            return;
        }
        match asked(function, number, (root, at), node) {
            Asked::Nothing => {}
            Asked::Limit(own) => all.iter_mut().for_each(|all| all.push(own.clone())),
            Asked::Unknown => all = None,
        }
        // Whoever asks so often has something in mind that is not understood.
        let most = |all: &Vec<Limit>| !function.stops_at(all.len(), LIMITS + 1);
        all = all.take().filter(most);
    });
    all
}

/// What a comparison says of a number.
enum Asked {
    Nothing,
    Limit(Limit),
    /// Something that is not understood.
    Unknown,
}

fn asked(
    function: &FunctionContext<'_>,
    number: &Expression,
    (root, at): (&str, Span),
    node: Node<'_>,
) -> Asked {
    let place = span(node);
    if node.known_kind() == "switch_statement" {
        // Another member of the same says nothing of this one, nor does what it picks.
        let about = |of: Node<'_>| {
            let own = function.expression_of(of);
            let opaque = |part: &Expression| matches!(part.term, Term::Call(..) | Term::Other(_));
            match own.any(&opaque) {
                true => function.graph.names(span(of), root),
                false => own.any_but_indices(&|part| part == number),
            }
        };
        return match node.part("condition").is_some_and(about) {
            true => Asked::Unknown,
            false => Asked::Nothing,
        };
    }
    let compares = compares(function.context.operator(node));
    let own = function.expression_of(node);
    let named = own.any_but_indices(&|part| part == number);
    let about = compares && named && !is_of_zero(function, place) && !is_of_loop(node);
    if !about || refuses_less(function, node, |own| own == number) || is_of_lesser(function, node) {
        return Asked::Nothing;
    }
    match refuses_more(function, node, number, at) {
        Some(limit) => Asked::Limit(limit),
        None => Asked::Unknown,
    }
}

/// `if (n > N) return -EINVAL;`, `if (n > N) n = N;`: what it may be behind that, at a place to
/// which nothing else leads from there.
pub(crate) fn refuses_more(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    number: &Expression,
    at: Span,
) -> Option<Limit> {
    let own = function.expression_of(node);
    let asked = Ordered::of(&own)?;
    let (node, turned) = denied(node);
    let refuses = asked.more.uncast().1 == number;
    let other = match refuses {
        true => asked.less,
        false => asked.more,
    };
    (refuses || asked.less.uncast().1 == number).then_some(())?;
    // What is no more than the limit passes `n > N` and `!(n <= N)`.
    let included = refuses != asked.or_equal;
    let value = bytes(function, other.uncast().1);
    let value = match included {
        true => value,
        false => value.and_then(|value| value.checked_sub(1)),
    };
    let own = match refuses != turned {
        true => of_refusal(function, node, (number, at), (other, included, value)),
        false => is_done_where(node, at).then(|| (span(node), value)),
    };
    let (place, value) = own?;
    Some(Limit {
        value,
        other: other.clone(),
        included,
        place,
        given: false,
    })
}

/// What asks for the opposite of a comparison, `!(n <= N)`, and whether anything does.
fn denied(node: Node<'_>) -> (Node<'_>, bool) {
    let holder = |own: &Node<'_>| own.known_kind() == "parenthesized_expression";
    let whole = node.parent().filter(holder).and_then(|own| own.parent());
    let not = whole.filter(|own| {
        let operator = own.part("operator").map(|of| of.known_kind());
        own.known_kind() == "unary_expression" && operator == Some("!")
    });
    (not.unwrap_or(node), not.is_some())
}

/// Whether a comparison picks the lesser of two: `n > N ? N : n` bounds what takes it, and not `n`.
fn is_of_lesser(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = std::iter::successors(node.parent(), Node::parent);
    let holder = around.find(|own| own.known_kind() != "parenthesized_expression");
    let holder = holder.filter(|own| own.known_kind() == "conditional_expression");
    holder.is_some_and(|own| lesser(&function.expression_of(own)).is_some())
}

/// Whether a place is done only where a condition holds: `if (n <= N) { … }`.
fn is_done_where(node: Node<'_>, at: Span) -> bool {
    let mut own = node;
    while let Some(parent) = own.parent() {
        let operator = parent.part("operator").map(|of| of.known_kind());
        match parent.known_kind() {
            "parenthesized_expression" => {}
            "binary_expression" if operator == Some("&&") => {}
            "if_statement" => {
                let then = parent.part("consequence").map(span);
                let asked = parent.part("condition") == Some(own);
                return asked && then.is_some_and(|then| then.contains(at));
            }
            _ => return false,
        }
        own = parent;
    }
    false
}

/// What is behind a comparison where more is refused, or made less: where, and how much.
fn of_refusal(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    (number, at): (&Expression, Span),
    (other, included, value): (&Expression, bool, Option<u64>),
) -> Option<(Span, Option<u64>)> {
    let then = refused(node)?;
    match clamped(function, then, number) {
        Some((place, taken)) => {
            let same = included && taken == *other.uncast().1;
            let most = bytes(function, &taken).zip(value);
            let most = most.map(|(taken, value)| taken.max(value));
            (most.is_some() || same).then_some((place, most))
        }
        None => {
            let leaves = function.graph.statement(span(then));
            let leaves = leaves.is_some_and(|then| function.graph.leaves(then));
            (leaves || !function.leads(span(then), at)).then_some((span(node), value))
        }
    }
}

/// `if (…) n = N;`, all of it, and what the number takes.
fn clamped(
    function: &FunctionContext<'_>,
    then: Node<'_>,
    number: &Expression,
) -> Option<(Span, Expression)> {
    let whole = then
        .parent()
        .filter(|own| own.part("alternative").is_none())?;
    let only = match then.known_kind() {
        "compound_statement" if then.named_child_count() == 1 => then.named_child(0)?,
        _ => then,
    };
    let set = only.named_child(0).filter(|own| {
        let assigns = own.known_kind() == "assignment_expression";
        assigns && function.context.operator(*own) == b"="
    })?;
    let own = function.expression_of(set.part("left")?);
    let taken = function.expression_of(set.part("right")?);
    (*own.uncast().1 == *number).then(|| (span(whole), taken.uncast().1.clone()))
}

/// Whether the number may be another one behind the comparison: what is taken off it behind the
/// place leaves it no more in a further round.
pub(crate) fn changed(
    function: &FunctionContext<'_>,
    number: &Expression,
    from: Span,
    at: Span,
) -> bool {
    let graph = function.graph;
    let root = number.root().name();
    let again = number.name().map(|name| repeated(function, name));
    let mut effects = graph.effects.iter().filter(|effect| {
        let mut again = again.iter();
        !again.any(|again| is_repeated(effect, again))
    });
    effects.any(|effect| {
        let takes = match &effect.kind {
            EffectKind::Write(_) | EffectKind::Address => true,
            EffectKind::Handed { by_address } => *by_address,
            EffectKind::Read => false,
        };
        takes
            && Some(graph.name_of(effect)) == root
            && effect.span.start >= from.end
            && !(effect.span.start >= at.end && takes_off(function, effect))
            && comes_before(function, effect.span, at)
            && may_lead(function, effect.span, at)
    })
}

/// Whether a way may lead from one place to the other: it ends elsewhere where the first is followed
/// by a `return` or a jump past the other.
fn may_lead(function: &FunctionContext<'_>, from: Span, to: Span) -> bool {
    let known = |place: Span| !function.touching(place).is_empty();
    !(known(from) && known(to)) || function.comes_to(from, to)
}
