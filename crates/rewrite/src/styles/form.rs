//! What a style is: what it lacks, what it writes, its words.

use crate::offers::Offers;
use crate::plan::Plan;
use crate::refusal::Refusal;
use crate::subject::Subject;
use crate::writing::Written;

/// A style that rewrites runs of accesses.
pub(crate) trait Form {
    /// What it needs and the tree does not have.
    fn lacks(&self, offers: Offers) -> Option<&'static str> {
        let begins = offers.both || offers.read || offers.write;
        needs(begins, "user_access_begin(ptr, len)")
    }

    /// Whether it has a form for what is woven into the accesses: a pointer that
    /// moves, a condition, a way out of its own.
    fn weaves(&self) -> bool {
        false
    }

    /// Whether it has a form for a window in place of an `access_ok()` statement.
    fn takes_checks(&self) -> bool {
        false
    }

    /// Whether a window in place of a check has a form here.
    ///
    /// # Errors
    /// When it has none: what relies on the check is looked at by itself then.
    fn fits(&self, _: &Subject<'_>, _: &Plan) -> Result<(), Refusal> {
        Ok(())
    }

    /// Whether it has a form for a window around a loop.
    fn spans_loops(&self) -> bool {
        false
    }

    /// Whether it has one copy for a loop over the elements of an array.
    fn copies_elements(&self) -> bool {
        false
    }

    /// Whether what it opens is for the way of the accesses wherever it stands.
    fn keeps_ways(&self) -> bool {
        false
    }

    /// Writes what each plan asks, where it can.
    fn write(&self, subject: &Subject<'_>, plans: Vec<Plan>) -> Written;

    /// What the patch does to the function, for the first line of its message.
    fn does(&self, many: bool) -> &'static str {
        match many {
            true => "Use user access windows in",
            false => "Use one user access window in",
        }
    }

    /// The sentence that says what is done, `once` being how often.
    fn change(&self, once: &str) -> String {
        format!("Open it {once} and use the unsafe accessors inside.")
    }

    /// Whether each plan is one window.
    fn opens_one_each(&self) -> bool {
        true
    }

    /// What checks which range; `whole` if that is what a pointer points to, of
    /// every plan.
    fn range(&self, whole: bool) -> &'static str {
        match whole {
            true => "The begin checks the range of the whole object, next to the accesses",
            false => "The begin checks the range of all accesses behind it, next to them",
        }
    }

    /// In which order the accesses happen.
    fn order(&self) -> &'static str {
        "and the accesses happen in the same order"
    }

    /// What is said where variables are made zero.
    fn zeroes(&self) -> &'static str {
        "get_user() makes its variable zero on a fault, where something may look at it later: the variable is made \
         zero before the read."
    }
}

/// What a copy needs and the tree does not have.
pub(super) fn copies(offers: Offers) -> Option<&'static str> {
    needs(offers.copies, "copy_from_user() and copy_to_user()")
}

/// What a tree must have, if it does not.
pub(super) fn needs(has: bool, what: &'static str) -> Option<&'static str> {
    (!has).then_some(what)
}
