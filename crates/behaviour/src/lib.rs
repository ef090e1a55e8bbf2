//! What tests of rewriting stand on: functions made from a seed, rewritten in
//! every style, compiled and run in user space with a fault at every byte, before
//! against after.
//!
//! Nothing of tollgate itself uses this crate: its effects (a compiler, a program)
//! are those of a test.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod accesses;
mod choices;
mod forms;
mod function;
pub mod fuzz;
mod program;
mod run;
mod setups;
mod tally;

pub use choices::Choices;
pub use function::function;
pub use program::{Subject, TYPES};
pub use run::{Compared, Found, RunError, compare};
pub use setups::{SETUPS, Setup};
pub use tally::{Row, Tally, Wrong};
