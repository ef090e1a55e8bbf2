//! The guest as an ordinary program on this machine: no virtual machine, no
//! privilege, a plan in, a console out.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::boot::{CONSOLE, contains, in_job};
use crate::cache;
use crate::console::{last_words, unfinished};
use crate::process::{self, Runner};

/// Why a guest that was run here left no results.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be started, or the user asked to stop.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// It ran too long.
    #[error("the round did not end within {} s and was stopped{}; where it needs more time, give it: --timeout SECONDS", .limit.as_secs(), in_job(.job.as_deref()))]
    Hung {
        /// How long it might take.
        limit: Duration,
        /// The job that had begun and did not end, where one had.
        job: Option<String>,
    },
    /// Its plan could not be written.
    #[error(transparent)]
    Plan(#[from] cache::Error),
    /// It ended before its work was done.
    #[error("the benchmarks' program ended before its work was done{} ({status}); it said last:\n{last}", in_job(.job.as_deref()))]
    Died {
        /// The job that had begun and did not end, where one had.
        job: Option<String>,
        /// How it ended.
        status: ExitStatus,
        /// Its last lines.
        last: String,
    },
}

impl Error {
    /// Why this machine runs no such program at all, where that may be it: a
    /// kernel without the ABI (ENOEXEC, execve(2)), or one that starts the
    /// program and knows none of its system calls.
    #[must_use]
    pub fn foreign(&self) -> Option<String> {
        match self {
            Self::Process(process::Error::Start { source, .. }) => {
                Some(format!("could not start one: {source}"))
            }
            Self::Died { status, .. } => Some(format!("one ended at once ({status})")),
            _ => None,
        }
    }
}

/// A guest to be run here.
#[derive(Clone, Copy, Debug)]
pub struct Native<'a> {
    /// The compiled guest.
    pub guest: &'a Path,
    /// The CPU that it and all that it starts stay on; none leaves that to the
    /// scheduler.
    pub cpu: Option<usize>,
    /// How long it may take.
    pub limit: Duration,
}

impl Native<'_> {
    /// Runs a plan in `folder` and gives back what the guest printed.
    ///
    /// # Errors
    /// When it cannot be started, runs too long, or ends before its work was
    /// done. What it reports as failed is no error here.
    pub fn run(&self, plan: &str, folder: &Path, runner: &Runner) -> Result<Vec<u8>, Error> {
        cache::write_file(&folder.join("plan"), plan.as_bytes())?;
        let console = folder.join("console.txt");
        let mut command = Command::new(self.guest);
        command.current_dir(folder).args(["--plan", "plan"]);
        if let Some(cpu) = self.cpu {
            command.args(["--cpu", &cpu.to_string()]);
        }
        let limit = Some(self.limit);
        let ended = runner.logged_up_to(CONSOLE, &mut command, &console, limit, &mut |_| {});
        let text = || cache::read_file(&console);
        let status = match ended {
            Err(process::Error::TimedOut { limit, .. }) => {
                let job = unfinished(plan, &text()?);
                return Err(Error::Hung { limit, job });
            }
            other => other?,
        };
        let text = text()?;
        if contains(&text, b"@tg done") {
            return Ok(text);
        }
        Err(Error::Died {
            job: unfinished(plan, &text),
            status,
            last: last_words(&text),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn what_the_machine_does_not_run_is_told_from_what_hung() {
        let start = Error::Process(process::Error::Start {
            program: "guest".to_owned(),
            source: std::io::Error::other("Exec format error"),
        });
        let why = start.foreign().unwrap();
        assert_eq!(why, "could not start one: Exec format error");
        let died = Error::Died {
            job: None,
            status: ExitStatus::from_raw(31),
            last: String::new(),
        };
        let why = died.foreign().unwrap();
        assert!(why.starts_with("one ended at once (signal: 31"), "{why}");
        let hung = Error::Hung {
            limit: Duration::from_secs(1),
            job: None,
        };
        assert_eq!(hung.foreign(), None);
    }
}
