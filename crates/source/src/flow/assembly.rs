//! The operands of assembly, which the grammar does not know.

use crate::lex::{Token, TokenKind, closing};
use crate::span::Span;

/// Words that assembly begins with.
pub(crate) fn is_assembly(word: &[u8]) -> bool {
    matches!(
        word,
        b"asm" | b"__asm__" | b"__asm" | b"asm_inline" | b"__asm_inline"
    )
}

/// An expression that assembly is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    /// The expression, with its parentheses.
    pub(crate) value: Span,
    /// Whether it takes a value.
    pub(crate) writes: bool,
    /// Whether its value is needed.
    pub(crate) reads: bool,
}

/// What an `asm` has besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assembly {
    pub(crate) operands: Vec<Operand>,
    /// The labels that it may jump to.
    pub(crate) labels: Vec<Span>,
}

/// The opening and the closing parenthesis of the assembly whose word is at `at`.
pub(crate) fn parentheses(tokens: &[Token], at: usize) -> Option<(usize, usize)> {
    let near = at + 1..tokens.len().min(at + 5);
    let open = near
        .into_iter()
        .find(|&i| tokens.get(i).is_some_and(|t| t.is(b'(')))?;
    Some((open, closing(tokens, open)?))
}

/// The operands of the assembly whose word is at `at`: `"=r"(x), [p] "+m"(*p)`.
pub(crate) fn operands(text: &[u8], tokens: &[Token], at: usize) -> Option<Assembly> {
    let (open, close) = parentheses(tokens, at)?;
    let mut found = Assembly::default();
    let (mut section, mut next) = (0, open + 1);
    let mut constraint: Option<Span> = None;
    while next < close {
        let token = tokens.get(next)?;
        match token.kind {
            TokenKind::Punct(b':') => section += 1,
            TokenKind::Literal => constraint = Some(token.span),
            TokenKind::Word if section == 4 => found.labels.push(token.span),
            TokenKind::Punct(b'(') => {
                let end = closing(tokens, next)?;
                let value = token.span.join(tokens.get(end)?.span);
                if let (1 | 2, Some(constraint)) = (section, constraint.take()) {
                    let written = section == 1;
                    let both = constraint.of(text).get(1) == Some(&b'+');
                    found.operands.push(Operand {
                        value,
                        writes: written,
                        reads: !written || both,
                    });
                }
                next = end;
            }
            TokenKind::Punct(b'[') => next = closing(tokens, next)?,
            _ => {}
        }
        next += 1;
    }
    Some(found)
}
