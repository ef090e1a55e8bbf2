//! Patches: written as git writes them, with the subjects of the tree's own history.

use std::path::Path;

use tollgate_lab::git::Repository;
use tollgate_lab::git::mails::{self, Author, Edit};
use tollgate_lab::process::Runner;
use tollgate_rewrite::Patched;
use tollgate_source::TreePath;

use crate::signals;
use crate::term::Term;

/// How the subject of a patch to that file begins by the tree's own history,
/// if the tree is a git checkout that has some.
#[expect(
    clippy::disallowed_methods,
    reason = "a tree without a history has no prefix of its own"
)]
pub(crate) fn prefix(tree: &Path, path: &TreePath) -> Option<String> {
    let runner = runner();
    let repository = Repository::around(tree, &runner).ok()?;
    // A tree inside some other project's checkout has no history of its own.
    (*repository.prefix() == TreePath::top()).then_some(())?;
    let subjects = repository.subjects(path, 20).ok()?;
    tollgate_rewrite::prefix_of_history(subjects.iter().map(String::as_str))
}

fn runner() -> Runner {
    Runner::new(signals::interrupt().clone(), None)
}

/// Who writes patches to a tree.
pub(crate) fn author(tree: &Path) -> Author {
    Author::configured(tree, &runner())
}

/// Why git does not read the history of a tree that has one.
pub(crate) fn history_refused(tree: &Path) -> Option<String> {
    mails::history_refused(tree, &runner())
}

/// A patch as git takes it. `trailers` go below the message, one line each.
pub(crate) fn edit<'p>(patched: &'p Patched, trailers: &[String]) -> Edit<'p> {
    Edit {
        path: &patched.path,
        original: &patched.original,
        rewritten: &patched.rewritten,
        message: patched.message(trailers),
    }
}

/// Says which patches of a thread do not count, since it has a newer version.
pub(crate) fn note_superseded(subjects: &[String], term: &Term) {
    let Some(first) = subjects.first() else {
        return;
    };
    let others = match subjects.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    term.note(&format!(
        "the newest version of each patch is taken; left out as older: {first}{others}"
    ));
}
