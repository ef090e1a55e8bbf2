//! Relocations of an object file: what its linker will put where.

use std::collections::HashMap;

use object::{Object, ObjectSection, ObjectSymbol, Relocation, RelocationTarget};

use super::{Place, Section};

/// The relocations of the sections that are read, by place.
#[derive(Default)]
pub(crate) struct Relocations {
    by_place: HashMap<Place, Reference>,
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
}

impl Relocations {
    /// Reads what can be read: a record without a symbol refers to nothing
    /// that could be named.
    pub(crate) fn read(file: &object::File<'_>, sections: &[Section<'_>]) -> Self {
        let mut all = Self {
            dots: file.section_by_name(".opd").is_some(),
            ..Self::default()
        };
        let mut known = HashMap::new();
        for section in sections {
            let Ok(of) = file.section_by_index(object::SectionIndex(section.index)) else {
                continue;
            };
            for (offset, relocation) in of.relocations() {
                let place = Place {
                    section: section.index,
                    address: section.address.wrapping_add(offset),
                };
                all.add(file, &mut known, place, &relocation);
            }
        }
        all
    }

    fn add(
        &mut self,
        file: &object::File<'_>,
        known: &mut HashMap<usize, (usize, Option<Place>)>,
        place: Place,
        relocation: &Relocation,
    ) {
        let RelocationTarget::Symbol(index) = relocation.target() else {
            return;
        };
        let (symbol, defined) = match known.get(&index.0) {
            Some(found) => *found,
            None => {
                let Ok(symbol) = file.symbol_by_index(index) else {
                    return;
                };
                let name = String::from_utf8_lossy(symbol.name_bytes().unwrap_or_default());
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
        // riscv has two for one place (ADD32, SUB32): the first names the target.
        self.by_place.entry(place).or_insert(Reference {
            symbol,
            defined,
            addend,
        });
    }

    /// The reference at exactly this place.
    pub(crate) fn at(&self, place: Place) -> Option<Reference> {
        self.by_place.get(&place).copied()
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
