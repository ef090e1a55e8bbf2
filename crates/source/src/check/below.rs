//! Numbers of the user's that may be less than 0, since nothing but the most that they may be
//! is asked of them.

use std::rc::Rc;

use tree_sitter::Node;

use crate::compared::orders;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::allocation::argument;
use super::callee::look_into;
use super::context::FunctionContext;
use super::tokens::parameters;
use super::{asked, space, unbounded};

/// So often a number may be the smaller of two.
const STEPS: usize = 3;

/// The comparison that says how much a signed number of the user's may be at most, where
/// nothing else is asked of it: of two signed ones, or with a literal, less than 0 is less.
pub(crate) fn only_limit(
    function: &FunctionContext<'_>,
    number: &Expression,
    at: Span,
) -> Option<Span> {
    number.root().name()?;
    let (place, asked, other) = only_most(function, number)?;
    // Whose it is comes first: a type takes a search of the headers.
    let own = unbounded::users_within(function, number, at)?;
    // Of where a program stands in a file the kernel refuses less than 0.
    let is_place = |part: &Expression| unbounded::is_position(function, part);
    let known = own.is_handed || own.by.iter().any(is_place);
    if known || unbounded::is_judged_before(function, number, at) || !is_signed(function, number) {
        return None;
    }
    let literal = match &other.term {
        Term::Number(_) => true,
        Term::Name(name) => {
            function.local_at(name, other.span).is_none() && function.file.types.is_int(name)
        }
        _ => false,
    };
    let of_signed = is_compared_signed(function, &asked) && !is_unsigned_literal(&other);
    (of_signed && (literal || is_compared_signed(function, &other))).then_some(place)
}

/// Whether a side of a comparison is signed there: as a cast makes it, and as an `int` where its
/// type is smaller (C11 6.3.1.1).
fn is_compared_signed(function: &FunctionContext<'_>, side: &Expression) -> bool {
    let of = match &side.term {
        Term::Cast(to, _) if to.pointers == 0 => function.file.layout(&to.base),
        _ => space::type_of(function, side),
    };
    of.is_some_and(|of| match of.shape {
        Shape::Scalar { signed, .. } => signed || of.size < INT,
        _ => false,
    })
}

/// The bytes of an `int`, on each machine that Linux runs on.
const INT: u64 = 4;

/// `16u`, beside which what is less than 0 is more.
fn is_unsigned_literal(side: &Expression) -> bool {
    matches!(&side.term, Term::Number(written) if written.contains(['u', 'U']))
}

/// The same of a parameter of a static function that asks nothing of it itself, where one of its
/// callers gives it such a number.
pub(crate) fn only_limited_by_callers(
    function: &FunctionContext<'_>,
    number: &Expression,
) -> Option<String> {
    let (file, own) = (function.file, function.body);
    let name = number.name().filter(|name| function.is_parameter(name))?;
    let kept = is_signed(function, number) && !function.graph.takes_a_value(name);
    let asked = !asked::is_never_asked(function, number);
    if !kept || asked || !file.is_declared(own, b"static") {
        return None;
    }
    let names = parameters(file.text, file.tokens, own)?;
    let at = names.iter().position(|own| own == name)?;
    file.callers(own).find_map(|caller| {
        look_into(function, &caller.name, |caller| {
            let called = |call: &&Node<'_>| caller.called(**call) == own.name.as_bytes();
            let mut sources = caller.calls.iter().filter(called).map(|call| {
                let whole = caller.expression_of(*call);
                let given = whole.call()?.1.get(at)?.uncast().1;
                only_limit(caller, given, span(*call))?;
                Some(caller.file.plain(given.span))
            });
            sources.find_map(|own| own)
        })
    })
}

/// The same of a size, which may be the smaller of such a number and another one, and the
/// number.
pub(crate) fn limit_of_size(
    function: &FunctionContext<'_>,
    size: &Expression,
    at: Span,
) -> Option<(Expression, Span)> {
    let mut number = size.uncast().1.clone();
    if let Some(own) = picked(function, &number, at) {
        return Some(own);
    }
    for _ in 0..STEPS {
        if let Some(place) = only_limit(function, &number, at) {
            return Some((number, place));
        }
        number = smaller(function, &number, at)?;
    }
    None
}

/// The number of the user's of which a size is the smaller one and a constant, by a signed type
/// that makes it less than 0 where it is large: `n = min_t(int, n, sizeof(x))`. Nothing refuses
/// less.
fn picked(
    function: &FunctionContext<'_>,
    size: &Expression,
    at: Span,
) -> Option<(Expression, Span)> {
    let values = match size.name() {
        Some(name) => lesser_at(function, name, at),
        None => vec![size.clone()],
    };
    let mut own = values
        .iter()
        .filter_map(|value| picked_by(function, size, value));
    own.next()
}

/// The smaller of two that a variable may hold at a place, of what it takes before.
fn lesser_at(function: &FunctionContext<'_>, name: &str, at: Span) -> Vec<Expression> {
    let graph = function.graph;
    let takes = |own: &Effect| match &own.kind {
        EffectKind::Write(write) => write.value.filter(|_| graph.name_of(own) == name),
        _ => None,
    };
    let here: Vec<usize> = graph.nodes_in(at).collect();
    let kept = |effect: &&Effect| {
        let own = (0..graph.nodes.len()).filter(|node| {
            let mut effects = graph.effects_of(*node).iter();
            effects.any(|own| own.span == effect.span)
        });
        let own: Vec<usize> = own.collect();
        // What is done right before a call is done at its node.
        let mut others = own.iter().flat_map(|node| graph.effects_of(*node));
        let replaced = others.any(|own| {
            takes(own).is_some_and(|value| value.end <= at.start)
                && own.span.start > effect.span.start
        });
        let same = !replaced && here.iter().any(|node| own.contains(node));
        let behind = graph.reached_behind_any(own, |node| {
            let mut others = graph.effects_at(node).iter();
            others.any(|own| takes(own).is_some() && own.span != effect.span)
        });
        same || here.iter().any(|node| behind.contains(node))
    };
    let own = graph.effects.iter().filter(|own| graph.is_whole(own));
    let own = own.filter(|own| takes(own).is_some_and(|value| value.end <= at.start));
    let own = own.filter_map(|own| Some((own, function.expression(takes(own)?)?)));
    let own = own.filter(|(_, value)| {
        let call = value.uncast().1.call();
        call.is_some_and(|(name, _)| function.file.words.gives_least(name))
    });
    // Last what takes longest.
    let own = own.filter(|(own, _)| function.pays().is_some() && kept(own));
    own.map(|(_, value)| Rc::unwrap_or_clone(value)).collect()
}

/// The same of one value of it.
fn picked_by(
    function: &FunctionContext<'_>,
    size: &Expression,
    value: &Expression,
) -> Option<(Expression, Span)> {
    let (callee, given) = value.uncast().1.call()?;
    let [of, one, other] = given else { return None };
    function.file.words.gives_least(callee).then_some(())?;
    let of = function.file.layout(&argument(function, of.span.start))?;
    matches!(of.shape, Shape::Scalar { signed: true, .. }).then_some(())?;
    let mut sides = [(one, other), (other, one)].into_iter();
    let (number, _) =
        sides.find(|(_, other)| space::bytes(function, other.uncast().1).is_some())?;
    let number = number.uncast().1;
    // Where its type is smaller, each of its values is one of the other's as well.
    let own = space::type_of(function, number)?;
    (own.size >= of.size).then_some(())?;
    let before = taking(function, value.span)?;
    let users = unbounded::users_within(function, number, before);
    users.filter(|own| !own.is_handed)?;
    let asked = asks_of_sign(function, number) || asks_of_sign(function, size);
    (!asked).then(|| (number.clone(), value.span))
}

/// Where the assignment begins that takes a value.
fn taking(function: &FunctionContext<'_>, value: Span) -> Option<Span> {
    let node = function
        .root
        .descendant_for_byte_range(value.start, value.end);
    let mut around = std::iter::successors(node, |own| function.above(*own));
    let own = around.find(|own| {
        let taking = [
            "assignment_expression",
            "init_declarator",
            "call_expression",
        ];
        taking.contains(&own.known_kind()) && span(*own) != value
    })?;
    Some(Span::new(own.start_byte(), own.start_byte()))
}

/// Whether anything asks whether a number is less than 0, or bounds it from below.
fn asks_of_sign(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let Some(root) = number.root().name() else {
        return true;
    };
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let compares = orders(function.context.operator(node));
        if found || !compares || !function.graph.names(span(node), root) {
            return;
        }
        let own = function.expression_of(node);
        found = own.any(&|part| part == number);
    });
    found
}

/// The signed variable of which the number is the smaller one, and of another, from where it
/// takes a value last: `len = min(len + 1, max)`.
fn smaller(function: &FunctionContext<'_>, number: &Expression, at: Span) -> Option<Expression> {
    let name = number.name()?;
    let values = function.graph.assignments();
    let values = values.filter(|(own, value)| *own == name && value.end <= at.start);
    let (_, last) = values.max_by_key(|(_, value)| value.start)?;
    let value = function.expression(last)?;
    let (callee, given) = value.uncast().1.call()?;
    if !function.file.words.gives_least(callee) || !is_signed(function, number) {
        return None;
    }
    // Of `min_t(size_t, a, b)`, which has three arguments, it would be the larger one.
    let two = given.len() == 2;
    let mut given = given.iter().map(|own| own.uncast().1).filter(|_| two);
    let other = |own: &&Expression| own.name().is_some_and(|own| own != name);
    given
        .find(|own| other(own) && is_signed(function, own))
        .cloned()
}

fn is_signed(function: &FunctionContext<'_>, number: &Expression) -> bool {
    let of = space::type_of(function, number);
    of.is_some_and(|of| matches!(of.shape, Shape::Scalar { signed: true, .. }))
}

/// The one comparison of a number that says how much it may be, and with what, where nothing
/// else is asked of it.
fn only_most(
    function: &FunctionContext<'_>,
    number: &Expression,
) -> Option<(Span, Expression, Expression)> {
    let root = number.root().name()?;
    let (mut found, mut others) = (None, 0_usize);
    function.each_of(&["binary_expression", "switch_statement"], |node| {
        // Of a switch what it is decided by.
        let asked = match node.known_kind() {
            "switch_statement" => node.part("condition"),
            _ => Some(node),
        };
        let Some(asked) = asked.filter(|own| function.graph.names(span(*own), root)) else {
            return;
        };
        if others > 1 {
            return;
        }
        let own = Expression::of(function.context, asked);
        let is = |side: &Expression| side.uncast().1 == number;
        match own.term {
            Term::Binary(left, operator, right) => match operator.as_str() {
                "<" | ">=" | ">" | "<=" if is(&left) && !right.is_zero() => {
                    found = Some((span(node), *left, *right));
                    others += 1;
                }
                // Neither bounds it.
                "==" | "!=" if asks_whether(&left, &right, number) => {}
                "%" if is(&left) => {}
                "<" | ">" | "<=" | ">=" | "==" | "!=" | "&" | "%" | ">>"
                    if left.has_value_of(number) || right.has_value_of(number) =>
                {
                    others += 2;
                }
                _ => {}
            },
            _ => others += 2,
        }
    });
    found.filter(|_| others == 1)
}

/// Whether a comparison only asks whether a number is anything but 0, or what is left of it where it
/// is divided: `n != 0`, `!n != !p`, `n % 2`.
fn asks_whether(left: &Expression, right: &Expression, number: &Expression) -> bool {
    let own = |side: &Expression| match &side.uncast().1.term {
        Term::Unary(not, of) if not == "!" => of.uncast().1 == number,
        Term::Binary(of, operator, _) if operator == "%" => of.uncast().1 == number,
        _ => false,
    };
    let is = |side: &Expression| side.uncast().1 == number;
    own(left) || own(right) || is(left) && right.is_zero() || is(right) && left.is_zero()
}

/// The same of a product of which such a number is made: `n * sizeof(*p)`.
pub(crate) fn limit_of_product(
    function: &FunctionContext<'_>,
    size: &Expression,
    at: Span,
) -> Option<(Expression, Span)> {
    let Term::Binary(left, operator, right) = &size.term else {
        return None;
    };
    let sides = [(left, right), (right, left)].into_iter();
    let mut sides = sides.map(|(own, by)| (own.uncast().1, by.uncast().1));
    let (number, by) =
        sides.find(|(own, _)| matches!(own.term, Term::Name(_) | Term::Member { .. }))?;
    (operator == "*" && space::bytes(function, by).is_some_and(|by| by > 1)).then_some(())?;
    only_limit(function, number, at).map(|place| (number.clone(), place))
}
