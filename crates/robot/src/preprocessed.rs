//! What the preprocessor passes on, by the line markers that it writes
//! (gcc's "Preprocessor Output": `# LINE "FILE" FLAGS`).

use std::collections::{BTreeMap, BTreeSet};

/// The lines of files that reach the compiler in one object, and a hash over all
/// that does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preprocessed {
    /// Lines with text, from 1, of the files that were asked for.
    pub lines: BTreeMap<String, BTreeSet<u32>>,
    /// BLAKE3 over the text without markers, directives and empty lines.
    pub hash: String,
}

impl Preprocessed {
    /// Reads the output of `-E -dD`. `root` is what stands before the paths of the
    /// tree; `wanted` are the paths below it whose lines are kept.
    #[must_use]
    pub fn read(text: &[u8], root: &str, wanted: &BTreeSet<String>) -> Self {
        let mut hasher = blake3::Hasher::new();
        let mut lines: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let mut file: Option<String> = None;
        let mut number = 0_u32;
        for line in text.split(|byte| *byte == b'\n') {
            if let Some((next, name)) = marker(line) {
                number = next;
                file = below(&name, root).filter(|name| wanted.contains(name));
                if let Some(name) = &file {
                    lines.entry(name.clone()).or_default();
                }
                continue;
            }
            let words = line.trim_ascii();
            if !words.is_empty() {
                if let Some(name) = &file {
                    lines.entry(name.clone()).or_default().insert(number);
                }
                if !words.starts_with(b"#") {
                    hasher.update(words);
                    hasher.update(b"\n");
                }
            }
            number = number.saturating_add(1);
        }
        Self {
            lines,
            hash: hasher.finalize().to_hex().to_string(),
        }
    }
}

/// `# 12 "fs/x.c" 2` → 12, `fs/x.c`.
fn marker(line: &[u8]) -> Option<(u32, String)> {
    let rest = line
        .strip_prefix(b"# ")
        .or_else(|| line.strip_prefix(b"#line "))?;
    let space = rest.iter().position(|byte| *byte == b' ')?;
    let (digits, name) = rest.split_at(space);
    let mut number = 0_u32;
    for digit in digits {
        let digit = char::from(*digit).to_digit(10)?;
        number = number.wrapping_mul(10).wrapping_add(digit);
    }
    let name = name.trim_ascii().strip_prefix(b"\"")?;
    let end = name.iter().rposition(|byte| *byte == b'"')?;
    let name = String::from_utf8_lossy(name.get(..end)?);
    Some((number, name.replace("\\\\", "\\")))
}

/// The path below the root of the tree; `./` and `a/../b` are resolved.
fn below(name: &str, root: &str) -> Option<String> {
    let below = match name.strip_prefix(root) {
        Some(below) => below.trim_start_matches('/'),
        None if name.starts_with(['/', '<']) => return None,
        None => name,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in below.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted() -> BTreeSet<String> {
        ["fs/x.c", "include/a.h"].map(str::to_owned).into()
    }

    const TEXT: &[u8] = b"# 1 \"/t/fs/x.c\"\n# 1 \"<built-in>\"\nint built;\n# 1 \"/t/fs/x.c\"\n\n# 1 \"/t/fs/../include/a.h\" 1\n#define A 1\nint a;\n# 3 \"/t/fs/x.c\" 2\nint x;\n\nint y;\n";

    #[test]
    fn markers_say_which_lines_reach_the_compiler() {
        let read = Preprocessed::read(TEXT, "/t", &wanted());
        assert_eq!(read.lines["fs/x.c"], BTreeSet::from([3, 5]));
        assert_eq!(read.lines["include/a.h"], BTreeSet::from([1, 2]));
    }

    #[test]
    fn the_hash_follows_the_text_and_not_its_place() {
        let moved = String::from_utf8_lossy(TEXT)
            .replace("# 3 ", "# 30 ")
            .replace("#define A 1", "#define A 2");
        let one = Preprocessed::read(TEXT, "/t", &wanted());
        let two = Preprocessed::read(moved.as_bytes(), "/t", &wanted());
        assert_eq!(one.hash, two.hash);
        let other = Preprocessed::read(moved.replace("int x", "int z").as_bytes(), "/t", &wanted());
        assert_ne!(one.hash, other.hash);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(# [0-9]{0,12} \"[a-z/.\\\\\"]{0,8}\"?[ 0-9]{0,3}\n|[a-z# ]{0,9}\n){0,20}") {
            let _ = Preprocessed::read(text.as_bytes(), "/t", &wanted());
        }
    }
}
