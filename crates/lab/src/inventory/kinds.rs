//! The kinds of things that a cache holds, by the folder that they lie in.

use std::path::{Path, PathBuf};

use super::{Error, names};

/// A kind of entry.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// Where its entries lie, below the cache.
    pub place: Place,
    /// What it is, and what makes it again.
    pub about: &'static str,
    /// Why it is never removed; none where it may be.
    pub stays: Option<&'static str>,
}

/// Where entries lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Each of what that folder holds is one.
    Each(&'static str),
    /// That folder or file is one.
    Whole(&'static str),
    /// What lies where no other kind does.
    Else,
}

const fn each(name: &'static str, folder: &'static str, about: &'static str) -> Kind {
    Kind {
        name,
        place: Place::Each(folder),
        about,
        stays: None,
    }
}

const fn whole(name: &'static str, folder: &'static str, about: &'static str) -> Kind {
    Kind {
        name,
        place: Place::Whole(folder),
        about,
        stays: None,
    }
}

/// All kinds; the first whose place holds a path is its kind.
pub const KINDS: [Kind; 17] = [
    each(
        "image",
        "images",
        "a kernel that prove boots: built again from its build folder",
    ),
    each(
        "package",
        "work/packages",
        "the build folder of a case's package: built again",
    ),
    each(
        "build",
        "work",
        "the objects of a kernel: built again, which takes minutes",
    ),
    each(
        "objects",
        "objects",
        "what fix --check compiles in: configured and built again",
    ),
    each(
        "program",
        "programs",
        "a guest, the plugin, a program of a case: compiled again",
    ),
    each(
        "tree",
        "trees",
        "a kernel's source of a package of this machine: unpacked again",
    ),
    each(
        "source",
        "sources",
        "what scripts/tree, scripts/source and scripts/library fetch: fetched again",
    ),
    each(
        "chroot",
        "chroots",
        "a bare Debian of scripts/chroot: made again",
    ),
    each(
        "cell",
        "robot/configured",
        "the configuration of a cell of robot: made again",
    ),
    each(
        "cell",
        "robot/prepared",
        "the build folder of a cell of robot: built again",
    ),
    whole(
        "answers",
        "robot/results",
        "what robot's compilers said: compiled again",
    ),
    whole("index", "known", "what is remembered of trees: read again"),
    each(
        "counts",
        "counts",
        "what a base counted twice: booted again",
    ),
    whole(
        "index",
        "robot/includes",
        "what robot remembers of includes: read again",
    ),
    whole(
        "ccache",
        "ccache",
        "objects that ccache keeps, and bounds by itself",
    ),
    Kind {
        name: "result",
        place: Place::Each("results"),
        about: "what prove and compare have said",
        stays: Some("a result is an answer, which nothing but its images can give again"),
    },
    Kind {
        name: "else",
        place: Place::Else,
        about: "what tollgate did not put there, or a later one did",
        stays: Some("tollgate does not know what it is"),
    },
];

/// What is no entry: the lock, what a run is working on, what a script works with.
const NO_ENTRY: [&str; 6] = [
    "lock",
    "scratch",
    "sources/lock",
    "sources/scratch",
    "sources/apt",
    "chroots/lock",
];

/// The paths below a cache that are entries, with their kinds.
pub(super) fn entries(root: &Path) -> Result<Vec<(&'static Kind, PathBuf)>, Error> {
    let mut found = Vec::new();
    walk(root, Path::new(""), &mut found)?;
    Ok(found)
}

/// Goes down to where the kinds have their places; what is beside them is an entry of
/// the last kind.
fn walk(
    root: &Path,
    folder: &Path,
    found: &mut Vec<(&'static Kind, PathBuf)>,
) -> Result<(), Error> {
    for name in names(&root.join(folder))? {
        let path = folder.join(&name);
        if NO_ENTRY.iter().any(|known| Path::new(known) == path) || is_mount(&path) {
            continue;
        }
        match of(&path) {
            Some(kind) => found.push((kind, path)),
            None if root.join(&path).is_dir() => walk(root, &path, found)?,
            None => found.push((other(), path)),
        }
    }
    Ok(())
}

/// Where scripts/chroot mounts: `chroots/.trixie.mount`, a folder that is always empty.
fn is_mount(path: &Path) -> bool {
    let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    path.parent() == Some(Path::new("chroots")) && path.file_name().is_some_and(hidden)
}

/// The kind of a path; none where entries of kinds lie further down, or might.
fn of(path: &Path) -> Option<&'static Kind> {
    let leads_on = |kind: &Kind| match kind.place {
        Place::Each(folder) => Path::new(folder).starts_with(path),
        Place::Whole(place) => Path::new(place).starts_with(path) && Path::new(place) != path,
        Place::Else => false,
    };
    if KINDS.iter().any(leads_on) {
        return None;
    }
    KINDS.iter().find(|kind| match kind.place {
        Place::Each(folder) => path.parent() == Some(Path::new(folder)),
        Place::Whole(place) => path == Path::new(place),
        Place::Else => true,
    })
}

fn other() -> &'static Kind {
    let [.., other] = &KINDS;
    other
}
