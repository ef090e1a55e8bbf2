//! Patches: written as git writes them, with the subjects of the tree's own history.

use std::path::Path;

use tollgate_defect::answer;
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

/// What two diffs of the same change share, whoever wrote them: the files and the lines
/// of their hunks, without where these are.
pub(crate) fn changed_lines(diff: &str) -> Vec<&str> {
    let mut all = Vec::new();
    // How many lines of either side the hunk still has.
    let (mut before, mut after) = (0, 0);
    for line in diff.lines() {
        if (before, after) == (0, 0) {
            if line.starts_with("--- ") || line.starts_with("+++ ") {
                all.push(line);
            }
            (before, after) = hunk(line).unwrap_or((0, 0));
            continue;
        }
        let (removed, added) = (line.starts_with('-'), line.starts_with('+'));
        if !line.starts_with('\\') {
            before = usize::saturating_sub(before, usize::from(!added));
            after = usize::saturating_sub(after, usize::from(!removed));
        }
        all.push(line);
    }
    all
}

/// How many lines `@@ -1,2 +1,3 @@` has of either side; none of another line.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let ranges = line.strip_prefix("@@ -")?.split(" @@").next()?;
    let (before, after) = ranges.split_once(" +")?;
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => answer::number(count),
        None => Some(1),
    };
    Some((count(before)?, count(after)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_change_are_its_own_wherever_they_are() {
        let git = "diff --git a/a.c b/a.c\nindex 1..2 100644\n--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@ f\n x\n-a\n+b\n";
        let plain = "Words.\n-- not of it\n--- a/a.c\n+++ b/a.c\n@@ -7,2 +7,2 @@\n x\n-a\n+b\n-- \n2.39.5\n";
        assert_eq!(changed_lines(git), changed_lines(plain));
        assert_ne!(
            changed_lines(git),
            changed_lines(&plain.replace("+b", "+c"))
        );
    }
}
