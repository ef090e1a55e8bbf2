//! A kernel source tree on disk: what it is, and what is in it, by content.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tollgate_defect::{OrDefect as _, answer};

use ignore::{WalkBuilder, WalkState};
use serde::{Deserialize, Serialize};
use tollgate_source::{TreePath, shown};

use crate::input;
use crate::process::Interrupt;
use crate::sources::{Sources, sources_below};

/// What a kernel tree must hold for its top Makefile to build it.
const LANDMARKS: &[&str] = &["Makefile", "Kconfig", "scripts", "arch", "include"];

/// Why a tree cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing at the path.
    #[error("no tree at {}: {source}; give the top folder of a Linux source tree", shown(.path))]
    Missing {
        /// The path that was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is something, but no kernel.
    #[error("{} is no kernel tree: it has no {landmark}; give the top folder of a Linux source tree", shown(.path))]
    NoKernel {
        /// The path that was given.
        path: PathBuf,
        /// The first thing that it lacks.
        landmark: String,
    },
    /// A part of it cannot be read.
    #[error("could not read {}: {reason}", shown(.path))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The user asked to stop.
    #[error(transparent)]
    Process(#[from] crate::process::Error),
}

/// A kernel tree. Only ever read.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    version: String,
}

impl Tree {
    /// Takes a folder as a kernel tree.
    ///
    /// # Errors
    /// When there is none, or it is not a kernel's.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let root = fs::canonicalize(root).map_err(|source| Error::Missing {
            path: root.to_owned(),
            source,
        })?;
        if let Some(landmark) = LANDMARKS.iter().find(|name| !root.join(name).exists()) {
            return Err(Error::NoKernel {
                path: root,
                landmark: (*landmark).to_owned(),
            });
        }
        let makefile = read(&root.join("Makefile"))?;
        let version =
            version_of(&String::from_utf8_lossy(&makefile)).ok_or_else(|| Error::NoKernel {
                path: root.clone(),
                landmark: "VERSION in its Makefile".to_owned(),
            })?;
        Ok(Self { root, version })
    }

    /// Takes a folder as the source of another program, of that version.
    ///
    /// # Errors
    /// When there is none.
    pub fn of_package(root: &Path, version: &str) -> Result<Self, Error> {
        let version = version.to_owned();
        match fs::canonicalize(root) {
            Ok(root) => Ok(Self { root, version }),
            Err(error) => Err(unreadable(root, &error)),
        }
    }

    /// Its top folder, without symbolic links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its version as its Makefile gives it, `6.12.117`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The first two numbers of its version, `6.12`.
    #[must_use]
    pub fn series(&self) -> String {
        self.version
            .split('.')
            .take(2)
            .collect::<Vec<_>>()
            .join(".")
    }

    /// Reads one of its files.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
    pub fn read(&self, path: &TreePath) -> Result<Vec<u8>, Error> {
        read(&self.place(path))
    }

    /// The bytes of one of its files, where it is not known whether it is there.
    ///
    /// # Errors
    /// The file system's own.
    pub fn source(&self, path: &TreePath) -> io::Result<Vec<u8>> {
        input::source(&self.place(path))
    }

    /// The folders of `arch/`, sorted; none where there is no such folder.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn architectures(&self) -> io::Result<Vec<String>> {
        let all = self.root().join("arch");
        let mut names = input::names_in(&all)?;
        names.retain(|name| all.join(name).is_dir() && !all.join(name).is_symlink());
        let names = names.iter().map(|name| name.to_string_lossy().into_owned());
        Ok(names.collect())
    }

    /// The C files of the kernel.
    #[must_use]
    pub fn sources(&self) -> Sources {
        sources_below(self.root(), &TreePath::top())
    }

    /// Where one of its files is.
    #[must_use]
    pub fn place(&self, path: &TreePath) -> PathBuf {
        self.root.join(path)
    }

    /// Reads all of it and notes what each file holds; see [`manifest_of`].
    ///
    /// # Errors
    /// When a file cannot be read or the user asks to stop.
    pub fn manifest(&self, interrupt: &Interrupt) -> Result<Manifest, Error> {
        manifest_of(&self.root, interrupt)
    }
}

/// Reads every file under `root` and notes what it holds. What an earlier
/// build in place left behind is not part of a tree, nor is its history.
///
/// # Errors
/// When a file cannot be read or the user asks to stop.
pub fn manifest_of(root: &Path, interrupt: &Interrupt) -> Result<Manifest, Error> {
    manifest_by(root, interrupt, &is_build_product, &|path| file(path))
}

/// The same, without the files that `left_out` names below the root, and where each
/// file is read by `read`.
pub(crate) fn manifest_by(
    root: &Path,
    interrupt: &Interrupt,
    left_out: &(dyn Fn(&Path) -> bool + Sync),
    read: &(dyn Fn(&Path) -> Result<Entry, Error> + Sync),
) -> Result<Manifest, Error> {
    let (sender, receiver) = std::sync::mpsc::channel();
    walk(root).run(|| {
        let sender = sender.clone();
        Box::new(move |found| {
            let entry = found
                .map_err(|error| unreadable(root, &error))
                .and_then(|f| entry(root, &f, left_out, read));
            let failed = entry.is_err();
            if interrupt.is_set() || sender.send(entry).is_err() || failed {
                return WalkState::Quit;
            }
            WalkState::Continue
        })
    });
    drop(sender);
    interrupt.check()?;
    let mut manifest = Manifest::default();
    for found in receiver.into_iter().filter_map(Result::transpose) {
        match found? {
            (path, Found::Kept(entry)) => drop(manifest.entries.insert(path, entry)),
            (path, Found::LeftOut) => manifest.left_out.push(path),
        }
    }
    manifest.left_out.sort_unstable();
    Ok(manifest)
}

/// What lies at the top of a tree and is no part of it: its history, and settings of
/// tollgate's, which say how it is built and are told by what comes of that.
const NO_PART: [&str; 2] = [".git", "tollgate.toml"];

fn walk(root: &Path) -> ignore::WalkParallel {
    WalkBuilder::new(root)
        .standard_filters(false)
        .filter_entry(|entry| {
            entry.depth() != 1 || !NO_PART.map(OsStr::new).contains(&entry.file_name())
        })
        .build_parallel()
}

fn entry(
    root: &Path,
    found: &ignore::DirEntry,
    left_out: &dyn Fn(&Path) -> bool,
    read: &dyn Fn(&Path) -> Result<Entry, Error>,
) -> Result<Option<(TreePath, Found)>, Error> {
    let path = found.path();
    let below = answer::below(path, root).map(Path::as_os_str);
    let name = below.and_then(|below| TreePath::new(below.as_bytes()));
    let name = name.or_defect("a walk left the folder that it began in");
    let name = name.map_err(|defect| unreadable(path, &defect))?;
    let Some(kind) = found.file_type().filter(|kind| !kind.is_dir()) else {
        return Ok(None);
    };
    if left_out(name.as_path()) {
        return Ok(None);
    }
    let entry = match (kind.is_symlink(), kind.is_file()) {
        (true, _) => Found::Kept(link(path)?),
        (_, true) => Found::Kept(read(path)?),
        _ => Found::LeftOut,
    };
    Ok(Some((name, entry)))
}

/// What a walk makes of an entry that is no folder.
enum Found {
    Kept(Entry),
    /// A pipe, a socket or a device, which no build reads and which may have no end.
    LeftOut,
}

fn link(path: &Path) -> Result<Entry, Error> {
    let to = fs::read_link(path).map_err(|error| unreadable(path, &error))?;
    Ok(Entry {
        content: hash(to.as_os_str().as_bytes()),
        kind: Kind::Link,
    })
}

/// What is at a path: a file or a link.
pub(crate) fn entry_of(path: &Path) -> Result<Entry, Error> {
    let about = fs::symlink_metadata(path).map_err(|error| unreadable(path, &error))?;
    match about.is_symlink() {
        true => link(path),
        false => file(path),
    }
}

pub(crate) fn file(path: &Path) -> Result<Entry, Error> {
    let about = fs::symlink_metadata(path).map_err(|error| unreadable(path, &error))?;
    Ok(Entry {
        content: hash_of(path).map_err(|error| unreadable(path, &error))?,
        kind: kind_of(&about),
    })
}

/// The kind of what was looked at.
pub(crate) fn kind_of(about: &fs::Metadata) -> Kind {
    match (about.is_symlink(), about.permissions().mode() & 0o111) {
        (true, _) => Kind::Link,
        (false, 0) => Kind::File,
        (false, _) => Kind::Program,
    }
}

/// What Kbuild writes into a tree that is built in place and that would make
/// it refuse a build elsewhere ("The source tree is not clean"), or that would
/// be taken for the other build's result.
pub(crate) fn is_build_product(path: &Path) -> bool {
    const FOLDERS: &[&str] = &["include/config", "include/generated"];
    const NAMES: &[&str] = &[
        ".config",
        ".config.old",
        "vmlinux",
        "vmlinux.o",
        "System.map",
    ];
    const ENDINGS: &[&str] = &["o", "a", "ko", "cmd", "mod"];
    let ends = path.extension().and_then(|e| e.to_str());
    FOLDERS.iter().any(|folder| path.starts_with(folder))
        || is_generated_by_arch(path)
        || NAMES.iter().any(|name| path == Path::new(name))
        || ends.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// `arch/*/include/generated/…`
fn is_generated_by_arch(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str());
    parts.next().is_some_and(|part| part == "arch")
        && parts.nth(1).is_some_and(|part| part == "include")
        && parts.next().is_some_and(|part| part == "generated")
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    input::source(path).map_err(|error| unreadable(path, &error))
}

pub(crate) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

fn version_of(makefile: &str) -> Option<String> {
    let value = |key: &str| {
        makefile.lines().take(20).find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    };
    let (version, patch) = (value("VERSION")?, value("PATCHLEVEL")?);
    // Neither has to be there: 3.0 had no level, a release has nothing extra.
    let level = value("SUBLEVEL").unwrap_or_else(String::new);
    let extra = value("EXTRAVERSION").unwrap_or_else(String::new);
    Some(format!("{version}.{patch}.{level}{extra}"))
}

/// The hash of a file's bytes (BLAKE3, hexadecimal).
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The same of a file, which is read piece by piece.
fn hash_of(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(input::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// What kind of file an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A plain file.
    File,
    /// A file that may be executed.
    Program,
    /// A symbolic link; its content is the path it points to.
    Link,
}

/// One file of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The hash of its bytes.
    pub content: String,
    /// What kind of file it is.
    pub kind: Kind,
}

/// Every file of a tree, by path, with what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    entries: BTreeMap<TreePath, Entry>,
    /// What is neither a file nor a link.
    #[serde(skip)]
    left_out: Vec<TreePath>,
}

impl Manifest {
    /// The files by path.
    #[must_use]
    pub fn entries(&self) -> &BTreeMap<TreePath, Entry> {
        &self.entries
    }

    /// Pipes, sockets and devices that lie in the tree and are no part of it, in
    /// order.
    #[must_use]
    pub fn left_out(&self) -> &[TreePath] {
        &self.left_out
    }

    /// The manifest of the same tree after `change`.
    #[must_use]
    pub fn with(&self, change: &Change) -> Self {
        let mut entries = self.entries.clone();
        for (path, bytes) in &change.files {
            let Some(bytes) = bytes else {
                entries.remove(path);
                continue;
            };
            let known = entries.get(path).map(|entry| entry.kind);
            let kind = change.kinds.get(path).copied().or(known);
            entries.insert(
                path.clone(),
                Entry {
                    content: hash(bytes),
                    kind: kind.unwrap_or(Kind::File),
                },
            );
        }
        Self {
            entries,
            left_out: self.left_out.clone(),
        }
    }

    /// One hash for all of it.
    #[must_use]
    pub fn id(&self) -> String {
        self.id_of(|_| true)
    }

    /// One hash for the files that `wanted` names.
    #[must_use]
    pub fn id_of(&self, wanted: impl Fn(&TreePath) -> bool) -> String {
        let mut hasher = blake3::Hasher::new();
        for (path, entry) in self.entries.iter().filter(|(path, _)| wanted(path)) {
            hasher.update(path.as_bytes());
            hasher.update(&[0, entry.kind as u8]);
            hasher.update(entry.content.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// What makes a variant of a tree: whole files, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The file's new bytes, or `None` where the variant has no such file.
    pub files: BTreeMap<TreePath, Option<Vec<u8>>>,
    /// What kind of file one is, where that is told; else it stays what it was,
    /// and a new one is plain.
    pub kinds: BTreeMap<TreePath, Kind>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        crate::fixture::kernel(dir.path());
        dir
    }

    fn manifest(dir: &Path) -> Manifest {
        Tree::open(dir)
            .unwrap()
            .manifest(&Interrupt::default())
            .unwrap()
    }

    #[test]
    fn the_version_is_the_makefiles() {
        let tree = Tree::open(kernel().path()).unwrap();
        assert_eq!(
            (tree.version(), tree.series().as_str()),
            ("6.12.7-rc1", "6.12")
        );
    }

    #[test]
    fn what_is_no_kernel_is_refused_in_a_sentence() {
        let empty = tempfile::tempdir().unwrap();
        let missing = Tree::open(&empty.path().join("nothing"))
            .unwrap_err()
            .to_string();
        assert!(
            missing.contains("no tree at") && missing.contains("give the top folder"),
            "{missing}"
        );
        let other = Tree::open(empty.path()).unwrap_err().to_string();
        assert!(
            other.contains("is no kernel tree: it has no Makefile"),
            "{other}"
        );
    }

    #[test]
    fn the_id_follows_content_and_not_time() {
        let dir = kernel();
        let before = manifest(dir.path()).id();
        fs::write(dir.path().join("include/linux/a.h"), "one\ntwo\nthree\n").unwrap();
        assert_eq!(manifest(dir.path()).id(), before);
        fs::write(dir.path().join("include/linux/a.h"), "int b;\n").unwrap();
        assert_ne!(manifest(dir.path()).id(), before);
    }

    #[test]
    fn a_build_in_place_and_history_are_not_the_tree() {
        let dir = kernel();
        let before = manifest(dir.path());
        fs::create_dir_all(dir.path().join(".git")).unwrap();
        for name in [
            ".git/HEAD",
            "main.o",
            ".config",
            "tollgate.toml",
            "arch/x86/include/generated/x.h",
            "vmlinux",
        ] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        assert_eq!(manifest(dir.path()), before);
    }

    #[test]
    fn a_change_gives_the_manifest_of_the_changed_tree() {
        let dir = kernel();
        let base = manifest(dir.path());
        let mut change = Change::default();
        change.files.insert(
            TreePath::within("include/linux/a.h"),
            Some(b"int b;\n".to_vec()),
        );
        change.files.insert(TreePath::within("Kconfig"), None);
        change
            .files
            .insert(TreePath::within("new.c"), Some(Vec::new()));
        let predicted = base.with(&change);
        fs::write(dir.path().join("include/linux/a.h"), "int b;\n").unwrap();
        fs::write(dir.path().join("new.c"), "").unwrap();
        fs::remove_file(dir.path().join("Kconfig")).unwrap();
        let tree = Tree {
            root: dir.path().canonicalize().unwrap(),
            version: String::new(),
        };
        assert_eq!(predicted, tree.manifest(&Interrupt::default()).unwrap());
        assert_ne!(predicted.id(), base.id());
    }
}
