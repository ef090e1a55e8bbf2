//! Words in the files of a revision.

use std::collections::BTreeSet;
use std::process::Command;

use tollgate_source::TreePath;

use super::{Commit, Error, Repository};
use crate::process;

/// What is searched for, and where.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Whole words, as C has them.
    pub words: &'a BTreeSet<String>,
    /// How the names of the files end, such as `.c`.
    pub endings: &'a [&'a str],
}

/// Bytes of a pattern: git looks for each pattern by itself, which took over ten times as long
/// for 400 words of a kernel, and an argument holds 128 KiB (execve(2)).
pub(super) const LONGEST: usize = 16 << 10;

/// Patterns that stand for any of some words.
fn patterns(words: &BTreeSet<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        // The only sign in a word of C's that means something else in a pattern.
        let word = word.replace('$', "\\$");
        match all.last_mut() {
            Some(last) if last.len() + word.len() < LONGEST => {
                last.push('|');
                last.push_str(&word);
            }
            _ => all.push(word),
        }
    }
    all
}

impl Repository<'_> {
    /// Those of some words that a revision holds in a file for which `counts`
    /// says so; it is given the path from the repository's top.
    ///
    /// # Errors
    /// When git fails.
    pub fn holds(
        &self,
        commit: &Commit,
        what: Words<'_>,
        counts: &dyn Fn(&TreePath) -> bool,
    ) -> Result<BTreeSet<String>, Error> {
        let mut command = self.grep();
        command.args(["-z", "-o", "-w", "-E"]);
        for pattern in patterns(what.words) {
            command.args(["-e", &pattern]);
        }
        let said = self.searched(&mut command, commit, what.endings)?;
        Ok(found(&said, commit, counts))
    }
}

impl Repository<'_> {
    /// The lines of a revision's files that hold some text, in no order.
    ///
    /// # Errors
    /// When git fails.
    pub fn lines_with(
        &self,
        commit: &Commit,
        text: &str,
        endings: &[&str],
    ) -> Result<Vec<u8>, Error> {
        let mut command = self.grep();
        command.args(["-h", "-F", "-e", text]);
        self.searched(&mut command, commit, endings)
    }

    fn grep(&self) -> Command {
        let mut command = self.command();
        command.args(["grep", "-I", "--full-name", "--no-recurse-submodules"]);
        command.args(["--no-color", "--no-line-number", "--no-column"]);
        command
    }

    fn searched(
        &self,
        command: &mut Command,
        commit: &Commit,
        endings: &[&str],
    ) -> Result<Vec<u8>, Error> {
        command.arg(commit.id()).arg("--");
        command.args(endings.iter().map(|ending| format!(":(top)*{ending}")));
        match self.runner.output(command) {
            // git-grep(1) ends with 1 where it finds nothing.
            Err(process::Error::Failed { status, .. }) if status.code() == Some(1) => {
                Ok(Vec::new())
            }
            said => self.done("grep", said),
        }
    }
}

/// Lines `COMMIT:PATH NUL WORD`.
fn found(said: &[u8], commit: &Commit, counts: &dyn Fn(&TreePath) -> bool) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let head = commit.id().len() + 1;
    // A path may hold an end of line, a word cannot.
    let mut rest = said;
    while let Some(nul) = rest.iter().position(|byte| *byte == 0) {
        let path = rest.get(head..nul).unwrap_or_default();
        let behind = rest.get(nul + 1..).unwrap_or_default();
        let end = behind
            .iter()
            .position(|byte| *byte == b'\n')
            .unwrap_or(behind.len());
        let word = behind.get(..end).unwrap_or_default();
        if TreePath::new(path).is_some_and(|path| counts(&path)) {
            words.insert(String::from_utf8_lossy(word).into_owned());
        }
        rest = behind.get(end + 1..).unwrap_or_default();
    }
    words
}
