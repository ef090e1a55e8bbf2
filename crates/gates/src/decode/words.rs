//! Machines whose instructions have two or four bytes, by tables.

use super::{Destination, Effect, Flow, Gate, Instruction};
use crate::elf::{Image, Place};
use crate::layout::{Kind, Layout, Pattern, field};

pub(crate) fn decode(
    image: &Image<'_>,
    layout: &Layout,
    at: Place,
    bytes: &[u8],
    out: &mut Vec<Instruction>,
) {
    let mut from = 0;
    // A far call is two instructions; the first has the relocation.
    let mut pair: Option<Place> = None;
    while let Some((word, width)) = word(layout, image.little_endian(), bytes.get(from..)) {
        let here = Place {
            section: at.section,
            address: at.address.wrapping_add(from as u64),
        };
        let pattern = find(layout, word, width);
        let flow = flow(image, pattern, word, here, pair);
        pair = pattern.filter(|p| p.kind == Kind::Pair).map(|_| here);
        out.push(Instruction {
            at: here,
            length: width,
            gate: gate(layout, pattern, word),
            flow,
            patched: false,
            values: effect(layout, pattern, word),
        });
        from += usize::from(width);
    }
}

fn find(layout: &Layout, word: u32, width: u8) -> Option<&Pattern> {
    let mut all = layout.instructions.iter();
    all.find(|pattern| pattern.width == width && pattern.matches(word))
}

/// The next word and its bytes; two where the machine has short ones.
fn word(layout: &Layout, little: bool, bytes: Option<&[u8]>) -> Option<(u32, u8)> {
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

fn gate(layout: &Layout, pattern: Option<&Pattern>, word: u32) -> Gate {
    match pattern.map(|pattern| (pattern.kind, pattern)) {
        Some((Kind::Open, _)) => Gate::Open,
        Some((Kind::Close, _)) => Gate::Close,
        Some((Kind::Fence, _)) => Gate::Fence,
        Some((Kind::Write, pattern)) => {
            let register = pattern.register_of(word, layout.register_bits);
            Gate::Write(u8::try_from(register).unwrap_or_default())
        }
        _ => Gate::No,
    }
}

fn effect(layout: &Layout, pattern: Option<&Pattern>, word: u32) -> Effect {
    let bit = |register: u32| 1_u32.checked_shl(register).unwrap_or(0);
    let of = |pattern: &Pattern| bit(pattern.register_of(word, layout.register_bits));
    let Some(pattern) = pattern else {
        let written = layout.writes.iter();
        let lost = written.fold(0, |mask, low| {
            mask | bit(field(word, *low, layout.register_bits))
        });
        return Effect {
            lost,
            ..Effect::default()
        };
    };
    match pattern.kind {
        Kind::OpenValue => Effect {
            lost: of(pattern),
            opens: of(pattern),
            closes: 0,
        },
        Kind::CloseValue => Effect {
            lost: of(pattern),
            opens: 0,
            closes: of(pattern),
        },
        Kind::Call | Kind::IndirectCall => Effect {
            lost: layout.call_clobbers,
            ..Effect::default()
        },
        Kind::Pair => Effect {
            lost: bit(field(word, 7, layout.register_bits)),
            ..Effect::default()
        },
        _ => Effect::default(),
    }
}

fn flow(
    image: &Image<'_>,
    pattern: Option<&Pattern>,
    word: u32,
    at: Place,
    pair: Option<Place>,
) -> Flow {
    let Some(pattern) = pattern else {
        return Flow::Next;
    };
    let to = || destination(image, pattern, word, at);
    let far = || {
        let reference = image.relocations.at(pair?)?;
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
fn destination(image: &Image<'_>, pattern: &Pattern, word: u32, at: Place) -> Destination {
    let distance = pattern.distance(word).unwrap_or_default();
    if let Some(reference) = image.relocations.at(at) {
        return Destination {
            place: reference.target(distance, 0),
            reference: Some(reference),
        };
    }
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
pub(crate) fn text(layout: &Layout, little: bool, bytes: &[u8]) -> String {
    let Some((word, width)) = word(layout, little, Some(bytes)) else {
        return "(cut off)".to_owned();
    };
    let digits = usize::from(width) * 2;
    match find(layout, word, width).filter(|pattern| pattern.kind != Kind::Reads) {
        Some(pattern) => format!("{word:0digits$x}  {}", pattern.name),
        None => format!("{word:0digits$x}"),
    }
}
