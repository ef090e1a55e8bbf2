use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::check::accesses::{Access, accesses, each, root_of};
use crate::check::layout::{Layout, layouts, sizeof_operand, struct_name};
use crate::check::model::{Confidence, Severity, Suggestion, Violation};
use crate::check::range::function_tokens;
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::flow::{Local, is_assembly};
use crate::site::span;
use crate::{Direction, Span};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "copied-holes",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a struct on the stack is copied to the user with bytes that nobody set",
    why: "Members that are never set and the padding between members still hold what lay on the kernel's \
          stack. Setting each member does not fill the padding: clear the struct first.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for access in accesses(scene) {
        let whole = access.word.count.is_some() && access.word.direction == Direction::Write;
        let Some(local) = copied(scene, &access).filter(|_| whole) else {
            continue;
        };
        let filled = filled(scene, local, &access);
        if !filled.elsewhere {
            out.extend(judged(scene, &access, local, &filled));
        }
    }
}

/// The struct of this function, declared without a value, whose copy goes out.
fn copied<'s>(scene: &'s Scene<'_>, access: &Access<'_>) -> Option<&'s Local> {
    let text = scene.page.plain(access.value);
    let name = text.rsplit(')').next()?.trim().strip_prefix('&')?;
    let local = scene.graph.locals.iter().find(|l| l.name == name)?;
    let operand = sizeof_operand(scene.page.text, access.count?)?;
    let whole = operand == local.name || operand == local.base_type;
    (local.plain && !local.initialised && whole && struct_name(&local.base_type).is_some())
        .then_some(local)
}

#[derive(Default)]
struct Filled {
    members: BTreeSet<String>,
    /// Whether something that is not followed may have set all of it.
    elsewhere: bool,
}

/// What sets members of the struct before it is copied.
fn filled(scene: &Scene<'_>, local: &Local, access: &Access<'_>) -> Filled {
    let mut found = Filled::default();
    each(scene.root, &mut |node| {
        let before = node.start_byte() < access.span.start;
        if node.kind() == "identifier"
            && before
            && scene.context.seen(node) == local.name.as_bytes()
            && local.scope.contains(span(node))
        {
            mention(scene, node, &mut found);
        }
    });
    found
}

/// A mention of the struct: a member that is set or read, its size, or else
/// something that may fill it.
fn mention(scene: &Scene<'_>, node: Node<'_>, found: &mut Filled) {
    let Some(parent) = node.parent() else { return };
    match parent.kind() {
        // An operand says where assembly writes, not how far.
        _ if is_operand(scene, node) => found.elsewhere = true,
        "declaration" => {}
        "field_expression" => {
            let member = parent.child_by_field_name("field");
            let whole = outermost(parent);
            if is_target(scene, whole) {
                found
                    .members
                    .extend(member.map(|member| scene.context.written(member)));
            } else if takes_address(scene, whole) {
                found.elsewhere = true;
            }
        }
        _ => found.elsewhere = true,
    }
}

/// Whether a node is in an operand of inline assembly, which the parser sees as a
/// call.
fn is_operand(scene: &Scene<'_>, node: Node<'_>) -> bool {
    let tokens = function_tokens(scene);
    let is_assembly_at = |place: usize| {
        let at = tokens.partition_point(|token| token.span.start < place);
        let word = tokens.get(at).map(|token| token.span.of(scene.page.text));
        word.is_some_and(is_assembly)
    };
    let mut around = std::iter::successors(Some(node), Node::parent);
    around.any(|node| node.kind() == "call_expression" && is_assembly_at(node.start_byte()))
}

fn outermost(node: Node<'_>) -> Node<'_> {
    match node.parent() {
        Some(parent)
            if matches!(parent.kind(), "field_expression" | "subscript_expression")
                && parent.child_by_field_name("argument").map(|a| a.id()) == Some(node.id()) =>
        {
            outermost(parent)
        }
        _ => node,
    }
}

/// Whether a node is assigned, or filled by a read from the user.
fn is_target(scene: &Scene<'_>, node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else {
        return false;
    };
    let assigned = parent.kind() == "assignment_expression"
        && parent.child_by_field_name("left").map(|l| l.id()) == Some(node.id());
    let call = parent.parent().filter(|c| c.kind() == "call_expression");
    let read = call.is_some_and(|call| {
        let name = String::from_utf8_lossy(scene.context.callee(call)).into_owned();
        let words = scene.page.words;
        words
            .access(&name)
            .or_else(|| words.in_window(&name))
            .is_some_and(|w| w.direction == Direction::Read)
    });
    assigned || read
}

fn takes_address(scene: &Scene<'_>, node: Node<'_>) -> bool {
    // An array member decays to its address as an argument.
    node.parent().is_some_and(|p| {
        p.kind() == "pointer_expression" && scene.context.operator(p) == b"&"
            || p.kind() == "argument_list"
    })
}

fn judged(
    scene: &Scene<'_>,
    access: &Access<'_>,
    local: &Local,
    filled: &Filled,
) -> Option<Violation> {
    let name = struct_name(&local.base_type)?;
    let known = layouts(scene.context.vocabulary, scene.page.text, scene.page.tokens);
    let (what, confidence) = match known.get(name) {
        Some(layout) => (missing(layout, filled)?, Confidence::High),
        None => (
            "its padding, and any member that is not set here, is what lay on the stack".to_owned(),
            Confidence::Low,
        ),
    };
    let page = scene.page;
    let message = format!("struct {name} goes to the user, but {what}");
    let mut violation = page.violation(&INFO, access.span, "copied whole", message);
    violation.confidence = confidence;
    if let Some(declared) = declaration(scene, local) {
        violation
            .related
            .push(page.mark(span(declared), "declared without a value"));
        violation.suggestion = cleared(scene, declared, local);
    }
    Some(violation)
}

/// What of the struct nobody has set.
fn missing(layout: &Layout, filled: &Filled) -> Option<String> {
    let unset: Vec<&str> = layout
        .members
        .iter()
        .map(|member| member.name.as_str())
        .filter(|name| !filled.members.contains(*name))
        .collect();
    if let Some(first) = unset.first() {
        return Some(match unset.len() {
            1 => format!("its member {first} is never set"),
            n => format!("{n} of its members are never set, {first} the first"),
        });
    }
    let (at, size) = *layout.holes().first()?;
    Some(format!(
        "nobody set the {size} bytes of padding at offset {at} (64-bit)"
    ))
}

fn declaration<'t>(scene: &Scene<'t>, local: &Local) -> Option<Node<'t>> {
    let mut found = None;
    each(scene.root, &mut |node| {
        let declares = node.kind() == "declaration"
            && node
                .child_by_field_name("declarator")
                .is_some_and(|d| root_of(scene.context, d) == local.name);
        if declares && found.is_none() && local.scope.contains(span(node)) {
            found = Some(node);
        }
    });
    found
}

/// `struct x v;` alone gets a memset() behind the declarations of its block.
fn cleared(scene: &Scene<'_>, declared: Node<'_>, local: &Local) -> Option<Suggestion> {
    let mut next = declared.next_named_sibling()?;
    while matches!(next.kind(), "declaration" | "comment") {
        next = next.next_named_sibling()?;
    }
    let at = next.start_byte();
    let line = scene.page.lines.line_start(at);
    let indent = Span::new(line, at).text(scene.page.text);
    indent.trim().is_empty().then(|| Suggestion {
        span: Span::new(at, at),
        text: format!("memset(&{0}, 0, sizeof({0}));\n{indent}", local.name),
        why: "clear all of it first".to_owned(),
    })
}
