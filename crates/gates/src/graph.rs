//! The control-flow graph of one function.

use std::collections::BTreeSet;

use tollgate_defect::answer;

use crate::code::Code;
use crate::decode::{Flow, Gate, Instruction, Origin};
use crate::elf::{Choice, Place};
use crate::padding::trim_padding;
use crate::settle::settle_writes;
use crate::symbols::Function;
use crate::tails::{Tails, tails};

/// A function's instructions, those of its cold parts among them, and where
/// each goes on.
pub(crate) struct Graph {
    /// Sorted by place.
    pub(crate) instructions: Vec<Instruction>,
    /// Where each goes on, by index.
    pub(crate) steps: Vec<Vec<Step>>,
    /// How each leaves the function, when it does.
    pub(crate) exits: Vec<Option<Leave>>,
    /// Where it is entered.
    pub(crate) entry: usize,
    /// Jumps through a register whose table could not be read.
    pub(crate) guessed: Vec<usize>,
    /// Whether there are more of those, and more blocks that they may go to,
    /// than can be followed.
    pub(crate) tangled: bool,
    /// A feature in both of whose states there are gates that the other lacks.
    pub(crate) split: Option<u64>,
    /// Whether every access to user memory must stand in a window, as far as
    /// the kind of its gate tells.
    pub(crate) needs: bool,
}

/// Ways from unread switches that are followed: far more than code that a
/// compiler wrote has, and no more than memory holds.
const MOST_STEPS: usize = 1 << 20;

/// A way from an instruction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Index of where it goes.
    pub(crate) to: usize,
    /// Taken when the instruction faults: it has not run.
    pub(crate) fault: bool,
    /// Taken where something else stands in its place: it has not run either.
    pub(crate) instead: bool,
    /// Taken only where the CPU is so.
    pub(crate) choice: Option<Choice>,
}

impl Step {
    fn to(to: usize) -> Self {
        Self {
            to,
            fault: false,
            instead: false,
            choice: None,
        }
    }

    fn when(self, choice: Option<Choice>) -> Self {
        Self { choice, ..self }
    }
}

/// How control leaves a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// It returns.
    Return,
    /// It jumps to another function, which returns in its place.
    Jump,
    /// It jumps through a register.
    IndirectJump,
    /// It runs off its end.
    End,
}

/// A function's instructions before anything is known of its paths.
pub(crate) struct Body {
    /// Where the function begins.
    pub(crate) at: Place,
    /// Where it ends.
    pub(crate) end: u64,
    /// Sorted by place.
    pub(crate) instructions: Vec<Instruction>,
    /// The cold parts that belong to it, and their sizes in bytes.
    pub(crate) cold: Vec<(Place, u64)>,
    /// What it shares with others.
    pub(crate) tails: Tails,
}

impl Body {
    /// The body of `function`, which begins at `at`.
    pub(crate) fn of(code: &Code<'_>, at: Place, function: &Function) -> Self {
        let end = code.end_of(at, function);
        let mut instructions = code.instructions(at, end);
        let end = trim_padding(code, function, &mut instructions, end);
        // Where names have no sizes, the last function of a file seems to hold them.
        instructions.retain(|instruction| !code.is_replacement(instruction.at));
        instructions.extend(code.detours(&instructions));
        let cold = cold_parts(code, function, &instructions);
        for (place, size) in &cold {
            let end = place.address.saturating_add(*size);
            let part = code.instructions(*place, end);
            instructions.extend(code.detours(&part));
            instructions.extend(part);
        }
        instructions.sort_by_key(|instruction| instruction.at);
        instructions.dedup_by_key(|instruction| instruction.at);
        let tails = tails(code, &instructions);
        Self {
            at,
            end,
            instructions,
            cold,
            tails,
        }
    }
}

impl Body {
    /// The instructions that count as the function's.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Instruction> {
        let all = self.instructions.iter().chain(&self.tails.instructions);
        all.filter(|instruction| instruction.origin == Origin::Own)
    }
}

impl Graph {
    /// The graph of a function, whose body is given.
    pub(crate) fn of(code: &Code<'_>, body: Body) -> Self {
        let Body {
            at,
            end,
            mut instructions,
            cold,
            tails,
        } = body;
        instructions.extend(tails.instructions);
        instructions.sort_by_key(|instruction| instruction.at);
        let mut ends = vec![Place { address: end, ..at }];
        ends.extend(cold.iter().map(|(place, size)| Place {
            address: place.address.saturating_add(*size),
            ..*place
        }));
        ends.extend(tails.ends);
        let mut graph = Self {
            steps: vec![Vec::new(); instructions.len()],
            exits: vec![None; instructions.len()],
            entry: instructions.partition_point(|instruction| instruction.at < at),
            instructions,
            guessed: Vec::new(),
            tangled: false,
            split: None,
            needs: false,
        };
        graph.connect(code, &ends);
        graph.pin();
        settle_writes(&mut graph, code.layout);
        graph
    }

    /// Where the function begins.
    pub(crate) fn start(&self) -> Option<Place> {
        Some(self.instructions.get(self.entry)?.at)
    }

    /// The index of the instruction at a place.
    pub(crate) fn find(&self, place: Place) -> Option<usize> {
        let found = self.instructions.binary_search_by_key(&place, |i| i.at);
        answer::found(found)
    }

    fn connect(&mut self, code: &Code<'_>, ends: &[Place]) {
        let mut indirect = Vec::new();
        let tables = self.tables();
        for index in 0..self.instructions.len() {
            let Some(instruction) = self.instructions.get(index).copied() else {
                continue;
            };
            let mut steps: Vec<Step> = Vec::new();
            let mut leave = self.way(code, ends, index, &instruction, &mut steps);
            if let Flow::Switch(table) = instruction.flow {
                let cases = self.cases(code, &tables, table);
                // What points out of the function is no table of its cases.
                leave = cases.is_empty().then_some(Leave::IndirectJump);
                steps.extend(cases);
            }
            if leave == Some(Leave::IndirectJump) {
                indirect.push(index);
            }
            steps.extend(self.detours(code, instruction.at));
            let fixup = code.faults.fixup.get(&instruction.at);
            let fixup = fixup.and_then(|place| self.find(*place));
            steps.extend(fixup.map(|to| Step {
                fault: true,
                ..Step::to(to)
            }));
            self.set(index, steps, leave);
        }
        if !indirect.is_empty() {
            self.drop_padding(code);
        }
        self.connect_switches(&indirect, code.layout.finds_tables);
    }

    /// Where what may stand in place of an instruction begins: what is empty goes
    /// on behind.
    fn detours(&self, code: &Code<'_>, at: Place) -> Vec<Step> {
        let starts = code.detours.at(at).iter().map(|detour| {
            let first = detour.instructions.first();
            first.map_or(detour.back, |first| first.at)
        });
        let starts = starts.filter_map(|place| self.inner(place));
        let instead = |step| Step {
            instead: true,
            ..step
        };
        starts.map(instead).collect()
    }

    /// Nothing runs through what fills a gap: it leads nowhere.
    fn drop_padding(&mut self, code: &Code<'_>) {
        let mut ways = vec![0_usize; self.instructions.len()];
        for step in self.steps.iter().flatten() {
            if let Some(ways) = ways.get_mut(step.to) {
                *ways += 1;
            }
        }
        for (index, instruction) in self.instructions.iter().enumerate() {
            let gap = instruction.padding && !code.jumps.contains_key(&instruction.at);
            if !gap || index == self.entry || ways.get(index) != Some(&0) {
                continue;
            }
            let steps = self.steps.get_mut(index).map(std::mem::take);
            for step in steps.into_iter().flatten() {
                if let Some(ways) = ways.get_mut(step.to) {
                    *ways = ways.saturating_sub(1);
                }
            }
        }
    }

    fn set(&mut self, index: usize, steps: Vec<Step>, leave: Option<Leave>) {
        if let (Some(all), Some(exit)) = (self.steps.get_mut(index), self.exits.get_mut(index)) {
            (*all, *exit) = (steps, leave);
        }
    }

    /// Adds where an instruction goes on, and tells how it leaves.
    fn way(
        &self,
        code: &Code<'_>,
        ends: &[Place],
        index: usize,
        instruction: &Instruction,
        steps: &mut Vec<Step>,
    ) -> Option<Leave> {
        let switched = code.jumps.get(&instruction.at);
        let jumped = switched.and_then(|switched| switched.jumped);
        let targets = switched.into_iter().flat_map(|switched| &switched.targets);
        let targets = targets.filter_map(|to| self.inner(*to));
        steps.extend(targets.map(|step| step.when(jumped)));
        // What a feature switches off is not there on every CPU.
        let mut goes_on = switched.is_some() || code.is_optional(instruction.at);
        let mut leave = None;
        match instruction.flow {
            Flow::Next | Flow::IndirectCall => goes_on = true,
            Flow::Call(to) => goes_on |= !code.role(&to).noreturn,
            Flow::ReturnIf => (goes_on, leave) = (true, Some(Leave::Return)),
            Flow::Return => leave = Some(Leave::Return),
            Flow::IndirectJump => leave = Some(Leave::IndirectJump),
            Flow::Branch(to) | Flow::Jump(to) => {
                goes_on |= matches!(instruction.flow, Flow::Branch(_));
                match to.place.and_then(|place| self.inner(place)) {
                    Some(step) => steps.push(step.when(jumped)),
                    // The test that is replaced at boot comes back.
                    None if switched.is_some() => {}
                    None => leave = Some(Leave::Jump),
                }
            }
            Flow::Stop | Flow::Bug | Flow::Switch(_) => {}
        }
        if let Some(back) = code.detours.back(instruction.at) {
            let next = self.inner(back).filter(|_| goes_on);
            steps.extend(next);
            return leave;
        }
        let next = self.instructions.get(index + 1);
        // A replacement ends with its last instruction.
        let put = instruction.origin == Origin::Put;
        let end = ends
            .iter()
            .filter(|end| end.section == instruction.at.section);
        let end = end.filter(|end| end.address > instruction.at.address);
        let end = end.min().copied();
        match next.filter(|next| put || end.is_some_and(|end| next.at < end)) {
            Some(_) if goes_on => {
                let otherwise = jumped.map(Choice::otherwise);
                steps.push(Step::to(index + 1).when(otherwise));
            }
            None if goes_on => leave = leave.or(Some(Leave::End)),
            _ => {}
        }
        leave
    }

    /// The tables of the function's switches, in order.
    fn tables(&self) -> Vec<Place> {
        let table = |instruction: &Instruction| match instruction.flow {
            Flow::Switch(table) => Some(table),
            _ => None,
        };
        let mut tables: Vec<_> = self.instructions.iter().filter_map(table).collect();
        tables.sort();
        tables
    }

    /// Where a table's entries lead: as far as they stay in the function, and
    /// to where another table of it begins.
    fn cases(&self, code: &Code<'_>, tables: &[Place], table: Place) -> Vec<Step> {
        let later = tables.get(tables.partition_point(|other| *other <= table)..);
        let next = later.and_then(<[Place]>::first);
        let next = next.filter(|other| other.section == table.section);
        let end = next.map(|place| place.address);
        let inner = |places: Vec<Place>| -> Vec<Step> {
            let places = places.into_iter();
            let cases = places.map_while(|place| self.inner(place));
            // The function itself is no case: another table begins there.
            cases.take_while(|step| step.to != self.entry).collect()
        };
        let mut steps = inner(code.image.cases(table, end));
        if steps.is_empty() {
            steps = inner(code.image.distant_cases(table, end));
        }
        steps.sort_by_key(|step| step.to);
        steps.dedup();
        steps
    }

    /// Leaves out the ways of a CPU without the gate: of the two states of a
    /// feature that one is followed in which more writes of the gate are
    /// reached. Where neither holds the other's, both are.
    fn pin(&mut self) {
        let choices = self.steps.iter().flatten().filter_map(|step| step.choice);
        let features: BTreeSet<u64> = choices.map(|choice| choice.feature).collect();
        for feature in features {
            let [off, on] = [false, true].map(|on| self.gates_where(Choice { feature, on }));
            if off == on {
                continue;
            }
            let kept = match (on.is_superset(&off), off.is_superset(&on)) {
                (true, _) => Choice { feature, on: true },
                (_, true) => Choice { feature, on: false },
                _ => {
                    self.split = self.split.or(Some(feature));
                    continue;
                }
            };
            for steps in &mut self.steps {
                steps.retain(|step| step.choice != Some(kept.otherwise()));
            }
        }
    }

    /// The gates that are reached on a CPU that is so.
    fn gates_where(&self, choice: Choice) -> BTreeSet<usize> {
        let mut seen = vec![false; self.instructions.len()];
        let mut work = vec![self.entry];
        let mut gates = BTreeSet::new();
        while let Some(index) = work.pop() {
            match seen.get_mut(index) {
                Some(seen) if !*seen => *seen = true,
                _ => continue,
            }
            let gate = self.instructions.get(index).map(|i| i.gate);
            if matches!(gate, Some(Gate::Open | Gate::Close | Gate::Write { .. })) {
                gates.insert(index);
            }
            let steps = self.steps.get(index).into_iter().flatten();
            let steps = steps.filter(|step| step.choice != Some(choice.otherwise()));
            work.extend(steps.map(|step| step.to));
        }
        gates
    }

    fn leaves(&self, index: usize) -> bool {
        let exit = self.exits.get(index).copied().flatten();
        exit.is_some()
    }

    fn inner(&self, place: Place) -> Option<Step> {
        self.find(place).map(Step::to)
    }

    /// A jump through a register goes to the cases of a `switch`: to the
    /// blocks that nothing else leads to. Where there is none it is a call
    /// that returns to the caller.
    ///
    /// Where tables are found, it leaves with the window open and goes to those
    /// blocks with it closed: they are looked at, and nothing is taken for a case.
    fn connect_switches(&mut self, indirect: &[usize], finds_tables: bool) {
        if indirect.is_empty() {
            return;
        }
        let reached: BTreeSet<usize> = self.steps.iter().flatten().map(|step| step.to).collect();
        let cases: Vec<usize> = (0..self.instructions.len())
            .filter(|index| *index != self.entry && !reached.contains(index))
            .filter(|index| {
                self.steps
                    .get(*index)
                    .is_some_and(|steps| !steps.is_empty())
                    || self.leaves(*index)
            })
            .collect();
        if cases.is_empty() {
            return;
        }
        if !finds_tables {
            self.guessed = indirect.to_vec();
        }
        self.tangled = indirect.len().saturating_mul(cases.len()) > MOST_STEPS;
        if self.tangled {
            return;
        }
        for index in indirect {
            let steps = cases.iter().map(|to| Step::to(*to)).collect();
            self.set(*index, steps, finds_tables.then_some(Leave::IndirectJump));
        }
    }
}

/// Wherever an instruction may lead besides to the next one.
fn ways(code: &Code<'_>, instruction: &Instruction) -> Vec<Place> {
    let mut all = match instruction.flow {
        Flow::Jump(to) | Flow::Branch(to) => to.place.into_iter().collect(),
        Flow::Switch(table) => {
            let distant = code.image.distant_cases(table, None).into_iter();
            distant.chain(code.image.cases(table, None)).collect()
        }
        _ => Vec::new(),
    };
    all.extend(code.faults.fixup.get(&instruction.at));
    let switched = code.jumps.get(&instruction.at);
    all.extend(switched.into_iter().flat_map(|switched| &switched.targets));
    all
}

/// The cold parts that the instructions of `function` lead to: by jumps, those of
/// static branches and replacements among them, after a fault, by a table of cases.
fn cold_parts(code: &Code<'_>, function: &Function, own: &[Instruction]) -> Vec<(Place, u64)> {
    let wanted = format!("{}.cold", function.name);
    let part = |place: Place, instruction: &Instruction| {
        if (function.start..function.end).contains(&place.address)
            && place.section == instruction.at.section
        {
            return None;
        }
        let part = code.function_at(place)?;
        let start = Place {
            address: part.start,
            ..place
        };
        let size = part.end.saturating_sub(part.start);
        part.name.starts_with(&wanted).then_some((start, size))
    };
    let parts = own.iter().flat_map(|instruction| {
        let ways = ways(code, instruction).into_iter();
        ways.filter_map(move |place| part(place, instruction))
    });
    let mut parts: Vec<_> = parts.collect();
    parts.sort();
    parts.dedup();
    parts
}
