//! Which writes of the gate open it and which close it, by the values that
//! registers hold on every path.

use crate::code_tables::{CodeTables, Pattern};
use crate::decode::{Direction, Gate, Instruction};
use crate::graph::Graph;
use crate::values::{Operation, Registers, Value};

/// Instructions of a function whose registers are followed: the state of one
/// takes half a kilobyte. The longest of a kernel has some ten thousand.
const MOST_INSTRUCTIONS: usize = 1 << 17;

/// Turns writes of the gate into opens and closes by the values that the
/// registers hold on every path.
pub(crate) fn settle_writes(graph: &mut Graph, layout: &CodeTables) {
    let is_write = |i: &Instruction| matches!(i.gate, Gate::Write { .. });
    if !graph.instructions.iter().any(is_write) {
        return;
    }
    let values = if graph.instructions.len() > MOST_INSTRUCTIONS {
        Vec::new()
    } else {
        registers(graph)
    };
    for (index, instruction) in graph.instructions.iter_mut().enumerate() {
        if let Gate::Write { register, pattern } = instruction.gate {
            let held = values.get(index).copied().flatten();
            let value = held.map_or(Value::Lost, |registers| registers.get(register));
            let pattern = layout.instructions.get(usize::from(pattern));
            graph.needs |= pattern.is_some_and(|pattern| pattern.for_reads);
            instruction.gate = pattern.map_or(Gate::Unknown, |pattern| gate(pattern, value));
            instruction.keeps_out = pattern.and_then(|pattern| keeps_out(pattern, value));
        }
    }
}

/// The accesses that a value keeps out while the gate is open.
fn keeps_out(pattern: &Pattern, value: Value) -> Option<Direction> {
    let bits = match value {
        Value::Number(bits) | Value::Memory(bits) => bits,
        Value::Either { number, bits } => number & bits,
        _ => return None,
    };
    let has = |mask: u64| mask != 0 && bits & mask == mask;
    match (has(pattern.blocks_reads), has(pattern.blocks_writes)) {
        (true, false) => Some(Direction::Read),
        (false, true) => Some(Direction::Write),
        _ => None,
    }
}

fn gate(pattern: &Pattern, value: Value) -> Gate {
    match value {
        Value::Neither => Gate::No,
        Value::Opens => Gate::Open,
        Value::Closes => Gate::Close,
        Value::State => Gate::PopFlags,
        Value::Number(number) if pattern.opens.contains(&number) => Gate::Open,
        Value::Number(number) if pattern.closes.contains(&number) => Gate::Close,
        Value::Number(_) if pattern.else_other => Gate::No,
        Value::Memory(_) if pattern.memory_opens => Gate::Open,
        Value::Either { number, .. } if pattern.memory_opens && pattern.opens.contains(&number) => {
            Gate::Open
        }
        _ => Gate::Unknown,
    }
}

/// What the registers hold before each instruction that is reached: the least
/// that all ways to it agree on.
fn registers(graph: &Graph) -> Vec<Option<Registers>> {
    let mut before: Vec<Option<Registers>> = vec![None; graph.instructions.len()];
    let mut work = vec![(graph.entry, Registers::default())];
    while let Some((index, new)) = work.pop() {
        let Some(slot) = before.get_mut(index) else {
            continue;
        };
        let merged = slot.as_ref().map_or(new, |old| new.meet(old));
        if *slot == Some(merged) {
            continue;
        }
        *slot = Some(merged);
        let operation = graph.instructions.get(index).map(|i| i.operation);
        let operation = operation.unwrap_or_default();
        let after = merged.after(operation);
        let zero = merged.compared.map(|register| {
            let mut zero = after;
            zero.set(register, Value::Number(0));
            zero
        });
        for step in graph.steps.get(index).into_iter().flatten() {
            let taken = step.to != index + 1;
            let equal = matches!(operation, Operation::Test { taken: on_zero } if on_zero == taken);
            let values = zero.filter(|_| equal).unwrap_or(after);
            work.push((step.to, values));
        }
    }
    before
}
