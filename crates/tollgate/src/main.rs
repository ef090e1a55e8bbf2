//! The command line of tollgate: flags, wiring, exit codes. What there is to
//! know about the boundary is in the library crates.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod ascii;
mod candidates;
mod check;
mod choice;
mod cluster;
mod cmd;
mod compare;
mod compile;
mod date;
mod detached;
mod doctor;
mod door;
mod exit;
mod figures;
mod fix;
mod folders;
mod gates;
mod given;
mod init;
mod macros;
mod output;
mod patch;
mod place;
mod profile;
mod progress;
mod prove;
mod robot;
mod run;
mod scan;
mod settings;
mod signals;
mod stored;
mod term;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use tollgate_defect::answer;

use settings::Refused;
use term::{ColorChoice, Term};

/// Trees and graphs of functions are many small pieces that live for one file: with the C library's
/// allocator `check` of Linux 7.3 took 6 % more processor time (two cores, four rounds in
/// alternation), and 33 MiB less memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().collect();
    let (cli, settings) = match settings::parse::<cmd::Cli>(&words, &|name| env::var_os(name)) {
        Ok(parsed) => parsed,
        Err(Refused::Usage(said)) => return usage(&said),
        Err(Refused::Setting(error)) => {
            return exit::report(&Term::new(ColorChoice::Auto, false), &error, None);
        }
    };
    let term = Term::new(cli.global.color, cli.global.quiet);
    let ended = signals::listen(term).and_then(|()| cli.command.run(&settings, &term));
    damaged(&term);
    match (ended, signals::exit_code()) {
        (Ok(exit), _) => exit.into(),
        (Err(error), stopped) => exit::report(&term, &error, stopped),
    }
}

/// Names what of the cache was not as it was written. It is not used, whatever came of
/// the command.
fn damaged(term: &Term) {
    for path in tollgate_lab::damage::taken() {
        term.note(&format!(
            "{} did not hold what was written there, and was not used",
            tollgate_source::shown(&path)
        ));
    }
}

/// Help on standard output; on standard error what is wrong with the flags.
fn usage(said: &clap::Error) -> ExitCode {
    let term = Term::new(ColorChoice::Auto, false);
    let shown = term.usage(&said.render(), said.use_stderr());
    match (shown, said.exit_code()) {
        (Err(error), 0) => exit::report(&term, &error.into(), None),
        (_, code) => ExitCode::from(answer::fits::<u8, _>(code).unwrap_or(2)),
    }
}
