//! The accesses of a function in the order of the text, with what their
//! arguments are.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::Expression;
use crate::node::Parts as _;
use crate::site::{Context, bare, span};
use crate::span::Span;

use super::known::Summaries;
use super::words::{AccessWord, CheckWords};

/// One access, in a window or with its own.
#[derive(Clone, Debug)]
pub(crate) struct Access<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) word: AccessWord,
    pub(crate) span: Span,
    /// The other side of the user's address.
    pub(crate) value: Span,
    pub(crate) value_node: Node<'t>,
    /// The user's address.
    pub(crate) user: Span,
    /// How many bytes, if it is given.
    pub(crate) count: Option<Span>,
    pub(crate) bytes: Option<Expression>,
    /// The variable that the value is or lies in.
    pub(crate) value_root: String,
    /// The variable that the address is made from.
    pub(crate) user_root: String,
    /// The address, without casts.
    pub(crate) address: Expression,
    /// Whether it happens in a window.
    pub(crate) inside: bool,
}

/// A node with its kind, which the parser spells out anew for who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kinded<'t> {
    pub(crate) kind: &'static str,
    pub(crate) node: Node<'t>,
}

/// Every node below and with a node, in the order of the text, but not what is never
/// evaluated.
pub(crate) fn nodes(root: Node<'_>) -> Vec<Kinded<'_>> {
    let mut found = Vec::new();
    each(root, &mut |node| {
        let kind = node.kind();
        found.push(Kinded { kind, node });
    });
    found
}

/// The calls among nodes.
pub(crate) fn calls<'t>(nodes: &[Kinded<'t>]) -> Vec<Node<'t>> {
    let calls = nodes.iter().filter(|own| own.kind == "call_expression");
    calls.map(|own| own.node).collect()
}

/// Those of some calls that are accesses.
pub(crate) fn accesses<'t>(
    context: &Context<'_>,
    words: &CheckWords,
    calls: &[Node<'t>],
) -> Vec<Access<'t>> {
    let own = |call: &Node<'t>| {
        let name = context.callee(*call);
        let name = String::from_utf8_lossy(name);
        let inside = words.in_window(&name);
        let word = inside.or_else(|| words.access(&name))?;
        access(context, *call, word, inside.is_some())
    };
    calls.iter().filter_map(own).collect()
}

/// Those of some calls that are of a function of the file which copies what it is given.
pub(crate) fn through<'t>(
    context: &Context<'_>,
    known: &Summaries,
    calls: &[Node<'t>],
) -> Vec<Access<'t>> {
    if known.is_empty() {
        return Vec::new();
    }
    let own = |call: &Node<'t>| {
        let name = answer::text(context.callee(*call))?;
        let word = known.get(name)?.copies.as_ref()?;
        access(context, *call, word, false)
    };
    calls.iter().filter_map(own).collect()
}

/// Every node below and with a node, in the order of the text, but not what is
/// never evaluated.
pub(crate) fn each<'t>(node: Node<'t>, act: &mut impl FnMut(Node<'t>)) {
    visit(node, act, |node| {
        !matches!(node.kind(), "sizeof_expression" | "offsetof_expression")
    });
}

/// Every node below and with a node, what is never evaluated among them.
pub(crate) fn every<'t>(node: Node<'t>, act: &mut impl FnMut(Node<'t>)) {
    visit(node, act, |_| true);
}

/// Visits the nodes that are looked into, by one cursor: it makes nothing for a node.
fn visit<'t>(root: Node<'t>, act: &mut impl FnMut(Node<'t>), enters: impl Fn(Node<'t>) -> bool) {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        let looks = node.is_named() && enters(node);
        if looks {
            act(node);
        }
        if looks && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn access<'t>(
    context: &Context<'_>,
    call: Node<'t>,
    word: &AccessWord,
    inside: bool,
) -> Option<Access<'t>> {
    let word = word.clone();
    let arguments = call.part("arguments")?;
    let part = |at: usize| arguments.named_child(answer::fits::<u32, _>(at)?);
    let (value, user) = (part(word.value)?, part(word.user)?);
    Some(Access {
        node: call,
        span: span(call),
        value: span(value),
        value_node: value,
        user: span(user),
        count: word.count.and_then(part).map(span),
        bytes: word
            .count
            .and_then(part)
            .map(|count| Expression::of(context, count)),
        value_root: root_of(context, value),
        user_root: root_of(context, user),
        address: Expression::of(context, bare(user)),
        inside,
        word,
    })
}

/// The variable that an expression starts from, `frame` for `&frame->uc.uc_flags`.
pub(crate) fn root_of(context: &Context<'_>, node: Node<'_>) -> String {
    let whole = Expression::of(context, node);
    whole.root().span.text(context.original)
}
