//! What adds to a value: `err |= …`.

use std::ops::Range;

use crate::hashed::HashSet;
use crate::span::Span;

use super::graph::{EffectKind, Flow};

impl Flow {
    /// Where something is added to the value that a variable takes in a place: on some way
    /// no other value has come between.
    pub(crate) fn joined_behind(&self, taken: Span) -> HashSet<Span> {
        let mut found = HashSet::default();
        let is_own = |at: &usize| {
            let effect = self.effects.get(*at);
            effect.is_some_and(|own| own.span == taken && matches!(own.kind, EffectKind::Write(_)))
        };
        let holder = self.nodes.iter().find_map(|node| {
            let at = node.effects.clone().find(is_own)?;
            Some((node, at))
        });
        let Some((node, at)) = holder else {
            return found;
        };
        let Some(variable) = self.effects.get(at).map(|own| own.place) else {
            return found;
        };
        let mut seen = HashSet::default();
        let mut work = Vec::new();
        if self.joins(variable, at + 1..node.effects.end, &mut found) {
            work.extend(node.next.iter().map(|(_, next)| *next));
        }
        while let Some(at) = work.pop() {
            let Some(node) = self.nodes.get(at).filter(|_| seen.insert(at)) else {
                continue;
            };
            if self.joins(variable, node.effects.clone(), &mut found) {
                work.extend(node.next.iter().map(|(_, next)| *next));
            }
        }
        found
    }

    /// Notes what of some effects adds to a variable, and says whether its value is there
    /// behind them.
    fn joins(&self, variable: usize, effects: Range<usize>, found: &mut HashSet<Span>) -> bool {
        for at in effects {
            let Some(effect) = self.effects.get(at).filter(|own| own.place == variable) else {
                continue;
            };
            let EffectKind::Write(write) = &effect.kind else {
                continue;
            };
            if at > 0 && self.is_of_own_value(at - 1, variable) {
                found.insert(effect.span);
            } else if !write.optional {
                return false;
            }
        }
        true
    }
}
