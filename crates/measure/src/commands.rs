//! What a reader types to come to the same result: plain data, for renderers.

use serde::Serialize;

/// A command with what it wants to be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Commands {
    /// What has to be there first, a sentence each.
    pub needs: Vec<String>,
    /// The files that the command reads, in the folder that it is typed in.
    pub files: Vec<Attached>,
    /// The words of the command, each as a shell takes it; none where there is nothing
    /// to repeat.
    pub words: Vec<String>,
}

/// A file that a command reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attached {
    /// Its name in that folder.
    pub name: String,
    /// Its text; none where no mail would keep it: it is too large, or no plain text.
    pub text: Option<String>,
    /// How many bytes it has.
    pub bytes: usize,
    /// Its BLAKE3 hash, hexadecimal, as `b3sum` prints it.
    pub hash: String,
}

impl Commands {
    /// Whether there is nothing to repeat.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}
