//! From the tokens of a size to an [`Extent`].

use super::{Extent, TypeName};
use crate::lex::{Token, TokenKind, closing};

/// The constant that the tokens are; none if something in them is only known
/// when the program runs. `declared` gives the type of a variable.
pub(crate) fn extent(
    text: &[u8],
    tokens: &[Token],
    declared: &dyn Fn(&[u8]) -> Option<TypeName>,
) -> Option<Extent> {
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        declared,
    };
    let found = parser.sum(0)?;
    (parser.at == tokens.len()).then_some(found)
}

/// No text of the kernel nests deeper; hostile text must not use up the stack.
const DEEPEST: usize = 16;
/// More terms than any size of the kernel has: a sum is as deep as it is long.
const MOST: usize = 64;

struct Parser<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    at: usize,
    declared: &'a dyn Fn(&[u8]) -> Option<TypeName>,
}

impl Parser<'_> {
    fn sum(&mut self, depth: usize) -> Option<Extent> {
        let mut left = self.product(depth)?;
        let mut terms = 1;
        while let Some(operator) = self.operator(b"+-") {
            terms += 1;
            let right = self.product(depth).filter(|_| terms <= MOST)?;
            left = Extent::Both(Box::new((left, operator, right)));
        }
        Some(left)
    }

    fn product(&mut self, depth: usize) -> Option<Extent> {
        let mut left = self.atom(depth)?;
        let mut factors = 1;
        while let Some(operator) = self.operator(b"*/") {
            factors += 1;
            let right = self.atom(depth).filter(|_| factors <= MOST)?;
            left = Extent::Both(Box::new((left, operator, right)));
        }
        Some(left)
    }

    fn operator(&mut self, wanted: &[u8]) -> Option<char> {
        let TokenKind::Punct(byte) = self.tokens.get(self.at)?.kind else {
            return None;
        };
        wanted.contains(&byte).then(|| {
            self.at += 1;
            char::from(byte)
        })
    }

    fn atom(&mut self, depth: usize) -> Option<Extent> {
        let token = *self.tokens.get(self.at).filter(|_| depth < DEEPEST)?;
        let word = token.span.of(self.text);
        match token.kind {
            TokenKind::Number => {
                self.at += 1;
                number(word).map(Extent::Number)
            }
            TokenKind::Punct(b'(') => self.parenthesis(depth),
            TokenKind::Word if word == b"sizeof" => self.size_of(),
            TokenKind::Word if word == b"offsetof" => self.offset_of(false),
            TokenKind::Word if word == b"offsetofend" => self.offset_of(true),
            TokenKind::Word if is_constant(word) && !self.is_called() => {
                self.at += 1;
                Some(Extent::Named(token.span.text(self.text)))
            }
            _ => None,
        }
    }

    fn is_called(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|t| t.is(b'('))
    }

    fn parenthesis(&mut self, depth: usize) -> Option<Extent> {
        let close = closing(self.tokens, self.at)?;
        let inside = self.tokens.get(self.at + 1..close)?;
        // A cast of a number changes nothing here.
        if type_name(self.text, inside).is_some() {
            self.at = close + 1;
            return self.atom(depth + 1);
        }
        self.at += 1;
        let found = self.sum(depth + 1)?;
        (self.at == close).then(|| {
            self.at = close + 1;
            found
        })
    }

    fn size_of(&mut self) -> Option<Extent> {
        self.at += 1;
        let (inside, end) = match self.tokens.get(self.at)?.is(b'(') {
            true => {
                let close = closing(self.tokens, self.at)?;
                (self.tokens.get(self.at + 1..close)?, close + 1)
            }
            false => (self.tokens.get(self.at..)?, self.tokens.len()),
        };
        self.at = end;
        let named = type_name(self.text, inside)
            .or_else(|| object(self.text, inside, self.declared, 0))
            .unwrap_or_else(|| unknown(self.text, inside));
        Some(Extent::SizeOf(named))
    }

    /// `offsetof(type, field)`; to the field's end for `offsetofend`.
    fn offset_of(&mut self, end: bool) -> Option<Extent> {
        let open = self.at + 1;
        let close = closing(self.tokens, open)?;
        let inside = self.tokens.get(open + 1..close)?;
        let comma = inside.iter().position(|t| t.is(b','))?;
        let mut named = type_of_words(self.text, inside.get(..comma)?)?;
        named.fields = fields(self.text, inside.get(comma + 1..)?)?;
        self.at = close + 1;
        let offset = Extent::OffsetOf(named.clone());
        Some(match end {
            true => Extent::Both(Box::new((offset, '+', Extent::SizeOf(named)))),
            false => offset,
        })
    }
}

/// `a.b.c`
fn fields(text: &[u8], tokens: &[Token]) -> Option<Vec<String>> {
    let field = |part: &[Token]| match part {
        [name] if name.kind == TokenKind::Word => Some(name.span.text(text)),
        _ => None,
    };
    tokens.split(|t| t.is(b'.')).map(field).collect()
}

/// What cannot be looked up keeps its words, so that it can be named.
fn unknown(text: &[u8], tokens: &[Token]) -> TypeName {
    let words: Vec<String> = tokens.iter().map(|t| t.span.text(text)).collect();
    TypeName {
        base: words.concat(),
        ..TypeName::default()
    }
}

fn number(word: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(word).ok()?;
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

fn is_constant(word: &[u8]) -> bool {
    word.iter()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

/// `struct name`, `unsigned int *`, `u32`, `char [16]`.
pub(crate) fn type_name(text: &[u8], tokens: &[Token]) -> Option<TypeName> {
    let mut name = TypeName::default();
    let mut words: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.span.of(text);
        match token.kind {
            TokenKind::Word if is_qualifier(word) => {}
            TokenKind::Word if name.pointers == 0 => words.push(token.span.text(text)),
            TokenKind::Punct(b'*') if !words.is_empty() => name.pointers += 1,
            TokenKind::Punct(b'[') if !words.is_empty() => {
                name.dimensions = dimensions(text, tokens.get(at..)?)?;
                break;
            }
            _ => return None,
        }
    }
    name.base = words.join(" ");
    is_type(&words).then_some(name)
}

/// The type that the words of a declaration name: one that is known to be a
/// type, or a single word that may be a typedef.
pub(crate) fn type_of_words(text: &[u8], words: &[Token]) -> Option<TypeName> {
    let words: Vec<Token> = words
        .iter()
        .filter(|t| !is_qualifier(t.span.of(text)))
        .copied()
        .collect();
    let single = || {
        let word = words.first().filter(|t| t.kind == TokenKind::Word)?;
        let named = words.len() == 1 && !is_statement(word.span.of(text));
        named.then(|| TypeName {
            base: word.span.text(text),
            ..TypeName::default()
        })
    };
    type_name(text, &words).or_else(single)
}

/// Words that begin a statement, and so name no type.
fn is_statement(word: &[u8]) -> bool {
    matches!(word, b"return" | b"goto" | b"else" | b"do" | b"case")
}

/// The dimensions of an array, `[4][N]`.
pub(crate) fn dimensions(text: &[u8], mut tokens: &[Token]) -> Option<Vec<Extent>> {
    let mut found = Vec::new();
    while tokens.first().is_some_and(|t| t.is(b'[')) {
        let close = closing(tokens, 0)?;
        found.push(extent(text, tokens.get(1..close)?, &|_| None)?);
        tokens = tokens.get(close + 1..)?;
    }
    Some(found)
}

/// Whether a word of a declaration says how what it names may be used, and not what
/// it is.
#[must_use]
pub fn is_qualifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"const" | b"volatile" | b"__user" | b"static" | b"register" | b"__force" | b"__iomem"
    )
}

/// Words that make a type for sure: a tag, a plain type, or a known abbreviation.
fn is_type(words: &[String]) -> bool {
    let first = words.first().map(String::as_str).unwrap_or_default();
    match words.len() {
        0 => false,
        2 if matches!(first, "struct" | "union" | "enum") => true,
        _ => words.iter().all(|word| is_plain(word)) || words.len() == 1 && first.ends_with("_t"),
    }
}

fn is_plain(word: &str) -> bool {
    const PLAIN: [&str; 26] = [
        "char", "short", "int", "long", "unsigned", "signed", "void", "bool", "u8", "u16", "u32",
        "u64", "s8", "s16", "s32", "s64", "__u8", "__u16", "__u32", "__u64", "__s8", "__s16",
        "__s32", "__s64", "__be32", "__le32",
    ];
    PLAIN.contains(&word)
}

/// `x`, `*p`, `p->a.b`, `x[0]`: a variable and what is done to it.
fn object(
    text: &[u8],
    tokens: &[Token],
    declared: &dyn Fn(&[u8]) -> Option<TypeName>,
    depth: usize,
) -> Option<TypeName> {
    let stars = tokens.iter().take_while(|t| t.is(b'*')).count();
    let rest = tokens.get(stars..)?;
    if rest.first()?.is(b'(') && closing(rest, 0)? + 1 == rest.len() {
        let inside = rest.get(1..rest.len() - 1).filter(|_| depth < DEEPEST)?;
        let inner = object(text, inside, declared, depth + 1)?;
        return Some(TypeName {
            dereferences: inner.dereferences + stars,
            ..inner
        });
    }
    let variable = rest.first().filter(|t| t.kind == TokenKind::Word)?;
    let mut name = declared(variable.span.of(text))?;
    let mut at = 1;
    while let Some(token) = rest.get(at) {
        match token.kind {
            TokenKind::Punct(b'.') => at += 1,
            TokenKind::Punct(b'-') if rest.get(at + 1)?.is(b'>') => at += 2,
            TokenKind::Punct(b'[') => {
                name.dereferences += 1;
                at = closing(rest, at)? + 1;
                continue;
            }
            _ => return None,
        }
        let field = rest.get(at).filter(|t| t.kind == TokenKind::Word)?;
        name.fields.push(field.span.text(text));
        // What was indexed before is what the field is taken of.
        name.dereferences = 0;
        at += 1;
    }
    name.dereferences += stars;
    Some(name)
}
