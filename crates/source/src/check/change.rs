//! A function before and after a change: what it does to user memory, in order.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::calls::Direction;
use crate::expression::Expression;
use crate::flow::Action;
use crate::node::Parts as _;
use crate::site::{Context, bare, span};
use crate::span::Span;

use super::accesses::{Access, root_of};
use super::context::{FileContext, FunctionContext};

/// One access as a change is judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) call: String,
    pub(crate) direction: Direction,
    pub(crate) span: Span,
    /// The address, without casts.
    pub(crate) address: Expression,
    /// What is stored, without casts.
    pub(crate) value: Expression,
    /// Both as they are written.
    pub(crate) written: (String, String),
    pub(crate) root: String,
    /// Whether it checks its range by itself.
    pub(crate) checked: bool,
    /// Whether it happens in a window.
    pub(crate) inside: bool,
    /// Whether something stops speculation before it: itself, or what is on every
    /// way to it.
    pub(crate) fenced: bool,
    /// Whether the next access happens even if this one faults: `err |= …`.
    pub(crate) goes_on: bool,
    /// Whether something on every way to it checks the range of its object.
    pub(crate) behind_check: bool,
}

/// What a function does to user memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its accesses, in the order of the text.
    pub(crate) touches: Vec<Touch>,
    /// The variables whose range a begin or access_ok() checks, and where.
    pub(crate) checks: Vec<(String, Span)>,
    /// The name of the function.
    pub(crate) name: Span,
}

impl Facts {
    /// Whether the function checks that object's range in some way.
    pub(crate) fn checks(&self, root: &str) -> bool {
        let by_itself = |t: &Touch| t.root == root && t.checked;
        self.checks.iter().any(|(have, _)| have == root) || self.touches.iter().any(by_itself)
    }
}

/// A function that both sides of a change have.
pub(crate) struct FunctionChange<'a> {
    pub(crate) before: &'a Facts,
    pub(crate) after: &'a Facts,
    /// The file after the change.
    pub(crate) file: &'a FileContext<'a>,
}

/// The facts of a file's functions, by name.
pub(crate) type FactsOf = BTreeMap<String, Facts>;

/// The facts of one function.
pub(crate) fn facts(function: &FunctionContext<'_>) -> Facts {
    let checks = checks(function);
    let touches = function.accesses.iter();
    let touches = touches.map(|access| touch(function, access, &checks));
    Facts {
        touches: touches.collect(),
        checks,
        name: function.body.name_span,
    }
}

fn touch(function: &FunctionContext<'_>, access: &Access<'_>, checks: &[(String, Span)]) -> Touch {
    let written = |own: &Expression| function.file.plain(own.span);
    let value = Expression::of(function.context, bare(access.value_node));
    // The accessors and copies that are no part of others fence by themselves.
    let own = !access.word.part && !access.inside;
    Touch {
        call: access.word.name.clone(),
        direction: access.word.direction,
        span: access.span,
        written: (written(&access.address), written(&value)),
        value,
        address: access.address.clone(),
        checked: access.word.checked,
        inside: access.inside,
        fenced: own || function.is_fenced(access.span, &access.user_root),
        root: access.user_root.clone(),
        goes_on: goes_on(function.context, access.node),
        behind_check: is_behind_check(function, access, checks),
    }
}

/// Whether every way to an access that checks nothing passes what checks the range of the
/// variable that its address is made from: a check, or an access that does by itself.
fn is_behind_check(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    checks: &[(String, Span)],
) -> bool {
    if access.word.checked || access.inside {
        return true;
    }
    let declared = |at: Span| {
        let local = function.local_at(&access.user_root, at);
        local.map(|local| local.declared)
    };
    let others = function.accesses.iter();
    let others = others.filter(|own| own.word.checked && own.user_root == access.user_root);
    let checks = checks.iter().filter(|(root, _)| *root == access.user_root);
    let places = others.map(|own| own.span).chain(checks.map(|(_, at)| *at));
    // A variable of another block may have its name.
    let same = |at: &Span| declared(*at) == declared(access.span);
    let places: Vec<Span> = places.filter(same).collect();
    let graph = function.graph;
    let bare = graph.reached(0, |node| {
        node.action != Action::Join && places.iter().any(|at| at.contains(node.span))
    });
    !places.is_empty() && !graph.nodes_in(access.span).any(|node| bare.contains(&node))
}

/// Whether an access is one of `err |= access;`, `access | access`; or the first of them
/// in `err = access; err |= access;`.
fn goes_on(context: &Context<'_>, node: Node<'_>) -> bool {
    let mut node = node;
    while let Some(parent) = node.parent() {
        match (parent.known_kind(), context.operator(parent)) {
            ("assignment_expression", b"|=" | b"+=") | ("binary_expression", b"|" | b"+") => {
                return true;
            }
            ("assignment_expression", b"=") if is_added_to(context, parent) => return true,
            (
                "parenthesized_expression" | "assignment_expression" | "conditional_expression",
                _,
            ) => {}
            _ => return false,
        }
        node = parent;
    }
    false
}

/// Whether the next statement adds to the variable that an assignment sets.
fn is_added_to(context: &Context<'_>, assignment: Node<'_>) -> bool {
    let next = assignment.parent().and_then(|own| own.next_named_sibling());
    let next = next.filter(|next| next.known_kind() == "expression_statement");
    let next = next.and_then(|next| next.named_child(0));
    let target = |node: Node<'_>| node.part("left").map(|left| context.written(left));
    next.is_some_and(|next| {
        next.known_kind() == "assignment_expression"
            && context.operator(next) == b"|="
            && target(next) == target(assignment)
    })
}

/// The variables of the checks and of the begins that check.
fn checks(function: &FunctionContext<'_>) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    function.calls.iter().for_each(|&call| {
        let name = function.called(call);
        let address = call.part("arguments").and_then(|a| a.named_child(0));
        if let Some(address) = address.filter(|_| function.file.words.checks_range(name)) {
            found.push((root_of(function.context, address), span(call)));
        }
    });
    let nodes = 0..function.graph.nodes.len();
    let begins = nodes.filter_map(|node| {
        let (begin, opened) = function.begin(node)?;
        Some((function.root_in(begin.address?)?, opened))
    });
    found.extend(begins);
    found
}
