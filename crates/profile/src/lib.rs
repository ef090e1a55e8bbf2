//! Profiles that others made: text of perf, as it is or as mail wraps and quotes it,
//! perf.data, folded stacks, tables of times, and tollgate's own counts by function.
//!
//! ```text
//! bytes --Reading::of--> Reading (Profile, Annotation, TimeTable, Point)
//! Profile + Kinds --Boundary::of--> the boundary's share, by kind and by caller
//! Profile, Profile + groups --Comparison::new--> what changed, and whether that can be told
//! ```
//!
//! Sans-IO: bytes in, values out.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod boundary;
mod compare;
mod explain;
pub mod fuzz;
mod gather;
mod interval;
mod json;
mod kinds;
mod perf_data;
mod profile;
mod reading;
mod series;
mod text;

pub use boundary::{Boundary, Caller, DebugShare, GateShare, KindShare, SymbolShare, gate_shares};
pub use compare::{Comparison, Group, GroupError, MARKED, RefusedComparison, ShareChange, Told};
pub use explain::{Candidate, Evidence, Explained, explain};
pub use interval::{Interval, Level, difference, needed, share};
pub use kinds::{Debugging, Gate, Kind, Kinds, matches};
pub use perf_data::{Kallsyms, PerfDataError, is_perf_data};
pub use profile::{
    Form, Frame, Measure, Place, Profile, Row, Samples, Space, Stack, is_unresolved, space_of,
};
pub use reading::{ReadError, Reading};
pub use series::{PointChange, Ranges, Series, SeriesPoint, point_series};
pub use text::annotate::{Annotated, Annotation, NamedBy};
pub use text::points::Point;
pub use text::times::{Side, TimeRow, TimeTable};
