use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::declared_type;
use crate::check::rule::{Look, Rule};
use crate::expression::Expression;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "swapped-arguments",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "the user's pointer stands where the kernel's belongs, and the other way around",
    why: "copy_from_user() and get_user() have the kernel's side first, copy_to_user() the user's: swapped, \
          the address of the kernel fails the range check, and the user's is gone through by hand.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    out.extend(
        function
            .accesses
            .iter()
            .filter_map(|own| swapped(function, own)),
    );
}

fn swapped(function: &FunctionContext<'_>, own: &Access<'_>) -> Option<Violation> {
    let value = Expression::of(function.context, own.value_node);
    let value = value
        .name()
        .filter(|name| declared_type(function, name).is_some())?;
    // Whoever casts it says that it is the user's.
    let address = function.expression(own.user)?;
    let address = address.name().filter(|name| is_kernels(function, name))?;
    let message = format!(
        "{value} is the user's, and is given to {}() as the kernel's; {address} as the user's",
        own.word.name
    );
    let file = function.file;
    Some(file.violation(&INFO, own.span, "swapped", message))
}

/// Whether the variable is declared here, and not as the user's.
fn is_kernels(function: &FunctionContext<'_>, name: &str) -> bool {
    let known = function.graph.local(name).is_some() || function.is_parameter(name);
    known && declared_type(function, name).is_none()
}
