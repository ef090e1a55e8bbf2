use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::{asked, extent, space, unbounded};
use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unbounded-operand",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "what the user gives as it is divides, or says how far something is shifted; a shift leaves nothing",
    why: "A division by 0 traps on x86, and ends the program that is in the kernel then. A shift by as many bits as \
          the type has, or more, gives anything; UBSAN says so when it happens.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    function.each_of(
        &["binary_expression", "assignment_expression"],
        |node| match function.context.operator(node) {
            b"/" | b"%" | b"/=" | b"%=" => out.extend(divided(function, node)),
            b"<<" | b">>" | b"<<=" | b">>=" => {
                out.extend(shifted(function, node));
                out.extend(shifted_out(function, node));
            }
            _ => {}
        },
    );
}

/// What stands behind an operator, where it is a place.
fn operand(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Expression> {
    let own = function.expression_of(node);
    let (Term::Binary(_, _, right) | Term::Assignment(_, _, right)) = &own.term else {
        return None;
    };
    let number = right.uncast().1;
    matches!(number.term, Term::Name(_) | Term::Member { .. }).then(|| number.clone())
}

/// By a number of which nothing asks whether it is 0.
fn divided(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let (number, at) = (operand(function, node)?, span(node));
    if !asked::may_be_least(function, &number) || asked::is_chosen(function, at, &number) {
        return None;
    }
    let number_is = space::type_of(function, &number)?;
    matches!(number_is.shape, Shape::Scalar { .. }).then_some(())?;
    let users = unbounded::users_within_both(function, &number, at);
    let users = users.filter(|own| !own.is_handed)?;
    let by = users
        .by
        .iter()
        .all(|own| asked::may_be_least(function, own));
    (by && is_unjudged(function, &number, at)).then_some(())?;
    let told = format!(
        "{} is the user's, and nothing asks whether it is 0 before it divides",
        function.file.plain(number.span)
    );
    Some(function.file.violation(&INFO, at, "divided here", told))
}

/// By a number that nothing bounds.
fn shifted(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let (number, at) = (operand(function, node)?, span(node));
    let source = unbounded::users(function, &number, at)?;
    let of = space::type_of(function, &number)?;
    matches!(of.shape, Shape::Scalar { .. }).then_some(())?;
    let handed = function.is_parameter(number.root().name()?)
        && unbounded::is_callback(function)
        && !function.file.answers_a_program(function.body);
    (!handed && is_unjudged(function, &number, at)).then_some(())?;
    let told = format!(
        "{source} is the user's, and nothing bounds it before it says how far something is shifted"
    );
    Some(function.file.violation(&INFO, at, "shifted here", told))
}

/// By a number that says itself that nothing is left: `hi << 32` of an `u32`. A cast around the
/// whole comes too late.
fn shifted_out(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let own = function.expression_of(node);
    let (Term::Binary(of, _, by) | Term::Assignment(of, _, by)) = &own.term else {
        return None;
    };
    let own = matches!(of.term, Term::Name(_) | Term::Member { .. });
    (own && matches!(by.term, Term::Number(_))).then_some(())?;
    let by = extent::constant(function, by)?;
    // What is narrower is widened to an int first (C11, 6.5.7 and 6.3.1.1).
    (by >= 8 * INT).then_some(())?;
    let of_type = space::type_of(function, of)?;
    matches!(of_type.shape, Shape::Scalar { .. }).then_some(())?;
    let bits = 8 * of_type.size.max(INT);
    (by >= bits).then_some(())?;
    let told = format!(
        "{} has {bits} bits, and is shifted by {by}",
        function.file.plain(of.span)
    );
    let at = span(node);
    Some(function.file.violation(&INFO, at, "shifted here", told))
}

/// The bytes of an int.
const INT: u64 = 4;

/// Whether no call before may have judged it.
fn is_unjudged(function: &FunctionContext<'_>, number: &Expression, at: Span) -> bool {
    !unbounded::is_handed_before(function, number, at)
}
