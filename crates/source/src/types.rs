//! The types of C as a tree defines them: how large they are and where their
//! members lie, on each machine that Linux runs on.
//!
//! A definition is read from its text, wherever the tree has it: the file
//! itself, the headers that it includes, or the only one that an index of the
//! tree knows. What is not understood is an error that names it, never a guess.
//! Where an option of the configuration decides, every choice is followed, and
//! an answer is one only if all choices agree.

mod constant;
mod declare;
mod declared;
mod expand;
mod file;
mod find;
mod headers;
mod index;
mod initializer;
mod input;
mod kernel;
mod layout;
mod machine;
mod macros;
mod makefile;
mod name;
mod prototypes;
mod query;
mod reach;
mod record;
mod sought;
pub(crate) mod words;

pub(crate) use declare::starts_type;
pub(crate) use declared::{Parameter, Signature};
pub use headers::{Headers, included, no_tree};
pub use index::{TypeIndex, definitions, may_define};
pub(crate) use initializer::Dimensions;
pub(crate) use kernel::KernelMember;
pub use layout::{LayoutError, Member, Shape, Type, Uncovered};
pub use machine::Machine;
pub use name::{TypeName, is_qualifier};
pub(crate) use name::{cast_name, type_name};
pub use query::Types;
