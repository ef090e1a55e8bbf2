//! One HTML page that needs nothing else: no script, no style sheet, no font, no
//! picture from elsewhere. Every text is escaped.

use minijinja::value::Serde;
use minijinja::{Environment, Output, State, UndefinedBehavior, Value, escape_formatter};
use tollgate_defect::{Defect, OrDefect as _};

use crate::document::Document;
use crate::text::{clean_lines, grouped};

/// The template's name ends in `.html`: that is what switches escaping on.
const PAGE: &str = "page.html";
const PAGE_TEXT: &str = include_str!("../../templates/page.html");
const STYLE: &str = include_str!("../../templates/style.css");

pub(super) fn render(document: &Document) -> Result<String, Defect> {
    rendered(document).or_defect("the HTML page cannot be made")
}

fn rendered(document: &Document) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(harmless);
    environment.add_filter("words", words);
    environment.add_filter("figure", figure);
    environment.add_filter("kind", kind);
    environment.add_filter("part", part);
    environment.add_filter("extent", extent);
    environment.add_template("style.css", STYLE)?;
    environment.add_template(PAGE, PAGE_TEXT)?;
    let page = environment.get_template(PAGE)?.render(Serde(document))?;
    Ok(page.trim_end().to_owned() + "\n")
}

/// What could move a cursor or turn text is written as its code, wherever it stands.
fn harmless(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &Value::from(clean_lines(text))),
        None => escape_formatter(out, state, value),
    }
}

/// The arrow as one character, and the minus of a figure in a sentence as the tables
/// have it; a flag keeps its own.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let text = text.replace("->", "→");
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let figure = rest.peek().is_some_and(char::is_ascii_digit);
        let is_minus = c == '-' && figure && matches!(before, ' ' | '(');
        out.push(if is_minus { '−' } else { c });
        before = c;
    }
    out
}

/// A figure: its thousands apart, a minus as wide as the plus.
fn figure(text: &str) -> String {
    grouped(&text.replace("->", "→").replace('-', "−"))
}

/// What a line of a patch is.
fn kind(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
        [b'+', ..] => "added",
        [b'-', ..] => "removed",
        [b'@', ..] => "hunk",
        _ => "context",
    }
}

/// A part of the whole as its place on a bar.
fn part(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

/// How long a bar is; a thin line where it would not be seen.
fn extent(bar: &Value) -> Result<String, minijinja::Error> {
    let end = |name: &str| -> Result<f64, minijinja::Error> { bar.get_attr(name)?.try_into() };
    Ok(part((end("to")? - end("from")?).max(0.004)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Verdict;

    /// `events=1024` read `events=1,024` below the figure, and nowhere else.
    #[test]
    fn a_parameter_is_written_as_it_is_given() {
        let of = "kernel instructions per event, epoll_wait events=1024: -15.0".to_owned();
        let verdict = Verdict {
            headline: Some(("1123.4 -> 1108.4".to_owned(), of)),
            ..Verdict::default()
        };
        let document = Document {
            verdicts: vec![verdict],
            ..Document::default()
        };
        let page = render(&document).unwrap();
        assert!(page.contains("<b>1,123.4 → 1,108.4</b>"), "{page}");
        assert!(page.contains("events=1024: −15.0</span>"), "{page}");
    }

    #[test]
    fn a_minus_is_that_of_a_figure() {
        assert_eq!(words("-15.0 (-11.0 %, 2 -> 1)"), "−15.0 (−11.0 %, 2 → 1)");
        assert_eq!(
            words("-icount, -cpu max,-rdrand, panic=-1"),
            "-icount, -cpu max,-rdrand, panic=-1"
        );
        assert_eq!(figure("-1234.50"), "−1,234.50");
    }
}
