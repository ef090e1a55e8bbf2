//! The fields of records: numbers, and what they point to.

use super::file::ElfFile;
use super::place::{Place, Section};
use crate::records::Record;

/// What a field that points to code points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointed {
    /// To code, or to where code ends.
    Code(Place),
    /// To a symbol of another file.
    Outside,
    /// To what is no code.
    Elsewhere,
    /// There is no relocation of its width that would say it, or the file has
    /// nothing at the address.
    Nowhere,
}

impl ElfFile<'_> {
    /// What a field of the record at `offset` points to.
    pub(crate) fn pointed(
        &self,
        section: &Section<'_>,
        offset: usize,
        field: usize,
        record: &Record,
    ) -> Pointed {
        let at = offset + field;
        let Some(value) = self.signed(section, at, record.width) else {
            return Pointed::Nowhere;
        };
        // What is counted from the record is that much more than what is
        // counted from the field.
        let bias = if record.from_start {
            (field as u64).wrapping_neg()
        } else {
            0
        };
        if self.relocatable {
            return self.relocated(self.here(section, at), record.width, value, bias);
        }
        let from = if record.absolute {
            0
        } else {
            self.here(section, at).address.wrapping_add(bias)
        };
        let address = self.narrowed(from.wrapping_add_signed(value));
        match self.code_at(address) {
            Some(place) => Pointed::Code(place),
            None if self.holds(address) => Pointed::Elsewhere,
            None => Pointed::Nowhere,
        }
    }

    /// The place of code that a field points to; none where it is not in this
    /// file.
    pub(crate) fn pointer(
        &self,
        section: &Section<'_>,
        offset: usize,
        field: usize,
        record: &Record,
    ) -> Option<Place> {
        match self.pointed(section, offset, field, record) {
            Pointed::Code(place) => Some(place),
            _ => None,
        }
    }

    fn relocated(&self, at: Place, width: usize, implicit: i64, bias: u64) -> Pointed {
        let reference = self.relocations.at(at);
        let Some(reference) = reference.filter(|reference| reference.fills(width)) else {
            return Pointed::Nowhere;
        };
        let Some(place) = reference.target(implicit, bias) else {
            return Pointed::Outside;
        };
        let code = self.section(place.section).filter(|s| s.executable);
        let holds = |section: &Section<'_>| {
            place.address.wrapping_sub(section.address) <= section.bytes.len() as u64
        };
        if code.is_some_and(holds) {
            Pointed::Code(place)
        } else {
            Pointed::Elsewhere
        }
    }

    /// The place of code at an address of a linked file, or where code ends.
    fn code_at(&self, address: u64) -> Option<Place> {
        let end = || {
            let last = self.place_of(address.checked_sub(1)?)?;
            Some(Place { address, ..last })
        };
        self.place_of(address).or_else(end)
    }

    pub(crate) fn here(&self, section: &Section<'_>, offset: usize) -> Place {
        Place {
            section: section.index,
            address: section.address.wrapping_add(offset as u64),
        }
    }

    /// An address of this file's width.
    pub(crate) fn narrowed(&self, address: u64) -> u64 {
        if self.is_64() {
            address
        } else {
            address & 0xffff_ffff
        }
    }

    /// A field of four or eight bytes, with its sign.
    pub(crate) fn signed(&self, section: &Section<'_>, offset: usize, width: usize) -> Option<i64> {
        match width {
            8 => self.long(section, offset).map(u64::cast_signed),
            _ => self
                .word(section, offset)
                .map(|word| word.cast_signed().into()),
        }
    }

    pub(crate) fn half(&self, section: &Section<'_>, offset: usize) -> Option<u16> {
        let bytes = section.bytes.get(offset..)?.first_chunk::<2>()?;
        Some(if self.little_endian() {
            u16::from_le_bytes(*bytes)
        } else {
            u16::from_be_bytes(*bytes)
        })
    }

    pub(crate) fn word(&self, section: &Section<'_>, offset: usize) -> Option<u32> {
        let bytes = section.bytes.get(offset..)?.first_chunk::<4>()?;
        Some(if self.little_endian() {
            u32::from_le_bytes(*bytes)
        } else {
            u32::from_be_bytes(*bytes)
        })
    }

    fn long(&self, section: &Section<'_>, offset: usize) -> Option<u64> {
        let bytes = section.bytes.get(offset..)?.first_chunk::<8>()?;
        Some(if self.little_endian() {
            u64::from_le_bytes(*bytes)
        } else {
            u64::from_be_bytes(*bytes)
        })
    }
}
