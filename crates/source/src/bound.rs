//! How long and how deep a text may be that is looked at: what walks it calls
//! itself for each level, and a thread's stack is small (2 MiB for those that
//! read a tree). The parser itself keeps its stack on the heap.

use tree_sitter::Tree;

use crate::lex::{Token, TokenKind};
use crate::span::Span;

/// Longer than any function of the kernel, in bytes.
const LONGEST: usize = 200_000;

/// Deeper than any function of the kernel, in brackets or nodes of the parse: of
/// Linux 6.12, 64 would leave none out. A level takes up to 4.5 KiB of stack where
/// nothing is optimised.
pub(crate) const DEEPEST: usize = 200;

/// Why there is no parse to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unparsed {
    /// It is longer or deeper than what is looked at.
    TooLarge,
    /// The parser gave up.
    NotUnderstood,
}

/// Whether a body may be looked at, as far as its tokens show it.
pub(crate) fn is_bounded(body: Span, tokens: &[Token]) -> bool {
    body.end - body.start <= LONGEST && depth(tokens) <= DEEPEST
}

/// How deep brackets are nested.
fn depth(tokens: &[Token]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for token in tokens {
        match token.kind {
            TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Whether a parse may be walked: a chain of operators is as deep as it is long.
/// What holds fewer nodes than levels are left is not gone into.
pub(crate) fn is_shallow(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    let mut left = DEEPEST;
    loop {
        // A node counts among its own.
        let may_be_deep = cursor.node().descendant_count() > left + 1;
        if may_be_deep && cursor.goto_first_child() {
            if left == 0 {
                return false;
            }
            left -= 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return true;
            }
            left += 1;
        }
    }
}
