//! `check --patch`: what the words name, and what is said beside the findings.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tollgate_lab::cache::Cache;
use tollgate_lab::check::{self, Note};
use tollgate_lab::patch::{Applied, Patch};
use tollgate_lab::process::Runner;
use tollgate_lab::tree::Change;
use tollgate_lab::{git, input};
use tollgate_source::check::{Checks, Confidence, Severity};
use tollgate_source::shown;

use super::input::{Answer, STANDARD_INPUT};
use crate::patch::note_superseded;
use crate::signals;
use crate::term::Term;

/// What a change adds to what the rules say.
pub(crate) fn check(
    paths: &[PathBuf],
    change: &OsStr,
    log: Option<&[u8]>,
    term: &Term,
) -> anyhow::Result<Answer> {
    let root = match paths {
        [] => Path::new("."),
        [tree] if tree.is_dir() => tree,
        _ => bail!("--patch takes the kernel tree that the change is for, and no files"),
    };
    let runner = Runner::new(signals::interrupt().clone(), None);
    let words = change.to_str();
    let asked = words.map(|words| git::asked(words, root, &runner));
    let note = |note: Note| term.note(&said(&note));
    let checks = match asked.transpose()?.flatten() {
        Some((repository, asked)) => check::range(&repository, &asked, log, &note)?,
        None => patch(root, Path::new(change), &runner, log, (term, &note))?,
    };
    Ok(Answer {
        checks,
        named: HashSet::new(),
    })
}

fn patch(
    root: &Path,
    file: &Path,
    runner: &Runner,
    log: Option<&[u8]>,
    (term, note): (&Term, &dyn Fn(Note)),
) -> anyhow::Result<Checks> {
    let scratch = tempfile::tempdir().context("no scratch folder could be made for the patch")?;
    let (mut path, mut called) = (file.to_owned(), file);
    if file == Path::new("-") {
        called = Path::new(STANDARD_INPUT);
        let text =
            input::limited(io::stdin()).context("the patch on standard input could not be read")?;
        path = scratch.path().join("stdin.patch");
        std::fs::write(&path, text).context("the patch could not be put aside")?;
    }
    let cache = Cache::open(&scratch.path().join("cache"))?;
    let mut patch = Patch::read(&path, &cache, runner)?;
    patch.path = called.to_owned();
    note_superseded(&patch.superseded, term);
    Ok(check::patch(root, &patch, &cache, runner, log, note)?)
}

pub(super) fn said(note: &Note) -> String {
    match note {
        Note::Outside {
            files,
            range,
            folder,
        } => format!(
            "not checked: {} that {range} changes outside {}",
            count(*files),
            shown(folder)
        ),
        Note::NoC { what, others } => {
            let words = match others {
                0 => "it changes nothing".to_owned(),
                others => format!("it changes {} of other kinds", count(*others)),
            };
            format!("{what} touches no C file ({words}): nothing was checked")
        }
        Note::LaidOver(base) => {
            format!("laid over {base}, which the patch says it was made for")
        }
        Note::DoesNotFit(error) => format!(
            "laid over the tree as it is, since it does not fit what it says it was made for: {error}"
        ),
        Note::Remembered { again, of } => format!(
            "looked at {again} of {of} files: the others are as they were when they were last checked (--fresh looks at all)"
        ),
        Note::NotRemembered(error) => {
            format!("what is said of the tree is not remembered: {error}")
        }
    }
}

fn count(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        _ => format!("{files} files"),
    }
}

/// What a change adds between two states of a tree that is worth a warning, each given
/// by what makes it of the tree as it is.
pub(crate) fn between(
    root: &Path,
    before: &Change,
    after: &Change,
    applied: Applied,
) -> anyhow::Result<Checks> {
    let mut checks = check::between(root, before, after, &applied)?;
    checks.keep(Severity::Warning, Confidence::Medium, &[]);
    Ok(checks)
}
