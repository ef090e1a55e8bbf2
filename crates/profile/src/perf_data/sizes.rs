//! Whether the sizes that a perf.data names can be: the library makes room for them
//! before it reads, and a damaged one would ask for more than any machine has
//! (tools/perf/util/header.h, `perf_file_header`, `perf_file_attr`;
//! tools/perf/Documentation/perf.data-file-format.txt).

use tollgate_defect::answer;

use super::PerfDataError;

/// `HEADER_EVENT_DESC`.
const EVENT_DESC: u64 = 12;
/// `PERF_RECORD_AUXTRACE`, which has bytes behind it that its own size leaves out.
const AUXTRACE: u32 = 71;
/// `PERF_RECORD_HEADER_FEATURE`, a section as a record.
const HEADER_FEATURE: u32 = 80;

/// Checks everything that is made room for by a size in the file.
///
/// # Errors
/// With what lies outside of the file.
pub(super) fn check(bytes: &[u8]) -> Result<(), PerfDataError> {
    let file = File {
        bytes,
        big: bytes.starts_with(b"2ELIFREP"),
    };
    match file.word(8) {
        Some(16) => file.records(16, bytes.len() as u64),
        _ => file.sections(),
    }
}

struct File<'b> {
    bytes: &'b [u8],
    big: bool,
}

impl File<'_> {
    fn slice<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let at = answer::fits::<usize, _>(at)?;
        self.bytes.get(at..)?.first_chunk::<N>().copied()
    }

    fn word(&self, at: u64) -> Option<u64> {
        let bytes = self.slice::<8>(at)?;
        Some(if self.big {
            u64::from_be_bytes(bytes)
        } else {
            u64::from_le_bytes(bytes)
        })
    }

    fn half(&self, at: u64) -> Option<u32> {
        let bytes = self.slice::<4>(at)?;
        Some(if self.big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        })
    }

    fn short(&self, at: u64) -> Option<u16> {
        let bytes = self.slice::<2>(at)?;
        Some(if self.big {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        })
    }

    fn outside(&self, what: &'static str, offset: u64, size: u64) -> PerfDataError {
        let length = self.bytes.len() as u64;
        PerfDataError::Outside {
            what,
            offset,
            size,
            length,
        }
    }

    /// An offset and a size at a place: what they name has to be in the file.
    fn section(&self, what: &'static str, at: u64) -> Result<(u64, u64), PerfDataError> {
        let pair = self
            .word(at)
            .zip(at.checked_add(8).and_then(|at| self.word(at)));
        let (offset, size) = pair.ok_or_else(|| self.outside(what, at, 16))?;
        let end = offset.checked_add(size);
        match end.is_some_and(|end| end <= self.bytes.len() as u64) {
            true => Ok((offset, size)),
            false => Err(self.outside(what, offset, size)),
        }
    }

    fn sections(&self) -> Result<(), PerfDataError> {
        let head = self.word(8).zip(self.word(16));
        let (_, attr_size) = head.ok_or_else(|| self.outside("its head", 0, 104))?;
        // Each attribute ends in where its identifiers are; in the old form of events
        // they stand behind it.
        let attributes = self.section("the list of events", 24)?;
        self.identifiers(attributes, attr_size, attr_size.saturating_sub(16))?;
        let (data, size) = self.section("the data", 40)?;
        let types = self.section("the list of types", 56)?;
        self.identifiers(types, attr_size.saturating_add(16), attr_size)?;
        let mut at = data + size;
        for bit in 0..256_u64 {
            let place = 72 + 8 * (bit / 64);
            let flags = self.word(place);
            let flags = flags.ok_or_else(|| self.outside("the list of features", place, 8))?;
            if flags & (1 << (bit % 64)) == 0 {
                continue;
            }
            let section = self.section("a feature", at)?;
            if bit == EVENT_DESC {
                self.event_desc(section)?;
            }
            at += 16;
        }
        self.records(data, data + size)
    }

    /// Of every entry the section that `behind` bytes of it are followed by.
    fn identifiers(
        &self,
        (offset, size): (u64, u64),
        entry: u64,
        behind: u64,
    ) -> Result<(), PerfDataError> {
        let mut at = offset;
        let end = offset + size;
        while entry >= 16 && at.checked_add(entry).is_some_and(|next| next <= end) {
            self.section("the identifiers of an event", at + behind)?;
            at += entry;
        }
        Ok(())
    }

    /// Counts of events, of letters and of identifiers.
    fn event_desc(&self, (offset, size): (u64, u64)) -> Result<(), PerfDataError> {
        let wrong = || self.outside("the description of events", offset, size);
        let end = offset + size;
        let within = |at: u64| if at <= end { Ok(at) } else { Err(wrong()) };
        let half = |at: u64| self.half(at).map(u64::from).ok_or_else(wrong);
        let (count, attr_size) = (half(offset)?, half(offset + 4)?);
        let mut at = offset + 8;
        // The smallest has its attribute and two counts.
        within(at.saturating_add(count.saturating_mul(attr_size + 8)))?;
        for _ in 0..count {
            at = within(at + attr_size)?;
            let identifiers = half(at)?;
            let letters = half(at + 4)?;
            at = within(at + 8 + letters + 8 * identifiers)?;
        }
        Ok(())
    }

    /// The records that are followed by more than they say of themselves.
    fn records(&self, from: u64, to: u64) -> Result<(), PerfDataError> {
        let mut at = from;
        while let (true, Some(kind), Some(size)) = (at < to, self.half(at), self.short(at + 6)) {
            let size = u64::from(size);
            let mut more = 0;
            match kind {
                // The library says what is wrong with it.
                _ if size < 8 => return Ok(()),
                AUXTRACE => {
                    let length = self.word(at + 8);
                    more = length.ok_or_else(|| self.outside("a trace in the data", at, 16))?;
                    let end = (at + size).checked_add(more);
                    if end.is_none_or(|end| end > self.bytes.len() as u64) {
                        return Err(self.outside("a trace in the data", at, more));
                    }
                }
                HEADER_FEATURE if self.word(at + 8) == Some(EVENT_DESC) => {
                    self.event_desc((at + 16, size.saturating_sub(16)))?;
                }
                _ => {}
            }
            at += size + more;
        }
        Ok(())
    }
}
