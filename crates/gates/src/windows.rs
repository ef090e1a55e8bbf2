//! How many instructions a path through a window runs, and openings that
//! follow a closing with nothing but straight code between.

use std::collections::VecDeque;

use serde::Serialize;

use crate::code::Code;
use crate::decode::{Flow, Gate};
use crate::graph::Graph;
use crate::hash::{HashMap, HashSet};

/// A window: one opening and every closing that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Where it is opened.
    pub opened_at: u64,
    /// Instructions between the opening and the nearest closing, along paths
    /// on which nothing faults; none where no such path leads to a closing.
    pub shortest: Option<u32>,
    /// The same for the furthest closing; none where there is no closing, or a
    /// loop inside the window.
    pub longest: Option<u32>,
    /// Whether the window holds a loop.
    pub loops: bool,
}

/// Two openings of the gate that one window could serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repeat {
    /// The closing, or the call of a helper that closes.
    pub closed_at: u64,
    /// The opening that follows, or the call of a helper that opens.
    pub opened_at: u64,
    /// Instructions between the two, on the shortest path.
    pub between: u32,
}

/// The windows of a function, by the address of their opening.
pub(crate) fn windows(graph: &Graph) -> Vec<Window> {
    let openings = graph.instructions.iter().enumerate();
    let openings = openings.filter(|(_, instruction)| instruction.gate == Gate::Open);
    openings
        .map(|(index, instruction)| Window {
            opened_at: instruction.at.address,
            ..window(graph, index)
        })
        .collect()
}

fn window(graph: &Graph, opening: usize) -> Window {
    let (longest, loops) = longest(graph, opening);
    Window {
        opened_at: 0,
        shortest: shortest(graph, opening),
        longest: longest.filter(|_| !loops),
        loops,
    }
}

fn ends(graph: &Graph, index: usize) -> bool {
    let gate = graph.instructions.get(index).map(|i| i.gate);
    matches!(gate, Some(Gate::Close | Gate::Open | Gate::Unknown))
}

fn closes(graph: &Graph, index: usize) -> bool {
    graph.instructions.get(index).map(|i| i.gate) == Some(Gate::Close)
}

fn next(graph: &Graph, index: usize) -> impl Iterator<Item = usize> + '_ {
    let steps = graph.steps.get(index).into_iter().flatten();
    steps.filter(|step| !step.fault).map(|step| step.to)
}

fn shortest(graph: &Graph, opening: usize) -> Option<u32> {
    let mut seen = HashSet::default();
    let mut queue: VecDeque<(usize, u32)> = next(graph, opening).map(|to| (to, 0)).collect();
    while let Some((index, run)) = queue.pop_front() {
        if closes(graph, index) {
            return Some(run);
        }
        if !ends(graph, index) && seen.insert(index) {
            queue.extend(next(graph, index).map(|to| (to, run.saturating_add(1))));
        }
    }
    None
}

/// The longest path to a closing, and whether there is a loop on the way. A
/// depth-first walk without recursion: code may be hostile.
fn longest(graph: &Graph, opening: usize) -> (Option<u32>, bool) {
    let mut done: HashMap<usize, Option<u32>> = HashMap::default();
    let mut active = HashSet::default();
    let mut loops = false;
    let mut stack: Vec<(usize, bool)> = next(graph, opening).map(|to| (to, false)).collect();
    while let Some((index, left)) = stack.pop() {
        if left {
            active.remove(&index);
            done.insert(
                index,
                after(graph, index, &done).map(|run| run.saturating_add(1)),
            );
            continue;
        }
        if done.contains_key(&index) {
            continue;
        }
        if ends(graph, index) {
            done.insert(index, closes(graph, index).then_some(0));
            continue;
        }
        if !active.insert(index) {
            continue;
        }
        stack.push((index, true));
        for to in next(graph, index) {
            loops |= active.contains(&to);
            if !done.contains_key(&to) {
                stack.push((to, false));
            }
        }
    }
    (after(graph, opening, &done), loops)
}

fn after(graph: &Graph, index: usize, done: &HashMap<usize, Option<u32>>) -> Option<u32> {
    next(graph, index)
        .filter_map(|to| done.get(&to).copied().flatten())
        .max()
}

/// How far from a closing an opening is looked for, in instructions.
const REACH: u32 = 64;

/// The openings that follow a closing on a path forward without a call, a
/// return, or a jump back.
pub(crate) fn repeats(code: &Code<'_>, graph: &Graph) -> Vec<Repeat> {
    let crossings = Crossings::of(code, graph);
    let closings = (0..graph.instructions.len()).filter(|index| crossings.closes(graph, *index));
    let mut found: Vec<Repeat> = closings
        .filter_map(|index| repeat(code, graph, &crossings, index))
        .collect();
    // Several closings (exits of one window) may lead to one opening.
    found.sort_by_key(|repeat| (repeat.opened_at, repeat.between, repeat.closed_at));
    found.dedup_by_key(|repeat| repeat.opened_at);
    found
}

/// Calls of helpers that open, access and close.
struct Crossings {
    hidden: HashSet<usize>,
}

impl Crossings {
    fn of(code: &Code<'_>, graph: &Graph) -> Self {
        let all = graph.instructions.iter().enumerate();
        let hidden = all.filter(|(_, instruction)| is_hidden(code, instruction.flow));
        Self {
            hidden: hidden.map(|(index, _)| index).collect(),
        }
    }

    fn closes(&self, graph: &Graph, index: usize) -> bool {
        closes(graph, index) || self.hidden.contains(&index)
    }

    fn opens(&self, graph: &Graph, index: usize) -> bool {
        let gate = graph.instructions.get(index).map(|i| i.gate);
        gate == Some(Gate::Open) || self.hidden.contains(&index)
    }
}

/// Whether an instruction calls a helper that opens and closes by itself.
pub(crate) fn is_hidden(code: &Code<'_>, flow: Flow) -> bool {
    let (Flow::Call(to) | Flow::Jump(to)) = flow else {
        return false;
    };
    code.role(&to).hidden
}

fn repeat(code: &Code<'_>, graph: &Graph, crossings: &Crossings, from: usize) -> Option<Repeat> {
    let closed_at = graph.instructions.get(from)?.at.address;
    let mut seen = HashSet::default();
    let mut queue: VecDeque<(usize, u32)> = forward(graph, from).map(|to| (to, 0)).collect();
    while let Some((index, between)) = queue.pop_front() {
        let instruction = graph.instructions.get(index)?;
        if crossings.opens(graph, index) {
            let opened_at = instruction.at.address;
            return Some(Repeat {
                closed_at,
                opened_at,
                between,
            });
        }
        let stops = matches!(instruction.flow, Flow::Call(_) | Flow::IndirectCall);
        let stops = stops || ends(graph, index) || between >= REACH;
        let stops = stops || code.jumps.contains_key(&instruction.at);
        if !stops && seen.insert(index) {
            queue.extend(forward(graph, index).map(|to| (to, between + 1)));
        }
    }
    None
}

fn forward(graph: &Graph, index: usize) -> impl Iterator<Item = usize> + '_ {
    next(graph, index).filter(move |to| *to > index)
}
