//! The text of one file after another, as a scan reads it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use crate::input;

/// Why a file with a NUL byte is not looked at: its words are not those that a
/// compiler sees, or it is no text.
pub const NUL: &str = "it holds a NUL byte, so it is no C source, or one in UTF-16";

/// Whether a text holds a NUL byte.
#[must_use]
pub fn has_nul(text: &[u8]) -> bool {
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
