//! What a file defines and its functions use: macros that leave, or open, close or need
//! a window, and functions that need one of their caller, each as a graph that stands
//! for its calls.

use std::borrow::Cow;
use std::collections::BTreeSet;

use foldhash::fast::RandomState;
use tollgate_defect::answer;
use tree_sitter::Node;

use crate::flow::{Flow, Piece, Pieces, Source, build};
use crate::lex::{Token, TokenKind, closing};
use crate::normalise::{Branches, normalise};
use crate::parse::BodyParser;
use crate::search::{HashedWord, Likely};
use crate::site::Context;
use crate::span::{LineIndex, Span};
use crate::split::{Body, bodies};
use crate::vocabulary::Vocabulary;
use crate::wrappers::{defined, definition};

use super::tokens::{arguments, parameters};
use super::words::{CheckWords, Permission};

/// Every word of a function is looked up in these.
type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
type HashSet<K> = std::collections::HashSet<K, RandomState>;

/// How often a definition may use another one.
const DEEPEST: usize = 4;

/// A definition of a file, before anything is made of it.
struct Definition<'a> {
    parameters: Vec<String>,
    of: Of<'a>,
    /// The words in it.
    names: BTreeSet<String>,
}

/// What is defined.
enum Of<'a> {
    /// What a macro stands for, as a function.
    Macro(String),
    /// A function of the file.
    Function(&'a Body),
}

/// The definitions of a file, and the graphs of those that were asked for.
pub(super) struct Definitions<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    /// The lines that define a macro.
    macros: HashMap<&'a [u8], Vec<Span>>,
    /// Those that may need a window of their caller.
    functions: HashMap<&'a [u8], &'a Body>,
    /// The names of both.
    names: Likely,
    asked: HashSet<&'a [u8]>,
    /// Names of which a use opens, closes or needs a window.
    windows: HashSet<String>,
    pub(super) pieces: Pieces<'a>,
}

/// What graphs are made with.
pub(super) struct Maker<'m> {
    pub(super) parser: &'m mut BodyParser,
    pub(super) words: &'m CheckWords,
    pub(super) vocabulary: &'m Vocabulary,
}

impl<'a> Definitions<'a> {
    pub(super) fn of(
        text: &'a [u8],
        tokens: &'a [Token],
        bodies: &'a [Body],
        words: &CheckWords,
    ) -> Self {
        let mut macros = HashMap::<&[u8], Vec<Span>>::default();
        let lines = tokens.iter().filter(|own| own.kind == TokenKind::Directive);
        for line in lines {
            if let Some(name) = defined(text, line.span) {
                macros.entry(name.of(text)).or_default().push(line.span);
            }
        }
        let needy = words.may_be_inside(text);
        let own = bodies.iter();
        let own = own.filter(|body| needy && body.defined_by.is_none());
        let functions: HashMap<&[u8], &Body> =
            own.map(|body| (body.name_span.of(text), body)).collect();
        Self {
            text,
            tokens,
            names: Likely::of(macros.keys().chain(functions.keys()).copied()),
            macros,
            functions,
            asked: HashSet::default(),
            windows: HashSet::default(),
            pieces: Pieces::default(),
        }
    }

    /// Makes the graphs of what some words name; whether any of it opens, closes or
    /// needs a window.
    pub(super) fn ask(&mut self, words: &[HashedWord], maker: &mut Maker<'_>) -> bool {
        let text = self.text;
        let mut window = false;
        for word in words {
            if !self.names.may_hold(word.hashed) {
                continue;
            }
            let name = word.span.of(text);
            let expands = self.macros.contains_key(name);
            if (expands || self.functions.contains_key(name)) && !self.asked.contains(name) {
                self.make(name, maker, DEEPEST);
            }
            window |= expands && self.is_window(name);
        }
        window
    }

    fn is_window(&self, name: &[u8]) -> bool {
        answer::text(name).is_some_and(|name| self.windows.contains(name))
    }

    fn make(&mut self, bytes: &'a [u8], maker: &mut Maker<'_>, depth: usize) {
        let words = maker.words;
        let Some(name) = answer::text(bytes).filter(|_| depth > 0) else {
            return;
        };
        if !self.asked.insert(bytes)
            || words.knows(name)
            || words.permission(name) != Permission::Unknown
        {
            return;
        }
        let all = self.definitions(name, words);
        let inner: BTreeSet<&String> = all.iter().flat_map(|own| &own.names).collect();
        let inner = inner.into_iter();
        let inner: Vec<(&'a [u8], &String)> = inner
            .filter_map(|name| Some((*self.macros.get_key_value(name.as_bytes())?.0, name)))
            .collect();
        for (name, _) in &inner {
            self.make(name, maker, depth - 1);
        }
        let windows = |own: &Definition<'_>| own.names.iter().any(|name| is_window(name, words));
        if all.iter().any(windows) || inner.iter().any(|(_, name)| self.windows.contains(*name)) {
            self.windows.insert(name.to_owned());
        }
        let leaves = |own: &Definition<'_>| LEAVING.iter().any(|word| own.names.contains(*word));
        let useful = self.windows.contains(name)
            || all.iter().any(leaves)
            || inner
                .iter()
                .any(|(_, name)| self.pieces.contains_key(*name));
        let made = all.iter().map(|own| self.piece(own, maker));
        let made: Option<Vec<Piece<'a>>> = match useful && !all.is_empty() {
            true => made.collect(),
            false => None,
        };
        if let Some(made) = made {
            self.pieces.insert(name.to_owned(), made);
        }
    }

    /// What a name stands for: its macros, or a function that needs a window.
    fn definitions(&self, name: &str, words: &CheckWords) -> Vec<Definition<'a>> {
        if let Some(lines) = self.macros.get(name.as_bytes()) {
            let all = lines.iter().map(|line| expansion(self.text, *line));
            // One that is not understood leaves the others without a meaning.
            let all: Option<Vec<Definition<'a>>> = all.collect();
            return all.into_iter().flatten().collect();
        }
        let body = self.functions.get(name.as_bytes());
        let own = body.and_then(|body| needy(self.text, self.tokens, body, words));
        own.into_iter().collect()
    }

    /// The graph of a definition; none where it is not understood, or cannot stand
    /// anywhere else.
    fn piece(&self, own: &Definition<'a>, maker: &mut Maker<'_>) -> Option<Piece<'a>> {
        let piece = match &own.of {
            Of::Macro(text) => {
                let all = crate::lex::tokens(text.as_bytes(), 0);
                let found = bodies(text.as_bytes(), &all, maker.vocabulary);
                let flow = graph(text.as_bytes(), &all, found.first()?, maker, &self.pieces)?;
                Piece {
                    expands: true,
                    parameters: own.parameters.clone(),
                    text: Cow::Owned(text.clone().into_bytes()),
                    flow,
                }
            }
            Of::Function(body) => Piece {
                expands: false,
                parameters: own.parameters.clone(),
                text: Cow::Borrowed(self.text),
                flow: graph(self.text, self.tokens, body, maker, &self.pieces)?,
            },
        };
        piece.can_move().then_some(piece)
    }
}

/// The graph of a function; none where it is not understood.
pub(super) fn graph(
    text: &[u8],
    all: &[Token],
    body: &Body,
    maker: &mut Maker<'_>,
    pieces: &Pieces<'_>,
) -> Option<Flow> {
    let tokens = all.get(body.tokens.clone())?;
    let normalised = normalise(text, tokens, maker.vocabulary, Branches::First);
    let Ok(tree) = maker.parser.parse(&normalised, body.span, tokens) else {
        return None;
    };
    let root: Node<'_> = tree.root_node();
    let (lines, pointers) = (LineIndex::new(text), std::collections::HashSet::new());
    let context = Context {
        original: text,
        normalised: &normalised.text,
        vocabulary: maker.vocabulary,
        lines: &lines,
        wrappers: &[],
        user_pointers: &pointers,
    };
    let from = all.partition_point(|own| own.span.start < body.header.start);
    let source = Source {
        words: maker.words,
        tokens: all.get(from..body.tokens.end)?,
        scopes: &[],
        optional: &[],
        left_out: &[],
        points: false,
        pieces,
    };
    (!root.has_error()).then(|| build(&context, source, root))
}

/// Words that leave.
const LEAVING: [&str; 4] = ["return", "goto", "break", "continue"];

/// A macro with parameters, as the function that it would be.
fn expansion<'a>(text: &[u8], line: Span) -> Option<Definition<'a>> {
    let (name, rest) = definition(text, line)?;
    let open = rest.first()?;
    let with_parameters = open.is(b'(') && open.span.start == name.end;
    let close = closing(&rest, 0).filter(|_| with_parameters)?;
    let parameters = arguments(&rest, 0, close);
    let parameters = parameters.iter().map(|own| own.text(text)).collect();
    let body = rest.get(close + 1..)?;
    let place = body.first()?.span.join(body.last()?.span);
    let mut inside = answer::text(place.of(text))?.to_owned();
    inside = inside.replace("\\\r\n", "   ").replace("\\\n", "  ");
    let names = names(text, body);
    let of = Of::Macro(format!("void m(void)\n{{\n{inside};\n}}\n"));
    Some(Definition {
        parameters,
        of,
        names,
    })
}

/// A function with accesses that need a window, and none of its own.
fn needy<'a>(
    text: &[u8],
    tokens: &[Token],
    body: &'a Body,
    words: &CheckWords,
) -> Option<Definition<'a>> {
    let inside = tokens.get(body.tokens.clone())?;
    let needs = |own: &Token| {
        let name = answer::text(own.span.of(text)).filter(|_| own.kind == TokenKind::Word);
        name.is_some_and(|name| words.in_window(name).is_some())
    };
    if !inside.iter().any(needs) {
        return None;
    }
    let names = names(text, inside);
    let opens = |name: &String| {
        words.begin(name).is_some() || words.end(name).is_some() || words.scoped(name).is_some()
    };
    if names.iter().any(opens) {
        return None;
    }
    Some(Definition {
        parameters: parameters(text, tokens, body)?,
        of: Of::Function(body),
        names,
    })
}

fn names(text: &[u8], tokens: &[Token]) -> BTreeSet<String> {
    let words = tokens.iter().filter(|own| own.kind == TokenKind::Word);
    words.map(|own| own.span.text(text)).collect()
}

fn is_window(name: &str, words: &CheckWords) -> bool {
    words.begin(name).is_some()
        || words.end(name).is_some()
        || words.in_window(name).is_some()
        || words.pair_of(name).is_some()
}
