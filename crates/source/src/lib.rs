//! A kernel tree: C text normalised and parsed into user accesses, runs and windows.
//!
//! Bytes in, values out. A file is searched for the words of an access first;
//! only the functions that hold one are normalised (same length, so that every
//! place is a place of the original) and parsed.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

mod analyse;
mod apart;
mod bound;
mod calls;
mod chain;
pub mod check;
mod compared;
mod copies;
mod events;
mod expression;
mod flow;
pub mod fuzz;
mod hashed;
mod heat;
mod lex;
mod model;
mod near;
mod node;
mod normalise;
mod opportunity;
mod parse;
mod path;
mod reach;
mod runs;
mod scan;
mod search;
mod site;
mod span;
mod split;
mod types;
mod vocabulary;
mod walk;
mod wrapped;
mod wrappers;

pub use analyse::{Analyser, GrammarError};
pub use calls::Direction;
pub use expression::{Expression, Term};
pub use flow::{Effect, EffectKind, Flow, Junction, Local, Statement, StatementKind, Write};
pub use heat::{Warmth, callers_of};
pub use lex::{Token, TokenKind, closing, is_called, tokens};
pub use model::{
    Exit, FileReport, Form, Function, Hazard, Jump, Loop, NotAnalysed, Reach, Reason, Run, Site,
    Step, StepKind, Trait,
};
pub use normalise::{Branches, Normalised, normalise};
pub use opportunity::{Beside, Kind, Near, Opportunity, Parted, SMALL, Size};
pub use path::{Name, TreePath, is_c, plain, plain_json, shown};
pub use scan::{CopyCounts, Finding, LeftOut, LocatedOpportunity, Missed, MissedPart, Scan};
pub use span::{LineIndex, Position, Span};
pub use split::{Body, bodies};
pub use types::{
    Headers, LayoutError, Machine, Member, Shape, Type, TypeIndex, TypeName, Types, Uncovered,
    definitions, included, is_qualifier, may_define, no_tree,
};
pub use vocabulary::{Access, CopyCall, Heat, Vocabulary, WindowCall};
pub use wrappers::opens_windows;
