//! Body of the fuzz target in `fuzz/`: what must hold for any bytes. The ordinary
//! tests run it over `fuzz/corpus`.

use std::path::Path;

use crate::choices::Choices;
use crate::run::RunError;
use crate::tally::Tally;

/// The bytes of one function; a program holds as many as the bytes are for.
const FUNCTION: usize = 256;
/// Functions in one program, at most.
const MOST: usize = 32;

/// Whatever functions the bytes stand for, each that is rewritten does what it
/// did. The program is built in `folder`.
///
/// # Errors
/// When the program could not be made or run, or a rewriting is wrong.
pub fn rewritings(folder: &Path, bytes: &[u8]) -> Result<Tally, RunError> {
    let parts = bytes.chunks(FUNCTION).take(MOST).enumerate();
    let parts = parts.map(|(at, part)| (format!("part_{at}"), Choices::of_bytes(part)));
    let mut tally = Tally::default();
    tally.add(folder, parts)?;
    let wrong: Vec<String> = tally.wrong.iter().map(ToString::to_string).collect();
    if wrong.is_empty() {
        Ok(tally)
    } else {
        Err(RunError::Wrong(wrong.join("\n")))
    }
}
