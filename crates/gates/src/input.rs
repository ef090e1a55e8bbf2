//! What an object is read from: bytes, or a stream of which only those parts
//! are read that are asked for.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;
use std::io::{Read, Seek};
use std::ops::Range;
use tollgate_defect::answer;

use object::read::{ReadCache, ReadRef};

/// The most bytes of one file that are read: what `gates` asks for of the
/// largest kernels (all modules built in, without DWARF) is less than half.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// Bytes that are read at once where names are looked for.
const BLOCK: u64 = 1 << 16;

/// The longest name of a symbol that is read; the longest of a kernel has 512
/// bytes (KSYM_NAME_LEN).
const LONGEST_NAME: u64 = 4096;

/// An ELF file, of which is read what is asked for.
pub(crate) type File<'data> = object::File<'data, Input<'data>>;

/// An object, or a part of a file that holds one.
#[derive(Clone, Copy)]
pub struct Input<'data> {
    source: Source<'data>,
    from: u64,
    size: u64,
}

#[derive(Clone, Copy)]
enum Source<'data> {
    Bytes(&'data [u8]),
    Stream(&'data dyn Ranges),
}

/// A stream that is read in parts: each once, and all of them less than
/// a limit. The parts are kept as long as it is.
pub struct Stream<R: Read + Seek> {
    cache: ReadCache<R>,
    read: RefCell<HashSet<(u64, u64)>>,
    spent: Cell<u64>,
    refused: Cell<Option<u64>>,
    size: u64,
}

/// What a stream of any kind gives.
trait Ranges {
    fn part(&self, from: u64, size: u64) -> Option<&[u8]>;
    fn refused(&self) -> Option<u64>;
}

impl<R: Read + Seek> Stream<R> {
    /// A stream that nothing has been read of yet; none where its length
    /// cannot be told.
    #[must_use]
    pub fn new(from: R) -> Option<Self> {
        let cache = ReadCache::new(from);
        let size = answer::there((&cache).len())?;
        Some(Self {
            cache,
            read: RefCell::default(),
            spent: Cell::new(0),
            refused: Cell::new(None),
            size,
        })
    }
}

impl<R: Read + Seek> Ranges for Stream<R> {
    fn part(&self, from: u64, size: u64) -> Option<&[u8]> {
        if self.read.borrow_mut().insert((from, size)) {
            let spent = self.spent.get().saturating_add(size);
            if spent > MOST_BYTES {
                self.read.borrow_mut().remove(&(from, size));
                self.refused.set(Some(size));
                return None;
            }
            self.spent.set(spent);
        }
        answer::there(self.cache.read_bytes_at(from, size))
    }

    fn refused(&self) -> Option<u64> {
        self.refused.get()
    }
}

impl<'data> Input<'data> {
    /// Bytes of it.
    pub(crate) fn size(self) -> u64 {
        self.size
    }

    /// A part of it; none where it ends before.
    pub(crate) fn part(self, from: u64, size: u64) -> Option<Self> {
        let end = from.checked_add(size)?;
        (end <= self.size).then_some(())?;
        let from = self.from.checked_add(from)?;
        Some(Self { from, size, ..self })
    }

    /// The bytes of a part that was asked for and not read, because all parts
    /// together would have been more than the limit.
    pub(crate) fn refused(self) -> Option<u64> {
        match self.source {
            Source::Bytes(_) => None,
            Source::Stream(stream) => stream.refused(),
        }
    }

    /// Its first bytes, fewer where it is shorter.
    pub(crate) fn start(self, size: u64) -> &'data [u8] {
        let bytes = self.bytes(0, size.min(self.size));
        bytes.unwrap_or_default()
    }

    fn bytes(self, from: u64, size: u64) -> Option<&'data [u8]> {
        let part = self.part(from, size)?;
        match self.source {
            Source::Bytes(bytes) => {
                let from = answer::fits::<usize, _>(part.from)?;
                bytes.get(from..from.checked_add(answer::fits::<usize, _>(size)?)?)
            }
            Source::Stream(_) if size == 0 => Some(&[]),
            Source::Stream(stream) => stream.part(part.from, size),
        }
    }

    /// The bytes from `from` up to a delimiter, looked for in `size` bytes.
    fn until(self, from: u64, size: u64, delimiter: u8) -> Option<&'data [u8]> {
        let bytes = self.bytes(from, size)?;
        let end = bytes.iter().position(|byte| *byte == delimiter)?;
        bytes.get(..end)
    }

    /// The same, in the block that holds `from`.
    fn until_in_block(self, range: &Range<u64>, delimiter: u8) -> Option<&'data [u8]> {
        let block = range.start / BLOCK * BLOCK;
        let bytes = self.bytes(block, BLOCK.min(self.size.checked_sub(block)?))?;
        let from = answer::fits::<usize, _>(range.start - block)?;
        let rest = answer::fits::<usize, _>(range.end - range.start).unwrap_or(usize::MAX);
        let bytes = bytes.get(from..)?;
        let end = bytes
            .iter()
            .take(rest)
            .position(|byte| *byte == delimiter)?;
        bytes.get(..end)
    }
}

impl<'data> ReadRef<'data> for Input<'data> {
    fn len(self) -> Result<u64, ()> {
        Ok(self.size)
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'data [u8], ()> {
        self.bytes(offset, size).ok_or(())
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'data [u8], ()> {
        let size = range.end.checked_sub(range.start).ok_or(())?;
        if let Source::Bytes(_) = self.source {
            return self.until(range.start, size, delimiter).ok_or(());
        }
        let found = self.until_in_block(&range, delimiter);
        let found = found.or_else(|| self.until(range.start, size.min(LONGEST_NAME), delimiter));
        found.ok_or(())
    }
}

impl<'data> From<&'data [u8]> for Input<'data> {
    fn from(bytes: &'data [u8]) -> Self {
        Self {
            source: Source::Bytes(bytes),
            from: 0,
            size: bytes.len() as u64,
        }
    }
}

impl<'data> From<&'data Vec<u8>> for Input<'data> {
    fn from(bytes: &'data Vec<u8>) -> Self {
        Self::from(bytes.as_slice())
    }
}

impl<'data, R: Read + Seek> From<&'data Stream<R>> for Input<'data> {
    fn from(stream: &'data Stream<R>) -> Self {
        Self {
            source: Source::Stream(stream),
            from: 0,
            size: stream.size,
        }
    }
}

impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes from {}", self.size, self.from)
    }
}

impl<R: Read + Seek> fmt::Debug for Stream<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bytes read", self.spent.get(), self.size)
    }
}
