//! Names as git writes them.

use tollgate_defect::answer;

/// A name that git put in quotes, with C's escapes (git-config(1),
/// core.quotePath).
#[must_use]
pub fn unquoted(line: &[u8]) -> Option<Vec<u8>> {
    let inner = line.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    let mut bytes = inner.iter().copied();
    let mut name = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        name.push(match bytes.next()? {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            first @ b'0'..=b'3' => {
                let digits = [first, bytes.next()?, bytes.next()?];
                answer::fits(answer::octal(answer::text(&digits)?)?)?
            }
            own @ (b'"' | b'\\') => own,
            _ => return None,
        });
    }
    Some(name)
}
