//! `tollgate-behaviour FIRST LAST`: the functions of these seeds.

use std::io::{self, Write};
use std::process::ExitCode;
use tollgate_defect::answer;

use tollgate_behaviour::{Choices, RunError, SETUPS, Tally, function};

/// Functions in one program.
const BATCH: u64 = 100;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|word| answer::number(&word))
        .collect();
    let out = &mut io::stdout();
    let done = match numbers.as_slice() {
        [seed] => show(*seed, out),
        [first, last] => many(*first, *last, out),
        _ => Ok(()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// The function of a seed, and what each setup makes of it.
fn show(seed: u64, out: &mut impl Write) -> Result<(), RunError> {
    let text = function(&mut Choices::of_seed(seed));
    let _ = writeln!(out, "{text}");
    for setup in SETUPS {
        let _ = match setup.rewritten(&text) {
            Ok(after) => writeln!(out, "--- {}\n{after}", setup.name),
            Err(refusal) => writeln!(out, "--- {}: {refusal}", setup.name),
        };
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
            let _ = writeln!(out, "{wrong}");
        }
        from = upto;
    }
    let _ = write!(out, "{tally}");
    for setup in SETUPS {
        for (count, reason) in tally.reasons(setup.name) {
            let _ = writeln!(out, "{:18} {count:6} refused: {reason}", setup.name);
        }
    }
    Ok(())
}
