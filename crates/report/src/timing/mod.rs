//! Times for people and programs: terminal, JSON. Made of plain data; nothing is
//! decided here.

mod against;
mod json;
mod read;
mod text;

#[cfg(test)]
mod tests;

pub use json::{RUN_VERSION, json};
pub use read::{ReadError, read, timed_in};
pub use text::text;
