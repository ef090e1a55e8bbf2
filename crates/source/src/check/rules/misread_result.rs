use tree_sitter::Node;

use crate::check::accesses::{Access, accesses};
use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::check::words::Outcome;
use crate::expression::{Expression, Term};
use crate::flow::{EffectKind, StatementKind};
use crate::site::{bare, span};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "misread-result",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "how many bytes were not copied is taken for an error number",
    why: "copy_from_user() and copy_to_user() give the number of bytes that were left, 0 or more. A test \
          for less than 0 never holds, so that a fault goes unseen; a caller that is given them sees no \
          error number.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for access in accesses(scene) {
        if access.word.result != Some(Outcome::Left) {
            continue;
        }
        out.extend(returned(scene, &access));
        let Some(test) = tested(scene, &access) else {
            continue;
        };
        let page = scene.page;
        let name = &access.word.name;
        let message = format!("{name}() gives how many bytes were left, which is never negative");
        let mut violation = page.violation(&INFO, test, "never holds", message);
        if !test.contains(access.span) {
            let mark = page.mark(access.span, "how many bytes were left");
            violation.related.push(mark);
        }
        out.push(violation);
    }
}

/// A function that gives error numbers elsewhere gives the bytes that were left.
fn returned(scene: &Scene<'_>, access: &Access<'_>) -> Option<Violation> {
    let holder = access.node.parent()?;
    let errors = scene.graph.statements.iter().any(|own| {
        let given = own.expression.filter(|_| own.kind == StatementKind::Return);
        given.is_some_and(|given| scene.expression(given).is_some_and(|own| is_error(&own)))
    });
    if holder.kind() != "return_statement" || !errors {
        return None;
    }
    let name = &access.word.name;
    let message = format!(
        "{name}() gives how many bytes were left, and the function gives error numbers elsewhere"
    );
    let page = scene.page;
    let mut violation = page.violation(&INFO, span(holder), "no error number", message);
    // Callers may ask for no more than whether it is 0.
    violation.confidence = Confidence::Low;
    Some(violation)
}

/// `-EFAULT` and its like.
fn is_error(own: &Expression) -> bool {
    match &own.term {
        Term::Unary(operator, of) => {
            operator == "-" && of.name().is_some_and(|name| name.starts_with('E'))
        }
        _ => false,
    }
}

/// The test for less than 0 of what an access gives.
fn tested(scene: &Scene<'_>, access: &Access<'_>) -> Option<Span> {
    let mut node = access.node;
    while let Some(parent) = node.parent() {
        let operator = scene.context.operator(parent);
        match parent.kind() {
            "parenthesized_expression" => {}
            "binary_expression" => {
                return is_negative(&Expression::of(scene.context, parent)).then(|| span(parent));
            }
            "assignment_expression" if operator == b"=" => {
                let variable = parent.child_by_field_name("left").map(bare)?;
                if let Some(test) = stored(scene, variable, span(parent)) {
                    return Some(test);
                }
            }
            "init_declarator" => {
                let variable = parent.child_by_field_name("declarator")?;
                return stored(scene, variable, span(parent));
            }
            _ => return None,
        }
        node = parent;
    }
    None
}

/// `a < 0`
fn is_negative(own: &Expression) -> bool {
    matches!(&own.term, Term::Binary(_, operator, right) if operator == "<" && right.is_zero())
}

/// The test of a variable of the function that holds nothing but such results.
fn stored(scene: &Scene<'_>, variable: Node<'_>, at: Span) -> Option<Span> {
    if variable.kind() != "identifier" {
        return None;
    }
    let name = scene.context.written(variable);
    scene.graph.local(&name).filter(|local| local.plain)?;
    let mut writes = scene.graph.effects.iter().filter(|effect| {
        let written = matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some());
        written && scene.graph.name_of(effect) == name
    });
    if !writes.all(|effect| effect.span == at) {
        return None;
    }
    let tests = scene.graph.comparisons.iter();
    tests.copied().find(|test| {
        let own = scene.expression(*test).filter(is_negative);
        let of = own.and_then(|own| match own.term {
            Term::Binary(left, ..) => left.name().map(str::to_owned),
            _ => None,
        });
        test.start >= at.end && of.as_deref() == Some(&name)
    })
}
