//! Comments that allow something: `// tollgate: allow RULE reason`.

use crate::lex::TokenKind;
use crate::span::Span;

use super::context::FileContext;
use super::model::Violation;
use super::rules::{allow_without_reason, rule, unused_allow};
use super::words::MARK;

/// A comment that allows a rule to be broken somewhere.
#[derive(Clone, Debug)]
struct Allow {
    comment: Span,
    rule: String,
    /// The lines that it covers.
    lines: std::ops::RangeInclusive<u32>,
    used: bool,
}

/// Takes out what comments allow, and adds what is wrong with the comments.
/// Returns how many violations were allowed.
pub(crate) fn apply(file: &FileContext<'_>, violations: &mut Vec<Violation>) -> usize {
    if memchr::memmem::find(file.text, MARK.as_bytes()).is_none() {
        return 0;
    }
    let mut bad = Vec::new();
    let mut allows = allows(file, &mut bad);
    let before = violations.len();
    violations.retain(|violation| !is_allowed(&mut allows, violation));
    let allowed = before - violations.len();
    let unused = allows.iter().filter(|allow| !allow.used);
    violations.extend(unused.map(|allow| {
        let message = format!("nothing here breaks {}, which is allowed", allow.rule);
        file.violation(
            &unused_allow::INFO,
            allow.comment,
            "allows nothing",
            message,
        )
    }));
    violations.append(&mut bad);
    allowed
}

fn is_allowed(allows: &mut [Allow], violation: &Violation) -> bool {
    let mut lines = vec![violation.mark.position.line];
    lines.extend(violation.related.iter().map(|mark| mark.position.line));
    let covers = |allow: &&mut Allow| {
        allow.rule == violation.rule && lines.iter().any(|line| allow.lines.contains(line))
    };
    let mut found = false;
    for allow in allows.iter_mut().filter(covers) {
        allow.used = true;
        found = true;
    }
    found
}

fn allows(file: &FileContext<'_>, bad: &mut Vec<Violation>) -> Vec<Allow> {
    let mut found = Vec::new();
    for (at, token) in file.tokens.iter().enumerate() {
        if token.kind != TokenKind::Comment {
            continue;
        }
        let text = token.span.text(file.text);
        let Some(rest) = request(&text) else { continue };
        let (name, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match (rule(name), reason.trim()) {
            (None, _) => {
                let message = format!("there is no rule {name}");
                bad.push(file.violation(
                    &allow_without_reason::INFO,
                    token.span,
                    "allows nothing",
                    message,
                ));
            }
            (Some(_), "") => {
                let message = format!("{name} is allowed here, but the comment does not say why");
                bad.push(file.violation(
                    &allow_without_reason::INFO,
                    token.span,
                    "no reason behind the rule",
                    message,
                ));
            }
            (Some(_), _) => found.push(Allow {
                comment: token.span,
                rule: name.to_owned(),
                lines: lines(file, at, token.span),
                used: false,
            }),
        }
    }
    found
}

/// What follows `tollgate: allow` in a comment.
fn request(comment: &str) -> Option<&str> {
    let inner = comment
        .strip_prefix("//")
        .or_else(|| comment.strip_prefix("/*")?.strip_suffix("*/"))?;
    let rest = inner.trim().strip_prefix(MARK)?.trim_start();
    rest.strip_prefix("allow").map(str::trim)
}

/// The comment's own line; for one that stands alone, the next line with code;
/// before a function, all of it.
fn lines(file: &FileContext<'_>, at: usize, comment: Span) -> std::ops::RangeInclusive<u32> {
    let line = |byte: usize| file.lines.position(byte).line;
    let own = line(comment.start);
    let start = file.lines.line_start(comment.start);
    let alone = Span::new(start, comment.start)
        .of(file.text)
        .iter()
        .all(u8::is_ascii_whitespace);
    let next = file
        .tokens
        .iter()
        .skip(at + 1)
        .find(|t| t.kind != TokenKind::Comment);
    let Some(next) = next.filter(|_| alone) else {
        return own..=own;
    };
    let function = file
        .bodies
        .iter()
        .find(|body| body.header.start == next.span.start);
    match function {
        Some(body) => own..=line(body.span.end),
        None => own..=line(next.span.start),
    }
}
