use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::{Access, accesses, each};
use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::site::{bare, span};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "double-fetch",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a value is fetched from the user, checked, and fetched again for its use",
    why: "Another thread of the user can change it between the two. What was checked is then not what is \
          used. Fetch once, check the copy and use the copy.",
};

/// So many fetches of a function are compared with each other.
const FETCHES: usize = 64;

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    let mut fetches = accesses(scene);
    fetches.retain(|access| access.word.direction == Direction::Read);
    fetches.truncate(FETCHES);
    for (at, first) in fetches.iter().enumerate() {
        let later = fetches.iter().skip(at + 1);
        let again = later.filter(|second| follows(scene, first, second));
        if let Some(second) = again
            .into_iter()
            .find(|second| is_double(scene, first, second))
        {
            out.push(violation(scene, first, second));
        }
    }
}

fn violation(scene: &Scene<'_>, first: &Access<'_>, second: &Access<'_>) -> Violation {
    let page = scene.page;
    let message = format!(
        "what line {} fetched and the code checked is fetched again here, and used from here",
        scene.line(first.span)
    );
    let mut violation = page.violation(&INFO, second.span, "fetched again", message);
    violation
        .related
        .push(page.mark(first.span, "fetched first, then checked"));
    violation
}

/// Whether a path leads from the one to the other, with the same user pointer.
fn follows(scene: &Scene<'_>, first: &Access<'_>, second: &Access<'_>) -> bool {
    let place = Span::new(first.span.start, second.span.end);
    let address: BTreeSet<&str> = names(scene, first.user).collect();
    let moved = |effect: &Effect| {
        matches!(effect.kind, EffectKind::Write(_))
            && address.contains(scene.graph.name_of(effect))
            && !scene.graph.is_behind(effect)
    };
    first.user_root == second.user_root
        && !scene.graph.effects_in(place).any(moved)
        && together(first.node, second.node)
}

/// The variables that are named in a place.
fn names<'s>(scene: &'s Scene<'_>, place: Span) -> impl Iterator<Item = &'s str> {
    let effects = scene.graph.effects_in(place);
    effects.map(|effect| scene.graph.name_of(effect))
}

/// Whether every branch that holds the first holds the second, too.
fn together(first: Node<'_>, second: Node<'_>) -> bool {
    let mut node = first;
    while let Some(parent) = node.parent() {
        let branch = match parent.kind() {
            "if_statement" => {
                Some(node.id()) != parent.child_by_field_name("condition").map(|c| c.id())
            }
            "case_statement" | "else_clause" | "conditional_expression" => true,
            _ => false,
        };
        if branch && !span(node).contains(span(second)) {
            return false;
        }
        node = parent;
    }
    true
}

fn is_double(scene: &Scene<'_>, first: &Access<'_>, second: &Access<'_>) -> bool {
    let single = |access: &Access<'_>| access.count.is_none();
    match (single(first), single(second)) {
        (true, true) => {
            first.address == second.address
                && is_checked(scene, first, second, &first.value_root)
                && is_used(scene, second, &second.value_root)
        }
        (true, false) => field_of(&first.address, &second.address).is_some_and(|field| {
            is_checked(scene, first, second, &first.value_root)
                && uses_field(scene, first, second, &field)
        }),
        (false, false) if first.address == second.address => checked_field(scene, first, second)
            .is_some_and(|field| uses_field(scene, first, second, &field)),
        _ => false,
    }
}

/// `len` where the first address is `&p->len` and the second is `p`.
fn field_of(first: &Expression, whole: &Expression) -> Option<String> {
    let Term::Address(place) = &first.term else {
        return None;
    };
    match &place.term {
        Term::Member {
            holder,
            arrow: true,
            field,
        } if **holder == *whole => Some(field.clone()),
        _ => None,
    }
}

/// The conditions between two fetches.
fn conditions(scene: &Scene<'_>, first: &Access<'_>, second: &Access<'_>) -> Vec<Span> {
    let mut found = conditions_from(scene, first.span.end);
    found.retain(|place| place.start < second.span.start && !place.contains(second.span));
    found
}

/// The conditions that end behind a byte.
fn conditions_from(scene: &Scene<'_>, byte: usize) -> Vec<Span> {
    let mut found = Vec::new();
    each(scene.root, &mut |node| {
        let condition = match node.kind() {
            "if_statement" | "while_statement" | "switch_statement" => {
                node.child_by_field_name("condition")
            }
            _ => None,
        };
        found.extend(condition.map(span).filter(|place| byte <= place.end));
    });
    found
}

/// Whether a condition between the two asks for the variable, beyond the fetch
/// that fills it.
fn is_checked(scene: &Scene<'_>, first: &Access<'_>, second: &Access<'_>, variable: &str) -> bool {
    conditions(scene, first, second)
        .into_iter()
        .any(|condition| {
            let from = if condition.contains(first.span) {
                Span::new(first.span.end, condition.end)
            } else {
                condition
            };
            scene.graph.names(from, variable)
        })
}

fn is_used(scene: &Scene<'_>, second: &Access<'_>, variable: &str) -> bool {
    let mut reads = scene.reads(variable);
    reads.any(|read| second.span.end <= read.span.start)
}

/// The field of the first copy that a condition between the two asks for.
fn checked_field(scene: &Scene<'_>, first: &Access<'_>, second: &Access<'_>) -> Option<String> {
    let conditions = conditions(scene, first, second);
    let mut found = None;
    each(scene.root, &mut |node| {
        let place = span(node);
        let asked = node.kind() == "field_expression"
            && first.span.end <= place.start
            && conditions.iter().any(|c| c.contains(place));
        if asked && found.is_none() {
            found = field(scene, node, &first.value_root);
        }
    });
    found
}

/// The field, if the node is one of that variable.
fn field(scene: &Scene<'_>, node: Node<'_>, variable: &str) -> Option<String> {
    let holder = bare(node.child_by_field_name("argument")?);
    (scene.context.seen(holder) == variable.as_bytes())
        .then(|| node.child_by_field_name("field"))
        .flatten()
        .map(|field| scene.context.written(field))
}

/// Whether the second copy's own field is read after it, and neither set nor
/// checked again.
fn uses_field(scene: &Scene<'_>, first: &Access<'_>, second: &Access<'_>, wanted: &str) -> bool {
    let (mut read, mut set) = (false, false);
    let checks = operands(scene, &conditions(scene, first, second));
    let later = operands(scene, &conditions_from(scene, second.span.end));
    let again = |place: Span| {
        let mut own = later.iter().filter(|own| own.span.contains(place));
        own.any(|own| checks.contains(own))
    };
    each(scene.root, &mut |node| {
        if span(node).start < second.span.end || node.kind() != "field_expression" {
            return;
        }
        if field(scene, node, &second.value_root).as_deref() != Some(wanted) {
            return;
        }
        let assigned = node.parent().is_some_and(|p| {
            p.kind() == "assignment_expression"
                && p.child_by_field_name("left").map(|l| l.id()) == Some(node.id())
        });
        // Set again, compared with what was checked, or checked as it was.
        let settled = assigned || is_compared(scene, node) || again(span(node));
        set |= settled;
        read |= !settled;
    });
    read && !set
}

/// What conditions ask for, each thing by itself.
fn operands(scene: &Scene<'_>, conditions: &[Span]) -> Vec<Expression> {
    let mut found = Vec::new();
    for whole in conditions.iter().filter_map(|at| scene.expression(*at)) {
        let either = whole.joined("||").into_iter();
        found.extend(either.flat_map(|own| own.joined("&&")).cloned());
    }
    found
}

/// Whether a condition compares the node with something.
fn is_compared(scene: &Scene<'_>, node: Node<'_>) -> bool {
    let mut node = node;
    while let Some(parent) = node.parent() {
        let operator = scene.context.operator(parent);
        if parent.kind() == "binary_expression" && matches!(operator, b"!=" | b"==") {
            return true;
        }
        if parent.kind().ends_with("_statement") {
            return false;
        }
        node = parent;
    }
    false
}
