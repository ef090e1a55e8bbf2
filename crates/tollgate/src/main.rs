//! The command line of tollgate: flags, wiring, exit codes. What there is to
//! know about the boundary is in the library crates.

mod check;
mod cmd;
mod compile;
mod exit;
mod figures;
mod folders;
mod macros;
mod patch;
mod progress;
mod prove;
mod run;
mod scanner;
mod term;
mod tree;
mod walk;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cmd::Cli::parse();
    let term = term::Term::new(cli.global.color, cli.global.quiet);
    match cli.command.run(&term) {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&term, &error),
    }
}
