//! Relocations of an object file: what its linker will put where.

use tollgate_defect::answer;

use object::{Object, ObjectSection, ObjectSymbol, Relocation, RelocationTarget};

use super::place::{Place, Section};
use crate::hash::HashMap;
use crate::input::File;

/// The relocations of the sections that are read, by place.
#[derive(Default)]
pub(crate) struct Relocations {
    /// Sorted; of several for one place the first in the file alone.
    by_place: Vec<(Place, Reference)>,
    /// Of two for one place what the second refers to: what the linker takes away
    /// from the first, on riscv.
    second: HashMap<Place, Reference>,
    names: Vec<String>,
    /// Whether the file has descriptors of functions.
    dots: bool,
}

/// What a relocation refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    symbol: usize,
    /// Where the symbol is, for one that this file defines.
    defined: Option<Place>,
    /// What the record adds to it; absent where the relocated bytes hold it.
    addend: Option<i64>,
    /// Bits of the field that it fills; 0 where its kind does not tell.
    bits: u8,
}

impl Relocations {
    /// A record without a symbol refers to nothing that could be named.
    ///
    /// # Errors
    /// When one names a symbol that is not there.
    pub(crate) fn read(file: &File<'_>, sections: &[Section<'_>]) -> object::Result<Self> {
        let mut all = Self {
            dots: file.section_by_name(".opd").is_some(),
            ..Self::default()
        };
        let mut known = HashMap::default();
        for section in sections {
            let of = file.section_by_index(object::SectionIndex(section.index))?;
            for (offset, relocation) in of.relocations() {
                let place = Place {
                    section: section.index,
                    address: section.address.wrapping_add(offset),
                };
                all.add(file, &mut known, place, &relocation)?;
            }
        }
        all.by_place.sort_by_key(|(place, _)| *place);
        // riscv has two for one place (ADD32, SUB32): the first names the target.
        let second = &mut all.second;
        all.by_place.dedup_by(|(place, other), (first, _)| {
            let twice = place == first;
            if twice {
                second.insert(*place, *other);
            }
            twice
        });
        Ok(all)
    }

    fn add(
        &mut self,
        file: &File<'_>,
        known: &mut HashMap<usize, (usize, Option<Place>)>,
        place: Place,
        relocation: &Relocation,
    ) -> object::Result<()> {
        let RelocationTarget::Symbol(index) = relocation.target() else {
            return Ok(());
        };
        let (symbol, defined) = match known.get(&index.0) {
            Some(found) => *found,
            None => {
                let symbol = file.symbol_by_index(index)?;
                let name = String::from_utf8_lossy(symbol.name_bytes()?);
                self.names.push(name.into_owned());
                let defined = symbol.section_index().map(|section| Place {
                    section: section.0,
                    address: symbol.address(),
                });
                *known
                    .entry(index.0)
                    .or_insert((self.names.len() - 1, defined))
            }
        };
        let addend = (!relocation.has_implicit_addend()).then(|| relocation.addend());
        let reference = Reference {
            symbol,
            defined,
            addend,
            bits: relocation.size(),
        };
        self.by_place.push((place, reference));
        Ok(())
    }

    /// Where those of a section stand, in order.
    pub(crate) fn within(&self, section: usize) -> impl Iterator<Item = Place> {
        let from = self
            .by_place
            .partition_point(|(at, _)| at.section < section);
        let rest = self.by_place.get(from..).unwrap_or_default().iter();
        rest.map(|(at, _)| *at)
            .take_while(move |at| at.section == section)
    }

    /// The reference at exactly this place.
    pub(crate) fn at(&self, place: Place) -> Option<Reference> {
        let found = self.by_place.binary_search_by_key(&place, |(at, _)| *at);
        let (_, reference) = self.by_place.get(answer::found(found)?)?;
        Some(*reference)
    }

    /// How far the first reference of a place lies behind the second, where there
    /// are two: a length that the linker works out.
    pub(crate) fn distance(&self, place: Place) -> Option<u64> {
        let [from, to] = [self.second.get(&place).copied()?, self.at(place)?];
        let [from, to] = [from.target(0, 0)?, to.target(0, 0)?];
        (from.section == to.section).then_some(())?;
        to.address.checked_sub(from.address)
    }

    /// The name of the symbol that is referred to; empty for a section. The
    /// code of a function has a dot before its name where the name is that of a
    /// descriptor (ELFv1 of 64-bit powerpc).
    pub(crate) fn name(&self, reference: Reference) -> &str {
        let name = self.names.get(reference.symbol);
        let name = name.map_or("", |name| name.as_str());
        name.strip_prefix('.')
            .filter(|rest| self.dots && !rest.starts_with(['L', '.']))
            .unwrap_or(name)
    }
}

impl Reference {
    /// Whether it may fill a field of so many bytes.
    pub(crate) fn fills(self, width: usize) -> bool {
        self.bits == 0 || usize::from(self.bits) == width * 8
    }

    /// What the record adds; 0 where the relocated bytes hold it.
    pub(crate) fn addend(self) -> i64 {
        self.addend.unwrap_or(0)
    }

    /// Where it points when `implicit` is the addend that the bytes hold and
    /// `bias` is what its kind adds besides (the end of an instruction, say).
    pub(crate) fn target(self, implicit: i64, bias: u64) -> Option<Place> {
        let addend = self.addend.unwrap_or(implicit);
        self.defined.map(|place| Place {
            section: place.section,
            address: place.address.wrapping_add_signed(addend).wrapping_add(bias),
        })
    }
}
