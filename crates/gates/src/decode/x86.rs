//! x86, by iced-x86.

use iced_x86::{Code, DecoderOptions, FlowControl, Formatter, GasFormatter, Mnemonic, Register};
use tollgate_defect::answer;

use super::{Destination, Flow, Gate, Instruction, Origin};
use crate::elf::{ElfFile, Place};
use crate::opcodes::{Meaning, Opcodes};
use crate::values::Operation;

pub(crate) fn decode(
    image: &ElfFile<'_>,
    opcodes: &Opcodes,
    bits: u32,
    at: Place,
    bytes: &[u8],
    out: &mut Vec<Instruction>,
) {
    let mut decoder = iced_x86::Decoder::with_ip(bits, bytes, at.address, DecoderOptions::NONE);
    let mut instruction = iced_x86::Instruction::default();
    while decoder.can_decode() {
        let from = decoder.position();
        decoder.decode_out(&mut instruction);
        let raw = bytes.get(from..decoder.position()).unwrap_or_default();
        let here = Place {
            section: at.section,
            address: at.address.wrapping_add(from as u64),
        };
        let mut flow = flow(image, &instruction, here, raw);
        if matches!(flow, Flow::IndirectJump) {
            let before = bytes.get(..from).unwrap_or_default();
            let table = recent_table(image, bits, at, before, out);
            flow = table.map_or(flow, Flow::Switch);
        }
        out.push(Instruction {
            at: here,
            length: answer::fits::<u8, _>(raw.len()).unwrap_or(u8::MAX),
            gate: gate(opcodes, &instruction, raw),
            flow,
            patched: false,
            operation: Operation::Nothing,
            padding: instruction.mnemonic() == Mnemonic::Nop,
            moves: None,
            keeps_out: None,
            origin: Origin::Own,
        });
    }
}

fn gate(opcodes: &Opcodes, instruction: &iced_x86::Instruction, raw: &[u8]) -> Gate {
    match instruction.code() {
        Code::Pushfq | Code::Pushfd => Gate::Save,
        Code::Popfq | Code::Popfd => Gate::Restore,
        Code::Std => Gate::Downwards,
        Code::Cld => Gate::Upwards,
        Code::Iretd | Code::Iretq | Code::Sysretd | Code::Sysretq | Code::Erets | Code::Eretu => {
            Gate::OthersFlags
        }
        // Only these have three bytes that begin with 0f.
        _ if raw.len() == 3 && raw.first() == Some(&0x0f) => match opcodes.meaning(raw) {
            Meaning::Open => Gate::Open,
            Meaning::Close => Gate::Close,
            Meaning::Fence => Gate::Fence,
            _ => Gate::No,
        },
        _ => Gate::No,
    }
}

fn flow(image: &ElfFile<'_>, instruction: &iced_x86::Instruction, at: Place, raw: &[u8]) -> Flow {
    let to = || destination(image, instruction, at, raw);
    match instruction.flow_control() {
        FlowControl::UnconditionalBranch => Flow::Jump(to()),
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => Flow::Branch(to()),
        FlowControl::Call if instruction.is_call_near() => Flow::Call(to()),
        FlowControl::IndirectCall => Flow::IndirectCall,
        FlowControl::IndirectBranch => {
            table(image, instruction, at, raw).map_or(Flow::IndirectJump, Flow::Switch)
        }
        FlowControl::Return => Flow::Return,
        FlowControl::Interrupt if raw == [0xcc] => Flow::Stop,
        FlowControl::Exception if instruction.code() == Code::INVALID => Flow::Stop,
        FlowControl::Exception => Flow::Bug,
        _ => Flow::Next,
    }
}

/// By relocation in an object file (the displacement is the last field of the
/// instruction), else by the distance.
fn destination(
    image: &ElfFile<'_>,
    instruction: &iced_x86::Instruction,
    at: Place,
    raw: &[u8],
) -> Destination {
    let next = at.address.wrapping_add(raw.len() as u64);
    let field = |width: u64| Place {
        section: at.section,
        address: next.wrapping_sub(width),
    };
    let relocated = |width: u64| Some((image.relocations.at(field(width))?, width));
    let found = image
        .relocatable
        .then(|| [4, 1].into_iter().find_map(relocated));
    if let Some((reference, width)) = found.flatten() {
        let distance = instruction.near_branch_target().wrapping_sub(next);
        let implicit = distance.cast_signed();
        return Destination {
            place: reference.target(implicit, width),
            reference: Some(reference),
        };
    }
    let address = instruction.near_branch_target();
    let place = if image.relocatable {
        Some(Place {
            section: at.section,
            address,
        })
    } else {
        image.place_of(address)
    };
    Destination {
        place,
        reference: None,
    }
}

/// The table of `jmp *table(,%rax,8)`.
fn table(
    image: &ElfFile<'_>,
    instruction: &iced_x86::Instruction,
    at: Place,
    raw: &[u8],
) -> Option<Place> {
    let scaled =
        instruction.memory_base() == Register::None && instruction.memory_index() != Register::None;
    if !scaled {
        return None;
    }
    if !image.relocatable {
        return image.data_place_of(instruction.memory_displacement64());
    }
    let field = Place {
        section: at.section,
        address: at.address.wrapping_add(raw.len() as u64).wrapping_sub(4),
    };
    let implicit = instruction.memory_displacement64().cast_signed();
    image.relocations.at(field)?.target(implicit, 0)
}

/// How many instructions before a jump through a register its table is looked for.
const NEAR: usize = 40;

/// The table that the code before a jump through a register last named: its entry
/// is loaded first (`mov table(,%rax,8),%rax`), or the table's address is.
fn recent_table(
    image: &ElfFile<'_>,
    bits: u32,
    start: Place,
    before: &[u8],
    decoded: &[Instruction],
) -> Option<Place> {
    let own = decoded.iter().rev().take(NEAR);
    let own = own.take_while(|i| i.at.section == start.section && i.at >= start);
    let mut own = own.take_while(|i| !matches!(i.flow, Flow::Switch(_) | Flow::IndirectJump));
    own.find_map(|instruction| {
        let from = instruction.at.address.checked_sub(start.address)?;
        let raw = before.get(answer::fits::<usize, _>(from)?..)?;
        let raw = raw.get(..usize::from(instruction.length))?;
        constant(image, bits, instruction.at, raw)
    })
}

/// The place among constants that an instruction names.
fn constant(image: &ElfFile<'_>, bits: u32, at: Place, raw: &[u8]) -> Option<Place> {
    let mut decoder = iced_x86::Decoder::with_ip(bits, raw, at.address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if instruction.flow_control() != FlowControl::Next {
        return None;
    }
    let fields = decoder.get_constant_offsets(&instruction);
    let relative = instruction.is_ip_rel_memory_operand();
    let (offset, value) = if fields.has_displacement() {
        (
            fields.displacement_offset(),
            instruction.memory_displacement64(),
        )
    } else if fields.has_immediate() {
        (fields.immediate_offset(), instruction.immediate64())
    } else {
        return None;
    };
    if !image.relocatable {
        return image.data_place_of(value);
    }
    let address = at.address.wrapping_add(offset as u64);
    let reference = image.relocations.at(Place { address, ..at })?;
    let rest = raw.len().checked_sub(offset)?;
    let (implicit, bias) = match relative {
        true => (0, rest as u64),
        false => (value.cast_signed(), 0),
    };
    let place = reference.target(implicit, bias)?;
    image.is_constant(place).then_some(place)
}

/// The instruction in AT&T syntax.
pub(crate) fn text(bits: u32, at: u64, bytes: &[u8]) -> String {
    let mut decoder = iced_x86::Decoder::with_ip(bits, bytes, at, DecoderOptions::NONE);
    let mut formatter = GasFormatter::new();
    formatter
        .options_mut()
        .set_small_hex_numbers_in_decimal(false);
    formatter.options_mut().set_branch_leading_zeros(false);
    formatter.options_mut().set_uppercase_hex(false);
    let mut text = String::new();
    formatter.format(&decoder.decode(), &mut text);
    text
}
