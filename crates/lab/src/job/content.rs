//! The bytes of a file, as JSON has them.

use serde::{Deserialize, Serialize};

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl Content {
    /// Of those bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match tollgate_defect::answer::text(bytes) {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(bytes.to_vec()),
        }
    }

    /// Its bytes, kept no longer in it.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}
