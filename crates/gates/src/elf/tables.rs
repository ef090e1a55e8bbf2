//! The tables that the kernel keeps about its own code: which instruction may
//! fault and where it goes on, what is patched in at boot, which jumps are
//! switched.

use std::collections::{BTreeMap, HashMap, HashSet};

use object::ObjectSymbol;

use super::{Image, Place, Section};
use crate::layout::{AlternativeLayout, FaultLayout, FixupLayout};

/// Instructions that may fault.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Where execution goes on after a fault.
    pub(crate) fixup: HashMap<Place, Place>,
    /// Those that reach for user memory.
    pub(crate) user: HashSet<Place>,
    /// Those of them whose type kernel memory has, too.
    pub(crate) perhaps: HashSet<Place>,
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

/// Code that is switched at boot or later, by where it stands.
pub(crate) type Jumps = HashMap<Place, Switched>;

/// Where an instruction that is switched may go besides to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switched {
    /// Where it jumps.
    pub(crate) targets: Vec<Place>,
    /// What it means that it jumps, where a feature of the CPU decides.
    pub(crate) jumped: Option<Choice>,
}

/// A feature of the CPU that is settled once, at boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Choice {
    /// Its number: of the table of replacements, or of the key.
    pub(crate) feature: u64,
    /// Whether the CPU has it.
    pub(crate) on: bool,
}

impl Choice {
    /// That the CPU is the other way.
    pub(crate) fn otherwise(self) -> Self {
        Self {
            on: !self.on,
            ..self
        }
    }
}

/// Code between two addresses that a table names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixup {
    pub(crate) start: Place,
    /// Where it ends, in the section of its start.
    pub(crate) end: u64,
}

impl Image<'_> {
    /// `__ex_table`, and how many of its records could not be followed.
    pub(crate) fn faults(&self, layout: &FaultLayout) -> Faults {
        let mut faults = Faults::default();
        for section in self.sections.iter().filter(|s| s.name == "__ex_table") {
            for offset in (0..section.bytes.len()).step_by(layout.size.max(1)) {
                match self.fault(section, offset, layout) {
                    Some((at, fixup, user)) => {
                        faults.fixup.insert(at, fixup);
                        if user.is_some() {
                            faults.user.insert(at);
                        }
                        if user == Some(false) {
                            faults.perhaps.insert(at);
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
    ) -> Option<(Place, Place, Option<bool>)> {
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
                if self.is_callback(section, offset, layout) {
                    continue;
                }
                match self.alternative(section, offset, layout) {
                    Some(record) => all.entry(record.at).or_default().push(record),
                    None => unread += 1,
                }
            }
        }
        (all, unread)
    }

    fn is_callback(
        &self,
        section: &Section<'_>,
        offset: usize,
        layout: &AlternativeLayout,
    ) -> bool {
        let feature = self.half(section, offset + layout.feature_at);
        feature.is_some_and(|feature| feature & layout.callback_bit != 0)
    }

    /// The records whose replacing is left to a function that puts NOPs in:
    /// where, and the feature that decides.
    pub(crate) fn nops(&self, layout: &AlternativeLayout) -> Vec<(Place, u64)> {
        let tables = self.sections.iter();
        let tables = tables.filter(|s| s.name == ".altinstructions");
        let record = |section: &Section<'_>, offset: usize| {
            let named = self.is_callback(section, offset, layout)
                && self.name_at(section, offset + 4).as_deref() == layout.callback_nops.as_deref();
            named.then_some(())?;
            let feature = self.half(section, offset + layout.feature_at)?;
            let feature = u64::from(feature & !layout.callback_bit);
            Some((self.pointer(section, offset, false)?, feature))
        };
        let records = tables.flat_map(|section| {
            let offsets = (0..section.bytes.len()).step_by(layout.size.max(1));
            offsets.filter_map(move |offset| record(section, offset))
        });
        records.collect()
    }

    /// The name of the function that the four bytes at `offset` point to.
    fn name_at(&self, section: &Section<'_>, offset: usize) -> Option<String> {
        let here = self.here(section, offset);
        if let Some(reference) = self.relocations.at(here) {
            let name = self.relocations.name(reference);
            if !name.is_empty() {
                return Some(name.to_owned());
            }
        }
        let place = self.pointer(section, offset, false)?;
        self.name_of(place).map(|(name, _)| name.to_owned())
    }

    /// The code that a table of fixups names, and how many records point to
    /// none.
    pub(crate) fn fixups(&self, layout: &FixupLayout) -> (Vec<Fixup>, usize) {
        let wide = object::Object::is_64(&self.file);
        let width = layout.width.get(usize::from(wide)).copied().unwrap_or(4);
        let size = width.saturating_mul(layout.fields).max(1);
        let tables = self.sections.iter().filter(|s| s.name == layout.section);
        let records = tables.flat_map(|s| (0..s.bytes.len()).step_by(size).map(move |at| (s, at)));
        let (mut all, mut unread) = (Vec::new(), 0);
        for (section, record) in records {
            let field = |index: usize| self.field(section, record, index * width, width);
            let start = field(layout.start);
            let end = layout.end.map_or(start, field);
            match (start, end) {
                (Some(start), Some(end)) => all.push(Fixup {
                    start,
                    end: end.address,
                }),
                _ => unread += 1,
            }
        }
        (all, unread)
    }

    /// What a field of a record points to, which counts from the record's
    /// start.
    fn field(
        &self,
        section: &Section<'_>,
        record: usize,
        offset: usize,
        width: usize,
    ) -> Option<Place> {
        let here = self.here(section, record + offset);
        if self.relocatable {
            let reference = self.relocations.at(here)?;
            return reference.target(0, (offset as u64).wrapping_neg());
        }
        let distance = if width == 8 {
            self.long(section, record + offset)?
        } else {
            i64::from(self.word(section, record + offset)?.cast_signed()).cast_unsigned()
        };
        let start = self.here(section, record).address;
        self.place_of(self.narrowed(start.wrapping_add(distance)))
    }

    fn here(&self, section: &Section<'_>, offset: usize) -> Place {
        Place {
            section: section.index,
            address: section.address.wrapping_add(offset as u64),
        }
    }

    /// An address of this file's width.
    fn narrowed(&self, address: u64) -> u64 {
        if object::Object::is_64(&self.file) {
            address
        } else {
            address & 0xffff_ffff
        }
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

    /// `__jump_table`: two offsets and a key of the machine's word. `keys` are
    /// the arrays of keys that are settled at boot.
    pub(crate) fn jumps(&self, keys: &[String]) -> Jumps {
        let wide = object::Object::is_64(&self.file);
        let size = if wide { 16 } else { 12 };
        let arrays = self.arrays(keys);
        let tables = self.sections.iter().filter(|s| s.name == "__jump_table");
        let records = tables.flat_map(|s| (0..s.bytes.len()).step_by(size).map(move |at| (s, at)));
        let pair = |(section, at)| {
            let from = self.pointer(section, at, false)?;
            let to = self.pointer(section, at + 4, false)?;
            Some((from, to, self.choice(section, at + 8, keys, &arrays)))
        };
        let mut jumps = Jumps::new();
        for (from, to, choice) in records.filter_map(pair) {
            let switched: &mut Switched = jumps.entry(from).or_default();
            switched.targets.push(to);
            switched.jumped = choice;
        }
        jumps
    }

    /// What it means that a jump is taken: its key's lowest bit tells whether
    /// the code jumps where the key is off (`struct jump_entry`,
    /// include/linux/jump_label.h).
    fn choice(
        &self,
        section: &Section<'_>,
        offset: usize,
        keys: &[String],
        arrays: &[(u64, std::ops::Range<u64>)],
    ) -> Option<Choice> {
        let key = match self.relocations.at(self.here(section, offset)) {
            Some(reference) => {
                let name = self.relocations.name(reference);
                let array = keys.iter().position(|known| known == name)?;
                (array as u64) << 32 | reference.addend().cast_unsigned() & 0xffff_ffff
            }
            None => {
                let here = self.here(section, offset).address;
                let address = here.wrapping_add(self.long(section, offset)?);
                let mut all = arrays.iter();
                let (array, range) = all.find(|(_, range)| range.contains(&address))?;
                array << 32 | (address - range.start)
            }
        };
        Some(Choice {
            feature: key & !3,
            on: key & 1 == 0,
        })
    }

    /// Where arrays of keys are in a linked file, by their number.
    fn arrays(&self, names: &[String]) -> Vec<(u64, std::ops::Range<u64>)> {
        if names.is_empty() || self.relocatable {
            return Vec::new();
        }
        let symbols = object::Object::symbols(&self.file);
        let array = |symbol: object::Symbol<'_, '_>| {
            let name = symbol.name_bytes().ok()?;
            let number = names.iter().position(|known| known.as_bytes() == name)?;
            let end = symbol.address().saturating_add(symbol.size());
            Some((number as u64, symbol.address()..end))
        };
        symbols.filter_map(array).collect()
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

    fn long(&self, section: &Section<'_>, offset: usize) -> Option<u64> {
        let bytes = section.bytes.get(offset..)?.first_chunk::<8>()?;
        Some(if self.little_endian() {
            u64::from_le_bytes(*bytes)
        } else {
            u64::from_be_bytes(*bytes)
        })
    }

    /// What the four bytes at `offset` point to: by relocation in an object
    /// file, else relative to themselves or as an address.
    fn pointer(&self, section: &Section<'_>, offset: usize, absolute: bool) -> Option<Place> {
        let word = self.word(section, offset)?;
        let here = self.here(section, offset);
        if self.relocatable {
            let implicit = i64::from(word.cast_signed());
            return self.relocations.at(here)?.target(implicit, 0);
        }
        let address = if absolute {
            u64::from(word)
        } else {
            let distance = i64::from(word.cast_signed());
            self.narrowed(here.address.wrapping_add_signed(distance))
        };
        self.place_of(address)
    }
}
