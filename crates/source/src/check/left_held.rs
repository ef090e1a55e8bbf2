//! A lock that is kept where a function gives an error, and let go wherever it gives none.

use std::collections::BTreeSet;

use super::fate::{Fallible, fate, is_error, taken};
use super::held::{Held, is_alone};
use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::site::span;

/// Where a variable has come to hold an error number.
struct Error {
    /// Where the ways begin on which it does.
    from: Vec<usize>,
    place: usize,
}

impl Held<'_, '_> {
    /// The ways out that give an error and keep it; none where another keeps it, too.
    pub(crate) fn left_behind_errors(&self) -> BTreeSet<usize> {
        if self.taken.unclear {
            return BTreeSet::new();
        }
        let graph = self.function.graph;
        let starts = self.starts();
        let is_end = |at: &usize| graph.nodes.get(*at).is_some_and(|own| self.is_end(own));
        let all = graph.reached_any(starts.iter().copied(), |_| false);
        // What is let go before it is taken is its caller's.
        let free = || graph.reached(0, |node| self.is_begin(node));
        if !all.iter().any(is_end) || free().iter().any(is_end) {
            return BTreeSet::new();
        }
        let goes = |node: &Step| self.lets_go(node) || self.is_lent(node);
        let asked = self.asked();
        let stops = |node: &Step| {
            let mut read = graph.effects_at(node).iter();
            let asks = read.any(|read| asked.contains(&read.span));
            asks || goes(node) || self.counts() && self.asks_for_any(node)
        };
        // It is kept for good behind what asks for it, too.
        let all = graph.reached_any(starts.iter().copied(), goes);
        let leaves = |at: &&usize| self.exit(**at).is_some();
        let exits: BTreeSet<usize> = all.iter().filter(leaves).copied().collect();
        if exits.is_empty() {
            return exits;
        }
        let on = graph.reached_any(starts, stops);
        let mut held = self.nodes();
        held.retain(|at| on.contains(at));
        let own = exits
            .iter()
            .filter(|at| held.contains(at) && self.gives_error(**at));
        let mut found: BTreeSet<usize> = own.copied().collect();
        for error in self.errors(&held, &exits) {
            let writes = |node: &Step| {
                let mut effects = graph.effects_at(node).iter();
                effects.any(|own| own.place == error.place && own.kind != EffectKind::Read)
            };
            let on = graph.reached_any(error.from, |node| stops(node) || writes(node));
            let gives = |at: &usize| self.exit(*at) == Some(Some(error.place));
            found.extend(on.into_iter().filter(gives));
        }
        match exits.is_subset(&found) {
            true => found,
            false => BTreeSet::new(),
        }
    }

    /// Whether a call is given what holds the lock: not what else that leads to.
    pub(crate) fn is_lent(&self, node: &Step) -> bool {
        let lock = self.taken.lock.as_ref();
        let lent = |own: &Expression| {
            let given = own.call().map_or(&[][..], |(_, given)| given);
            lock.is_none_or(|lock| given.iter().any(|own| holds(own, lock)))
        };
        let whole = || self.function.expression(node.span);
        self.is_given(node) && whole().is_none_or(|own| lent(&own))
    }

    /// Whether a way divides on what is counted itself: there may be none, of which nobody has
    /// a reference.
    fn asks_for_any(&self, node: &Step) -> bool {
        let Some((Edge::If(condition, _), _)) = node.next.first() else {
            return false;
        };
        let lock = self.taken.lock.as_ref();
        let own = self.function.graph.conditions.get(*condition);
        let whole = own.and_then(|own| self.function.asked(own));
        whole.zip(lock).is_some_and(|(whole, lock)| {
            let place = match &lock.uncast().1.term {
                Term::Address(_) => lock.root(),
                _ => lock.uncast().1,
            };
            *whole == *place || whole.any(&|part| is_given(part, place))
        })
    }

    /// What a way out gives as it is; none of what is none.
    fn exit(&self, at: usize) -> Option<Option<usize>> {
        match self.function.graph.nodes.get(at)?.action {
            Action::Exit { returned, .. } => Some(returned),
            _ => None,
        }
    }

    fn gives_error(&self, exit: usize) -> bool {
        let function = self.function;
        let given = function.graph.statement(function.place(exit));
        let given = given.and_then(|own| function.expression(own.expression?));
        given.is_some_and(|own| is_error(&own))
    }

    /// Where a variable that those ways out give has an error number while it is held.
    fn errors(&self, held: &HashSet<usize>, exits: &BTreeSet<usize>) -> Vec<Error> {
        let given = exits.iter().filter_map(|at| self.exit(*at)?);
        let given: HashSet<usize> = given.collect();
        let mut found = self.stored(held, &given);
        if !given.is_empty() {
            found.extend(self.failed(held, &given));
        }
        found
    }

    /// `ret = -EINVAL`
    fn stored(&self, held: &HashSet<usize>, given: &HashSet<usize>) -> Vec<Error> {
        let graph = self.function.graph;
        let is_error = |own: &EffectKind| match own {
            EffectKind::Write(own) => {
                let value = own.value.and_then(|at| self.function.expression(at));
                value.is_some_and(|own| is_error(&own))
            }
            _ => false,
        };
        let found = held.iter().filter_map(|at| {
            let node = graph.nodes.get(*at)?;
            let mut effects = graph.effects_at(node).iter().rev();
            let own = effects.find(|own| given.contains(&own.place))?;
            is_error(&own.kind).then(|| Error {
                from: node.next.iter().map(|(_, next)| *next).collect(),
                place: own.place,
            })
        });
        found.collect()
    }

    /// `ret = foo(); if (ret)`
    fn failed(&self, held: &HashSet<usize>, given: &HashSet<usize>) -> Vec<Error> {
        let function = self.function;
        let graph = function.graph;
        let calls = function.calls.iter();
        let others = calls.filter(|call| span(**call) != self.taken.span);
        let found = others.filter_map(|call| {
            let effect = taken(function, *call)?.effect;
            let place = graph.effects.get(effect)?.place;
            let inside = || graph.nodes_in(span(*call)).any(|at| held.contains(&at));
            if !given.contains(&place) || !inside() {
                return None;
            }
            let arms = fate(function, &Fallible::of(function, *call))?.arms;
            let arms = arms.iter().map(|arm| arm.fault);
            let from: Vec<usize> = arms.filter(|at| held.contains(at)).collect();
            (!from.is_empty()).then_some(Error { from, place })
        });
        found.collect()
    }
}

impl Held<'_, '_> {
    /// Where it is let go though what tells that it was not taken was not asked, or says so.
    pub(crate) fn never_asked(&self) -> Option<usize> {
        let function = self.function;
        let graph = function.graph;
        if !function.file.words.lock_fails(&self.taken.name) {
            return None;
        }
        let mut calls = function.calls.iter();
        let call = calls.find(|call| span(**call) == self.taken.span)?;
        let result = taken(function, *call).and_then(|own| graph.effects.get(own.effect));
        let result = result.map(|own| own.place);
        if result.is_none() && self.taken.arms.is_empty() && !is_alone(function, *call) {
            return None;
        }
        let asked = self.asked();
        let uses = |node: &Step| {
            let mut effects = graph.effects_at(node).iter();
            effects.any(|own| asked.contains(&own.span) || is_use(own, result))
        };
        let stops = |node: &Step| uses(node) || self.is_begin(node) || self.is_lent(node);
        let mut ways = graph.reached_any(self.taken.arms.iter().map(|arm| arm.fault), stops);
        if result.is_some() || self.taken.arms.is_empty() {
            ways.extend(graph.reached_behind(self.taken.node, stops));
        }
        let is_end = |at: &usize| graph.nodes.get(*at).is_some_and(|own| self.is_end(own));
        ways.into_iter()
            .filter(is_end)
            .min_by_key(|at| function.place(*at))
    }
}

/// Whether a lock is reached by what a call is given, or may be from its address.
fn holds(given: &Expression, lock: &Expression) -> bool {
    let given = given.uncast().1;
    match &given.term {
        Term::Member { .. } => lock.any(&|part| part == given),
        Term::Call(_, inner) => inner.iter().any(|own| holds(own, lock)),
        _ => {
            let root = lock.root().name();
            root.is_none() || given.any(&|part| part.name() == root)
        }
    }
}

/// Whether a call is given a thing, or `!` asks for it.
fn is_given(part: &Expression, thing: &Expression) -> bool {
    match &part.term {
        Term::Call(_, given) => given.contains(thing),
        Term::Unary(_, own) => **own == *thing,
        Term::Binary(left, _, right) => **left == *thing && right.is_null(),
        _ => false,
    }
}

/// Whether an effect needs what a variable holds.
fn is_use(own: &Effect, variable: Option<usize>) -> bool {
    Some(own.place) == variable && !matches!(own.kind, EffectKind::Write(_))
}
