//! What a window must do: the data that planning makes and each style writes.

use std::rc::Rc;

use tollgate_source::{Jump, Run, Span};

use crate::gate::Gate;

/// One line of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The access with that index.
    Access(usize),
    /// A comment or another statement, as it is written.
    Verbatim(String),
    /// A variable that is made zero, as a failed read would make it.
    Zero(String),
    /// The access with that index, only under a condition; what is made zero
    /// before it hangs on the condition, too.
    When {
        condition: String,
        zero: Option<String>,
        index: usize,
    },
    /// A way out that is no fault's.
    Leave {
        condition: String,
        /// Variables that are made zero on it.
        zeroed: Vec<String>,
        /// What happens behind that.
        statements: Vec<String>,
    },
    /// A loop around the access with that index.
    Loop {
        /// What stands before the access.
        before: String,
        index: usize,
        /// What stands behind it.
        behind: String,
        /// The blanks before the loop as it is written, and before the access.
        indent: String,
        inner: String,
    },
    /// All that stands in the window, as it is written but for the accesses.
    Body(Vec<Part>),
}

/// A part of what stands in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// As it is written.
    Text(String),
    /// The accesses with those indices, a line each.
    Accesses {
        sites: Vec<usize>,
        indent: String,
        /// Whether the first begins a line, too.
        begins: bool,
    },
}

/// A window that takes the place of an `access_ok()` statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Where the check ends that it takes the place of.
    pub(crate) from: usize,
    /// Whether there is none: each access checks its own range, in one object.
    pub(crate) implied: bool,
    /// What happens where the range is not the user's.
    pub(crate) exit: Vec<String>,
    /// The label of the function that a fault goes to and behind which it is closed;
    /// none where it gets one of its own.
    pub(crate) label: Option<String>,
    /// Where an end stands besides, if only faults come to that label.
    pub(crate) ends_at: Option<usize>,
    /// The size of each access that is a copy.
    pub(crate) copies: Vec<Option<Span>>,
    /// Whether some of the accesses may not happen.
    pub(crate) some: bool,
    /// Whether it stays open over the rounds of a loop.
    pub(crate) loops: bool,
    /// The addresses that nothing checks where the pointer is masked.
    pub(crate) far: Vec<String>,
}

/// What a window must do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The run that it replaces.
    pub(crate) run: Run,
    /// The middle of the names of the begin and the end, empty for both ways.
    pub(crate) way: &'static str,
    /// The object whose range the begin checks.
    pub(crate) object: String,
    /// The size of that range.
    pub(crate) size: String,
    /// What stands between begin and end.
    pub(crate) lines: Vec<Line>,
    /// What happens on a fault.
    pub(crate) fault: Fault,
    /// What is replaced.
    pub(crate) region: Span,
    /// The part of the first condition that is evaluated before the run.
    pub(crate) before: Option<Span>,
    /// The part of the last condition that is evaluated after the run.
    pub(crate) behind: Option<Span>,
    /// The variables that must be 0 behind the window.
    pub(crate) results: Vec<String>,
    /// Whether the window's success is the function's.
    pub(crate) returns: bool,
    /// Whether later accesses used to happen after a fault and no longer do.
    pub(crate) stops: bool,
    /// What keeps a fault, where the function goes on behind it.
    pub(crate) chained: Option<Chained>,
    /// The pointer that the accesses move on.
    pub(crate) advance: Option<Advance>,
    /// What is made zero before the begin, as its failed read would be, behind
    /// what the condition asks before the run.
    pub(crate) cleared: Option<String>,
    /// Whether anything is made zero.
    pub(crate) zeroes: bool,
    /// Whether the begin stands for an `access_ok()` of the chain.
    pub(crate) absorbs: bool,
    /// What opens and closes the window.
    pub(crate) gate: Rc<dyn Gate>,
    /// The rounds, where it stands around a loop.
    pub(crate) rounds: Option<Rounds>,
    /// The check that it takes the place of, where it stands around whatever
    /// follows that.
    pub(crate) checked: Option<Checked>,
}

impl Plan {
    /// The windows that it saves; of a loop, at most.
    pub(crate) fn windows_saved(&self) -> usize {
        match &self.rounds {
            Some(rounds) => rounds.most.saturating_sub(1),
            None => self.run.windows_saved(),
        }
    }
}

/// The rounds of a loop that a window stands around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// What has to hold so that there is one; none where there surely is.
    pub(crate) asked: Option<String>,
    /// How many there are at most.
    pub(crate) most: usize,
    /// Whether each moves the pointer on.
    pub(crate) moves: bool,
    /// Whether the most is what there is.
    pub(crate) exact: bool,
    /// What one copy of all elements is made of, where it takes the place of the loop.
    pub(crate) copied: Option<Copied>,
}

/// The function's side of a copy of an array's elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copied {
    /// The address of the first element, as C.
    pub(crate) first: String,
    /// The array.
    pub(crate) array: String,
    /// Whether it is filled.
    pub(crate) reads: bool,
    /// Whether each access checked its range.
    pub(crate) checks: bool,
}

/// What happens on a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The statements without indentation, the jump last.
    pub(crate) statements: Vec<String>,
    /// For each variable that they make -EFAULT, the same without that.
    pub(crate) besides: Vec<(String, Vec<String>)>,
    /// The jump.
    pub(crate) jump: Jump,
    /// Where the statements stand.
    pub(crate) body: Span,
    /// Those among them that are kept as they are written.
    pub(crate) kept: Span,
    /// Whether the statement behind the run is part of it.
    pub(crate) takes_after: bool,
    /// Whether later accesses used to happen after a fault.
    pub(crate) stops: bool,
    /// The tests of a result, which go.
    pub(crate) answers: Vec<Span>,
    /// The variable that is made -EFAULT first: it held the access's own.
    pub(crate) given: Option<String>,
}

/// What says behind the window whether an access faulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chained {
    /// The variable.
    pub(crate) variable: String,
    /// What it holds after a fault.
    pub(crate) fault: String,
    /// What it holds if there was none.
    pub(crate) success: String,
    /// Whether later accesses used to happen after a fault.
    pub(crate) stops: bool,
    /// Whether it may hold an error from before, behind which no window is opened.
    pub(crate) carried: bool,
}

/// A pointer that each access moves on by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advance {
    /// The pointer.
    pub(crate) pointer: String,
    /// How many accesses there are.
    pub(crate) count: usize,
}

impl Advance {
    /// The object and the size of the range, as C.
    pub(crate) fn range(&self) -> (String, String) {
        let Self { pointer, count } = self;
        (pointer.clone(), format!("{count} * sizeof(*{pointer})"))
    }

    /// The address of the access with that index.
    pub(crate) fn address(&self, index: usize) -> String {
        match index {
            0 => self.pointer.clone(),
            index => format!("{} + {index}", self.pointer),
        }
    }

    /// What moves the pointer on behind the window.
    pub(crate) fn statement(&self) -> String {
        format!("{} += {};", self.pointer, self.count)
    }
}
