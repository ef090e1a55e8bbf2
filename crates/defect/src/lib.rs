//! What is said where tollgate itself is wrong, and which failures are answers.
//!
//! Three things can come of a call that fails. Where something of the user's is
//! at fault (a file, a patch, a program), the crate that found it has an error of
//! its own. Where nothing but tollgate can be, there is one error for all of it:
//! [`Defect`]. And where the failure says what was asked (whether these bytes are
//! text, that word a number), it is an [`answer`].
//!
//! A failure that is none of these must not become a value.

use std::fmt;
use std::panic::Location;

pub mod answer;

/// A broken invariant: tollgate is wrong, not what it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    what: String,
    at: &'static Location<'static>,
}

impl Defect {
    /// With what is not as it must be, as a clause: `two edits of the patch
    /// overlap at byte 12`.
    #[must_use]
    #[track_caller]
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            at: Location::caller(),
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, at } = self;
        write!(
            f,
            "a defect of tollgate {}, not of what it was given: {what} ({}:{}); \
             please send us this line, the command, and the file that it read",
            env!("CARGO_PKG_VERSION"),
            at.file(),
            at.line(),
        )
    }
}

impl std::error::Error for Defect {}

/// What has to be there, or tollgate is wrong.
pub trait OrDefect<T> {
    /// The value; without one, what that breaks.
    ///
    /// # Errors
    /// A defect with `what`, and with the error if there is one.
    fn or_defect(self, what: &str) -> Result<T, Defect>;
}

impl<T> OrDefect<T> for Option<T> {
    #[track_caller]
    fn or_defect(self, what: &str) -> Result<T, Defect> {
        match self {
            Some(value) => Ok(value),
            None => Err(Defect::new(what)),
        }
    }
}

impl<T, E: fmt::Display> OrDefect<T> for Result<T, E> {
    #[track_caller]
    fn or_defect(self, what: &str) -> Result<T, Defect> {
        match self {
            Ok(value) => Ok(value),
            Err(error) => Err(Defect::new(format!("{what}: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_says_what_broke_where_and_what_to_send() {
        let (line, defect) = (line!(), Defect::new("two edits overlap at byte 12"));
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            defect.to_string(),
            format!(
                "a defect of tollgate {version}, not of what it was given: two edits overlap at \
                 byte 12 ({}:{line}); please send us this line, the command, and the file that \
                 it read",
                file!()
            )
        );
    }

    #[test]
    fn what_is_missing_is_named_at_the_place_that_asked() {
        let line = line!() + 1;
        let missing = None::<u8>.or_defect("no number is free").unwrap_err();
        assert!(missing.to_string().contains(&format!("{}:{line}", file!())));
        let failed = "x".parse::<u8>().or_defect("the count is no number");
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains("the count is no number: invalid digit"));
    }
}
