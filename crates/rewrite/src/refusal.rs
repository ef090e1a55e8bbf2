//! Why a run is not rewritten. Each refusal names the line.

use tollgate_defect::Defect;
use tollgate_source::{LayoutError, TreePath};

use crate::offers::UACCESS;
use crate::style::Style;

/// Why there is no patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixError {
    /// The file could not be read.
    #[error("{path} could not be read: {reason}")]
    File {
        /// The file, relative to the tree.
        path: TreePath,
        /// The reader's words.
        reason: String,
    },
    /// The file has no function of that name that touches user memory.
    #[error("{path} has no function {function} with user accesses{}", nearby(near))]
    Function {
        /// The file.
        path: TreePath,
        /// What was asked for.
        function: String,
        /// Names that come near.
        near: Vec<String>,
    },
    /// The function opens the gate once at most.
    #[error(
        "{path}:{line}: {function} has nothing to fix: no two of its user accesses are adjacent"
    )]
    Nothing {
        /// The file.
        path: TreePath,
        /// The function's line.
        line: u32,
        /// The function.
        function: String,
    },
    /// No two accesses of the function are adjacent, but something parts some that
    /// happen one after the other.
    #[error("{path}:{}: {function} is not rewritten: {}", .refusal.line, .refusal.reason)]
    Parted {
        /// The file.
        path: TreePath,
        /// The function.
        function: String,
        /// What parts them.
        refusal: Refusal,
    },
    /// The tree does not have the calls that the style needs.
    #[error("the style {style} is not offered by this tree: its {UACCESS} has no {lacks}")]
    Style {
        /// What was asked for.
        style: Style,
        /// What the tree lacks.
        lacks: &'static str,
    },
    /// Every run of the function was refused.
    #[error("{path}:{}: {function} is not rewritten: {}", .refusal.line, .refusal.reason)]
    Refused {
        /// The file.
        path: TreePath,
        /// The function.
        function: String,
        /// The first refusal.
        refusal: Refusal,
    },
    /// tollgate itself is wrong.
    #[error("{path}: {function} is not rewritten: {defect}")]
    Defect {
        /// The file.
        path: TreePath,
        /// The function.
        function: String,
        /// What is wrong.
        defect: Defect,
    },
    /// A style in which no function is called with a window open.
    #[error(
        "the style {0} has no window that callers could open: leave out --into-callers, or --style"
    )]
    NoCallers(Style),
    /// The words that the analysis knows could not be read.
    #[error("{0}")]
    Analysis(String),
}

impl FixError {
    /// What the tree lacks, where that is why, whatever the function is.
    #[must_use]
    pub fn of_tree(&self) -> Option<String> {
        match self {
            Self::Style { .. } => Some(self.to_string()),
            Self::Refused { refusal, .. } if refusal.reason == Reason::Begin => {
                Some(refusal.reason.to_string())
            }
            _ => None,
        }
    }
}

fn nearby(near: &[String]) -> String {
    if near.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", near.join(" or "))
    }
}

/// Why one run is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The line of what stands in the way, counted from 1.
    pub line: u32,
    /// What stands in the way.
    pub reason: Reason,
}

/// What stands in the way of one window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The parser did not understand the function.
    #[error(
        "the function could not be parsed as a whole, so an edit could break what was not seen"
    )]
    NotUnderstood,
    /// The function is larger than what is looked at.
    #[error("the function is longer or nested deeper than what is looked at")]
    TooLarge,
    /// No begin for what the run does.
    #[error("the tree has no begin for a window in this direction")]
    Begin,
    /// More than one object.
    #[error("the accesses are to different objects ({0}), and one begin checks the range of one")]
    Objects(String),
    /// An address whose range is not known.
    #[error("the range of {0} is not known, so no begin can check it")]
    Range(String),
    /// A copy of something else than bytes.
    #[error(
        "unsafe_copy_to_user() takes pointers to bytes, and {0} or what is copied to it is none"
    )]
    Typed(String),
    /// An object of which user memory may hold only a part.
    #[error("user memory may hold less than all of {0}, and the range of a part is not known")]
    Shorter(String),
    /// A call in an argument.
    #[error("the argument calls {0}(), which may not happen inside a window")]
    Call(String),
    /// An access inside a macro.
    #[error("the access is inside the macro {0}(), which opens the gate by itself")]
    Wrapped(String),
    /// An index into an array.
    #[error(
        "an index into {0} is checked by a call when bounds are checked, and it may not happen inside a window"
    )]
    Index(String),
    /// A side effect in an argument.
    #[error("an argument has a side effect, which would happen at another time")]
    SideEffect,
    /// An address that an earlier read of the run gives.
    #[error(
        "the address needs {0}, which is read just before: its range cannot be checked before the window"
    )]
    DependsOnRead(String),
    /// An access that happens only sometimes.
    #[error("the access happens only if another condition holds")]
    Conditional,
    /// Accesses that go on after a fault.
    #[error(
        "the accesses go on after a fault; a window would stop at the first (--stop-at-first-fault allows that)"
    )]
    GoesOn,
    /// The same, where something else stands in the way besides.
    #[error(
        "the accesses go on after a fault, where a window would stop at the first; besides, {0}"
    )]
    GoesOnAnd(Box<Reason>),
    /// The same of reads, where what they fill may be left as it was besides.
    #[error(
        "the accesses go on after a fault; a window would stop at the first, and leave what the later reads fill \
         (--stop-at-first-fault with --no-zero-on-fault allows that)"
    )]
    GoesOnReading,
    /// A variable for results that may hold something already.
    #[error("{0} may hold an error from before, which the window would forget")]
    Carried(String),
    /// A variable for results that a later access uses.
    #[error("an access uses {0}, which holds the result of the one before it")]
    ResultUsed(String),
    /// A result that nothing looks at.
    #[error("nothing looks at the result, so the accesses go on after a fault")]
    ResultUnused,
    /// A result that something looks at, but not right behind the accesses.
    #[error(
        "no test of the result stands right behind the accesses, so there is no way out to take"
    )]
    Untested,
    /// The same, where that is all that keeps reads from stopping at the first fault.
    #[error(
        "no test of the result stands right behind the accesses; where they stop at the first fault, what the later reads \
         fill is left as it was (--no-zero-on-fault allows that)"
    )]
    UntestedReads,
    /// Ways out that differ.
    #[error("the accesses do not all do the same on a fault")]
    Exits,
    /// A way out that the style cannot take.
    #[error(
        "on a fault the function goes on with {0}, and it has no free error variable to say so"
    )]
    Exit(&'static str),
    /// Accesses that not every configuration has.
    #[error(
        "a configuration may leave the accesses out and keep the function: the variable of the copy would be declared for nothing"
    )]
    LeftOut,
    /// A loop that one copy cannot take the place of.
    #[error(
        "the loop does more than to access the elements of one array by those of another, each with the bytes of the other"
    )]
    Elements,
    /// What counts the rounds, and is looked at behind them.
    #[error("{0} says behind the loop how many rounds there were")]
    Counted(String),
    /// More in the statement than accesses.
    #[error("the statement does more than access user memory")]
    Statement,
    /// A range check of something else.
    #[error("access_ok() in the chain does not check {0}")]
    AccessOk(String),
    /// A range check of more than what is copied.
    #[error(
        "access_ok() in the chain checks all of *{0}, and no copy of all of it takes its place"
    )]
    CheckedBefore(String),
    /// A range check that something else needs.
    #[error(
        "a later access relies on the access_ok() that a masked pointer would take the place of"
    )]
    Unchecked,
    /// A variable that a failed range check leaves alone.
    #[error(
        "{0} is left alone where access_ok() fails; with a masked pointer it would be made zero, and something may look"
    )]
    LeftAlone(String),
    /// Preprocessor lines.
    #[error("a preprocessor line stands between the accesses")]
    Preprocessor,
    /// A label that some configurations would not use.
    #[error(
        "a configuration may leave out the accesses, and a label at the end of the function would be unused then"
    )]
    Optional,
    /// A comment that would have no place.
    #[error("a comment would be lost")]
    Comment,
    /// Statements between the accesses.
    #[error("another statement stands between the accesses")]
    Gap,
    /// A variable that is used after a fault.
    #[error(
        "{0} is used after a fault: get_user() has made it zero, unsafe_get_user() need not (where only others than the \
         function look at it, --no-zero-on-fault allows that)"
    )]
    ReadAfterFault(String),
    /// A variable that is used after a fault of a copy.
    #[error(
        "{0} is used after a fault: get_user() has filled it or made it zero, and a copy that faults says of no member which \
         (where only others than the function look at it, --no-zero-on-fault allows that)"
    )]
    CopiedAfterFault(String),
    /// A label that would be jumped to out of a scope with a cleanup.
    #[error("a jump to the end of the function would leave or enter a scope with a cleanup")]
    CleanupScope,
    /// A local variable that the way out needs.
    #[error("the way out needs {0}, which is not known at the end of the function")]
    Local(String),
    /// Accesses in different blocks.
    #[error("the accesses are in different blocks")]
    Blocks,
    /// An arm without braces.
    #[error("the accesses are all of an arm of an if with an else, or of a do, without braces")]
    Arm,
    /// An address that a style has to keep in a variable, and that is none.
    #[error(
        "the style {0} gives the pointer another value while the window is open, and {1} is not a variable of the function"
    )]
    Pointer(Style, String),
    /// A form of the run that the style has no shape for.
    #[error("the style {0} has no form for accesses that hang on each other")]
    Shape(Style),
    /// A structure whose layout is not known.
    #[error("{0}")]
    Layout(LayoutError),
    /// An object that masking does not cover.
    #[error(
        "{0} is larger than a page ({1} bytes), and masking only makes sure that an access within a page of the pointer faults"
    )]
    Large(String, u64),
    /// Accesses out of order.
    #[error(
        "the access to {0} goes back in the object, and masking is for accesses in increasing order of addresses"
    )]
    Order(String),
    /// A pointer to const, for the first scoped forms.
    #[error(
        "{0} points to const, and this tree's scoped_user_read_access() keeps it in a void __user *"
    )]
    ConstPointer(String),
    /// A variable that the scoped forms hide.
    #[error("the scoped forms declare a variable {0} of their own, which hides the function's")]
    Hidden(String),
    /// A pointer that is masked while something else than an access looks at it.
    #[error(
        "{0} is the masked pointer in the scope, and something else than an access looks at it there"
    )]
    Masked(String),
    /// What happens before the first access behind a check.
    #[error(
        "it stands before the first access that relies on the access_ok(): with a masked pointer, that access is what \
         tells a bad one, and this would happen before"
    )]
    Late,
    /// Reads and writes in one run.
    #[error("the run reads and writes; a copy goes one way")]
    BothWays,
    /// A variable that would have no use.
    #[error("{0} takes the results and has no other use; it would be declared for nothing")]
    Unused(String),
    /// Places that a copy would fill in another order.
    #[error("{0} may be the place that {1} is, and a copy would fill them in another order")]
    Overlap(String, String),
    /// A place where a copy must not be.
    #[error(
        "page faults are disabled in the function, and copy_from_user() and copy_to_user() are not for that"
    )]
    FaultsDisabled,
    /// An access in each round of a loop, which begins at that line.
    #[error(
        "the access stands in each round of the loop at line {0}: one window around it would have to check the range of all \
         rounds before the first, and no form is written for that"
    )]
    Round(u32),
    /// The same, where some rounds call something.
    #[error(
        "the access stands in each round of the loop at line {0}, and some rounds call something"
    )]
    CallingRound(u32),
    /// A loop of which the number of rounds is not known before it.
    #[error(
        "the access stands in each round of a loop whose head does not say how many rounds there are, so that no begin can \
         check the range of all"
    )]
    Rounds,
    /// A number of rounds that nothing bounds.
    #[error(
        "the access stands in each round of a loop, and nothing bounds {0}, the number of rounds: a window must not be open for long"
    )]
    Unbounded(String),
    /// Rounds that access too much.
    #[error(
        "the rounds of the loop may access {0} bytes, and a window that is not open for long has {1} at most"
    )]
    LongWindow(u64, u64),
    /// What the range hangs on, and may change meanwhile.
    #[error(
        "{0} may change while the loop runs, so that the range of all its rounds is not known before it"
    )]
    Moving(String),
    /// A loop that is left for another reason than a fault.
    #[error(
        "the loop may be left, or a round of it ended, before the access for another reason than a fault: a begin would check \
         the range of accesses that do not happen"
    )]
    RoundLeaves,
    /// A round that calls something.
    #[error(
        "some rounds of the loop call something, which may not happen inside a window around it"
    )]
    RoundCalls,
    /// A loop behind the check that a begin would take the place of.
    #[error(
        "the window would stay open over the rounds of a loop, however many there are (--open-over-rounds allows that)"
    )]
    OpenOverRounds,
    /// A call between accesses.
    #[error("something is called between the accesses, which may not happen inside a window")]
    GapCalls,
    /// An access that something but a fault parts from that at the line.
    #[error(
        "the access follows that of line {0} only {1}, and no form is written for a window over that"
    )]
    Parted(u32, String),
    /// The same at another object.
    #[error(
        "the access before it on its way is to {0}, and one begin checks the range of one object"
    )]
    OtherObject(String),
    /// No two accesses that one copy could serve.
    #[error("no two adjacent accesses are to members of one structure")]
    NoGroup,
    /// Members that a copy would touch and the function does not.
    #[error(
        "a copy of {object} would also {verb} {members}, which the function leaves alone (--touch-all-members allows that)"
    )]
    Untouched {
        /// What would be copied.
        object: String,
        /// `write` or `read`.
        verb: &'static str,
        /// The members.
        members: String,
    },
    /// A copy that would wipe what was written before.
    #[error(
        "{call}, which is called before, may have written to {object}, and the copy would make zero what this function \
         does not write of it"
    )]
    WrittenBefore {
        /// What would be copied.
        object: Box<str>,
        /// What is called, and where: `f() of line 12`.
        call: Box<str>,
    },
    /// A copy that is too large for the stack.
    #[error("a copy of {0} would take {1} bytes of the stack")]
    Stack(String, u64),
    /// No copy of a size that is known only at run time.
    #[error(
        "the function has no copy_from_user() or copy_to_user() of a size known only at run time"
    )]
    NoCopy,
    /// A size that no constant accesses serve.
    #[error("{0} bytes are no size for constant accesses: 1, 2, 4, or a multiple of 8 up to 64")]
    Size(u32),
    /// A function that others than its file may call, or that gives something else.
    #[error(
        "it is no static function of a .c file that gives an int or a long, so that what its callers do with it is not known"
    )]
    NotStatic,
    /// A function that the file defines more than once.
    #[error(
        "the file defines it {0} times, each for other configurations, and callers have one of them"
    )]
    Twice(usize),
    /// A function for callers that goes both ways.
    #[error("it reads and writes, and a window of its callers would be open for one way")]
    HelperBothWays,
    /// A result that a label does not stand for.
    #[error("it gives {0}, and its callers' label would stand for -EFAULT alone")]
    Gives(String),
    /// No caller with accesses beside a call.
    #[error(
        "no caller behind it has an access beside a call of it that one window would take in; without --into-callers it gets a window of its own"
    )]
    NoCaller,
    /// No sizes at all.
    #[error("no sizes were given: say them with --sizes, such as --sizes 4,8,16")]
    NoSizes,
}

impl Reason {
    /// Whether a flag surely allows what is refused.
    pub(crate) fn is_allowed(&self) -> bool {
        matches!(
            self,
            Self::GoesOn
                | Self::GoesOnReading
                | Self::UntestedReads
                | Self::OpenOverRounds
                | Self::Untouched { .. }
        )
    }
}
