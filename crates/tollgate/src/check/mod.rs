//! What `tollgate check` reads: a tree, files, standard input, or a change.

pub(crate) mod change;
pub(crate) mod input;
mod side;

/// What a result calls the text on standard input.
const STANDARD_INPUT: &str = "<stdin>";
