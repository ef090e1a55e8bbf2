//! A document for programs.

use serde::Serialize;
use tollgate_defect::{Defect, OrDefect as _};
use tollgate_source::plain_json;

/// A document as JSON that people can read, too, on a terminal as well; it ends with a
/// newline.
///
/// # Errors
/// All documents are plain data with text for keys. One that is not is a defect,
/// and nothing is printed in its place.
pub fn to_json<T: Serialize>(document: &T) -> Result<String, Defect> {
    let text = serde_json::to_string_pretty(document);
    let text = text.or_defect("a JSON document cannot be made")? + "\n";
    Ok(plain_json(&text).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_document_that_cannot_be_made_is_a_defect_and_no_empty_text() {
        let keys = BTreeMap::from([(vec!["a key is text"], 1)]);
        let told = to_json(&keys).unwrap_err().to_string();
        assert!(told.contains("a defect of tollgate"), "{told}");
        assert!(told.contains("a JSON document cannot be made: key must be a string"));
        assert_eq!(to_json(&[1]).unwrap(), "[\n  1\n]\n");
    }

    #[test]
    fn what_speaks_to_a_terminal_is_escaped_and_stays_what_it_is() {
        let written = ["a\u{9b}2J\u{1b}[2J\u{7f}", "\u{202e}c.\u{e0041}", "\u{e9}"];
        let text = to_json(&written).unwrap();
        assert_eq!(
            text,
            "[\n  \"a\\u009b2J\\u001b[2J\\u007f\",\n  \"\\u202ec.\\udb40\\udc41\",\n  \"\u{e9}\"\n]\n"
        );
        let read: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, written);
    }
}
