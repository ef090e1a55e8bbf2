//! Addresses, and the sections that they are in.

use std::borrow::Cow;

use crate::symbols::Symbols;

/// An address: in a linked file its own, in an object file an offset into its
/// section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// The section's index in the file.
    pub(crate) section: usize,
    /// The section's address plus the offset.
    pub(crate) address: u64,
}

/// A section with bytes.
pub(crate) struct Section<'data> {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) bytes: Cow<'data, [u8]>,
    pub(crate) executable: bool,
    /// Whether it may hold data besides: `.data` of some kernels is executable.
    pub(crate) writable: bool,
    pub(crate) functions: Symbols,
}
