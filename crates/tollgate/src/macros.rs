//! The macros around accesses that a tree's headers define, as `scan` learns
//! them: `fix` and `prove` rewrite with the same words.

use std::cell::OnceCell;

use tollgate_rewrite::{FixError, Patched, ReadTree, Request, Target};
use tollgate_source::Access;

use crate::scanner;
use crate::tree::Tree;

/// The macros of one tree, read when first needed.
pub(crate) struct Macros<'a> {
    tree: &'a Tree,
    known: OnceCell<Vec<Access>>,
}

impl<'a> Macros<'a> {
    /// The macros of that tree.
    pub(crate) fn new(tree: &'a Tree) -> Self {
        let known = OnceCell::new();
        Self { tree, known }
    }

    /// Every macro; none where the headers cannot be read, and a fix then says
    /// that it finds nothing.
    pub(crate) fn all(&self) -> &[Access] {
        self.known
            .get_or_init(|| scanner::macros(self.tree).unwrap_or_default())
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
            Err(FixError::Function { .. } | FixError::Nothing { .. }) => {
                let macros = self.all().to_vec();
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
