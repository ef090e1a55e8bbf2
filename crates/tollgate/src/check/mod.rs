//! What `tollgate check` reads: a tree, files, standard input, or a change.

pub(crate) mod change;
pub(crate) mod input;
mod side;
