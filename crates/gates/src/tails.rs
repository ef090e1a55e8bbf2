//! Code that a function jumps to, or goes on at after a fault, and that is no
//! function: what no symbol names, what a bare label of assembly names, and the
//! middle of another function. Assembly shares its ends so (`.fixup` up to
//! 5.15, arch/x86/lib/copy_user_64.S up to 6.3).

use std::collections::BTreeMap;

use crate::calls::Role;
use crate::code::Code;
use crate::decode::{Destination, Flow, Instruction, Origin};
use crate::elf::Place;
use crate::symbols::is_cold;

/// Instructions of tails that are followed: none of a kernel has so many.
const MOST: usize = 1 << 14;

/// Bytes that are decoded at once.
const CHUNK: u64 = 256;

/// Bytes of the longest instruction.
const LONGEST: u64 = 16;

/// The tails of a function.
#[derive(Default)]
pub(crate) struct Tails {
    pub(crate) instructions: Vec<Instruction>,
    /// Where a piece of them ends.
    pub(crate) ends: Vec<Place>,
    /// Bare labels that are entered at their start.
    pub(crate) labels: Vec<Place>,
}

/// The tails of a function whose own instructions, in order, are given.
pub(crate) fn tails(code: &Code<'_>, own: &[Instruction]) -> Tails {
    let mut found = Tails::default();
    if !code.layout.shares_tails {
        return found;
    }
    let mut seen: BTreeMap<Place, Instruction> = BTreeMap::new();
    let is_own = |place: &Place| own.binary_search_by_key(place, |i| i.at).is_ok();
    let mut work: Vec<Target> = own.iter().flat_map(|i| targets(code, i)).collect();
    work.extend(own.iter().flat_map(|i| cases(code, i, is_own)));
    work.sort();
    work.dedup();
    while let Some(Target { place, fault }) = work.pop() {
        if seen.len() > MOST || seen.contains_key(&place) || is_own(&place) {
            continue;
        }
        let Some((origin, end)) = origin(code, place, fault) else {
            continue;
        };
        if code
            .function_at(place)
            .is_some_and(|f| f.start == place.address)
        {
            found.labels.push(place);
        }
        let known = |place: &Place| is_own(place) || seen.contains_key(place);
        let piece = piece(code, place, end, known);
        let put = code.detours(&piece.instructions);
        let all = piece.instructions.iter().chain(&put);
        work.extend(all.flat_map(|i| targets(code, i)));
        found.ends.extend(piece.end);
        seen.extend(put.into_iter().map(|i| (i.at, i)));
        let all = piece.instructions.into_iter();
        seen.extend(all.map(|i| (i.at, Instruction { origin, ..i })));
    }
    found.instructions = seen.into_values().collect();
    found
}

/// Where a function may go on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    place: Place,
    /// After a fault: whatever stands there is no function that is called.
    fault: bool,
}

/// Where an instruction may go on besides at the next one.
fn targets(code: &Code<'_>, instruction: &Instruction) -> Vec<Target> {
    let jump = match instruction.flow {
        Flow::Jump(to) | Flow::Branch(to) if code.role(&to) == Role::default() => to.place,
        _ => None,
    };
    let target = |fault: bool| move |place| Target { place, fault };
    let fixup = code.faults.fixup.get(&instruction.at).copied();
    let switched = code.jumps.get(&instruction.at).into_iter();
    let switched = switched.flat_map(|switched| switched.targets.iter().copied());
    let jumps = jump.into_iter().chain(switched).map(target(false));
    jumps.chain(fixup.map(target(true))).collect()
}

/// The cases of a switch that no symbol names: those of a table whose end nobody gives, as
/// far as they are the function's own or nobody's.
fn cases(
    code: &Code<'_>,
    instruction: &Instruction,
    is_own: impl Fn(&Place) -> bool,
) -> Vec<Target> {
    let Flow::Switch(table) = instruction.flow else {
        return Vec::new();
    };
    let is_nobodys = |place: &Place| {
        let section = code.image.section(place.section);
        section.is_some_and(|section| section.executable) && code.function_at(*place).is_none()
    };
    let inner = |places: Vec<Place>| -> Vec<Place> {
        let places = places.into_iter();
        places
            .take_while(|place| is_own(place) || is_nobodys(place))
            .collect()
    };
    let mut all = inner(code.image.cases(table, None));
    if all.is_empty() {
        all = inner(code.image.distant_cases(table, None));
    }
    all.retain(is_nobodys);
    let case = |place| Target {
        place,
        fault: false,
    };
    all.into_iter().map(case).collect()
}

/// Whose code stands at a place and where it ends; none where it is a function
/// of its own.
fn origin(code: &Code<'_>, place: Place, fault: bool) -> Option<(Origin, u64)> {
    let section = code.image.section(place.section).filter(|s| s.executable)?;
    let last = section.address.saturating_add(section.bytes.len() as u64);
    let Some(function) = code.function_at(place) else {
        let next = section.functions.after(place.address);
        return Some((Origin::Unnamed, next.unwrap_or(last).min(last)));
    };
    let to = Destination {
        place: Some(place),
        reference: None,
    };
    let entered = function.typed && function.start == place.address && !fault;
    let known = entered || is_cold(&function.name) || code.role(&to) != Role::default();
    (!known).then_some((Origin::Other, function.end.min(last)))
}

struct Piece {
    instructions: Vec<Instruction>,
    /// Where it ends, unless it goes on in code that is known.
    end: Option<Place>,
}

/// The instructions from a place up to where control leaves, or to what is
/// `known`.
fn piece(code: &Code<'_>, from: Place, end: u64, known: impl Fn(&Place) -> bool) -> Piece {
    let mut instructions: Vec<Instruction> = Vec::new();
    let mut at = from;
    while at.address < end && instructions.len() < MOST {
        let cut = at.address.saturating_add(CHUNK);
        let decoded = code.instructions(at, cut.saturating_add(LONGEST).min(end));
        let Some(first) = decoded.first() else { break };
        if first.at != at {
            break;
        }
        for instruction in decoded.into_iter().filter(|i| i.at.address < cut) {
            if known(&instruction.at) {
                return Piece {
                    instructions,
                    end: None,
                };
            }
            at.address = after(&instruction);
            let goes_on = goes_on(code, &instruction);
            instructions.push(instruction);
            if !goes_on {
                return Piece {
                    instructions,
                    end: Some(at),
                };
            }
        }
    }
    let end = Some(at).filter(|at| !known(at));
    Piece { instructions, end }
}

fn after(instruction: &Instruction) -> u64 {
    let length = u64::from(instruction.length.max(1));
    instruction.at.address.saturating_add(length)
}

fn goes_on(code: &Code<'_>, instruction: &Instruction) -> bool {
    let switched = code.jumps.contains_key(&instruction.at);
    switched
        || match instruction.flow {
            Flow::Jump(_)
            | Flow::IndirectJump
            | Flow::Switch(_)
            | Flow::Return
            | Flow::Stop
            | Flow::Bug => false,
            Flow::Call(to) => !code.role(&to).noreturn,
            _ => true,
        }
}
