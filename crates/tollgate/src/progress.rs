//! The steps of a long command: a spinner while one runs, on a terminal; a
//! line with its time when it has ended, everywhere.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tollgate_defect::answer;
use tollgate_lab::progress::{Count, Progress};
use tollgate_lab::slurm::Told;

use crate::term::Term;

/// Columns of a step's name and of what came of it.
const NAME: usize = 34;
const HOW: usize = 34;

/// Work that ends sooner is not worth a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// How far one long piece of work is, on a terminal, once it has taken two seconds.
pub(crate) struct Meter {
    bar: ProgressBar,
}

impl Meter {
    /// Of `total` things, where it is known how many there are.
    pub(crate) fn new(term: &Term, what: &str, things: &str, total: Option<usize>) -> Self {
        let bar = match total {
            Some(total) => {
                ProgressBar::with_draw_target(answer::fits(total), ProgressDrawTarget::hidden())
            }
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        let meter = Self { bar };
        if term.progress() {
            let done = match (total, things) {
                (_, "") => "",
                (Some(_), _) => "  {pos} of {len} ",
                (None, _) => "  {pos} ",
            };
            let form = format!("{{spinner}} {{msg}}{done}{things}  {{elapsed}}");
            meter.bar.set_message(what.to_owned());
            style(&meter.bar, &form, term);
            meter.show_later();
        }
        meter
    }

    /// Of work that says nothing until it is done.
    pub(crate) fn of(term: &Term, what: &str) -> Self {
        Self::new(term, what, "", None)
    }

    /// So many more are done.
    pub(crate) fn advance(&self, done: usize) {
        self.bar.inc(answer::fits(done).unwrap_or(u64::MAX));
    }

    /// So many are done, of so many.
    pub(crate) fn reach(&self, done: usize, of: usize) {
        self.bar.set_length(answer::fits(of).unwrap_or(u64::MAX));
        self.bar
            .set_position(answer::fits(done).unwrap_or(u64::MAX));
    }

    fn show_later(&self) {
        let bar = self.bar.downgrade();
        // It wakes once, and finds nothing where the work has ended.
        std::thread::spawn(move || {
            std::thread::sleep(PATIENCE);
            if let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(TICK);
            }
        });
    }
}

impl Count for Meter {
    fn expect(&self, more: usize) {
        self.bar.inc_length(answer::fits(more).unwrap_or(u64::MAX));
    }

    fn advance(&self, done: usize) {
        Self::advance(self, done);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(200);

fn style(bar: &ProgressBar, form: &str, term: &Term) {
    if let Ok(style) = ProgressStyle::with_template(form) {
        bar.set_style(match term.utf8() {
            true => style,
            false => style.tick_chars("|/-\\ "),
        });
    }
}

/// Draws the steps on standard error.
pub(crate) struct Steps<'a> {
    term: &'a Term,
    bar: Bar,
}

/// The spinner of the step that runs.
type Bar = Arc<Mutex<Option<ProgressBar>>>;

/// A thread that panicked has left nothing half-done behind it.
fn locked(bar: &Bar) -> MutexGuard<'_, Option<ProgressBar>> {
    bar.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a queue says, beside the step that waits for it.
struct Teller {
    term: Term,
    bar: Bar,
}

impl Told for Teller {
    fn event(&self, words: &str) {
        let bar = locked(&self.bar).clone();
        match bar {
            Some(bar) => bar.suspend(|| self.term.note(words)),
            None => self.term.note(words),
        }
    }

    fn line(&self, words: &str) {
        if let Some(bar) = &*locked(&self.bar) {
            bar.set_prefix(words.to_owned());
        }
    }
}

impl<'a> Steps<'a> {
    pub(crate) fn new(term: &'a Term) -> Self {
        Self {
            term,
            bar: Bar::default(),
        }
    }

    /// Who says what a queue does.
    pub(crate) fn teller(&self) -> Arc<dyn Told> {
        Arc::new(Teller {
            term: *self.term,
            bar: Arc::clone(&self.bar),
        })
    }

    /// What they are drawn on.
    pub(crate) fn term(&self) -> &'a Term {
        self.term
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

    /// How far the step is that runs, where it is known how far it goes.
    pub(crate) fn count(&self, done: usize, of: usize, things: &str) {
        if let Some(bar) = &*locked(&self.bar) {
            bar.set_prefix(format!("{done} of {of} {things}"));
        }
    }

    fn clear(&self) {
        if let Some(bar) = locked(&self.bar).take() {
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
        style(&bar, "{spinner} {msg}  {elapsed}  {prefix}", self.term);
        bar.enable_steady_tick(TICK);
        locked(&self.bar).replace(bar);
    }

    fn advance(&self, done: u64, of: Option<u64>) {
        if let Some(bar) = &*locked(&self.bar) {
            bar.set_prefix(compiled(done, of));
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

/// How far a build is; an estimate that was passed is none.
fn compiled(done: u64, of: Option<u64>) -> String {
    match of.filter(|of| done <= *of) {
        Some(of) => format!("{done} of about {of} objects compiled"),
        None => format!("{done} objects compiled"),
    }
}

impl Drop for Steps<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_said_until_it_is_passed() {
        assert_eq!(compiled(7, Some(948)), "7 of about 948 objects compiled");
        assert_eq!(compiled(949, Some(948)), "949 objects compiled");
        assert_eq!(compiled(2, None), "2 objects compiled");
    }
}
