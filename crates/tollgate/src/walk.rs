//! The C files of a folder, listed by all processors, each of which may read
//! what it has just listed.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::Scope;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};

/// Folders at the top of a tree whose C files are not part of the kernel:
/// programs for user space, and text.
const NOT_KERNEL: [&[u8]; 4] = [b"Documentation", b"scripts", b"tools", b"usr"];

/// So many files of one folder are one piece of work: some hold megabytes.
const TOGETHER: usize = 8;

/// Bytes of entries that are asked for at once: most folders are one answer.
const ENTRIES: usize = 1 << 15;

/// What is done with what a walk finds. Called on any thread.
pub(crate) trait Visit: Sync {
    /// C files of one folder, in no order.
    fn files(&self, folder: &Folder, names: &[CString]);
    /// A folder that could not be listed, and why.
    fn unlisted(&self, folder: String, error: &io::Error);
}

/// A folder while its files are looked at.
pub(crate) struct Folder {
    handle: OwnedFd,
    /// Relative to where the walk began, with a slash behind, to be shown: what is
    /// not UTF-8 is replaced.
    path: String,
}

impl Folder {
    fn new(handle: OwnedFd, path: &Path) -> Self {
        let mut path = path.to_string_lossy().into_owned();
        if !path.is_empty() {
            path.push('/');
        }
        Self { handle, path }
    }

    /// The path of a file in it.
    pub(crate) fn path_of(&self, name: &CStr) -> String {
        [self.path.as_str(), &name.to_string_lossy()].concat()
    }

    /// Opens a file by its name alone: the way to the folder is not walked again.
    ///
    /// # Errors
    /// The file system's own.
    pub(crate) fn open(&self, name: &CStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.handle, name, flags, Mode::empty())?;
        Ok(File::from(opened))
    }
}

/// Shows `visit` each C file below a folder; of a kernel tree those of the kernel.
///
/// A kernel tracks files that its own .gitignore names, so no ignore file is
/// heeded; only what is hidden, such as .git, is left out, and links are not
/// followed.
pub(crate) fn walk(root: &Path, visit: &impl Visit) {
    let walk = Walk {
        root,
        kernel: root.join("Kconfig").is_file(),
        visit,
    };
    rayon::scope(|scope| walk.folder(scope, PathBuf::new()));
}

struct Walk<'w, V> {
    root: &'w Path,
    kernel: bool,
    visit: &'w V,
}

impl<V: Visit> Walk<'_, V> {
    fn folder<'s>(&'s self, scope: &Scope<'s>, path: PathBuf) {
        let (handle, list) = match list(&self.root.join(&path)) {
            Ok(listed) => listed,
            Err(error) => {
                let path = self.root.join(path).to_string_lossy().into_owned();
                return self.visit.unlisted(path, &error);
            }
        };
        for name in list.folders {
            if !self.is_outside(&path, &name) {
                let below = path.join(name);
                scope.spawn(move |scope| self.folder(scope, below));
            }
        }
        let folder = Arc::new(Folder::new(handle, &path));
        let mut files = list.files;
        while !files.is_empty() {
            let own = files.split_off(files.len().saturating_sub(TOGETHER));
            let folder = Arc::clone(&folder);
            scope.spawn(move |_| self.visit.files(&folder, &own));
        }
    }

    fn is_outside(&self, path: &Path, name: &OsStr) -> bool {
        self.kernel && path.as_os_str().is_empty() && NOT_KERNEL.contains(&name.as_bytes())
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
    found.map_or(told, |found| FileType::from_raw_mode(found.st_mode))
}

fn is_c(name: &[u8]) -> bool {
    name.ends_with(b".c") || name.ends_with(b".h")
}
