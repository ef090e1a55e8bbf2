//! What stands above the hunks of a diff: the names of the files (git-diff(1),
//! "Generating patch text with -p").

use std::collections::BTreeMap;

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
