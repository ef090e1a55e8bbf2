//! Samples to comparisons: exact counts, verdicts, behaviour differences.
//!
//! ```text
//! console + counts --BootResult::read--> BootResult (samples, points, skips, errors)
//! A, A again, B --Comparison::new--> Comparison (with a Verdict)
//! ```
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod behaviour;
mod boot;
mod claim;
mod commands;
mod compare;
mod comparison;
mod context;
mod executions;
pub mod fuzz;
mod layout;
mod measured;
mod net;
mod plan;
mod plot;
mod proof;
mod quantity;
pub mod ranks;
mod ratio;
mod results;
mod sample;
mod series;
mod setting;
mod text;
mod time;
mod verdict;

pub use behaviour::{Behaviour, PointDifference};
pub use boot::{BootError, BootResult};
pub use claim::{
    Claim, ClaimCheck, ClaimCounts, ClaimHere, ClaimOrder, ClaimRow, ClaimedFigures, FunctionGroup,
};
pub use commands::{Attached, Commands};
pub use compare::Booted;
pub use comparison::{
    Comparison, Figure, FunctionComparison, Note, Per, Repeat, RepeatDifference, Side, UnitCount,
    WorkloadComparison,
};
pub use context::Context;
pub use executions::{CountsError, CountsFault, Executed, Executions, Phase};
pub use layout::{Field, Layout, Part, Place, Shape, Spot};
pub use measured::{Measured, Repetitions};
pub use net::Net;
pub use plan::PlanError;
pub use plot::{Plot, PlotLine, PlotPoint};
pub use proof::{Compared, NotRun, Proof, Row, Tried};
pub use quantity::{Counts, Group, Quantity};
pub use ratio::Ratio;
pub use results::{ConsoleError, ConsoleFault, Outcome, Point, Repetition, Results, Skip};
pub use sample::{Sample, UNKNOWN_FUNCTION, Workload};
pub use series::{Peak, Series, SeriesChange, SeriesPoint, SeriesRow};
pub use setting::{Benchmark, Find, ImageName, Setting, Unit};
pub use time::{
    Against, Boots, BootsChange, BootsFinding, BootsNote, CONFIDENCE_PERCENT, Estimate,
    FALSE_ALARMS, FEW_BOOTS, Fact, Floor, FloorError, Host, MachineText, Missing, NetTime, Odd,
    Pace, PaceText, RESAMPLES, Rounds, SEED, TimeChange, TimeFinding, Timing, Timings, Unlike,
    When, middle_of_each, together,
};
pub use verdict::Verdict;
