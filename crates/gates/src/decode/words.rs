//! Machines whose instructions have two or four bytes, by tables.

use super::{Destination, Direction, Flow, Gate, Instruction, Origin};
use crate::code_tables::{CodeTables, Kind, Pattern, field};
use crate::elf::{ElfFile, Place};
use crate::values::{Operation, Value};
use tollgate_defect::answer;

pub(crate) fn decode(
    image: &ElfFile<'_>,
    layout: &CodeTables,
    at: Place,
    bytes: &[u8],
    out: &mut Vec<Instruction>,
) {
    let mut from = 0;
    // A far call is two instructions; the first has the relocation.
    let mut pair: Option<Pair> = None;
    while let Some((word, width)) = word(layout, image.little_endian(), bytes.get(from..)) {
        let here = Place {
            section: at.section,
            address: at.address.wrapping_add(from as u64),
        };
        let found = find(layout, word, width);
        let pattern = found.map(|(_, pattern)| pattern);
        let flow = flow(image, pattern, word, here, pair, layout.register_bits);
        pair = pattern
            .filter(|p| p.kind == Kind::Pair)
            .and_then(|pattern| {
                Some(Pair {
                    at: here,
                    distance: pattern.distance(word)?,
                    register: pattern.register_of(word, layout.register_bits),
                })
            });
        out.push(Instruction {
            at: here,
            length: width,
            gate: gate(layout, found, word),
            flow,
            patched: false,
            operation: operation(layout, pattern, word),
            padding: pattern.is_some_and(|pattern| pattern.kind == Kind::Padding),
            moves: pattern.and_then(|pattern| moves(pattern.kind)),
            keeps_out: None,
            origin: Origin::Own,
        });
        from += usize::from(width);
    }
}

/// The first of two instructions that are one call or jump.
#[derive(Clone, Copy)]
struct Pair {
    at: Place,
    /// How far it goes.
    distance: i64,
    /// The register that has the sum.
    register: u32,
}

fn find(layout: &CodeTables, word: u32, width: u8) -> Option<(usize, &Pattern)> {
    let mut all = layout.instructions.iter().enumerate();
    all.find(|(_, pattern)| pattern.width == width && pattern.matches(word))
}

/// The next word and its bytes; two where the machine has short ones.
fn word(layout: &CodeTables, little: bool, bytes: Option<&[u8]>) -> Option<(u32, u8)> {
    let bytes = bytes?;
    let half = bytes.first_chunk::<2>()?;
    let short = layout.instructions.iter().any(|pattern| pattern.width == 2);
    if short && half[0] & 3 != 3 {
        return Some((u32::from(u16::from_le_bytes(*half)), 2));
    }
    let four = *bytes.first_chunk::<4>()?;
    Some((
        if little {
            u32::from_le_bytes(four)
        } else {
            u32::from_be_bytes(four)
        },
        4,
    ))
}

fn gate(layout: &CodeTables, found: Option<(usize, &Pattern)>, word: u32) -> Gate {
    let Some((index, pattern)) = found else {
        return Gate::No;
    };
    match pattern.kind {
        Kind::Open => Gate::Open,
        Kind::Close => Gate::Close,
        Kind::Fence => Gate::Fence,
        Kind::Save => Gate::PushFlags,
        Kind::Write => Gate::Write {
            register: narrow(pattern.register_of(word, layout.register_bits)),
            pattern: answer::fits::<u16, _>(index).unwrap_or(u16::MAX),
        },
        _ => Gate::No,
    }
}

fn moves(kind: Kind) -> Option<Direction> {
    match kind {
        Kind::Load => Some(Direction::Read),
        Kind::Store => Some(Direction::Write),
        _ => None,
    }
}

fn narrow(register: u32) -> u8 {
    answer::fits::<u8, _>(register).unwrap_or(u8::MAX)
}

fn operation(layout: &CodeTables, pattern: Option<&Pattern>, word: u32) -> Operation {
    let of = |low: u32| narrow(field(word, low, layout.register_bits));
    let lose = |fields: &[u32]| {
        let bits = fields
            .iter()
            .map(|low| 1_u32.checked_shl(of(*low).into()).unwrap_or(0));
        Operation::Lose(bits.fold(0, |mask, bit| mask | bit))
    };
    let Some(pattern) = pattern else {
        return lose(&layout.writes);
    };
    let (to, from, number) = (
        narrow(pattern.register_of(word, layout.register_bits)),
        of(pattern.from),
        pattern.number_of(word),
    );
    match pattern.kind {
        Kind::Save => Operation::Set(to, Value::State),
        Kind::OpenValue => Operation::Set(to, Value::Opens),
        Kind::CloseValue => Operation::Set(to, Value::Closes),
        Kind::OtherValue => Operation::Set(to, Value::Neither),
        Kind::Constant => Operation::Set(to, Value::Number(number)),
        Kind::Load if u32::from(from) == layout.stack => Operation::Set(to, Value::Lost),
        Kind::Load => Operation::Set(to, Value::Memory(0)),
        Kind::Add if pattern.zero && from == 0 => Operation::Set(to, Value::Number(number)),
        Kind::Add => Operation::Add { to, from, number },
        Kind::Or => Operation::Or { to, from, number },
        Kind::OrRegister => Operation::OrRegister {
            to,
            from,
            with: of(pattern.with),
        },
        Kind::ShiftLeft => Operation::ShiftLeft { to, from, number },
        Kind::Rotate | Kind::RotateInsert => Operation::Rotate {
            to,
            from,
            number,
            kept: pattern.kept(word),
            insert: pattern.kind == Kind::RotateInsert,
        },
        Kind::CompareZero => Operation::Compare { to, from: to },
        Kind::CopyCompare => Operation::Compare { to, from },
        Kind::Branch => pattern
            .taken_on_zero
            .map_or(Operation::Nothing, |taken| Operation::Test { taken }),
        Kind::Call | Kind::IndirectCall => Operation::Lose(layout.call_clobbers),
        Kind::Pair | Kind::Writes => Operation::Set(to, Value::Lost),
        _ => Operation::Nothing,
    }
}

fn flow(
    image: &ElfFile<'_>,
    pattern: Option<&Pattern>,
    word: u32,
    at: Place,
    pair: Option<Pair>,
    register_bits: u32,
) -> Flow {
    let Some(pattern) = pattern else {
        return Flow::Next;
    };
    let to = || destination(image, pattern, word, at);
    let far = || {
        let pair = pair?;
        if !image.relocatable {
            let register = field(word, pattern.from, register_bits);
            let rest = pattern
                .distance(word)
                .filter(|_| register == pair.register)?;
            let address = pair.at.address.wrapping_add_signed(pair.distance + rest);
            return Some(Destination {
                place: Some(image.place_of(address)?),
                reference: None,
            });
        }
        let reference = image.relocations.at(pair.at)?;
        Some(Destination {
            place: reference.target(0, 0),
            reference: Some(reference),
        })
    };
    match pattern.kind {
        Kind::Jump => Flow::Jump(to()),
        Kind::Branch => Flow::Branch(to()),
        Kind::Call => Flow::Call(to()),
        Kind::IndirectCall => far().map_or(Flow::IndirectCall, Flow::Call),
        Kind::IndirectJump => far().map_or(Flow::IndirectJump, Flow::Jump),
        Kind::Return => Flow::Return,
        Kind::ReturnIf => Flow::ReturnIf,
        Kind::Stop => Flow::Stop,
        Kind::Bug => Flow::Bug,
        _ => Flow::Next,
    }
}

/// By relocation in an object file, else by the distance. Where the relocated
/// word itself holds the addend (arm), that is the distance less the symbol.
fn destination(image: &ElfFile<'_>, pattern: &Pattern, word: u32, at: Place) -> Destination {
    let distance = pattern.distance(word);
    if let Some(reference) = image.relocations.at(at) {
        return Destination {
            place: distance.and_then(|distance| reference.target(distance, 0)),
            reference: Some(reference),
        };
    }
    let Some(distance) = distance else {
        return Destination {
            place: None,
            reference: None,
        };
    };
    let address = at.address.wrapping_add_signed(distance);
    let place = if image.relocatable {
        Some(Place {
            section: at.section,
            address,
        })
    } else {
        let wide = object::Object::is_64(&image.file);
        image.place_of(if wide { address } else { address & 0xffff_ffff })
    };
    Destination {
        place,
        reference: None,
    }
}

/// The word, with the name that the tables give it.
pub(crate) fn text(layout: &CodeTables, little: bool, bytes: &[u8]) -> String {
    let Some((word, width)) = word(layout, little, Some(bytes)) else {
        return "(cut off)".to_owned();
    };
    let digits = usize::from(width) * 2;
    match find(layout, word, width)
        .filter(|(_, pattern)| !matches!(pattern.kind, Kind::Reads | Kind::Writes))
    {
        Some((_, pattern)) => format!("{word:0digits$x}  {}", pattern.name),
        None => format!("{word:0digits$x}"),
    }
}
