//! What is called on ways that come to a place.

use crate::hashed::HashSet;
use crate::span::Span;

use super::graph::{Action, Effect, EffectKind, Flow, Node};

impl Flow {
    /// Every call and access, in the order of the text.
    #[must_use]
    pub fn called(&self) -> Vec<Span> {
        let all = self.nodes.iter().filter(|node| is_call(node));
        let mut found: Vec<Span> = all.map(|node| node.span).collect();
        found.sort_by_key(|span| (span.start, span.end));
        found
    }

    /// Those on ways to what happens in a place, beside it. Ways are followed back to where
    /// the pointer is moved on (`p++`), before which it led elsewhere.
    #[must_use]
    pub fn called_before(&self, place: Span, pointer: &str) -> Vec<Span> {
        let before = self.reached_back(place, pointer);
        let on_way = |at: &usize| self.nodes.get(*at).filter(|node| is_call(node));
        let spans = before.iter().filter_map(on_way).map(|node| node.span);
        let mut found: Vec<Span> = spans.filter(|span| !place.contains(*span)).collect();
        found.sort_by_key(|span| (span.start, span.end));
        found
    }

    /// The nodes from which a way comes to a place, none of which moves the pointer behind
    /// what happens there.
    fn reached_back(&self, place: Span, pointer: &str) -> HashSet<usize> {
        let mut before = vec![Vec::new(); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            for (_, to) in &node.next {
                if let Some(own) = before.get_mut(*to) {
                    own.push(at);
                }
            }
        }
        let mut found = HashSet::default();
        let mut work: Vec<usize> = self.nodes_in(place).collect();
        while let Some(at) = work.pop() {
            if !found.insert(at) {
                continue;
            }
            let moved = self
                .effects_of(at)
                .iter()
                .any(|own| self.moves(own, pointer));
            if !moved {
                work.extend(before.get(at).into_iter().flatten());
            }
        }
        found
    }

    fn moves(&self, effect: &Effect, pointer: &str) -> bool {
        let next = matches!(&effect.kind, EffectKind::Write(write) if write.next);
        next && self.is_whole(effect) && self.name_of(effect) == pointer
    }
}

fn is_call(node: &Node) -> bool {
    matches!(node.action, Action::Call(_) | Action::Inside(_))
}
