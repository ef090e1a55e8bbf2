//! What is given back while a member still leads to it, and a fault leaves before that takes
//! another value.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{fallible, fate};

/// A member that still leads to what was given back.
pub(crate) struct Dangling {
    /// The member.
    pub(crate) place: Expression,
    /// The call that gives it back.
    pub(crate) released: Span,
    /// What may fault behind it.
    pub(crate) fault: Span,
    /// Where the function leaves.
    pub(crate) exit: Span,
}

/// So many calls of a function are followed.
const MOST: usize = 64;

/// The members that a function leaves so.
pub(crate) fn dangling(function: &FunctionContext<'_>) -> Vec<Dangling> {
    let words = function.file.words;
    let frees = |call: &&Node<'_>| function.callee(**call).is_some_and(|own| words.frees(own));
    let mut found = Vec::new();
    for (at, call) in function.calls.iter().filter(frees).enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let own = given.iter().map(|own| own.uncast().1);
        let places = own.filter(|own| is_place(own));
        found.extend(places.filter_map(|place| Left { function, place }.behind(span(*call))));
    }
    found
}

/// Whether it is a member that something else leads to, or an element of one.
fn is_place(own: &Expression) -> bool {
    let acts = |part: &Expression| {
        matches!(
            part.term,
            Term::Call(..) | Term::Step(_) | Term::Assignment(..)
        )
    };
    let member = |part: &Expression| matches!(part.term, Term::Member { arrow: true, .. });
    let is_one = matches!(own.term, Term::Member { .. } | Term::Element { .. });
    is_one && own.any(&member) && !own.any(&acts)
}

/// A member that was given back.
struct Left<'f, 's> {
    function: &'f FunctionContext<'s>,
    place: &'f Expression,
}

impl Left<'_, '_> {
    fn behind(&self, released: Span) -> Option<Dangling> {
        let function = self.function;
        let graph = function.graph;
        let from: Vec<usize> = self.nodes_at(released);
        let set = self.set();
        if set.is_empty() {
            return None;
        }
        function.pays()?;
        let kept = self.kept();
        let stops = |node: &Step| self.ends(node, &set, &kept);
        let behind = graph.reached_behind_any(from.iter().copied(), stops);
        let may_fault = |call: &&Node<'_>| {
            let name = function.callee(**call);
            let gives = |name: &str| function.duplicates(name).is_some();
            let is_access = function.accesses.iter().any(|own| own.node == **call);
            is_access || name.is_some_and(|name| function.may_fault(name) || gives(name))
        };
        let nodes = |call: &Node<'_>| -> Vec<usize> {
            let own = self.nodes_at(span(*call)).into_iter();
            own.filter(|at| behind.contains(at)).collect()
        };
        let calls = function.calls.iter().filter(may_fault);
        let faults = calls.map(|call| (span(*call), nodes(call)));
        let faults: Vec<(Span, Vec<usize>)> = faults.filter(|(_, own)| !own.is_empty()).collect();
        let (fault, _) = faults.first()?;
        let all = || faults.iter().flat_map(|(_, own)| own.iter().copied());
        let on = graph.reached_behind_any(all(), stops);
        let exits = on.iter().filter(|at| self.is_exit(**at));
        let exit = exits.map(|at| function.place(*at)).min()?;
        // Elsewhere it takes a value behind that.
        let on = graph.reached_behind_any(all(), |_| false);
        let again = |own: &Span| self.nodes_at_or_in(*own).iter().any(|at| on.contains(at));
        set.iter().any(again).then_some(())?;
        let fault = *fault;
        Some(Dangling {
            place: self.place.clone(),
            released,
            fault,
            exit,
        })
    }

    fn is_exit(&self, at: usize) -> bool {
        let node = self.function.graph.nodes.get(at);
        node.is_some_and(|node| matches!(node.action, Action::Exit { .. }))
    }

    /// The nodes that a call is.
    fn nodes_at(&self, place: Span) -> Vec<usize> {
        let graph = self.function.graph;
        let own = graph.nodes_in(place);
        own.filter(|at| self.function.place(*at) == place).collect()
    }

    fn nodes_at_or_in(&self, place: Span) -> Vec<usize> {
        let graph = self.function.graph;
        let all = 0..graph.nodes.len();
        let inside = |at: &usize| {
            let mut effects = graph.effects_of(*at).iter();
            effects.any(|own| place.contains(own.span))
        };
        all.filter(inside).collect()
    }

    /// Where the member takes a value.
    fn set(&self) -> Vec<Span> {
        let mut found = Vec::new();
        self.function.each_of(&["assignment_expression"], |node| {
            let left = node.part("left");
            let own = left.is_some_and(|left| *self.function.expression_of(left) == *self.place);
            found.extend(own.then(|| span(node)));
        });
        found
    }

    /// The calls that are given what leads to the member, and leave it there: an access, a
    /// lock, what gives back a reference.
    fn kept(&self) -> HashSet<Span> {
        let words = self.function.file.words;
        let keeps = |call: &&Node<'_>| {
            let name = self.function.callee(**call);
            name.is_some_and(|name| {
                let lock = words.lock_of(name).is_some() || words.locker(name).is_some();
                let named = words.lock_named(name).is_some();
                let puts = words.gives_back(name) && !words.frees(name);
                lock || named || puts || words.access(name).is_some()
            })
        };
        let calls = self.function.calls.iter().filter(keeps);
        calls.map(|call| span(*call)).collect()
    }

    /// Whether at a node the member takes a value, or what leads to it does, or somebody else
    /// is given that.
    fn ends(&self, node: &Step, set: &[Span], kept: &HashSet<Span>) -> bool {
        let graph = self.function.graph;
        let Some(root) = self.place.root().name() else {
            return true;
        };
        let mut effects = graph.effects_at(node).iter();
        let sets = effects.any(|own| {
            let whole =
                graph.is_whole(own) && matches!(own.kind, crate::flow::EffectKind::Write(_));
            whole && graph.name_of(own) == root || set.iter().any(|set| set.contains(own.span))
        });
        sets || self.is_given(node, kept)
    }

    /// Whether a call is given what leads to the member.
    fn is_given(&self, node: &Step, kept: &HashSet<Span>) -> bool {
        if !matches!(node.action, Action::Call(_)) || kept.contains(&node.span) {
            return false;
        }
        let Some(whole) = self.function.expression(node.span) else {
            return true;
        };
        let Term::Call(_, given) = &whole.term else {
            return false;
        };
        given.iter().any(|own| self.leads(own.uncast().1))
    }

    /// Whether an argument leads to the member: what holds it, or its own address.
    fn leads(&self, given: &Expression) -> bool {
        let holds = |own: &Expression| self.place.any(&|part| part == own);
        match &given.term {
            Term::Address(place) => holds(place) || self.place == &**place,
            _ => holds(given) && given != self.place,
        }
    }
}

/// The members of what a caller hands in that a function allocates, and gives back where an
/// access faults, but leaves there.
pub(crate) fn handed_back(function: &FunctionContext<'_>) -> Vec<Dangling> {
    let words = function.file.words;
    let frees = |call: &&Node<'_>| function.callee(**call).is_some_and(|own| words.frees(own));
    let mut found = Vec::new();
    for call in function.calls.iter().filter(frees).take(MOST / 4) {
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let own = given.iter().map(|own| own.uncast().1);
        let places = own.filter(|own| is_place(own));
        let handed = places.filter(|own| {
            own.root()
                .name()
                .is_some_and(|own| function.is_parameter(own))
        });
        found.extend(handed.filter_map(|place| Left { function, place }.left(span(*call))));
    }
    found
}

impl Left<'_, '_> {
    fn left(&self, released: Span) -> Option<Dangling> {
        let function = self.function;
        let graph = function.graph;
        let from = self.nodes_at(released);
        let set = self.set();
        if set.is_empty() {
            return None;
        }
        function.pays()?;
        let kept = self.kept();
        let stops = |node: &Step| self.ends(node, &set, &kept);
        let fault = fallible(function).take(MOST).find_map(|call| {
            let arms = fate(function, &call)?.arms;
            let own = |at: usize| {
                let all = graph.reached(at, |_| false);
                from.iter().any(|at| all.contains(at))
            };
            let mut arms = arms
                .iter()
                .filter(|arm| own(arm.fault) && !own(arm.success));
            arms.next().map(|_| call.span)
        })?;
        let on = graph.reached_behind_any(from.iter().copied(), stops);
        let exits = on.iter().filter(|at| self.is_exit(**at));
        let exit = exits.map(|at| function.place(*at)).min()?;
        Some(Dangling {
            place: self.place.clone(),
            released,
            fault,
            exit,
        })
    }
}
