//! The gates of a file, function by function.

use serde::Serialize;

use tollgate_defect::{Defect, OrDefect as _};

use crate::code::Code;
use crate::decode::{Gate, Instruction, Origin};
use crate::elf::Place;
use crate::error::ObjectError;
use crate::graph::{Body, Graph};
use crate::hash::HashSet;
use crate::helpers::learn;
use crate::input::Input;
use crate::rules::{Finding, Rule, walk};
use crate::symbols::{Function, is_cold};
use crate::windows::{Repeat, Window, is_hidden, repeats, windows};

/// The gates of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The machine, as the kernel's source names it: `x86`, `powerpc`.
    pub arch: String,
    /// Every function, by section and address.
    pub functions: Vec<FunctionGates>,
    /// What the kernel's table of replacements puts in place, counted from the
    /// table alone.
    pub patched: Counts,
    /// The same, counted in the code of the functions.
    pub patched_in_functions: Counts,
    /// Records of the kernel's tables that point to no place in the file.
    pub unread_records: usize,
}

/// The gates of a function and of its cold parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionGates {
    /// Its name.
    pub name: String,
    /// The section that it is in.
    pub section: String,
    /// Where it begins; in an object file, in its section.
    pub address: u64,
    /// Bytes of text.
    pub bytes: u64,
    /// Instructions in them, as the running kernel has them.
    pub instructions: usize,
    /// Its gates.
    pub counts: Counts,
    /// Instructions that run with the window open on some path.
    pub inside: usize,
    /// Its windows.
    pub windows: Vec<Window>,
    /// Openings that follow a closing with straight code between.
    pub repeats: Vec<Repeat>,
    /// The rules that it breaks.
    pub findings: Vec<Finding>,
    /// Whether some path could not be followed: what a gate does to it
    /// depends on a value that cannot be told from the code.
    pub lost: bool,
}

/// Numbers of instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// That open the gate.
    pub opens: usize,
    /// That close it.
    pub closes: usize,
    /// That open or close it, which of both cannot be told.
    pub unknown: usize,
    /// That hold back speculation.
    pub fences: usize,
    /// That call a helper which opens and closes by itself.
    pub hidden: usize,
    /// That reach for user memory.
    pub accesses: usize,
}

impl Counts {
    /// Writes of the gate in this code: without those of helpers.
    #[must_use]
    pub fn gates(&self) -> usize {
        self.opens + self.closes + self.unknown
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.opens += other.opens;
        self.closes += other.closes;
        self.unknown += other.unknown;
        self.fences += other.fences;
        self.hidden += other.hidden;
        self.accesses += other.accesses;
    }

    fn gate(&mut self, gate: Gate) {
        match gate {
            Gate::Open => self.opens += 1,
            Gate::Close => self.closes += 1,
            Gate::Unknown | Gate::Write { .. } => self.unknown += 1,
            Gate::Fence => self.fences += 1,
            Gate::No | Gate::Save | Gate::Restore | Gate::PushFlags | Gate::PopFlags => {}
            Gate::OpenKernel | Gate::CloseKernel | Gate::Downwards | Gate::Upwards => {}
            Gate::OthersFlags => {}
        }
    }
}

impl FunctionGates {
    /// Whether it has anything to do with user memory.
    #[must_use]
    pub fn crosses(&self) -> bool {
        self.counts.gates() + self.counts.hidden + self.counts.accesses > 0
    }

    /// The fewest instructions on a path through any of its windows.
    #[must_use]
    pub fn shortest(&self) -> Option<u32> {
        self.windows
            .iter()
            .filter_map(|window| window.shortest)
            .min()
    }

    /// The most; none where a window holds a loop.
    #[must_use]
    pub fn longest(&self) -> Option<u32> {
        let bounded = self.windows.iter().all(|window| !window.loops);
        let longest = self.windows.iter().filter_map(|window| window.longest);
        longest.max().filter(|_| bounded)
    }
}

/// Who hears how many functions are done, and of how many.
pub type Watch<'w> = dyn Fn(usize, usize) + 'w;

impl Analysis {
    /// Reads an ELF file of a kernel: an object, a module, a linked kernel.
    ///
    /// # Errors
    /// When it is no complete ELF file, of a machine without tables, without
    /// functions, larger than any kernel, or with tables that are laid out as
    /// in no kernel that is known.
    pub fn of<'data>(from: impl Into<Input<'data>>) -> Result<Self, ObjectError> {
        Self::watched(from, &|_, _| ())
    }

    /// The same; `watch` hears how many functions are done, and of how many.
    ///
    /// # Errors
    /// As of [`Analysis::of`].
    pub fn watched<'data>(
        from: impl Into<Input<'data>>,
        watch: &Watch<'_>,
    ) -> Result<Self, ObjectError> {
        Self::of_code(&mut Code::parse(from.into())?, watch)
    }

    pub(crate) fn of_code(code: &mut Code<'_>, watch: &Watch<'_>) -> Result<Self, ObjectError> {
        let found = with_helpers(code, watch)?;
        let mut patched = Counts::default();
        code.patched()
            .iter()
            .for_each(|instruction| patched.gate(instruction.gate));
        Ok(Self {
            arch: code.architecture.to_owned(),
            functions: found.functions.into_iter().map(|(_, f)| f).collect(),
            patched,
            patched_in_functions: found.patched,
            unread_records: code.unread,
        })
    }

    /// The sum over all functions.
    #[must_use]
    pub fn totals(&self) -> Counts {
        self.functions
            .iter()
            .fold(Counts::default(), |mut sum, function| {
                sum.add(&function.counts);
                sum
            })
    }

    /// How many rules are broken, in all functions.
    #[must_use]
    pub fn findings(&self) -> usize {
        self.functions
            .iter()
            .map(|function| function.findings.len())
            .sum()
    }
}

/// Every function of a file, with the helpers that are known by their callers: the
/// code knows them, too, then.
fn with_helpers(code: &mut Code<'_>, watch: &Watch<'_>) -> Result<Found, ObjectError> {
    let mut found = Found::of(code, watch)?;
    let learned = learn(code, &found.functions)?;
    for (at, gates) in &mut found.functions {
        if let Some(known) = learned.get(at) {
            *gates = known.clone();
        }
    }
    Ok(found)
}

/// Makes helpers of the gate known to the code.
///
/// # Errors
/// As of [`Analysis::of`].
pub(crate) fn learn_helpers(code: &mut Code<'_>) -> Result<(), ObjectError> {
    with_helpers(code, &|_, _| ()).map(drop)
}

#[derive(Default)]
struct Found {
    functions: Vec<(Place, FunctionGates)>,
    claimed: HashSet<Place>,
    seen: HashSet<Place>,
    patched: Counts,
    /// Code without a name that a function has been given.
    unnamed: HashSet<Place>,
    /// Bare labels, and what a fault leads to, that were followed as the ends of
    /// functions.
    followed: HashSet<Place>,
    /// All bare labels.
    labels: HashSet<Place>,
}

impl Found {
    /// Every function of a file, by itself.
    fn of(code: &Code<'_>, watch: &Watch<'_>) -> Result<Self, ObjectError> {
        code.refuse_much_twice()?;
        let mut found = Found::default();
        let (cold, warm): (Vec<_>, Vec<_>) = code.functions().partition(|(_, f)| is_cold(&f.name));
        // What a bare label names may be the end of a function.
        let (typed, labels): (Vec<_>, Vec<_>) = warm.into_iter().partition(|(_, f)| f.typed);
        let (first, all) = (typed.len() + labels.len(), code.functions().count());
        for (done, (at, function)) in typed.into_iter().chain(labels).enumerate() {
            watch(done, all);
            found.function(code, at, function)?;
        }
        for (done, (at, function)) in cold.into_iter().enumerate() {
            watch(first + done, all);
            // A part that nothing claimed is a function by itself.
            if !found.claimed.contains(&at) {
                found.function(code, at, function)?;
            }
        }
        found.leave_to_others();
        if found.functions.is_empty() {
            return Err(ObjectError::NoFunctions);
        }
        found.functions.sort_by_key(|(at, _)| *at);
        Ok(found)
    }

    fn function(&mut self, code: &Code<'_>, at: Place, function: &Function) -> Result<(), Defect> {
        let mut body = Body::of(code, at, function);
        self.take_unnamed(&mut body);
        let shared = body.tails.labels.clone();
        let cut = code.is_cut(at, function);
        self.claimed
            .extend(body.cold.iter().map(|(place, _)| *place));
        let all = body.instructions.iter().chain(&body.tails.instructions);
        for instruction in all.filter(|i| i.patched) {
            if self.seen.insert(instruction.at) {
                self.patched.gate(instruction.gate);
            }
        }
        let mut gates = gates(code, function, body)?;
        self.followed.extend(shared);
        if !function.typed {
            self.labels.insert(at);
        }
        if cut {
            // What is behind the cut was not seen.
            gates.findings.clear();
            gates.lost = true;
        }
        self.functions.push((at, gates));
        Ok(())
    }
}

impl Found {
    /// What was entered as those do that jump to it, or go on there after a fault,
    /// was judged there.
    fn leave_to_others(&mut self) {
        for (at, gates) in &mut self.functions {
            let followed = self.followed.contains(at);
            let label = self.labels.contains(at);
            let closed = |finding: &Finding| finding.rule == Rule::CloseNotOpen;
            gates
                .findings
                .retain(|finding| !followed || !label && !closed(finding));
        }
    }

    /// Code without a name is the first function's that runs it.
    fn take_unnamed(&mut self, body: &mut Body) {
        for instruction in &mut body.tails.instructions {
            let unnamed = instruction.origin == Origin::Unnamed;
            if unnamed && self.unnamed.insert(instruction.at) {
                instruction.origin = Origin::Own;
            }
        }
    }
}

pub(crate) fn gates(
    code: &Code<'_>,
    function: &Function,
    body: Body,
) -> Result<FunctionGates, Defect> {
    let cold: u64 = body.cold.iter().map(|(_, size)| size).sum();
    let section = code.image.section(body.at.section);
    let section = section.or_defect("a function stands in no section")?;
    let mut gates = FunctionGates {
        name: function.name.clone(),
        section: section.name.clone(),
        address: body.at.address,
        bytes: body
            .end
            .saturating_sub(body.at.address)
            .saturating_add(cold),
        instructions: body.own().count(),
        counts: counts(code, body.own()),
        inside: 0,
        windows: Vec::new(),
        repeats: Vec::new(),
        findings: Vec::new(),
        lost: false,
    };
    // Most functions have nothing to do with user memory.
    let shared = counts(code, body.tails.instructions.iter());
    let crosses = gates.crosses() || shared.gates() + shared.accesses > 0;
    let crosses = crosses || body.instructions.iter().any(crosses_elsewhere);
    if crosses || code.calls.is_allowed(&function.name) {
        follow(code, function, Graph::of(code, body), &mut gates);
    }
    Ok(gates)
}

/// Whether an instruction is of a gate that does not count as the function's, or
/// changes a flag of which there are rules, too.
fn crosses_elsewhere(instruction: &Instruction) -> bool {
    match instruction.gate {
        Gate::OpenKernel | Gate::CloseKernel | Gate::Downwards | Gate::Upwards => true,
        Gate::Open | Gate::Close => instruction.origin == Origin::Put,
        _ => false,
    }
}

/// Adds what only the paths tell.
fn follow(code: &Code<'_>, function: &Function, graph: Graph, gates: &mut FunctionGates) {
    let walked = walk(code, &graph, function);
    let inside = graph.instructions.iter().zip(&walked.open);
    let is_gate = |i: &Instruction| matches!(i.gate, Gate::Open | Gate::Close);
    let own = |i: &&Instruction| i.origin == Origin::Own;
    gates.counts = counts(code, graph.instructions.iter().filter(own));
    let inside = inside.filter(|(i, open)| **open && !is_gate(i) && own(i));
    gates.inside = inside.count();
    gates.windows = windows(&graph);
    gates.repeats = repeats(code, &graph);
    gates.findings = walked.findings;
    gates.lost = walked.lost;
}

fn counts<'a>(code: &Code<'_>, instructions: impl Iterator<Item = &'a Instruction>) -> Counts {
    let mut counts = Counts::default();
    for instruction in instructions {
        counts.gate(instruction.gate);
        counts.hidden += usize::from(is_hidden(code, instruction.flow));
        counts.accesses += usize::from(code.faults.user.contains(&instruction.at));
    }
    counts
}
