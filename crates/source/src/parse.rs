//! The parser for the body of one function.

use std::cell::RefCell;

use tree_sitter::{LanguageError, Parser, Point, Range, Tree};

use crate::bound::{Unparsed, is_bounded, is_shallow};
use crate::lex::Token;
use crate::normalise::Normalised;
use crate::span::Span;

thread_local! {
    /// What [`parse`] parses with: to make one takes as long as a short text does.
    static PARSER: RefCell<Option<BodyParser>> = const { RefCell::new(None) };
}

/// [`BodyParser::parse`] by a parser that each thread makes once, for who has none.
pub(crate) fn parse(
    normalised: &Normalised,
    body: Span,
    tokens: &[Token],
) -> Result<Tree, Unparsed> {
    PARSER.with_borrow_mut(|own| {
        let made = match own.take() {
            Some(made) => made,
            None => BodyParser::new().map_err(|_| Unparsed::NotUnderstood)?,
        };
        own.insert(made).parse(normalised, body, tokens)
    })
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

    /// The parse of the bytes in `body`, of which those are the tokens; places
    /// count from the start of the text. It is no deeper than what may be walked.
    pub(crate) fn parse(
        &mut self,
        normalised: &Normalised,
        body: Span,
        tokens: &[Token],
    ) -> Result<Tree, Unparsed> {
        if !is_bounded(body, tokens) {
            return Err(Unparsed::TooLarge);
        }
        let tree = self
            .whole(normalised, body)
            .ok_or(Unparsed::NotUnderstood)?;
        if is_shallow(&tree) {
            Ok(tree)
        } else {
            Err(Unparsed::TooLarge)
        }
    }

    fn whole(&mut self, normalised: &Normalised, body: Span) -> Option<Tree> {
        let range = Range {
            start_byte: body.start,
            end_byte: body.end,
            start_point: Point::new(0, 0),
            end_point: Point::new(usize::MAX >> 33, 0),
        };
        match self.0.set_included_ranges(&[range]) {
            Ok(()) => self.0.parse(&normalised.text, None),
            Err(_) => None,
        }
    }
}
