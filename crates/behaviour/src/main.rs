//! `tollgate-behaviour FIRST LAST`: the functions of these seeds.

use std::io::{self, Write};
use std::process::ExitCode;
use tollgate_defect::answer;

use tollgate_behaviour::{Choices, RunError, SETUPS, Tally, function};

/// Functions in one program.
const BATCH: u64 = 100;

fn main() -> ExitCode {
    let numbers = std::env::args().skip(1).map(|word| answer::number(&word));
    let numbers: Option<Vec<u64>> = numbers.collect();
    let out = &mut io::stdout();
    let done = match numbers.as_deref() {
        Some([seed]) => show(*seed, out),
        Some([first, last]) => many(*first, *last, out),
        _ => return say("give a seed, or the first one and the one behind the last"),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => say(&error.to_string()),
    }
}

fn say(error: &str) -> ExitCode {
    match writeln!(io::stderr(), "{error}") {
        // A standard error that is closed leaves nobody to tell.
        Ok(()) | Err(_) => ExitCode::FAILURE,
    }
}

fn unwritten(error: io::Error) -> RunError {
    RunError::Effect {
        what: "standard output cannot be written",
        error,
    }
}

/// The function of a seed, and what each setup makes of it.
fn show(seed: u64, out: &mut impl Write) -> Result<(), RunError> {
    let text = function(&mut Choices::of_seed(seed));
    writeln!(out, "{text}").map_err(unwritten)?;
    for setup in SETUPS {
        let shown = match setup.rewritten(&text) {
            Ok(after) => writeln!(out, "--- {}\n{after}", setup.name),
            Err(refusal) => writeln!(out, "--- {}: {refusal}", setup.name),
        };
        shown.map_err(unwritten)?;
    }
    Ok(())
}

fn many(first: u64, last: u64, out: &mut impl Write) -> Result<(), RunError> {
    let mut tally = Tally::default();
    let folder = tempfile::tempdir().map_err(|error| RunError::Effect {
        what: "no temporary folder",
        error,
    })?;
    let mut from = first;
    while from < last {
        let upto = last.min(from + BATCH);
        let known = tally.wrong.len();
        let seeds = (from..upto).map(|seed| (format!("seed_{seed}"), Choices::of_seed(seed)));
        tally.add(folder.path(), seeds)?;
        for wrong in tally.wrong.iter().skip(known) {
            writeln!(out, "{wrong}").map_err(unwritten)?;
        }
        from = upto;
    }
    write!(out, "{tally}").map_err(unwritten)?;
    for setup in SETUPS {
        for (count, reason) in tally.reasons(setup.name) {
            let line = format!("{:18} {count:6} refused: {reason}", setup.name);
            writeln!(out, "{line}").map_err(unwritten)?;
        }
    }
    Ok(())
}
