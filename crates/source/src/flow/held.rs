//! What a variable of a function holds, where its ways meet and where they end.

use std::collections::BTreeMap;

use crate::span::Span;

use super::graph::{Action, Condition, Edge, Effect, EffectKind, Flow, Write};

/// What a variable holds where ways meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The constant, as it is written.
    Constant(String),
    /// Something else.
    Unknown,
    /// Its address or itself was handed out: anything may change it.
    Lost,
}

impl Held {
    pub(super) fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Self::Lost, _) | (_, Self::Lost) => Self::Lost,
            (a, b) if a == b => a,
            _ => Self::Unknown,
        }
    }
}

impl Flow {
    /// Whether every way from a node to the end of the function returns that constant,
    /// which `written` knows where a return has it as an expression.
    pub(crate) fn gives_only(
        &self,
        from: usize,
        constant: &str,
        written: impl Fn(Span) -> bool,
    ) -> bool {
        self.gives_only_behind((from, None), constant, written)
    }

    /// The same of the ways that come to a node from another one at once: others may come to it with
    /// other values.
    pub(crate) fn gives_only_behind(
        &self,
        (from, fork): (usize, Option<usize>),
        constant: &str,
        written: impl Fn(Span) -> bool,
    ) -> bool {
        let reached = self.reached(from, |_| false);
        let mut exits = reached.iter().filter_map(|at| {
            let node = self.nodes.get(*at)?;
            match &node.action {
                Action::Exit { returned, .. } => Some((*at, node.span, *returned)),
                _ => None,
            }
        });
        let mut ends = false;
        let gives = |(at, span, returned): (usize, Span, Option<usize>)| {
            ends = true;
            match returned {
                Some(variable) => self.holds_on_ways(variable, (from, fork, at), constant),
                None => written(span),
            }
        };
        exits.all(gives) && ends && !self.computed
    }

    /// Whether a variable of the function holds a constant wherever the ways from one node
    /// come to another.
    fn holds_on_ways(
        &self,
        variable: usize,
        (from, fork, to): (usize, Option<usize>, usize),
        constant: &str,
    ) -> bool {
        let own = self.local_of(variable).filter(|own| !own.lasting);
        let Some(own) = own.filter(|own| !self.unseen.contains(&own.name)) else {
            return false;
        };
        let mut first = self.held(variable, 0, Held::Unknown);
        let known = first.remove(&fork.unwrap_or(from));
        let known = known.filter(|_| own.plain);
        let known = known.map(|held| match fork {
            Some(fork) => self.behind_all(held, fork, variable),
            None => held,
        });
        let behind = known.map(|known| self.held(variable, from, known));
        let there = behind.and_then(|mut behind| behind.remove(&to));
        // What is done before the function is left is done in its node.
        let there = there.map(|held| self.behind_all(held, to, variable));
        there.is_some_and(|held| matches!(held, Held::Constant(text) if text == constant))
    }

    /// What a variable holds where the code comes to a node, for each that it
    /// comes to from `start`, where it holds `known`: a fixed point.
    pub(super) fn held(&self, variable: usize, start: usize, known: Held) -> BTreeMap<usize, Held> {
        let mut before = BTreeMap::from([(start, known)]);
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            let (Some(node), Some(held)) = (self.nodes.get(at), before.get(&at)) else {
                continue;
            };
            let after = self.behind_all(held.clone(), at, variable);
            for (edge, to) in &node.next {
                let Some(held) = self.along(after.clone(), *edge, variable) else {
                    continue;
                };
                let met = match before.get(to) {
                    Some(known) => known.clone().meet(held),
                    None => held,
                };
                if before.get(to) != Some(&met) {
                    before.insert(*to, met);
                    work.push(*to);
                }
            }
        }
        before
    }

    /// What the variable holds behind all that a node does.
    fn behind_all(&self, held: Held, node: usize, variable: usize) -> Held {
        let own = self.effects_of(node).iter();
        let own = own.filter(|effect| self.places.is_in(effect.place, variable));
        own.fold(held, |held, own| self.then(held, own, variable))
    }

    /// What the variable holds behind an effect on it.
    fn then(&self, held: Held, effect: &Effect, variable: usize) -> Held {
        let whole = effect.place == variable;
        match &effect.kind {
            EffectKind::Read => held,
            EffectKind::Address | EffectKind::Handed { .. } if self.is_behind(effect) => held,
            EffectKind::Address | EffectKind::Handed { .. } => Held::Lost,
            EffectKind::Write(_) if self.is_behind(effect) || held == Held::Lost => held,
            EffectKind::Write(Write {
                constant: Some(text),
                optional: false,
                ..
            }) if whole => Held::Constant(text.clone()),
            EffectKind::Write(_) => Held::Unknown,
        }
    }

    /// What the variable holds on an edge; none where the edge is not taken.
    fn along(&self, held: Held, edge: Edge, variable: usize) -> Option<Held> {
        let Edge::If(condition, holds) = edge else {
            return Some(held);
        };
        let asked = self.conditions.get(condition);
        let own = asked.is_some_and(|Condition { place, .. }| *place == Some(variable));
        match (&held, holds) {
            (Held::Constant(text), true) if own && text == "0" => None,
            (Held::Unknown, false) if own => Some(Held::Constant("0".to_owned())),
            _ => Some(held),
        }
    }
}
