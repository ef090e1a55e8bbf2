//! How a machine's object code is read: the data files `data/code/*.toml`.
//!
//! Each entry gives its reason and its source. What the tables leave out is
//! `other`: an instruction that neither branches nor reaches for the gate.

use serde::Deserialize;

use crate::data::{hex, hex64, hexes};
use crate::records::{AlternativeTable, FaultTable, FixupTable};

/// A machine's tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeTables {
    /// Whether every access must stand in a window: not so where the machine
    /// has accesses of their own for user memory, or checks writes only.
    pub(crate) accesses_need_window: bool,
    /// Whether code that is no function is followed where a function jumps to
    /// it.
    #[serde(default)]
    pub(crate) shares_tails: bool,
    /// Whether the table of a switch is found, so that another jump through a
    /// register leaves the function.
    #[serde(default)]
    pub(crate) finds_tables: bool,
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
    pub(crate) fixups: Vec<FixupTable>,
    pub(crate) faults: Option<FaultTable>,
    pub(crate) alternatives: Option<AlternativeTable>,
    #[serde(default, rename = "instruction")]
    pub(crate) instructions: Vec<Pattern>,
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
    /// Puts the gate's own value into a register, from which it may be taken back.
    Save,
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
    /// Rotates 64 bits of a register to the left, and keeps some of them.
    Rotate,
    /// The same, and the other bits are those that the register has.
    RotateInsert,
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
    /// Of a rotation: the first bit that is kept, counted from the highest, in
    /// pieces as in `target`; 0 where none is given.
    #[serde(default)]
    pub(crate) first: Vec<[u32; 3]>,
    /// The last one; where none is given, 63, or with `down_to_shift` as many less
    /// as the word is rotated by.
    #[serde(default)]
    pub(crate) last: Vec<[u32; 3]>,
    #[serde(default)]
    pub(crate) down_to_shift: bool,
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

impl CodeTables {
    /// An entry that the decoder could make nothing of.
    pub(crate) fn fault(&self) -> Option<String> {
        let goes = |kind| matches!(kind, Kind::Jump | Kind::Branch | Kind::Call);
        let mut all = self.instructions.iter();
        let aimless = all.find(|entry| goes(entry.kind) && entry.target.is_empty())?;
        let name = &aimless.name;
        Some(format!(
            "`{name}` goes somewhere, and its `target` does not say where"
        ))
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

    /// The bits that a rotation keeps.
    pub(crate) fn kept(&self, word: u32) -> u64 {
        let piece = |pieces: &[[u32; 3]]| gather(word, pieces).cast_unsigned() & 63;
        let first = piece(&self.first);
        let last = match (self.last.is_empty(), self.down_to_shift) {
            (false, _) => piece(&self.last),
            (true, true) => 63 - (self.number_of(word) & 63),
            (true, false) => 63,
        };
        let (from, upto) = (u64::MAX >> first, u64::MAX << (63 - last));
        // Where the last stands before the first, the bits go around.
        match first <= last {
            true => from & upto,
            false => from | upto,
        }
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

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn every_table_reads_and_gives_reasons() {
        for (name, layout) in crate::tables::layouts() {
            for entry in &layout.instructions {
                assert!(!entry._reason.is_empty(), "{name}: {}", entry.name);
                assert!(!entry._source.is_empty(), "{name}: {}", entry.name);
                assert_eq!(entry.value & !entry.mask, 0, "{name}: {}", entry.name);
                let leads = matches!(
                    entry.kind,
                    Kind::Jump | Kind::Branch | Kind::Call | Kind::Pair
                );
                let goes = entry.distance(entry.value).is_some();
                assert!(goes || !leads, "{name}: where does {} go?", entry.name);
            }
        }
    }

    #[test]
    fn a_distance_is_signed() {
        let mut all = crate::tables::layouts().into_iter();
        let layout = all.find(|(name, _)| *name == "powerpc").unwrap().1;
        let jump = layout.instructions.iter().find(|p| p.name == "b").unwrap();
        assert_eq!(jump.distance(0x4800_0008), Some(8));
        assert_eq!(jump.distance(0x4bff_fff8), Some(-8));
    }
}
