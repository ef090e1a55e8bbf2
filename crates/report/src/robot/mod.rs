//! What the build robot found: as a document for people, as the mail that robots send,
//! for b4, as KTAP, JSON and SARIF.

mod b4;
mod document;
mod json;
mod ktap;
mod mail;
mod sarif;
mod words;

pub use b4::{robot_b4, robot_b4_failed};
pub use document::robot_document;
pub use json::robot_json;
pub use ktap::robot_ktap;
pub use mail::{Mail, reproduce, robot_mail};
pub use sarif::robot_sarif;

#[cfg(test)]
mod tests;
