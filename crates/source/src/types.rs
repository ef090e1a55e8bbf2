//! Sizes of types, from the definitions in a tree: as much as it takes to say
//! how large a copy is, on a machine with 64-bit pointers.

mod constant;
mod definition;
mod layout;
mod parse;
mod scalar;

pub use constant::included;
pub use definition::{Place, TypeIndex, definitions, may_define};
pub use layout::{Layout, Reader};
pub use parse::is_qualifier;
pub(crate) use parse::{dimensions as array_dimensions, extent, type_name, type_of_words};
pub(crate) use scalar::Scalars;

use serde::{Deserialize, Serialize};

/// A constant number of bytes as the text gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// A number.
    Number(u64),
    /// `sizeof(…)`.
    SizeOf(TypeName),
    /// How far the fields of a type lie behind its begin.
    OffsetOf(TypeName),
    /// A constant with a name: a macro.
    Named(String),
    /// Two of them and the operator between: `+`, `-`, `*` or `/`.
    Both(Box<(Extent, char, Extent)>),
}

/// A type as a declaration or a `sizeof` names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeName {
    /// `struct name`, `union name`, or the words of a plain type.
    pub base: String,
    /// How often it is a pointer.
    pub pointers: usize,
    /// The dimensions of an array, outermost first.
    pub dimensions: Vec<Extent>,
    /// Fields to go down to, outermost first.
    pub fields: Vec<String>,
    /// How often it is then dereferenced or indexed.
    pub dereferences: usize,
}
