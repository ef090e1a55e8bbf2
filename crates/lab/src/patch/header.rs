//! What stands above the hunks of a diff: the names of the files (git-diff(1),
//! "Generating patch text with -p").

use std::collections::BTreeMap;

use memchr::memmem;
use tollgate_source::TreePath;

use crate::git;

/// How many folders are to be taken off the names of a diff: none where the two of
/// `diff --git` are the same, as `diff.noprefix` writes them.
pub(super) fn strip(diff: &[u8]) -> usize {
    let mut heads = lines(diff).filter_map(|line| line.strip_prefix(b"diff --git "));
    let same = heads.next().is_some_and(|head| {
        let (first, rest) = head.split_at(head.len() / 2);
        rest.strip_prefix(b" ") == Some(first)
    });
    usize::from(!same)
}

/// The names behind `---` and `+++` as they stand there.
pub(super) fn names(diff: &[u8]) -> Vec<Vec<u8>> {
    let heads = lines(diff).filter_map(|line| {
        let name = line.strip_prefix(b"--- ").or(line.strip_prefix(b"+++ "))?;
        // Some tools write the time behind a tab.
        let name = name.split(|byte| *byte == b'\t').next()?;
        (name != b"/dev/null").then(|| unquoted(name))
    });
    heads.collect()
}

/// The names before it of the files that a diff renames or copies.
pub(super) fn sources(diff: &[u8]) -> Vec<Vec<u8>> {
    extended(diff)
        .filter_map(|line| {
            let renamed = line.strip_prefix(b"rename from ");
            renamed.or(line.strip_prefix(b"copy from "))
        })
        .map(unquoted)
        .collect()
}

/// What the files that a diff renames were called before all of it, by what they
/// are called after it.
pub(super) fn renames(diff: &[u8]) -> BTreeMap<TreePath, TreePath> {
    let mut found: BTreeMap<TreePath, TreePath> = BTreeMap::new();
    let mut from = None;
    let path = |name: &[u8]| TreePath::new(&unquoted(name));
    for line in extended(diff) {
        if let Some(name) = line.strip_prefix(b"rename from ") {
            from = path(name);
        } else if let (Some(name), Some(old)) = (line.strip_prefix(b"rename to "), &from) {
            // A later patch may rename again.
            let first = found.remove(old).unwrap_or_else(|| old.clone());
            found.extend(path(name).map(|new| (new, first)));
            from = None;
        }
    }
    found
}

/// The diff of a mail that git wrote: from its header to the signature.
#[must_use]
pub fn diff_of(mail: &[u8]) -> &[u8] {
    let start = memmem::find(mail, b"\ndiff --git ").map_or(0, |newline| newline + 1);
    let diff = mail.get(start..).unwrap_or(mail);
    let end = memmem::rfind(diff, b"\n-- \n").map_or(diff.len(), |newline| newline + 1);
    diff.get(..end).unwrap_or(diff)
}

fn lines(diff: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = diff.split(|byte| *byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// The lines between `diff --git` and the hunks.
fn extended(diff: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut inside = false;
    lines(diff).filter(move |line| {
        let ends = [b"@@ ".as_slice(), b"--- ", b"GIT binary patch"];
        inside &= !ends.iter().any(|end| line.starts_with(end));
        inside |= line.starts_with(b"diff --git ");
        inside
    })
}

/// A name as git writes it, in quotes where it holds unusual bytes.
fn unquoted(name: &[u8]) -> Vec<u8> {
    git::unquoted(name).unwrap_or_else(|| name.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_without_prefixes_is_known_by_its_head() {
        assert_eq!(strip(b"diff --git a/x.c b/x.c\n"), 1);
        assert_eq!(strip(b"diff --git i/x.c w/x.c\n"), 1);
        assert_eq!(strip(b"x\ndiff --git fs/x y.c fs/x y.c\n"), 0);
        assert_eq!(
            strip(b"diff --git \"a/\\303\\274.c\" \"b/\\303\\274.c\"\n"),
            1
        );
        assert_eq!(strip(b"--- a/x.c\n+++ b/x.c\n"), 1);
    }

    #[test]
    fn the_diff_of_a_mail_has_neither_date_nor_signature() {
        let mail = "From 0\nDate: today\nSubject: x\n\nbody\n---\n a.c | 2 +-\n\n\
                    diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n";
        let diff = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(diff_of(mail.as_bytes()), diff.as_bytes());
        assert_eq!(diff_of(diff.as_bytes()), diff.as_bytes());
    }

    #[test]
    fn renames_after_each_other_are_one() {
        let diff =
            b"diff --git a/a.c b/b.c\nsimilarity index 100%\nrename from a.c\nrename to b.c\n\
                     diff --git a/b.c b/c.c\nrename from b.c\nrename to \"\\303\\274 \\\"c\\t.c\"\n\
                     @@ -1 +1 @@\n-rename from x\n";
        let found: Vec<_> = renames(diff).into_iter().collect();
        let path = TreePath::within;
        assert_eq!(found, [(path("ü \"c\t.c"), path("a.c"))]);
        assert_eq!(sources(diff), [b"a.c", b"b.c"]);
    }
}
