//! What an expression does, in the order in which it does it.

use tree_sitter::Node;

use crate::model::{Hazard, Site};
use crate::node::Parts as _;
use crate::site::Context;

/// One thing that happens while an expression is evaluated.
pub(crate) enum Event {
    /// A user access.
    Site(Box<Site>),
    /// Something that no window may span: a call, or a part that may not happen.
    Barrier,
}

/// The events of an expression or of a simple statement.
pub(crate) fn events(context: &Context<'_>, node: Node<'_>) -> Vec<Event> {
    let mut found = Vec::new();
    walk(context, node, &mut found);
    found
}

fn walk(context: &Context<'_>, node: Node<'_>, out: &mut Vec<Event>) {
    if context.calls_nothing(node) {
        return;
    }
    match node.known_kind() {
        "sizeof_expression" | "offsetof_expression" | "type_descriptor" => {}
        "call_expression" => call(context, node, out),
        "conditional_expression" => conditional(context, node, out),
        "binary_expression" if context.operator(node) == b"&&" => conjunction(context, node, out),
        "assignment_expression" => in_order(context, [node.part("right"), node.part("left")], out),
        "compound_statement" | "ERROR" => fenced(context, node, out),
        _ => children(context, node, out),
    }
}

fn children(context: &Context<'_>, node: Node<'_>, out: &mut Vec<Event>) {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .for_each(|child| walk(context, child, out));
}

fn in_order(context: &Context<'_>, parts: [Option<Node<'_>>; 2], out: &mut Vec<Event>) {
    parts
        .into_iter()
        .flatten()
        .for_each(|part| walk(context, part, out));
}

fn call(context: &Context<'_>, node: Node<'_>, out: &mut Vec<Event>) {
    if let Some(site) = context
        .access(node)
        .and_then(|access| context.site(node, access))
    {
        out.push(Event::Site(Box::new(site)));
        return;
    }
    children(context, node, out);
    let callee = context.callee(node);
    if !context.vocabulary.is_transparent(callee) && !context.vocabulary.is_pure(callee) {
        out.push(Event::Barrier);
    }
}

/// `a ?: access` goes on only without a fault; any other branch may not happen.
fn conditional(context: &Context<'_>, node: Node<'_>, out: &mut Vec<Event>) {
    in_order(context, [node.part("condition"), None], out);
    match node.part("consequence") {
        None => in_order(context, [node.part("alternative"), None], out),
        Some(consequence) => {
            maybe(context, consequence, out);
            node.part("alternative")
                .into_iter()
                .for_each(|part| maybe(context, part, out));
        }
    }
}

/// `!access && !access` goes on only without a fault; any other right side may
/// not happen, which is for the window to ask as the chain did.
fn conjunction(context: &Context<'_>, node: Node<'_>, out: &mut Vec<Event>) {
    let (left, right) = (node.part("left"), node.part("right"));
    let negated = left.is_some_and(|left| context.seen(left).starts_with(b"!"));
    in_order(context, [left, None], out);
    let goes_on = negated && matches!(out.last(), Some(Event::Site(_)));
    let first = out.len();
    in_order(context, [right, None], out);
    if !goes_on {
        out.iter_mut().skip(first).for_each(mark_conditional);
    }
}

fn mark_conditional(event: &mut Event) {
    if let Event::Site(site) = event {
        site.hazards.push(Hazard::Conditional);
    }
}

/// A part that may not happen.
fn maybe(context: &Context<'_>, node: Node<'_>, out: &mut Vec<Event>) {
    let inner = events(context, node);
    if !inner.is_empty() {
        out.push(Event::Barrier);
        out.extend(inner);
        out.push(Event::Barrier);
    }
}

fn fenced(context: &Context<'_>, node: Node<'_>, out: &mut Vec<Event>) {
    out.push(Event::Barrier);
    children(context, node, out);
    out.push(Event::Barrier);
}
