//! Which layout the records of a table have: found from the file, never
//! assumed.
//!
//! A layout fits when its size divides the table's, every record points to code
//! where it must, to none where it cannot, and holds no impossible number, and in an object file every
//! relocation stands where a field is. One that fits is the table's; several
//! that would read the same are one.

use super::fields::Pointed;
use super::file::ElfFile;
use super::place::{Place, Section};
use crate::error::ObjectError;
use crate::records::{Laid, Record};
use tollgate_defect::answer;

/// Why a layout does not fit; the record, by its offset in the table.
enum Misfit {
    Length(usize),
    Relocation(usize),
    NoRelocation(usize),
    NoCode(usize),
    Nowhere(usize),
    Code(usize),
    Number(usize),
    Odd(usize, &'static str),
}

impl ElfFile<'_> {
    /// The layout of the records of a table; none where the file has none.
    /// `odd` tells what no record of a layout may be, as the end of a sentence.
    ///
    /// # Errors
    /// When no layout fits, or several that read differently.
    pub(crate) fn fit<'l, L: Laid>(
        &self,
        table: &str,
        layouts: &'l [L],
        odd: impl Fn(&Section<'_>, usize, &L) -> Option<&'static str>,
    ) -> Result<Option<&'l L>, ObjectError> {
        let sections: Vec<&Section<'_>> = self.tables(table).collect();
        if sections.is_empty() {
            return Ok(None);
        }
        let (mut fits, mut tried) = (Vec::<&L>::new(), Vec::new());
        for layout in layouts.iter().filter(|layout| self.has(layout.record())) {
            match self.misfit(&sections, layout, &odd) {
                None => fits.push(layout),
                Some(why) => tried.push(format!("{}: {why}", label(layout.record()))),
            }
        }
        match fits.split_first() {
            Some((first, others)) if others.iter().all(|other| self.alike(*first, *other)) => {
                Ok(Some(first))
            }
            Some(_) => {
                let all: Vec<_> = fits.iter().map(|layout| label(layout.record())).collect();
                let all = all.join("; ");
                Err(doubt(table, &sections, format!("several fit: {all}")))
            }
            None => {
                let tried = tried.join("; ");
                Err(doubt(table, &sections, format!("none fits: {tried}")))
            }
        }
    }

    /// The sections of this name that hold records.
    pub(crate) fn tables<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Section<'a>> {
        let sections = self.sections.iter();
        sections.filter(move |section| section.name == name && !section.bytes.is_empty())
    }

    /// Whether files like this one have such records.
    fn has(&self, record: &Record) -> bool {
        let bits = if self.is_64() { 64 } else { 32 };
        record.bits.is_none_or(|only| only == bits)
    }

    /// Whether two layouts tell the same of this file.
    fn alike<L: Laid>(&self, a: &L, b: &L) -> bool {
        let (one, other) = (a.record(), b.record());
        let pointers = self.relocatable || one.absolute == other.absolute;
        let same = one.size == other.size && one.code == other.code;
        same && pointers && a.fields() == b.fields()
    }

    fn misfit<L: Laid>(
        &self,
        sections: &[&Section<'_>],
        layout: &L,
        odd: &impl Fn(&Section<'_>, usize, &L) -> Option<&'static str>,
    ) -> Option<Misfit> {
        let record = layout.record();
        sections.iter().find_map(|section| {
            let bytes = section.bytes.len();
            if bytes % record.size != 0 {
                return Some(Misfit::Length(bytes));
            }
            let stray = self.stray(section, record).map(Misfit::Relocation);
            stray.or_else(|| {
                let mut offsets = (0..bytes).step_by(record.size);
                offsets.find_map(|offset| {
                    self.misfit_at(section, offset, record)
                        .or_else(|| Some(Misfit::Odd(offset, odd(section, offset, layout)?)))
                })
            })
        })
    }

    /// A relocation that stands where no field is.
    fn stray(&self, section: &Section<'_>, record: &Record) -> Option<usize> {
        let places = self.relocations.within(section.index);
        let offsets = places.filter_map(|place| {
            let offset = place.address.checked_sub(section.address)?;
            answer::fits::<usize, _>(offset)
        });
        let mut stray = offsets.filter(|offset| {
            let field = offset % record.size;
            let all = [&record.code, &record.data, &record.other, &record.distances];
            let mut fields = all.into_iter();
            !fields.any(|fields| fields.contains(&field))
        });
        stray.next()
    }

    fn nowhere(&self, offset: usize) -> Misfit {
        if self.relocatable {
            Misfit::NoRelocation(offset)
        } else {
            Misfit::Nowhere(offset)
        }
    }

    /// Whether a place holds code and can hold nothing else.
    fn is_code_alone(&self, place: Place) -> bool {
        let section = self.section(place.section);
        // What begins where code ends is none.
        let holds = |section: &Section<'_>| {
            place.address.wrapping_sub(section.address) < section.bytes.len() as u64
        };
        section.is_some_and(|section| section.executable && !section.writable && holds(section))
    }

    fn misfit_at(&self, section: &Section<'_>, offset: usize, record: &Record) -> Option<Misfit> {
        for field in &record.code {
            match self.pointed(section, offset, *field, record) {
                Pointed::Code(_) | Pointed::Outside => {}
                Pointed::Nowhere => return Some(self.nowhere(offset)),
                Pointed::Elsewhere => return Some(Misfit::NoCode(offset)),
            }
        }
        for field in &record.data {
            match self.pointed(section, offset, *field, record) {
                Pointed::Code(place) if self.is_code_alone(place) => {
                    return Some(Misfit::Code(offset));
                }
                Pointed::Nowhere => return Some(self.nowhere(offset)),
                _ => {}
            }
        }
        let too_large = |[at, width, most]: &[usize; 3]| {
            let number = match width {
                1 => section.bytes.get(offset + at).copied().map(usize::from),
                _ => self.half(section, offset + at).map(usize::from),
            };
            number.is_none_or(|number| number > *most)
        };
        let large = record.most.iter().any(too_large);
        large.then_some(Misfit::Number(offset))
    }
}

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Length(bytes) => write!(f, "{bytes} is no multiple"),
            Self::Relocation(at) => write!(f, "a relocation at {at:#x}, where no field is"),
            Self::NoRelocation(at) => write!(f, "no relocation for the record at {at:#x}"),
            Self::NoCode(at) => write!(f, "the record at {at:#x} points to no code"),
            Self::Nowhere(at) => write!(f, "the record at {at:#x} points to no place in the file"),
            Self::Code(at) => write!(f, "the record at {at:#x} points to code where none can be"),
            Self::Number(at) => write!(f, "too large a number in the record at {at:#x}"),
            Self::Odd(at, why) => write!(f, "the record at {at:#x} {why}"),
        }
    }
}

fn label(record: &Record) -> String {
    let addresses = if record.absolute {
        " with addresses"
    } else {
        ""
    };
    let fields: Vec<String> = record.code.iter().map(usize::to_string).collect();
    let plural = if fields.len() == 1 { "" } else { "s" };
    format!(
        "{} bytes{addresses}, code at byte{plural} {}",
        record.size,
        fields.join(", ")
    )
}

fn doubt(table: &str, sections: &[&Section<'_>], tried: String) -> ObjectError {
    ObjectError::Records {
        table: table.to_owned(),
        bytes: sections.iter().map(|section| section.bytes.len()).sum(),
        tried,
    }
}
