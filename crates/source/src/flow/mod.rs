//! What a function does: one graph, with an edge for each way on, and in each
//! node what is read, written, called and handed on by its address, in the order
//! in which that happens. `check` follows its paths; the rewriter asks what is
//! live, private or known at a place.

mod assembly;
mod before;
mod build;
mod call;
mod condition;
mod expression;
mod graph;
mod held;
mod joined;
mod names;
mod query;
mod reached;
mod splice;
mod statement;
#[cfg(test)]
mod tests;
mod ways;

pub(crate) use assembly::{is_assembly, operands, parentheses};
pub(crate) use build::{Source, build};
pub(crate) use graph::{Action, Begin, Call, Condition, Edge, Inside, Node, Opening};
pub use graph::{Effect, EffectKind, Flow, Local, Write};
pub(crate) use splice::{Piece, Pieces};
pub use statement::{Junction, Statement, StatementKind};
