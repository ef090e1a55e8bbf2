//! A statement that is the whole body of an `if` or a loop stands without braces;
//! more than one in its place needs them.

use tollgate_source::{Span, Token, tokens};

use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// Where an opening brace has to be put for the statements of a place; none
/// where they stand in a block already.
///
/// # Errors
/// When the place is an arm with an `else`: its other arm would need braces, too.
pub(crate) fn opening(subject: &Subject<'_>, place: Span) -> Result<Option<usize>, Refusal> {
    let body = subject.function.body;
    let upto = subject.text.get(..place.start).unwrap_or_default();
    let before = tokens(upto, body.start);
    let before = before.into_iter().rfind(Token::is_code);
    let rest = subject.text.get(..body.end).unwrap_or_default();
    let behind = tokens(rest, place.end).into_iter().find(Token::is_code);
    let word = |token: Option<Token>| token.map_or_else(String::new, |t| subject.at(t.span));
    let is_arm = matches!(word(before).as_str(), ")" | "else" | "do");
    let divided = word(before) != ")" || word(behind) == "else";
    if is_arm && divided {
        return Err(subject.refuse(place, Reason::Arm));
    }
    Ok(before.filter(|_| is_arm).map(|token| token.span.end))
}

/// The indentation of what the statements belong to.
pub(crate) fn outer(indent: &str) -> &str {
    indent.strip_suffix('\t').unwrap_or(indent)
}
