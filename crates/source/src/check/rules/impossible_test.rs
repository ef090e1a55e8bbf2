use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::settled::settled;
use crate::check::space;
use crate::expression::{Expression, Term};
use crate::site::span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "impossible-test",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a test of both ends of a range that no number passes, or that each does",
    why: "What is to refuse a number of the user's refuses none, or every one: && stands where || \
          belongs, or the other way around.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    function.each_of(&["binary_expression"], |node| {
        let (joint, never) = match function.context.operator(node) {
            b"&&" => ("&&", true),
            b"||" => ("||", false),
            _ => return out.extend(known(function, node)),
        };
        let around = function.above(node);
        let part = around.is_some_and(|own| function.context.operator(own) == joint.as_bytes());
        if !part {
            out.extend(impossible(function, node, (joint, never)));
        }
    });
}

/// A comparison that has but one outcome, whatever the number is.
fn known(function: &FunctionContext<'_>, node: Node<'_>) -> Option<Violation> {
    let own = settled(function, node)?;
    let file = function.file;
    let outcome = if own.holds { "always" } else { "never" };
    let asked = file.plain(span(node));
    let message = format!("`{asked}` {outcome} holds: {}", own.because);
    Some(file.violation(&INFO, span(node), outcome, message))
}

/// The two parts of a condition that leave nothing, or everything.
fn impossible(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    (joint, never): (&str, bool),
) -> Option<Violation> {
    let whole = function.expression_of(node);
    let bounds: Vec<(&Expression, Bound<'_>)> = whole
        .joined(joint)
        .into_iter()
        .filter_map(|part| Some((part, Bound::of(part)?)))
        .map(|(part, bound)| (part, if never { bound } else { bound.denied() }))
        .collect();
    let (one, other, number) = bounds.iter().enumerate().find_map(|(at, (one, left))| {
        let mut behind = bounds.iter().skip(at + 1);
        let (other, _) = behind.find(|(_, right)| left.excludes(function, right))?;
        Some((*one, *other, left.number))
    })?;
    let file = function.file;
    let all = if never { "no" } else { "every" };
    let (one, other) = (file.plain(one.span), file.plain(other.span));
    let number = file.plain(number.span);
    let message = format!("`{one} {joint} {other}` holds for {all} {number}");
    let label = if never { "never" } else { "always" };
    Some(file.violation(&INFO, span(node), label, message))
}

/// `n < 5`, `n > 5`, the limit itself included or not.
struct Bound<'e> {
    number: &'e Expression,
    limit: &'e Expression,
    /// Whether the number is more than the limit.
    above: bool,
    included: bool,
}

impl<'e> Bound<'e> {
    fn of(part: &'e Expression) -> Option<Self> {
        let Term::Binary(left, operator, right) = &part.uncast().1.term else {
            return None;
        };
        let place = |own: &Expression| {
            matches!(
                own.term,
                Term::Name(_) | Term::Member { .. } | Term::Element { .. }
            )
        };
        let (above, included) = match operator.as_str() {
            "<" => (false, false),
            "<=" => (false, true),
            ">" => (true, false),
            ">=" => (true, true),
            _ => return None,
        };
        place(left).then_some(Self {
            number: left,
            limit: right,
            above,
            included,
        })
    }

    /// `n >= 5` of `n < 5`
    fn denied(self) -> Self {
        Self {
            above: !self.above,
            included: !self.included,
            ..self
        }
    }

    /// Whether no number is within both: one has to be more than what the other may be at most.
    fn excludes(&self, function: &FunctionContext<'_>, other: &Self) -> bool {
        let (least, most) = match (self.above, other.above) {
            (true, false) => (self, other),
            (false, true) => (other, self),
            _ => return false,
        };
        if least.number != most.number {
            return false;
        }
        let (Some(from), Some(to)) = (
            space::bytes(function, least.limit.uncast().1),
            space::bytes(function, most.limit.uncast().1),
        ) else {
            return false;
        };
        let next = |limit: u64, included: bool| i128::from(limit) + i128::from(!included);
        let to = i128::from(to) - i128::from(!most.included);
        next(from, least.included) > to
    }
}
