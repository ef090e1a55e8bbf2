//! The styles in which a run can be rewritten.

use std::fmt;
use std::str::FromStr;

use crate::offers::Offers;

/// How one window is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `user_write_access_begin()`, `unsafe_put_user()`, one label.
    #[default]
    Window,
}

impl Style {
    /// What the style needs and the tree does not have.
    pub(crate) fn lacks(self, offers: Offers) -> Option<&'static str> {
        match self {
            Self::Window if offers.both || offers.read || offers.write => None,
            Self::Window => Some("user_access_begin(ptr, len)"),
        }
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Window => f.write_str("window"),
        }
    }
}

/// A word that names no style.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no style; there is: window")]
pub struct StyleError(String);

impl FromStr for Style {
    type Err = StyleError;

    fn from_str(text: &str) -> Result<Self, StyleError> {
        match text {
            "window" => Ok(Self::Window),
            other => Err(StyleError(other.to_owned())),
        }
    }
}
