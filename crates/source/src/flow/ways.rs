//! Where ways of a graph lead to.

use crate::hashed::HashSet;
use crate::span::Span;

use super::graph::{Action, Flow, Node};
use super::reached::NodeSet;

impl Flow {
    /// Every node that ways from a node come to, itself included, where they end at
    /// nodes that stop them. What is not reached from the entry is dominated by
    /// those.
    pub(crate) fn reached(&self, from: usize, stops: impl Fn(&Node) -> bool) -> HashSet<usize> {
        self.reached_from(vec![from], stops)
    }

    /// Whether any way from the entry comes to what happens in a place, as far as anything is known to
    /// happen there.
    pub(crate) fn is_reached(&self, place: Span) -> bool {
        let mut own = self.nodes_in(place).peekable();
        let all = own.peek().map(|_| self.reached(0, |_| false));
        all.is_none_or(|all| own.any(|node| all.contains(&node)))
    }

    /// The nodes at which something is read or written in a place, in their order.
    pub(crate) fn touching(&self, place: Span) -> Vec<usize> {
        let inside = |at: &usize| {
            let effect = self.effects.get(*at);
            effect.is_some_and(|own| place.contains(own.span))
        };
        let own = self.effects_from(place).filter(inside);
        let mut nodes: Vec<usize> = own.flat_map(|at| self.owners_of(at)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The nodes that an effect belongs to, by its number.
    fn owners_of(&self, effect: usize) -> impl Iterator<Item = usize> {
        let all = self.owners.get_or_init(|| {
            let nodes = self.nodes.iter().enumerate();
            let of = |(at, node): (usize, &Node)| node.effects.clone().map(move |own| (own, at));
            let mut all: Vec<(usize, usize)> = nodes.flat_map(of).collect();
            all.sort_unstable();
            all
        });
        let first = all.partition_point(|(own, _)| *own < effect);
        let own = all.iter().skip(first);
        own.take_while(move |(own, _)| *own == effect)
            .map(|(_, node)| *node)
    }

    /// What [`Flow::reached`] gives, for what comes behind a node.
    pub(crate) fn reached_behind(
        &self,
        node: usize,
        stops: impl Fn(&Node) -> bool,
    ) -> HashSet<usize> {
        self.reached_behind_any([node], stops)
    }

    /// The same for what comes behind any of some nodes.
    pub(crate) fn reached_behind_any(
        &self,
        nodes: impl IntoIterator<Item = usize>,
        stops: impl Fn(&Node) -> bool,
    ) -> HashSet<usize> {
        let own = nodes.into_iter().filter_map(|at| self.nodes.get(at));
        let next = own.flat_map(|node| node.next.iter().map(|(_, next)| *next));
        self.reached_from(next.collect(), stops)
    }

    /// The same from several nodes, these included.
    pub(crate) fn reached_any(
        &self,
        nodes: impl IntoIterator<Item = usize>,
        stops: impl Fn(&Node) -> bool,
    ) -> HashSet<usize> {
        self.reached_from(nodes.into_iter().collect(), stops)
    }

    /// The same, where a node's number says as well whether it stops them.
    pub(crate) fn reached_past(
        &self,
        from: impl IntoIterator<Item = usize>,
        stops: impl Fn(usize, &Node) -> bool,
    ) -> HashSet<usize> {
        self.reached_until(from.into_iter().collect(), stops)
    }

    /// The same of what comes behind some nodes, for who asks of each whether it is among them.
    pub(crate) fn comes_behind(&self, nodes: &[usize]) -> NodeSet {
        let own = nodes.iter().filter_map(|at| self.nodes.get(*at));
        let next = own.flat_map(|node| node.next.iter().map(|(_, next)| *next));
        self.ways_from(next.collect(), |_, _| false)
    }

    /// The same from some nodes, these included, where they end at nodes that stop them.
    pub(super) fn ways_from(
        &self,
        from: Vec<usize>,
        stops: impl Fn(usize, &Node) -> bool,
    ) -> NodeSet {
        let (mut found, mut work) = (NodeSet::of(self.nodes.len()), from);
        while let Some(at) = work.pop() {
            let Some(node) = self.nodes.get(at).filter(|node| !stops(at, node)) else {
                continue;
            };
            if found.insert(at) {
                work.extend(node.next.iter().map(|(_, next)| *next));
            }
        }
        found
    }

    fn reached_from(&self, from: Vec<usize>, stops: impl Fn(&Node) -> bool) -> HashSet<usize> {
        self.reached_until(from, |_, node| stops(node))
    }

    fn reached_until(
        &self,
        from: Vec<usize>,
        stops: impl Fn(usize, &Node) -> bool,
    ) -> HashSet<usize> {
        self.ways_from(from, stops).iter().collect()
    }

    /// Whether some way through the function passes none of the nodes that stop it.
    pub(crate) fn leaves_without(&self, stops: impl Fn(&Node) -> bool) -> bool {
        let reached = self.reached(0, stops);
        let mut nodes = reached.iter().filter_map(|at| self.nodes.get(*at));
        nodes.any(|node| matches!(node.action, Action::Exit { .. }))
    }
}
