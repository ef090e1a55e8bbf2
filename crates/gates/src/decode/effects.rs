//! What an instruction of x86 reads and writes, as far as a condition asks that
//! is tested more than once.

use iced_x86::{
    ConditionCode, DecoderOptions, Formatter as _, GasFormatter, InstructionInfoFactory, Mnemonic,
    OpAccess, OpKind, Register, UsedMemory,
};

/// What an instruction changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effect {
    /// General registers, a bit each.
    pub(crate) registers: u32,
    /// Whether it changes the flags that branches ask.
    pub(crate) flags: bool,
    /// The memory that it writes.
    pub(crate) memory: Memory,
    /// Whether it takes an address in the frame.
    pub(crate) escapes: bool,
}

/// Memory that is written, or that a condition asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Memory {
    /// None.
    #[default]
    None,
    /// A place of the frame: its distance from the register, and its bytes.
    Slot { base: u32, at: i64, bytes: i64 },
    /// Any.
    Any,
}

/// A comparison: what it asks, as text that is the same for the same question, and
/// what the answer hangs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    pub(crate) text: String,
    pub(crate) registers: u32,
    pub(crate) memory: Memory,
}

/// What a branch asks of the flags, by an even number, and whether it is taken
/// where that holds.
pub(crate) fn asked(bits: u32, bytes: &[u8]) -> Option<(u8, bool)> {
    let of = |code: ConditionCode| code as u8;
    match decode(bits, 0, bytes).condition_code() {
        ConditionCode::None => None,
        // Each stands next to its contrary.
        code => Some(((of(code) - 1) / 2, (of(code) - 1) % 2 == 1)),
    }
}

/// What an instruction changes.
pub(crate) fn effect(bits: u32, bytes: &[u8]) -> Effect {
    let instruction = decode(bits, 0, bytes);
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(&instruction);
    let written = info.used_registers().iter().filter(|r| writes(r.access()));
    let registers = written.fold(0, |mask, used| mask | bit(used.register()));
    let memory = info.used_memory().iter().filter(|m| writes(m.access()));
    let memory = memory.fold(Memory::None, |sum, one| match (sum, place(one)) {
        (Memory::None, one) => one,
        _ => Memory::Any,
    });
    let leads = instruction.mnemonic() == Mnemonic::Lea;
    Effect {
        registers,
        flags: instruction.rflags_modified() != 0,
        memory,
        escapes: leads && base_of_frame(instruction.memory_base()),
    }
}

/// What a comparison asks; none where the instruction is another.
pub(crate) fn comparison(bits: u32, at: u64, bytes: &[u8]) -> Option<Comparison> {
    let instruction = decode(bits, at, bytes);
    if !matches!(instruction.mnemonic(), Mnemonic::Cmp | Mnemonic::Test) {
        return None;
    }
    let mut factory = InstructionInfoFactory::new();
    let info = factory.info(&instruction);
    let read = info.used_registers().iter();
    let registers = read.fold(0, |mask, used| mask | bit(used.register()));
    let memory = info.used_memory().iter();
    let memory = memory.fold(Memory::None, |sum, one| match (sum, place(one)) {
        (Memory::None, one) => one,
        _ => Memory::Any,
    });
    Some(Comparison {
        text: text(&instruction),
        registers,
        memory,
    })
}

/// The same for the same question: `cmp $0,%eax` asks what `test %eax,%eax` does.
fn text(instruction: &iced_x86::Instruction) -> String {
    let with_zero = instruction.mnemonic() == Mnemonic::Cmp
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() != OpKind::Register
        && instruction.op1_kind() != OpKind::Memory
        && instruction.immediate(1) == 0;
    let same = instruction.mnemonic() == Mnemonic::Test
        && instruction.op0_kind() == OpKind::Register
        && instruction.op1_kind() == OpKind::Register
        && instruction.op0_register() == instruction.op1_register();
    if with_zero || same {
        return format!("zero {:?}", instruction.op0_register());
    }
    let mut text = String::new();
    GasFormatter::new().format(instruction, &mut text);
    text
}

fn decode(bits: u32, at: u64, bytes: &[u8]) -> iced_x86::Instruction {
    let mut decoder = iced_x86::Decoder::with_ip(bits, bytes, at, DecoderOptions::NONE);
    decoder.decode()
}

fn writes(access: OpAccess) -> bool {
    !matches!(
        access,
        OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
    )
}

fn bit(register: Register) -> u32 {
    match register.is_gpr() {
        true => 1_u32.checked_shl(register.number() as u32).unwrap_or(0),
        false => 0,
    }
}

fn base_of_frame(register: Register) -> bool {
    matches!(register.full_register(), Register::RSP | Register::RBP)
}

fn place(used: &UsedMemory) -> Memory {
    let plain = base_of_frame(used.base()) && used.index() == Register::None;
    let bytes = used.memory_size().size();
    match plain && bytes > 0 {
        true => Memory::Slot {
            base: bit(used.base()),
            at: used.displacement().cast_signed(),
            bytes: bytes as i64,
        },
        false => Memory::Any,
    }
}

impl Memory {
    /// Whether a write of the other may change what this one holds.
    pub(crate) fn meets(self, other: Self, escapes: bool) -> bool {
        match (self, other) {
            (Self::None, _) | (_, Self::None) => false,
            (
                Self::Slot { base, at, bytes },
                Self::Slot {
                    base: b,
                    at: a,
                    bytes: n,
                },
            ) => base != b || at < a.saturating_add(n) && a < at.saturating_add(bytes),
            (Self::Slot { .. }, Self::Any) => escapes,
            (Self::Any, _) => true,
        }
    }
}
