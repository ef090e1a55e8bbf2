use crate::check::model::{Confidence, Severity, Suggestion, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Page;
use crate::check::tokens::{TokenCall, arguments, calls};
use crate::lex::{Token, TokenKind, closing};
use crate::span::Span;
use crate::wrappers::definition;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Words(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "macro-label",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a macro around accesses jumps to a label that is not the one it is given",
    why: "It works as long as every user of the macro has a label of that name; the next one does not \
          build, or jumps to the wrong exit.",
};

fn check(page: &Page<'_>, out: &mut Vec<Violation>) {
    let lines = page.tokens.iter();
    for line in lines.filter(|t| t.kind == TokenKind::Directive) {
        if page.words.may_be_inside(line.span.of(page.text)) {
            out.extend(in_macro(page, line.span).unwrap_or_default());
        }
    }
}

fn in_macro(page: &Page<'_>, line: Span) -> Option<Vec<Violation>> {
    let (_, rest) = definition(page.text, line)?;
    let close = closing(&rest, 0)?;
    let parameters: Vec<&[u8]> = arguments(&rest, 0, close)
        .into_iter()
        .map(|span| span.of(page.text))
        .collect();
    let body = rest.get(close + 1..)?;
    let accesses: Vec<(TokenCall, Span)> =
        calls(page.text, body, |name| page.words.in_window(name).is_some())
            .into_iter()
            .filter_map(|call| {
                let wanted = page.words.in_window(&call.name.text(page.text))?.arguments;
                let label = *call
                    .arguments
                    .last()
                    .filter(|_| call.arguments.len() == wanted)?;
                Some((call, label))
            })
            .collect();
    let given = accesses
        .iter()
        .map(|(_, label)| label.of(page.text))
        .find(|label| parameters.contains(label))?;
    let strange = accesses.iter().filter(|(_, label)| {
        let text = label.of(page.text);
        !parameters.contains(&text) && !is_defined(page, body, text)
    });
    let found = strange.map(|(call, label)| violation(page, call, *label, given));
    Some(found.collect())
}

/// Whether the body of the macro holds the label.
fn is_defined(page: &Page<'_>, body: &[Token], label: &[u8]) -> bool {
    body.windows(2).any(|pair| {
        let [first, second] = pair else { return false };
        first.span.of(page.text) == label && second.is(b':')
            || first.span.of(page.text) == b"__label__" && second.span.of(page.text) == label
    })
}

fn violation(page: &Page<'_>, call: &TokenCall, label: Span, given: &[u8]) -> Violation {
    let given = String::from_utf8_lossy(given).into_owned();
    let message = format!(
        "{}() jumps to {}, but the label that the macro is given is {given}",
        call.name.text(page.text),
        label.text(page.text)
    );
    let mut violation = page.violation(&INFO, label, "not a parameter of the macro", message);
    violation.suggestion = Some(Suggestion {
        span: label,
        text: given,
        why: "jump where the others do".to_owned(),
    });
    violation
}
