//! What was asked of a run, as plain data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tollgate_measure::Floor;

use crate::output::Output;
use crate::prove::request::Param;

/// Everything that the command line says of a run.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The benchmarks, families of them, or `all`.
    pub(crate) benchmarks: Vec<String>,
    /// Values of their parameters.
    pub(crate) param: Vec<Param>,
    /// Repetitions of each benchmark.
    pub(crate) reps: u32,
    /// Repetitions before each that do not count; at least 1.
    pub(crate) warmup: u32,
    /// Operations in a repetition, where they were named.
    pub(crate) ops: Option<u64>,
    /// The ABIs; the machine's own where none is named.
    pub(crate) abi: Vec<String>,
    /// The CPU; the last one where none is named.
    pub(crate) cpu: Option<Cpu>,
    /// How many processes at once, beside one.
    pub(crate) parallel: Vec<usize>,
    /// An earlier run.
    pub(crate) against: Option<PathBuf>,
    /// How far an interval must lie away from it.
    pub(crate) floor: Floor,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
    /// The cache.
    pub(crate) cache: Option<PathBuf>,
    /// The compiler.
    pub(crate) cc: String,
    /// How long one round may take.
    pub(crate) timeout: Duration,
    /// A program of the user's and its arguments; empty where there is none.
    pub(crate) program: Vec<OsString>,
}

/// Where benchmarks run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cpu {
    /// Where the scheduler wants.
    Any,
    /// On this one.
    Number(usize),
}
