//! Times for people and programs: terminal, JSON. Made of plain data; nothing is
//! decided here.

mod json;
mod text;

#[cfg(test)]
mod tests;

pub use json::{RUN_VERSION, json};
pub use text::text;
