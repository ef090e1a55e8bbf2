//! Where a window's way out can stand so that it falls into the label that the
//! fault goes to: `efault: user_access_end(); out: …`.

use tollgate_source::{Span, Token, TokenKind, tokens};

use crate::plan::Subject;

/// The line of the label that a way out of `statements` goes to, if they do no
/// more than that and nothing else comes to the line before the label.
pub(crate) fn place(subject: &Subject<'_>, statements: &[String]) -> Option<usize> {
    let [only] = statements else {
        return None;
    };
    let name = only.strip_prefix("goto ")?.strip_suffix(';')?;
    let mut labels = subject.outline.labels.iter();
    let (_, label) = labels.find(|(label, _)| label == name)?;
    let upto = subject.text.get(..label.start)?;
    let before = tokens(upto, subject.function.body.start + 1);
    let apart = subject.indent(label.start).len() + subject.line_start(label.start);
    let alone = apart == label.start && depth(&before) == 0;
    (alone && jumps(subject, &before)).then(|| subject.line_start(label.start))
}

/// How many blocks are open behind the tokens.
fn depth(before: &[Token]) -> usize {
    let count = |byte: u8| before.iter().filter(|token| token.is(byte)).count();
    count(b'{').saturating_sub(count(b'}'))
}

/// Whether the last statement leaves, whatever the condition or configuration.
fn jumps(subject: &Subject<'_>, before: &[Token]) -> bool {
    let Some((last, rest)) = before.split_last() else {
        return false;
    };
    let boundary = |token: &Token| [b';', b'{', b'}', b':'].iter().any(|b| token.is(*b));
    let start = rest.iter().rposition(boundary).map_or(0, |at| at + 1);
    let statement = rest.get(start..).unwrap_or_default();
    let plain = statement
        .iter()
        .all(|token| !matches!(token.kind, TokenKind::Directive | TokenKind::Comment));
    let word = statement.first().map_or(Span::new(0, 0), |t| t.span);
    last.is(b';') && plain && matches!(subject.at(word).as_str(), "return" | "goto")
}
