//! The door: what a user names becomes a path below a tree here and nowhere else,
//! or a sentence, before any work.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tollgate_defect::answer;

use anyhow::Context;
use tollgate_lab::input;
use tollgate_source::{Name, TreePath, shown};

/// A folder that paths are resolved in: a kernel tree, or any other.
#[derive(Debug)]
pub(crate) struct Door {
    /// Without symbolic links.
    root: PathBuf,
    /// As the user named it.
    named: PathBuf,
}

/// What is at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A file of any kind that is no folder.
    File(TreePath),
    /// A folder.
    Folder(TreePath),
    /// Nothing; where it would be.
    Nothing(TreePath),
}

impl Door {
    /// Resolves paths in a folder.
    ///
    /// # Errors
    /// When it is not there.
    pub(crate) fn of(folder: &Path) -> anyhow::Result<Self> {
        let root = fs::canonicalize(folder)
            .with_context(|| format!("there is no folder {}", shown(folder)))?;
        Ok(Self {
            root,
            named: folder.to_owned(),
        })
    }

    /// The folder, without symbolic links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// What a path of a user's is: one relative to the folder, or an absolute one
    /// that leads into it, by whatever links.
    ///
    /// # Errors
    /// When it leads out of the folder, or the system cannot say.
    pub(crate) fn find(&self, given: &Path) -> anyhow::Result<Found> {
        let place = self.root.join(given);
        match fs::canonicalize(&place) {
            Ok(full) => {
                let path = self.below(given, &full)?;
                match full.is_dir() {
                    true => Ok(Found::Folder(path)),
                    false => Ok(Found::File(path)),
                }
            }
            Err(error) if is_missing(&error) => {
                let full = would_be(&place);
                Ok(Found::Nothing(self.below(given, &full)?))
            }
            Err(error) => Err(error).with_context(|| format!("cannot find {}", shown(given))),
        }
    }

    fn below(&self, given: &Path, full: &Path) -> anyhow::Result<TreePath> {
        let below = answer::below(full, &self.root);
        let below = below.and_then(|below| TreePath::new(Name::from(below).as_bytes()));
        below.with_context(|| {
            let (name, tree) = (shown(given), shown(&self.named));
            let is = match full == given {
                true => String::new(),
                false => format!(" {},", shown(full)),
            };
            format!("{name} is{is} outside of {tree}: give a path below it")
        })
    }

    /// The file of that name.
    ///
    /// # Errors
    /// When it is not there, is outside, or is no ordinary file.
    pub(crate) fn file(&self, given: &Path) -> anyhow::Result<TreePath> {
        let path = match self.find(given)? {
            Found::File(path) | Found::Folder(path) => path,
            Found::Nothing(_) => return Err(self.missing(given)),
        };
        refuse_other(&self.root.join(&path), given)?;
        Ok(path)
    }

    /// That there is no such file, with what may have been meant.
    pub(crate) fn missing(&self, given: &Path) -> anyhow::Error {
        let meant = self.meant(given).map_or(String::new(), |meant| {
            format!("; from the top of it that is {meant}")
        });
        let (given, tree) = (shown(given), shown(&self.named));
        anyhow::anyhow!("there is no {given} in {tree}: a path is relative to it{meant}")
    }

    /// Who stands in the tree may name what is there.
    #[expect(
        clippy::disallowed_methods,
        reason = "a hint for a message that says what is not there"
    )]
    fn meant(&self, given: &Path) -> Option<TreePath> {
        let full = fs::canonicalize(given).ok()?;
        let below = answer::below(&full, &self.root)?;
        TreePath::new(Name::from(below).as_bytes())
    }
}

/// Refuses what is no ordinary file: it may have no end.
///
/// # Errors
/// With what it is.
pub(crate) fn refuse_other(place: &Path, given: &Path) -> anyhow::Result<()> {
    let about = fs::metadata(place).with_context(|| format!("cannot read {}", shown(given)))?;
    match input::other(&about) {
        None => Ok(()),
        Some(what) => anyhow::bail!("{} is {what}, and no ordinary file", shown(given)),
    }
}

/// Refuses to write below a tree that is only read: what is written there would be
/// part of what is built from it.
///
/// # Errors
/// With what was to be written, and what to do.
pub(crate) fn refuse_inside(tree: &Path, what: &str, path: &Path) -> anyhow::Result<()> {
    let (Ok(tree), Ok(full)) = (fs::canonicalize(tree), std::path::absolute(path)) else {
        return Ok(());
    };
    let full = fs::canonicalize(&full).unwrap_or_else(|_| would_be(&full));
    anyhow::ensure!(
        !full.starts_with(&tree),
        "{what} {} lies in the tree {}, which is only read: give a place outside of it",
        shown(path),
        shown(&tree)
    );
    Ok(())
}

/// Refuses a folder whose path Kbuild cannot build in: "source directory cannot
/// contain spaces or colons" (the kernel's Makefile), make splits at white space, and
/// its commands hand paths to the shell without quotes.
///
/// # Errors
/// With the folder, and what to do.
pub(crate) fn refuse_unbuildable(cache: &Path) -> anyhow::Result<()> {
    let full = std::path::absolute(cache)?;
    let splits = |byte: &u8| byte.is_ascii_whitespace() || b":#$'\"`\\()&;<>|*?[]".contains(byte);
    anyhow::ensure!(
        !Name::from(full.as_path()).as_bytes().iter().any(splits),
        "the cache {} has white space, a colon or a character of the shell in its path, where the kernel's Makefile builds nothing: give another folder with --cache",
        shown(cache)
    );
    Ok(())
}

/// Refuses a tree that is one of our own, which building changes.
///
/// # Errors
/// With the tree.
pub(crate) fn refuse_own(tree: &Path, cache: &Path) -> anyhow::Result<()> {
    let own = ["work", "objects", "scratch"].map(|name| cache.join(name));
    anyhow::ensure!(
        !own.iter().any(|folder| tree.starts_with(folder)),
        "{} is the copy that tollgate builds from: give the tree that it was made of",
        shown(tree)
    );
    Ok(())
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Where a path would be that does not exist: the part that does is resolved, and
/// what follows is taken as it is written.
#[expect(
    clippy::disallowed_methods,
    reason = "the part of a path that is there was asked for"
)]
fn would_be(place: &Path) -> PathBuf {
    let above = place.ancestors().skip(1);
    let found = above.filter_map(|folder| Some((folder, fs::canonicalize(folder).ok()?)));
    let Some((folder, mut full)) = found.into_iter().next() else {
        return place.to_owned();
    };
    let rest = answer::below(place, folder).unwrap_or(place);
    for part in rest.components() {
        match part {
            std::path::Component::ParentDir => {
                full.pop();
            }
            std::path::Component::Normal(part) => full.push(part),
            _ => {}
        }
    }
    full
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("g/fs/ext4")).unwrap();
        fs::create_dir_all(dir.path().join("else")).unwrap();
        for file in ["g/fs/a.c", "else/b.c", "g/fs/ext4/x\u{1b}.c"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        symlink("a.c", dir.path().join("g/fs/inside.c")).unwrap();
        symlink("../../else/b.c", dir.path().join("g/fs/outside.c")).unwrap();
        symlink("../../else", dir.path().join("g/fs/away")).unwrap();
        symlink("loop", dir.path().join("g/loop")).unwrap();
        symlink("g", dir.path().join("link")).unwrap();
        dir
    }

    fn found(dir: &Path, tree: &str, given: &str) -> String {
        let door = Door::of(&dir.join(tree)).unwrap();
        let said = match door.find(Path::new(&given.replace("TOP", dir.to_str().unwrap()))) {
            Ok(Found::File(path)) => format!("file {path}"),
            Ok(Found::Folder(path)) => format!("folder {path}"),
            Ok(Found::Nothing(path)) => format!("nothing {path}"),
            Err(error) => error.to_string(),
        };
        said.replace(dir.to_str().unwrap(), "TOP")
    }

    #[test]
    fn every_way_to_a_file_of_the_tree_is_one() {
        let dir = tree();
        for tree in ["g", "g/", "link", "link/", "g/../g/.", "link/fs/.."] {
            for given in [
                "fs/a.c",
                "./fs//a.c",
                "fs/inside.c",
                "../g/fs/a.c",
                "fs/ext4/../a.c",
                "TOP/g/fs/a.c",
                "TOP/link/fs/inside.c",
            ] {
                assert_eq!(
                    found(dir.path(), tree, given),
                    "file fs/a.c",
                    "{tree} {given}"
                );
            }
        }
        assert_eq!(found(dir.path(), "g", "."), "folder ");
        assert_eq!(found(dir.path(), "g", "fs/ext4/"), "folder fs/ext4");
        assert_eq!(found(dir.path(), "g", "fs/none/n.c"), "nothing fs/none/n.c");
        assert_eq!(found(dir.path(), "g", "fs/a.c/n.c"), "nothing fs/a.c/n.c");
    }

    #[test]
    fn nothing_is_written_below_a_tree() {
        let dir = tree();
        let top = dir.path();
        for inside in ["g", "g/new", "g/new/deep", "link/fs/new", "else/../g/x"] {
            let said = refuse_inside(&top.join("g/"), "--cache", &top.join(inside));
            assert!(said.is_err(), "{inside}");
        }
        for outside in ["else", "gg", "g/../new", "new/deep"] {
            refuse_inside(&top.join("link"), "--cache", &top.join(outside)).unwrap();
        }
        assert!(refuse_own(&Path::new("/c").join("work/x/source"), Path::new("/c")).is_err());
        refuse_own(Path::new("/c/trees/x"), Path::new("/c")).unwrap();
    }

    #[test]
    fn what_leads_out_of_the_tree_is_refused() {
        let dir = tree();
        for given in [
            "../else/b.c",
            "../else/none.c",
            "fs/outside.c",
            "fs/away/b.c",
            "fs/away/none.c",
            "fs/away/../else/b.c",
            "TOP/else/b.c",
            "TOP/gg/b.c",
            "/",
            "..",
        ] {
            let said = found(dir.path(), "g", given);
            assert!(said.contains("outside of TOP/g"), "{given}: {said}");
        }
        let looped = found(dir.path(), "g", "loop");
        assert_eq!(looped, "cannot find loop");
    }
}
