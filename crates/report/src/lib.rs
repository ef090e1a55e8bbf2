//! Findings and comparisons for people and programs: terminal, HTML, JSON.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

pub mod cases;
pub mod checks;
pub mod comparison;
pub mod doctor;
pub mod document;
mod findings;
mod fixed;
pub mod fixes;
pub mod format;
pub mod gates;
mod json;
mod name;
pub mod profile;
pub mod robot;
mod sarif;
pub mod shares;
pub mod stored;
mod text;
pub mod timing;
mod words;

pub use findings::{
    FINDINGS_VERSION, Profiled, Share, View, findings_document, findings_in_source, findings_json,
};
pub use json::to_json;
pub use sarif::findings_sarif;
