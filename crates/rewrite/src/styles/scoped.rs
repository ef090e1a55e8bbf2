//! The style `scoped`: a block that opens the window and, whichever way it is
//! left, closes it. For trees whose headers have the scoped forms (Linux 6.19).

use std::rc::Rc;

use tollgate_source::Token;

use crate::gate::{Gate, Opening};
use crate::lines::call;
use crate::offers::Offers;
use crate::plan::{Checked, Plan};
use crate::refusal::{Reason, Refusal};
use crate::styles::form::{Form, needs};
use crate::styles::{pointer, relied};
use crate::subject::Subject;
use crate::writing::{self, Written};

/// Variables that the scoped forms declare: inside, these names mean something
/// else than outside.
const OWN: [&str; 3] = ["done", "scope", "_tmpptr"];

/// `scoped_user_write_access()`: the end of the block closes it.
pub(crate) struct Scoped;

impl Form for Scoped {
    fn lacks(&self, offers: Offers) -> Option<&'static str> {
        let scopes = needs(
            offers.scoped,
            "scoped_user_read_access() and scoped_user_write_access()",
        );
        scopes.or(needs(
            offers.local_labels,
            "unsafe_get_user() that leaves a scope with a cleanup by a label of its own (arch_unsafe_get_user())",
        ))
    }

    fn takes_checks(&self) -> bool {
        true
    }

    fn fits(&self, subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
        fit(subject, plan.clone()).map(drop)
    }

    fn spans_loops(&self) -> bool {
        true
    }

    fn keeps_ways(&self) -> bool {
        true
    }

    fn write(&self, subject: &Subject<'_>, plans: Vec<Plan>) -> Written {
        let (mut fitted, mut refused) = (Vec::new(), Vec::new());
        for plan in plans {
            match fit(subject, plan) {
                Ok(plan) => fitted.push(plan),
                Err(refusal) => refused.push(refusal),
            }
        }
        let mut written = writing::write(subject, fitted);
        written.refused.append(&mut refused);
        written
    }

    fn change(&self, once: &str) -> String {
        format!("Open it {once} with a scope that closes it, and use the unsafe accessors inside.")
    }

    fn range(&self, _: bool) -> &'static str {
        "The scope checks the range of the whole object, or masks the pointer where the architecture can"
    }
}

/// A scope; the end of its block closes the window.
#[derive(Debug)]
struct Block {
    /// The name of what opens it.
    name: String,
    /// Whether the size of what the pointer points to is all that is accessed.
    whole: bool,
}

impl Gate for Block {
    fn scope(&self, window: &Opening<'_>, label: &str) -> Option<(String, String)> {
        let arguments = [window.object, window.size, label];
        let short = [window.object, label];
        let arguments: &[&str] = if self.whole { &short } else { &arguments };
        let head = call(window.columns, window.indent, &self.name, arguments, ") {");
        Some((head, format!("{}}}", window.indent)))
    }
}

fn fit(subject: &Subject<'_>, plan: Plan) -> Result<Plan, Refusal> {
    pointer::spares_check(subject, &plan)?;
    let pointer = pointer::of(subject, &plan)?;
    let refuse = |reason| Err(subject.refuse(plan.region, reason));
    if pointer.is_const() && !subject.offers.scoped_const {
        return refuse(Reason::ConstPointer(pointer.name));
    }
    if plan.way.is_empty() && !subject.offers.scoped_both {
        return refuse(Reason::Begin);
    }
    if let Some(hidden) = OWN.iter().find(|name| is_named(subject, &plan, name)) {
        return refuse(Reason::Hidden((*hidden).to_owned()));
    }
    let mut plan = pointer::whole(subject, plan, &pointer)?;
    match &plan.checked {
        Some(checked) => {
            let far = relied::covered(subject, &plan, checked, &pointer)?;
            let checked = checked.clone();
            plan.checked = Some(Checked { far, ..checked });
        }
        None => pointer::dense(subject, &plan, &pointer)?,
    }
    let way = if plan.way.is_empty() { "_rw" } else { plan.way };
    let whole = plan.size == format!("sizeof(*{})", plan.object);
    let size = if whole { "" } else { "_size" };
    plan.gate = Rc::new(Block {
        name: format!("scoped_user{way}_access{size}"),
        whole,
    });
    Ok(plan)
}

/// Whether anything in the window names it, the operand of a `sizeof` included.
fn is_named(subject: &Subject<'_>, plan: &Plan, name: &str) -> bool {
    let code = subject.tokens(plan.region);
    let word = |token: &Token| token.is_code() && token.span.of(subject.text) == name.as_bytes();
    code.iter().any(word)
}
