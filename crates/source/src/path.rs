//! The names of files: bytes, shown to people so that no byte of a name can
//! speak to a terminal; and those that can only be below a tree.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use tollgate_defect::answer;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a file or a folder, with its folders or without: any bytes that the
/// system takes. Ordered by its bytes.
///
/// It is shown with everything escaped that is no plain text: `\n`, `\x1b` for
/// a byte of the name, `\u{202e}` for a character, `\\` for a backslash. No two
/// names are shown alike. JSON written of a value has the same form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<[u8]>);

impl Name {
    /// The name as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as the system takes it.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The name as text where it is UTF-8.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        answer::text(&self.0)
    }

    /// The name as text, to be looked into and never to be opened: what is not
    /// UTF-8 is replaced.
    #[must_use]
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// What stands behind its last slash.
    #[must_use]
    pub fn file(&self) -> &[u8] {
        self.0.rsplit(|byte| *byte == b'/').next().unwrap_or(&[])
    }

    /// Whether it is that of a C file, `.c` or `.h`.
    #[must_use]
    pub fn is_c(&self) -> bool {
        is_c(&self.0)
    }

    /// Whether it is that of a header, `.h`.
    #[must_use]
    pub fn is_header(&self) -> bool {
        self.0.ends_with(b".h")
    }
}

/// Whether a file of that name is C, `.c` or `.h`.
#[must_use]
pub fn is_c(name: &[u8]) -> bool {
    name.ends_with(b".c") || name.ends_with(b".h")
}

impl From<&Path> for Name {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().into())
    }
}

impl From<&[u8]> for Name {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&shown_bytes(&self.0))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = unshown(&text).ok_or_else(|| D::Error::custom("no name of a file"))?;
        Ok(Self(bytes.into()))
    }
}

/// The path of a file below the top folder of a tree. There is no value that
/// names anything else: none begins with a slash, and no part of one is empty,
/// `.` or `..`. The tree itself is the empty path.
///
/// What a user gives becomes one where the file system can be asked, since a
/// symbolic link may lead out of the tree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TreePath(Name);

impl TreePath {
    /// The path of these bytes; none where they name something else. Empty
    /// parts and `.` are left out.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let inside = !bytes.starts_with(b"/") && !bytes.contains(&0);
        let parts = bytes.split(|byte| *byte == b'/');
        let mut kept = parts.filter(|part| !part.is_empty() && *part != b".");
        let plain = inside && kept.clone().all(|part| part != b"..");
        plain.then(|| Self::of_parts(&mut kept))
    }

    /// The path of a name that tollgate itself knows, or that code in the tree
    /// spells: `..` goes no further up than to the tree, as in `/..`.
    #[must_use]
    pub fn within(text: &str) -> Self {
        Self::top().joined(text.as_bytes())
    }

    /// The tree itself.
    #[must_use]
    pub fn top() -> Self {
        Self(Name(Arc::from([])))
    }

    fn of_parts(parts: &mut dyn Iterator<Item = &[u8]>) -> Self {
        let parts: Vec<&[u8]> = parts.collect();
        Self(Name(parts.join(&b'/').into()))
    }

    /// Its parts, from the tree on.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &[u8]> + Clone {
        let parts = self.0.0.split(|byte| *byte == b'/');
        parts.filter(|part| !part.is_empty())
    }

    /// The folder that it lies in.
    #[must_use]
    pub fn folder(&self) -> Self {
        let end = self.0.0.iter().rposition(|byte| *byte == b'/');
        Self(Name(self.0.0.get(..end.unwrap_or(0)).unwrap_or(&[]).into()))
    }

    /// What a folder's name means for code in the tree: `..` in it goes no
    /// further up than to the tree.
    #[must_use]
    pub fn joined(&self, name: &[u8]) -> Self {
        let plain = !name.iter().any(|byte| matches!(byte, b'/' | 0));
        if plain && !matches!(name, b"" | b"." | b"..") {
            return Self(Name(match self.0.0.is_empty() {
                true => name.into(),
                false => [&self.0.0, name].join(&b'/').into(),
            }));
        }
        let mut parts: Vec<&[u8]> = self.parts().collect();
        for part in name.split(|byte| *byte == b'/' || *byte == 0) {
            match part {
                b"." | b"" => {}
                b".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        Self::of_parts(&mut parts.into_iter())
    }

    /// The path from a folder of the tree on; none where it does not lie in it.
    #[must_use]
    pub fn below(&self, folder: &Self) -> Option<Self> {
        let below = answer::below(self.as_path(), folder.as_path())?;
        Self::new(below.as_os_str().as_bytes())
    }

    /// Whether it lies below a folder, `arch/x86/`.
    #[must_use]
    pub fn is_below(&self, folder: &str) -> bool {
        self.0.0.starts_with(folder.as_bytes())
    }

    /// Its name, for those that take any.
    #[must_use]
    pub fn name(&self) -> &Name {
        &self.0
    }
}

impl Deref for TreePath {
    type Target = Name;

    fn deref(&self) -> &Name {
        &self.0
    }
}

impl AsRef<Path> for TreePath {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

impl From<TreePath> for Name {
    fn from(path: TreePath) -> Self {
        path.0
    }
}

impl PartialEq<&str> for TreePath {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<'de> Deserialize<'de> for TreePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Name::deserialize(deserializer)?;
        Self::new(&name.0).ok_or_else(|| D::Error::custom(format!("{name} is not below a tree")))
    }
}

/// A path as people are shown it, in messages too; see [`Name`].
#[must_use]
pub fn shown(path: &Path) -> String {
    shown_bytes(path.as_os_str().as_bytes())
}

fn shown_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push(&mut out, c));
        for byte in chunk.invalid() {
            out += &format!("\\x{byte:02x}");
        }
    }
    out
}

fn push(out: &mut String, c: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c if c.is_ascii_control() => *out += &format!("\\x{:02x}", u32::from(c)),
        c if is_unseen(c) => *out += &format!("\\u{{{:x}}}", u32::from(c)),
        c => out.push(c),
    }
}

/// Text that others have written, such as what a program says of a file: what
/// could speak to a terminal is escaped; lines and tabs stay.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    let speaks = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || is_unseen(c);
    if !text.contains(speaks) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match speaks(c) {
            true => push(&mut out, c),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A JSON text of the same values, in which what could speak to a terminal is escaped as
/// JSON has it.
#[must_use]
pub fn plain_json(text: &str) -> Cow<'_, str> {
    // Below U+0020 JSON escapes all itself; what is left of it stands between values.
    let speaks = |c: char| c == '\u{7f}' || is_unseen(c);
    if !text.contains(speaks) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match speaks(c) {
            true => {
                let mut pair = [0; 2];
                let units = c.encode_utf16(&mut pair).iter();
                out.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Characters that show nothing of themselves but change what is seen: C1
/// controls, and those that turn, join, hide or break text (Unicode's Bidi_Control,
/// the zero-width ones, its separators of lines).
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The bytes of a name that was shown; none where the text is of no name.
fn unshown(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(rest.get(..at)?.as_bytes());
        let escape = rest.get(at + 1..)?;
        let first = escape.chars().next()?;
        let after = escape.get(first.len_utf8()..)?;
        rest = match first {
            '\\' | 'n' | 't' | 'r' => {
                bytes.push(match first {
                    'n' => b'\n',
                    't' => b'\t',
                    'r' => b'\r',
                    _ => b'\\',
                });
                after
            }
            'x' => {
                bytes.push(answer::fits(answer::hexadecimal(after.get(..2)?)?)?);
                after.get(2..)?
            }
            'u' => {
                let (code, after) = after.strip_prefix('{')?.split_once('}')?;
                let c = char::from_u32(answer::fits(answer::hexadecimal(code)?)?)?;
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                after
            }
            _ => return None,
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(bytes: &[u8]) -> Option<String> {
        TreePath::new(bytes).map(|path| path.to_string())
    }

    #[test]
    fn nothing_outside_a_tree_is_a_path_below_it() {
        for outside in ["/etc/passwd", "..", "a/../..", "a/..", "../g/a.c", "a\0b"] {
            assert_eq!(path(outside.as_bytes()), None, "{outside}");
        }
        assert_eq!(path(b"./a//b/./c.h/"), Some("a/b/c.h".to_owned()));
        assert_eq!(path(b"a..b/...c"), Some("a..b/...c".to_owned()));
        assert_eq!(path(b""), Some(String::new()));
    }

    #[test]
    fn what_code_includes_stays_below_the_tree() {
        let folder = TreePath::within("fs/ext4/inode.c").folder();
        let joined = |name: &str| folder.joined(name.as_bytes()).to_string();
        assert_eq!(joined("../x.h"), "fs/x.h");
        assert_eq!(joined("../../../../../dev/zero"), "dev/zero");
        assert_eq!(joined("/dev/zero"), "fs/ext4/dev/zero");
        assert_eq!(
            TreePath::within("a.c").folder().joined(b"b.h").to_string(),
            "b.h"
        );
    }

    #[test]
    fn no_byte_of_a_name_speaks_to_a_terminal() {
        let shown = |bytes: &[u8]| Name::from(bytes).to_string();
        assert_eq!(shown(b"a\x1b[31m\n\t.c"), "a\\x1b[31m\\n\\t.c");
        assert_eq!(shown(b"\xffa\xc3"), "\\xffa\\xc3");
        assert_eq!(shown("é\u{202e}c\u{9b}".as_bytes()), "é\\u{202e}c\\u{9b}");
        assert_eq!(shown(b"a\\x1b"), "a\\\\x1b");
        assert_eq!(plain("a\tb\n\u{1b}[0m\u{7f}"), "a\tb\n\\x1b[0m\\x7f");
        assert_eq!(plain("C:\\x"), "C:\\x");
    }

    proptest! {
        #[test]
        fn a_name_that_is_shown_is_known_again(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let name = Name::from(bytes.as_slice());
            let text = name.to_string();
            prop_assert!(!text.contains(|c: char| c.is_control()));
            prop_assert_eq!(unshown(&text), Some(bytes));
        }

        #[test]
        fn a_path_is_plain_parts(bytes in "[a./]{0,12}") {
            if let Some(path) = TreePath::new(bytes.as_bytes()) {
                let mut parts = path.as_path().components();
                prop_assert!(parts.all(|part| matches!(part, std::path::Component::Normal(_))));
                prop_assert_eq!(TreePath::new(path.as_bytes()), Some(path.clone()));
                prop_assert!(path.joined(b"../../x").as_bytes().ends_with(b"x"));
            }
        }
    }
}
