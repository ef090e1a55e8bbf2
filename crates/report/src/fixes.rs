//! Patches that `fix` has written, as a document and as JSON, which
//! `schema/fix.schema.json` describes.

use std::borrow::Cow;

use serde::Serialize;
use tollgate_defect::Defect;
use tollgate_source::Name;

use crate::document::{Block, Document, Extent, Section};
use crate::json::to_json;
use crate::name::{JsonFile, text};
use crate::text::plural;

/// The version of the JSON form; it grows when a reader would break.
pub const FIXES_VERSION: u32 = 1;

/// What was written, and what was not.
#[derive(Clone, Debug)]
pub struct Fixes {
    /// The tree, as the user named it.
    pub tree: Name,
    /// The style, by its name.
    pub style: String,
    /// The patches, each of which builds on those before it.
    pub patches: Vec<Fix>,
    /// Where they were written, the cover letter among them; empty where they were not.
    pub files: Vec<Name>,
    /// How many functions they rewrite.
    pub functions: usize,
    /// Why each other function has no patch, a sentence each.
    pub left: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

/// One patch.
#[derive(Clone, Debug)]
pub struct Fix {
    /// The file that it changes, relative to the tree.
    pub path: Name,
    /// The function, or those of a file.
    pub function: String,
    /// Windows that its runs opened before.
    pub before: usize,
    /// Windows that they open after.
    pub after: usize,
    /// Runs that stay as they are: the line and the reason.
    pub refused: Vec<(u32, String)>,
    /// The mail, where it went into no file.
    pub mail: Option<Vec<u8>>,
    /// What compiling it said, where that was asked for.
    pub compiled: Option<Compiled>,
}

/// What compiling a patch said.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Whether it is right; unknown where this configuration does not build it.
    pub good: Option<bool>,
    /// In words.
    pub words: String,
}

impl Fixes {
    /// The mail, where one alone was asked for: what a terminal gets, byte by byte.
    #[must_use]
    pub fn mail(&self) -> Option<&[u8]> {
        self.patches.iter().find_map(|fix| fix.mail.as_deref())
    }
}

/// What was written, and what was not.
#[must_use]
pub fn document(fixes: &Fixes) -> Document {
    let mut blocks = vec![Block::Lines(lines(fixes))];
    let mut said = vec![format!(
        "{} rewritten, {} left as they are",
        plural(fixes.functions, "function"),
        fixes.left.len()
    )];
    said.extend(fixes.notes.iter().cloned());
    blocks.push(Block::List(said));
    let mails = fixes.patches.iter().filter_map(|fix| fix.mail.as_ref());
    let mails = mails.map(|mail| String::from_utf8_lossy(mail).into_owned());
    blocks.extend(mails.map(Block::Patch));
    Document {
        title: format!("Patches for {}", fixes.tree),
        short: format!("fix of {}", fixes.tree),
        head: Extent::Full,
        sections: vec![Section::new("", blocks)],
        ..Document::default()
    }
}

/// The files, then what became of each function.
fn lines(fixes: &Fixes) -> Vec<String> {
    let mut all: Vec<String> = fixes.files.iter().map(ToString::to_string).collect();
    for fix in &fixes.patches {
        let (path, function) = (&fix.path, &fix.function);
        let (before, after) = (fix.before, fix.after);
        all.push(format!(
            "{path}: {function}: rewritten, {} before, {after} after",
            plural(before, "window")
        ));
        let refused = fix.refused.iter();
        all.extend(
            refused
                .map(|(line, reason)| format!("{path}:{line}: a run is left as it is: {reason}")),
        );
    }
    all.extend(fixes.left.iter().cloned());
    all.extend(fixes.patches.iter().filter_map(compiled));
    all
}

fn compiled(fix: &Fix) -> Option<String> {
    let words = &fix.compiled.as_ref()?.words;
    Some(format!("{}: {}: {words}", fix.path, fix.function))
}

#[derive(Serialize)]
struct JsonFixes<'a> {
    version: u32,
    kind: &'static str,
    tree: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree_uri: Option<String>,
    style: &'a str,
    functions: usize,
    patches: Vec<JsonFix<'a>>,
    written: Vec<JsonFile<'a>>,
    left: &'a [String],
    notes: &'a [String],
}

#[derive(Serialize)]
struct JsonFix<'a> {
    #[serde(flatten)]
    file: JsonFile<'a>,
    function: &'a str,
    windows_before: usize,
    windows_after: usize,
    left: Vec<JsonRefused<'a>>,
    mail: Option<&'a str>,
    compiled: Option<JsonCompiled<'a>>,
}

#[derive(Serialize)]
struct JsonRefused<'a> {
    line: u32,
    reason: &'a str,
}

#[derive(Serialize)]
struct JsonCompiled<'a> {
    good: Option<bool>,
    words: &'a str,
}

/// The same as a JSON document that ends with a newline.
///
/// # Errors
/// None that input can cause.
pub fn json(fixes: &Fixes) -> Result<String, Defect> {
    let (tree, tree_uri) = text(&fixes.tree);
    to_json(&JsonFixes {
        version: FIXES_VERSION,
        kind: "fix",
        tree,
        tree_uri,
        style: &fixes.style,
        functions: fixes.functions,
        patches: fixes.patches.iter().map(fix).collect(),
        written: fixes.files.iter().map(JsonFile::from).collect(),
        left: &fixes.left,
        notes: &fixes.notes,
    })
}

fn fix(fix: &Fix) -> JsonFix<'_> {
    let refused = fix.refused.iter();
    let compiled = fix.compiled.as_ref();
    JsonFix {
        file: (&fix.path).into(),
        function: &fix.function,
        windows_before: fix.before,
        windows_after: fix.after,
        left: refused
            .map(|(line, reason)| JsonRefused {
                line: *line,
                reason,
            })
            .collect(),
        mail: fix.mail.as_deref().and_then(as_text),
        compiled: compiled.map(|one| JsonCompiled {
            good: one.good,
            words: &one.words,
        }),
    }
}

/// A mail that holds bytes of another encoding cannot stand in JSON.
#[expect(
    clippy::disallowed_methods,
    reason = "that it is no text is what null says"
)]
fn as_text(mail: &[u8]) -> Option<&str> {
    std::str::from_utf8(mail).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects")]
mod tests {
    use super::*;
    use crate::format::tests::{holds, text};

    fn fixes() -> Fixes {
        let fix = |function: &str, mail: Option<&[u8]>| Fix {
            path: "fs/\u{1b}[1m.c".into(),
            function: function.to_owned(),
            before: 3,
            after: 1,
            refused: vec![(12, "a loop stands between the accesses".to_owned())],
            mail: mail.map(<[u8]>::to_vec),
            compiled: Some(Compiled {
                good: Some(true),
                words: "clean: fs/x.o compiles and no warning is new".to_owned(),
            }),
        };
        Fixes {
            tree: "linux".into(),
            style: "window".to_owned(),
            patches: vec![
                fix(
                    "one",
                    Some(b"Subject: [PATCH] x\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
                ),
                fix("two", Some(b"Subject: \xff\n")),
            ],
            files: vec!["out/0001-x.patch".into()],
            functions: 2,
            left: vec!["fs/y.c:3: f has no user access that tollgate knows".to_owned()],
            notes: vec!["arch/m68k has no user_access_begin() of its own".to_owned()],
        }
    }

    #[test]
    fn a_series_is_listed_in_every_format() {
        let document = document(&fixes());
        holds(&document);
        insta::assert_snapshot!(text(&document));
    }

    #[test]
    fn programs_read_what_the_schema_says() {
        let schema = include_str!("../../../schema/fix.schema.json");
        let schema = serde_json::from_str(schema).unwrap();
        jsonschema::meta::validate(&schema).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let written = json(&fixes()).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&written).unwrap();
        let faults: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
        assert_eq!(faults, Vec::<String>::new(), "{written}");
        insta::assert_snapshot!(written);
        value["version"] = 2.into();
        assert!(!schema.is_valid(&value));
    }
}
