//! The parser for the body of one function.

use tree_sitter::{LanguageError, Parser, Point, Range, Tree};

use crate::normalise::Normalised;
use crate::span::Span;

/// Deeper than any function of the kernel, in brackets or nodes of the parse.
pub(crate) const DEEPEST: usize = 320;

/// Whether a parse is nested deeper than what is followed.
pub(crate) fn is_deep(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0usize;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > DEEPEST {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth = depth.saturating_sub(1);
        }
    }
}

/// Parses bodies, one after the other.
pub(crate) struct BodyParser(Parser);

impl BodyParser {
    /// # Errors
    /// When the grammar was built for another parser library.
    pub(crate) fn new() -> Result<Self, LanguageError> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into())?;
        Ok(Self(parser))
    }

    /// The parse of the bytes in `body`; places count from the start of the text.
    pub(crate) fn parse(&mut self, normalised: &Normalised, body: Span) -> Option<Tree> {
        let range = Range {
            start_byte: body.start,
            end_byte: body.end,
            start_point: Point::new(0, 0),
            end_point: Point::new(usize::MAX >> 33, 0),
        };
        self.0.set_included_ranges(&[range]).ok()?;
        self.0.parse(&normalised.text, None)
    }
}
