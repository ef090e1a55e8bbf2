//! Conditions that a function asks more than once: a path on which one answer is
//! yes and the other no is none.
//!
//! A condition is a comparison whose operands nothing changes between two branches
//! on it, or a feature of the CPU that decides over replacements.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::decode::{Comparison, Effect, Flow, Gate, Memory};
use crate::graph::{Graph, Step};
use crate::hash::HashMap;

/// Conditions that are followed in a function.
const MOST: usize = 16;

/// What is known of conditions on a path: two bits each, whether it is known and
/// whether it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Known(u32);

/// An answer: which condition, and whether it holds.
type Answer = (usize, bool);

/// The conditions of a function.
#[derive(Default)]
pub(crate) struct Conditions {
    /// What it means that a way is taken, by where it begins and goes.
    answers: HashMap<(usize, usize, bool), Vec<Answer>>,
    /// What an instruction ends: a bit for each condition.
    ends: HashMap<usize, u32>,
}

/// What a condition is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Subject {
    Compared { text: String, asked: u8 },
    Feature(u16),
}

/// A subject's comparison, and the ways that tell of it.
#[derive(Default)]
struct Asked {
    comparison: Option<Comparison>,
    ways: Vec<((usize, usize, bool), bool)>,
    /// The places that ask.
    places: usize,
}

impl Asked {
    /// How far the nearest gate is, in instructions, from where it is asked: those
    /// that decide over a gate stand near it.
    fn distance(&self, gates: &[usize]) -> usize {
        let from = |at: usize| {
            let after = gates.partition_point(|gate| *gate < at);
            let near = after.saturating_sub(1)..(after + 1).min(gates.len());
            let near = gates.get(near).unwrap_or_default().iter();
            near.map(|gate| gate.abs_diff(at)).min()
        };
        let all = self.ways.iter().filter_map(|((at, ..), _)| from(*at));
        all.min().unwrap_or(usize::MAX)
    }
}

/// Where gates are, in order.
fn gates(graph: &Graph) -> Vec<usize> {
    let all = graph.instructions.iter().enumerate();
    let gates = all.filter(|(_, i)| matches!(i.gate, Gate::Open | Gate::Close));
    gates.map(|(index, _)| index).collect()
}

impl Known {
    /// With an answer more; none where it is the contrary of what is known.
    fn with(self, (number, holds): Answer) -> Option<Self> {
        let bits = self.0 >> (number * 2) & 3;
        let now = 1 | u32::from(holds) << 1;
        match bits & 1 == 1 && bits != now {
            true => None,
            false => Some(Self(self.0 | now << (number * 2))),
        }
    }

    fn without(self, ends: u32) -> Self {
        let gone = (0..MOST).filter(|number| ends >> number & 1 == 1);
        Self(gone.fold(self.0, |known, number| known & !(3 << (number * 2))))
    }
}

impl Conditions {
    /// Those of a function that are asked at two places or more.
    pub(crate) fn of(code: &Code<'_>, graph: &Graph) -> Self {
        let mut subjects: BTreeMap<Subject, Asked> = BTreeMap::new();
        let entered = entered(graph);
        for index in 0..graph.instructions.len() {
            branch(code, graph, &entered, index, &mut subjects);
            features(code, graph, index, &mut subjects);
        }
        let all = subjects.into_values().filter(|asked| asked.places > 1);
        let mut all: Vec<Asked> = all.collect();
        let gates = gates(graph);
        all.sort_by_key(|asked| asked.distance(&gates));
        all.truncate(MOST);
        let mut conditions = Self::default();
        for (number, asked) in all.iter().enumerate() {
            for (way, holds) in &asked.ways {
                let answers = conditions.answers.entry(*way).or_default();
                answers.push((number, *holds));
            }
        }
        conditions.end(code, graph, &all);
        conditions
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// What is known after an instruction.
    pub(crate) fn after(&self, index: usize, known: Known) -> Known {
        let ends = self.ends.get(&index).copied().unwrap_or(0);
        known.without(ends)
    }

    /// What is known on a way; none where it cannot be taken. After a fault
    /// nothing is: what handles it writes registers.
    pub(crate) fn on(&self, index: usize, step: &Step, known: Known) -> Option<Known> {
        if step.fault {
            return Some(Known::default());
        }
        let answers = self.answers.get(&(index, step.to, step.instead));
        let mut answers = answers.into_iter().flatten();
        answers.try_fold(known, |known, answer| known.with(*answer))
    }

    fn end(&mut self, code: &Code<'_>, graph: &Graph, all: &[Asked]) {
        let compared = |asked: &Asked| asked.comparison.is_some();
        if !all.iter().any(compared) {
            return;
        }
        let effects: Vec<Option<Effect>> = (0..graph.instructions.len())
            .map(|index| effect(code, graph, index))
            .collect();
        let escapes = effects.iter().flatten().any(|effect| effect.escapes);
        for (index, effect) in effects.iter().enumerate() {
            let ended = |(number, asked): (usize, &Asked)| {
                let ends = asked.comparison.as_ref().is_some_and(|comparison| {
                    effect.is_none_or(|effect| ends(comparison, effect, escapes))
                });
                u32::from(ends) << number
            };
            let ends = all.iter().enumerate().map(ended);
            let ends = ends.fold(0, |mask, bit| mask | bit);
            if ends != 0 {
                self.ends.insert(index, ends);
            }
        }
    }
}

fn ends(comparison: &Comparison, effect: Effect, escapes: bool) -> bool {
    comparison.registers & effect.registers != 0 || comparison.memory.meets(effect.memory, escapes)
}

/// What an instruction changes; none where it may be anything.
fn effect(code: &Code<'_>, graph: &Graph, index: usize) -> Option<Effect> {
    let instruction = graph.instructions.get(index)?;
    let bytes = code.bytes(instruction)?;
    let mut effect = code.decoder.effect(bytes)?;
    if matches!(instruction.flow, Flow::Call(_) | Flow::IndirectCall) {
        effect.registers = code.layout.call_clobbers;
        effect.memory = Memory::Any;
    }
    Some(effect)
}

/// Whether an instruction is entered from elsewhere than the one before it.
fn entered(graph: &Graph) -> Vec<bool> {
    let mut entered = vec![false; graph.instructions.len()];
    for (index, steps) in graph.steps.iter().enumerate() {
        for step in steps.iter().filter(|step| step.to != index + 1) {
            if let Some(entered) = entered.get_mut(step.to) {
                *entered = true;
            }
        }
    }
    entered
}

/// Adds what a branch asks.
fn branch(
    code: &Code<'_>,
    graph: &Graph,
    entered: &[bool],
    index: usize,
    subjects: &mut BTreeMap<Subject, Asked>,
) {
    let Some((asked, taken, comparison)) = question(code, graph, entered, index) else {
        return;
    };
    let text = comparison.text.clone();
    let subject = subjects
        .entry(Subject::Compared { text, asked })
        .or_default();
    subject.comparison = Some(comparison);
    subject.places += 1;
    for step in graph.steps.get(index).into_iter().flatten() {
        let jumped = step.to != index + 1;
        let way = (index, step.to, step.instead);
        subject
            .ways
            .push((way, if jumped { taken } else { !taken }));
    }
}

/// What a branch asks, which answer it jumps on, and the comparison before it.
fn question(
    code: &Code<'_>,
    graph: &Graph,
    entered: &[bool],
    index: usize,
) -> Option<(u8, bool, Comparison)> {
    let instruction = graph.instructions.get(index)?;
    if !matches!(instruction.flow, Flow::Branch(_)) {
        return None;
    }
    let (asked, taken) = code.decoder.asked(code.bytes(instruction)?)?;
    let mut at = index;
    loop {
        if entered.get(at).copied().unwrap_or(true) {
            return None;
        }
        at = at.checked_sub(1)?;
        let before = graph.instructions.get(at)?;
        if !matches!(before.flow, Flow::Next) {
            return None;
        }
        let bytes = code.bytes(before)?;
        if let Some(comparison) = code.comparison(before.at, bytes) {
            return Some((asked, taken, comparison));
        }
        // What stands between may leave the flags alone.
        let effect = code.decoder.effect(bytes)?;
        if effect.flags || effect.registers != 0 {
            return None;
        }
    }
}

/// Adds what the replacements of a place tell: of several the kernel applies the
/// later over the earlier.
fn features(code: &Code<'_>, graph: &Graph, index: usize, subjects: &mut BTreeMap<Subject, Asked>) {
    let Some(instruction) = graph.instructions.get(index) else {
        return;
    };
    let detours = code.detours.at(instruction.at);
    let ways = graph.steps.get(index).into_iter().flatten();
    for step in ways {
        let way = (index, step.to, step.instead);
        let taken = detours.iter().position(|detour| {
            let first = detour.instructions.first();
            let start = first.map_or(detour.back, |first| first.at);
            step.instead && graph.find(start) == Some(step.to)
        });
        let later = taken.map_or(0, |taken| taken);
        for (number, detour) in detours.iter().enumerate().skip(later) {
            let subject = subjects
                .entry(Subject::Feature(detour.feature))
                .or_default();
            let applied = taken == Some(number);
            subject.ways.push((way, applied != detour.inverted));
        }
    }
    for detour in detours {
        let subject = subjects
            .entry(Subject::Feature(detour.feature))
            .or_default();
        subject.places += 1;
    }
}
