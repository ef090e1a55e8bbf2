//! Lines that say whether a compiler reads what a fix wrote.

use std::collections::HashSet;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

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
    #[must_use]
    pub fn of(patched: &Patched) -> Self {
        let (text, lines) = probes(patched);
        Self { text, lines }
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
fn probes(patched: &Patched) -> (Vec<u8>, Vec<usize>) {
    let lines: Vec<&[u8]> = patched.rewritten.split(|b| *b == b'\n').collect();
    let old: Vec<&[u8]> = patched.original.split(|b| *b == b'\n').collect();
    let new = added_lines(&old, &lines);
    // A style without a window has copies instead.
    let windows = new
        .iter()
        .any(|at| lines.get(*at).is_some_and(|line| opens(line)));
    let (mut text, mut places) = (Vec::new(), Vec::new());
    for (index, line) in lines.into_iter().enumerate() {
        if new.contains(&index) && (opens(line) || !windows && copies(line)) {
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

fn opens(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start();
    // Behind an `if` without braces an #error may stand; behind `else` not.
    let begins = text.contains("_access_begin(") || text.starts_with("scoped_user_");
    begins && text.starts_with(|c: char| c.is_alphabetic())
}

fn copies(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let calls = ["copy_to_user(", "copy_from_user(", "t_user("];
    calls.iter().any(|call| text.contains(call))
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

    const WINDOW: &str = "\tif (!user_access_begin(p, 4))\n\t\treturn;\n";

    #[test]
    fn each_new_window_gets_a_probe() {
        let (text, places) = probes(&patched("a\n", &format!("a\n{WINDOW}")));
        assert_eq!(places, [2]);
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("a\n#error tollgate: this line is compiled [2]\n\tif"));
    }

    #[test]
    fn a_window_that_looks_like_another_gets_a_probe_too() {
        let old = format!("f\n{WINDOW}}}\n\ng\n{{\n\told();\n}}\n\nh\n{{\n");
        for (from, place) in [("\told();\n", 9), ("h\n", 12)] {
            let new = old.replace(from, &format!("{from}{WINDOW}"));
            assert_eq!(probes(&patched(&old, &new)).1, [place]);
        }
    }

    #[test]
    fn what_stood_there_before_gets_none() {
        let old = format!("b\n{WINDOW}}}\n");
        assert_eq!(probes(&patched(&old, &format!("a\n{old}"))).1, [0; 0]);
        assert_eq!(probes(&patched(&old, &old)).1, [0; 0]);
    }
}
