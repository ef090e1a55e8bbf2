//! What the rules know of a call that opens a window, closes one, or accesses user memory.

use crate::calls::{Call, Direction, Does, Kind, OfWindow, Outcome};

/// A call that opens a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BeginWord {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) arguments: usize,
    pub(crate) always: bool,
    pub(crate) fence: bool,
    /// Only its name says so: whether its result has to be tested is not known.
    pub(crate) guessed: bool,
}

/// A call that closes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndWord {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) arguments: usize,
}

/// An access, inside a window or with its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccessWord {
    pub(crate) name: String,
    pub(crate) direction: Direction,
    pub(crate) arguments: usize,
    pub(crate) value: usize,
    pub(crate) user: usize,
    pub(crate) count: Option<usize>,
    pub(crate) result: Option<Outcome>,
    pub(crate) checked: bool,
    /// Whether other accesses are made of it, with a check and a fence of their own.
    pub(crate) part: bool,
}

pub(super) fn begin(call: &Call, role: fn(&Does) -> Option<OfWindow>) -> Option<BeginWord> {
    let own = role(&call.does)?;
    Some(BeginWord {
        name: call.name.clone(),
        kind: own.kind,
        arguments: call.does.arguments?,
        always: own.always,
        fence: own.fence,
        guessed: false,
    })
}

pub(super) fn end(call: &Call) -> Option<EndWord> {
    Some(EndWord {
        name: call.name.clone(),
        kind: call.does.end?.kind,
        arguments: call.does.arguments?,
    })
}

pub(super) fn is_inside(call: &Call) -> bool {
    call.does.access.is_some_and(|access| access.inside)
}

pub(super) fn access(call: &Call) -> Option<AccessWord> {
    let own = call.does.access?;
    Some(AccessWord {
        name: call.name.clone(),
        direction: own.direction,
        arguments: call.does.arguments?,
        value: own.value,
        user: own.user,
        count: own.count,
        result: own.result,
        checked: call.does.range_check,
        part: call.does.part,
    })
}

/// The copy to a program of a call that takes no address of the user's: that of what it copies
/// stands for it.
pub(super) fn shows(call: &Call) -> Option<AccessWord> {
    let own = call.does.shows?;
    Some(AccessWord {
        name: call.name.clone(),
        direction: Direction::Write,
        arguments: own.object.max(own.count) + 1,
        value: own.object,
        user: own.object,
        count: Some(own.count),
        result: None,
        checked: true,
        part: false,
    })
}
