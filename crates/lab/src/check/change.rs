//! A change: a diff, mails, a commit, or a range of git history. Both sides are
//! checked; what both have is not reported. The tree is only read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tollgate_source::check::{ChangedFile, Checks, Comparison, Side};
use tollgate_source::{Name, TreePath, shown};

use super::error::Error;
use super::log;
use super::state::{Base, C, State};
use crate::cache::{self, Cache};
use crate::git::{Blob, Commit, Content, Contents, Difference, Range, Repository};
use crate::input;
use crate::patch::{Applied, AtCommit, Folder, Ground, Patch, apply};
use crate::process::Runner;
use crate::tree::{Change, Tree};

/// What is to be known of a change, or of a tree, beside what the rules say of it.
#[derive(Debug)]
pub enum Note {
    /// So many of its files lie outside of the folder that was named.
    Outside {
        /// How many.
        files: usize,
        /// The range as it was asked for.
        range: String,
        /// The folder.
        folder: PathBuf,
    },
    /// It touches no C file.
    NoC {
        /// The change as it was asked for.
        what: String,
        /// Files of other kinds that it touches.
        others: usize,
    },
    /// It was laid over the commit that it says it was made for.
    LaidOver(String),
    /// It does not fit that commit, and is laid over the tree as it is.
    DoesNotFit(Error),
    /// Of a tree only what had changed since it was last checked was looked at.
    Remembered {
        /// So many of its C files.
        again: usize,
        /// So many C files are there.
        of: usize,
    },
    /// What the rules say of a tree could not be remembered, or read again.
    NotRemembered(cache::Error),
}

/// Hears notes, each before the work that it is about.
pub type Notes<'n> = &'n dyn Fn(Note);

/// What a range of history adds, whatever is checked out.
///
/// # Errors
/// When git does not give what it is asked for.
pub fn range(
    repository: &Repository<'_>,
    range: &Range,
    log: Option<&[u8]>,
    notes: Notes<'_>,
) -> Result<Checks, Error> {
    let all = repository.differences(range, &C)?;
    let (own, outside): (Vec<Difference>, Vec<Difference>) = all
        .into_iter()
        .partition(|one| repository.below(&one.path).is_some());
    if !outside.is_empty() {
        notes(Note::Outside {
            files: outside.len(),
            range: range.asked.clone(),
            folder: repository.folder().to_owned(),
        });
    }
    let (differ, other): (Vec<Difference>, Vec<Difference>) =
        own.into_iter().partition(|one| one.path.is_c());
    let others = other.into_iter().map(|one| one.path).collect();
    if differ.is_empty() {
        return Ok(nothing(&range.asked, others, notes));
    }
    let files = read(repository, &differ)?;
    let after = repository.revision(&range.after)?;
    let before = range.before.as_ref();
    let before = before
        .map(|commit| repository.revision(commit))
        .transpose()?;
    let before = before.as_ref().unwrap_or(&after);
    let top = repository.prefix().clone();
    let side = |revision| Side::new(State::of(Base::Commit(repository, revision)), &top);
    let after = side(&after);
    Comparison {
        before: side(before),
        heard: log.map(|log| log::heard(log, &after)),
        after,
        files,
        others,
        top: top.clone(),
    }
    .checks()
}

/// A change without C files leaves nothing to say.
fn nothing(what: &str, others: Vec<TreePath>, notes: Notes<'_>) -> Checks {
    notes(Note::NoC {
        what: what.to_owned(),
        others: others.len(),
    });
    let mut checks = Checks::default();
    checks.left_out.not_c = others.into_iter().map(Name::from).collect();
    checks
}

/// Both sides of files, out of git's objects.
fn read(repository: &Repository<'_>, differ: &[Difference]) -> Result<Vec<ChangedFile>, Error> {
    let blobs = differ.iter().flat_map(|one| [&one.before, &one.after]);
    let blobs = blobs.flatten().filter(|blob| blob.is_file());
    let ids: Vec<&str> = blobs.map(|blob| blob.id.as_str()).collect();
    let mut contents = repository.contents(&ids)?;
    let mut files = Vec::new();
    for one in differ {
        let mut unread = None;
        let before = side_of(one.before.as_ref(), &mut contents, &mut unread)?;
        let after = side_of(one.after.as_ref(), &mut contents, &mut unread)?;
        // A link or a submodule by that name has no text of its own.
        if before.is_some() || after.is_some() || unread.is_some() {
            files.push(ChangedFile {
                path: one.path.clone(),
                before,
                after,
                unread,
            });
        }
    }
    Ok(files)
}

/// The next text where there is one; why it was not read, else.
fn side_of(
    blob: Option<&Blob>,
    contents: &mut Contents,
    unread: &mut Option<String>,
) -> Result<Option<Vec<u8>>, Error> {
    if !blob.is_some_and(Blob::is_file) {
        return Ok(None);
    }
    let why = match contents.next().transpose()? {
        Some(Content::Bytes(bytes)) => return Ok(Some(bytes)),
        Some(Content::TooLarge(_)) => input::too_large().to_string(),
        Some(Content::Missing) | None => "the repository lacks its text".to_owned(),
    };
    *unread = Some(why);
    Ok(None)
}

/// What a diff or mails add, laid over the commit that they say they were made for
/// where the history of the tree at `root` has it and they fit there, else over the
/// tree as it is.
///
/// # Errors
/// When it does not apply, or what it is laid over cannot be read.
pub fn patch(
    root: &Path,
    patch: &Patch,
    cache: &Cache,
    runner: &Runner,
    log: Option<&[u8]>,
    notes: Notes<'_>,
) -> Result<Checks, Error> {
    let what = shown(&patch.path);
    if let Some((repository, base)) = stated_base(root, patch, runner) {
        let revision = repository.revision(&base)?;
        let (repository, revision) = (&repository, &revision);
        let ground = AtCommit {
            repository,
            revision,
        };
        match apply(patch, &ground, cache, runner) {
            Ok(applied) => {
                notes(Note::LaidOver(ground.name()));
                let base = Base::Commit(repository, revision);
                return compared(base, repository.prefix(), applied, &what, (log, notes));
            }
            Err(error) => notes(Note::DoesNotFit(error.into())),
        }
    }
    let tree = Tree::open(root);
    let folder = Folder::new(root);
    // A folder need not be a whole kernel tree.
    let ground: &dyn Ground = match &tree {
        Ok(tree) => tree,
        Err(_) => &folder,
    };
    let applied = apply(patch, ground, cache, runner)?;
    compared(
        Base::Folder(root),
        &TreePath::top(),
        applied,
        &what,
        (log, notes),
    )
}

/// The commit of the line `base-commit:` (git-format-patch(1)), if the repository
/// around the tree has it.
#[expect(
    clippy::disallowed_methods,
    reason = "whether the repository has it was asked"
)]
fn stated_base<'r>(
    root: &Path,
    patch: &Patch,
    runner: &'r Runner,
) -> Option<(Repository<'r>, Commit)> {
    let base = patch.base.as_ref()?;
    let repository = Repository::around(root, runner).ok()?;
    let commit = repository.commit(base).ok()?;
    Some((repository, commit))
}

/// What a patch adds to a base, of which the folder `top` was patched.
fn compared(
    base: Base<'_>,
    top: &TreePath,
    applied: Applied,
    what: &str,
    (log, notes): (Option<&[u8]>, Notes<'_>),
) -> Result<Checks, Error> {
    let renamed: BTreeSet<&TreePath> = applied.renamed.values().collect();
    let mut files = Vec::new();
    let mut others = Vec::new();
    for (path, after) in &applied.change.files {
        if after.is_none() && renamed.contains(path) {
            continue;
        }
        if !path.is_c() {
            others.push(path.clone());
            continue;
        }
        let old = applied.renamed.get(path).unwrap_or(path);
        files.push(ChangedFile {
            path: top.joined(path.as_bytes()),
            before: applied.before.get(old).cloned(),
            after: after.clone(),
            unread: None,
        });
    }
    if files.is_empty() {
        return Ok(nothing(what, others, notes));
    }
    let changed = applied.change.files.into_iter();
    let placed = changed.map(|(path, after)| (top.joined(path.as_bytes()), after));
    let patched = placed.collect();
    let after = Side::new(State { base, patched }, top);
    Comparison {
        before: Side::new(State::of(base), top),
        heard: log.map(|log| log::heard(log, &after)),
        after,
        files,
        others: others
            .iter()
            .map(|path| top.joined(path.as_bytes()))
            .collect(),
        top: top.clone(),
    }
    .checks()
}

/// What a change adds between two states of a tree, each given by what makes it of
/// the tree as it is.
///
/// # Errors
/// When the tree cannot be read.
pub fn between(
    root: &Path,
    before: &Change,
    after: &Change,
    applied: &Applied,
) -> Result<Checks, Error> {
    let changed = applied.change.files.iter();
    let file = |(path, after): (&TreePath, &Option<Vec<u8>>)| ChangedFile {
        path: path.clone(),
        before: applied.before.get(path).cloned(),
        after: after.clone(),
        unread: None,
    };
    let changed = changed.filter(|(path, _)| path.is_c());
    let files: Vec<ChangedFile> = changed.map(file).collect();
    if files.is_empty() {
        return Ok(Checks::default());
    }
    let top = TreePath::top();
    let side = |change: &Change| {
        let (base, patched) = (Base::Folder(root), change.files.clone());
        Side::new(State { base, patched }, &top)
    };
    Comparison {
        before: side(before),
        after: side(after),
        files,
        others: Vec::new(),
        top: top.clone(),
        heard: None,
    }
    .checks()
}
