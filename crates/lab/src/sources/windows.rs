//! Which architectures open windows, by the tree's own headers.

use std::io;

use tollgate_arch::Architectures;
use tollgate_defect::Defect;
use tollgate_source::{TreePath, Vocabulary, opens_windows};

use crate::input;
use crate::tree::Tree;

/// Why that cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The header that says so.
    #[error("{header}, which says whether {name} opens windows, could not be read")]
    Header {
        /// Its path.
        header: String,
        /// The architecture.
        name: String,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The folder of the architectures.
    #[error(transparent)]
    Listing(#[from] io::Error),
    /// What is known of architectures.
    #[error(transparent)]
    Architectures(#[from] tollgate_arch::Wrong),
    /// Data that is carried in the program.
    #[error(transparent)]
    Defect(#[from] Defect),
}

/// The architectures where a window saves something, by the tree's own headers.
///
/// # Errors
/// When the tree cannot be read, or data is not what it should be.
pub fn with_windows(tree: &Tree) -> Result<Vec<String>, Error> {
    let vocabulary = Vocabulary::builtin()?;
    let mut all = Vec::new();
    let known = Architectures::built_in()?;
    for name in tree.architectures()? {
        let mut opens = false;
        for header in known.access_headers(&name) {
            opens |= header_opens(tree, &name, &TreePath::within(&header), &vocabulary)?;
        }
        all.extend(opens.then_some(name));
    }
    Ok(all)
}

fn header_opens(
    tree: &Tree,
    name: &str,
    header: &TreePath,
    vocabulary: &Vocabulary,
) -> Result<bool, Error> {
    match tree.source(header) {
        Ok(text) => Ok(opens_windows(&text, vocabulary)),
        Err(error) if input::is_absent(&error) => Ok(false),
        Err(error) => Err(Error::Header {
            header: header.to_string(),
            name: name.to_owned(),
            error,
        }),
    }
}
