//! What pays beside runs: copies that are small or whose size is not known, and
//! neighbours that could share a window.

use serde::{Deserialize, Serialize};

use crate::calls::Direction;
use crate::span::{Position, Span};

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Adjacent accesses that one window can serve.
    Run,
    /// A copy of a constant size that is at most [`SMALL`] bytes.
    SmallCopy,
    /// A copy on an ioctl path whose size is only known when it happens.
    RuntimeSizeCopy,
    /// An access next to a small copy of the same object.
    CopyNeighbour,
    /// An access or a small copy next to a window on the same object.
    WindowNeighbour,
    /// An access in each round of a loop.
    LoopAccess,
    /// An access behind another of the same object, one of them under a condition
    /// or in a loop.
    ConditionalNeighbour,
    /// The same of different objects, which one window cannot serve.
    OtherObject,
}

/// The largest copy that counts as small, in bytes: what a proposal on the
/// kernel's list turns into accesses of a window.
pub const SMALL: u64 = 64;

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Self; 8] = [
        Self::Run,
        Self::SmallCopy,
        Self::RuntimeSizeCopy,
        Self::CopyNeighbour,
        Self::WindowNeighbour,
        Self::LoopAccess,
        Self::ConditionalNeighbour,
        Self::OtherObject,
    ];

    /// The name in reports, `small-copy`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::SmallCopy => "small-copy",
            Self::RuntimeSizeCopy => "runtime-size-copy",
            Self::CopyNeighbour => "copy-neighbour",
            Self::WindowNeighbour => "window-neighbour",
            Self::LoopAccess => "loop-access",
            Self::ConditionalNeighbour => "conditional-neighbour",
            Self::OtherObject => "other-object",
        }
    }
}

/// How many bytes a copy takes, as far as the text says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// So many bytes, on a machine with 64-bit pointers.
    Bytes(u64),
    /// A constant that the definitions of the tree have to tell, as C.
    Constant(String),
    /// A constant that they do not tell; what is missing.
    Unsized(String),
    /// Only known when the copy happens.
    Runtime,
}

/// One call that copies a block, with the place of its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opportunity {
    /// What it is an opportunity for.
    pub kind: Kind,
    /// The function that holds it.
    pub function: String,
    /// The call, `copy_to_user`, or the access that is a neighbour.
    pub call: String,
    /// Which way the data goes.
    pub direction: Direction,
    /// Where the call's name begins.
    pub position: Position,
    /// From the call's name to its closing parenthesis.
    pub span: Span,
    /// The user object, as it is written.
    pub object: String,
    /// The size as it is written; empty for an access.
    pub written: String,
    /// How many bytes the copy takes; for an access, those of its neighbour.
    pub size: Size,
    /// The neighbour, if the opportunity is to join it.
    pub beside: Option<Beside>,
    /// What stands between the two, if a run is not all that parts them.
    #[serde(default)]
    pub near: Option<Near>,
    /// Why the function counts as being on an ioctl path.
    pub path: Option<String>,
}

/// What a call stands next to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The call, `copy_to_user` or `user_write_access_begin`.
    pub call: String,
    /// Where its name begins.
    pub position: Position,
}

/// What parts two accesses that no call parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Near {
    /// What stands between them.
    pub parted: Parted,
    /// The object of the first, if it is not that of the second.
    pub other: Option<String>,
}

/// What stands between two accesses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Parted {
    /// The end of a round of the loop that begins at that line.
    Round {
        /// The line.
        line: u32,
        /// Whether some rounds call something, which no window may span.
        calls: bool,
    },
    /// One of them is in the loop that begins at that line.
    Loop {
        /// The line.
        line: u32,
    },
    /// One of them happens only where the condition holds.
    When {
        /// The condition, on one line.
        condition: String,
    },
    /// One of them happens only where the condition does not hold.
    Unless {
        /// The condition, on one line.
        condition: String,
    },
    /// One of them stands in a `case`.
    Case,
    /// A label, or a statement that no window may span as a whole.
    Statement,
}
