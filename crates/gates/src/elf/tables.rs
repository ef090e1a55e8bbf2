//! The tables that the kernel keeps about its own code: which instruction may
//! fault and where it goes on, what is patched in at boot, which jumps are
//! switched.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Image, Place, Section};
use crate::layout::{AlternativeLayout, FaultLayout};

/// Instructions that may fault.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Where execution goes on after a fault.
    pub(crate) fixup: HashMap<Place, Place>,
    /// Those that reach for user memory.
    pub(crate) user: HashSet<Place>,
    /// Records that point to no place in this file.
    pub(crate) unread: usize,
}

/// A record of `.altinstructions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alternative {
    /// What the compiler left there.
    pub(crate) at: Place,
    /// Its length in bytes.
    pub(crate) length: u8,
    /// What the kernel puts there.
    pub(crate) replacement: Place,
    /// Its length in bytes.
    pub(crate) replacement_length: u8,
    /// The number of the CPU's feature that decides.
    pub(crate) feature: u16,
    /// Bits above the feature: NOT, for one.
    pub(crate) flags: u16,
}

/// Where code that is switched at boot or later may go besides to the next
/// instruction, by where it stands.
pub(crate) type Jumps = HashMap<Place, Vec<Place>>;

impl Image<'_> {
    /// `__ex_table`, and how many of its records could not be followed.
    pub(crate) fn faults(&self, layout: &FaultLayout) -> Faults {
        let mut faults = Faults::default();
        for section in self.sections.iter().filter(|s| s.name == "__ex_table") {
            for offset in (0..section.bytes.len()).step_by(layout.size.max(1)) {
                match self.fault(section, offset, layout) {
                    Some((at, fixup, user)) => {
                        faults.fixup.insert(at, fixup);
                        if user {
                            faults.user.insert(at);
                        }
                    }
                    None => faults.unread += 1,
                }
            }
        }
        faults
    }

    fn fault(
        &self,
        section: &Section<'_>,
        offset: usize,
        layout: &FaultLayout,
    ) -> Option<(Place, Place, bool)> {
        let at = self.pointer(section, offset, layout.absolute)?;
        let fixup = self.pointer(section, offset + 4, layout.absolute)?;
        let kind = match layout.kind_at {
            Some(kind_at) => self.word(section, offset + kind_at)?,
            None => 0,
        };
        Some((at, fixup, layout.is_user(kind)))
    }

    /// `.altinstructions` in the order of the file: of several records for one
    /// place the kernel applies the later over the earlier.
    pub(crate) fn alternatives(
        &self,
        layout: &AlternativeLayout,
    ) -> (BTreeMap<Place, Vec<Alternative>>, usize) {
        let (mut all, mut unread) = (BTreeMap::<_, Vec<_>>::new(), 0);
        let tables = self.sections.iter();
        for section in tables.filter(|s| s.name == ".altinstructions") {
            for offset in (0..section.bytes.len()).step_by(layout.size.max(1)) {
                match self.alternative(section, offset, layout) {
                    Some(record) => all.entry(record.at).or_default().push(record),
                    None => unread += 1,
                }
            }
        }
        (all, unread)
    }

    fn alternative(
        &self,
        section: &Section<'_>,
        offset: usize,
        layout: &AlternativeLayout,
    ) -> Option<Alternative> {
        let byte = |at: usize| section.bytes.get(offset + at).copied();
        Some(Alternative {
            at: self.pointer(section, offset, false)?,
            replacement: self.pointer(section, offset + 4, false)?,
            feature: self.half(section, offset + layout.feature_at)?,
            flags: match layout.flags_at {
                Some(at) => self.half(section, offset + at)?,
                None => 0,
            },
            length: byte(layout.lengths_at)?,
            replacement_length: byte(layout.lengths_at + 1)?,
        })
    }

    /// `__jump_table`: two offsets and a key of the machine's word.
    pub(crate) fn jumps(&self) -> Jumps {
        let size = if object::Object::is_64(&self.file) {
            16
        } else {
            12
        };
        let tables = self.sections.iter().filter(|s| s.name == "__jump_table");
        let records = tables.flat_map(|s| (0..s.bytes.len()).step_by(size).map(move |at| (s, at)));
        let pair = |(section, at)| {
            let from = self.pointer(section, at, false)?;
            Some((from, self.pointer(section, at + 4, false)?))
        };
        let mut jumps = Jumps::new();
        for (from, to) in records.filter_map(pair) {
            jumps.entry(from).or_default().push(to);
        }
        jumps
    }

    /// Where the entries of a `switch` point, from `table` up to `end` or to
    /// the first that points to no code.
    pub(crate) fn cases(&self, table: Place, end: Option<u64>) -> Vec<Place> {
        let size = if object::Object::is_64(&self.file) {
            8
        } else {
            4
        };
        let entries = (0..).map(|entry: u64| table.address.saturating_add(entry * size));
        let entries = entries.take_while(|at| end.is_none_or(|end| *at < end));
        entries
            .map_while(|address| self.case(Place { address, ..table }, size))
            .collect()
    }

    fn case(&self, entry: Place, size: u64) -> Option<Place> {
        let bytes = self.bytes_at(entry, usize::try_from(size).ok()?)?;
        let value = match (bytes.first_chunk::<8>(), bytes.first_chunk::<4>()) {
            (Some(long), _) => u64::from_le_bytes(*long),
            (None, Some(word)) => u64::from(u32::from_le_bytes(*word)),
            (None, None) => return None,
        };
        if self.relocatable {
            return self.relocations.at(entry)?.target(value.cast_signed(), 0);
        }
        self.place_of(value)
    }

    /// The traps of `__bug_table` that are warnings (BUGFLAG_WARNING, bit 0 of
    /// `flags`): `struct bug_entry` is s32 bug_addr_disp, with
    /// CONFIG_DEBUG_BUGVERBOSE s32 file_disp and u16 line, then u16 flags.
    pub(crate) fn warnings(&self) -> HashSet<Place> {
        let tables = self.sections.iter().filter(|s| s.name == "__bug_table");
        tables
            .flat_map(|section| self.warnings_in(section))
            .collect()
    }

    fn warnings_in(&self, section: &Section<'_>) -> Vec<Place> {
        let read = |size: usize| {
            let offsets = (0..section.bytes.len()).step_by(size);
            let entry = |at| {
                Some((
                    self.pointer(section, at, false)?,
                    self.half(section, at + size - 2)?,
                ))
            };
            offsets.map(entry).collect::<Option<Vec<_>>>()
        };
        // Only the true size makes every record point into code.
        let entries = [12, 8, 6].into_iter().find_map(read).unwrap_or_default();
        let warning = |(place, flags): (Place, u16)| (flags & 1 == 1).then_some(place);
        entries.into_iter().filter_map(warning).collect()
    }

    fn half(&self, section: &Section<'_>, offset: usize) -> Option<u16> {
        let bytes = section.bytes.get(offset..)?.first_chunk::<2>()?;
        Some(if self.little_endian() {
            u16::from_le_bytes(*bytes)
        } else {
            u16::from_be_bytes(*bytes)
        })
    }

    fn word(&self, section: &Section<'_>, offset: usize) -> Option<u32> {
        let bytes = section.bytes.get(offset..)?.first_chunk::<4>()?;
        Some(if self.little_endian() {
            u32::from_le_bytes(*bytes)
        } else {
            u32::from_be_bytes(*bytes)
        })
    }

    /// What the four bytes at `offset` point to: by relocation in an object
    /// file, else relative to themselves or as an address.
    fn pointer(&self, section: &Section<'_>, offset: usize, absolute: bool) -> Option<Place> {
        let word = self.word(section, offset)?;
        let here = Place {
            section: section.index,
            address: section.address.wrapping_add(offset as u64),
        };
        if self.relocatable {
            let implicit = i64::from(word.cast_signed());
            return self.relocations.at(here)?.target(implicit, 0);
        }
        let address = if absolute {
            u64::from(word)
        } else {
            let wide = here
                .address
                .wrapping_add_signed(i64::from(word.cast_signed()));
            if object::Object::is_64(&self.file) {
                wide
            } else {
                wide & 0xffff_ffff
            }
        };
        self.place_of(address)
    }
}
