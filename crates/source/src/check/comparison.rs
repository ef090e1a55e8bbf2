//! Both sides of a change, compared: what the rules say after it and not before.

use std::collections::{BTreeMap, BTreeSet};

use crate::analyse::GrammarError;
use crate::path::{Name, TreePath};
use crate::types::Headers;
use crate::vocabulary::Vocabulary;

use super::heard::Heard;
use super::side::{Side, Snapshot, Sought};
use super::{CheckWords, Checked, Checker, Checks};

/// So many files are one part of a work.
const TOGETHER: usize = 8;

/// A C file before and after; none where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path, after the change where it is there.
    pub path: TreePath,
    /// Its bytes before.
    pub before: Option<Vec<u8>>,
    /// Its bytes after.
    pub after: Option<Vec<u8>>,
    /// Why a side of it was not read.
    pub unread: Option<String>,
}

impl ChangedFile {
    /// Whether there may be something to check in it.
    fn is_suspect(&self, words: &CheckWords) -> bool {
        let sides = [&self.before, &self.after];
        sides
            .into_iter()
            .flatten()
            .any(|text| words.may_suspect(text))
    }
}

/// The files of a change with what they are read against.
#[derive(Clone, Debug)]
pub struct Comparison<S> {
    /// What they are read against before.
    pub before: Side<S>,
    /// And after.
    pub after: Side<S>,
    /// The folder from which people are shown paths.
    pub top: TreePath,
    /// The C files of the change.
    pub files: Vec<ChangedFile>,
    /// What else it touches.
    pub others: Vec<TreePath>,
    /// What other tools said of the tree after it, by paths from the kernel tree's top.
    pub heard: Option<Heard>,
}

impl<S: Snapshot> Comparison<S> {
    /// What the rules say after the change that they do not say before it.
    ///
    /// # Errors
    /// When a side cannot be read.
    pub fn checks(mut self) -> Result<Checks, S::Error> {
        let vocabulary = Vocabulary::builtin()?;
        let headers: Vec<TreePath> = self.paths().filter(|path| path.is_header()).collect();
        let mut checks = self.unsuspected(vocabulary.words());
        let texts = self.texts(|file| file.before.as_deref());
        let before = self.before.words(&texts, &headers)?;
        let texts = self.texts(|file| file.after.as_deref());
        let after = self.after.words(&texts, &headers)?;
        let old_tree = |path: &TreePath| self.before.header(path);
        let new_tree = |path: &TreePath| self.after.header(path);
        let (old_headers, new_headers) = (Headers::new(&old_tree)?, Headers::new(&new_tree)?);
        let sought = self.undefined(&Checker::new(&vocabulary, &after, &new_headers)?)?;
        for (path, error) in sought.unread {
            let why = "so it is not known which names that the change calls are defined nowhere";
            checks.miss(&self.shown(&path), format!("{error}, {why}"));
        }
        let after = after.with_undefined(&sought.undefined);
        let old = || Checker::new(&vocabulary, &before, &old_headers);
        let new = || {
            let checker = Checker::new(&vocabulary, &after, &new_headers)?;
            Ok::<_, GrammarError>(match &self.heard {
                Some(heard) => checker.hearing(heard),
                None => checker,
            })
        };
        let parts: Vec<&[ChangedFile]> = self.files.chunks(TOGETHER).collect();
        let part = |files: &&[ChangedFile]| Ok::<_, S::Error>(self.both(files, old()?, new()?));
        let mut known = Checks::default();
        for part in self.before.files().spread(&parts, part) {
            let (old, new) = part?;
            known.merge(old);
            checks.merge(new);
        }
        known.finish();
        checks.finish();
        checks.keep_new(&known);
        if let Some(heard) = &self.heard {
            checks.heard(heard.count());
        }
        self.after.spare(&mut checks, &after)?;
        Ok(checks)
    }

    fn paths(&self) -> impl Iterator<Item = TreePath> {
        self.files.iter().map(|file| file.path.clone())
    }

    /// What people are shown of a path.
    fn shown(&self, path: &TreePath) -> Name {
        path.below(&self.top).unwrap_or_else(|| path.clone()).into()
    }

    /// Lets go of the files in which there is nothing to check, and counts them.
    fn unsuspected(&mut self, words: &CheckWords) -> Checks {
        let mut checks = Checks::default();
        let others = std::mem::take(&mut self.others);
        checks.left_out.not_c = others.iter().map(|path| self.shown(path)).collect();
        let files = std::mem::take(&mut self.files).into_iter();
        let (files, rest): (Vec<_>, Vec<_>) = files.partition(|file| file.is_suspect(words));
        for file in files.iter().chain(&rest) {
            if let Some(reason) = &file.unread {
                checks.miss(&self.shown(&file.path), reason.clone());
            }
        }
        for file in rest
            .iter()
            .filter(|file| file.unread.is_none() && file.after.is_some())
        {
            checks.add(&self.shown(&file.path), Checked::default());
        }
        self.files = files;
        checks
    }

    fn texts<'f>(
        &'f self,
        side: impl Fn(&'f ChangedFile) -> Option<&'f [u8]>,
    ) -> BTreeMap<TreePath, &'f [u8]> {
        let texts = self.files.iter();
        texts
            .filter_map(|file| Some((file.path.clone(), side(file)?)))
            .collect()
    }

    /// What the change begins to call, and nothing defines.
    fn undefined(&self, checker: &Checker<'_>) -> Result<Sought, S::Error> {
        let mut names = BTreeSet::new();
        for file in &self.files {
            names.extend(checker.new_calls(text(&file.before), text(&file.after)));
        }
        for file in &self.files {
            let mentioned = checker.mentions(text(&file.after), &names);
            names.retain(|name| !mentioned.contains(name));
        }
        let held = self.files.iter().map(|file| &file.path).collect();
        self.after.undefined(names, &held)
    }

    /// What the rules say of each side of some files.
    fn both(
        &self,
        files: &[ChangedFile],
        mut old_rules: Checker<'_>,
        mut new_rules: Checker<'_>,
    ) -> (Checks, Checks) {
        let (mut old, mut new) = (Checks::default(), Checks::default());
        for file in files {
            let (name, path) = (self.shown(&file.path), self.before.in_kernel(&file.path));
            old.add(&name, old_rules.check(&path, text(&file.before)));
            if let Some(after) = &file.after {
                let before = old_rules.before(&path, text(&file.before));
                let path = self.after.in_kernel(&file.path);
                new.add(&name, new_rules.check_after(&before, &path, after));
            }
        }
        (old, new)
    }
}

/// The text of one side; a file that is not there holds nothing.
fn text(side: &Option<Vec<u8>>) -> &[u8] {
    side.as_ref().map_or(&[], Vec::as_slice)
}
