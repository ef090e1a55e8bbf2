//! What opens and closes a window: each style has its own.

use std::fmt::Debug;

use crate::lines::{arm, call};

/// A window as the style's words for it ask: where it opens, and what happens if
/// it does not.
pub(crate) struct Opening<'a> {
    /// The middle of the names of the begin and the end, empty for both ways.
    pub(crate) way: &'a str,
    /// The object whose range is checked.
    pub(crate) object: &'a str,
    /// The size of that range.
    pub(crate) size: &'a str,
    /// The statements of the way out.
    pub(crate) exit: &'a [String],
    /// How wide a line may be.
    pub(crate) columns: usize,
    /// The blanks before it.
    pub(crate) indent: &'a str,
}

/// What opens and closes one window.
pub(crate) trait Gate: Debug {
    /// The statement that closes the window; none where a block does.
    fn end(&self) -> Option<String> {
        None
    }

    /// The statements that open it; nothing where a block does.
    fn opening(&self, _: &Opening<'_>) -> String {
        String::new()
    }

    /// The line that opens the block of the accesses, which leave it by the label,
    /// and the one that closes it.
    fn scope(&self, _: &Opening<'_>, _label: &str) -> Option<(String, String)> {
        None
    }

    /// An address of an access, through the pointer that the window has.
    fn address(&self, address: String) -> String {
        address
    }
}

impl Opening<'_> {
    /// `if (!begin(…)) exit`.
    fn begin(&self) -> String {
        self.begin_behind("if")
    }

    /// The same behind another word than `if`.
    pub(crate) fn begin_behind(&self, keyword: &str) -> String {
        let head = format!("{keyword} (!user{}_access_begin", self.way);
        let arguments = [self.object, self.size];
        let begin = call(self.columns, self.indent, &head, &arguments, "))");
        begin + &arm(self.exit, self.indent)
    }
}

/// `user_write_access_begin()` and its end; the middle of both names.
#[derive(Debug)]
pub(crate) struct Plain(pub(crate) &'static str);

impl Gate for Plain {
    fn end(&self) -> Option<String> {
        Some(format!("user{}_access_end();", self.0))
    }

    fn opening(&self, window: &Opening<'_>) -> String {
        window.begin()
    }
}
