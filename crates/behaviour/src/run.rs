//! Compiles programs and runs them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, io};
use tollgate_defect::answer;

use crate::program::{Subject, program};

/// The program could not be made or run, through no fault of a rewriting.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file or a process.
    #[error("{what}: {error}")]
    Effect {
        /// What was tried.
        what: &'static str,
        /// Why it did not work.
        error: io::Error,
    },
    /// A generated function, or the model, is no C.
    #[error("the program does not compile: {0}")]
    Program(String),
    /// Rewritings that do something else than their originals.
    #[error("{0}")]
    Wrong(String),
    /// The program ended before it had compared everything.
    #[error("the program ended early: {0}")]
    Ended(String),
}

/// What was found of one rewriting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// How often both versions ran on the same memory.
    pub runs: u64,
    /// In how many of them the original met a fault.
    pub faulted: u64,
    /// What is wrong with the rewriting.
    pub wrong: Option<String>,
}

/// What was found of each rewriting, by the names of the subject and the setup.
pub type Found = BTreeMap<(String, String), Compared>;

/// Compiles all subjects into one program in `folder`, and runs it. A rewriting
/// that the compiler refuses, or warns about where it did not warn about the
/// original, is wrong.
///
/// # Errors
/// When the compiler cannot be run, or says that an original is no C.
pub fn compare(folder: &Path, subjects: &[Subject]) -> Result<Found, RunError> {
    let mut found = Found::new();
    let mut left_out = Vec::new();
    loop {
        let output = compile(folder, &program(subjects, &left_out))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let wrong = complaints(subjects, &said, &mut found);
        if output.status.success() {
            break;
        }
        let new: Vec<String> = wrong
            .into_iter()
            .filter(|name| !left_out.contains(name))
            .collect();
        if new.is_empty() {
            return Err(RunError::Program(said));
        }
        left_out.extend(new);
    }
    let output = effect(
        "the program could not be run",
        Command::new(folder.join("program")).output(),
    )?;
    results(&output, &mut found)?;
    Ok(found)
}

fn effect<T>(what: &'static str, result: io::Result<T>) -> Result<T, RunError> {
    result.map_err(|error| RunError::Effect { what, error })
}

fn compile(folder: &Path, text: &str) -> Result<Output, RunError> {
    let file = folder.join("program.c");
    effect("the program could not be written", fs::write(&file, text))?;
    let output = Command::new("gcc")
        .args([
            "-std=gnu11",
            "-O0",
            "-fno-strict-aliasing",
            "-ftrivial-auto-var-init=pattern",
        ])
        .args([
            "-Wall",
            "-Wdeclaration-after-statement",
            "-Wno-unused-function",
            "-Wno-uninitialized",
        ])
        .args([
            "-Wno-maybe-uninitialized",
            "-fno-diagnostics-show-caret",
            "-fdiagnostics-color=never",
            "-o",
        ])
        .args([&folder.join("program"), &file])
        .output();
    effect("gcc could not be run", output)
}

/// Notes what the compiler says of rewritings; the names of those that it
/// refuses.
fn complaints(subjects: &[Subject], said: &str, found: &mut Found) -> Vec<String> {
    let mut refused = Vec::new();
    for subject in subjects {
        let own = kinds(said, &subject.name);
        for (setup, _) in &subject.rewritten {
            let name = crate::program::version_name(&subject.name, setup);
            let new: Vec<String> = kinds(said, &name)
                .into_iter()
                .filter(|line| !own.contains(line))
                .collect();
            if new.iter().any(|line| line.contains("error:")) {
                refused.push(name);
            }
            if let Some(first) = new.first() {
                let key = (subject.name.clone(), setup.name.to_owned());
                found.entry(key).or_default().wrong = Some(format!("the compiler says: {first}"));
            }
        }
    }
    refused
}

/// What the compiler says of a file, without the places.
fn kinds(said: &str, name: &str) -> Vec<String> {
    let own = said
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let places = |line: &str| {
        line.find(|c: char| c.is_alphabetic())
            .map(|at| line.split_at(at).1.to_owned())
    };
    let kinds = own
        .filter_map(places)
        .filter(|line| line.starts_with("error:") || line.starts_with("warning:"));
    kinds.collect()
}

/// Reads what the program has said.
fn results(output: &Output, found: &mut Found) -> Result<(), RunError> {
    let said = String::from_utf8_lossy(&output.stdout);
    for line in said.lines() {
        let mut words = line.splitn(4, ' ');
        let (Some(kind), Some(subject), Some(setup), Some(rest)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let entry = found
            .entry((subject.to_owned(), setup.to_owned()))
            .or_default();
        match kind {
            "differs" => entry.wrong = Some(rest.to_owned()),
            _ => {
                let numbers: Vec<u64> = rest.split(' ').filter_map(answer::number).collect();
                entry.runs = numbers.first().copied().unwrap_or_default();
                entry.faulted = numbers.get(1).copied().unwrap_or_default();
            }
        }
    }
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(RunError::Ended(format!("{} {said}", output.status)))
}
