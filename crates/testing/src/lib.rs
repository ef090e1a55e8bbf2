//! What the tests of all crates share. A dependency of tests alone.
//!
//! A test that does not run says so, and is counted: `make test` lists them all.
//! With `TOLLGATE_TEST_ALL=1` none may pass for something that this machine lacks.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot do its work fails"
)]

pub mod corpus;
pub mod deep;
pub mod draw;
pub mod kernel;
pub mod memory;
mod skip;

pub use skip::{asked, elsewhere, missing};
