//! Lines that say whether a compiler reads what a fix wrote.

use std::collections::HashSet;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};
use tollgate_defect::Defect;
use tollgate_source::{Token, TokenKind, Vocabulary, is_called, tokens};

use crate::request::Patched;

/// What an `#error` in the place of a window says.
const PROBE: &str = "tollgate: this line is compiled";

/// The new text of a patch with probes: where they stand, a compiler complains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probes {
    /// The text with an `#error` before each line that opens a window.
    pub text: Vec<u8>,
    /// The numbers of these lines.
    pub lines: Vec<usize>,
}

impl Probes {
    /// Those of a patch; a style without a window has copies instead.
    ///
    /// # Errors
    /// When the vocabulary does not have its form; a test keeps that from happening.
    pub fn of(patched: &Patched) -> Result<Self, Defect> {
        let (text, lines) = probes(patched, Vocabulary::shared()?);
        Ok(Self { text, lines })
    }

    /// The first line that a compiler which said that did not read.
    #[must_use]
    pub fn unread(&self, said: &str) -> Option<usize> {
        let mut lines = self.lines.iter().copied();
        lines.find(|line| !said.contains(&probe(*line)))
    }
}

/// The new text with an `#error` before each line that opens a window, and the
/// numbers of these lines.
fn probes(patched: &Patched, vocabulary: &Vocabulary) -> (Vec<u8>, Vec<usize>) {
    let lines: Vec<&[u8]> = patched.rewritten.split(|b| *b == b'\n').collect();
    let old: Vec<&[u8]> = patched.original.split(|b| *b == b'\n').collect();
    let new = added_lines(&old, &lines);
    let opens = |line: &&[u8]| opens(line, vocabulary);
    // A style without a window has copies instead.
    let windows = new.iter().any(|at| lines.get(*at).is_some_and(opens));
    let (mut text, mut places) = (Vec::new(), Vec::new());
    for (index, line) in lines.into_iter().enumerate() {
        if new.contains(&index) && (opens(&line) || !windows && copies(line, vocabulary)) {
            places.push(index + 1);
            text.extend_from_slice(format!("#error {}\n", probe(index + 1)).as_bytes());
        }
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    (text, places)
}

/// The indices of the lines that only the second text has. That the same line
/// stands elsewhere in the first does not matter: functions look alike.
fn added_lines(old: &[&[u8]], new: &[&[u8]]) -> HashSet<usize> {
    let changes = capture_diff_slices(Algorithm::Patience, old, new);
    let added = changes
        .iter()
        .filter(|change| matches!(change.tag(), DiffTag::Insert | DiffTag::Replace));
    added.flat_map(DiffOp::new_range).collect()
}

fn probe(line: usize) -> String {
    format!("{PROBE} [{line}]")
}

fn opens(line: &[u8], vocabulary: &Vocabulary) -> bool {
    let all = tokens(line, 0);
    // Behind an `if` without braces an #error may stand; behind `else` not.
    let begins = all.first().is_some_and(|t| t.kind == TokenKind::Word);
    begins
        && holds(line, &all, |word| {
            vocabulary.window(word).is_some() || vocabulary.scoped(word).is_some()
        })
}

fn copies(line: &[u8], vocabulary: &Vocabulary) -> bool {
    let known = |word: &[u8]| vocabulary.copy(word).is_some() || vocabulary.access(word).is_some();
    holds(line, &tokens(line, 0), known)
}

/// Whether a line calls anything of that kind.
fn holds(line: &[u8], all: &[Token], is: impl Fn(&[u8]) -> bool) -> bool {
    let mut words = all
        .iter()
        .enumerate()
        .filter(|(_, t)| t.kind == TokenKind::Word);
    words.any(|(at, word)| is_called(all, at) && is(word.span.of(line)))
}

#[cfg(test)]
mod tests {
    use tollgate_source::TreePath;

    use super::*;

    fn patched(original: &str, rewritten: &str) -> Patched {
        Patched {
            path: TreePath::top(),
            function: String::new(),
            original: original.into(),
            rewritten: rewritten.into(),
            subject: String::new(),
            body: String::new(),
            windows_before: 2,
            windows_after: 1,
            refused: Vec::new(),
        }
    }

    fn found(patched: &Patched) -> (Vec<u8>, Vec<usize>) {
        let probes = Probes::of(patched).unwrap();
        (probes.text, probes.lines)
    }

    const WINDOW: &str = "\tif (!user_access_begin(p, 4))\n\t\treturn;\n";

    #[test]
    fn each_new_window_gets_a_probe() {
        let (text, places) = found(&patched("a\n", &format!("a\n{WINDOW}")));
        assert_eq!(places, [2]);
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("a\n#error tollgate: this line is compiled [2]\n\tif"));
    }

    #[test]
    fn a_window_that_looks_like_another_gets_a_probe_too() {
        let old = format!("f\n{WINDOW}}}\n\ng\n{{\n\told();\n}}\n\nh\n{{\n");
        for (from, place) in [("\told();\n", 9), ("h\n", 12)] {
            let new = old.replace(from, &format!("{from}{WINDOW}"));
            assert_eq!(found(&patched(&old, &new)).1, [place]);
        }
    }

    #[test]
    fn only_code_gets_a_probe() {
        let places = |new: &str| found(&patched("a\n", new)).1;
        assert_eq!(places("a\n\t/* user_access_begin(p, 4) */\n"), [0; 0]);
        assert_eq!(places("a\n\tg(\"user_access_begin(\");\n"), [0; 0]);
        assert_eq!(places("a\n\tx = copy_to_user (p, q, 4);\n"), [2]);
        assert_eq!(places("a\n\tscoped_user_read_access(p, out)\n"), [2]);
        assert_eq!(places(&format!("a\n\tput_user(1, p);\n{WINDOW}")), [3]);
    }

    #[test]
    fn what_stood_there_before_gets_none() {
        let old = format!("b\n{WINDOW}}}\n");
        assert_eq!(found(&patched(&old, &format!("a\n{old}"))).1, [0; 0]);
        assert_eq!(found(&patched(&old, &old)).1, [0; 0]);
    }
}
