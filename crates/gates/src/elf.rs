//! What `gates` reads of an ELF file: executable sections, functions,
//! relocations, and the tables that the kernel keeps about its own code.

mod fields;
mod file;
mod fit;
mod place;
mod relocations;
mod tables;

pub(crate) use file::{ElfFile, broken, size_of};
pub(crate) use place::Place;
pub(crate) use relocations::Reference;
pub(crate) use tables::{Alternative, Choice, Faults, Jumps, Switched};
