//! Answers that are worked out just before something else goes to the user, and read by nobody.

use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::bounded::is_loop;
use super::context::FunctionContext;

/// So many accesses of a function are asked for.
const MOST: usize = 64;

/// A value that nobody reads.
pub(crate) struct Dropped {
    /// The variable that takes it.
    pub(crate) name: String,
    /// Where it does.
    pub(crate) set: Span,
    /// What goes to the user instead.
    pub(crate) instead: String,
}

/// Those of a function.
pub(crate) fn dropped(function: &FunctionContext<'_>) -> Vec<Dropped> {
    let writes = function.accesses.iter();
    let writes = writes.filter(|own| own.word.direction == Direction::Write);
    let all = writes.take(MOST);
    all.filter_map(|own| dropped_before(function, own))
        .collect()
}

/// What the statement in front of an access of another variable works out.
fn dropped_before(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Dropped> {
    let instead = function.expression_of(access.value_node);
    let instead = match &instead.uncast().1.term {
        Term::Address(place) => place.name()?,
        _ => instead.uncast().1.name()?,
    };
    let statement = statement_of(function, access.node)?;
    let before = before(statement)?;
    let whole = function.expression_of(before);
    let Term::Assignment(left, operator, value) = &whole.term else {
        return None;
    };
    let name = left
        .name()
        .filter(|name| operator == "=" && *name != instead)?;
    let mut locals = function.graph.locals.iter().filter(|own| own.name == name);
    // One that hides another is not told from it by its name.
    let local = locals.next().filter(|_| locals.next().is_none())?;
    let own = local.plain && !local.lasting && !local.cleaned;
    let worked_out = own && is_of_itself(value, name);
    let round = function.around(before).any(is_loop);
    (worked_out && !round && !is_read_behind(function, name, span(before))).then(|| Dropped {
        name: name.to_owned(),
        set: span(before),
        instead: instead.to_owned(),
    })
}

/// The statement of a block that a node stands in.
fn statement_of<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let mut inside = node;
    for around in function.around(node) {
        if matches!(around.known_kind(), "compound_statement" | "case_statement") {
            return Some(inside);
        }
        inside = around;
    }
    None
}

/// The assignment that is all of the statement before one.
fn before(statement: Node<'_>) -> Option<Node<'_>> {
    let mut own = statement.prev_named_sibling()?;
    while own.known_kind() == "comment" {
        own = own.prev_named_sibling()?;
    }
    let alone = own.known_kind() == "expression_statement";
    let inner = own.named_child(0).filter(|_| alone)?;
    (inner.known_kind() == "assignment_expression").then_some(inner)
}

/// Whether a value is made of what the variable held: `v = v & BIT ? ON : 0`.
fn is_of_itself(value: &Expression, name: &str) -> bool {
    value.uncast().1.name().is_none() && value.any(&|part| part.name() == Some(name))
}

/// Whether anything that comes behind a place looks at a variable, or its address is kept.
fn is_read_behind(function: &FunctionContext<'_>, name: &str, set: Span) -> bool {
    let graph = function.graph;
    let own = |effect: &&Effect| graph.name_of(effect) == name;
    let sets = |own: &Effect| {
        matches!(&own.kind, EffectKind::Write(write) if !write.compound && write.value.is_some())
            && graph.is_whole(own)
    };
    // A call that is given the address has done with it.
    let given = |at: Span| function.calls.iter().any(|call| span(*call).contains(at));
    let kept = |own: &Effect| own.kind == EffectKind::Address && !given(own.span);
    if graph.unseen.contains(name) || graph.effects.iter().filter(own).any(kept) {
        return true;
    }
    let nodes = function.touching(set);
    let reached = graph.reached_behind_any(nodes.iter().copied(), |_| false);
    let here = nodes.iter().flat_map(|node| graph.effects_of(*node));
    let here = here.filter(|own| own.span.start >= set.end);
    let behind = reached.iter().flat_map(|node| graph.effects_of(*node));
    let mut all = here.chain(behind).filter(own);
    nodes.is_empty() || all.any(|own| !set.contains(own.span) && !sets(own))
}
