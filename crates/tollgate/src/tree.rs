//! A kernel tree as the commands read it: its C files, and what is in them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::mpsc;

use ignore::{WalkBuilder, WalkState};

/// Folders at the top of a tree whose C files are not part of the kernel:
/// programs for user space, and text.
const NOT_KERNEL: [&str; 4] = ["Documentation", "scripts", "tools", "usr"];

/// Most files of a kernel fit into one read of so many bytes.
const LEAST_ROOM: usize = 1 << 16;

/// A kernel tree, with what the commands that read its source need.
#[derive(Clone, Debug)]
pub(crate) struct Tree(tollgate_lab::tree::Tree);

impl Tree {
    /// Looks at the folder.
    ///
    /// # Errors
    /// When it is missing, or lacks what every kernel tree has.
    pub(crate) fn open(root: &Path) -> Result<Self, tollgate_lab::tree::Error> {
        tollgate_lab::tree::Tree::open(root).map(Self)
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        self.0.root()
    }

    /// The tree as the lab takes it.
    pub(crate) fn as_lab(&self) -> &tollgate_lab::tree::Tree {
        &self.0
    }

    /// The bytes of a file, by its path relative to the tree.
    ///
    /// # Errors
    /// The file system's own.
    pub(crate) fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        fs::read(self.root().join(path))
    }

    /// The bytes of a file in a buffer that was used before, so that a scan of
    /// many files neither allocates nor asks how long each is.
    ///
    /// # Errors
    /// The file system's own.
    pub(crate) fn read_into<'b>(
        &self,
        path: &str,
        buffer: &'b mut Vec<u8>,
    ) -> io::Result<&'b [u8]> {
        let mut file = File::open(self.root().join(path))?;
        let mut length = 0;
        loop {
            if buffer.len() - length < LEAST_ROOM {
                buffer.resize(buffer.len() * 2 + LEAST_ROOM, 0);
            }
            match file.read(buffer.get_mut(length..).unwrap_or_default()) {
                Ok(0) => return Ok(buffer.get(..length).unwrap_or_default()),
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The folders of `arch/`, sorted; none where it cannot be listed.
    pub(crate) fn architectures(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root().join("arch"));
        let folders = entries.into_iter().flatten().flatten();
        let mut names: Vec<String> = folders
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort_unstable();
        names
    }

    /// The C files of the kernel, sorted, and how many lie in folders that are
    /// not the kernel's.
    pub(crate) fn sources(&self) -> Sources {
        sources(self.root())
    }
}

/// The C files of a folder, sorted; of a kernel tree those of the kernel.
pub(crate) fn sources(root: &Path) -> Sources {
    let mut found = Sources::default();
    let kernel = root.join("Kconfig").is_file();
    // A kernel tracks files that its own .gitignore names, so no ignore
    // file is heeded; only hidden folders such as .git are left out.
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .hidden(true)
        .filter_entry(move |e| !kernel || !is_outside(e))
        .build_parallel();
    let (sender, entries) = mpsc::channel();
    walk.run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            let found = match entry {
                Ok(entry) => source(root, &entry).map(Ok),
                Err(error) => Some(Err(error.to_string())),
            };
            let sent = found.map_or(Ok(()), |found| sender.send(found));
            sent.map_or(WalkState::Quit, |()| WalkState::Continue)
        })
    });
    drop(sender);
    for entry in entries {
        match entry {
            Ok(path) => found.paths.push(path),
            Err(error) => found.unread.push(error),
        }
    }
    found.paths.sort_unstable();
    found.unread.sort_unstable();
    found
}

fn source(root: &Path, entry: &ignore::DirEntry) -> Option<String> {
    let is_c = matches!(entry.path().extension()?.to_str()?, "c" | "h");
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    let path = entry.path().strip_prefix(root).ok()?;
    (is_c && is_file).then(|| path.to_string_lossy().into_owned())
}

/// The files of a tree.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Paths relative to the tree, sorted.
    pub(crate) paths: Vec<String>,
    /// What could not be listed, in the file system's words.
    pub(crate) unread: Vec<String>,
}

fn is_outside(entry: &ignore::DirEntry) -> bool {
    entry.depth() == 1
        && entry
            .file_name()
            .to_str()
            .is_some_and(|name| NOT_KERNEL.contains(&name))
}
