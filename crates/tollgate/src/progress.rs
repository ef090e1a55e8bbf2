//! The steps of a long command: a spinner while one runs, on a terminal; a
//! line with its time when it has ended, everywhere.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tollgate_lab::progress::Progress;

use crate::term::Term;

/// Columns of a step's name and of what came of it.
const NAME: usize = 34;
const HOW: usize = 34;

/// Draws the steps on standard error.
pub(crate) struct Steps<'a> {
    term: &'a Term,
    bar: RefCell<Option<ProgressBar>>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(term: &'a Term) -> Self {
        Self {
            term,
            bar: RefCell::new(None),
        }
    }

    /// Runs one step and says how long it took; `how` words its result.
    ///
    /// # Errors
    /// The step's own.
    pub(crate) fn step<T, E>(
        &self,
        what: &str,
        work: impl FnOnce() -> Result<T, E>,
        how: impl FnOnce(&T) -> String,
    ) -> Result<T, E> {
        let start = Instant::now();
        self.begin(what);
        let done = work();
        self.clear();
        let done = done?;
        self.end(what, &how(&done), start.elapsed());
        Ok(done)
    }

    fn clear(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Steps<'_> {
    fn begin(&self, what: &str) {
        self.clear();
        if !self.term.progress() {
            return;
        }
        let bar = ProgressBar::new_spinner().with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}  {prefix}") {
            bar.set_style(match self.term.utf8() {
                true => style,
                false => style.tick_chars("|/-\\ "),
            });
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        self.bar.replace(Some(bar));
    }

    fn advance(&self, done: u64) {
        if let Some(bar) = &*self.bar.borrow() {
            bar.set_prefix(format!("{done} objects compiled"));
        }
    }

    fn end(&self, what: &str, how: &str, took: Duration) {
        self.clear();
        self.term.note(&format!(
            "{what:NAME$} {how:HOW$} {:>6.1} s",
            took.as_secs_f64()
        ));
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
