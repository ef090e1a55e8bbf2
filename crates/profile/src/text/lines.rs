//! The lines of a text as perf printed them: without what mail, a terminal or a
//! writer's own mark put before.

use std::borrow::Cow;

/// A line without its marks.
#[derive(Clone, Debug)]
pub(crate) struct Line<'t> {
    /// Counted from 1.
    pub(crate) number: usize,
    /// How many `>` stood before it.
    pub(crate) depth: usize,
    /// Whether its writer pointed at it, `==>`.
    pub(crate) marked: bool,
    /// What is left, the end trimmed.
    pub(crate) text: Cow<'t, str>,
}

impl Line<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// What stands for rows that were left out.
    pub(crate) fn is_ellipsis(&self) -> bool {
        let text = self.text.trim_start();
        ["...", "…", "[...]", "[…]", "[snip", "<snip"]
            .iter()
            .any(|dots| text.starts_with(dots))
    }
}

/// The lines of a text.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let numbered = (1..).zip(text.lines());
    numbered
        .map(|(number, line)| line_of(number, line))
        .collect()
}

fn line_of(number: usize, line: &str) -> Line<'_> {
    let (depth, rest) = unquoted(line);
    let (marked, rest) = unmarked(rest);
    Line {
        number,
        depth,
        marked,
        text: plain(rest.trim_end()),
    }
}

/// `>> > text`: how many marks, and what follows the last.
fn unquoted(line: &str) -> (usize, &str) {
    let (mut depth, mut rest) = (0, line);
    while let Some(inner) = rest.trim_start().strip_prefix('>') {
        // `->` of a call graph begins otherwise; a row of perf never begins with `>`.
        depth += 1;
        rest = inner;
    }
    // Mail puts one blank behind its marks.
    match depth {
        0 => (0, line),
        _ => (depth, rest.strip_prefix(' ').unwrap_or(rest)),
    }
}

/// `==> 12.86%`: an arrow in front.
fn unmarked(line: &str) -> (bool, &str) {
    let arrows = ["==>", "-->", "=>", "->", "**", "*"];
    let text = line.trim_start();
    let pointed = arrows.iter().find_map(|arrow| text.strip_prefix(arrow));
    let starts_row = |rest: &&str| {
        rest.trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || c == '[')
    };
    match pointed.filter(starts_row) {
        Some(rest) => (true, rest),
        None => (false, line),
    }
}

/// Without the colours of a terminal, `ESC [ … letter`.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\u{1b}') {
        shown.push_str(before);
        let inside = escape.strip_prefix('[').unwrap_or(escape);
        let end = inside.find(|c: char| c.is_ascii_alphabetic());
        rest = end
            .and_then(|end| inside.get(end + 1..))
            .unwrap_or_default();
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// A finite number of digits and at most one point.
pub(crate) fn number(text: &str) -> Option<f64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: f64 = tollgate_defect::answer::number(text).filter(|_| digits)?;
    number.is_finite().then_some(number)
}

/// `12.86%`.
pub(crate) fn percentage(word: &str) -> Option<f64> {
    number(word.strip_suffix('%')?)
}

/// The pieces of a line between tabs or two blanks and more.
pub(crate) fn chunks(text: &str) -> impl Iterator<Item = &str> {
    text.split('\t')
        .flat_map(|part| part.split("  "))
        .map(str::trim)
        .filter(|chunk| !chunk.is_empty())
}

/// What a writer said before something: the first sentence of the paragraph that
/// ends above the line `at`, or the last if it ends in a colon; when it is no farther
/// than a few lines.
pub(crate) fn title(lines: &[Line<'_>], at: usize) -> Option<String> {
    const FAR: usize = 4;
    let above = lines.get(..at)?;
    let end = above.iter().rposition(|line| !line.is_blank())?;
    if at - end > FAR {
        return None;
    }
    let paragraph = above.get(..=end)?;
    // A listing says nothing of what follows it, nor do perf's own comments.
    let last = paragraph.last()?.text.trim_start();
    if last.starts_with('#') || last.contains(['│', '|']) {
        return None;
    }
    let depth = paragraph.last()?.depth;
    let start = paragraph
        .iter()
        .rposition(|line| line.is_blank() || line.depth != depth)
        .map_or(0, |blank| blank + 1);
    let words: Vec<&str> = paragraph
        .get(start..)?
        .iter()
        .flat_map(|line| line.text.split_whitespace())
        .filter(|word| *word != "#")
        .collect();
    first_sentence(&words.join(" "))
}

fn first_sentence(text: &str) -> Option<String> {
    const LONGEST: usize = 90;
    let sentences: Vec<&str> = text.split(". ").collect();
    // What ends in a colon speaks of what follows.
    let chosen = if text.ends_with(':') {
        sentences.last()
    } else {
        sentences.first()
    };
    let sentence = chosen?.trim_end_matches([':', '.']).trim();
    let cut: String = sentence.chars().take(LONGEST).collect();
    let letters = cut.chars().any(char::is_alphabetic);
    letters.then(|| match cut.len() < sentence.len() {
        true => format!("{}…", cut.trim_end()),
        false => cut,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_mail_and_of_terminals_are_taken_off() {
        let text = "> >> ==> 12.86%  a\n>\n==>  4% b\n\u{1b}[31m 7%\u{1b}[m c\n * a list\n  plain";
        let read = lines(text);
        let texts: Vec<&str> = read.iter().map(|line| line.text.trim()).collect();
        assert_eq!(
            texts,
            ["12.86%  a", "", "4% b", "7% c", "* a list", "plain"]
        );
        let depths: Vec<usize> = read.iter().map(|line| line.depth).collect();
        assert_eq!(depths, [3, 1, 0, 0, 0, 0]);
        let marked: Vec<bool> = read.iter().map(|line| line.marked).collect();
        assert_eq!(marked, [true, false, true, false, false, false]);
    }

    #[test]
    fn a_title_is_the_sentence_before() {
        let read = lines("Far.\n\nFirst words here. More\nwords.\n\n 1% a\n");
        assert_eq!(title(&read, 5).as_deref(), Some("First words here"));
        assert_eq!(title(&read, 0), None);
    }
}
