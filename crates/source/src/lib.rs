//! A kernel tree: C text normalised and parsed into user accesses, runs and windows.
//!
//! Bytes in, values out. A file is searched for the words of an access first;
//! only the functions that hold one are normalised (same length, so that every
//! place is a place of the original) and parsed.

mod analyse;
mod chain;
pub mod check;
mod events;
pub mod fuzz;
mod lex;
mod model;
mod normalise;
mod outline;
mod parse;
mod runs;
mod scan;
mod site;
mod span;
mod split;
mod vocabulary;
mod walk;
mod wrappers;

pub use analyse::{Analyser, GrammarError};
pub use lex::{Token, TokenKind, closing, tokens};
pub use model::{
    Exit, FileReport, Form, Function, Hazard, Jump, NotAnalysed, Reach, Reason, Run, Site, Step,
    StepKind, Trait,
};
pub use normalise::{Branches, Normalised, normalise};
pub use outline::{Local, Outline, Use};
pub use scan::{Finding, Missed, MissedPart, Scan};
pub use span::{LineIndex, Position, Span};
pub use split::{Body, bodies};
pub use vocabulary::{Access, Direction, Vocabulary, VocabularyError};
