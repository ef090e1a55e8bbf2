//! What the paths of the command line name: a tree, files of it, a list, standard input.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tollgate_lab::check::{self, Asked, File};
use tollgate_lab::input;
use tollgate_source::check::Checks;
use tollgate_source::{Name, is_c};

use crate::choice::Choice;
use crate::door::{Door, refuse_other};

/// What a result calls the text on standard input.
pub(crate) const STANDARD_INPUT: &str = "<stdin>";

/// What the rules say, and the files of which the user wants an answer.
pub(crate) struct Answer {
    /// What the rules say.
    pub(crate) checks: Checks,
    /// The files that were named one by one, as [`Checks`] calls them.
    pub(crate) named: HashSet<Name>,
}

/// Checks what the paths of the command line name; with `null` a NUL ends each name
/// of a list.
pub(crate) fn check(paths: &[PathBuf], null: bool, asked: Asked<'_>) -> anyhow::Result<Answer> {
    match paths {
        [] => folder(Path::new("."), asked),
        [only] if only == Path::new("-") => {
            anyhow::ensure!(
                asked.log.is_none(),
                "a log of a build names files of a tree: --compiler-log takes a tree or files, and no standard input"
            );
            standard_input()
        }
        [only] if only.is_dir() => folder(only, asked),
        [tree, rest @ ..] if tree.is_dir() => behind(&Door::of(tree)?, rest, null, asked),
        files => from_here(files, asked),
    }
}

fn folder(root: &Path, asked: Asked<'_>) -> anyhow::Result<Answer> {
    in_small_pages();
    Ok(Answer {
        checks: check::folder(root, asked)?,
        named: HashSet::new(),
    })
}

/// Has the system give the process small pages of memory: what one file needs is given back
/// for the next one, and of a large page 2 MiB are cleared for whatever is used of it.
fn in_small_pages() {
    // Where the system cannot, it takes longer and more memory, and the answer is the same.
    let _asked: rustix::io::Result<()> = rustix::thread::disable_transparent_huge_pages(true);
}

/// What is named behind a folder, or listed on standard input.
fn behind(door: &Door, rest: &[PathBuf], null: bool, asked: Asked<'_>) -> anyhow::Result<Answer> {
    let choice = match rest {
        [dash] if dash == Path::new("-") => Choice::of_input(door, null)?,
        rest => match Choice::named(door, rest)? {
            Some(choice) => choice,
            None => return folder(door.root(), asked),
        },
    };
    let named = choice.named.into_iter().map(Name::from).collect();
    Ok(Answer {
        checks: check::files_of(door.root(), choice.files, asked)?,
        named,
    })
}

/// Files and folders as they are named from the current folder.
fn from_here(given: &[PathBuf], asked: Asked<'_>) -> anyhow::Result<Answer> {
    let (mut files, mut named) = (Vec::new(), HashSet::new());
    for path in given {
        if path.is_dir() {
            files.extend(check::files_below(path)?);
            continue;
        }
        let name = Name::from(path.as_path());
        let text = is_source(path)?;
        anyhow::ensure!(
            text,
            "{name} is no C file: its name ends neither in .c nor in .h; - reads C source from standard input, and --patch FILE what a patch changes"
        );
        named.insert(name.clone());
        let place = path.clone();
        files.push(File { name, place });
    }
    let checks = check::files(Path::new(""), &files, asked)?;
    Ok(Answer { checks, named })
}

/// Whether a file that is named is to be read as C: by its name, or because it is
/// a stream that a shell hands over, which has none.
fn is_source(path: &Path) -> anyhow::Result<bool> {
    if input::is_stream(path) {
        return Ok(true);
    }
    refuse_other(path, path)?;
    Ok(is_c(Name::from(path).as_bytes()))
}

fn standard_input() -> anyhow::Result<Answer> {
    let text =
        input::limited(io::stdin()).context("the source on standard input could not be read")?;
    let name = Name::from(STANDARD_INPUT);
    let checks = check::text(&name, &text)?;
    let named = HashSet::from([name]);
    Ok(Answer { checks, named })
}
