//! How often user space takes a path, as far as names and definitions say.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::lex::{Token, TokenKind};
use crate::path::TreePath;
use crate::search::Shapes;
use crate::split::Body;
use crate::vocabulary::{Heat, Vocabulary};

/// How hot a function is, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warmth {
    /// How hot: 1 where nothing is known.
    pub heat: u32,
    /// The path and how the function is on it.
    pub words: String,
}

impl Default for Warmth {
    fn default() -> Self {
        Self {
            heat: 1,
            words: "no path is known".to_owned(),
        }
    }
}

/// The functions of a file that call one which another file defines, directly or by
/// one another, nearest first. As far as the file's tokens say: a name in a macro's
/// body is of nobody.
#[must_use]
pub fn callers_of(text: &[u8], function: &str, vocabulary: &Vocabulary) -> Vec<String> {
    let tokens = crate::lex::tokens(text, 0);
    let bodies = crate::split::bodies(text, &tokens, vocabulary);
    let paths = Paths::new(text, &tokens, &bodies, vocabulary);
    paths.mentioning(text, &tokens, &bodies, function)
}

/// How far calls are followed inside a file.
const FAR: usize = 4;

/// The functions of a file, what they call, and which tables name them.
pub(crate) struct Paths<'a> {
    vocabulary: &'a Vocabulary,
    /// By function: the functions of the file that mention it.
    callers: HashMap<&'a str, Vec<&'a str>, RandomState>,
    /// By function: the fields of tables that it is given to.
    fields: HashMap<&'a str, Vec<&'a [u8]>, RandomState>,
}

impl<'a> Paths<'a> {
    /// Reads the tokens of a file once.
    pub(crate) fn new(
        text: &'a [u8],
        tokens: &[Token],
        bodies: &'a [Body],
        vocabulary: &'a Vocabulary,
    ) -> Self {
        let names: HashMap<&[u8], &str, RandomState> = bodies
            .iter()
            .map(|body| (body.name_span.of(text), body.name.as_str()))
            .collect();
        let mut found = Self {
            vocabulary,
            callers: HashMap::default(),
            fields: HashMap::default(),
        };
        let shapes = Shapes::of(names.keys().copied());
        let mut holders = bodies.iter().peekable();
        for (at, token) in tokens.iter().enumerate() {
            if token.kind != TokenKind::Word || !shapes.may_be(token.span.of(text)) {
                continue;
            }
            let Some(name) = names.get(token.span.of(text)) else {
                continue;
            };
            while holders
                .next_if(|b| b.span.end <= token.span.start)
                .is_some()
            {}
            match holders.peek().filter(|b| b.span.contains(token.span)) {
                Some(body) => found.callers.entry(name).or_default().push(&body.name),
                None => found
                    .fields
                    .entry(name)
                    .or_default()
                    .extend(field(text, tokens, at)),
            }
        }
        found
    }

    /// How hot a function is: by its own name, or by what calls it in its file.
    pub(crate) fn warmth(&self, path: &TreePath, function: &str) -> Warmth {
        let mut seen = vec![function];
        let mut next = 0;
        for step in 0..=FAR {
            let round: Vec<&str> = seen.get(next..).unwrap_or_default().to_vec();
            next = seen.len();
            if let Some((heat, name)) = self.hottest(path, &round) {
                let words = match step {
                    0 => heat.what.clone(),
                    _ => format!("{}, called by {name}()", heat.what),
                };
                return Warmth {
                    heat: heat.heat,
                    words,
                };
            }
            for name in round {
                let callers = self.callers.get(name).into_iter().flatten();
                for caller in callers {
                    if !seen.contains(caller) {
                        seen.push(caller);
                    }
                }
            }
        }
        Warmth::default()
    }

    /// The functions of the file that call one, directly or not, nearest first.
    pub(crate) fn callers(&self, function: &str) -> Vec<String> {
        let mut seen = vec![function];
        let mut at = 0;
        while let Some(name) = seen.get(at).copied().filter(|_| at <= FAR * FAR) {
            for caller in self.callers.get(name).into_iter().flatten() {
                if !seen.contains(caller) {
                    seen.push(caller);
                }
            }
            at += 1;
        }
        seen.into_iter().skip(1).map(str::to_owned).collect()
    }

    /// Those that mention a word which is no function of the file, and who calls them,
    /// nearest first: who a function of a header may have become a part of.
    fn mentioning(
        &self,
        text: &[u8],
        tokens: &[Token],
        bodies: &[Body],
        word: &str,
    ) -> Vec<String> {
        let holds = |body: &&Body| {
            let inside = tokens.get(body.tokens.clone()).unwrap_or_default();
            inside.iter().any(|token| {
                token.kind == TokenKind::Word && token.span.of(text) == word.as_bytes()
            })
        };
        let mut found: Vec<String> = Vec::new();
        for body in bodies.iter().filter(holds).filter(|body| body.name != word) {
            for name in std::iter::once(body.name.clone()).chain(self.callers(&body.name)) {
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found
    }

    fn hottest<'n>(&self, path: &TreePath, names: &[&'n str]) -> Option<(&Heat, &'n str)> {
        let fits = names
            .iter()
            .filter_map(|name| Some((self.heat(path, name)?, *name)));
        fits.max_by_key(|(heat, _)| heat.heat)
    }

    fn heat(&self, path: &TreePath, name: &str) -> Option<&Heat> {
        let named = |word: &String| name.contains(word.as_str());
        let file = path.file();
        let fields = self.fields.get(name);
        let in_table =
            |field: &String| fields.is_some_and(|fields| fields.contains(&field.as_bytes()));
        self.vocabulary.paths().iter().find(|heat| {
            heat.name.iter().any(named)
                || heat.file.iter().any(|end| file == end.as_bytes())
                || heat.field.iter().any(in_table)
        })
    }

    /// Why a function is on an ioctl path, if it is.
    pub(crate) fn ioctl(&self, function: &str) -> Option<String> {
        let mut seen = vec![function];
        let mut at = 0;
        while let Some(name) = seen.get(at).copied() {
            let in_table = self.fields.get(name).into_iter().flatten();
            let table = in_table.into_iter().find(|field| field.ends_with(b"ioctl"));
            let by = if at == 0 {
                String::new()
            } else {
                format!("called by {name}(), ")
            };
            if let Some(its_name) = named_ioctl(name) {
                return Some(by + &its_name);
            }
            if let Some(field) = table {
                let field = String::from_utf8_lossy(field);
                return Some(format!("{by}the table's field .{field}"));
            }
            if at > FAR * FAR {
                break;
            }
            let callers = self.callers.get(name).into_iter().flatten();
            for caller in callers {
                if !seen.contains(caller) {
                    seen.push(caller);
                }
            }
            at += 1;
        }
        None
    }
}

/// Why a function is on an ioctl path, if its own name says so.
pub(crate) fn named_ioctl(function: &str) -> Option<String> {
    function.contains("ioctl").then(|| "its name".to_owned())
}

/// `.field = name` outside functions.
fn field<'a>(text: &'a [u8], tokens: &[Token], at: usize) -> Option<&'a [u8]> {
    let back = |n: usize| at.checked_sub(n).and_then(|i| tokens.get(i));
    let is_given = back(1)?.is(b'=') && back(3)?.is(b'.');
    is_given.then(|| back(2).map(|t| t.span.of(text))).flatten()
}
