//! The patches: as a file or a range of history, each on top of those before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use tollgate_lab::cache::Cache;
use tollgate_lab::git::{self, Range, Repository};
use tollgate_lab::job::{Content, FileChange};
use tollgate_lab::patch::{self, Part, Parts};
use tollgate_lab::process::Runner;
use tollgate_lab::series::{self, State};
use tollgate_lab::tree::{Change, Kind, Manifest};
use tollgate_source::TreePath;

use super::context::Asked;
use tollgate_lab::tree::Tree;

/// What a file holds before and after; none where it is not there.
pub(crate) type Sides = (Option<Vec<u8>>, Option<Vec<u8>>);

/// One patch.
#[derive(Debug)]
pub(crate) struct Patch {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) subject: String,
    /// What stands in brackets before it.
    pub(crate) tags: Option<String>,
    pub(crate) message_id: Option<String>,
    pub(crate) author: Option<String>,
    /// Its text, for the tree's own checks; none of a range.
    pub(crate) diff: Option<Vec<u8>>,
    /// Its files: what each holds before and after; none where it is not there.
    pub(crate) files: BTreeMap<TreePath, Sides>,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Series {
    /// The subjects of mails of which there is a newer version, and which do not count.
    pub(crate) superseded: Vec<String>,
    /// The tree before the first, and after each.
    pub(crate) states: Vec<Change>,
    pub(crate) patches: Vec<Patch>,
}

/// What the words of a user lead to.
pub(crate) enum Source<'r> {
    /// Commits of a repository.
    Range(Repository<'r>, Range),
    /// The mails or the diff of a file.
    Mails(PathBuf, Parts),
}

/// Finds what is asked for, before anything is read of the tree.
///
/// # Errors
/// When it is neither a patch nor a range.
pub(crate) fn find<'r>(
    asked: &Asked,
    tree: &Tree,
    cache: &Cache,
    runner: &'r Runner,
) -> anyhow::Result<Source<'r>> {
    let path = PathBuf::from(&asked.patches);
    if let Some(text) = &asked.piped {
        let parts = patch::parts_of(&path, text.clone(), cache, runner)?;
        return Ok(Source::Mails(path, parts));
    }
    let words = asked.patches.to_str();
    let range = words.map(|words| git::asked(words, tree.root(), runner));
    if let Some((repository, range)) = range.transpose()?.flatten() {
        return Ok(Source::Range(repository, range));
    }
    let parts = patch::parts(&path, cache, runner)?;
    Ok(Source::Mails(path, parts))
}

/// Reads the patches, each with the state of the tree before and after it.
///
/// # Errors
/// When one does not apply.
pub(crate) fn read(
    source: Source<'_>,
    tree: &Tree,
    manifest: &Manifest,
    cache: &Cache,
    runner: &Runner,
) -> anyhow::Result<Series> {
    let (states, parts, superseded) = match source {
        Source::Range(repository, range) => {
            let states = series::range(&range, &repository, manifest)?;
            (states, None, Vec::new())
        }
        Source::Mails(path, parts) => {
            let states = series::of_parts(&path, &parts.parts, tree, cache, runner)?;
            (states, Some(parts.parts), parts.superseded)
        }
    };
    let patches = (1..states.len()).map(|number| one(number, &states, parts.as_deref(), tree));
    Ok(Series {
        superseded,
        patches: patches.collect::<anyhow::Result<_>>()?,
        states: states.into_iter().map(|state| state.change).collect(),
    })
}

fn one(
    number: usize,
    states: &[State],
    parts: Option<&[Part]>,
    tree: &Tree,
) -> anyhow::Result<Patch> {
    let (Some(before), Some(after)) = (states.get(number - 1), states.get(number)) else {
        return Err(tollgate_defect::Defect::new("a patch has no state before it").into());
    };
    let part = parts.and_then(|parts| parts.get(number - 1));
    let paths: BTreeSet<&TreePath> = before
        .change
        .files
        .keys()
        .chain(after.change.files.keys())
        .collect();
    let mut files = BTreeMap::new();
    for path in paths {
        let sides = (
            held(tree, &before.change, path)?,
            held(tree, &after.change, path)?,
        );
        if sides.0 != sides.1 {
            files.insert(path.clone(), sides);
        }
    }
    let subject = part.map_or(&after.title, |part| &part.subject).trim();
    Ok(Patch {
        number,
        subject: match subject {
            "" => "(a diff without a subject)".to_owned(),
            subject => subject.to_owned(),
        },
        tags: part.and_then(|part| part.tags.clone()),
        message_id: part.and_then(|part| part.message_id.clone()),
        author: part.and_then(|part| part.author.clone()),
        diff: part.map(|part| part.diff.clone()),
        files,
    })
}

/// What a file holds in a state; none where it is not there.
pub(crate) fn held(
    tree: &Tree,
    state: &Change,
    path: &TreePath,
) -> anyhow::Result<Option<Vec<u8>>> {
    if let Some(held) = state.files.get(path) {
        return Ok(held.clone());
    }
    match tree.source(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if tollgate_lab::input::is_absent(&error) => Ok(None),
        Err(error) => Err(anyhow::anyhow!("could not read {path}: {error}")),
    }
}

/// A state as a job has it.
pub(crate) fn changes(state: &Change) -> Vec<FileChange> {
    let one = |(path, bytes): (&TreePath, &Option<Vec<u8>>)| FileChange {
        path: path.as_path().to_string_lossy().into_owned(),
        content: bytes.as_deref().map(Content::of),
        program: state.kinds.get(path) == Some(&Kind::Program),
        link: state.kinds.get(path) == Some(&Kind::Link),
    };
    state.files.iter().map(one).collect()
}
