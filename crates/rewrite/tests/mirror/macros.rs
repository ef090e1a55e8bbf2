//! Macros of a file around unsafe accesses, written out where a function uses them:
//! what they were before they were macros.

use tollgate_source::{Body, Span, TokenKind, closing, tokens};

/// A macro: its parameters, and the statements that it is.
struct Macro {
    name: String,
    parameters: Vec<String>,
    statements: Vec<String>,
}

/// The text with the macros written out in one function, and their names.
pub(crate) fn written_out(text: &str, body: &Body) -> (String, Vec<String>) {
    let known = macros(text);
    let upto = &text.as_bytes()[..body.span.end];
    let code: Vec<_> = tokens(upto, body.span.start)
        .into_iter()
        .filter(|t| t.is_code())
        .collect();
    let word = |span: Span| &text[span.start..span.end];
    let (mut out, mut at, mut used) = (String::new(), 0, Vec::new());
    for (index, token) in code.iter().enumerate() {
        let Some(own) = known.iter().find(|own| own.name == word(token.span)) else {
            continue;
        };
        let close = closing(&code, index + 1).unwrap();
        let given = arguments(word(Span::new(
            code[index + 1].span.end,
            code[close].span.start,
        )));
        let line = text[..token.span.start].rfind('\n').unwrap() + 1;
        let indent = &text[line..token.span.start];
        let all: Vec<String> = own
            .statements
            .iter()
            .map(|line| replaced(line, &own.parameters, &given))
            .collect();
        out += &text[at..token.span.start];
        out += &all.join(&format!("\n{indent}"));
        at = code[close + 1].span.end;
        if !used.contains(&own.name) {
            used.push(own.name.clone());
        }
    }
    (out + &text[at..], used)
}

/// The macros of a file that are unsafe accesses and nothing else.
fn macros(text: &str) -> Vec<Macro> {
    let all = tokens(text.as_bytes(), 0).into_iter();
    let lines = all.filter(|token| token.kind == TokenKind::Directive);
    let found = lines.filter_map(|line| defined(&text[line.span.start..line.span.end]));
    found.collect()
}

fn defined(line: &str) -> Option<Macro> {
    let line = line.replace("\\\n", " ");
    let rest = line.strip_prefix("#define ")?;
    let (name, rest) = rest.split_once('(')?;
    let (parameters, inside) = rest.split_once(')')?;
    let label = parameters.rsplit(',').next()?.trim();
    if !name.starts_with("unsafe_") && !inside.contains(&format!(", {label});")) {
        return None;
    }
    let inside = inside.trim();
    let block = inside
        .strip_prefix("do {")
        .and_then(|rest| rest.strip_suffix("} while (0)"));
    let mut statements = Vec::new();
    let mut names = arguments(parameters);
    let mut aliases: Vec<(String, String)> = Vec::new();
    for statement in block
        .unwrap_or(inside)
        .split(';')
        .map(str::trim)
        .filter(|s| !s.is_empty())
    {
        let known = [
            "unsafe_put_user(",
            "unsafe_get_user(",
            "unsafe_copy_to_user(",
        ];
        let asked = statement.strip_prefix("if (").and_then(|rest| {
            let at = known.iter().find_map(|call| rest.find(call))?;
            rest[..at].trim_end().ends_with(')').then_some(())
        });
        if known.iter().any(|call| statement.starts_with(call)) || asked.is_some() {
            let words: Vec<&str> = statement.split_whitespace().collect();
            statements.push(format!("{};", words.join(" ")));
        } else {
            let (variable, value) = statement.split_once(" = (")?;
            let value = value
                .strip_suffix(')')
                .filter(|value| names.contains(&(*value).to_owned()))?;
            let variable = variable.rsplit([' ', '*']).next()?;
            aliases.push((variable.to_owned(), value.to_owned()));
        }
    }
    let (from, to): (Vec<String>, Vec<String>) = aliases.into_iter().unzip();
    let statements = statements
        .iter()
        .map(|line| replaced(line, &from, &to))
        .collect();
    names.retain(|name| !name.is_empty());
    Some(Macro {
        name: name.to_owned(),
        parameters: names,
        statements,
    })
}

/// A text with each of some words as another text.
fn replaced(text: &str, words: &[String], by: &[String]) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for token in tokens(text.as_bytes(), 0) {
        let own = &text[token.span.start..token.span.end];
        let found = words.iter().position(|word| word == own);
        out += &text[at..token.span.start];
        out += found.map_or(own, |found| &by[found]);
        at = token.span.end;
    }
    out + &text[at..]
}

/// What commas part outside parentheses.
fn arguments(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match c {
            ',' if depth == 0 => found.push(String::new()),
            c => found.last_mut().unwrap().push(c),
        }
    }
    found
        .iter()
        .map(|own| own.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}
