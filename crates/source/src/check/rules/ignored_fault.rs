use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::{Access, accesses};
use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "ignored-fault",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "what a read from the user filled is used, but not whether it faulted",
    why: "After a fault get_user() leaves 0 and copy_from_user() zeroes the rest. The code goes on with \
          that as if the user had said it.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for access in accesses(scene) {
        let reads = access.word.direction == Direction::Read && !access.inside;
        if !reads || !is_own(scene, &access) || !is_lost(scene, &access) {
            continue;
        }
        let name = access.value_root.clone();
        let mut reads = scene.reads(&name);
        let Some(used) = reads.find(|read| read.span.start >= access.span.end) else {
            continue;
        };
        let page = scene.page;
        let message = format!(
            "{name} is used, but nothing asks whether {}() faulted",
            access.word.name
        );
        let mut violation = page.violation(&INFO, access.span, "its result is dropped", message);
        violation.related.push(page.mark(used.span, "used here"));
        out.push(violation);
    }
}

/// Whether the value goes into a variable of this function; what a pointer
/// leads to is used elsewhere, if at all.
fn is_own(scene: &Scene<'_>, access: &Access<'_>) -> bool {
    let text = access.value.of(scene.page.text);
    let plain = !text.contains(&b'*')
        && !text.contains(&b'(')
        && memchr::memmem::find(text, b"->").is_none();
    let name = &access.value_root;
    let mut locals = scene.graph.locals.iter();
    plain && locals.any(|l| l.name == *name && (l.plain || l.array))
}

/// Whether nobody looks at the result: a statement of its own, or a variable
/// that is not read any more.
fn is_lost(scene: &Scene<'_>, access: &Access<'_>) -> bool {
    let Some(parent) = access.node.parent() else {
        return false;
    };
    match parent.kind() {
        "expression_statement" => true,
        "assignment_expression" => is_unread(scene, parent),
        _ => false,
    }
}

fn is_unread(scene: &Scene<'_>, assignment: Node<'_>) -> bool {
    let Some(left) = assignment.child_by_field_name("left") else {
        return false;
    };
    let own = assignment
        .parent()
        .is_some_and(|p| p.kind() == "expression_statement");
    let plain = left.kind() == "identifier" && scene.context.operator(assignment) == b"=";
    let name = scene.context.written(left);
    let local = scene.graph.locals.iter().any(|l| l.name == name);
    let read = scene.reads(&name).next().is_some();
    own && plain && local && !read
}
