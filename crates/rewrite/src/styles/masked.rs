//! The style `masked`: where the architecture can turn a bad pointer into one
//! that faults, that takes the place of the range check and its fence.
//!
//! fs/select.c and lib/strncpy_from_user.c have the form. The pointer holds the
//! masked address from then on, so that a function that looks at it again gets a
//! variable of its own for the window.

use std::rc::Rc;

use tollgate_source::Span;

use crate::edit::Edit;
use crate::gate::{Gate, Opening, Plain};
use crate::offers::Offers;
use crate::plan::Plan;
use crate::planning::declared::Pointer;
use crate::refusal::Refusal;
use crate::styles::form::{Form, needs};
use crate::styles::pointer;
use crate::styles::window::Window;
use crate::subject::Subject;
use crate::writing::variables::{declaring, free_name};
use crate::writing::{self, Written};

/// The window opened by `masked_user_access_begin()` where the architecture can.
pub(crate) struct Masked;

impl Form for Masked {
    fn lacks(&self, offers: Offers) -> Option<&'static str> {
        let masks = needs(
            offers.masked,
            "can_do_masked_user_access() and masked_user_access_begin()",
        );
        masks.or(Window.lacks(offers))
    }

    fn spans_loops(&self) -> bool {
        true
    }

    fn write(&self, subject: &Subject<'_>, plans: Vec<Plan>) -> Written {
        let mut variables = Vec::new();
        let (mut fitted, mut refused) = (Vec::new(), Vec::new());
        for plan in plans {
            match fit(subject, plan, &mut variables) {
                Ok(plan) => fitted.push(plan),
                Err(refusal) => refused.push(refusal),
            }
        }
        let mut written = writing::write(subject, fitted);
        written.refused.append(&mut refused);
        written
            .edits
            .extend(declarations(subject, &written, &variables));
        written
    }

    fn range(&self, _: bool) -> &'static str {
        "Where the architecture can mask the pointer, that takes the place of the range check and its fence: \
         a pointer outside user space then faults at the first access. Elsewhere the begin checks the range of \
         the whole object, next to the accesses"
    }
}

/// `masked_user_access_begin()`, or the plain begin where that is not to be had;
/// the plain end closes both.
#[derive(Debug)]
struct Begin {
    /// The plain begin and end.
    plain: Plain,
    /// The masked begin's name.
    begin: String,
    /// The pointer as the function has it.
    pointer: String,
    /// The variable that holds the masked pointer.
    masked: String,
}

impl Gate for Begin {
    fn end(&self) -> Option<String> {
        self.plain.end()
    }

    fn opening(&self, window: &Opening<'_>) -> String {
        let (masked, indent) = (&self.masked, window.indent);
        let kept = if self.pointer == *masked {
            String::new()
        } else {
            format!("{indent}{masked} = {};\n", self.pointer)
        };
        let (open, close) = if window.exit.len() > 1 {
            (" {", "} ")
        } else {
            ("", "")
        };
        let first = format!(
            "{indent}if (can_do_masked_user_access()){open}\n{indent}\t{masked} = {}({masked});\n",
            self.begin
        );
        let size = renamed(window.size, &self.pointer, masked);
        let plain = Opening {
            object: masked,
            size: &size,
            ..*window
        };
        kept + &first + &plain.begin_behind(&format!("{close}else if"))
    }

    fn address(&self, address: String) -> String {
        renamed(&address, &self.pointer, &self.masked)
    }
}

/// A variable that holds a masked pointer.
struct Variable {
    /// The pointer as the function has it.
    of: String,
    name: String,
    /// Its declaration.
    line: String,
    /// The regions of the windows that use it.
    windows: Vec<Span>,
}

fn fit(subject: &Subject<'_>, plan: Plan, variables: &mut Vec<Variable>) -> Result<Plan, Refusal> {
    pointer::spares_check(subject, &plan)?;
    let pointer = pointer::of(subject, &plan)?;
    let mut plan = pointer::whole(subject, plan, &pointer)?;
    pointer::dense(subject, &plan, &pointer)?;
    if subject.styled.one_mask {
        plan.way = "";
    }
    let masked = if pointer::used_again(subject, &plan, &pointer.name) {
        own_variable(subject, &plan, &pointer, variables)
    } else {
        pointer.name.clone()
    };
    let way = if subject.offers.masked_ways {
        plan.way
    } else {
        ""
    };
    plan.gate = Rc::new(Begin {
        plain: Plain(plan.way),
        begin: format!("masked_user{way}_access_begin"),
        pointer: pointer.name,
        masked,
    });
    Ok(plan)
}

/// The variable of the function that holds the masked pointer.
fn own_variable(
    subject: &Subject<'_>,
    plan: &Plan,
    pointer: &Pointer,
    variables: &mut Vec<Variable>,
) -> String {
    let known = variables.iter_mut().find(|own| own.of == pointer.name);
    if let Some(known) = known {
        known.windows.push(plan.region);
        return known.name.clone();
    }
    let taken: Vec<String> = variables.iter().map(|own| own.name.clone()).collect();
    let name = free_name(subject, "masked", &taken);
    variables.push(Variable {
        of: pointer.name.clone(),
        line: pointer.declare(&name),
        name: name.clone(),
        windows: vec![plan.region],
    });
    name
}

/// The edit that declares the variables which the windows use.
fn declarations(subject: &Subject<'_>, written: &Written, all: &[Variable]) -> Option<Edit> {
    let used = |own: &&Variable| {
        let mut plans = written.plans.iter();
        plans.any(|plan| own.windows.contains(&plan.region))
    };
    let lines: Vec<String> = all
        .iter()
        .filter(used)
        .map(|own| own.line.clone())
        .collect();
    declaring(subject, &lines)
}

/// `text` with each word `from` as `to`.
fn renamed(text: &str, from: &str, to: &str) -> String {
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
