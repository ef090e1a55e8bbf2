//! Changes of a text by place.

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

/// The text with all edits made; none if two of them touch the same bytes.
pub(crate) fn apply(text: &[u8], edits: &[Edit]) -> Option<Vec<u8>> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.span);
    let mut out = Vec::with_capacity(text.len() + 256);
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(text.get(at..edit.span.start)?);
        out.extend_from_slice(edit.text.as_bytes());
        at = edit.span.end;
    }
    out.extend_from_slice(text.get(at..)?);
    Some(out)
}
