//! The source rules of `check`: every window closed on every path, and what
//! else goes wrong around user memory.
//!
//! A file's words are looked at as they are, behind every `#if`. A function that
//! accesses user memory is parsed; its statements become a graph, and every path
//! through it is followed with what is open on it. A rule then only picks what it
//! knows to be wrong (`rules/`).

mod accesses;
mod alias;
mod all_asked_for;
mod allocation;
mod allow;
mod apart;
mod asked;
mod asked_late;
mod before_front;
mod behind_front;
mod below;
mod bits;
mod bounded;
mod brimful;
mod callee;
mod callers;
mod carried;
mod change;
mod checked_short;
mod checker;
mod checks;
mod comparison;
mod compat_layout;
mod conditions;
mod context;
mod counting;
mod cut_string;
mod dangling;
mod digits;
mod errno_index;
mod errors_of_others;
mod excerpt;
mod expanded;
mod extent;
mod fate;
mod fetch;
mod fetched;
mod fill;
mod filled;
mod filled_place;
mod forced;
mod format;
mod handed;
mod handed_on;
mod hanging;
mod heap;
mod heard;
mod held;
mod inlines;
mod interest;
mod kept_member;
mod kernel_members;
mod known;
mod learn;
mod left_held;
mod left_of;
mod limit;
mod linear;
mod lockers;
mod locks;
mod lost_on_a_way;
mod made;
mod measured;
mod model;
mod moved;
mod moved_too_far;
mod narrowed;
mod never_negative;
mod new_calls;
mod old_value;
mod only_least;
mod order;
mod overlong;
mod owned;
mod part;
mod partly_written;
mod paths;
mod pieces;
mod placed;
mod plain_results;
mod range;
mod refetched;
mod remaining;
mod result_test;
mod room;
mod rounds;
mod rule;
mod rules;
mod scanned;
mod settled;
mod short;
mod side;
mod space;
mod strings;
mod summary;
mod taken_anew;
mod taken_off;
pub(crate) mod tokens;
mod told_room;
mod unasked_length;
mod unbounded;
mod unfilled;
mod unset;
mod valued;
pub(crate) mod words;

pub use checker::{Before, Checker};
pub use checks::{Checks, FileSkipped, KeptChecks, Located, Log};
pub use comparison::{ChangedFile, Comparison};
pub use heard::{Heard, Said, Subject};
pub use inlines::Inlines;
pub use learn::Learned;
pub use model::{
    Checked, Confidence, Excerpt, Mark, RuleInfo, Severity, Skipped, Suggestion, Unchecked,
    Violation,
};
pub use new_calls::{holds_words, pastes};
pub use rules::{rule, rules};
pub use side::{OF_ARCHITECTURE, Seen, Side, Snapshot, TEACHERS};
pub use words::{CheckWords, Undefined};
