//! A series of patches as states of the tree: a mailbox laid over the tree patch
//! by patch, or the commits of a range in the tree's own history. The tree is only
//! read; nothing is checked out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tollgate_source::{TreePath, shown};

use crate::cache::Cache;
use crate::git::{self, Difference, Range, Repository};
use crate::patch::{self, Part, Parts, Patch};
use crate::process::Runner;
use crate::tree::{Change, Manifest, Tree};

/// Why there are no states.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The mailbox cannot be used.
    #[error(transparent)]
    Patch(#[from] patch::Error),
    /// A patch of a mailbox does not apply.
    #[error("patch {number}{}: {source}", quoted(.title))]
    Part {
        /// Its number, from 1.
        number: usize,
        /// Its subject.
        title: String,
        /// What git said.
        source: Box<patch::Error>,
    },
    /// A range without two states.
    #[error("the range {range} holds {what} in {}", shown(.tree))]
    Empty {
        /// What was asked for.
        range: String,
        /// The tree.
        tree: PathBuf,
        /// What it holds instead.
        what: String,
    },
    /// git does not know something of the range.
    #[error(transparent)]
    Git(#[from] git::Error),
}

/// A title behind what has it; nothing for none.
fn quoted(title: &str) -> String {
    match title {
        "" => String::new(),
        title => format!(", \"{title}\""),
    }
}

/// One state of the tree in a series.
#[derive(Clone, Debug)]
pub struct State {
    /// How many patches of the series it has.
    pub number: usize,
    /// The subject of the last of them.
    pub title: String,
    /// What makes it of the tree as it is.
    pub change: Change,
    /// The files that they touch.
    pub touched: BTreeSet<TreePath>,
    /// The last of them as a diff; where states before it were left out, their patches
    /// before it, in order. Empty for the first.
    pub diff: Vec<u8>,
}

/// The states whose numbers are wanted, each with the patches of those before it that are
/// left out.
pub fn chosen(states: Vec<State>, wanted: impl Fn(usize) -> bool) -> Vec<State> {
    let mut left_out = Vec::new();
    let mut kept: Vec<State> = Vec::new();
    for mut state in states {
        left_out.append(&mut state.diff);
        if wanted(state.number) {
            let between = std::mem::take(&mut left_out);
            // What the first one has, both sides of each comparison have.
            state.diff = if kept.is_empty() { Vec::new() } else { between };
            kept.push(state);
        }
    }
    kept
}

/// The tree as it is, and with one patch of the mailbox more each time; with the
/// subjects of the patches of which it has a newer version.
///
/// # Errors
/// When the mailbox cannot be read or a patch does not apply.
pub fn mailbox(
    path: &Path,
    tree: &Tree,
    cache: &Cache,
    runner: &Runner,
) -> Result<(Vec<State>, Vec<String>), Error> {
    let Parts { parts, superseded } = patch::parts(path, cache, runner)?;
    let states = of_parts(path, &parts, tree, cache, runner)?;
    Ok((states, superseded))
}

/// The tree as it is, and with one patch more each time. `path` is where they were
/// read.
///
/// # Errors
/// When one does not apply.
pub fn of_parts(
    path: &Path,
    parts: &[Part],
    tree: &Tree,
    cache: &Cache,
    runner: &Runner,
) -> Result<Vec<State>, Error> {
    let mut states = vec![State {
        number: 0,
        title: "the tree before the series".to_owned(),
        change: Change::default(),
        touched: BTreeSet::new(),
        diff: Vec::new(),
    }];
    for (at, part) in parts.iter().enumerate() {
        let number = at + 1;
        let applied = first(path, parts, number);
        let applied = patch::apply(&applied, tree, cache, runner);
        let change = applied.map(|applied| applied.change);
        let change = change.map_err(|source| Error::Part {
            number,
            title: part.subject.clone(),
            source: Box::new(source),
        })?;
        states.push(State {
            number,
            title: part.subject.clone(),
            touched: change.files.keys().cloned().collect(),
            change,
            diff: patch::diff_of(&part.diff).to_vec(),
        });
    }
    Ok(states)
}

/// The first `number` patches as one.
fn first(path: &Path, parts: &[Part], number: usize) -> Patch {
    let diffs = parts.iter().take(number).map(|part| part.diff.as_slice());
    Patch {
        path: path.to_owned(),
        diff: diffs.collect::<Vec<_>>().concat(),
        patches: number,
        superseded: Vec::new(),
        base: None,
    }
}

/// The commit that a range begins at, and each that it holds on the way of first
/// parents, oldest first, whatever is checked out. `now` is what the tree holds.
///
/// # Errors
/// When git does not know the range, or it holds no commit.
pub fn range(
    range: &Range,
    repository: &Repository<'_>,
    now: &Manifest,
) -> Result<Vec<State>, Error> {
    let empty = |what: &str| Error::Empty {
        range: range.asked.clone(),
        tree: repository.folder().to_owned(),
        what: what.to_owned(),
    };
    let commits = repository.commits(range)?;
    let (oldest, _) = commits.first().ok_or_else(|| empty("no commit"))?;
    let before = repository.parent(oldest)?;
    let before = before.ok_or_else(|| empty("the first commit of all, and nothing before it"))?;
    let mut states = vec![State {
        number: 0,
        title: "the tree before the series".to_owned(),
        change: repository.change_to(&repository.revision(&before)?, now)?,
        touched: BTreeSet::new(),
        diff: Vec::new(),
    }];
    let mut last = before;
    let mut touched = BTreeSet::new();
    for (commit, title) in commits {
        let step = Range {
            asked: title.clone(),
            before: Some(last.clone()),
            after: commit.clone(),
        };
        let differ = repository.differences(&step, &[])?;
        let own = differ.iter();
        touched.extend(own.filter_map(|one: &Difference| repository.below(&one.path)));
        states.push(State {
            number: states.len(),
            title,
            change: repository.change_to(&repository.revision(&commit)?, now)?,
            touched: touched.clone(),
            diff: repository.diff(&last, &commit)?,
        });
        last = commit;
    }
    Ok(states)
}
