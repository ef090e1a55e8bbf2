//! Exit codes, and the last words of a command that could not tell.

use std::process::ExitCode;

use crate::term::Term;

/// How a command ended. The codes are the same for every command, so that a
/// script can tell "there is something" from "nobody knows".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: clean, or within budget.
    Clean,
    /// 1: findings, a regression or a difference.
    Findings,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => ExitCode::from(0),
            Exit::Findings => ExitCode::from(1),
        }
    }
}

/// 2: could not tell. A reader that went away (`| head`) is no error.
pub(crate) fn report(term: &Term, error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::from(0);
    }
    term.error(&format!("{error:#}"));
    ExitCode::from(2)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
