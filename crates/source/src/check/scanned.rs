//! Texts of which not all has to be there that is used: what sscanf() has set is as much as its
//! result says.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::compared::{Ordered, compares};
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Node as Step};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fetched::is_line_of_log;
use super::format::{self, literal};
use super::space;

/// What may not be there.
pub(crate) struct Scanned {
    /// The call.
    pub(crate) call: Span,
    /// How many it may set.
    pub(crate) all: usize,
    /// How many it has set at least where the function goes on.
    pub(crate) least: usize,
    /// The first variable that it may have left as it was, which is anything.
    pub(crate) unset: String,
    /// Where that is used.
    pub(crate) used: Span,
}

/// A call that sets several variables, of which the function asks for fewer than it uses.
pub(crate) fn scanned(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Scanned> {
    let name = function.callee(call)?;
    let parses = function.file.words.parses(name).filter(|own| own.all)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let into = given.get(parses.into..).filter(|own| !own.is_empty())?;
    let format = literal(given.get(parses.text + 1)?)?;
    (format::scanned(&format) == Some(into.len())).then_some(())?;
    let least = least(function, call, into.len())?;
    let mut rest = into.iter().skip(least);
    let (unset, used) = rest.find_map(|own| {
        let Term::Address(place) = &own.uncast().1.term else {
            return None;
        };
        let variable = place.name()?;
        Some((variable.to_owned(), used(function, variable, span(call))?))
    })?;
    Some(Scanned {
        call: span(call),
        all: into.len(),
        least,
        unset,
        used,
    })
}

/// How many there are at least where the function goes on; none where it asks for all, or what it
/// asks is not understood.
fn least(function: &FunctionContext<'_>, call: Node<'_>, all: usize) -> Option<usize> {
    let holder = function.around(call).find(|own| {
        !matches!(
            own.known_kind(),
            "parenthesized_expression" | "cast_expression"
        )
    })?;
    if holder.known_kind() == "expression_statement" {
        return Some(0);
    }
    // `if (!sscanf(…))`, `if (sscanf(…))`: where it goes on there is one.
    let any = match holder.known_kind() {
        "unary_expression" => function.context.operator(holder) == b"!",
        "if_statement" => true,
        _ => false,
    };
    if any {
        return (all > 1).then_some(1);
    }
    let asked = match holder.known_kind() {
        "binary_expression" => vec![holder],
        _ => {
            let taker = function.taker(call)?;
            asking(function, taker.name()?, span(call))?
        }
    };
    let mut most = None;
    for node in asked {
        let own = passed(function, node)?;
        (own < all).then_some(())?;
        most = most.max(Some(own));
    }
    most
}

/// The comparisons of a variable with a constant behind a call, if nothing else is done with it on a
/// way on which it takes no other value.
fn asking<'t>(function: &FunctionContext<'t>, name: &str, call: Span) -> Option<Vec<Node<'t>>> {
    let graph = function.graph;
    let takes = |own: &Effect| {
        graph.name_of(own) == name && graph.is_whole(own) && own.kind != EffectKind::Read
    };
    let others = |own: &Step| {
        let mut effects = graph.effects_at(own).iter();
        effects.any(|own| takes(own) && !own.span.contains(call))
    };
    let from = taking(function, name, call)?;
    let holds = graph.reached_behind(from, others);
    let mut found = Vec::new();
    for node in function.mentions(name) {
        if call.end > node.start_byte() {
            continue;
        }
        let own = span(node);
        let mut there = holds.iter().chain([&from]);
        let is_there = there.any(|at| {
            let effects = graph.effects_of(*at).iter();
            let mut first = effects.take_while(|own| !takes(own) || own.span.contains(call));
            first.any(|effect| effect.kind == EffectKind::Read && effect.span == own)
        });
        if !is_there || function.around(node).any(is_line_of_log) {
            continue;
        }
        let around = function.above(node)?;
        let asked = around.known_kind() == "binary_expression";
        asked.then(|| found.push(around))?;
    }
    Some(found)
}

/// The node at which a variable takes what a call gives.
fn taking(function: &FunctionContext<'_>, name: &str, call: Span) -> Option<usize> {
    let graph = function.graph;
    let own = |own: &Effect| {
        let written = matches!(own.kind, EffectKind::Write(_)) && own.span.contains(call);
        written && graph.name_of(own) == name
    };
    let effect = graph.effects.iter().position(own)?;
    graph
        .nodes
        .iter()
        .position(|node| node.effects.contains(&effect))
}

/// How many there are where a comparison lets the function go on, whichever way it is put: those
/// that it tells from fewer.
fn passed(function: &FunctionContext<'_>, node: Node<'_>) -> Option<usize> {
    compares(function.context.operator(node)).then_some(())?;
    let own = function.expression_of(node);
    let Term::Binary(left, operator, right) = &own.term else {
        return None;
    };
    let number = |own: &Expression| {
        let negative = matches!(&own.term, Term::Unary(sign, _) if sign == "-");
        let value = if negative {
            Some(0)
        } else {
            space::bytes(function, own)
        };
        answer::fits(value?)
    };
    match Ordered::of(&own) {
        // `n < 2`, `n >= 2`: 2 are there on one side.
        Some(order) => match (number(order.more.uncast().1), number(order.less.uncast().1)) {
            (Some(most), _) => Some(most + usize::from(order.or_equal)),
            (_, Some(less)) => Some(less + usize::from(!order.or_equal)),
            _ => None,
        },
        None => {
            let known = number(right.uncast().1).or_else(|| number(left.uncast().1))?;
            // `n == 0` leaves one or more.
            Some(if known == 0 && operator == "==" {
                1
            } else {
                known
            })
        }
    }
}

/// Where the value of a plain variable is needed behind the call, on a way on which nothing else has set
/// it; none where it was set before.
fn used(function: &FunctionContext<'_>, name: &str, call: Span) -> Option<Span> {
    let local = function
        .local_at(name, call)
        .filter(|own| own.plain && !own.lasting && !own.initialised)?;
    let graph = function.graph;
    let own = |own: &&Effect| graph.name_of(own) == local.name && !call.contains(own.span);
    let sets = |own: &Effect| match &own.kind {
        EffectKind::Write(write) => write.value.is_some() || write.next,
        EffectKind::Address | EffectKind::Handed { by_address: true } => true,
        EffectKind::Read | EffectKind::Handed { by_address: false } => false,
    };
    let mut before = graph.effects.iter().filter(own);
    let set = before.any(|own| sets(own) && function.comes_to(own.span, call));
    let from = graph.nodes_in(call).next().filter(|_| !set)?;
    let written = |node: &Step| graph.effects_at(node).iter().filter(own).any(sets);
    let behind = graph.reached_behind(from, |node| written(node));
    // What is read where it is set may be read before.
    let reads = behind.into_iter().flat_map(|at| {
        let effects = graph.effects_of(at).iter().filter(own);
        effects.take_while(|own| !sets(own)).map(|own| own.span)
    });
    reads.min()
}
