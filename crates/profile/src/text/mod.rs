//! Text that perf and its kin print, out of a terminal or out of a mail.

pub(crate) mod annotate;
mod chain;
pub(crate) mod folded;
mod header;
pub(crate) mod lines;
pub(crate) mod points;
pub(crate) mod script;
pub(crate) mod table;
pub(crate) mod times;
