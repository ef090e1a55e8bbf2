//! The style `scoped`: a block that opens the window and, whichever way it is
//! left, closes it. For trees whose headers have the scoped forms (Linux 6.19).

use tollgate_source::Token;

use crate::gate::{Gate, Scoped};
use crate::plan::{Plan, Subject};
use crate::pointer::{self, Pointer};
use crate::refusal::{Reason, Refusal};
use crate::window::{self, Written};

/// Variables that the scoped forms declare: inside, these names mean something
/// else than outside.
const OWN: [&str; 3] = ["done", "scope", "_tmpptr"];

/// Writes a scope for each plan that may have one.
pub(crate) fn write(subject: &Subject<'_>, plans: Vec<Plan>) -> Written {
    let (mut fitted, mut refused) = (Vec::new(), Vec::new());
    for plan in plans {
        match fit(subject, plan) {
            Ok(plan) => fitted.push(plan),
            Err(refusal) => refused.push(refusal),
        }
    }
    let mut written = window::write(subject, fitted);
    written.refused.append(&mut refused);
    written
}

fn fit(subject: &Subject<'_>, plan: Plan) -> Result<Plan, Refusal> {
    pointer::spares_check(subject, &plan)?;
    let pointer = Pointer::of(subject, &plan)?;
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
    pointer::dense(subject, &plan, &pointer)?;
    let way = if plan.way.is_empty() { "_rw" } else { plan.way };
    let whole = plan.size == format!("sizeof(*{})", plan.object);
    let size = if whole { "" } else { "_size" };
    plan.gate = Gate::Scoped(Scoped {
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
