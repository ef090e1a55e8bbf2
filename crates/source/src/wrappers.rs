//! Macros of the tree that wrap an access: `COPY(x)`, `FPU_get_user(x, p)`.

use crate::lex::{Token, TokenKind, closing, tokens};
use crate::span::Span;
use crate::vocabulary::{Access, Vocabulary};

/// A macro around an access, from its definition on.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    /// Where the line that defines it begins.
    pub(crate) defined: usize,
    /// The access.
    pub(crate) access: Access,
}

/// The accesses that the macros of a file wrap, in order; one name may be
/// defined again.
pub(crate) fn wrappers(text: &[u8], all: &[Token], vocabulary: &Vocabulary) -> Vec<Wrapper> {
    let lines = all
        .iter()
        .filter(|token| token.kind == TokenKind::Directive);
    lines
        .filter_map(|line| {
            let access = wrapper(text, line.span, vocabulary)?;
            Some(Wrapper {
                defined: line.span.start,
                access,
            })
        })
        .collect()
}

/// The place of the name that a line defines, and the tokens behind it.
pub(crate) fn definition(text: &[u8], line: Span) -> Option<(Span, Vec<Token>)> {
    let inside = tokens(text.get(..line.end).unwrap_or_default(), line.start + 1);
    let name = inside
        .get(1)
        .filter(|token| token.kind == TokenKind::Word)?;
    let defines = inside.first()?.span.of(text) == b"define";
    defines.then(|| (name.span, inside.get(2..).unwrap_or_default().to_vec()))
}

fn wrapper(text: &[u8], line: Span, vocabulary: &Vocabulary) -> Option<Access> {
    memchr::memmem::find(line.of(text), b"t_user")?;
    let (name, rest) = definition(text, line)?;
    let has_arguments = rest
        .first()
        .is_some_and(|t| t.is(b'(') && t.span.start == name.end);
    let body = rest.get(closing(&rest, 0)? + 1..)?;
    if !has_arguments || vocabulary.access(name.of(text)).is_some() || !wraps(text, name, body) {
        return None;
    }
    let wrapped = body.iter().enumerate().find_map(|(at, token)| {
        let access = vocabulary.access(token.span.of(text))?;
        body.get(at + 1)
            .is_some_and(|next| next.is(b'('))
            .then_some(access)
    })?;
    Some(Access {
        name: name.text(text),
        wrapper: true,
        reason: format!("a macro around {}()", wrapped.name),
        ..wrapped.clone()
    })
}

/// A macro that defines a function, or that belongs inside a window, is no access.
fn wraps(text: &[u8], name: Span, body: &[Token]) -> bool {
    let opens = [b"unsafe_".as_slice(), b"scoped_", b"user_"];
    let inside = opens.iter().any(|prefix| name.of(text).starts_with(prefix));
    let defines = body
        .iter()
        .any(|token| matches!(token.span.of(text), b"static" | b"return" | b"case"));
    !inside && !defines
}
