//! Which lines a patch edits.

use std::collections::BTreeSet;

/// The edited lines of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Lines of the new text that are new or changed, from 1.
    pub new: BTreeSet<u32>,
    /// Lines of the new text before which lines are gone, from 1. One past the last
    /// where they stood at the end.
    pub gone: BTreeSet<u32>,
    /// Lines of the old text that are gone or changed, from 1.
    pub old: BTreeSet<u32>,
}

/// What differs between two texts, by line.
#[must_use]
pub fn edits(before: &[u8], after: &[u8]) -> Edits {
    let patch = diffy::create_patch_bytes(before, after);
    let mut edits = Edits::default();
    for hunk in patch.hunks() {
        let mut line = hunk.new_range().start() as u32;
        let mut old = hunk.old_range().start() as u32;
        for part in hunk.lines() {
            match part {
                diffy::Line::Context(_) => (line, old) = (line + 1, old + 1),
                diffy::Line::Insert(_) => {
                    edits.new.insert(line);
                    line += 1;
                }
                diffy::Line::Delete(_) => {
                    edits.gone.insert(line);
                    edits.old.insert(old);
                    old += 1;
                }
            }
        }
    }
    // Where a line took another's place, the new one says it all.
    let new = &edits.new;
    edits.gone.retain(|line| !new.contains(line));
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_gone_lines_are_known() {
        let edits = edits(b"a\nb\nc\nd\n", b"a\nB\nc\nx\nd\n");
        assert_eq!(edits.new, BTreeSet::from([2, 4]));
        assert!(edits.gone.is_empty());
        let gone = super::edits(b"a\nb\nc\n", b"a\nc\n");
        assert_eq!((gone.new.len(), gone.gone), (0, BTreeSet::from([2])));
        assert_eq!(gone.old, BTreeSet::from([2]));
        assert_eq!(super::edits(b"", b"x\n").new, BTreeSet::from([1]));
    }
}
