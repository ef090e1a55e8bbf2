//! The C files of a folder, listed by all processors, each of which may read
//! what it has just listed.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;

use rayon::Scope;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use tollgate_source::{TreePath, is_c};

/// Folders at the top of a tree whose C files are not part of the kernel:
/// programs for user space, and text.
const NOT_KERNEL: [&[u8]; 4] = [b"Documentation", b"scripts", b"tools", b"usr"];

/// So many files of one folder are one piece of work: some hold megabytes.
const TOGETHER: usize = 8;

/// Bytes of entries that are asked for at once: most folders are one answer.
const ENTRIES: usize = 1 << 15;

/// What is done with what a walk finds. Called on any thread.
pub(super) trait Visit: Sync {
    /// C files of one folder, in no order.
    fn files(&self, folder: &Folder, names: &[CString]);
    /// So many of them were found and are still to be looked at.
    fn listed(&self, _files: usize) {}
    /// A folder that could not be listed, and why.
    fn unlisted(&self, folder: TreePath, error: &io::Error);
}

/// A folder while its files are looked at.
pub(super) struct Folder {
    handle: OwnedFd,
    path: TreePath,
}

impl Folder {
    /// The path of a file in it, relative to the root of the walk.
    pub(super) fn path_of(&self, name: &CStr) -> TreePath {
        self.path.joined(name.to_bytes())
    }

    /// Opens a file by its name alone: the way to the folder is not walked again.
    ///
    /// # Errors
    /// The file system's own.
    pub(super) fn open(&self, name: &CStr) -> io::Result<File> {
        // A pipe may have taken the place of the file that was listed.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.handle, name, flags, Mode::empty())?;
        Ok(File::from(opened))
    }
}

/// Shows `visit` each C file below a folder of a root; of the whole of a kernel tree
/// those of the kernel.
///
/// A kernel tracks files that its own .gitignore names, so no ignore file is
/// heeded; only what is hidden, such as .git, is left out, and links are not
/// followed.
pub(super) fn walk(root: &Path, folder: &TreePath, visit: &impl Visit) {
    let walk = Walk {
        root,
        kernel: root.join("Kconfig").is_file(),
        visit,
    };
    rayon::scope(|scope| walk.folder(scope, folder.clone()));
}

struct Walk<'w, V> {
    root: &'w Path,
    kernel: bool,
    visit: &'w V,
}

impl<V: Visit> Walk<'_, V> {
    fn folder<'s>(&'s self, scope: &Scope<'s>, path: TreePath) {
        let (handle, list) = match list(&self.root.join(&path)) {
            Ok(listed) => listed,
            Err(error) => return self.visit.unlisted(path, &error),
        };
        for name in list.folders {
            if !self.is_outside(&path, &name) {
                let below = path.joined(name.as_bytes());
                scope.spawn(move |scope| self.folder(scope, below));
            }
        }
        let folder = Arc::new(Folder { handle, path });
        let mut files = list.files;
        self.visit.listed(files.len());
        while !files.is_empty() {
            let own = files.split_off(files.len().saturating_sub(TOGETHER));
            let folder = Arc::clone(&folder);
            scope.spawn(move |_| self.visit.files(&folder, &own));
        }
    }

    fn is_outside(&self, path: &TreePath, name: &OsStr) -> bool {
        self.kernel && *path == TreePath::top() && NOT_KERNEL.contains(&name.as_bytes())
    }
}

#[derive(Default)]
struct List {
    folders: Vec<OsString>,
    files: Vec<CString>,
}

fn list(path: &Path) -> io::Result<(OwnedFd, List)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(path, flags, Mode::empty())?;
    let mut found = List::default();
    let mut room = Vec::with_capacity(ENTRIES);
    let mut entries = RawDir::new(&handle, room.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes().starts_with(b".") {
            continue;
        }
        match kind(&handle, name, entry.file_type()) {
            FileType::Directory => found
                .folders
                .push(OsString::from_vec(name.to_bytes().to_vec())),
            FileType::RegularFile if is_c(name.to_bytes()) => found.files.push(name.to_owned()),
            _ => {}
        }
    }
    Ok((handle, found))
}

/// Some file systems do not say what an entry is.
fn kind(folder: &OwnedFd, name: &CStr, told: FileType) -> FileType {
    if told != FileType::Unknown {
        return told;
    }
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    match found {
        Ok(found) => FileType::from_raw_mode(found.st_mode),
        Err(_) => told,
    }
}
