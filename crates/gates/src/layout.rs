//! How a machine's object code is read: the data files `data/code/*.toml`.
//!
//! Each entry gives its reason and its source. What the tables leave out is
//! `other`: an instruction that neither branches nor reaches for the gate.

use std::collections::HashMap;
use std::sync::OnceLock;

use object::Architecture;
use serde::Deserialize;

use crate::built_in;
use crate::code::Role;
use crate::elf::ObjectError;

/// The machines, by the names that [`Layout::of`] gives the ELF architectures.
const BUILT_IN: &[(&str, &str)] = &[
    ("x86", include_str!("../../../data/code/x86.toml")),
    ("powerpc", include_str!("../../../data/code/powerpc.toml")),
    ("arm64", include_str!("../../../data/code/arm64.toml")),
    ("arm", include_str!("../../../data/code/arm.toml")),
    ("riscv", include_str!("../../../data/code/riscv.toml")),
];

const CALLS: &str = include_str!("../../../data/code/calls.toml");

/// A machine's tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// The kernel's name for it, `powerpc`.
    pub(crate) arch: String,
    /// Whether every access must stand in a window: not so where the machine
    /// has accesses of their own for user memory, or checks writes only.
    pub(crate) accesses_need_window: bool,
    /// Bits of a register's field.
    #[serde(default)]
    pub(crate) register_bits: u32,
    /// Where an instruction that no other entry knows may name a register that
    /// it writes: the lowest bit of each field.
    #[serde(default)]
    pub(crate) writes: Vec<u32>,
    /// Registers that a call leaves undefined, as a mask of their numbers.
    #[serde(default, deserialize_with = "hex")]
    pub(crate) call_clobbers: u32,
    /// The number of the stack pointer: what is loaded through it was put by,
    /// and may be anything.
    #[serde(default)]
    pub(crate) stack: u32,
    /// Static keys that are settled once, at boot: arrays of a CPU's features.
    #[serde(default)]
    pub(crate) settled_keys: Vec<String>,
    /// Sections that list code which a feature switches off, or where a fence
    /// is put in.
    #[serde(default, rename = "fixups")]
    pub(crate) fixups: Vec<FixupLayout>,
    pub(crate) faults: Option<FaultLayout>,
    pub(crate) alternatives: Option<AlternativeLayout>,
    #[serde(default, rename = "instruction")]
    pub(crate) instructions: Vec<Pattern>,
}

/// `__ex_table`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultLayout {
    /// Bytes of a record.
    pub(crate) size: usize,
    /// Whether it holds addresses (and not distances).
    pub(crate) absolute: bool,
    /// Where in it the type stands; without one every record is of user memory.
    pub(crate) kind_at: Option<usize>,
    #[serde(default)]
    user: Vec<FaultKind>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultKind {
    #[serde(deserialize_with = "hex")]
    value: u32,
    #[serde(deserialize_with = "hex")]
    mask: u32,
    /// Whether accesses to kernel memory have this type, too.
    #[serde(default)]
    kernel_too: bool,
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "reason")]
    _reason: String,
}

/// A section of records that point to code (`__mmu_ftr_fixup`).
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FixupLayout {
    pub(crate) section: String,
    /// Bytes of a field of 32-bit and of 64-bit files.
    pub(crate) width: [usize; 2],
    /// Fields of a record.
    pub(crate) fields: usize,
    /// Which field points to where the code begins.
    pub(crate) start: usize,
    /// Which to where it ends; none where it is one instruction.
    pub(crate) end: Option<usize>,
    /// Whether a fence is put in there.
    #[serde(default)]
    pub(crate) fence: bool,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// `.altinstructions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlternativeLayout {
    /// Bytes of a record.
    pub(crate) size: usize,
    pub(crate) feature_at: usize,
    pub(crate) flags_at: Option<usize>,
    pub(crate) lengths_at: usize,
    /// The bit of the feature that says that a function does the replacing.
    #[serde(default)]
    pub(crate) callback_bit: u16,
    /// The one of those functions that puts NOPs in.
    pub(crate) callback_nops: Option<String>,
    /// The features whose replacements are of the gate; any of them where the
    /// numbers are made by the build.
    #[serde(default, rename = "feature")]
    pub(crate) features: Vec<Feature>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// A feature of the CPU that decides over a replacement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Feature {
    pub(crate) number: u16,
    #[serde(rename = "name")]
    _name: String,
    /// The one replacement that is meant, where the feature has others.
    pub(crate) only: Option<String>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// What an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Opens the gate.
    Open,
    /// Closes it.
    Close,
    /// Opens or closes it: the value of a register decides.
    Write,
    /// Holds back speculation.
    Fence,
    /// Puts a value into a register that opens the gate.
    OpenValue,
    /// Puts a value into a register that closes it.
    CloseValue,
    /// Puts a value into a register that does neither.
    OtherValue,
    /// Loads a register from memory.
    Load,
    /// Puts a number into a register.
    Constant,
    /// Adds a number to a register.
    Add,
    /// Sets bits of a register.
    Or,
    /// Joins the bits of two registers; a copy where they are the same.
    OrRegister,
    /// Shifts a register to the left.
    ShiftLeft,
    /// Compares its register with 0.
    CompareZero,
    /// Copies a register and compares it with 0.
    CopyCompare,
    /// Writes no register that the tables follow.
    Reads,
    /// The same: it stores to memory.
    Store,
    /// The same: it does nothing, and may fill a gap.
    Padding,
    /// Puts something unknown into its register.
    Writes,
    Jump,
    Branch,
    Call,
    IndirectJump,
    IndirectCall,
    Return,
    /// Returns under a condition.
    ReturnIf,
    /// Nothing after it runs.
    Stop,
    /// A trap that the table of bugs may mark as a mere warning.
    Bug,
    /// The first of a pair that is one call or jump (riscv).
    Pair,
}

/// An instruction word.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pattern {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Bytes of the instruction.
    #[serde(default = "four")]
    pub(crate) width: u8,
    #[serde(deserialize_with = "hex")]
    pub(crate) value: u32,
    #[serde(deserialize_with = "hex")]
    pub(crate) mask: u32,
    /// Where it goes: pieces of the word as `[lowest bit, bits, weight of the
    /// lowest as a power of two]`, the first holding the sign.
    #[serde(default)]
    pub(crate) target: Vec<[u32; 3]>,
    /// Added to the distance.
    #[serde(default)]
    pub(crate) bias: i64,
    /// The lowest bit of the field of the register.
    #[serde(default)]
    pub(crate) register: u32,
    /// Whether that field has three bits and counts from register 8.
    #[serde(default)]
    pub(crate) short: bool,
    /// The same of the register that is read, or of the base of a load.
    #[serde(default)]
    pub(crate) from: u32,
    /// The same of the second one that is read.
    #[serde(default)]
    pub(crate) with: u32,
    /// The number in the word, in pieces as in `target`.
    #[serde(default)]
    pub(crate) number: Vec<[u32; 3]>,
    /// Whether the number is signed.
    #[serde(default)]
    pub(crate) signed: bool,
    /// Whether `from` 0 is the number 0 and no register.
    #[serde(default)]
    pub(crate) zero: bool,
    /// Values of the register that open, of a `write`.
    #[serde(default, deserialize_with = "hexes")]
    pub(crate) opens: Vec<u64>,
    /// Values that close.
    #[serde(default, deserialize_with = "hexes")]
    pub(crate) closes: Vec<u64>,
    /// Whether what comes from memory (not the stack) opens.
    #[serde(default)]
    pub(crate) memory_opens: bool,
    /// Bits of the value that keep reads out, and writes.
    #[serde(default, deserialize_with = "hex64")]
    pub(crate) blocks_reads: u64,
    #[serde(default, deserialize_with = "hex64")]
    pub(crate) blocks_writes: u64,
    /// Of a branch that asks whether the last comparison found 0: whether it is
    /// taken then.
    pub(crate) taken_on_zero: Option<bool>,
    /// Whether another constant is none of the gate's business.
    #[serde(default)]
    pub(crate) else_other: bool,
    /// Whether reads of user memory need the window, too.
    #[serde(default)]
    pub(crate) for_reads: bool,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

fn four() -> u8 {
    4
}

fn hex<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let text = String::deserialize(from)?;
    u32::from_str_radix(&text, 16).map_err(|_| {
        serde::de::Error::custom(format!(
            "`{text}` is no number of up to 8 hexadecimal digits"
        ))
    })
}

fn hex64<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    hex_digits(&String::deserialize(from)?)
}

fn hex_digits<E: serde::de::Error>(text: &str) -> Result<u64, E> {
    u64::from_str_radix(text, 16).map_err(|_| {
        E::custom(format!(
            "`{text}` is no number of up to 16 hexadecimal digits"
        ))
    })
}

fn hexes<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    let all = Vec::<String>::deserialize(from)?.into_iter();
    all.map(|text| hex_digits(&text)).collect()
}

impl Layout {
    /// The tables of an ELF architecture.
    ///
    /// # Errors
    /// When there are none.
    pub(crate) fn of(arch: Architecture) -> Result<&'static Self, ObjectError> {
        let name = match arch {
            Architecture::X86_64 | Architecture::I386 => "x86",
            Architecture::PowerPc | Architecture::PowerPc64 => "powerpc",
            Architecture::Aarch64 => "arm64",
            Architecture::Arm => "arm",
            Architecture::Riscv64 | Architecture::Riscv32 => "riscv",
            _ => "",
        };
        built_in::find(BUILT_IN, name).map_err(|known| ObjectError::Arch {
            arch: format!("{arch:?}"),
            known,
        })?;
        static READ: OnceLock<Read<Layout>> = OnceLock::new();
        let all = READ.get_or_init(|| {
            let tables = BUILT_IN.iter();
            tables.map(|(name, text)| (*name, parse(text))).collect()
        });
        read(all, name)
    }
}

/// Tables by the machine's name, read once.
type Read<T> = HashMap<&'static str, Result<T, ObjectError>>;

fn read<T>(all: &'static Read<T>, name: &str) -> Result<&'static T, ObjectError> {
    match all.get(name) {
        Some(table) => table.as_ref().map_err(Clone::clone),
        None => Err(ObjectError::Table(format!("no table for `{name}`"))),
    }
}

fn parse<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, ObjectError> {
    toml::from_str(text).map_err(|error| ObjectError::Table(error.to_string()))
}

impl FaultLayout {
    /// Whether a record of this type is of user memory alone; none where it is
    /// of none.
    pub(crate) fn is_user(&self, kind: u32) -> Option<bool> {
        if self.user.is_empty() {
            return Some(true);
        }
        let mut all = self.user.iter();
        let user = all.find(|user| kind & user.mask == user.value)?;
        Some(!user.kernel_too)
    }
}

impl Pattern {
    pub(crate) fn matches(&self, word: u32) -> bool {
        word & self.mask == self.value
    }

    /// The register's number in `word`.
    pub(crate) fn register_of(&self, word: u32, bits: u32) -> u32 {
        if self.short {
            return field(word, self.register, 3) + 8;
        }
        field(word, self.register, bits)
    }

    /// How far from itself the instruction goes, in bytes.
    pub(crate) fn distance(&self, word: u32) -> Option<i64> {
        let (first, _) = self.target.split_first()?;
        let unused = unused(*first);
        Some((gather(word, &self.target) << unused >> unused) + self.bias)
    }

    /// The number that the instruction holds, as the register's bits.
    pub(crate) fn number_of(&self, word: u32) -> u64 {
        let number = gather(word, &self.number);
        match self.number.first().filter(|_| self.signed) {
            Some(first) => (number << unused(*first) >> unused(*first)).cast_unsigned(),
            None => number.cast_unsigned(),
        }
    }
}

fn gather(word: u32, pieces: &[[u32; 3]]) -> i64 {
    pieces.iter().fold(0, |sum, [low, bits, weight]| {
        sum | i64::from(field(word, *low, *bits)) << weight.min(&32)
    })
}

/// The bits of 64 above the sign of a number whose first piece holds it.
fn unused([_, bits, weight]: [u32; 3]) -> u32 {
    64 - bits.saturating_add(weight).clamp(1, 63)
}

/// `bits` bits of `word` from `low` up.
pub(crate) fn field(word: u32, low: u32, bits: u32) -> u32 {
    let mask = 1_u32.checked_shl(bits).map_or(u32::MAX, |one| one - 1);
    word.checked_shr(low).unwrap_or(0) & mask
}

/// The functions that `gates` knows by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calls {
    hidden: Vec<Names>,
    allowed: Vec<Names>,
    kernel: Vec<Names>,
    noreturn: Vec<Names>,
    clobbers: Vec<Clobbers>,
    opens: Vec<Names>,
    closes: Vec<Names>,
    thunk: Vec<Thunk>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    names: Vec<String>,
    /// The one architecture that it is meant for; all where there is none.
    #[serde(default)]
    arch: Option<String>,
    #[serde(rename = "reason")]
    _reason: String,
    #[serde(rename = "source")]
    _source: String,
}

/// Functions in assembly that leave most registers alone.
#[derive(Debug, Deserialize)]
struct Clobbers {
    #[serde(flatten)]
    names: Names,
    /// Those that they do not, as a mask of their numbers.
    #[serde(deserialize_with = "hex")]
    registers: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thunk {
    #[serde(flatten)]
    names: Names,
    kind: ThunkKind,
}

/// What a jump to a thunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ThunkKind {
    /// The function's return.
    Return,
    /// A jump or a call through a register.
    Indirect,
}

impl Calls {
    /// # Errors
    /// When the data file cannot be read.
    pub(crate) fn built_in(arch: &str) -> Result<&'static Self, ObjectError> {
        static READ: OnceLock<Read<Calls>> = OnceLock::new();
        let all = READ.get_or_init(|| {
            let tables = BUILT_IN.iter();
            tables.map(|(name, _)| (*name, Self::of(name))).collect()
        });
        read(all, arch)
    }

    fn of(arch: &str) -> Result<Self, ObjectError> {
        let mut calls: Self = parse(CALLS)?;
        let all = [
            &mut calls.hidden,
            &mut calls.allowed,
            &mut calls.kernel,
            &mut calls.noreturn,
            &mut calls.opens,
            &mut calls.closes,
        ];
        calls.clobbers.retain(|entry| entry.names.is_of(arch));
        for names in all {
            names.retain(|names| names.is_of(arch));
        }
        Ok(calls)
    }

    /// What is known of a function by its name.
    pub(crate) fn role(&self, name: &str) -> Role {
        Role {
            hidden: self.hidden.iter().any(|names| names.holds(name)),
            noreturn: self.noreturn.iter().any(|names| names.holds(name)),
            thunk: self.thunk(name),
            clobbers: self.clobbers(name),
            opens: self.opens.iter().any(|names| names.holds(name)),
            closes: self.closes.iter().any(|names| names.holds(name)),
        }
    }

    /// A function whose accesses are of kernel memory, though its table of
    /// faults says user.
    pub(crate) fn is_kernel(&self, name: &str) -> bool {
        self.kernel.iter().any(|names| names.holds(name))
    }

    /// A function that may run with the window open.
    pub(crate) fn is_allowed(&self, name: &str) -> bool {
        self.allowed.iter().any(|names| names.holds(name))
    }

    fn clobbers(&self, name: &str) -> Option<u32> {
        let found = self.clobbers.iter().find(|entry| entry.names.holds(name));
        found.map(|entry| entry.registers)
    }

    /// A thunk that stands for another instruction.
    fn thunk(&self, name: &str) -> Option<ThunkKind> {
        let found = self.thunk.iter().find(|thunk| thunk.names.holds(name));
        found.map(|thunk| thunk.kind)
    }
}

impl Names {
    fn is_of(&self, arch: &str) -> bool {
        self.arch.as_deref().is_none_or(|only| only == arch)
    }

    /// A `*` at the end stands for any rest.
    fn holds(&self, name: &str) -> bool {
        self.names
            .iter()
            .any(|known| match known.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == known,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_reads_and_gives_reasons() {
        for (name, text) in BUILT_IN {
            let layout: Layout = parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            for entry in &layout.instructions {
                assert!(!entry._reason.is_empty(), "{name}: {}", entry.name);
                assert!(!entry._source.is_empty(), "{name}: {}", entry.name);
                assert_eq!(entry.value & !entry.mask, 0, "{name}: {}", entry.name);
            }
        }
        let calls: Calls = parse(CALLS).unwrap();
        let thunks = calls.thunk.iter().map(|thunk| &thunk.names);
        let all = calls
            .hidden
            .iter()
            .chain(&calls.allowed)
            .chain(&calls.kernel)
            .chain(&calls.opens)
            .chain(&calls.closes)
            .chain(calls.clobbers.iter().map(|entry| &entry.names));
        for names in all.chain(&calls.noreturn).chain(thunks) {
            assert!(!names._reason.is_empty() && !names._source.is_empty());
        }
    }

    #[test]
    fn a_distance_is_signed() {
        let layout = Layout::of(Architecture::PowerPc).unwrap();
        let jump = layout.instructions.iter().find(|p| p.name == "b").unwrap();
        assert_eq!(jump.distance(0x4800_0008), Some(8));
        assert_eq!(jump.distance(0x4bff_fff8), Some(-8));
    }
}
