//! What opens and closes a window, in the words of each style.

use crate::layout::call;
use crate::plan::Plan;
use crate::window::arm;

/// What opens and closes one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// `user_write_access_begin()` and its end; the middle of both names.
    Plain(&'static str),
    /// `masked_user_access_begin()`, or the plain begin where that is not to be
    /// had; the plain end closes both.
    Masked(Masked),
    /// `scoped_user_write_access()`; the end of its block closes it.
    Scoped(Scoped),
    /// `copy_to_user()` and the like, which open and close by themselves.
    Copies,
}

/// A masked begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Masked {
    /// The middle of the names of the plain begin and end.
    pub(crate) way: &'static str,
    /// The masked begin's name.
    pub(crate) begin: String,
    /// The pointer as the function has it.
    pub(crate) pointer: String,
    /// The variable that holds the masked pointer.
    pub(crate) masked: String,
}

/// A scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scoped {
    /// The name of what opens it.
    pub(crate) name: String,
    /// Whether the size of what the pointer points to is all that is accessed.
    pub(crate) whole: bool,
}

impl Gate {
    /// The window of the style `window`.
    pub(crate) fn plain(way: &'static str) -> Self {
        Self::Plain(way)
    }

    /// The statement that closes the window; none where a block does.
    pub(crate) fn end(&self) -> Option<String> {
        match self {
            Self::Plain(way) | Self::Masked(Masked { way, .. }) => {
                Some(format!("user{way}_access_end();"))
            }
            Self::Scoped(_) | Self::Copies => None,
        }
    }

    /// The statements that open it; nothing where a block does.
    pub(crate) fn opening(&self, plan: &Plan, columns: usize, indent: &str) -> String {
        match self {
            Self::Plain(_) => begin(plan, columns, indent, "if", &plan.object, &plan.size),
            Self::Masked(masked) => masked.opening(plan, columns, indent),
            Self::Scoped(_) | Self::Copies => String::new(),
        }
    }

    /// The line that opens the block of the accesses and the one that closes it.
    pub(crate) fn scope(
        &self,
        plan: &Plan,
        columns: usize,
        label: &str,
        indent: &str,
    ) -> Option<(String, String)> {
        let Self::Scoped(scoped) = self else {
            return None;
        };
        let (object, size) = (plan.object.as_str(), plan.size.as_str());
        let arguments = [object, size, label];
        let short = [object, label];
        let arguments: &[&str] = if scoped.whole { &short } else { &arguments };
        let head = call(columns, indent, &scoped.name, arguments, ") {");
        Some((head, format!("{indent}}}")))
    }

    /// An address of an access, through the pointer that the window has.
    pub(crate) fn address(&self, address: String) -> String {
        match self {
            Self::Masked(masked) => masked.renamed(&address),
            _ => address,
        }
    }
}

impl Masked {
    fn opening(&self, plan: &Plan, columns: usize, indent: &str) -> String {
        let masked = &self.masked;
        let kept = if self.pointer == *masked {
            String::new()
        } else {
            format!("{indent}{masked} = {};\n", self.pointer)
        };
        let (open, close) = if plan.fault.statements.len() > 1 {
            (" {", "} ")
        } else {
            ("", "")
        };
        let first = format!(
            "{indent}if (can_do_masked_user_access()){open}\n{indent}\t{masked} = {}({masked});\n",
            self.begin
        );
        let keyword = format!("{close}else if");
        let size = self.renamed(&plan.size);
        kept + &first + &begin(plan, columns, indent, &keyword, masked, &size)
    }

    fn renamed(&self, text: &str) -> String {
        renamed(text, &self.pointer, &self.masked)
    }
}

/// `if (!begin(…)) exit`.
fn begin(
    plan: &Plan,
    columns: usize,
    indent: &str,
    keyword: &str,
    object: &str,
    size: &str,
) -> String {
    let head = format!("{keyword} (!user{}_access_begin", plan.way);
    let begin = call(columns, indent, &head, &[object, size], "))");
    begin + &arm(&plan.fault.statements, indent)
}

/// `text` with each word `from` as `to`.
pub(crate) fn renamed(text: &str, from: &str, to: &str) -> String {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (found, _) in text.match_indices(from) {
        let before = text.get(..found).unwrap_or_default();
        let behind = text.get(found + from.len()..).unwrap_or_default();
        let member = before.ends_with('.') || before.ends_with("->");
        if found < at || member || part(before.chars().next_back()) || part(behind.chars().next()) {
            continue;
        }
        out.push_str(text.get(at..found).unwrap_or_default());
        out.push_str(to);
        at = found + from.len();
    }
    out + text.get(at..).unwrap_or_default()
}
