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

impl Exit {
    /// The exit of a verdict's code.
    ///
    /// # Errors
    /// For 2, with the sentence that nothing could be told.
    pub(crate) fn from_code(code: u8) -> anyhow::Result<Self> {
        match code {
            0 => Ok(Self::Clean),
            1 => Ok(Self::Findings),
            _ => anyhow::bail!("no verdict; the report above says why"),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => ExitCode::from(0),
            Exit::Findings => ExitCode::from(1),
        }
    }
}

/// 2: could not tell; the code of the signal where one asked to stop. A reader
/// that went away (`| head`) is no error.
pub(crate) fn report(term: &Term, error: &anyhow::Error, stopped: Option<u8>) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::from(0);
    }
    term.error(&sentence(error));
    ExitCode::from(stopped.unwrap_or(2))
}

/// The error and its causes, each said once: many name their cause themselves.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
