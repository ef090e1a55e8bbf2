//! Where structs are defined, and what their definitions say.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;
use memchr::memmem::Finder;

use super::TypeName;
use super::parse::{dimensions, is_qualifier, type_of_words};
use crate::lex::{Token, TokenKind, closing, tokens};
use crate::path::TreePath;

/// Where a struct or a union is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'i> {
    /// The file, relative to the tree.
    pub path: &'i TreePath,
    /// The byte at which the definition begins.
    pub start: usize,
}

/// The definitions of a tree, by `struct name`.
#[derive(Clone, Debug, Default)]
pub struct TypeIndex {
    own: Part,
    /// What other threads found; joining them would cost more than asking each.
    others: Vec<Part>,
}

#[derive(Clone, Debug, Default)]
struct Part {
    paths: Vec<TreePath>,
    found: Vec<Found>,
    /// By name: which of `found` is its last.
    last: HashMap<String, usize, RandomState>,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    /// Which of the paths.
    file: usize,
    start: usize,
    /// The one of the same name before it.
    before: Option<usize>,
}

impl TypeIndex {
    /// Adds what [`definitions`] found in a file.
    pub fn add(&mut self, path: &TreePath, found: Vec<(String, usize)>) {
        if found.is_empty() {
            return;
        }
        let file = self.own.paths.len();
        self.own.paths.push(path.clone());
        for (name, start) in found {
            let before = self.own.last.insert(name, self.own.found.len());
            self.own.found.push(Found {
                file,
                start,
                before,
            });
        }
    }

    /// Takes over the definitions of another part of the tree.
    pub fn merge(&mut self, other: Self) {
        self.others.push(other.own);
        self.others.extend(other.others);
    }

    /// The definition that code in `from` most likely means: its own file's,
    /// its folder's, then those of the headers that all share.
    #[must_use]
    pub fn nearest(&self, name: &str, from: &TreePath) -> Option<Place<'_>> {
        let home = folder(from);
        let rank = |path: &TreePath| match path {
            path if path == from => 0,
            path if folder(path) == home => 1,
            path if path.is_below("include/uapi/") => 2,
            path if path.is_below("include/") => 3,
            path if path.is_below("arch/x86/") => 4,
            path if path.is_below("arch/") => 6,
            _ => 5,
        };
        let parts = self.others.iter().chain([&self.own]);
        let places = parts.flat_map(|part| part.of(name));
        places.min_by_key(|place| (rank(place.path), place.path, place.start))
    }
}

fn folder(path: &TreePath) -> &[u8] {
    let end = path.as_bytes().iter().rposition(|byte| *byte == b'/');
    path.as_bytes().get(..end.unwrap_or(0)).unwrap_or_default()
}

impl Part {
    fn of(&self, name: &str) -> impl Iterator<Item = Place<'_>> {
        let at = |index: usize| self.found.get(index);
        let last = self.last.get(name).copied().and_then(at);
        let all = std::iter::successors(last, move |found| found.before.and_then(at));
        all.filter_map(|found| {
            Some(Place {
                path: self.paths.get(found.file)?,
                start: found.start,
            })
        })
    }
}

/// What a line begins with that may define a struct or a union.
struct Margin {
    /// With the end of the line before.
    line: Finder<'static>,
    /// `struct ` or `union `; none for a `typedef`, before either.
    word: Option<&'static str>,
}

static MARGINS: LazyLock<[Margin; 3]> = LazyLock::new(|| {
    [
        ("\nstruct ", Some("struct ")),
        ("\nunion ", Some("union ")),
        ("\ntypedef ", None),
    ]
    .map(|(line, word)| Margin {
        line: Finder::new(line),
        word,
    })
});

/// Whether a file that holds this piece may define a struct or a union: headers
/// full of the addresses of registers hold no brace.
#[must_use]
pub fn may_define(piece: &[u8]) -> bool {
    memchr::memchr(b'{', piece).is_some()
}

/// No line ends before the first.
fn begins_with_type(text: &[u8]) -> Option<&'static str> {
    let mut words = MARGINS.iter().filter_map(|margin| margin.word);
    words.find(|word| text.starts_with(word.as_bytes()))
}

/// The structs and unions that a file defines at its margin, with the byte at
/// which each begins. A search that is quick to say none.
#[must_use]
pub fn definitions(text: &[u8]) -> Vec<(String, usize)> {
    if !may_define(text) {
        return Vec::new();
    }
    let first = begins_with_type(text).and_then(|word| defined(text, 0, word));
    let mut found: Vec<(String, usize)> = first.into_iter().collect();
    for margin in MARGINS.iter() {
        let behind = margin.line.needle().len();
        for at in margin.line.find_iter(text) {
            found.extend(match margin.word {
                Some(word) => defined(text, at + 1, word),
                None => renamed(text, at + behind),
            });
        }
    }
    found
}

/// `typedef struct … { … } name;`
fn renamed(text: &[u8], at: usize) -> Option<(String, usize)> {
    let rest = text.get(at..)?;
    if !rest.starts_with(b"struct ") && !rest.starts_with(b"union ") {
        return None;
    }
    let open = memchr::memchr2(b'{', b';', rest).filter(|at| rest.get(*at) == Some(&b'{'))?;
    let close = open + memchr::memmem::find(rest.get(open..)?, b"\n}")? + 2;
    let end = memchr::memchr(b';', rest.get(close..)?)?;
    let name = std::str::from_utf8(rest.get(close..close + end)?).ok()?;
    let name = name.split_whitespace().next_back()?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    name.bytes().all(plain).then(|| (name.to_owned(), at))
}

fn defined(text: &[u8], at: usize, word: &str) -> Option<(String, usize)> {
    let rest = text.get(at + word.len()..)?;
    let length = rest
        .iter()
        .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')?;
    let next = rest
        .get(length..)?
        .iter()
        .find(|b| !b.is_ascii_whitespace());
    let name = std::str::from_utf8(rest.get(..length)?).ok()?;
    (length > 0 && next == Some(&b'{')).then(|| (format!("{word}{name}"), at))
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name; empty for a struct without one, whose fields count as the
    /// outer's.
    pub(crate) name: String,
    /// Its type.
    pub(crate) kind: FieldType,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FieldType {
    /// A type with a name.
    Named(TypeName),
    /// A struct or a union that is defined in place, so often.
    Inline(Definition, Vec<super::Extent>),
}

/// What a definition says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Whether the fields lie over each other.
    pub(crate) union: bool,
    /// Whether no padding stands between.
    pub(crate) packed: bool,
    /// The fields, in order.
    pub(crate) fields: Vec<Field>,
}

/// Reads the definition that begins at a byte; none if it holds what this does
/// not know: bit fields, an `#if`, a macro.
pub(crate) fn read(text: &[u8], start: usize) -> Option<Definition> {
    let end = memchr::memmem::find(text.get(start..)?, b"\n}").map(|at| start + at)?;
    let line = text.get(end + 1..)?.iter().position(|b| *b == b'\n');
    let end = line.map_or(text.len(), |at| end + 1 + at);
    let all: Vec<Token> = tokens(text.get(..end)?, start)
        .into_iter()
        .filter(|t| t.kind != TokenKind::Comment && !is_definition(text, t))
        .collect();
    body(text, &all, 0).map(|(definition, _)| definition)
}

/// A `#define` between fields takes no room.
fn is_definition(text: &[u8], token: &Token) -> bool {
    let line = token.span.of(text).strip_prefix(b"#").unwrap_or_default();
    token.kind == TokenKind::Directive && line.trim_ascii_start().starts_with(b"define")
}

/// Deeper than any definition of the kernel.
const DEEPEST: usize = 8;

/// `struct x { … } __packed`, and the tokens behind the closing brace.
fn body<'t>(text: &[u8], all: &'t [Token], depth: usize) -> Option<(Definition, &'t [Token])> {
    let open = all
        .iter()
        .position(|t| t.is(b'{'))
        .filter(|_| depth < DEEPEST)?;
    let close = closing(all, open)?;
    let rest = all.get(close + 1..)?;
    let is_packed = |t: &Token| matches!(t.span.of(text), b"__packed" | b"packed" | b"__packed__");
    let ends = rest.iter().position(|t| t.is(b';')).unwrap_or(rest.len());
    let mut definition = Definition {
        union: all.first()?.span.of(text) == b"union",
        packed: rest.iter().take(ends).any(is_packed) || all.iter().take(open).any(is_packed),
        fields: Vec::new(),
    };
    let mut left = all.get(open + 1..close)?;
    while !left.is_empty() {
        left = field(text, left, depth, &mut definition.fields)?;
    }
    Some((definition, rest))
}

/// Reads one declaration and returns what follows.
fn field<'t>(
    text: &[u8],
    all: &'t [Token],
    depth: usize,
    out: &mut Vec<Field>,
) -> Option<&'t [Token]> {
    let end = declaration_end(all)?;
    let own = all.get(..end)?;
    let rest = all.get(end + 1..);
    if own.iter().any(|t| t.kind == TokenKind::Directive) {
        return None;
    }
    match own.iter().position(|t| t.is(b'{')) {
        Some(_) => {
            let (inner, behind) = body(text, own, depth + 1)?;
            let name = behind.iter().find(|t| t.kind == TokenKind::Word);
            let dims = behind.iter().position(|t| t.is(b'['));
            let dims = dims.map_or(Some(Vec::new()), |at| dimensions(text, behind.get(at..)?))?;
            out.push(Field {
                name: name.map(|t| t.span.text(text)).unwrap_or_default(),
                kind: FieldType::Inline(inner, dims),
            });
        }
        None => match open_array(text, own) {
            Some(array) => out.push(array),
            None => plain(text, own, out)?,
        },
    }
    rest
}

/// `DECLARE_FLEX_ARRAY(type, name)`: an array that takes no room of its own.
fn open_array(text: &[u8], own: &[Token]) -> Option<Field> {
    let (name, rest) = own.split_first()?;
    let known = matches!(
        name.span.of(text),
        b"DECLARE_FLEX_ARRAY" | b"__DECLARE_FLEX_ARRAY"
    );
    let [open, words @ .., comma, field, close] = rest else {
        return None;
    };
    let whole = known && open.is(b'(') && comma.is(b',') && close.is(b')');
    let plain: Vec<Token> = words.iter().filter(|t| !t.is(b'*')).copied().collect();
    let named = type_of_words(text, &plain).filter(|_| whole)?;
    Some(Field {
        name: field.span.text(text),
        kind: FieldType::Named(TypeName {
            pointers: words.len() - plain.len(),
            dimensions: vec![super::Extent::Number(0)],
            ..named
        }),
    })
}

fn declaration_end(all: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    all.iter().position(|t| {
        match t.kind {
            TokenKind::Punct(b'{') => depth += 1,
            TokenKind::Punct(b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && t.is(b';')
    })
}

/// `type a, *b, c[4];`
fn plain(text: &[u8], own: &[Token], out: &mut Vec<Field>) -> Option<()> {
    let own: Vec<Token> = own
        .iter()
        .filter(|t| !is_qualifier(t.span.of(text)))
        .copied()
        .collect();
    if own.iter().any(|t| t.is(b':') || t.is(b'(')) {
        return None;
    }
    let first = own
        .iter()
        .position(|t| t.is(b'*') || t.is(b'[') || t.is(b','))
        .unwrap_or(own.len());
    let base_end = match own.get(first) {
        Some(star) if star.is(b'*') => first,
        _ => first.checked_sub(1)?,
    };
    let base = type_of_words(text, own.get(..base_end)?)?;
    for declarator in own.get(base_end..)?.split(|t| t.is(b',')) {
        out.push(declared(text, declarator, &base)?);
    }
    Some(())
}

fn declared(text: &[u8], declarator: &[Token], base: &TypeName) -> Option<Field> {
    let pointers = declarator.iter().take_while(|t| t.is(b'*')).count();
    let name = declarator
        .get(pointers)
        .filter(|t| t.kind == TokenKind::Word)?;
    let dims = declarator.get(pointers + 1..)?;
    Some(Field {
        name: name.span.text(text),
        kind: FieldType::Named(TypeName {
            pointers,
            dimensions: match dims {
                [open, close] if open.is(b'[') && close.is(b']') => {
                    vec![super::Extent::Number(0)]
                }
                dims => dimensions(text, dims)?,
            },
            ..base.clone()
        }),
    })
}
