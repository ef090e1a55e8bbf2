//! Revisions and ranges, in the words that git takes.

use std::path::{Component, Path};

use super::repository::reason;
use super::{Error, Repository};
use crate::process::{self, Runner};

/// A commit that is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Commit(pub(super) String);

impl Commit {
    /// Its name in full, hexadecimal: 40 digits, or 64 where the repository's
    /// hash is SHA-256.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0
    }

    /// Its name as people are shown it.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

/// Two revisions, of which one became the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// As it was asked for.
    pub asked: String,
    /// The one before; none where it is before the first commit.
    pub before: Option<Commit>,
    /// The one after.
    pub after: Commit,
}

/// The range that some words name in the repository around a folder; none where
/// they are the name of a file that is there, or standard input.
///
/// # Errors
/// When they name neither.
pub fn asked<'r>(
    words: &str,
    folder: &Path,
    runner: &'r Runner,
) -> Result<Option<(Repository<'r>, Range)>, Error> {
    if words == "-" || Path::new(words).exists() {
        return Ok(None);
    }
    let repository = Repository::around(folder, runner);
    let found = repository.and_then(|found| Ok((found.range(words)?, found)));
    match found {
        Ok((range, repository)) => Ok(Some((repository, range))),
        Err(error @ (Error::Unknown { .. } | Error::NoRepository { .. })) if !is_range(words) => {
            Err(Error::Neither {
                words: words.to_owned(),
                source: Box::new(error),
            })
        }
        Err(error) => Err(error),
    }
}

/// Whether words are those of a range, `A..B` or `A...B`. No name of a revision
/// has two dots (git-check-ref-format(1)); those of a path, `../x.patch`, stand
/// between slashes.
#[must_use]
pub fn is_range(words: &str) -> bool {
    let is_path = Path::new(words)
        .components()
        .any(|part| part == Component::ParentDir);
    words.contains("..") && !is_path
}

impl Repository<'_> {
    /// The commit that a revision names: a branch, a tag, `HEAD~1`, a part of an
    /// id, whatever gitrevisions(7) knows.
    ///
    /// # Errors
    /// When there is none.
    pub fn commit(&self, revision: &str) -> Result<Commit, Error> {
        let unknown = |reason: String| Error::Unknown {
            revision: revision.to_owned(),
            folder: self.folder.clone(),
            reason,
        };
        // git takes an empty one, and an option, for something else.
        if revision.is_empty() || revision.starts_with('-') {
            return Err(unknown("that is no name of a revision".to_owned()));
        }
        let verified = |revision: &str| {
            let said = self.raw(&["rev-parse", "--verify", revision]);
            let said = said.map_err(|error| match error {
                process::Error::Failed { message, .. } => unknown(self.why_unknown(&message)),
                other => Error::Process(other),
            })?;
            Ok(String::from_utf8_lossy(&said).trim().to_owned())
        };
        // One after the other: `:/words` takes in all that stands behind it.
        let id = verified(revision)?;
        verified(&format!("{id}^{{commit}}")).map(Commit)
    }

    fn why_unknown(&self, message: &str) -> String {
        let said = reason(message);
        // What git says of a name that it does not know says no more than that.
        let bare = said.contains("Needed a single revision") || said.contains("unknown revision");
        match (self.advice(), bare) {
            (advice, _) if !advice.is_empty() => advice,
            (_, true) => String::new(),
            (_, false) => said,
        }
    }

    /// `A..B`, what became of A in B; `A...B`, what became in B of the commit
    /// where the two parted; or one revision, what that commit changes (against
    /// its first parent). A side that is left out is `HEAD`.
    ///
    /// # Errors
    /// When a revision is unknown, or the two of `A...B` never parted.
    pub fn range(&self, words: &str) -> Result<Range, Error> {
        let range = |before, after| Range {
            asked: words.to_owned(),
            before,
            after,
        };
        let sides = words.split_once("..").filter(|_| is_range(words));
        let Some((first, last)) = sides else {
            let after = self.commit(words)?;
            return Ok(range(self.parent(&after)?, after));
        };
        let (parted, last) = match last.strip_prefix('.') {
            Some(last) => (true, last),
            None => (false, last),
        };
        let (first, after) = (self.commit(or_head(first))?, self.commit(or_head(last))?);
        let before = if parted {
            self.base(words, &first, &after)?
        } else {
            first
        };
        Ok(range(Some(before), after))
    }

    fn base(&self, words: &str, first: &Commit, last: &Commit) -> Result<Commit, Error> {
        let found = self.raw(&["merge-base", first.id(), last.id()]);
        match found {
            Ok(found) => Ok(Commit(String::from_utf8_lossy(&found).trim().to_owned())),
            Err(process::Error::Failed { .. }) => Err(Error::NoBase {
                range: words.to_owned(),
                folder: self.folder.clone(),
                reason: self.advice(),
            }),
            Err(other) => Err(Error::Process(other)),
        }
    }

    /// The first parent of a commit; none of the first commit of all.
    ///
    /// # Errors
    /// When it has one that is not here, as at the end of a shallow clone.
    pub fn parent(&self, commit: &Commit) -> Result<Option<Commit>, Error> {
        // The commit's own words: git says that one at the end of a shallow clone
        // has no parent.
        let text = self.ask(&["cat-file", "commit", commit.id()])?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let header = text.lines().take_while(|line| !line.is_empty());
        let parent = header
            .filter_map(|line| line.strip_prefix("parent "))
            .next();
        parent.map(|id| self.commit(id)).transpose()
    }

    /// The commits of a range on the way of first parents, oldest first, each with
    /// its subject.
    ///
    /// # Errors
    /// When git fails.
    pub fn commits(&self, range: &Range) -> Result<Vec<(Commit, String)>, Error> {
        let mut arguments = vec!["rev-list", "--reverse", "--first-parent", "--format=%H %s"];
        let without = range
            .before
            .as_ref()
            .map(|before| format!("^{}", before.id()));
        arguments.push(range.after.id());
        arguments.extend(without.as_deref());
        let said = self.ask(&arguments)?;
        let said = String::from_utf8_lossy(&said).into_owned();
        // Each is two lines, the first of which is `commit ID`.
        let lines = said.lines().skip(1).step_by(2);
        let commits = lines.map(|line| line.split_once(' ').unwrap_or((line, "")));
        Ok(commits
            .map(|(id, subject)| (Commit(id.to_owned()), subject.to_owned()))
            .collect())
    }
}

fn or_head(revision: &str) -> &str {
    if revision.is_empty() {
        "HEAD"
    } else {
        revision
    }
}
