//! Calls that leave none: those of macros and inline functions which call nothing
//! that may not happen in a window, as the file and the headers that it includes
//! define them.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::io;

use tollgate_source::check::{CheckWords, Inlines, holds_words};
use tollgate_source::{Span, Token, TokenKind, TreePath, Vocabulary, bodies, included, tokens};

use crate::folders;
use crate::include::own_headers;
use crate::offers;
use crate::refusal::FixError;
use crate::request::ReadTree;

/// How often definitions are looked for that others call.
const ROUNDS: usize = 6;

/// A function that calls what is asked for.
const ALL: &str = "tollgate_all";

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
        names.is_some_and(|names| self.leave_none(&names))
    }

    /// Whether a call of that name gives nothing a value, as far as its definitions show:
    /// macros and inline functions without an assignment, of which each calls no others.
    pub(crate) fn only_computes(&self, name: &str) -> bool {
        self.only_computes_at(name, ROUNDS)
    }

    fn only_computes_at(&self, name: &str, depth: usize) -> bool {
        if self.computes(name) {
            return true;
        }
        let found = self.definitions(name);
        let plain = |own: &Defined| {
            let mut called = own.calls.iter();
            !own.gives && called.all(|name| self.only_computes_at(name, depth - 1))
        };
        depth > 0 && !found.is_empty() && found.iter().all(plain)
    }

    /// What the file and the headers define a name as.
    fn definitions(&self, name: &str) -> Vec<Defined> {
        let texts = self.texts.get_or_init(|| self.read());
        let names = BTreeSet::from([name.to_owned()]);
        let mut found = Vec::new();
        for text in texts
            .iter()
            .filter(|text| !holds_words(text, &names).is_empty())
        {
            let macros = offers::defines(text).filter_map(|define| {
                let rest = define.strip_prefix(name.as_bytes())?;
                rest.starts_with(b"(").then_some(rest)
            });
            found.extend(macros.map(|define| Defined::read(define, true)));
            let functions = bodies(text, &tokens(text, 0), self.vocabulary);
            let own = functions.iter().filter(|body| body.name == name);
            found.extend(own.map(|body| Defined::read(body.span.of(text), false)));
        }
        found
    }

    /// The parameter of a macro that has one, and what it is, as the file and the headers
    /// define it; none where they do not, or not alike.
    pub(crate) fn macro_of(&self, name: &str) -> Option<(String, String)> {
        let texts = self.texts.get_or_init(|| self.read());
        let defined = texts.iter().flat_map(|text| offers::defines(text));
        let mut all = defined.filter_map(|define| {
            let rest = define.strip_prefix(name.as_bytes())?;
            rest.starts_with(b"(")
                .then(|| String::from_utf8_lossy(rest))
        });
        let first = all.next()?.replace("\\\n", " ");
        let (parameter, body) = first.strip_prefix('(')?.split_once(')')?;
        let alike = all.all(|other| other.replace("\\\n", " ") == first);
        let one = !parameter.contains([',', '.']) && !body.contains('#');
        (alike && one).then(|| (parameter.trim().to_owned(), body.trim().to_owned()))
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

    fn leave_none(&self, wanted: &BTreeSet<String>) -> bool {
        let words: &CheckWords = self.vocabulary.words();
        let is_name = |name: &String| {
            let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            name.bytes().all(word)
        };
        // What is called by a pointer may be anything.
        if !wanted.iter().all(is_name) {
            return false;
        }
        // What calls all of them leaves a call if one of them does.
        let all = wanted.iter().map(|name| format!("{name}(); "));
        let all = format!(
            "static inline void {ALL}(void) {{ {}}}\n",
            all.collect::<String>()
        );
        let own = BTreeSet::from([ALL.to_owned()]);
        let mut inlines = Inlines::of(all.as_bytes(), &own, self.vocabulary);
        let mut names = inlines.wanted(words);
        let mut known = names.clone();
        for _ in 0..ROUNDS {
            if names.is_empty() {
                break;
            }
            for text in self.texts.get_or_init(|| self.read()) {
                if !holds_words(text, &names).is_empty() {
                    inlines.merge(Inlines::of(text, &names, self.vocabulary));
                }
            }
            names = inlines.wanted(words);
            names.retain(|name| known.insert(name.clone()));
        }
        // What nobody defines may be a macro that calls: its name does not say.
        inlines.wanted(words).is_empty() && inlines.without_calls(words).contains(ALL)
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

/// A definition of a name.
struct Defined {
    /// Whether it gives anything a value, or holds statements where it is a macro.
    gives: bool,
    /// What it calls.
    calls: BTreeSet<String>,
}

impl Defined {
    fn read(text: &[u8], is_macro: bool) -> Self {
        let all = tokens(text, 0).into_iter();
        let code: Vec<Token> = all.filter(Token::is_code).collect();
        let is = |at: usize, byte: u8| code.get(at).is_some_and(|token| token.is(byte));
        let near = |at: usize| match (code.get(at), code.get(at + 1)) {
            (Some(one), Some(other)) => one.span.end == other.span.start,
            _ => false,
        };
        let compares = |at: usize| {
            let front = at.checked_sub(1).filter(|front| near(*front));
            let before = front.is_some_and(|at| b"=!<>".iter().any(|byte| is(at, *byte)));
            before || near(at) && is(at + 1, b'=')
        };
        let doubled = |at: usize, byte| is(at, byte) && is(at + 1, byte) && near(at);
        let gives = (0..code.len()).any(|at| {
            let sets = is(at, b'=') && !compares(at);
            let statement = is_macro && is(at, b';');
            sets || statement || doubled(at, b'+') || doubled(at, b'-')
        });
        // What stands first of a macro are its parameters.
        let calls = (0..code.len()).filter(|at| is(at + 1, b'('));
        let words = calls.filter_map(|at| code.get(at).filter(|t| t.kind == TokenKind::Word));
        let words = words.map(|token| token.span.text(text));
        Self {
            gives,
            calls: words
                .filter(|word| !KEYWORDS.contains(&word.as_str()))
                .collect(),
        }
    }
}

/// Words before a parenthesis that call nothing.
const KEYWORDS: [&str; 7] = [
    "return",
    "if",
    "sizeof",
    "offsetof",
    "typeof",
    "__typeof__",
    "defined",
];
