use crate::check::context::FileContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Suggestion, Violation};
use crate::check::rule::{Look, Rule};
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

fn check(file: &FileContext<'_>, out: &mut Vec<Violation>) {
    let lines = file.tokens.iter();
    for line in lines.filter(|t| t.kind == TokenKind::Directive) {
        if file.words.may_be_inside(line.span.of(file.text)) {
            out.extend(in_macro(file, line.span).unwrap_or_default());
        }
    }
}

fn in_macro(file: &FileContext<'_>, line: Span) -> Option<Vec<Violation>> {
    let (_, rest) = definition(file.text, line)?;
    let close = closing(&rest, 0)?;
    let parameters: Vec<&[u8]> = arguments(&rest, 0, close)
        .into_iter()
        .map(|span| span.of(file.text))
        .collect();
    let body = rest.get(close + 1..)?;
    let accesses: Vec<(TokenCall, Span)> =
        calls(file.text, body, |name| file.words.in_window(name).is_some())
            .into_iter()
            .filter_map(|call| {
                let wanted = file.words.in_window(&call.name.text(file.text))?.arguments;
                let label = *call
                    .arguments
                    .last()
                    .filter(|_| call.arguments.len() == wanted)?;
                Some((call, label))
            })
            .collect();
    let given = accesses
        .iter()
        .map(|(_, label)| label.of(file.text))
        .find(|label| parameters.contains(label))?;
    let strange = accesses.iter().filter(|(_, label)| {
        let text = label.of(file.text);
        !parameters.contains(&text) && !is_defined(file, body, text)
    });
    let found = strange.map(|(call, label)| violation(file, call, *label, given));
    Some(found.collect())
}

/// Whether the body of the macro holds the label.
fn is_defined(file: &FileContext<'_>, body: &[Token], label: &[u8]) -> bool {
    body.windows(2).any(|pair| {
        let [first, second] = pair else { return false };
        first.span.of(file.text) == label && second.is(b':')
            || first.span.of(file.text) == b"__label__" && second.span.of(file.text) == label
    })
}

fn violation(file: &FileContext<'_>, call: &TokenCall, label: Span, given: &[u8]) -> Violation {
    let given = String::from_utf8_lossy(given).into_owned();
    let message = format!(
        "{}() jumps to {}, but the label that the macro is given is {given}",
        call.name.text(file.text),
        label.text(file.text)
    );
    let mut violation = file.violation(&INFO, label, "not a parameter of the macro", message);
    violation.suggestion = Some(Suggestion {
        span: label,
        text: given,
        why: "jump where the others do".to_owned(),
    });
    violation
}
