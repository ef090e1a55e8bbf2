//! Lists of files, as git, find and people write them.

use crate::git::unquoted;

/// The names of a list: one a line, as git writes them, or each with a NUL behind
/// it (`git diff -z`): one without any is a list of lines unless `null` is said.
#[must_use]
pub fn names_of(list: &[u8], null: bool) -> Vec<Vec<u8>> {
    if null || list.contains(&0) {
        let names = list.split(|byte| *byte == 0);
        return names
            .filter(|name| !name.is_empty())
            .map(<[u8]>::to_vec)
            .collect();
    }
    let lines = list.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| unquoted(line).unwrap_or_else(|| line.to_vec()))
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;

    fn names(list: &[u8]) -> Vec<String> {
        let names = names_of(list, false).into_iter();
        names.map(|name| name.escape_ascii().to_string()).collect()
    }

    #[test]
    fn a_list_is_lines_or_ends_its_names_with_nul() {
        assert_eq!(names(b"a.c\r\n\n  b.c \n"), ["a.c", "b.c"]);
        assert_eq!(names(b"a\nb.c\0 c.c\0"), ["a\\nb.c", " c.c"]);
        assert_eq!(names(b"\"q\\377\\t\\\"\\\\.c\"\n"), ["q\\xff\\t\\\"\\\\.c"]);
        assert_eq!(
            names(b"\"half\\\"\n\"\\9\""),
            ["\\\"half\\\\\\\"", "\\\"\\\\9\\\""]
        );
        assert_eq!(names(b""), [""; 0]);
        assert_eq!(names_of(b"a\nb.c", true), [b"a\nb.c"]);
        assert_eq!(names_of(b"a\nb.c", false), [b"a", &b"b.c"[..]]);
    }
}
