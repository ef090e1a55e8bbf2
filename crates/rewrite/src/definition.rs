//! Reads the definition of a structure from its tokens.

use tollgate_source::{Token, TokenKind, closing, tokens};

use crate::refusal::LayoutError;
use crate::types::{Member, Model, Shape, Type, Types};

/// Words of a declaration that change neither size nor place.
const QUALIFIERS: [&str; 8] = [
    "const",
    "volatile",
    "__user",
    "__iomem",
    "__rcu",
    "__bitwise",
    "__force",
    "__restrict",
];

/// Definitions within definitions that are followed.
const DEPTH: u32 = 12;

/// The farthest that the end of a definition is looked for, in bytes.
const DEFINITION: usize = 64 * 1024;

/// Reads definitions in one model.
pub(crate) struct Reader<'t> {
    types: &'t Types<'t>,
    model: Model,
    /// Whether a type without a known definition is no error.
    open: bool,
}

/// Tokens of a text.
#[derive(Clone, Copy)]
struct Code<'t> {
    text: &'t [u8],
    tokens: &'t [Token],
}

impl<'t> Code<'t> {
    fn word(&self, at: usize) -> &'t str {
        let token = self.tokens.get(at);
        let bytes = token.map(|t| t.span.of(self.text)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    fn is(&self, at: usize, byte: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(byte))
    }

    fn part(&self, range: std::ops::Range<usize>) -> Self {
        let tokens = self.tokens.get(range).unwrap_or_default();
        Self { tokens, ..*self }
    }
}

/// What the attributes behind a definition or a member say.
#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    packed: bool,
    align: u64,
}

impl<'t> Reader<'t> {
    /// A reader of those definitions.
    pub(crate) fn new(types: &'t Types<'t>, model: Model, open: bool) -> Self {
        Self { types, model, open }
    }

    /// The layout of the type of that name.
    pub(crate) fn read(&self, name: &str) -> Result<Type, LayoutError> {
        self.named(name, DEPTH)
    }

    fn named(&self, name: &str, depth: u32) -> Result<Type, LayoutError> {
        let words: Vec<&str> = name
            .split_whitespace()
            .filter(|word| !QUALIFIERS.contains(word))
            .collect();
        let plain = words.join(" ");
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| LayoutError::Missing(plain.clone()))?;
        let mut found = match words.as_slice() {
            ["enum", _] => Type::scalar(4, 4),
            ["struct" | "union", _] => self.aggregate(&plain, depth)?,
            _ => match self.basic(&plain) {
                Some(basic) => basic,
                None => match self.typedef(&plain, depth) {
                    Err(LayoutError::Missing(_)) if self.open && words.len() == 1 => opaque(),
                    known => known?,
                },
            },
        };
        found.name = plain;
        Ok(found)
    }

    fn basic(&self, name: &str) -> Option<Type> {
        let size = self.types.vocabulary.scalar(name, self.model.long)?;
        let align = if size == 8 { self.model.wide } else { size };
        Some(Type::scalar(size, align))
    }

    fn aggregate(&self, name: &str, depth: u32) -> Result<Type, LayoutError> {
        for (text, at) in self.types.behind(name) {
            let rest = text.get(at + name.len()..).unwrap_or_default();
            if rest.trim_ascii_start().first() == Some(&b'{') {
                return self.definition(name, text, at, depth);
            }
        }
        Err(LayoutError::Missing(name.to_owned()))
    }

    fn definition(
        &self,
        name: &str,
        text: &[u8],
        at: usize,
        depth: u32,
    ) -> Result<Type, LayoutError> {
        let upto = text.len().min(at + DEFINITION);
        let text = text.get(..upto).unwrap_or_default();
        let all: Vec<Token> = tokens(text, at)
            .into_iter()
            .filter(|token| token.kind != TokenKind::Comment && !is_define(text, token))
            .collect();
        let code = Code { text, tokens: &all };
        let unclear = |what: &str| LayoutError::Unclear(name.to_owned(), what.to_owned());
        let open = (0..all.len())
            .find(|at| code.is(*at, b'{'))
            .ok_or_else(|| unclear("{"))?;
        let close = closing(&all, open).ok_or_else(|| unclear("{"))?;
        let end = (close..all.len())
            .find(|at| code.is(*at, b';'))
            .ok_or_else(|| unclear("}"))?;
        let attributes = self.attributes(code.part(close + 1..end), name)?.0;
        self.members(code.part(open + 1..close), name, depth, attributes)
    }

    /// A structure or union with those members.
    fn members(
        &self,
        code: Code<'_>,
        name: &str,
        depth: u32,
        attributes: Attributes,
    ) -> Result<Type, LayoutError> {
        let union = name.starts_with("union");
        let mut members = Vec::new();
        let mut at = 0;
        while at < code.tokens.len() {
            let end = statement(code, at);
            self.member(code.part(at..end), name, depth, &mut members)?;
            at = end + 1;
        }
        Ok(placed(members, union, attributes))
    }

    fn member(
        &self,
        code: Code<'_>,
        name: &str,
        depth: u32,
        members: &mut Vec<Member>,
    ) -> Result<(), LayoutError> {
        let directive = code
            .tokens
            .iter()
            .position(|token| token.kind == TokenKind::Directive);
        if let Some(at) = directive {
            return Err(LayoutError::Unclear(
                name.to_owned(),
                code.word(at).to_owned(),
            ));
        }
        let brace = (0..code.tokens.len()).find(|at| code.is(*at, b'{'));
        let (of, from) = match brace {
            Some(open) => self.nested(code, open, name, depth)?,
            None => self.simple(code, name, depth)?,
        };
        if code.tokens.len() == from && brace.is_some() {
            members.push(Member {
                name: String::new(),
                offset: 0,
                of,
            });
            return Ok(());
        }
        let declarators = code.part(from..code.tokens.len());
        for declarator in declarators.tokens.split(|token| token.is(b',')) {
            let declarator = Code {
                tokens: declarator,
                ..code
            };
            members.push(self.declarator(declarator, name, of.clone())?);
        }
        Ok(())
    }

    /// `struct { … }` inside a definition, and where its declarators begin.
    fn nested(
        &self,
        code: Code<'_>,
        open: usize,
        name: &str,
        depth: u32,
    ) -> Result<(Type, usize), LayoutError> {
        let unclear = || LayoutError::Unclear(name.to_owned(), code.word(0).to_owned());
        let depth = depth.checked_sub(1).ok_or_else(unclear)?;
        let kind = code.word(0);
        if !matches!((kind, open), ("struct" | "union", 1 | 2)) {
            return Err(unclear());
        }
        let close = closing(code.tokens, open).ok_or_else(unclear)?;
        let mut behind = close + 1;
        while matches!(
            code.word(behind),
            "__packed" | "__aligned" | "__attribute__"
        ) {
            let parenthesis = closing(code.tokens, behind + 1);
            let end = parenthesis.filter(|_| code.is(behind + 1, b'('));
            behind = end.unwrap_or(behind) + 1;
        }
        let (attributes, _) = self.attributes(code.part(close + 1..behind), name)?;
        let mut of = self.members(code.part(open + 1..close), kind, depth, attributes)?;
        of.name = if open == 2 {
            format!("{kind} {}", code.word(1))
        } else {
            String::new()
        };
        Ok((of, behind))
    }

    /// The type at the front of a member, and where its declarators begin.
    fn simple(&self, code: Code<'_>, name: &str, depth: u32) -> Result<(Type, usize), LayoutError> {
        let mut words = Vec::new();
        let mut at = 0;
        let ends = |at: usize| {
            let punctuation = [b'[', b',', b':', b'(', b'*'];
            at >= code.tokens.len() || punctuation.iter().any(|byte| code.is(at, *byte))
        };
        let attribute = |at: usize| code.word(at).starts_with("__a");
        while at < code.tokens.len() && !code.is(at, b'*') {
            let last = ends(at + 1) && !code.is(at + 1, b'*') || attribute(at + 1);
            let aggregate = words
                .last()
                .is_some_and(|w| matches!(*w, "struct" | "union" | "enum"));
            if last && !words.is_empty() && !aggregate {
                break;
            }
            words.push(code.word(at));
            at += 1;
        }
        let written = words.join(" ");
        if code.is(at, b'*') {
            return Ok((Type::scalar(self.model.long, self.model.long), at));
        }
        if at >= code.tokens.len() || code.is(at, b'(') {
            return Err(LayoutError::Unclear(name.to_owned(), written));
        }
        self.named(&written, depth).map(|of| (of, at))
    }

    fn declarator(&self, code: Code<'_>, name: &str, of: Type) -> Result<Member, LayoutError> {
        let unclear = |at: usize| LayoutError::Unclear(name.to_owned(), code.word(at).to_owned());
        let mut of = of;
        let mut at = 0;
        while code.is(at, b'*') || QUALIFIERS.contains(&code.word(at)) {
            if code.is(at, b'*') {
                of = Type::scalar(self.model.long, self.model.long);
            }
            at += 1;
        }
        let own = code.word(at).to_owned();
        if code
            .tokens
            .get(at)
            .is_none_or(|t| t.kind != TokenKind::Word)
        {
            return Err(unclear(at));
        }
        at += 1;
        let mut counts = Vec::new();
        while code.is(at, b'[') {
            let close = closing(code.tokens, at).ok_or_else(|| unclear(at))?;
            let inner: Vec<&str> = (at + 1..close).map(|at| code.word(at)).collect();
            let count = self.types.number(&inner.join(""), DEPTH);
            let flexible = inner.is_empty().then_some(0);
            counts.push(flexible.or(count).ok_or_else(|| unclear(at + 1))?);
            at = close + 1;
        }
        let (attributes, words) = self.attributes(code.part(at..code.tokens.len()), name)?;
        if words || attributes.packed {
            return Err(unclear(at));
        }
        for count in counts.into_iter().rev() {
            of = array(of, count).ok_or_else(|| unclear(1))?;
        }
        of.align = of.align.max(attributes.align);
        Ok(Member {
            name: own,
            offset: 0,
            of,
        })
    }

    /// The attributes of a place, and whether there is more than attributes.
    fn attributes(&self, code: Code<'_>, name: &str) -> Result<(Attributes, bool), LayoutError> {
        let mut found = Attributes::default();
        let mut more = false;
        let mut at = 0;
        while at < code.tokens.len() {
            let word = code.word(at);
            let close = closing(code.tokens, at + 1).filter(|_| code.is(at + 1, b'('));
            let inner = close.map(|close| code.part(at + 2..close));
            match (word, inner) {
                ("__packed", _) => found.packed = true,
                ("__aligned" | "__attribute__", Some(inner)) => {
                    self.attribute(inner, name, &mut found)?
                }
                // A macro behind the definition: nothing, or packed.
                (word, _) if self.may_align(word) => {
                    return Err(LayoutError::Unclear(name.to_owned(), word.to_owned()));
                }
                _ => more |= !word.chars().all(|c| c.is_uppercase() || c == '_'),
            }
            at = close.map_or(at, |close| close) + 1;
        }
        Ok((found, more))
    }

    /// What stands in the parentheses of an attribute.
    fn attribute(
        &self,
        inner: Code<'_>,
        name: &str,
        found: &mut Attributes,
    ) -> Result<(), LayoutError> {
        let words: Vec<&str> = (0..inner.tokens.len()).map(|at| inner.word(at)).collect();
        let joined = words.join("");
        let joined = joined.trim_start_matches('(');
        if joined.starts_with("packed") || joined.starts_with("__packed__") {
            found.packed = true;
            return Ok(());
        }
        let bytes = joined.trim_start_matches("aligned(").trim_end_matches(')');
        match self.types.number(bytes, DEPTH) {
            Some(bytes) if bytes.is_power_of_two() && bytes <= 4096 => {
                found.align = found.align.max(bytes);
                Ok(())
            }
            _ => Err(LayoutError::Unclear(name.to_owned(), words.join(""))),
        }
    }

    /// Whether a macro of that name may make a type larger.
    fn may_align(&self, word: &str) -> bool {
        let define = format!("define {word}");
        self.types.behind(&define).any(|(text, at)| {
            let line = text
                .get(at..)
                .unwrap_or_default()
                .split(|b| *b == b'\n')
                .next();
            line.is_some_and(|line| memchr::memmem::find(line, b"aligned").is_some())
        })
    }

    fn typedef(&self, name: &str, depth: u32) -> Result<Type, LayoutError> {
        for (text, at) in self.types.behind(name) {
            let before = text.get(..at).unwrap_or_default();
            let line = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            let rest = text
                .get(at + name.len()..)
                .unwrap_or_default()
                .trim_ascii_start();
            let Some(of) = line.trim().strip_prefix("typedef ") else {
                continue;
            };
            if rest.first() != Some(&b';') {
                continue;
            }
            if of.contains('*') {
                return Ok(Type::scalar(self.model.long, self.model.long));
            }
            return self.named(of, depth);
        }
        Err(LayoutError::Missing(name.to_owned()))
    }
}

/// `#define` inside a definition names a value of a member and changes nothing.
fn is_define(text: &[u8], token: &Token) -> bool {
    let line = token.span.of(text).strip_prefix(b"#").unwrap_or_default();
    token.kind == TokenKind::Directive && line.trim_ascii_start().starts_with(b"define")
}

/// Where the statement that begins there ends: its `;`, or the end.
fn statement(code: Code<'_>, from: usize) -> usize {
    let mut at = from;
    while at < code.tokens.len() && !code.is(at, b';') {
        at = closing(code.tokens, at).unwrap_or(at) + 1;
    }
    at
}

/// As large as a number may be, and anywhere.
fn opaque() -> Type {
    Type {
        shape: Shape::Opaque,
        ..Type::scalar(8, 1)
    }
}

fn array(of: Type, count: u64) -> Option<Type> {
    let size = of.size.checked_mul(count)?;
    Some(Type {
        size,
        align: of.align,
        shape: Shape::Array(Box::new(of), count),
        name: String::new(),
    })
}

/// A structure or union with its members in their places.
fn placed(mut members: Vec<Member>, union: bool, attributes: Attributes) -> Type {
    let (mut end, mut align, mut size) = (0u64, 1u64, 0u64);
    for member in &mut members {
        let own = if attributes.packed {
            1
        } else {
            member.of.align.max(1)
        };
        align = align.max(own);
        member.offset = if union { 0 } else { end.next_multiple_of(own) };
        end = member.offset.saturating_add(member.of.size);
        size = size.max(end);
    }
    let align = align.max(attributes.align);
    Type {
        size: size.next_multiple_of(align),
        align,
        shape: if union {
            Shape::Union(members)
        } else {
            Shape::Struct(members)
        },
        name: String::new(),
    }
}
