//! The names of types, as casts and `sizeof` have them.

use crate::lex::{Token, TokenKind};

/// A type as a cast or a `sizeof` names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeName {
    /// `struct name`, `union name`, or the words of a plain type.
    pub base: String,
    /// How often it is a pointer.
    pub pointers: usize,
    /// The tokens of its dimensions, as they are written.
    pub dimensions: Vec<String>,
}

/// `struct name`, `unsigned int *`, `u32`, `char [16]`, where it may be a variable as well.
pub(crate) fn type_name(text: &[u8], tokens: &[Token]) -> Option<TypeName> {
    read(text, tokens, |words, _| is_type(words))
}

/// What stands in the brackets of a cast: whatever name is followed by a star, and any at
/// all where what is cast can be no operand of an operator in front of it (`told`).
pub(crate) fn cast_name(text: &[u8], tokens: &[Token], told: bool) -> Option<TypeName> {
    let alone = |words: &[String]| words.len() == 1;
    read(text, tokens, |words, name| {
        is_type(words) || alone(words) && (told || name.pointers > 0)
    })
}

fn read(
    text: &[u8],
    tokens: &[Token],
    is: impl Fn(&[String], &TypeName) -> bool,
) -> Option<TypeName> {
    let mut name = TypeName::default();
    let mut words: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = token.span.of(text);
        match token.kind {
            TokenKind::Word if is_qualifier(word) => {}
            TokenKind::Word if name.pointers == 0 => words.push(token.span.text(text)),
            TokenKind::Punct(b'*') if !words.is_empty() => name.pointers += 1,
            TokenKind::Punct(b'[') if !words.is_empty() => {
                let rest = tokens.get(at..)?.iter();
                name.dimensions = rest.map(|token| token.span.text(text)).collect();
                break;
            }
            _ => return None,
        }
    }
    name.base = words.join(" ");
    is(&words, &name).then_some(name)
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
