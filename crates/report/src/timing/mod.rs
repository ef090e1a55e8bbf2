//! Times for people and programs: as a document, as JSON. Made of plain data; nothing is
//! decided here.

mod against;
mod json;
mod read;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use against::fact;
pub use json::{RUN_VERSION, json};
pub use read::{ReadError, read, timed_in};
pub use text::document;
pub(crate) use text::sections;
