//! One copy of an array in the place of a loop over its elements.

use crate::edit::Edit;
use crate::lines::{arm, call, widest};
use crate::plan::{Copied, Plan};
use crate::subject::Subject;
use crate::writing::{Written, braces};

/// Writes the copy that takes the place of so many rounds at most.
pub(super) fn write(
    subject: &Subject<'_>,
    plan: Plan,
    (copied, most): (Copied, usize),
    written: &mut Written,
) {
    // An `else` behind the loop would become that of the copy.
    if let Err(refusal) = braces::opening(subject, plan.region) {
        written.refused.push(refusal);
        return;
    }
    written.saved += most.saturating_sub(1);
    written.changes.extend(changes(&copied));
    let edit = Edit::replace(plan.region, text(subject, &plan, &copied));
    written.edits.push(edit);
    written.plans.push(plan);
}

/// `if (copy_to_user(…)) …`
fn text(subject: &Subject<'_>, plan: &Plan, copied: &Copied) -> String {
    let indent = subject.indent(plan.region.start);
    let (name, arguments) = match copied.reads {
        true => ("copy_from_user", [&copied.first, &plan.object, &plan.size]),
        false => ("copy_to_user", [&plan.object, &copied.first, &plan.size]),
    };
    let prefix = if copied.checks { "" } else { "__" };
    let head = format!("if ({prefix}{name}");
    let columns = widest(&subject.at(plan.region));
    let arguments = arguments.map(String::as_str);
    let asked = call(columns, &indent, &head, &arguments, "))");
    let text = asked + &arm(&plan.fault.statements, &indent);
    text.trim_start().to_owned()
}

fn changes(copied: &Copied) -> Vec<String> {
    let fault = match (copied.reads, copied.checks) {
        (true, true) => {
            "One thing changes: on a fault all elements from there on are made zero, where those behind it were left alone."
        }
        (true, false) => {
            "One thing changes: on a fault the element there is left as it was in part, where it was made zero."
        }
        (false, _) => {
            "One thing changes: on a fault a part of the element there may have been written."
        }
    };
    let hardened = format!(
        "The copy passes the checks of hardened usercopy, which the accesses did not: {} has to be memory that may be copied.",
        copied.array
    );
    vec![fault.to_owned(), hardened]
}
