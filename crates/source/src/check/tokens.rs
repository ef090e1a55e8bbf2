//! Calls as the words of a file show them.

use crate::lex::{Token, TokenKind, closing, is_member};
use crate::span::Span;
use crate::split::Body;

use super::known::Summaries;
use super::words::CheckWords;
use tollgate_defect::answer;

/// The arguments between the parentheses at `open` and `close`, without what
/// stands around them; none for an empty list.
pub(crate) fn arguments(tokens: &[Token], open: usize, close: usize) -> Vec<Span> {
    let mut found = Vec::new();
    let mut current: Option<Span> = None;
    let (mut depth, mut commas) = (0usize, 0usize);
    for token in tokens.get(open + 1..close).unwrap_or_default() {
        match token.kind {
            TokenKind::Comment | TokenKind::Directive => continue,
            TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
            TokenKind::Punct(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            TokenKind::Punct(b',') if depth == 0 => {
                commas += 1;
                found.push(current.take().unwrap_or(token.span));
                continue;
            }
            _ => {}
        }
        current = Some(current.map_or(token.span, |span| span.join(token.span)));
    }
    let empty = Span::new(
        tokens.get(close).map_or(0, |t| t.span.start),
        tokens.get(close).map_or(0, |t| t.span.start),
    );
    match current {
        Some(last) => found.push(last),
        None if commas > 0 => found.push(empty),
        None => {}
    }
    found
}

/// Where a function declares its parameters; none where its header is not understood.
pub(crate) fn parameter_spans(tokens: &[Token], body: &Body) -> Option<Vec<Span>> {
    let from = tokens.partition_point(|own| own.span.start < body.name_span.end);
    let header = tokens.get(from..body.tokens.start)?;
    Some(arguments(header, 0, closing(header, 0)?))
}

/// The names of a function's parameters; none where its header is not understood.
pub(crate) fn parameters(text: &[u8], tokens: &[Token], body: &Body) -> Option<Vec<String>> {
    let named = |place: &Span| {
        let from = tokens.partition_point(|own| own.span.start < place.start);
        let own = tokens.iter().skip(from);
        let own = own.take_while(|own| own.span.end <= place.end && !own.is(b'['));
        if let Some(name) = pointer_to_function(own.clone()) {
            return name.span.text(text);
        }
        let word = own.filter(|own| own.kind == TokenKind::Word).last();
        word.map_or_else(String::new, |word| word.span.text(text))
    };
    Some(parameter_spans(tokens, body)?.iter().map(named).collect())
}

/// The name of a parameter that is a pointer to a function: `copy` of `int (*copy)(void *, int)`.
fn pointer_to_function<'t>(mut tokens: impl Iterator<Item = &'t Token>) -> Option<&'t Token> {
    tokens.find(|own| own.is(b'('))?;
    tokens.next().filter(|own| own.is(b'*'))?;
    let name = tokens.next().filter(|own| own.kind == TokenKind::Word)?;
    tokens.next().filter(|own| own.is(b')'))?;
    Some(name)
}

/// A call: its name and what stands between its parentheses.
#[derive(Clone, Debug)]
pub(crate) struct TokenCall {
    /// The index of the name.
    pub(crate) at: usize,
    /// The name.
    pub(crate) name: Span,
    /// From the name to the closing parenthesis.
    pub(crate) span: Span,
    /// The index of the closing parenthesis.
    pub(crate) close: usize,
    /// The arguments.
    pub(crate) arguments: Vec<Span>,
}

/// Tokens of the longest call that is read; more is no call of the kernel's.
const LONGEST: usize = 2000;

/// The calls of names that `wanted` picks.
pub(crate) fn calls(
    text: &[u8],
    tokens: &[Token],
    wanted: impl Fn(&str) -> bool,
) -> Vec<TokenCall> {
    let words = tokens.iter().enumerate();
    let words = words.filter(|(_, token)| token.kind == TokenKind::Word);
    let call = |(at, token): (usize, &Token)| {
        let open =
            next_code(tokens, at + 1).filter(|&i| tokens.get(i).is_some_and(|t| t.is(b'(')))?;
        let name = answer::text(token.span.of(text))?;
        (wanted(name) && !is_member(tokens, at)).then_some(())?;
        let near = tokens.get(..tokens.len().min(open + LONGEST))?;
        let close = closing(near, open)?;
        Some(TokenCall {
            at,
            name: token.span,
            span: token.span.join(tokens.get(close)?.span),
            close,
            arguments: arguments(tokens, open, close),
        })
    };
    words.filter_map(call).collect()
}

/// Whether a condition of some words may ask whether an access went well (`!get_user(…)`),
/// or whether a check did (`if (access_ok(…))`).
pub(crate) fn asks_success(
    text: &[u8],
    tokens: &[Token],
    words: &CheckWords,
    known: &Summaries,
) -> bool {
    let before = |at: usize| previous_code(tokens, at);
    let faults = |name: &str| {
        let copies = known.get(name).is_some_and(|own| own.copies.is_some());
        copies || words.access(name).is_some()
    };
    let succeeds = |name: &str| {
        let own = known.get(name).is_some_and(|own| own.succeeds);
        let gives = words.gives_length(name) || words.results().copied(name).is_some();
        own || gives || words.checks_range(name.as_bytes())
    };
    // `copy_from_user(…) == 0`
    let compared = |at: usize| {
        let close = next_code(tokens, at + 1).and_then(|open| closing(tokens, open));
        let sign = close.and_then(|close| tokens.get(next_code(tokens, close + 1)?));
        sign.is_some_and(|sign| sign.is(b'=') || sign.is(b'!'))
    };
    let asks = |(at, token): (usize, &Token)| {
        let own = answer::text(token.span.of(text));
        let own = own.filter(|name| faults(name) || succeeds(name));
        own.is_some_and(|name| match before(at) {
            Some(before) if before.is(b'!') => faults(name),
            Some(before) => {
                // `if (a || f(…))`
                let asked = before.is(b'(') || before.is(b'|');
                asked && succeeds(name) || compared(at)
            }
            None => false,
        })
    };
    let words = tokens.iter().enumerate();
    words
        .filter(|(_, token)| token.kind == TokenKind::Word)
        .any(asks)
}

/// The next token from `from` on that is no comment.
pub(crate) fn next_code(tokens: &[Token], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|&i| tokens.get(i).is_some_and(|t| t.kind != TokenKind::Comment))
}

/// The last token before `at` that is no comment.
pub(crate) fn previous_code(tokens: &[Token], at: usize) -> Option<Token> {
    let before = tokens.get(..at).unwrap_or_default();
    before
        .iter()
        .rev()
        .find(|t| t.kind != TokenKind::Comment)
        .copied()
}
