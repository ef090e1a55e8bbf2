use crate::check::context::FileContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Suggestion, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::tokens::{TokenCall, calls, next_code, previous_code};
use crate::lex::{Token, TokenKind, tokens};
use crate::search::Hashed;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Words(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "wrong-argument-count",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a user access with too few or too many arguments",
    why: "It does not build, but only where it is built: code behind an #ifdef that no common \
          configuration sets stays broken until somebody builds that.",
};

fn check(file: &FileContext<'_>, out: &mut Vec<Violation>) {
    judge(file, file.tokens, 0, out);
    let lines = file.tokens.iter();
    for line in lines.filter(|t| t.kind == TokenKind::Directive) {
        if file.words.may_count(line.span.of(file.text)) {
            let text = file.text.get(..line.span.end).unwrap_or_default();
            // `define` and the name that it defines are no call.
            judge(file, &tokens(text, line.span.start + 1), 2, out);
        }
    }
}

fn judge(file: &FileContext<'_>, all: &[Token], first: usize, out: &mut Vec<Violation>) {
    let wanted = |name: &str| {
        let known = file.words.may_mean(Hashed::of(name.as_bytes()));
        known && file.words.arity(name).is_some()
    };
    for call in calls(file.text, all, wanted) {
        if call.at >= first && !is_declared(file, all, &call) {
            out.extend(counted(file, all, &call));
        }
    }
}

/// `int access_ok(const void *p, …);`, or a function of the file's own.
fn is_declared(file: &FileContext<'_>, all: &[Token], call: &TokenCall) -> bool {
    let before = previous_code(all, call.at);
    let after_type = before.is_some_and(|t| {
        let statement = matches!(
            t.span.of(file.text),
            b"return" | b"else" | b"do" | b"case" | b"goto"
        );
        t.is(b'*') || t.kind == TokenKind::Word && !statement
    });
    let name = call.name.text(file.text);
    after_type && !in_body(file, call.name) || file.bodies.iter().any(|body| body.name == name)
}

fn in_body(file: &FileContext<'_>, place: Span) -> bool {
    file.holder(place)
        .is_some_and(|body| body.span.contains(place))
}

fn counted(file: &FileContext<'_>, all: &[Token], call: &TokenCall) -> Option<Violation> {
    let name = call.name.text(file.text);
    let wanted = file.words.arity(&name)?;
    let have = call.arguments.len();
    let unknown = call.arguments.iter().any(|argument| {
        let text = argument.of(file.text);
        memchr::memmem::find(text, b"__VA_ARGS__").is_some() || text.ends_with(b"...")
    });
    if wanted.contains(&have) || unknown {
        return None;
    }
    let takes: Vec<String> = wanted.iter().map(ToString::to_string).collect();
    let takes = takes.join(" or ");
    let message = format!("{name}() takes {takes} arguments, not {have}");
    let label = format!("{have} given");
    let mut violation = file.violation(&INFO, call.span, &label, message);
    violation.suggestion = misplaced(file, all, call).filter(|_| wanted.contains(&(have + 1)));
    Some(violation)
}

/// `f(a, b), label);`: the parenthesis closes too early.
fn misplaced(file: &FileContext<'_>, all: &[Token], call: &TokenCall) -> Option<Suggestion> {
    let comma = next_code(all, call.close + 1)?;
    let label = next_code(all, comma + 1)?;
    let last = next_code(all, label + 1)?;
    let early = all.get(comma)?.is(b',')
        && all.get(label)?.kind == TokenKind::Word
        && all.get(last)?.is(b')');
    let close = all.get(call.close)?.span;
    early.then(|| Suggestion {
        span: close,
        text: String::new(),
        why: format!(
            "{} belongs inside the parentheses",
            all.get(label)
                .map(|t| t.span.text(file.text))
                .unwrap_or_default()
        ),
    })
}
