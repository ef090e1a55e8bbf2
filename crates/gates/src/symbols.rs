//! The functions of a linked kernel by address.

use std::collections::HashMap;

use object::{
    Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SectionIndex, SymbolKind,
};

use crate::input::{File, Input};
use crate::kallsyms::Entry;

/// The functions of a `vmlinux`, found by address.
///
/// What counts as a function: a symbol in an executable section that is a
/// function or an assembler label. A label without a size that lies inside a
/// sized function belongs to it (`entry_SYSCALL_64_after_hwframe`); elsewhere
/// it reaches to the next symbol. Of several names for one address the one
/// with a size and the type of a function is kept, then a strong before a weak,
/// a global before a local, the one with fewer leading underscores, the
/// shorter, the alphabetically first: the same file gives the same names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Sorted by start; starts are unique.
    functions: Vec<Function>,
}

/// A symbol of the executable sections, as input to [`Symbols::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub address: u64,
    /// Its size in bytes; 0 when the file gives none.
    pub size: u64,
    /// Where its section ends: no symbol reaches beyond.
    pub section_end: u64,
    /// Whether its type is function (and not a bare label).
    pub function: bool,
    /// Whether that is a guess: the kernel's own list of names has no types.
    pub guessed: bool,
    /// Whether it is weak.
    pub weak: bool,
    /// Whether it is global.
    pub global: bool,
}

/// What lies between two addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The furthest end of this one and all before it: tells when looking
    /// further back is in vain.
    reach: u64,
    /// Whether its type is function: entry stubs are bare labels.
    pub(crate) typed: bool,
    /// Whether its size is given: it reaches to the next one otherwise.
    pub(crate) sized: bool,
    /// Whether that is a guess.
    pub(crate) guessed: bool,
    /// Whether other files may call it.
    pub(crate) global: bool,
    pub(crate) name: String,
}

/// Whether a symbol names what the compiler put apart as unlikely.
pub(crate) fn is_cold(name: &str) -> bool {
    name.contains(".cold")
}

/// A kernel image whose functions cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolsError {
    /// Not ELF, cut off, or lying about itself.
    #[error(
        "the kernel image ({bytes} bytes) cannot be read as ELF: {reason}; \
         give the complete `vmlinux` of the build folder, not a bzImage"
    )]
    Elf {
        /// Its length.
        bytes: usize,
        /// What the ELF reader met.
        reason: String,
    },
    /// An object file: its addresses are those of no running kernel.
    #[error(
        "the kernel image is {kind}, not a linked kernel; give the `vmlinux` of the build folder"
    )]
    NotLinked {
        /// What it is.
        kind: String,
    },
    /// No symbol in an executable section.
    #[error(
        "the kernel image names no functions (its symbols are stripped); \
         give the unstripped `vmlinux` of the build folder"
    )]
    NoFunctions,
}

impl Symbols {
    /// Reads the functions of a linked ELF kernel image.
    ///
    /// # Errors
    /// When `image` is no complete ELF file, not linked, or stripped.
    pub fn parse(image: &[u8]) -> Result<Self, SymbolsError> {
        let broken = |error: object::Error| SymbolsError::Elf {
            bytes: image.len(),
            reason: error.to_string(),
        };
        let file = File::parse(Input::from(image)).map_err(broken)?;
        refuse_unlinked(file.kind())?;
        let symbols = file
            .symbols()
            .filter_map(|symbol| text_symbol(&file, &symbol).transpose());
        let symbols = Self::new(symbols.collect::<Result<Vec<_>, _>>().map_err(broken)?);
        if symbols.functions.is_empty() {
            return Err(SymbolsError::NoFunctions);
        }
        Ok(symbols)
    }

    /// Orders symbols of executable sections into functions by the rules of
    /// the type's description.
    #[must_use]
    pub fn new(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let mut symbols: Vec<_> = symbols.into_iter().collect();
        symbols.sort_by(|a, b| {
            a.address
                .cmp(&b.address)
                .then_with(|| a.rank().cmp(&b.rank()))
        });
        symbols.dedup_by_key(|symbol| symbol.address);
        Self {
            functions: functions(&without_inner_labels(symbols)),
        }
    }

    /// The function that holds `address`; the innermost where they overlap.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<&str> {
        self.at(address).map(|function| function.name.as_str())
    }

    /// The function whose first instruction is at `address`.
    #[must_use]
    pub fn function_starting_at(&self, address: u64) -> Option<&str> {
        let function = self.at(address).filter(|one| one.start == address);
        function.map(|one| one.name.as_str())
    }

    /// All of them, by start.
    pub(crate) fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The innermost that holds `address`.
    pub(crate) fn at(&self, address: u64) -> Option<&Function> {
        let after = self
            .functions
            .partition_point(|function| function.start <= address);
        let before = self.functions.get(..after)?.iter().rev();
        let mut near = before.take_while(|function| address < function.reach);
        near.find(|function| address < function.end)
    }

    /// Where the next one begins behind `address`.
    pub(crate) fn after(&self, address: u64) -> Option<u64> {
        let after = self.functions.partition_point(|f| f.start <= address);
        self.functions.get(after).map(|function| function.start)
    }

    /// How many functions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }
}

impl Symbol {
    /// A function with a size, in a section of its own: enough for tables made
    /// by hand.
    #[must_use]
    pub fn function(name: impl Into<String>, address: u64, size: u64) -> Self {
        Self {
            name: name.into(),
            address,
            size,
            section_end: address.saturating_add(size),
            function: true,
            guessed: false,
            weak: false,
            global: true,
        }
    }

    /// Smaller is the better name for an address.
    fn rank(&self) -> impl Ord + use<'_> {
        let underscores = self.name.bytes().take_while(|byte| *byte == b'_').count();
        let kind = (self.size == 0, !self.function, self.weak, !self.global);
        (kind, underscores, self.name.len(), &self.name)
    }
}

/// Drops the labels without size that lie inside a sized symbol.
fn without_inner_labels(symbols: Vec<Symbol>) -> Vec<Symbol> {
    let mut covered = 0;
    let outer = symbols.into_iter().filter(|symbol| {
        let inner = symbol.size == 0 && symbol.address < covered;
        covered = covered.max(symbol.address.saturating_add(symbol.size));
        !inner
    });
    outer.collect()
}

fn functions(symbols: &[Symbol]) -> Vec<Function> {
    let nexts = symbols
        .iter()
        .skip(1)
        .map(|next| next.address)
        .chain([u64::MAX]);
    let mut reach = 0;
    let one = |(symbol, next): (&Symbol, u64)| {
        let end = match symbol.size {
            0 => next.min(symbol.section_end),
            size => symbol.address.saturating_add(size),
        };
        reach = end.max(reach);
        Function {
            start: symbol.address,
            end,
            reach,
            typed: symbol.function,
            sized: symbol.size != 0 && !symbol.guessed,
            guessed: symbol.guessed,
            global: symbol.global || symbol.weak,
            name: symbol.name.clone(),
        }
    };
    symbols.iter().zip(nexts).map(one).collect()
}

/// The functions of any ELF file by the index of their section: in an object
/// file every section begins at 0.
///
/// # Errors
/// When a symbol or its section cannot be read.
pub(crate) fn by_section(file: &File<'_>) -> object::Result<HashMap<usize, Symbols>> {
    let mut sections: HashMap<usize, Vec<Symbol>> = HashMap::new();
    let descriptors = Descriptors::of(file)?;
    for symbol in file.symbols() {
        let Some(index) = symbol.section_index() else {
            continue;
        };
        if let Some(symbol) = text_symbol(file, &symbol)? {
            sections.entry(index.0).or_default().push(symbol);
        } else if let Some((index, symbol)) = descriptors.function(file, &symbol)? {
            sections.entry(index).or_default().push(symbol);
        }
    }
    let ordered = sections.into_iter();
    Ok(ordered
        .map(|(index, symbols)| (index, Symbols::new(symbols)))
        .collect())
}

/// The functions of each executable section by the kernel's own list of names,
/// which has no sizes: each reaches to the next name.
pub(crate) fn of_own_names(file: &File<'_>, names: &[Entry]) -> HashMap<usize, Symbols> {
    let mut all = HashMap::new();
    let entry_text = entry_text(names);
    for section in file
        .sections()
        .filter(|section| executable(section.flags()))
    {
        let (start, size) = (section.address(), section.size());
        let end = start.saturating_add(size);
        let within = |entry: &&Entry| entry.address.wrapping_sub(start) < size;
        let code: Vec<&Entry> = names
            .iter()
            .filter(within)
            .filter(|entry| entry.is_code())
            .collect();
        let mut symbols = Vec::new();
        for (index, entry) in code.iter().enumerate() {
            let mut later = code.iter().skip(index + 1).map(|other| other.address);
            let next = later.find(|next| *next > entry.address);
            symbols.push(Symbol {
                name: entry.name.clone(),
                address: entry.address,
                size: next.unwrap_or(end) - entry.address,
                section_end: end,
                function: !entry_text.contains(&entry.address),
                guessed: true,
                weak: entry.kind.eq_ignore_ascii_case(&b'w'),
                global: entry.kind.is_ascii_uppercase(),
            });
        }
        all.insert(section.index().0, Symbols::new(symbols));
    }
    all.retain(|_, symbols| !symbols.functions.is_empty());
    all
}

/// Where the code is that the processor enters: bare labels, which the list does
/// not tell from functions. Nowhere where the list does not say.
fn entry_text(names: &[Entry]) -> std::ops::Range<u64> {
    let bound = |wanted: &str| {
        let found = names.iter().find(|entry| entry.name == wanted);
        found.map(|entry| entry.address)
    };
    match (bound("__entry_text_start"), bound("__entry_text_end")) {
        (Some(start), Some(end)) => start..end,
        _ => 0..0,
    }
}

/// `.opd` of 64-bit powerpc with the old ABI (ELFv1): the symbol of a function
/// is that of a descriptor, whose first field is the function's address
/// (64-bit PowerPC ELF ABI Supplement, 3.2.5 Function descriptors).
struct Descriptors {
    section: Option<SectionIndex>,
    /// Where a descriptor's function is, by the descriptor's address.
    entries: HashMap<u64, (SectionIndex, u64)>,
}

impl Descriptors {
    fn of(file: &File<'_>) -> object::Result<Self> {
        let Some(section) = file.section_by_name(".opd") else {
            return Ok(Self {
                section: None,
                entries: HashMap::new(),
            });
        };
        let mut entries = HashMap::new();
        if file.kind() == ObjectKind::Relocatable {
            for (offset, relocation) in section.relocations() {
                entries.extend(relocated(file, &relocation)?.map(|place| (offset, place)));
            }
        } else {
            entries = linked(file, &section)?;
        }
        Ok(Self {
            section: Some(section.index()),
            entries,
        })
    }

    /// The function of a descriptor's symbol, and its section.
    fn function<'data>(
        &self,
        file: &File<'data>,
        symbol: &object::Symbol<'data, '_, Input<'data>>,
    ) -> object::Result<Option<(usize, Symbol)>> {
        if self.section.is_none() || symbol.section_index() != self.section {
            return Ok(None);
        }
        let Some((index, address)) = self.entries.get(&symbol.address()).copied() else {
            return Ok(None);
        };
        let (section, name) = (file.section_by_index(index)?, symbol.name_bytes()?);
        if name.is_empty() || !executable(section.flags()) {
            return Ok(None);
        }
        let symbol = Symbol {
            name: String::from_utf8_lossy(name).into_owned(),
            address,
            size: symbol.size(),
            section_end: section.address().saturating_add(section.size()),
            function: symbol.kind() == SymbolKind::Text,
            guessed: false,
            weak: symbol.is_weak(),
            global: symbol.is_global(),
        };
        Ok(Some((index.0, symbol)))
    }
}

/// What a relocation of an object file points to.
fn relocated(
    file: &File<'_>,
    relocation: &object::Relocation,
) -> object::Result<Option<(SectionIndex, u64)>> {
    let object::RelocationTarget::Symbol(index) = relocation.target() else {
        return Ok(None);
    };
    let symbol = file.symbol_by_index(index)?;
    let address = symbol.address().wrapping_add_signed(relocation.addend());
    Ok(symbol.section_index().map(|section| (section, address)))
}

/// The descriptors of a linked file: 24 bytes each, the address first.
fn linked<'data>(
    file: &File<'data>,
    section: &object::Section<'data, '_, Input<'data>>,
) -> object::Result<HashMap<u64, (SectionIndex, u64)>> {
    let bytes = section.data()?;
    let code: Vec<_> = file
        .sections()
        .filter(|section| executable(section.flags()))
        .map(|s| (s.index(), s.address(), s.size()))
        .collect();
    let (records, _) = bytes.as_chunks::<24>();
    let places = (section.address()..).step_by(24);
    let entry = |(place, record): (u64, &[u8; 24])| {
        let raw = *record.first_chunk::<8>()?;
        let address = if file.is_little_endian() {
            u64::from_le_bytes(raw)
        } else {
            u64::from_be_bytes(raw)
        };
        let holds =
            |(_, start, size): &&(SectionIndex, u64, u64)| address.wrapping_sub(*start) < *size;
        let (index, ..) = code.iter().find(holds)?;
        Some((place, (*index, address)))
    };
    Ok(places.zip(records).filter_map(entry).collect())
}

fn refuse_unlinked(kind: ObjectKind) -> Result<(), SymbolsError> {
    let kind = match kind {
        ObjectKind::Executable | ObjectKind::Dynamic => return Ok(()),
        ObjectKind::Relocatable => "an object file (.o or .ko)",
        ObjectKind::Core => "a memory dump",
        _ => "of an unknown ELF type",
    };
    Err(SymbolsError::NotLinked {
        kind: kind.to_owned(),
    })
}

/// The symbol, when it is one of text.
fn text_symbol<'data>(
    file: &File<'data>,
    symbol: &object::Symbol<'data, '_, Input<'data>>,
) -> object::Result<Option<Symbol>> {
    let kind = symbol.kind();
    let Some(section) = symbol.section_index() else {
        return Ok(None);
    };
    if !matches!(
        kind,
        SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown
    ) {
        return Ok(None);
    }
    let section = file.section_by_index(section)?;
    let name = symbol.name_bytes()?;
    if name.is_empty() || !executable(section.flags()) {
        return Ok(None);
    }
    Ok(Some(Symbol {
        name: String::from_utf8_lossy(name).into_owned(),
        address: symbol.address(),
        size: symbol.size(),
        section_end: section.address().saturating_add(section.size()),
        function: kind == SymbolKind::Text,
        guessed: false,
        weak: symbol.is_weak(),
        global: symbol.is_global(),
    }))
}

fn executable(flags: SectionFlags) -> bool {
    match flags {
        SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(object::elf::SHF_EXECINSTR),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
