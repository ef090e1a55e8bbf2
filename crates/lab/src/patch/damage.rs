//! What mailers, editors and shells do to a patch on its way, found by holding it
//! against the files that it names: one cause and one line, instead of all the
//! hunks that do not fit for it.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use tollgate_defect::answer;

/// What has been done to a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// UTF-16, as some shells write what a program prints.
    Utf16,
    /// Lines that end in CR LF.
    Crlf,
    /// Tabs that have become spaces.
    Tabs,
    /// Spaces that no line break may part, U+00A0.
    NoBreak,
    /// White space that is gone or another, in any other way.
    WhiteSpace,
    /// `=3D` for `=`.
    QuotedPrintable,
    /// `&lt;` for `<`.
    Html,
    /// A line that was broken in two.
    Wrapped,
    /// A space before each line that begins with one.
    Stuffed,
    /// Fewer or other lines than the hunk's header says.
    CutOff,
}

/// What was done, and what to do about it.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf16 => "it is UTF-16, as some shells write a program's output; let git write it: git diff --output=FILE",
            Self::Crlf => "its lines end in CR LF, and those of the tree in LF; convert it, for example with dos2unix",
            Self::Tabs => "tabs have become spaces, as a mailer or a terminal writes them; take the patch as the file that git wrote",
            Self::NoBreak => "spaces have become no-break spaces (U+00A0), as a web page writes them; take the patch as the file that git wrote",
            Self::WhiteSpace => "white space is not what it was; take the patch as the file that git wrote",
            Self::QuotedPrintable => "it is quoted-printable and was not decoded; save the whole mail, with its header",
            Self::Html => "it is written for HTML (&lt; for <); take the patch as the file that git wrote",
            Self::Wrapped => "a line is broken in two, as format=flowed and other mailers break long lines; take the patch as the file that git wrote",
            Self::Stuffed => "there is a space before lines that begin with one (format=flowed); take the patch as the file that git wrote",
            Self::CutOff => "the hunk has other lines than its header says: it was cut off, or edited by hand",
        })
    }
}

/// What was done to a patch, and in which of its lines, from 1, that shows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What was done.
    pub cause: Cause,
    /// The line.
    pub line: usize,
}

/// The damage of a diff that does not fit, if it is one that can be told from a
/// patch for another tree. `read` gives the bytes of a file before the patch.
pub(crate) fn damage(diff: &[u8], read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Option<Damage> {
    if diff.starts_with(b"\xff\xfe") || diff.starts_with(b"\xfe\xff") {
        let cause = Cause::Utf16;
        return Some(Damage { cause, line: 1 });
    }
    // What is behind the last line end is no line.
    let whole = diff.strip_suffix(b"\n").unwrap_or(diff);
    let lines: Vec<&[u8]> = whole.split(|byte| *byte == b'\n').collect();
    let mut parser = Parser::default();
    let mut found = None;
    for (at, line) in lines.iter().enumerate() {
        match parser.take(line) {
            Step::Text => {}
            Step::File(path) => parser.known = read(&path).map(Known::new),
            Step::Old(text) => {
                let next = lines.get(at + 1).copied().unwrap_or_default();
                parser.weigh(text, next, at + 1, &mut found);
            }
            Step::Stray => {
                let cause = parser.stray(lines.get(..=at).unwrap_or_default());
                parser.weigh_stray(cause, at + 1, &mut found);
            }
        }
    }
    if parser.is_open() {
        let cause = Cause::CutOff;
        let line = lines.len();
        found = found.or(Some(Damage { cause, line }));
    }
    // Most of what does not fit has to be explained: a tree that was indented anew
    // in one place is no damage of a patch.
    found.filter(|_| parser.explained * 2 >= parser.unknown)
}

/// A file before the patch.
struct Known {
    lines: HashSet<Vec<u8>>,
    /// The same without white space.
    dense: HashSet<Vec<u8>>,
    with_tabs: HashSet<Vec<u8>>,
}

impl Known {
    fn new(bytes: Vec<u8>) -> Self {
        let lines: HashSet<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let dense = |lines: &mut dyn Iterator<Item = &Vec<u8>>| {
            lines.map(|line| dense(line)).collect::<HashSet<_>>()
        };
        Self {
            dense: dense(&mut lines.iter()),
            with_tabs: dense(&mut lines.iter().filter(|line| line.contains(&b'\t'))),
            lines,
        }
    }

    fn has(&self, line: &[u8]) -> bool {
        self.lines.contains(line)
    }

    /// What was done to a line that is not in the file, and to the next.
    fn cause(&self, line: &[u8], next: &[u8]) -> Option<Cause> {
        let dense = dense(line);
        if line.strip_suffix(b"\r").is_some_and(|line| self.has(line)) {
            return Some(Cause::Crlf);
        }
        if !dense.is_empty() && self.dense.contains(&dense) {
            return Some(match () {
                () if contains(line, "\u{a0}".as_bytes()) => Cause::NoBreak,
                () if line.strip_prefix(b" ").is_some_and(|line| self.has(line)) => Cause::Stuffed,
                () if !line.contains(&b'\t') && self.with_tabs.contains(&dense) => Cause::Tabs,
                () => Cause::WhiteSpace,
            });
        }
        if self.has(&decoded(line)) {
            return Some(Cause::QuotedPrintable);
        }
        if self.has(&unescaped(line)) {
            return Some(Cause::Html);
        }
        self.is_broken_line(line, next).then_some(Cause::Wrapped)
    }

    /// Whether two lines are one of the file. The second is no line of a hunk.
    fn is_broken_line(&self, line: &[u8], next: &[u8]) -> bool {
        let whole = dense(&[line, next].concat());
        !dense(line).is_empty() && !dense(next).is_empty() && self.dense.contains(&whole)
    }
}

/// A line without its white space.
fn dense(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    let kept: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    kept.into_bytes()
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(text, wanted).is_some()
}

/// `=3D` as what it stands for (RFC 2045, section 6.7).
fn decoded(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some((byte, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| *byte == b'=');
        let code = code.and_then(|code| answer::text(code));
        match code
            .and_then(answer::hexadecimal)
            .and_then(answer::fits::<u8, _>)
        {
            Some(value) => {
                out.push(value);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*byte);
                rest = behind;
            }
        }
    }
    out
}

fn unescaped(line: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(line).into_owned();
    let codes = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let plain = codes
        .iter()
        .fold(text, |text, (code, sign)| text.replace(code, sign));
    plain.into_bytes()
}

/// What a line of a diff is.
enum Step<'a> {
    /// Nothing that can be held against a file.
    Text,
    /// The name of the file before it.
    File(PathBuf),
    /// A line that the file must have, without its mark.
    Old(&'a [u8]),
    /// A line that belongs into no hunk, in one.
    Stray,
}

/// Reads a diff line by line, and keeps count of what does not fit.
#[derive(Default)]
struct Parser {
    known: Option<Known>,
    /// Lines that the hunk still has, of before and after.
    old: usize,
    new: usize,
    /// Lines that the file does not have, and those among them with a cause.
    unknown: usize,
    explained: usize,
}

impl Parser {
    fn is_open(&self) -> bool {
        self.old > 0 || self.new > 0
    }

    fn take<'a>(&mut self, line: &'a [u8]) -> Step<'a> {
        if !self.is_open() {
            return self.outside(line);
        }
        match line.split_first() {
            Some((b' ', text)) => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
                Step::Old(text)
            }
            Some((b'-', text)) => {
                self.old = self.old.saturating_sub(1);
                Step::Old(text)
            }
            Some((b'+', _)) => {
                self.new = self.new.saturating_sub(1);
                Step::Text
            }
            // git takes an empty line as an empty line of context.
            None | Some((b'\r', [])) => {
                self.old = self.old.saturating_sub(1);
                self.new = self.new.saturating_sub(1);
                Step::Text
            }
            Some((b'\\', _)) => Step::Text,
            Some(_) => Step::Stray,
        }
    }

    fn outside<'a>(&mut self, line: &'a [u8]) -> Step<'a> {
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(name) = text.strip_prefix(b"--- ") {
            let name = name.split(|byte| *byte == b'\t').next().unwrap_or_default();
            let name = String::from_utf8_lossy(name).into_owned();
            let inside = name.split_once('/').map_or(name.as_str(), |(_, rest)| rest);
            return Step::File(PathBuf::from(inside));
        }
        if let Some((old, new)) = header(text) {
            (self.old, self.new) = (old, new);
        }
        Step::Text
    }

    fn weigh(&mut self, text: &[u8], next: &[u8], line: usize, found: &mut Option<Damage>) {
        let Some(known) = self.known.as_ref().filter(|known| !known.has(text)) else {
            return;
        };
        self.unknown += 1;
        // The next line is the rest of this one only where it has no mark.
        let rest = if next.starts_with(b" ") || next.starts_with(b"+") || next.starts_with(b"-") {
            &[]
        } else {
            next
        };
        if let Some(cause) = known.cause(text, rest) {
            self.explained += 1;
            *found = found.or(Some(Damage { cause, line }));
        }
    }

    /// A line without a mark: the rest of the one before it, or the end of a hunk
    /// that has less than it says.
    fn stray(&mut self, lines: &[&[u8]]) -> Cause {
        let mut last = lines.iter().rev().copied();
        let (own, before) = (
            last.next().unwrap_or_default(),
            last.next().unwrap_or_default(),
        );
        let before = before.get(1..).unwrap_or_default();
        let known = self.known.as_ref();
        match known {
            _ if before.ends_with(b"=") => Cause::QuotedPrintable,
            Some(known) if known.is_broken_line(before, own) => Cause::Wrapped,
            // A line that the patch adds is in no file.
            _ if before.len() > 40 && !own.starts_with(b"@@") && !own.starts_with(b"diff ") => {
                Cause::Wrapped
            }
            _ => Cause::CutOff,
        }
    }

    fn weigh_stray(&mut self, cause: Cause, line: usize, found: &mut Option<Damage>) {
        self.unknown += 1;
        self.explained += 1;
        *found = found.or(Some(Damage { cause, line }));
        if cause == Cause::CutOff {
            (self.old, self.new) = (0, 0);
        }
    }
}

/// Lines before and after of `@@ -1,3 +1,4 @@`.
fn header(line: &[u8]) -> Option<(usize, usize)> {
    let text = answer::text(line)?;
    let mut words = text.strip_prefix("@@ -")?.split(' ');
    let count = |word: &str| match word.split_once(',') {
        Some((_, count)) => answer::number(count),
        None => Some(1),
    };
    let old = count(words.next()?)?;
    let new = count(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "int f(int a)\n{\n\tif (a < 1 && a != 2)\n\t\treturn put_user(a, (int __user *)0 == 0 ? NULL : NULL);\n\n\treturn 0;\n}\n";
    const PATCH: &str = "--- a/x.c\n+++ b/x.c\n@@ -1,7 +1,7 @@\n int f(int a)\n {\n \tif (a < 1 && a != 2)\n \t\treturn put_user(a, (int __user *)0 == 0 ? NULL : NULL);\n \n-\treturn 0;\n+\treturn 1;\n }\n";

    fn of(patch: &str) -> Option<(Cause, usize)> {
        let read = |path: &Path| (path == Path::new("x.c")).then(|| FILE.as_bytes().to_vec());
        damage(patch.as_bytes(), &read).map(|damage| (damage.cause, damage.line))
    }

    #[test]
    fn each_damage_is_told_with_its_line() {
        assert_eq!(of(PATCH), None);
        assert_eq!(of(&PATCH.replace('\n', "\r\n")), Some((Cause::Crlf, 4)));
        assert_eq!(of(&PATCH.replace('\t', "        ")), Some((Cause::Tabs, 6)));
        assert_eq!(of(&PATCH.replace('\t', "")), Some((Cause::Tabs, 6)));
        assert_eq!(
            of(&PATCH.replace(" < ", "\u{a0}<\u{a0}")),
            Some((Cause::NoBreak, 6))
        );
        assert_eq!(
            of(&PATCH.replace(" < ", "  < ")),
            Some((Cause::WhiteSpace, 6))
        );
        assert_eq!(of(&PATCH.replace("\n ", "\n  ")), Some((Cause::Stuffed, 4)));
        let quoted = PATCH.replace('=', "=3D").replace("NULL);", "NULL)=\n;");
        assert_eq!(of(&quoted), Some((Cause::QuotedPrintable, 6)));
        let html = PATCH.replace('&', "&amp;").replace('<', "&lt;");
        assert_eq!(of(&html), Some((Cause::Html, 6)));
        let wrapped = PATCH.replace("== 0 ? NULL", "== 0 ?\nNULL");
        assert_eq!(of(&wrapped), Some((Cause::Wrapped, 7)));
        let end = PATCH.len() - "+\treturn 1;\n }\n".len();
        assert_eq!(of(&PATCH[..end]), Some((Cause::CutOff, 9)));
        assert_eq!(
            of(&PATCH.replace("\n }\n", "\n")),
            Some((Cause::CutOff, 10))
        );
    }

    #[test]
    fn a_line_that_is_added_and_broken_is_told_too() {
        let long =
            "+\treturn some_function_with_a_name(that_is_long, and_more,\nthan_a_mailer_takes);\n";
        let patch = PATCH.replace("+\treturn 1;\n", long);
        assert_eq!(of(&patch), Some((Cause::Wrapped, 11)));
    }

    #[test]
    fn utf_16_is_told() {
        let wide: Vec<u8> = PATCH.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let whole = [b"\xff\xfe".to_vec(), wide].concat();
        let found = damage(&whole, &|_| None).unwrap();
        assert_eq!((found.cause, found.line), (Cause::Utf16, 1));
    }

    #[test]
    fn a_patch_for_another_tree_is_not_damaged() {
        let other = PATCH
            .replace("return 0", "return 7")
            .replace("int f", "long g");
        assert_eq!(of(&other), None);
        let indented = other.replace("\tif (a", "    if (a");
        assert_eq!(of(&indented.replace("a != 2", "a != 3")), None);
        assert_eq!(of("--- a/y.c\n+++ b/y.c\n@@ -1 +1 @@\n-x\n+y\n"), None);
        for odd in [
            "",
            "\n",
            "@@ -1,9 +1,9 @@",
            "--- ",
            "--- a\n@@ -x +y @@\n",
            "@@ -0,0 +0,0 @@\n",
        ] {
            let _ = of(odd);
        }
    }
}
