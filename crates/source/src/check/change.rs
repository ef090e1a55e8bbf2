//! A function before and after a change: what it does to user memory, in order.

use std::collections::BTreeMap;

use tree_sitter::Node;

use crate::site::{Context, span};
use crate::span::Span;
use crate::vocabulary::Direction;

use super::accesses::{accesses_in, each_call, root_of};
use super::scene::{Page, Scene};
use super::words::CheckWords;

/// One access as a change is judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) call: String,
    pub(crate) direction: Direction,
    pub(crate) span: Span,
    /// The address, without blanks and casts.
    pub(crate) address: String,
    /// What is stored, without blanks, casts and parentheses.
    pub(crate) value: String,
    pub(crate) root: String,
    /// Whether it checks its range by itself.
    pub(crate) checked: bool,
    /// Whether it happens in a window.
    pub(crate) inside: bool,
    /// Whether other accesses are made of it, with a fence of their own.
    pub(crate) part: bool,
    /// Whether the next access happens even if this one faults: `err |= …`.
    pub(crate) goes_on: bool,
}

/// What a function does to user memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its accesses, in the order of the text.
    pub(crate) touches: Vec<Touch>,
    /// The variables whose range a begin or access_ok() checks.
    pub(crate) checks: Vec<String>,
    /// Words that stop speculation.
    pub(crate) fences: usize,
    /// The name of the function.
    pub(crate) name: Span,
}

impl Facts {
    /// Whether the function checks that object's range in some way.
    pub(crate) fn checks(&self, root: &str) -> bool {
        let by_itself = |t: &Touch| t.root == root && t.checked;
        self.checks.iter().any(|have| have == root) || self.touches.iter().any(by_itself)
    }
}

/// A function that both sides of a change have.
pub(crate) struct Change<'a> {
    pub(crate) before: &'a Facts,
    pub(crate) after: &'a Facts,
    /// The file after the change.
    pub(crate) page: &'a Page<'a>,
}

/// The facts of a file's functions, by name.
pub(crate) type FactsOf = BTreeMap<String, Facts>;

/// The facts of one function.
pub(crate) fn facts(scene: &Scene<'_>) -> Facts {
    let (context, words) = (scene.context, scene.page.words);
    let touches = accesses_in(context, words, scene.root)
        .into_iter()
        .map(|access| Touch {
            call: access.word.name.clone(),
            direction: access.word.direction,
            span: access.span,
            value: value_of(context, access.value),
            address: access.address,
            root: access.user_root,
            checked: access.word.checked,
            inside: access.inside,
            part: access.word.part,
            goes_on: goes_on(context, access.node),
        })
        .collect();
    let body = scene.body.span.of(scene.page.text);
    Facts {
        touches,
        checks: checks(context, words, scene.root),
        fences: words.fences(body),
        name: scene.body.name_span,
    }
}

fn value_of(context: &Context<'_>, value: Span) -> String {
    let text: String = value.text(context.original).split_whitespace().collect();
    let text = text.trim_start_matches('(').trim_end_matches(')');
    match text.split_once(')') {
        // A cast: the type ends with the first closing parenthesis.
        Some((kind, rest)) if !kind.contains('(') && !rest.is_empty() => rest.to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether an access is one of `err |= access;`, `access | access`.
fn goes_on(context: &Context<'_>, node: Node<'_>) -> bool {
    let mut node = node;
    while let Some(parent) = node.parent() {
        match (parent.kind(), context.operator(parent)) {
            ("assignment_expression", b"|=" | b"+=") | ("binary_expression", b"|" | b"+") => {
                return true;
            }
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

fn checks(context: &Context<'_>, words: &CheckWords, root: Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    each_call(root, &mut |call| {
        let name = String::from_utf8_lossy(context.callee(call)).into_owned();
        let checks = words.checks_range(name.as_bytes()) || words.begin(&name).is_some();
        let address = call
            .child_by_field_name("arguments")
            .and_then(|a| a.named_child(0));
        if let Some(address) = address.filter(|_| checks) {
            found.push(root_of(context, address));
        }
    });
    found.extend(scoped(context, words, root));
    found
}

/// Objects of scoped windows, which the normaliser made loops.
fn scoped(context: &Context<'_>, words: &CheckWords, root: Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    super::accesses::each(root, &mut |node| {
        if node.kind() != "while_statement" {
            return;
        }
        let text = span(node).text(context.original);
        let Some((name, rest)) = text.split_once('(') else {
            return;
        };
        if words.scoped(name.trim()).is_some() {
            let address = rest.split([',', ')']).next().unwrap_or_default();
            found.push(address.trim().trim_start_matches('&').to_owned());
        }
    });
    found
}
