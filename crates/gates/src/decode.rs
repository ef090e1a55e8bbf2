//! Bytes to instructions, as far as the gate and the flow of control go.

mod effects;
mod words;
mod x86;

pub(crate) use effects::{Comparison, Effect, Memory};

use crate::code_tables::CodeTables;
use crate::elf::{ElfFile, Place, Reference};
use crate::error::ObjectError;
use crate::opcodes::Opcodes;
use crate::tables::Found;
use crate::values::Operation;

/// One instruction, where the running kernel has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    pub(crate) at: Place,
    /// Its length in bytes.
    pub(crate) length: u8,
    pub(crate) gate: Gate,
    pub(crate) flow: Flow,
    /// Whether the kernel patches it in at boot.
    pub(crate) patched: bool,
    /// What it does to the registers of fixed-width machines.
    pub(crate) operation: Operation,
    /// Whether it does nothing, and may stand in a gap between two blocks.
    pub(crate) padding: bool,
    /// Which way it moves data, where that is known.
    pub(crate) moves: Option<Direction>,
    /// The accesses that an opening keeps out.
    pub(crate) keeps_out: Option<Direction>,
    /// Whose it is, in the body of a function.
    pub(crate) origin: Origin,
}

/// Whose an instruction is that a function runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The function's.
    #[default]
    Own,
    /// No symbol's.
    Unnamed,
    /// A bare label's, or another function's.
    Other,
    /// A replacement's, that the function may have in place of its own.
    Put,
}

/// Which way an access to user memory goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    /// From user memory.
    Read,
    /// To it.
    Write,
}

/// What an instruction does to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    No,
    Open,
    Close,
    /// Opens or closes by the value of a register, as this entry of the tables
    /// says.
    Write {
        register: u8,
        pattern: u16,
    },
    /// Writes the gate; which way cannot be told.
    Unknown,
    Fence,
    /// Puts the gate's state by (`pushf`).
    Save,
    /// Takes it back (`popf`).
    Restore,
    /// Puts all flags by, the gate's state among them, for another reason; or the
    /// value of the gate's register.
    PushFlags,
    /// Takes them back.
    PopFlags,
    /// Opens the way to low memory of the kernel's own (LASS).
    OpenKernel,
    /// Closes it.
    CloseKernel,
    /// Makes string instructions go downwards (`std`).
    Downwards,
    /// Makes them go upwards again (`cld`), as all other code expects.
    Upwards,
    /// Leaves the kernel, or an exception, with the flags of where that came from.
    OthersFlags,
}

impl Gate {
    /// Of code that is not the gate's: what saves flags there saves interrupts.
    pub(crate) fn of_flags(self) -> Self {
        match self {
            Self::Save => Self::PushFlags,
            Self::Restore => Self::PopFlags,
            other => other,
        }
    }
}

/// Where control goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flow {
    Next,
    Branch(Destination),
    Jump(Destination),
    Call(Destination),
    IndirectCall,
    IndirectJump,
    /// Jumps to where an entry of a table points.
    Switch(Place),
    Return,
    ReturnIf,
    /// Nothing after it runs.
    Stop,
    /// A trap: the table of bugs says whether it is a mere warning.
    Bug,
}

/// Where a jump or call goes: into this file, or to a symbol of another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Destination {
    pub(crate) place: Option<Place>,
    pub(crate) reference: Option<Reference>,
}

/// What decodes the code of one file.
pub(crate) enum Decoder {
    X86 {
        bits: u32,
        opcodes: &'static Opcodes,
    },
    Words,
}

impl Decoder {
    /// # Errors
    /// When the table of opcodes cannot be read.
    pub(crate) fn of(found: Found) -> Result<Self, ObjectError> {
        match found.machine.decoder {
            tollgate_arch::Decoder::Words => Ok(Self::Words),
            tollgate_arch::Decoder::Iced => Ok(Self::X86 {
                bits: found.class.into(),
                opcodes: found.opcodes()?,
            }),
        }
    }

    /// Decodes `bytes`, which stand at `at`.
    pub(crate) fn decode(
        &self,
        image: &ElfFile<'_>,
        layout: &CodeTables,
        at: Place,
        bytes: &[u8],
        out: &mut Vec<Instruction>,
    ) {
        match self {
            Self::X86 { bits, opcodes } => x86::decode(image, opcodes, *bits, at, bytes, out),
            Self::Words => words::decode(image, layout, at, bytes, out),
        }
    }

    /// What an instruction changes; none where the machine's are not known so well.
    pub(crate) fn effect(&self, bytes: &[u8]) -> Option<Effect> {
        match self {
            Self::X86 { bits, .. } => Some(effects::effect(*bits, bytes)),
            Self::Words => None,
        }
    }

    /// What a branch asks, as a number, and whether it jumps where that holds.
    pub(crate) fn asked(&self, bytes: &[u8]) -> Option<(u8, bool)> {
        match self {
            Self::X86 { bits, .. } => effects::asked(*bits, bytes),
            Self::Words => None,
        }
    }

    /// What a comparison asks, as if it stood at an address.
    pub(crate) fn comparison(&self, at: u64, bytes: &[u8]) -> Option<Comparison> {
        match self {
            Self::X86 { bits, .. } => effects::comparison(*bits, at, bytes),
            Self::Words => None,
        }
    }

    /// An instruction for people.
    pub(crate) fn text(&self, layout: &CodeTables, little: bool, at: u64, bytes: &[u8]) -> String {
        match self {
            Self::X86 { bits, .. } => x86::text(*bits, at, bytes),
            Self::Words => words::text(layout, little, bytes),
        }
    }
}
