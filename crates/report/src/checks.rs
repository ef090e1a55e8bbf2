//! What the rules of `check` say, for people and programs.

mod json;
mod sarif;
mod text;

pub use json::{CHECKS_VERSION, checks_json};
pub use sarif::checks_sarif;
pub use text::checks_document;
