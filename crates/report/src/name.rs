//! How documents carry the names of files: JSON as text, SARIF as a URI.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};
use tollgate_source::{LeftOut, Name};

use crate::text::plural;

/// The name of a file in a JSON document. `file` is the name itself. JSON is
/// UTF-8, and a name need not be: one that is not is written in `file` as people
/// are shown it, and `file_uri` then has its bytes.
#[derive(Serialize)]
pub(crate) struct JsonFile<'a> {
    file: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_uri: Option<String>,
}

impl<'a> From<&'a Name> for JsonFile<'a> {
    fn from(name: &'a Name) -> Self {
        let (file, file_uri) = text(name);
        Self { file, file_uri }
    }
}

/// The tree that a JSON document is about, in the same way.
#[derive(Serialize)]
pub(crate) struct JsonTree<'a> {
    tree: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree_uri: Option<String>,
}

impl<'a> From<&'a Name> for JsonTree<'a> {
    fn from(name: &'a Name) -> Self {
        let (tree, tree_uri) = text(name);
        Self { tree, tree_uri }
    }
}

/// A name as text, and its bytes where it is none.
pub(crate) fn text(name: &Name) -> (Cow<'_, str>, Option<String>) {
    match name.as_text() {
        Some(text) => (Cow::Borrowed(text), None),
        None => (Cow::Owned(name.to_string()), Some(uri(name))),
    }
}

/// Something that was listed and not looked at.
#[derive(Serialize)]
pub(crate) struct JsonLeftOut<'a> {
    #[serde(flatten)]
    file: JsonFile<'a>,
    reason: &'static str,
}

/// All that was listed and not looked at.
pub(crate) fn left_out_json(left: &LeftOut) -> Vec<JsonLeftOut<'_>> {
    let one = |(name, reason)| JsonLeftOut {
        file: JsonFile::from(name),
        reason,
    };
    left.reasons().map(one).collect()
}

/// A line for each.
pub(crate) fn left_out_lines(left: &LeftOut) -> impl Iterator<Item = String> {
    let all = left.reasons();
    all.map(|(name, reason)| format!("{name}: left out: {reason}"))
}

/// How many there are; nothing where there is none.
pub(crate) fn left_out_text(left: &LeftOut, verbose: bool) -> Option<String> {
    let (gone, not_c) = (left.gone.len(), left.not_c.len());
    let hint = if verbose {
        ""
    } else {
        " (--verbose lists them)"
    };
    (!left.is_empty()).then(|| {
        format!(
            "left out: {} not there, {not_c} no C {}{hint}",
            plural(gone, "file"),
            if not_c == 1 { "file" } else { "files" },
        )
    })
}

/// The same as notifications of SARIF.
pub(crate) fn left_out_sarif(left: &LeftOut) -> impl Iterator<Item = Value> {
    left.reasons().map(|(name, reason)| {
        json!({
            "level": "note",
            "message": { "text": format!("{name}: left out: {reason}") },
            "locations": [{ "physicalLocation": { "artifactLocation": location(name) } }],
        })
    })
}

/// Where a file is for SARIF: below the tree, or from the top of the file system.
pub(crate) fn location(name: &Name) -> Value {
    match name.as_bytes().starts_with(b"/") {
        true => json!({ "uri": format!("file://{}", uri(name)) }),
        false => json!({ "uri": uri(name), "uriBaseId": "SRCROOT" }),
    }
}

/// A relative reference: whatever is no plain path byte is escaped (RFC 3986).
fn uri(name: &Name) -> String {
    let escaped = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(*byte).to_string(),
        b'/' | b'.' | b'_' | b'-' | b'~' | b'+' | b',' => char::from(*byte).to_string(),
        other => format!("%{other:02X}"),
    };
    name.as_bytes().iter().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(name: &[u8]) -> String {
        serde_json::to_string(&JsonFile::from(&Name::from(name))).unwrap()
    }

    #[test]
    fn a_name_that_is_text_is_itself() {
        assert_eq!(json("é\\\u{1b}.c".as_bytes()), r#"{"file":"é\\\u001b.c"}"#);
    }

    #[test]
    fn a_place_is_below_the_tree_or_from_the_top() {
        let of = |name: &str| location(&Name::from(name));
        assert_eq!(
            of("a b.c"),
            json!({ "uri": "a%20b.c", "uriBaseId": "SRCROOT" })
        );
        assert_eq!(of("/tmp/a.c"), json!({ "uri": "file:///tmp/a.c" }));
    }

    #[test]
    fn the_bytes_of_one_that_is_not_are_kept() {
        let shown = r#"{"file":"a/\\xff\\\\.c","file_uri":"a/%FF%5C.c"}"#;
        assert_eq!(json(b"a/\xff\\.c"), shown);
    }
}
