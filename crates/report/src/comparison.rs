//! A comparison for people and programs: terminal, HTML, JSON, and the figures
//! of a commit message. Everything here is made of the comparison's plain data;
//! nothing is decided.

mod claims;
mod commit;
mod earlier;
mod facts;
mod html;
mod json;
mod many;
mod plot;
mod series;
pub(crate) mod terminal;
pub(crate) mod text;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::several;

pub use commit::commit_figures;
pub use earlier::{decided, decided_in, series_decided};
pub use html::{html, series_html};
pub use json::{PROVE_VERSION, json};
pub use many::proof_terminal;
pub use series::{SERIES_VERSION, series_json, series_statement, series_terminal};
pub use terminal::terminal;
