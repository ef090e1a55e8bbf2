//! Values of the user's that are used only where they could not be read.

use tree_sitter::Node;

use crate::Direction;
use crate::flow::{Effect, EffectKind};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::fate::{Arm, Fallible, fate};

/// A variable whose value is used where the access that fills it faulted, and nowhere else.
pub(crate) struct TurnedOver {
    pub(crate) variable: String,
    /// The access, and what it is called.
    pub(crate) access: Span,
    pub(crate) name: String,
    /// The first use.
    pub(crate) used: Span,
}

/// So many accesses of a function are followed: each takes as long as the function is large.
const MOST: usize = 128;

/// All of a function.
pub(crate) fn turned_over(function: &FunctionContext<'_>) -> Vec<TurnedOver> {
    let fills = |own: &&Access<'_>| {
        let reads = own.word.direction == Direction::Read && own.word.result.is_some();
        let local = || function.graph.local(&own.value_root);
        reads && !own.inside && local().is_some_and(|own| own.plain && !own.lasting)
    };
    let mut accesses = function.accesses.iter().filter(fills).peekable();
    if accesses.peek().is_none() {
        return Vec::new();
    }
    let asked = accesses.enumerate();
    let asked = asked.take_while(|(at, _)| !function.stops_at(*at, MOST));
    asked.filter_map(|(_, own)| of(function, own)).collect()
}

fn of(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<TurnedOver> {
    let call = Fallible::of(function, access.node);
    let fate = fate(function, &call).filter(|own| !own.told)?;
    let [arm] = fate.arms.as_slice() else {
        return None;
    };
    let used = Uses { function, access }.only_where_it_faulted(arm)?;
    Some(TurnedOver {
        variable: access.value_root.clone(),
        access: access.span,
        name: call.name,
        used,
    })
}

/// The uses of what an access fills.
struct Uses<'f, 's> {
    function: &'f FunctionContext<'s>,
    access: &'f Access<'s>,
}

impl Uses<'_, '_> {
    fn only_where_it_faulted(&self, arm: &Arm) -> Option<Span> {
        let fault = self.behind(arm.fault);
        let used = fault.iter().filter(|own| self.needs(own)).min()?;
        self.behind(arm.success).is_empty().then_some(*used)
    }

    /// What is done with it on the ways from a node before it takes another value.
    fn behind(&self, from: usize) -> HashSet<Span> {
        let graph = self.function.graph;
        let own = |effect: &&Effect| graph.name_of(effect) == self.access.value_root;
        let fresh = |effect: &Effect| match effect.kind {
            EffectKind::Write(_) => graph.is_whole(effect),
            _ => self.access.span.contains(effect.span),
        };
        let (mut work, mut seen) = (vec![from], HashSet::from_iter([from]));
        let mut found = HashSet::default();
        while let Some(node) = work.pop().and_then(|at| graph.nodes.get(at)) {
            let effects = graph.effects_at(node).iter().filter(own);
            let mut ended = false;
            for effect in effects {
                ended = fresh(effect);
                if ended {
                    break;
                }
                found.insert(effect.span);
            }
            if !ended {
                let next = node.next.iter().map(|(_, next)| *next);
                work.extend(next.filter(|next| seen.insert(*next)));
            }
        }
        found
    }

    /// Whether something is decided by it, or made of it: what is logged or stored may be the 0 that a
    /// fault leaves.
    fn needs(&self, place: &Span) -> bool {
        let root = self.function.root;
        let node = root.descendant_for_byte_range(place.start, place.end);
        let around = node.map(|node| self.function.around(node));
        let mut around = around.into_iter().flatten();
        around.any(|own| decides(own, *place))
    }
}

/// Whether a place is in a comparison, in a condition or in what chooses a case.
fn decides(own: Node<'_>, place: Span) -> bool {
    let condition = || {
        own.part("condition")
            .is_some_and(|own| span(own).contains(place))
    };
    match own.known_kind() {
        "if_statement" | "while_statement" | "switch_statement" | "conditional_expression" => {
            condition()
        }
        _ => false,
    }
}
