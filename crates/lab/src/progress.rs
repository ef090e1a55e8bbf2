//! How far the lab is: said to whoever listens, drawn by nobody here.

use std::time::Duration;

/// Hears what the lab does. All calls come from one thread.
pub trait Progress {
    /// A step begins: a few words, `build kernel B (window)`.
    fn begin(&self, what: &str);
    /// Within the step, so many things are done (objects compiled), of about so many
    /// where that is known.
    fn advance(&self, done: u64, of: Option<u64>);
    /// The step has ended; `how` says in a few words what came of it.
    fn end(&self, what: &str, how: &str, took: Duration);
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _what: &str) {}
    fn advance(&self, _done: u64, _of: Option<u64>) {}
    fn end(&self, _what: &str, _how: &str, _took: Duration) {}
}

/// Hears how many of many things are done, from any thread.
pub trait Count: Sync {
    /// So many more are to be done.
    fn expect(&self, more: usize);
    /// So many are done.
    fn advance(&self, done: usize);
}

impl Count for Silent {
    fn expect(&self, _more: usize) {}
    fn advance(&self, _done: usize) {}
}
