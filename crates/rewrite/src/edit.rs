//! Changes of a text by place.

use tollgate_defect::{Defect, OrDefect as _};
use tollgate_source::Span;

/// Bytes that take the place of others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    pub(crate) span: Span,
    pub(crate) text: String,
}

impl Edit {
    /// `text` in place of `span`.
    pub(crate) fn replace(span: Span, text: impl Into<String>) -> Self {
        Self {
            span,
            text: text.into(),
        }
    }

    /// `text` before the byte `at`.
    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(Span::new(at, at), text)
    }
}

/// The text with all edits made.
///
/// # Errors
/// If two of them touch the same bytes, or one lies behind the text: whoever made
/// them is wrong, and there is no text that they mean.
pub(crate) fn apply(text: &[u8], edits: &[Edit]) -> Result<Vec<u8>, Defect> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.span);
    let mut out = Vec::with_capacity(text.len() + 256);
    let mut at = 0;
    for edit in edits {
        let kept = text
            .get(at..edit.span.start)
            .ok_or_else(|| misplaced(edit, at));
        out.extend_from_slice(kept?);
        out.extend_from_slice(edit.text.as_bytes());
        at = edit.span.end;
    }
    let rest = text.get(at..).or_defect("an edit ends behind the file");
    out.extend_from_slice(rest?);
    Ok(out)
}

fn misplaced(edit: &Edit, at: usize) -> Defect {
    Defect::new(format!(
        "an edit from byte {} on touches what another has changed up to byte {at}, or lies behind the file",
        edit.span.start
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_that_overlap_are_a_defect_and_no_text() {
        let replace = |from, to| Edit::replace(Span::new(from, to), "x");
        let apart = [replace(0, 2), replace(2, 3), Edit::insert(3, "y")];
        assert_eq!(apply(b"abcd", &apart).unwrap(), b"xxyd");
        for wrong in [
            [replace(0, 2), replace(1, 3)],
            [replace(0, 2), replace(3, 9)],
        ] {
            let told = apply(b"abcd", &wrong).unwrap_err().to_string();
            assert!(told.starts_with("a defect of tollgate"), "{told}");
        }
    }
}
