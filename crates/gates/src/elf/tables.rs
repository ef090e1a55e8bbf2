//! The tables that the kernel keeps about its own code: which instruction may
//! fault and where it goes on, what is patched in at boot, which jumps are
//! switched.

use std::collections::BTreeMap;
use tollgate_defect::answer;

use object::ObjectSymbol;

use super::file::{ElfFile, broken};
use super::place::{Place, Section};
use crate::error::ObjectError;
use crate::hash::{HashMap, HashSet};
use crate::records::{
    AlternativeLayout, AlternativeTable, Common, FaultLayout, FaultTable, FixupTable, JumpLayout,
    Laid,
};

/// Instructions that may fault.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Where execution goes on after a fault.
    pub(crate) fixup: HashMap<Place, Place>,
    /// Those that reach for user memory.
    pub(crate) user: HashSet<Place>,
    /// Those of them whose type kernel memory has, too.
    pub(crate) perhaps: HashSet<Place>,
    /// Records that point to another file.
    pub(crate) unread: usize,
}

/// The records of `.altinstructions`.
#[derive(Debug, Default)]
pub(crate) struct Alternatives {
    /// By what they replace, in the order of the file: of several records for
    /// one place the kernel applies the later over the earlier.
    pub(crate) by_place: BTreeMap<Place, Vec<Alternative>>,
    /// Where a function puts NOPs in, and the feature that decides.
    pub(crate) nops: Vec<(Place, u64)>,
    /// Records that point to another file.
    pub(crate) unread: usize,
}

/// A record of `.altinstructions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alternative {
    /// What the compiler left there.
    pub(crate) at: Place,
    /// Its length in bytes.
    pub(crate) length: u16,
    /// What the kernel puts there.
    pub(crate) replacement: Place,
    /// Its length in bytes.
    pub(crate) replacement_length: u16,
    /// The number of the CPU's feature that decides.
    pub(crate) feature: u16,
    /// Whether it is for CPUs that lack the feature.
    pub(crate) inverted: bool,
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

impl ElfFile<'_> {
    /// `__ex_table`.
    ///
    /// # Errors
    /// When its layout cannot be told.
    pub(crate) fn faults(&self, table: &FaultTable) -> Result<Faults, ObjectError> {
        let mut faults = Faults::default();
        let name = "__ex_table";
        let Some(layout) = self.fit(name, &table.layouts, |_, _, _| None)? else {
            return Ok(faults);
        };
        for (section, offset) in self.records(name, layout.record.size) {
            match self.fault(section, offset, table, layout) {
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
        Ok(faults)
    }

    fn fault(
        &self,
        section: &Section<'_>,
        offset: usize,
        table: &FaultTable,
        layout: &FaultLayout,
    ) -> Option<(Place, Place, Option<bool>)> {
        let [insn, fixup, ..] = layout.record.code[..] else {
            return None;
        };
        let at = self.pointer(section, offset, insn, &layout.record)?;
        let fixup = self.pointer(section, offset, fixup, &layout.record)?;
        let user = match (layout.kind_at, layout.handler_at) {
            (Some(kind_at), _) => table.is_user(self.word(section, offset + kind_at)?),
            (None, Some(at)) => {
                let name = self.name_at(section, offset, at, layout)?;
                table.handles_user(&name).then_some(true)
            }
            (None, None) => Some(true),
        };
        Some((at, fixup, user))
    }

    /// Where the records of a table begin.
    fn records<'a>(
        &'a self,
        table: &'a str,
        size: usize,
    ) -> impl Iterator<Item = (&'a Section<'a>, usize)> {
        let tables = self.tables(table);
        tables.flat_map(move |section| {
            let offsets = (0..section.bytes.len()).step_by(size);
            offsets.map(move |offset| (section, offset))
        })
    }

    /// `.altinstructions`.
    ///
    /// # Errors
    /// When its layout cannot be told.
    pub(crate) fn alternatives(
        &self,
        table: &AlternativeTable,
    ) -> Result<Alternatives, ObjectError> {
        let mut all = Alternatives::default();
        let name = &table.section;
        let odd = |section: &Section<'_>, offset: usize, layout: &AlternativeLayout| {
            self.oddity(section, offset, table, layout)
        };
        let Some(layout) = self.fit(name, &table.layouts, odd)? else {
            return Ok(all);
        };
        for (section, offset) in self.records(name, layout.record.size) {
            if self.is_callback(section, offset, table, layout) {
                all.nops.extend(self.nops(section, offset, table, layout));
                continue;
            }
            match self.alternative(section, offset, layout) {
                Some(record) => all.by_place.entry(record.at).or_default().push(record),
                None => all.unread += 1,
            }
        }
        Ok(all)
    }

    /// What no record of `.altinstructions` is.
    fn oddity(
        &self,
        section: &Section<'_>,
        offset: usize,
        table: &AlternativeTable,
        layout: &AlternativeLayout,
    ) -> Option<&'static str> {
        let feature = self.half(section, offset + layout.feature_at)?;
        let [length, replacement] = lengths(self, section, offset, layout)?;
        let padding = layout
            .padding_at
            .and_then(|at| section.bytes.get(offset + at));
        if feature & !(layout.inverted | layout.callback | layout.vendor) > MOST_FEATURES {
            Some("names a feature that no CPU has")
        } else if replacement > length {
            Some("replaces fewer bytes than it puts in")
        } else if table.callbacks && replacement != 0 && replacement != length {
            Some("puts in fewer bytes than it replaces")
        } else if padding.is_some_and(|padding| u16::from(*padding) > length) {
            Some("pads more bytes than it replaces")
        } else {
            None
        }
    }

    fn is_callback(
        &self,
        section: &Section<'_>,
        offset: usize,
        table: &AlternativeTable,
        layout: &AlternativeLayout,
    ) -> bool {
        let lengths = lengths(self, section, offset, layout);
        table.callbacks && lengths.is_some_and(|[_, replacement]| replacement == 0)
    }

    /// A record whose replacing is left to the function that puts NOPs in:
    /// where, and the feature that decides.
    fn nops(
        &self,
        section: &Section<'_>,
        offset: usize,
        table: &AlternativeTable,
        layout: &AlternativeLayout,
    ) -> Option<(Place, u64)> {
        let name = self.name_at(section, offset, 4, layout)?;
        (table.callback_nops.as_deref() == Some(&*name)).then_some(())?;
        let feature = self.half(section, offset + layout.feature_at)?;
        let feature = u64::from(feature & !layout.callback);
        Some((self.pointer(section, offset, 0, &layout.record)?, feature))
    }

    /// The name of the function that a field points to.
    fn name_at<L: Laid>(
        &self,
        section: &Section<'_>,
        offset: usize,
        field: usize,
        layout: &L,
    ) -> Option<String> {
        if let Some(reference) = self.relocations.at(self.here(section, offset + field)) {
            let name = self.relocations.name(reference);
            if !name.is_empty() {
                return Some(name.to_owned());
            }
        }
        let place = self.pointer(section, offset, field, layout.record())?;
        self.name_of(place).map(|(name, _)| name.to_owned())
    }

    fn alternative(
        &self,
        section: &Section<'_>,
        offset: usize,
        layout: &AlternativeLayout,
    ) -> Option<Alternative> {
        let [length, replacement_length] = lengths(self, section, offset, layout)?;
        let feature = self.half(section, offset + layout.feature_at)?;
        let inverted = match layout.flags_at {
            Some(at) => self.half(section, offset + at)? & layout.not,
            None => feature & layout.inverted,
        };
        Some(Alternative {
            at: self.pointer(section, offset, 0, &layout.record)?,
            replacement: self.pointer(section, offset, 4, &layout.record)?,
            feature: feature & !layout.inverted,
            inverted: inverted != 0,
            length,
            replacement_length,
        })
    }

    /// The code that a table of fixups names, and how many records point to
    /// another file.
    ///
    /// # Errors
    /// When its layout cannot be told.
    pub(crate) fn fixups(&self, table: &FixupTable) -> Result<(Vec<Fixup>, usize), ObjectError> {
        let (mut all, mut unread) = (Vec::new(), 0);
        let Some(layout) = self.fit(&table.section, &table.layouts, |_, _, _| None)? else {
            return Ok((all, unread));
        };
        for (section, offset) in self.records(&table.section, layout.record.size) {
            let mut fields = layout.record.code.iter();
            let mut next = || self.pointer(section, offset, *fields.next()?, &layout.record);
            let start = next();
            let end = if layout.record.code.len() > 1 {
                next()
            } else {
                start
            };
            match (start, end) {
                (Some(start), Some(end)) => all.push(Fixup {
                    start,
                    end: end.address,
                }),
                _ => unread += 1,
            }
        }
        Ok((all, unread))
    }

    /// `__jump_table`. `keys` are the arrays of keys that are settled at boot.
    ///
    /// # Errors
    /// When its layout cannot be told.
    pub(crate) fn jumps(&self, keys: &[String]) -> Result<Jumps, ObjectError> {
        let mut jumps = Jumps::default();
        let name = "__jump_table";
        let layouts = &Common::built_in()?.jumps;
        let Some(layout) = self.fit(name, layouts, |_, _, _| None)? else {
            return Ok(jumps);
        };
        let arrays = self.arrays(keys)?;
        for (section, offset) in self.records(name, layout.record.size) {
            let [code, target, ..] = layout.record.code[..] else {
                continue;
            };
            let from = self.pointer(section, offset, code, &layout.record);
            let to = self.pointer(section, offset, target, &layout.record);
            if let (Some(from), Some(to)) = (from, to) {
                let switched: &mut Switched = jumps.entry(from).or_default();
                switched.targets.push(to);
                switched.jumped = self.choice(section, offset, layout, keys, &arrays);
            }
        }
        Ok(jumps)
    }

    /// What it means that a jump is taken: its key's lowest bit tells whether
    /// the code jumps where the key is off (`struct jump_entry`,
    /// include/linux/jump_label.h).
    fn choice(
        &self,
        section: &Section<'_>,
        offset: usize,
        layout: &JumpLayout,
        keys: &[String],
        arrays: &[(u64, std::ops::Range<u64>)],
    ) -> Option<Choice> {
        let at = offset + layout.key_at;
        let here = self.here(section, at);
        let key = match self.relocations.at(here) {
            Some(reference) => {
                let name = self.relocations.name(reference);
                let array = keys.iter().position(|known| known == name)?;
                (array as u64) << 32 | reference.addend().cast_unsigned() & 0xffff_ffff
            }
            None => {
                let width = if self.is_64() { 8 } else { 4 };
                let distance = self.signed(section, at, width)?;
                let from = if layout.record.absolute {
                    0
                } else {
                    here.address
                };
                let address = self.narrowed(from.wrapping_add_signed(distance));
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
    ///
    /// # Errors
    /// When a symbol's name cannot be read.
    fn arrays(&self, names: &[String]) -> Result<Vec<(u64, std::ops::Range<u64>)>, ObjectError> {
        let mut all = Vec::new();
        if names.is_empty() || self.relocatable {
            return Ok(all);
        }
        for symbol in object::Object::symbols(&self.file) {
            let name = symbol.name_bytes();
            let name = name.map_err(|error| broken(self.input, &error))?;
            let number = names.iter().position(|known| known.as_bytes() == name);
            let end = symbol.address().saturating_add(symbol.size());
            all.extend(number.map(|number| (number as u64, symbol.address()..end)));
        }
        Ok(all)
    }

    /// Where the entries of a `switch` point, from `table` up to `end` or to
    /// the first that points to no code.
    pub(crate) fn cases(&self, table: Place, end: Option<u64>) -> Vec<Place> {
        let size = if self.is_64() { 8 } else { 4 };
        let entries = (0..).map(|entry: u64| table.address.saturating_add(entry * size));
        let entries = entries.take_while(|at| end.is_none_or(|end| *at < end));
        entries
            .map_while(|address| self.case(Place { address, ..table }, size))
            .collect()
    }

    /// The same of a table whose entries are distances from its begin (`movslq
    /// (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax`).
    pub(crate) fn distant_cases(&self, table: Place, end: Option<u64>) -> Vec<Place> {
        let entries = (0..).map(|entry: u64| table.address.saturating_add(entry * 4));
        let entries = entries.take_while(|at| end.is_none_or(|end| *at < end));
        entries
            .map_while(|address| self.distant_case(table, Place { address, ..table }))
            .collect()
    }

    fn distant_case(&self, table: Place, entry: Place) -> Option<Place> {
        let distance = i32::from_le_bytes(*self.bytes_at(entry, 4)?.first_chunk::<4>()?);
        if self.relocatable {
            // The record counts from the entry.
            let before = table.address.wrapping_sub(entry.address);
            let reference = self.relocations.at(entry)?;
            return reference.fills(4).then(|| reference.target(0, before))?;
        }
        self.place_of(table.address.wrapping_add_signed(distance.into()))
    }

    fn case(&self, entry: Place, size: u64) -> Option<Place> {
        let bytes = self.bytes_at(entry, answer::fits::<usize, _>(size)?)?;
        let value = match (bytes.first_chunk::<8>(), bytes.first_chunk::<4>()) {
            (Some(long), _) => u64::from_le_bytes(*long),
            (None, Some(word)) => u64::from(u32::from_le_bytes(*word)),
            (None, None) => return None,
        };
        if self.relocatable {
            let reference = self.relocations.at(entry)?;
            let fills = reference.fills(answer::fits::<usize, _>(size)?);
            return fills.then(|| reference.target(value.cast_signed(), 0))?;
        }
        self.place_of(value)
    }

    /// The traps of `__bug_table` that are warnings.
    ///
    /// # Errors
    /// When its layout cannot be told.
    pub(crate) fn warnings(&self) -> Result<HashSet<Place>, ObjectError> {
        let name = "__bug_table";
        let layouts = &Common::built_in()?.bugs;
        let Some(layout) = self.fit(name, layouts, |_, _, _| None)? else {
            return Ok(HashSet::default());
        };
        let warning = |(section, offset): (&Section<'_>, usize)| {
            let flags = self.half(section, offset + layout.flags_at)?;
            let place = self.pointer(section, offset, 0, &layout.record)?;
            (flags & 1 == 1).then_some(place)
        };
        let records = self.records(name, layout.record.size);
        Ok(records.filter_map(warning).collect())
    }
}

/// The highest number that a feature of a CPU may have: the kernel has less
/// than 800 (NCAPINTS and NBUGINTS words of 32, ARM64_NCAPS).
const MOST_FEATURES: u16 = 1023;

/// How many bytes a record replaces, and how many it puts in.
fn lengths(
    image: &ElfFile<'_>,
    section: &Section<'_>,
    offset: usize,
    layout: &AlternativeLayout,
) -> Option<[u16; 2]> {
    let at = offset + layout.lengths_at;
    if layout.one_length {
        let both = match image.relocations.distance(image.here(section, at)) {
            Some(distance) => answer::fits::<u16, _>(distance)?,
            None => image.half(section, at)?,
        };
        return Some([both, both]);
    }
    let lengths = section.bytes.get(at..)?.first_chunk::<2>()?;
    Some(lengths.map(u16::from))
}
