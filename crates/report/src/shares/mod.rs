//! Profiles that were read, and comparisons of them, for people and programs. Made
//! of plain data; nothing is decided here.

mod boots;
mod compared;
mod json;
mod text;

pub use boots::{boots_document, boots_json};
pub use compared::{COMPARE_VERSION, Pair, compare_document, compare_json};
pub use json::{PROFILE_VERSION, profile_json};
pub use text::{ReadFile, profile_document};

#[cfg(test)]
mod tests;
