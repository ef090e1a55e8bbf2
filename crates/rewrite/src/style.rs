//! The styles in which a run can be rewritten.

use std::fmt;
use std::str::FromStr;

/// How user memory is accessed after the fix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `user_write_access_begin()`, `unsafe_put_user()`, one label.
    #[default]
    Window,
    /// The same, opened by `masked_user_access_begin()` where the architecture
    /// can: fs/select.c has the form.
    Masked,
    /// `scoped_user_write_access()`: the end of the block closes it.
    Scoped,
    /// One copy of a structure for each group of its members.
    StructCopy,
    /// A copy of a size known at run time, with accesses of a constant size for
    /// the sizes that are named.
    SizeSwitch,
}

/// Every style with its name.
const NAMES: [(Style, &str); 5] = [
    (Style::Window, "window"),
    (Style::Masked, "masked"),
    (Style::Scoped, "scoped"),
    (Style::StructCopy, "struct-copy"),
    (Style::SizeSwitch, "size-switch"),
];

impl Style {
    /// The names of all styles, in the order in which they are explained.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(style, _)| style == self);
        f.write_str(name.map_or("window", |(_, name)| name))
    }
}

/// A word that names no style.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no style; there is: {all}", all = Style::names().collect::<Vec<_>>().join(", "))]
pub struct StyleError(String);

impl FromStr for Style {
    type Err = StyleError;

    fn from_str(text: &str) -> Result<Self, StyleError> {
        let known = NAMES.iter().find(|(_, name)| *name == text);
        known
            .map(|(style, _)| *style)
            .ok_or_else(|| StyleError(text.to_owned()))
    }
}
