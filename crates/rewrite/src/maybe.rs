//! `if (asked && access) exit`: the access happens in the window as it did
//! without one, only if the rest of the condition holds.

use tollgate_source::{Form, Run, Span, StepKind, Token, TokenKind, closing, tokens};

use crate::plan::{Subject, stays};

/// The condition under which the access with that index happens, if a window
/// can ask it: it is the whole rest of its `if`, calls nothing and changes
/// nothing. The first access of a run decides whether the window opens at all.
pub(crate) fn condition(subject: &Subject<'_>, run: &Run, index: usize) -> Option<Span> {
    let step = run.steps.iter().find(|step| step.sites == [index])?;
    let StepKind::Guard {
        form: Form::SequentialIf,
        condition,
        ..
    } = &step.kind
    else {
        return None;
    };
    let site = run.sites.get(index).filter(|_| index > 0)?;
    let upto = subject.text.get(..condition.end)?;
    let code: Vec<Token> = tokens(upto, condition.start)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let joint = last_and(&code)?;
    let asked = Span::new(condition.start, code.get(joint.checked_sub(1)?)?.span.end);
    let rest = code.get(joint + 2)?.span.start;
    let plain = !step.partial && rest <= site.span.start && asked.end < site.span.start;
    (plain && is_pure(subject, asked) && stays(subject, asked).is_ok()).then_some(asked)
}

/// The last `&&` outside parentheses, if no `||` stands beside it.
fn last_and(code: &[Token]) -> Option<usize> {
    let (mut at, mut found) = (0, None);
    while let Some(token) = code.get(at) {
        let twice = |byte| token.is(byte) && code.get(at + 1).is_some_and(|next| next.is(byte));
        if twice(b'|') {
            return None;
        }
        if twice(b'&') && at > 0 {
            found = Some(at);
            at += 1;
        }
        at = closing(code, at).unwrap_or(at) + 1;
    }
    found
}

/// Whether an expression has neither calls nor assignments.
fn is_pure(subject: &Subject<'_>, place: Span) -> bool {
    let text = subject.at(place);
    let upto = subject.text.get(..place.end).unwrap_or_default();
    let code: Vec<Token> = tokens(upto, place.start)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let calls = code
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.kind == TokenKind::Word && b.is(b'(')));
    let compared = text
        .replace("==", "")
        .replace("!=", "")
        .replace("<=", "")
        .replace(">=", "");
    !calls && !compared.contains('=') && !text.contains("++") && !text.contains("--")
}
