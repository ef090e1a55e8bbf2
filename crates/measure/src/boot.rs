//! One boot of one image: what the guest and the plugin wrote, joined.

use std::collections::BTreeMap;
use tollgate_defect::answer;

use tollgate_gates::{Opcodes, Symbols};

use crate::executions::{CountsError, Executions, Phase};
use crate::layout::Layout;
use crate::measured::Measured;
use crate::plan::{self, PlanError};
use crate::quantity::Counts;
use crate::results::{ConsoleError, Point, Repetition, Results, Skip};
use crate::sample::{Sample, UNKNOWN_FUNCTION, Workload, guest_suffix};

/// What one boot of an image gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BootResult {
    /// The counted repetitions, in the order in which they ran.
    pub samples: Vec<Sample>,
    /// The points of the behaviour sweeps.
    pub points: Vec<Point>,
    /// What they show of memory.
    pub layouts: Vec<Layout>,
    /// What the guest could not run.
    pub skips: Vec<Skip>,
    /// What went wrong in the guest, in its words.
    pub errors: Vec<String>,
    /// Phases that were counted and never reported: those of benchmarks that
    /// failed. Only ever above 0 when `errors` is not empty.
    pub unreported: usize,
    /// Boots of the same image whose counts were others: where an image is booted until
    /// two boots agree, what is here is what those two gave.
    pub differing: usize,
}

/// Console and counts that cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootError {
    /// The console cannot be used.
    #[error(transparent)]
    Console(#[from] ConsoleError),
    /// The counts cannot be used.
    #[error(transparent)]
    Counts(#[from] CountsError),
    /// What the guest reports is not what it was asked for.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Counts of another architecture than the opcode table's.
    #[error("the plugin counted on {counted}, and the opcode table is {table}'s")]
    Target {
        /// What the plugin says.
        counted: String,
        /// What the table is for.
        table: String,
    },
    /// A repetition that has no counts.
    #[error(
        "the guest reports phase {phase} ({workload}), and the plugin counted {counted} phases: \
         console and counts are not of one run, or a marker was missed"
    )]
    NotCounted {
        /// The phase.
        phase: u64,
        /// What the guest says it was.
        workload: String,
        /// How many phases the plugin has.
        counted: usize,
    },
    /// Counts that no repetition claims, though nothing failed.
    #[error(
        "the plugin counted {counted} phases, and the guest reports {reported} of them and no error: \
         console and counts are not of one run, or a line was lost"
    )]
    NotReported {
        /// How many phases the plugin has.
        counted: usize,
        /// How many of them the guest names.
        reported: usize,
    },
}

impl BootResult {
    /// Reads and joins the guest's console and the plugin's counts of one boot.
    ///
    /// # Errors
    /// When either cannot be used, or they do not tell of the same phases.
    pub fn read(
        console: &[u8],
        counts: &[u8],
        opcodes: &Opcodes,
        symbols: &Symbols,
    ) -> Result<Self, BootError> {
        Self::join(
            Results::parse(console)?,
            &Executions::parse(counts)?,
            opcodes,
            symbols,
        )
    }

    /// The same of a guest that had a plan: each of its jobs is there as it was asked
    /// for, or the guest says why not.
    ///
    /// # Errors
    /// As of [`BootResult::read`], and when a job is not.
    pub fn of_plan(
        plan: &str,
        console: &[u8],
        counts: &[u8],
        opcodes: &Opcodes,
        symbols: &Symbols,
    ) -> Result<Self, BootError> {
        let results = Results::parse(console)?;
        let kept = plan::check(plan, &results);
        let joined = Self::join(results, &Executions::parse(counts)?, opcodes, symbols)?;
        kept?;
        Ok(joined)
    }

    /// Joins results and executions by phase number; attributes every kernel
    /// instruction to a function and a meaning.
    ///
    /// # Errors
    /// When they do not tell of the same phases or architecture.
    pub fn join(
        results: Results,
        executions: &Executions,
        opcodes: &Opcodes,
        symbols: &Symbols,
    ) -> Result<Self, BootError> {
        if executions.target != opcodes.target() {
            let (counted, table) = (executions.target.clone(), opcodes.target().to_owned());
            return Err(BootError::Target { counted, table });
        }
        let counted = executions.phases.len();
        let sample = |(number, repetition): (&u64, &Repetition)| {
            let phase = answer::fits::<usize, _>(*number);
            let phase = phase.and_then(|number| executions.phases.get(number));
            let phase = phase.ok_or_else(|| not_counted(*number, repetition, counted))?;
            Ok(sample(repetition, phase, opcodes, symbols))
        };
        let samples = results
            .repetitions
            .iter()
            .map(sample)
            .collect::<Result<Vec<_>, BootError>>()?;
        let unreported = counted - samples.len();
        if unreported > 0 && results.errors.is_empty() {
            return Err(BootError::NotReported {
                counted,
                reported: samples.len(),
            });
        }
        let Results {
            points,
            layouts,
            skips,
            errors,
            ..
        } = results;
        Ok(Self {
            samples,
            points,
            layouts,
            skips,
            errors,
            unreported,
            differing: 0,
        })
    }
}

impl BootResult {
    /// The same as the run of a guest of that ABI and CPU: every name in it
    /// says so. None is the standard one.
    #[must_use]
    pub fn of_guest(mut self, abi: Option<&str>, cpu: Option<&str>) -> Self {
        let suffix = guest_suffix(abi, cpu);
        for sample in &mut self.samples {
            sample.workload.abi = abi.map(str::to_owned);
            sample.workload.cpu = cpu.map(str::to_owned);
        }
        let sweeps = self.points.iter_mut().map(|point| &mut point.sweep);
        let layouts = self.layouts.iter_mut().map(|layout| &mut layout.sweep);
        let jobs = self.skips.iter_mut().map(|skip| &mut skip.job);
        let names = sweeps.chain(layouts).chain(jobs);
        names.for_each(|name| name.push_str(&suffix));
        if !suffix.is_empty() {
            let named = |text: &String| format!("{}: {text}", suffix.trim_start());
            self.errors = self.errors.iter().map(named).collect();
        }
        self
    }

    /// Whether each workload's repetitions share one count. Otherwise something else than
    /// the workload had a part in it: a timer, which a busy host may let end late.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let mut all: BTreeMap<&Workload, Vec<&Sample>> = BTreeMap::new();
        for sample in &self.samples {
            all.entry(&sample.workload).or_default().push(sample);
        }
        let mut measured = all.into_values().filter_map(Measured::of);
        measured.all(|own| own.repetitions.exact())
    }

    /// Adds what another boot of the same image gave.
    pub fn add(&mut self, other: Self) {
        self.samples.extend(other.samples);
        self.points.extend(other.points);
        self.layouts.extend(other.layouts);
        self.skips.extend(other.skips);
        self.errors.extend(other.errors);
        self.unreported += other.unreported;
        self.differing += other.differing;
    }
}

fn not_counted(phase: u64, repetition: &Repetition, counted: usize) -> BootError {
    BootError::NotCounted {
        phase,
        workload: repetition.workload.to_string(),
        counted,
    }
}

fn sample(repetition: &Repetition, phase: &Phase, opcodes: &Opcodes, symbols: &Symbols) -> Sample {
    let mut functions: BTreeMap<&str, Counts> = BTreeMap::new();
    for executed in &phase.kernel {
        let function = symbols
            .function_at(executed.address)
            .unwrap_or(UNKNOWN_FUNCTION);
        *functions.entry(function).or_default() +=
            Counts::of(opcodes.meaning(&executed.bytes), executed.count);
    }
    Sample {
        workload: repetition.workload.clone(),
        repetition: repetition.number,
        operations: repetition.operations,
        user: phase.user,
        kernel: functions.values().copied().sum(),
        functions: functions
            .into_iter()
            .map(|(name, counts)| (name.to_owned(), counts))
            .collect(),
        system_calls: system_calls(phase, opcodes, symbols),
        tallies: repetition.tallies.clone(),
    }
}

/// How often the function of each system call was entered: its first instruction
/// was executed.
fn system_calls(phase: &Phase, opcodes: &Opcodes, symbols: &Symbols) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for executed in &phase.kernel {
        let entered = symbols.function_starting_at(executed.address);
        if let Some(name) = entered.and_then(|function| opcodes.system_call(function)) {
            *calls.entry(name.to_owned()).or_default() += executed.count;
        }
    }
    calls
}

#[cfg(test)]
mod tests;
