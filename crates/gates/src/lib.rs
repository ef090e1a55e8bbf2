//! Object code: what opens and closes the gate to user memory, per architecture; functions by address.

mod opcodes;
mod symbols;

pub use opcodes::{Meaning, Opcode, Opcodes, OpcodesError};
pub use symbols::{Symbol, Symbols, SymbolsError};
