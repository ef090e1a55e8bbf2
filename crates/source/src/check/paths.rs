//! What is open where: every path of a graph is followed, with what it has
//! learned of the conditions on its way. Paths that agree are followed once.

use std::collections::BTreeSet;

use crate::hashed::HashMap;
use crate::span::Span;

use super::words::CheckWords;
use crate::flow::{Action, Begin, Condition, Edge, Effect, EffectKind, Flow, Opening};

/// A window that is open on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Open {
    /// The one that the begin at that node opened.
    Here(usize),
    /// One that the caller is taken to have opened.
    Caller,
}

/// What last happened to windows on a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Last {
    /// Nothing.
    #[default]
    None,
    /// The begin at that node did not open.
    Failed(usize),
    /// The end at that node closed.
    Closed(usize),
}

/// What is known on a path that comes to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct State {
    /// Windows that are open, the outermost first.
    pub(crate) open: Vec<Open>,
    /// What last happened.
    pub(crate) last: Last,
    /// Conditions that are known to hold, or not to.
    facts: Vec<(usize, bool)>,
    /// Pairs of calls of which the first was called, with its node.
    pub(crate) held: Vec<(usize, usize)>,
    /// Pairs that open the gate of which the second was called last, with its node.
    pub(crate) ended: Vec<(usize, usize)>,
    /// Variables that a read has left without a value, with its node.
    pub(crate) unset: Vec<(usize, usize)>,
    /// Variables of which a call has set every byte.
    pub(crate) cleared: Vec<usize>,
}

/// The states that come to each node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    /// By node.
    pub(crate) before: Vec<BTreeSet<State>>,
    /// Whether there were more paths than are followed.
    pub(crate) cut: bool,
}

/// So many states at one node are kept apart by what they know of conditions; more
/// are joined.
const STATES: usize = 192;
/// So many are kept apart by anything; more there cannot be in code that people write.
const MOST: usize = 4 * STATES;
/// Steps after which states are joined wherever they meet.
const STEPS: usize = 60_000;

/// Follows every path. `entered_open`: whether the caller has a window open.
pub(crate) fn follow(graph: &Flow, entered_open: bool, words: &CheckWords) -> Paths {
    let open = if entered_open {
        vec![Open::Caller]
    } else {
        Vec::new()
    };
    let first = State {
        open,
        ..State::default()
    };
    let own = asked(graph);
    let mut walk = Walk {
        graph,
        words,
        steps: 0,
        tracked: tracked(graph, &own),
        own,
        paths: Paths {
            before: vec![BTreeSet::new(); graph.nodes.len()],
            cut: false,
        },
        work: Vec::new(),
    };
    walk.arrive(0, first);
    while let Some((node, state)) = walk.work.pop() {
        walk.steps += 1;
        walk.step(node, &state);
    }
    walk.paths
}

/// Conditions that are asked more than once, or that tell of a begin.
fn tracked(graph: &Flow, own: &HashMap<usize, usize>) -> BTreeSet<usize> {
    let mut asked: HashMap<usize, usize> = HashMap::default();
    let mut found = BTreeSet::new();
    for node in &graph.nodes {
        for (edge, _) in &node.next {
            if let Edge::If(condition, true) = edge {
                *asked.entry(*condition).or_default() += 1;
            }
        }
        if let Action::Begin(Begin {
            opening: Opening::Stored(place),
            ..
        }) = &node.action
        {
            found.extend(own.get(place));
        }
    }
    for effect in &graph.effects {
        if let EffectKind::Write(write) = &effect.kind
            && write.truth.is_some()
        {
            found.extend(own.get(&effect.place));
        }
    }
    found.extend(asked.into_iter().filter(|(_, n)| *n > 1).map(|(c, _)| c));
    found
}

/// The condition that is nothing but a place, for each that is asked for so.
fn asked(graph: &Flow) -> HashMap<usize, usize> {
    let all = graph.conditions.iter().enumerate();
    all.filter_map(|(number, condition)| Some((condition.place?, number)))
        .rev()
        .collect()
}

struct Walk<'g> {
    graph: &'g Flow,
    words: &'g CheckWords,
    steps: usize,
    tracked: BTreeSet<usize>,
    own: HashMap<usize, usize>,
    paths: Paths,
    work: Vec<(usize, State)>,
}

impl Walk<'_> {
    fn arrive(&mut self, node: usize, mut state: State) {
        let (Some(place), Some(known)) =
            (self.graph.nodes.get(node), self.paths.before.get_mut(node))
        else {
            return;
        };
        leave_scopes(self.graph, &mut state, place.span);
        if known.len() >= STATES || self.steps > STEPS {
            state.facts.clear();
        }
        if known.len() >= MOST {
            self.paths.cut = true;
        } else if known.insert(state.clone()) {
            self.work.push((node, state));
        }
    }

    fn step(&mut self, node: usize, state: &State) {
        let Some(place) = self.graph.nodes.get(node) else {
            return;
        };
        let mut state = state.clone();
        for effect in self.graph.effects_of(node) {
            self.done(&mut state, effect);
        }
        for (edge, to) in &place.next {
            for after in self.after(node, &place.action, &state, *edge) {
                self.arrive(*to, after);
            }
        }
    }

    /// The states in which an edge is taken; none if it is not.
    fn after(&self, node: usize, action: &Action, state: &State, edge: Edge) -> Vec<State> {
        let mut next = state.clone();
        match (action, edge) {
            (_, Edge::If(condition, value)) => return self.decided(next, condition, value),
            (Action::Begin(begin), _) => return self.begun(node, begin, next, edge),
            (Action::End { .. }, _) => {
                next.open.pop();
                next.last = Last::Closed(node);
            }
            (Action::Call(call), _) => match self.words.pair_of(&call.name) {
                Some((pair, begins)) => self.pair(&mut next, (pair, begins), node),
                None => clear(&mut next, call.clears),
            },
            (Action::Inside(inside), Edge::Fault) => {
                if let Some(place) = inside.fills {
                    next.unset.retain(|(known, _)| *known != place);
                    next.unset.push((place, node));
                }
            }
            _ => {}
        }
        vec![next]
    }

    /// What a call of a pair does to what is held.
    fn pair(&self, state: &mut State, (pair, begins): (usize, bool), node: usize) {
        state.ended.retain(|(ended, _)| *ended != pair);
        if begins {
            return hold(state, pair, node);
        }
        state.held.retain(|(held, _)| *held != pair);
        if self.words.is_gate(pair) {
            state.ended.push((pair, node));
            state.ended.sort_unstable();
        }
    }

    /// What is known behind an effect.
    fn done(&self, state: &mut State, effect: &Effect) {
        let place = effect.place;
        match &effect.kind {
            EffectKind::Write(write) => {
                state.unset.retain(|(known, _)| *known != place);
                self.know(state, place, write.truth);
            }
            EffectKind::Handed { by_address: true } => self.know(state, place, None),
            EffectKind::Handed { .. } => {}
            EffectKind::Read | EffectKind::Address => {
                state.unset.retain(|(known, _)| *known != place);
            }
        }
    }

    fn decided(&self, mut state: State, condition: usize, value: bool) -> Vec<State> {
        let known = state.facts.iter().find(|(known, _)| *known == condition);
        match known {
            Some((_, have)) if *have != value => return Vec::new(),
            None if self.tracked.contains(&condition) => learn(&mut state, condition, value),
            _ => {}
        }
        vec![state]
    }

    fn begun(&self, node: usize, begin: &Begin, state: State, edge: Edge) -> Vec<State> {
        let opened = |mut state: State| {
            // A loop that comes back with it open opens it no second time.
            if !state.open.contains(&Open::Here(node)) {
                state.open.push(Open::Here(node));
            }
            state
        };
        let failed = |mut state: State| {
            state.last = Last::Failed(node);
            state
        };
        match (&begin.opening, edge) {
            (_, Edge::Opened(true)) => vec![opened(state)],
            (_, Edge::Opened(false)) => vec![failed(state)],
            (Opening::Stored(place), _) => {
                let (mut yes, mut no) = (opened(state.clone()), failed(state));
                self.know(&mut yes, *place, Some(true));
                self.know(&mut no, *place, Some(false));
                vec![yes, no]
            }
            _ => vec![opened(state)],
        }
    }

    /// A place has a new value: what was known of it is not any more.
    fn know(&self, state: &mut State, place: usize, truth: Option<bool>) {
        let places = &self.graph.places;
        let reads = |condition: &Condition| {
            let mut reads = condition.reads.iter();
            reads.any(|read| places.is_in(*read, place))
        };
        let about = |number: usize| self.graph.conditions.get(number).is_some_and(reads);
        state.facts.retain(|(condition, _)| !about(*condition));
        let own = self.own.get(&place);
        let own = own.filter(|own| self.tracked.contains(own));
        if let (Some(own), Some(truth)) = (own, truth) {
            learn(state, *own, truth);
        }
    }
}

fn hold(state: &mut State, pair: usize, node: usize) {
    if !state.held.contains(&(pair, node)) {
        state.held.push((pair, node));
        state.held.sort_unstable();
    }
}

fn clear(state: &mut State, variable: Option<usize>) {
    if let Some(variable) = variable.filter(|own| !state.cleared.contains(own)) {
        state.cleared.push(variable);
        state.cleared.sort_unstable();
    }
}

fn learn(state: &mut State, condition: usize, value: bool) {
    state.facts.push((condition, value));
    state.facts.sort_unstable();
}

/// A window that closes by scope is closed wherever the scope is not.
fn leave_scopes(graph: &Flow, state: &mut State, place: Span) {
    if place == Span::default() {
        return;
    }
    state.open.retain(|open| match open {
        Open::Here(node) => graph
            .begin(*node)
            .and_then(|(begin, _)| begin.scope)
            .is_none_or(|scope| scope.contains(place)),
        Open::Caller => true,
    });
}
