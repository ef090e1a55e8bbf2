//! What a macro or a function does, put where it is used: its graph becomes part of
//! the one that calls it.

use std::borrow::Cow;
use std::collections::HashMap;

use tree_sitter::Node;

use crate::lex::tokens;
use crate::site::span;
use crate::span::Span;

use super::build::{Builder, Ways};
use super::graph::{
    Action, Begin, Call, Condition, Edge, Effect, EffectKind, Flow, Inside, Leaving, Node as Place,
    Opening, Write,
};

/// The definitions that are looked into, by name; a macro may have several.
pub(crate) type Pieces<'p> = HashMap<String, Vec<Piece<'p>>>;

/// Nodes of a graph beyond which no definition is put into it: macros that use each
/// other many times are no code that people write.
const MOST: usize = 20_000;

/// What a definition does, as a graph of its own.
#[derive(Clone, Debug)]
pub(crate) struct Piece<'p> {
    /// Whether it is a macro: what it returns from, and jumps to, is its user's.
    pub(crate) expands: bool,
    /// The parameters, in order.
    pub(crate) parameters: Vec<String>,
    /// What the places of the graph count in.
    pub(crate) text: Cow<'p, [u8]>,
    /// What it does.
    pub(crate) flow: Flow,
}

impl Piece<'_> {
    /// Whether it can stand in another graph: nothing in it is known by where it stands.
    pub(crate) fn can_move(&self) -> bool {
        let scoped =
            |own: &Place| matches!(&own.action, Action::Begin(begin) if begin.scope.is_some());
        !self.flow.computed && self.flow.cleanups.is_empty() && !self.flow.nodes.iter().any(scoped)
    }

    fn leaves_by_fault(&self, node: usize) -> bool {
        let mut all = self.flow.leaving.iter();
        all.any(|(from, edge, _)| (*from, *edge) == (node, Edge::Fault))
    }

    fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|own| own == name)
    }

    /// The parameter that is all that stands in a place, parentheses aside.
    fn only(&self, place: Span) -> Option<usize> {
        let all = tokens(self.text.get(..place.end)?, place.start);
        let mut words = all.iter().filter(|own| !own.is(b'(') && !own.is(b')'));
        let word = words.next().filter(|_| words.next().is_none())?;
        self.parameter(&word.span.text(&self.text))
    }
}

/// A use of a definition.
struct Use<'u, 't> {
    name: &'u str,
    piece: &'u Piece<'u>,
    /// The whole call.
    span: Span,
    arguments: &'u [Node<'t>],
    /// The places that the arguments are, where they are places.
    handed: &'u [Option<usize>],
    /// The first of its nodes and of its conditions in the graph.
    nodes: usize,
    conditions: usize,
}

impl Use<'_, '_> {
    /// The argument that a place of the definition is.
    fn argument(&self, place: Option<Span>) -> Option<Span> {
        let given = self.piece.only(place?)?;
        self.arguments.get(given).map(|own| span(*own))
    }
}

impl<'t> Builder<'_, '_> {
    /// Puts what a definition does behind what was done so far.
    pub(super) fn splice(
        &mut self,
        name: &str,
        node: Node<'t>,
        arguments: &[Node<'t>],
        handed: &[Option<usize>],
    ) {
        let Some(pieces) = self.source.pieces.get(name) else {
            return;
        };
        // A function that needs its caller's window says something of that only.
        let opens = self.graph.opens();
        let pieces: Vec<&Piece<'_>> = pieces.iter().filter(|own| own.expands || opens).collect();
        let nodes = pieces.iter().map(|own| own.flow.nodes.len());
        if pieces.is_empty() || self.graph.nodes.len() + nodes.sum::<usize>() > MOST {
            return;
        }
        let from = self.take();
        let mut ends = Ways::new();
        for piece in pieces {
            let own = Use {
                name,
                piece,
                span: span(node),
                arguments,
                handed,
                nodes: self.graph.nodes.len(),
                conditions: self.graph.conditions.len(),
            };
            self.link(from.clone(), own.nodes);
            ends.extend(self.copy(&own));
        }
        self.ways = ends;
    }

    /// Copies the nodes of a definition; the ways that leave them behind it.
    fn copy(&mut self, own: &Use<'_, 't>) -> Ways {
        let flow = &own.piece.flow;
        for condition in &flow.conditions {
            let moved = Condition {
                text: condition.text.clone(),
                place: condition.place.and_then(|place| self.moved(own, place)),
                reads: condition
                    .reads
                    .iter()
                    .map(|read| self.root(own, *read))
                    .collect(),
            };
            self.graph.conditions.push(moved);
        }
        let mut ends = Ways::new();
        for number in 0..flow.nodes.len() {
            if self.node(own, number) {
                ends.push((own.nodes + number, Edge::Always));
            }
        }
        for (from, edge, to) in &flow.leaving {
            self.leaving(own, (own.nodes + from, moved_edge(own, *edge)), to);
        }
        ends
    }

    /// One node; whether it leads behind the use.
    fn node(&mut self, own: &Use<'_, 't>, number: usize) -> bool {
        let flow = &own.piece.flow;
        let Some(node) = flow.nodes.get(number) else {
            return false;
        };
        let first = self.graph.effects.len();
        for effect in flow.effects_of(number) {
            self.moved_effect(own, effect);
        }
        let ends = matches!(node.action, Action::Exit { .. })
            && (!own.piece.expands || number + 1 == flow.nodes.len());
        let action = match ends {
            true => Action::Join,
            false => self.action(own, (number, &node.action)),
        };
        let plain = action == Action::Join;
        let next = node.next.iter();
        let next = next.map(|(edge, to)| (moved_edge(own, *edge), own.nodes + to));
        self.graph.nodes.push(Place {
            effects: first..self.graph.effects.len(),
            action,
            span: if plain { Span::default() } else { own.span },
            next: next.collect(),
        });
        self.all_placed();
        ends
    }

    fn action(&mut self, own: &Use<'_, 't>, (number, action): (usize, &Action)) -> Action {
        let by = |call: &str| format!("{}()'s {call}", own.name);
        match action {
            Action::Begin(begin) => Action::Begin(Begin {
                address: own.argument(begin.address),
                size: own.argument(begin.size),
                opening: match begin.opening {
                    Opening::Stored(place) => Opening::Stored(self.root(own, place)),
                    ref other => other.clone(),
                },
                ..begin.clone()
            }),
            Action::Inside(inside) => Action::Inside(Inside {
                call: by(&inside.call),
                value: own.argument(inside.value),
                user: own.argument(inside.user),
                // A fault that stays inside is told by the result, which is not followed.
                fills: match own.piece.leaves_by_fault(number) {
                    true => inside.fills.and_then(|place| self.moved(own, place)),
                    false => None,
                },
                called: !own.piece.expands,
                ..inside.clone()
            }),
            // What a function calls is told of where it calls it.
            Action::Call(_) if !own.piece.expands => Action::Join,
            Action::Call(call) => Action::Call(Call {
                given: Vec::new(),
                clears: None,
                argument_of: None,
                ..call.clone()
            }),
            Action::Exit { hands_over, .. } => Action::Exit {
                hands_over: *hands_over,
                returned: None,
            },
            Action::Join | Action::End { .. } => action.clone(),
        }
    }

    /// What is written to the variables of the user, or to those of the definition.
    fn moved_effect(&mut self, own: &Use<'_, 't>, effect: &Effect) {
        let kind = match &effect.kind {
            EffectKind::Write(write) => EffectKind::Write(Write {
                value: None,
                ..write.clone()
            }),
            EffectKind::Handed { by_address: true } => effect.kind.clone(),
            _ => return,
        };
        let place = match self.moved(own, effect.place) {
            Some(place) => place,
            None => return,
        };
        self.graph.effects.push(Effect {
            kind,
            place,
            span: own.span,
            argument_of: None,
        });
    }

    /// The place that a whole variable of a definition is here.
    fn moved(&mut self, own: &Use<'_, 't>, place: usize) -> Option<usize> {
        let whole = own.piece.flow.places.parent(place).is_none();
        whole.then(|| self.root(own, place))
    }

    /// The variable that a place of a definition is reached from, as it is called here.
    fn root(&mut self, own: &Use<'_, 't>, place: usize) -> usize {
        let places = &own.piece.flow.places;
        let root = places.root(place);
        let hidden = |name: &str| format!("{}()'s {name}", own.name);
        let Some(name) = places.as_outer(root) else {
            let local = places.as_local(root).map_or(0, |local| local);
            return self.graph.places.outer(hidden(&local.to_string()));
        };
        let given = own.piece.parameter(name);
        match given.map(|at| own.handed.get(at).copied().flatten()) {
            Some(Some(argument)) if own.piece.expands => argument,
            None if own.piece.expands => self.variable(name.as_bytes()),
            _ => self.graph.places.outer(hidden(name)),
        }
    }

    /// A jump that the definition does not hold the target of.
    fn leaving(&mut self, own: &Use<'_, 't>, way: (usize, Edge), to: &Leaving) {
        match to {
            Leaving::Label(label) => {
                let argument = own
                    .piece
                    .parameter(label)
                    .and_then(|at| own.arguments.get(at));
                let label = argument
                    .map_or_else(|| label.clone(), |argument| self.context.written(*argument));
                self.jump(way.0, way.1, own.span, label);
            }
            Leaving::Break => self.leave(vec![way], false),
            Leaving::Continue => self.leave(vec![way], true),
        }
    }
}

fn moved_edge(own: &Use<'_, '_>, edge: Edge) -> Edge {
    match edge {
        Edge::If(condition, holds) => Edge::If(own.conditions + condition, holds),
        other => other,
    }
}
