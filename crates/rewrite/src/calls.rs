//! Calls that leave none: those of macros and inline functions which call nothing
//! that may not happen in a window, as the file and the headers that it includes
//! define them.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::io;

use tollgate_source::check::{CheckWords, Inlines, holds_words};
use tollgate_source::{Span, TreePath, Vocabulary, included};

use crate::folders;
use crate::include::own_headers;
use crate::refusal::FixError;
use crate::request::ReadTree;

/// How often definitions are looked for that others call.
const ROUNDS: usize = 6;

/// What the calls of a file are.
pub(crate) struct Calls<'t> {
    tree: &'t dyn ReadTree,
    path: &'t TreePath,
    text: &'t [u8],
    vocabulary: &'t Vocabulary,
    /// The file and what it includes, and what that includes.
    texts: OnceCell<Vec<Vec<u8>>>,
    unread: RefCell<Option<FixError>>,
}

impl<'t> Calls<'t> {
    /// Those of a file, of which nothing is read before it is asked for.
    pub(crate) fn new(
        tree: &'t dyn ReadTree,
        path: &'t TreePath,
        text: &'t [u8],
        vocabulary: &'t Vocabulary,
    ) -> Self {
        Self {
            tree,
            path,
            text,
            vocabulary,
            texts: OnceCell::new(),
            unread: RefCell::default(),
        }
    }

    /// Whether all that is called in a place leaves no call.
    pub(crate) fn none_in(&self, flow: &tollgate_source::Flow, place: Span) -> bool {
        if !flow.calls_beyond(place, self.vocabulary) {
            return true;
        }
        let names = flow.called_in(place).map(|names| {
            let unknown = names.into_iter().filter(|name| !self.computes(name));
            unknown.map(str::to_owned).collect()
        });
        names.is_some_and(|names| self.leave_none(names))
    }

    /// A header that is there and could not be read.
    ///
    /// # Errors
    /// When there is one.
    pub(crate) fn unread(&self) -> Result<(), FixError> {
        self.unread.take().map_or(Ok(()), Err)
    }

    fn computes(&self, name: &str) -> bool {
        let name = name.as_bytes();
        self.vocabulary.is_pure(name) || self.vocabulary.is_transparent(name)
    }

    fn leave_none(&self, wanted: BTreeSet<String>) -> bool {
        let words: &CheckWords = self.vocabulary.words();
        let (mut inlines, mut known) = (Inlines::default(), wanted.clone());
        let mut names = wanted.clone();
        for _ in 0..ROUNDS {
            for text in self.texts.get_or_init(|| self.read()) {
                if !holds_words(text, &names).is_empty() {
                    inlines.merge(Inlines::of(text, &names, self.vocabulary));
                }
            }
            names = inlines.wanted(words);
            names.retain(|name| known.insert(name.clone()));
            if names.is_empty() {
                break;
            }
        }
        // What nobody defines may be a macro that calls: its name does not say.
        inlines.wanted(words).is_empty() && wanted.is_subset(&inlines.without_calls(words))
    }

    /// The file and every header that is included from it.
    fn read(&self) -> Vec<Vec<u8>> {
        let mut texts = vec![self.text.to_vec()];
        let folders = folders::named(self.tree, self.path).unwrap_or_else(|error| {
            *self.unread.borrow_mut() = Some(error);
            Vec::new()
        });
        let mut work = self.named(self.text, self.path, &folders);
        let mut seen = BTreeSet::new();
        while let Some(path) = work.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            match self.tree.read(&path) {
                Ok(text) => {
                    work.extend(self.named(&text, &path, &folders));
                    texts.push(text);
                }
                Err(error) if is_absent(&error) => {}
                Err(error) => {
                    let reason = error.to_string();
                    *self.unread.borrow_mut() = Some(FixError::File { path, reason });
                }
            }
        }
        texts
    }

    /// Where the headers may be that a text includes: those of an architecture are
    /// known for a file of its own.
    fn named(&self, text: &[u8], path: &TreePath, folders: &[TreePath]) -> Vec<TreePath> {
        let mut found = included(text, path);
        let quoted = own_headers(text);
        let elsewhere = |name: &String| folders.iter().map(|f| f.joined(name.as_bytes())).collect();
        found.extend(quoted.iter().flat_map::<Vec<_>, _>(elsewhere));
        let mut parts = self.path.parts();
        let own = (parts.next() == Some(b"arch"))
            .then(|| parts.next())
            .flatten();
        if let Some(arch) = own {
            let folder = TreePath::within("arch").joined(arch).joined(b"include");
            found.extend(architecture(text).map(|name| folder.joined(&name)));
        }
        found
    }
}

/// `asm/ptrace.h` of `#include <asm/ptrace.h>`.
fn architecture(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let rest = line.strip_prefix(b"#include <")?;
        let end = rest.iter().position(|byte| *byte == b'>')?;
        rest.get(..end).filter(|name| name.starts_with(b"asm/"))
    });
    lines.map(<[u8]>::to_vec)
}

/// Whether a file is not there, which many are of the places where a header may be.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
