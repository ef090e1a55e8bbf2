//! What is open where: every path of a graph is followed, with what it has
//! learned of the conditions on its way. Paths that agree are followed once.

use std::collections::{BTreeSet, HashMap};

use crate::runs::mentions;
use crate::span::Span;

use super::graph::{Action, Assign, Begin, Edge, Graph, Opening};

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
    /// Variables that a read has left without a value, with its node.
    pub(crate) unset: Vec<(String, usize)>,
}

/// The states that come to each node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    /// By node.
    pub(crate) before: Vec<BTreeSet<State>>,
    /// Whether there were more paths than are followed.
    pub(crate) cut: bool,
}

/// More states at one node than any function of the kernel has.
const STATES: usize = 192;
/// More steps than any function of the kernel needs.
const STEPS: usize = 60_000;

/// Follows every path. `entered_open`: whether the caller has a window open.
pub(crate) fn follow(graph: &Graph, entered_open: bool) -> Flow {
    let open = if entered_open {
        vec![Open::Caller]
    } else {
        Vec::new()
    };
    let first = State {
        open,
        ..State::default()
    };
    let mut walk = Walk {
        graph,
        tracked: tracked(graph),
        flow: Flow {
            before: vec![BTreeSet::new(); graph.nodes.len()],
            cut: false,
        },
        work: Vec::new(),
    };
    walk.arrive(0, first);
    let mut steps = 0;
    while let Some((node, state)) = walk.work.pop() {
        steps += 1;
        if steps > STEPS {
            walk.flow.cut = true;
            break;
        }
        walk.step(node, &state);
    }
    walk.flow
}

/// Conditions that are asked more than once, or that tell of a begin.
fn tracked(graph: &Graph) -> BTreeSet<usize> {
    let mut asked: HashMap<usize, usize> = HashMap::new();
    let mut found = BTreeSet::new();
    for node in &graph.nodes {
        for (edge, _) in &node.next {
            if let Edge::If(condition, true) = edge {
                *asked.entry(*condition).or_default() += 1;
            }
        }
        let stored = match &node.action {
            Action::Begin(Begin {
                opening: Opening::Stored(variable),
                ..
            }) => Some(variable),
            Action::Assign(Assign {
                variable,
                truth: Some(_),
                ..
            }) => Some(variable),
            _ => None,
        };
        let known = stored.and_then(|name| graph.conditions.iter().position(|c| c == name));
        found.extend(known);
    }
    found.extend(asked.into_iter().filter(|(_, n)| *n > 1).map(|(c, _)| c));
    found
}

struct Walk<'g> {
    graph: &'g Graph,
    tracked: BTreeSet<usize>,
    flow: Flow,
    work: Vec<(usize, State)>,
}

impl Walk<'_> {
    fn arrive(&mut self, node: usize, mut state: State) {
        let (Some(place), Some(known)) =
            (self.graph.nodes.get(node), self.flow.before.get_mut(node))
        else {
            return;
        };
        leave_scopes(self.graph, &mut state, place.span);
        if known.len() >= STATES {
            self.flow.cut = true;
        } else if known.insert(state.clone()) {
            self.work.push((node, state));
        }
    }

    fn step(&mut self, node: usize, state: &State) {
        let Some(place) = self.graph.nodes.get(node) else {
            return;
        };
        for (edge, to) in &place.next {
            for after in self.after(node, &place.action, state, *edge) {
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
            (Action::Inside(inside), Edge::Fault) => {
                let read = inside.direction == Some(crate::Direction::Read);
                if let Some(name) = self.filled(node).filter(|_| read) {
                    next.unset.retain(|(known, _)| *known != name);
                    next.unset.push((name, node));
                }
            }
            (Action::Assign(assign), _) => self.assigned(&mut next, assign),
            (Action::Use(name), _) => next.unset.retain(|(known, _)| known != name),
            _ => {}
        }
        vec![next]
    }

    /// The variable that the access at a node fills: the next node assigns it.
    fn filled(&self, node: usize) -> Option<String> {
        let next = self.graph.nodes.get(node + 1)?;
        match &next.action {
            Action::Assign(assign) => Some(assign.variable.clone()),
            _ => None,
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
            state.open.push(Open::Here(node));
            state
        };
        let failed = |mut state: State| {
            state.last = Last::Failed(node);
            state
        };
        match (&begin.opening, edge) {
            (_, Edge::Opened(true)) => vec![opened(state)],
            (_, Edge::Opened(false)) => vec![failed(state)],
            (Opening::Stored(variable), _) => {
                let (mut yes, mut no) = (opened(state.clone()), failed(state));
                self.know(&mut yes, variable, Some(true));
                self.know(&mut no, variable, Some(false));
                vec![yes, no]
            }
            _ => vec![opened(state)],
        }
    }

    fn assigned(&self, state: &mut State, assign: &Assign) {
        state.unset.retain(|(name, _)| *name != assign.variable);
        self.know(state, &assign.variable, assign.truth);
    }

    /// A variable has a new value: what was known of it is not any more.
    fn know(&self, state: &mut State, variable: &str, truth: Option<bool>) {
        let conditions = &self.graph.conditions;
        let about = |condition: usize| {
            conditions
                .get(condition)
                .is_some_and(|text| mentions(text.as_bytes(), variable.as_bytes()))
        };
        state.facts.retain(|(condition, _)| !about(*condition));
        let own = conditions.iter().position(|text| text == variable);
        if let (Some(own), Some(truth)) = (own.filter(|c| self.tracked.contains(c)), truth) {
            learn(state, own, truth);
        }
    }
}

fn learn(state: &mut State, condition: usize, value: bool) {
    state.facts.push((condition, value));
    state.facts.sort_unstable();
}

/// A window that closes by scope is closed wherever the scope is not.
fn leave_scopes(graph: &Graph, state: &mut State, place: Span) {
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
