//! Where a function ends whose size nobody gives: the padding in front of the next
//! name is none of its code.

use crate::code::Code;
use crate::decode::{Flow, Instruction};
use crate::symbols::Function;

/// How many functions tell whether a trap belongs behind each return: one of 16 ends where
/// the next begins, and has none if it was only filled up.
const ASKED: usize = 256;

/// int3 of x86, which the kernel's linker fills gaps with (arch/x86/kernel/vmlinux.lds.S).
const TRAP: &[u8] = &[0xcc];

/// Whether the compiler put a trap behind what leaves by a register or the stack
/// (`-mharden-sls=all`, CONFIG_MITIGATION_SLS), by the functions of a kernel's own list of
/// names; no where that was not read.
pub(crate) fn has_traps(code: &Code<'_>) -> bool {
    let guessed = code.functions().filter(|(_, function)| function.guessed);
    let ends = guessed.filter_map(|(at, function)| {
        let all = code.instructions(at, code.end_of(at, function));
        let last = code_before_padding(code, &all).checked_sub(1)?;
        let behind = all.get(last + 1).is_some_and(|own| is_trap(code, own));
        is_departure(all.get(last)?).then_some(behind)
    });
    let mut asked = ends.take(ASKED).peekable();
    asked.peek().is_some() && asked.all(|trap| trap)
}

/// Takes off the padding behind a function without a size, and tells where it
/// ends then; `end` of any other.
pub(crate) fn trim_padding(
    code: &Code<'_>,
    function: &Function,
    all: &mut Vec<Instruction>,
    end: u64,
) -> u64 {
    if function.sized {
        return end;
    }
    let mut count = code_before_padding(code, all);
    let trapped = count.checked_sub(1).and_then(|last| all.get(last));
    if code.has_traps && trapped.is_some_and(is_departure) {
        count += usize::from(all.get(count).is_some_and(|own| is_trap(code, own)));
    }
    if count == 0 {
        // Room in front of a function is what its name stands for; a mark is nothing.
        count = all.iter().take_while(|own| own.padding).count();
    }
    let from = all.first().map_or(end, |own| own.at.address);
    all.truncate(count);
    let behind = |own: &Instruction| own.at.address.saturating_add(own.length.into());
    all.last().map_or(from, behind)
}

/// How many instructions there are up to the last that is no padding.
fn code_before_padding(code: &Code<'_>, all: &[Instruction]) -> usize {
    let pads = |own: &Instruction| own.padding || is_trap(code, own) || is_zero(code, own);
    let last = all.iter().rposition(|own| !pads(own));
    last.map_or(0, |last| last + 1)
}

fn is_zero(code: &Code<'_>, own: &Instruction) -> bool {
    let bytes = code.bytes(own);
    bytes.is_some_and(|all| all.iter().all(|byte| *byte == 0))
}

fn is_trap(code: &Code<'_>, own: &Instruction) -> bool {
    matches!(own.flow, Flow::Stop) && code.bytes(own) == Some(TRAP)
}

fn is_departure(own: &Instruction) -> bool {
    matches!(
        own.flow,
        Flow::Return | Flow::IndirectJump | Flow::Switch(_)
    )
}
