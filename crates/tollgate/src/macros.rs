//! The macros around accesses that a tree's headers define, as `scan` learns
//! them: `fix` and `prove` rewrite with the same words.

use std::cell::OnceCell;

use tollgate_lab::sources;
use tollgate_lab::tree::Tree;
use tollgate_rewrite::{FixError, Patched, ReadTree, Request, Target};
use tollgate_source::Access;

/// The macros of one tree, read when first needed.
pub(crate) struct Macros<'a> {
    tree: &'a Tree,
    known: OnceCell<Result<Vec<Access>, String>>,
}

impl<'a> Macros<'a> {
    /// The macros of that tree.
    pub(crate) fn new(tree: &'a Tree) -> Self {
        let known = OnceCell::new();
        Self { tree, known }
    }

    /// Every macro.
    ///
    /// # Errors
    /// As [`sources::macros`].
    pub(crate) fn all(&self) -> Result<Vec<Access>, FixError> {
        let read = || sources::macros(self.tree).map_err(|error| error.to_string());
        let known = self.known.get_or_init(read).clone();
        known.map_err(FixError::Analysis)
    }

    /// The fix; where nothing is found, with these macros.
    ///
    /// # Errors
    /// As [`tollgate_rewrite::fix`].
    pub(crate) fn fix(
        &self,
        read: &dyn ReadTree,
        target: &Target,
        request: &Request,
    ) -> Result<Patched, FixError> {
        match tollgate_rewrite::fix(read, target, request) {
            Err(FixError::Function { .. } | FixError::Nothing { .. } | FixError::Parted { .. }) => {
                let macros = self.all()?;
                let request = Request {
                    macros,
                    ..request.clone()
                };
                tollgate_rewrite::fix(read, target, &request)
            }
            known => known,
        }
    }
}
