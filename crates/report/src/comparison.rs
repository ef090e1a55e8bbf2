//! A comparison for people and programs: documents, JSON, and the figures of a commit
//! message. Everything here is made of the comparison's plain data; nothing is
//! decided.

mod asked;
mod behaviour;
mod checks;
mod claims;
mod commands;
mod commit;
mod earlier;
mod json;
mod proof;
mod saved;
mod series;
mod series_json;
mod tables;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::several;

pub use commands::{quoted, script};
pub use commit::commit_figures;
pub use earlier::{decided, decided_in, series_decided};
pub use json::{PROVE_VERSION, json};
pub use proof::document;
pub use saved::{Saved, SavedError, saved};
pub use series::series_document;
pub use series_json::{SERIES_VERSION, series_json};
