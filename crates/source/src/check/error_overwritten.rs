//! Error numbers of the function's own that what an access gives is put over at an end which all ways
//! come to.

use crate::flow::{Action, Effect, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{Fallible, fate, is_error, taken};

/// An error number that is lost.
pub(crate) struct ErrorOverwritten {
    /// The variable.
    pub(crate) variable: String,
    /// Where it took it.
    pub(crate) taken: Span,
}

/// So many calls of a function are followed.
const MOST: usize = 64;

/// The one that a call's result is put over: `if (err) goto out; … out: err = put_user(a, p); return err;`.
pub(crate) fn error_overwritten(
    function: &FunctionContext<'_>,
    call: &Fallible<'_>,
) -> Option<ErrorOverwritten> {
    let graph = function.graph;
    let effect = taken(function, call.node)?.effect;
    let variable = graph.effects.get(effect)?.place;
    let node = graph
        .nodes
        .iter()
        .position(|own| own.effects.contains(&effect))?;
    let written = |own: &&Effect| own.place == variable && own.kind != EffectKind::Read;
    // Most variables take one result alone.
    (graph.effects.iter().filter(written).count() > 1).then_some(())?;
    let over = Over {
        function,
        variable,
        effect,
        node,
        before: graph.reached_any([0], |own| own.effects.contains(&effect)),
        again: graph.reached_behind(node, |_| false),
    };
    over.is_given().then_some(())?;
    over.stored().or_else(|| over.failed())
}

/// Where a variable takes the result of an access.
struct Over<'f, 's> {
    function: &'f FunctionContext<'s>,
    variable: usize,
    effect: usize,
    node: usize,
    /// What is come to before.
    before: HashSet<usize>,
    /// What is come to behind it.
    again: HashSet<usize>,
}

impl Over<'_, '_> {
    /// Whether the function gives the variable.
    fn is_given(&self) -> bool {
        // A way may end where it takes it.
        let nodes = self.again.iter().chain([&self.node]);
        let mut nodes = nodes.filter_map(|at| self.function.graph.nodes.get(*at));
        nodes.any(|node| match node.action {
            Action::Exit { returned, .. } => returned == Some(self.variable),
            _ => false,
        })
    }

    fn loses(&self, taken: Span) -> ErrorOverwritten {
        let graph = self.function.graph;
        let own = graph.effects.get(self.effect);
        ErrorOverwritten {
            variable: own.map_or("", |own| graph.name_of(own)).to_owned(),
            taken,
        }
    }

    /// `err = -EINVAL; goto out;`
    fn stored(&self) -> Option<ErrorOverwritten> {
        let graph = self.function.graph;
        let mut nodes: Vec<usize> = self.before.iter().copied().collect();
        nodes.sort_unstable();
        nodes.into_iter().find_map(|at| {
            let node = graph.nodes.get(at)?;
            let last = graph
                .effects_at(node)
                .iter()
                .rev()
                .find(|own| own.place == self.variable)?;
            let value = match &last.kind {
                EffectKind::Write(write) => self.function.expression(write.value?)?,
                _ => return None,
            };
            let own = at != self.node && is_error(value.uncast().1) && self.goes_there(at);
            // What every way has taken is what the others leave it with.
            let others = || {
                graph
                    .reached_past([0], |other, _| other == at)
                    .contains(&self.node)
            };
            (own && others()).then(|| self.loses(last.span))
        })
    }

    /// Whether all ways behind a node come to where the result is taken.
    fn goes_there(&self, from: usize) -> bool {
        let node = self.function.graph.nodes.get(from);
        let next = node.into_iter().flat_map(|own| own.next.iter());
        let mut next = next.map(|(_, next)| self.up_to(*next)).peekable();
        next.peek().is_some() && next.all(|on| self.is_straight(&on))
    }

    /// Whether some ways come to where the result is taken, and nowhere else that has to do with the
    /// variable or leaves.
    fn is_straight(&self, on: &HashSet<usize>) -> bool {
        let nodes = on
            .iter()
            .filter_map(|at| Some((*at, self.function.graph.nodes.get(*at)?)));
        let mut others = nodes.filter(|(at, _)| *at != self.node);
        let there = self.function.graph.nodes.get(self.node);
        on.contains(&self.node)
            && there.is_some_and(|node| self.is_first(node))
            && !others
                .any(|(_, node)| matches!(node.action, Action::Exit { .. }) || self.touches(node))
    }

    /// Whether a node's first effect on the variable is that it takes the result.
    fn is_first(&self, node: &Step) -> bool {
        let graph = self.function.graph;
        let own = |at: &usize| {
            graph
                .effects
                .get(*at)
                .is_some_and(|own| own.place == self.variable)
        };
        node.effects.clone().find(own) == Some(self.effect)
    }

    fn touches(&self, node: &Step) -> bool {
        let mut effects = self.function.graph.effects_at(node).iter();
        effects.any(|own| own.place == self.variable)
    }

    /// `err = foo(); if (err) goto out;`
    fn failed(&self) -> Option<ErrorOverwritten> {
        let (function, graph) = (self.function, self.function.graph);
        let others = graph.effects.iter().enumerate().filter(|(at, own)| {
            let written = matches!(own.kind, EffectKind::Write(_));
            written && own.place == self.variable && *at != self.effect
        });
        let calls = others.filter_map(|(_, own)| {
            let EffectKind::Write(write) = &own.kind else {
                return None;
            };
            let value = write.value?;
            let call = function.calls.iter().find(|call| span(**call) == value)?;
            Some((own, *call))
        });
        let mut calls = calls.enumerate();
        calls.find_map(|(at, (written, call))| {
            if function.stops_at(at, MOST) {
                return None;
            }
            let arms = fate(function, &Fallible::of(function, call))?.arms;
            let lost = |arm: &super::fate::Arm| self.is_lost(arm.fault, arm.success);
            arms.iter().any(lost).then(|| self.loses(written.span))
        })
    }

    /// What ways from a node come to, up to what has to do with the variable.
    fn up_to(&self, from: usize) -> HashSet<usize> {
        self.ways(from, |node| self.touches(node))
    }

    /// The same up to where the result is taken.
    fn up_to_there(&self, from: usize) -> HashSet<usize> {
        self.ways(from, |_| false)
    }

    fn ways(&self, from: usize, ends: impl Fn(&Step) -> bool) -> HashSet<usize> {
        let (mut found, mut work) = (HashSet::default(), vec![from]);
        while let Some(at) = work.pop() {
            let node = self.function.graph.nodes.get(at);
            let Some(node) = node.filter(|_| found.insert(at)) else {
                continue;
            };
            if at != self.node && !ends(node) {
                work.extend(node.next.iter().map(|(_, next)| *next));
            }
        }
        found
    }

    /// Whether every way from a node comes to where the result is taken and asks for nothing of the
    /// variable before, and passes over calls of which another node's ways come there.
    fn is_lost(&self, fault: usize, success: usize) -> bool {
        let graph = self.function.graph;
        let on = self.up_to(fault);
        if !self.is_straight(&on) || self.again.contains(&fault) {
            return false;
        }
        let other = self.up_to_there(success);
        let skipped = |at: &usize| {
            let node = graph.nodes.get(*at);
            !on.contains(at) && node.is_some_and(|own| matches!(own.action, Action::Call(_)))
        };
        other.contains(&self.node) && other.iter().any(skipped)
    }
}
