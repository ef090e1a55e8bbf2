//! The parser for the body of one function.

use tree_sitter::{LanguageError, Parser, Point, Range, Tree};

use crate::normalise::Normalised;
use crate::span::Span;

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
