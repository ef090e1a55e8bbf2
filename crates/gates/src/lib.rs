//! Object code: what opens and closes the gate to user memory, per architecture; functions by address.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod against;
mod analysis;
mod archive;
mod calls;
mod code;
mod code_tables;
mod conditions;
mod core;
mod data;
mod decode;
mod elf;
mod error;
pub mod fuzz;
mod graph;
mod hash;
mod helpers;
mod image;
mod input;
mod kallsyms;
mod lines;
mod listing;
mod memory;
mod opcodes;
mod padding;
mod records;
mod replace;
mod rules;
mod settle;
mod symbols;
mod tables;
mod tails;
mod unpack;
mod values;
mod windows;

pub use against::{Changes, Cost, FunctionChange};
pub use analysis::{Analysis, Counts, FunctionGates, Watch};
pub use archive::{Member, is_archive, members};
pub use error::ObjectError;
pub use input::{Input, Stream};
pub use lines::Frame;
pub use listing::{Line, Listing, Mark};
pub use opcodes::{Meaning, Opcode, Opcodes, OpcodesError};
pub use rules::{Finding, Rule};
pub use symbols::{Symbol, Symbols, SymbolsError};
pub use unpack::{is_core, unpacked};
pub use windows::{Repeat, Window};
