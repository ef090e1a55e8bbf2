//! Functions as text: changed, found, and held against each other.

use tollgate_source::{Body, Span, Token, TokenKind, Vocabulary, bodies, tokens};

/// What a statement is replaced with.
pub(crate) type Change = (Span, String);

/// A text with changes made; one inside another is left out.
pub(crate) fn changed(text: &str, mut changes: Vec<Change>) -> String {
    changes.sort_by_key(|(span, _)| *span);
    let mut out = String::new();
    let mut at = 0;
    for (span, change) in changes {
        if span.start < at {
            continue;
        }
        out += &text[at..span.start];
        out += &change;
        at = span.end;
    }
    out + &text[at..]
}

/// Statements of a function, one a line, labels by number.
pub(crate) fn statements(text: &str, body: &Body) -> String {
    let place = body.header.join(body.span);
    let upto = text.as_bytes().get(..place.end).unwrap();
    let all = tokens(upto, place.start);
    let word = |token: &Token| text.get(token.span.start..token.span.end).unwrap();
    let is_label = |pair: &[Token]| {
        pair[0].kind == TokenKind::Word && pair[1].is(b':') && !matches!(word(&pair[0]), "default")
    };
    let begins = |before: &Token| {
        [b';', b'{', b'}', b':'].iter().any(|b| before.is(*b)) || !before.is_code()
    };
    let labels: Vec<&str> = all
        .windows(3)
        .filter(|three| begins(&three[0]) && is_label(&three[1..]))
        .map(|three| word(&three[1]))
        .collect();
    let mut numbers: Vec<&str> = Vec::new();
    let mut out = String::new();
    for token in &all {
        let own = word(token);
        if labels.contains(&own) {
            if !numbers.contains(&own) {
                numbers.push(own);
            }
            let number = numbers.iter().position(|have| *have == own).unwrap();
            out += &format!("L{number}");
        } else {
            out += &own.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let ends = [b';', b'{', b'}', b':'].iter().any(|b| token.is(*b)) || !token.is_code();
        out.push(if ends { '\n' } else { ' ' });
    }
    out
}

/// Statements in which a scope that says its pointer's own size has the short form, which
/// is a macro for just that.
pub(crate) fn shortened(statements: &str) -> String {
    let lines = statements.lines().map(|line| {
        let Some((scope, rest)) = line.split_once("_access_size ( ") else {
            return line.to_owned();
        };
        let short = rest.split_once(" , ").and_then(|(object, rest)| {
            let rest = rest.strip_prefix(&format!("sizeof ( * {object} ) , "))?;
            let scope = scope.strip_prefix("scoped_user_")?;
            Some(format!("scoped_user_{scope}_access ( {object} , {rest}"))
        });
        short.unwrap_or_else(|| line.to_owned())
    });
    lines.map(|line| line + "\n").collect()
}

pub(crate) fn find(text: &str, name: &str) -> Body {
    let vocabulary = Vocabulary::builtin().unwrap();
    let all = bodies(text.as_bytes(), &tokens(text.as_bytes(), 0), &vocabulary);
    all.into_iter().find(|body| body.name == name).unwrap()
}

/// The lines that differ.
pub(crate) fn difference(theirs: &str, ours: &str) -> String {
    let patch = diffy::DiffOptions::new()
        .set_context_len(0)
        .create_patch(theirs, ours)
        .to_string();
    let lines = patch.lines().skip(2).filter(|line| !line.starts_with("@@"));
    lines
        .map(|line| format!("    {}\n", line.trim_end()))
        .collect()
}
