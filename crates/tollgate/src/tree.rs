//! A kernel tree as the commands read it: its C files, and what is in them.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use tollgate_lab::input;
use tollgate_source::TreePath;

use crate::walk::{Folder, Visit, walk};

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
    pub(crate) fn read(&self, path: &TreePath) -> io::Result<Vec<u8>> {
        input::source(&self.0.place(path))
    }

    /// The folders of `arch/`, sorted; none where there is no such folder.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub(crate) fn architectures(&self) -> io::Result<Vec<String>> {
        let all = self.root().join("arch");
        let mut names = input::names_in(&all)?;
        names.retain(|name| all.join(name).is_dir() && !all.join(name).is_symlink());
        let names = names.iter().map(|name| name.to_string_lossy().into_owned());
        Ok(names.collect())
    }

    /// The C files of the kernel.
    pub(crate) fn sources(&self) -> Sources {
        sources_below(self.root(), &TreePath::top())
    }
}

/// The C files of a folder below a root, sorted; of a kernel tree those of the
/// kernel.
pub(crate) fn sources_below(root: &Path, folder: &TreePath) -> Sources {
    let found = Mutex::new(Sources::default());
    walk(root, folder, &Names(&found));
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.paths.sort_unstable();
    found.unlisted.sort_unstable();
    found
}

struct Names<'a>(&'a Mutex<Sources>);

impl Visit for Names<'_> {
    fn files(&self, folder: &Folder, names: &[CString]) {
        let paths = names.iter().map(|name| folder.path_of(name));
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.paths.extend(paths);
    }

    fn unlisted(&self, folder: TreePath, error: &io::Error) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.unlisted.push((folder, error.to_string()));
    }
}

/// The files of a folder.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Paths relative to the root, sorted.
    pub(crate) paths: Vec<TreePath>,
    /// What could not be listed, with the file system's words.
    pub(crate) unlisted: Vec<(TreePath, String)>,
}

/// Why a file with a NUL byte is not looked at: its words are not those that a
/// compiler sees, or it is no text.
pub(crate) const NUL: &str = "it holds a NUL byte, so it is no C source, or one in UTF-16";

/// Whether a text holds a NUL byte.
pub(crate) fn has_nul(text: &[u8]) -> bool {
    memchr::memchr(0, text).is_some()
}

/// A file is looked through in pieces of so many bytes, which stay in the cache
/// of a processor; most files are one.
const PIECE: usize = 1 << 17;

/// What is searched for may begin in one piece and end in the next.
const OVERLAP: usize = 64;

/// The size of a page.
const PAGE: usize = 1 << 12;

/// Buffer for one file after another, from the start of a page on: the page cache
/// is copied at half the speed to where an allocator's mark of 16 bytes puts it
/// (`rep movsb` on AMD Zen, where it aliases with the source).
#[derive(Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// All of it.
    fn all(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.start..).unwrap_or_default()
    }

    /// At least so many bytes; what it holds is kept.
    fn grow(&mut self, length: usize) {
        if self.all().len() >= length {
            return;
        }
        let mut bytes = vec![0; length + PAGE];
        let start = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        let kept = bytes.get_mut(start..).unwrap_or_default();
        let held = kept.iter_mut().zip(self.all().iter());
        held.for_each(|(new, old)| *new = *old);
        *self = Self { bytes, start };
    }

    fn filled(&mut self, length: usize) -> &[u8] {
        self.all().get(..length).unwrap_or_default()
    }

    /// Reads from a byte of the buffer on until it ends or the file does, and gives
    /// the place of the last byte that is known.
    fn fill(&mut self, file: &mut File, from: usize, to: usize) -> io::Result<usize> {
        let buffer = self.all().get_mut(from..to).unwrap_or_default();
        Ok(from + fill(file, buffer)?)
    }
}

/// The bytes of a file. Of a file that is more than one piece, none where no
/// piece holds what is looked for: most large files of a kernel are tables of
/// registers.
///
/// # Errors
/// The file system's own.
pub(crate) fn text_of(
    mut file: File,
    buffer: &mut Buffer,
    holds: impl Fn(&[u8]) -> bool,
) -> io::Result<&[u8]> {
    buffer.grow(PIECE);
    let mut length = buffer.fill(&mut file, 0, PIECE)?;
    if length < PIECE {
        return Ok(buffer.filled(length));
    }
    if holds(buffer.filled(PIECE)) {
        return whole(&mut file, buffer, PIECE);
    }
    let mut seen = length as u64;
    while length == PIECE {
        if seen > input::LARGEST {
            return Err(input::too_large());
        }
        buffer.all().copy_within(PIECE - OVERLAP..PIECE, 0);
        length = buffer.fill(&mut file, OVERLAP, PIECE)?;
        seen += (length - OVERLAP) as u64;
        if holds(buffer.filled(length)) {
            file.rewind()?;
            return whole(&mut file, buffer, 0);
        }
    }
    Ok(&[])
}

/// The bytes of a file of which the first are read.
fn whole<'b>(file: &mut File, buffer: &'b mut Buffer, mut length: usize) -> io::Result<&'b [u8]> {
    loop {
        buffer.grow(length + 1);
        let end = buffer.all().len();
        length = buffer.fill(file, length, end)?;
        if length < end {
            return Ok(buffer.filled(length));
        }
        if end as u64 > input::LARGEST {
            return Err(input::too_large());
        }
        buffer.grow(end * 2);
    }
}

/// Reads until the buffer is full or the file has ended.
fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::fs::{self, File};

    use super::{Buffer, PIECE, text_of};

    fn is_found(text: &[u8]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.c");
        fs::write(&path, text).unwrap();
        let holds = |piece: &[u8]| memchr::memmem::find(piece, b"word").is_some();
        // Buffer that has held a larger file, and buffer that is new.
        let mut used = Buffer::default();
        used.grow(5 * PIECE);
        [used, Buffer::default()].iter_mut().all(|buffer| {
            let found = text_of(File::open(&path).unwrap(), buffer, holds).unwrap();
            assert!(found.is_empty() || found == text);
            found == text
        })
    }

    #[test]
    fn a_word_across_two_pieces_is_found() {
        for at in (PIECE - 8..PIECE + 8).chain([0, 2 * PIECE - 66, 3 * PIECE]) {
            let mut text = vec![b'x'; 3 * PIECE + 4];
            text[at..at + 4].copy_from_slice(b"word");
            assert!(is_found(&text), "{at}");
        }
        assert!(!is_found(&vec![b'x'; 3 * PIECE]));
    }

    #[test]
    fn a_file_of_any_length_is_whole() {
        for length in [4, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE, 4 * PIECE + 1] {
            assert!(is_found(
                &[b"word".as_slice(), &vec![b'x'; length - 4]].concat()
            ));
        }
        assert!(is_found(b""));
    }
}
