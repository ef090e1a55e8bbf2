//! The style `window`: begin, unsafe accesses, one label, an end on every path.

use crate::plan::Plan;
use crate::styles::form::Form;
use crate::subject::Subject;
use crate::writing::{self, Written};

/// `user_write_access_begin()`, `unsafe_put_user()`, one label.
pub(crate) struct Window;

impl Form for Window {
    fn weaves(&self) -> bool {
        true
    }

    fn takes_checks(&self) -> bool {
        true
    }

    fn spans_loops(&self) -> bool {
        true
    }

    fn write(&self, subject: &Subject<'_>, plans: Vec<Plan>) -> Written {
        writing::write(subject, plans)
    }
}
