//! What a function sets of memory that it allocates: of a struct, or of an array of them.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::flow::Local;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::context::FunctionContext;
use super::filled::{Filled, behind, filled_member, goes_out, member, of_callee};
use super::words::CheckWords;

/// What is set behind a pointer before a place, of whatever element.
pub(crate) fn filled_behind(
    function: &FunctionContext<'_>,
    pointer: &Local,
    allocated: Span,
    before: Span,
) -> Filled {
    filled_behind_past(function, (pointer, allocated, before), |_| false)
}

/// The same on a way that passes by some places.
pub(crate) fn filled_behind_past(
    function: &FunctionContext<'_>,
    (pointer, allocated, before): (&Local, Span, Span),
    passes_by: impl Fn(Span) -> bool,
) -> Filled {
    filled_by(function, (pointer, allocated, before), |node, filled| {
        if !passes_by(span(node)) {
            reached(function, node, before, filled);
        }
    })
}

/// What is set of the elements of an array that a struct ends with, `p->all[]`, before a place,
/// of whatever element.
pub(crate) fn filled_elements(
    function: &FunctionContext<'_>,
    (pointer, array): (&Local, &str),
    allocated: Span,
    before: Span,
) -> Filled {
    filled_by(function, (pointer, allocated, before), |node, filled| {
        of_array(function, (node, array), before, filled);
    })
}

/// What all mentions of a pointer before a place set, but that where it takes its value.
fn filled_by<'t>(
    function: &FunctionContext<'t>,
    (pointer, allocated, before): (&Local, Span, Span),
    mut set: impl FnMut(Node<'t>, &mut Filled),
) -> Filled {
    let mut filled = Filled::default();
    mentions(function, pointer, before, |node| {
        // `kmalloc_obj(*p)` takes the size of what it names.
        if !allocated.contains(span(node)) {
            set(node, &mut filled);
        }
    });
    filled.elsewhere |= function.graph.unseen.contains(&pointer.name);
    filled.settle();
    filled
}

/// A mention of a pointer to such a struct: its other members say nothing of the array.
fn of_array(
    function: &FunctionContext<'_>,
    (node, array): (Node<'_>, &str),
    before: Span,
    found: &mut Filled,
) {
    let Some(parent) = function.above(node) else {
        return;
    };
    let is_part = |name: &str| parent.part(name).map(|own| own.id()) == Some(node.id());
    let field = parent
        .part("field")
        .map(|own| function.context.written(own));
    match (parent.known_kind(), field) {
        ("pointer_declarator" | "declaration", _) => {}
        ("init_declarator", _) if is_part("declarator") => {}
        ("assignment_expression", _) if is_part("left") => {}
        ("unary_expression" | "parenthesized_expression", _) => {}
        ("field_expression", Some(own)) if own == array => {
            match function.above(parent).map(|own| own.known_kind()) {
                Some("init_declarator" | "assignment_expression") => {
                    address(function, parent, before, found);
                }
                _ => reached(function, parent, before, found),
            }
        }
        ("field_expression", Some(_)) => {}
        _ => found.handed = true,
    }
}

fn mentions<'t>(
    function: &FunctionContext<'t>,
    local: &Local,
    before: Span,
    mut act: impl FnMut(Node<'t>),
) {
    for node in function.mentions(&local.name) {
        if node.end_byte() <= before.start && local.scope.contains(span(node)) {
            act(node);
        }
    }
}

/// A mention of a pointer to the memory: what is set behind it, one of its elements, a test of
/// it, or what gives it back.
fn reached(function: &FunctionContext<'_>, node: Node<'_>, before: Span, found: &mut Filled) {
    let Some(parent) = function.above(node) else {
        return;
    };
    let part = |name: &str| parent.part(name).map(|own| own.id()) == Some(node.id());
    let called = |ask: fn(&CheckWords, &str) -> bool| {
        let call = function
            .above(parent)
            .filter(|_| parent.known_kind() == "argument_list");
        let name = call.and_then(|call| function.callee(call));
        name.is_some_and(|name| ask(function.file.words, name))
    };
    match parent.known_kind() {
        // Its declaration, and what it takes.
        "pointer_declarator" | "declaration" => {}
        "init_declarator" if part("declarator") => {}
        "assignment_expression" if part("left") => {}
        "subscript_expression" if part("argument") => element(function, parent, before, found),
        "binary_expression" if function.context.operator(parent) == b"+" => {
            moved(function, parent, before, found);
        }
        "unary_expression" | "binary_expression" | "parenthesized_expression" => {}
        "argument_list" if called(|words, name| words.frees(name)) => {}
        "argument_list" => match of_callee(function, node) {
            Some(own) => found.add(own),
            None => found.handed = true,
        },
        _ => behind(function, node, found),
    }
}

/// `p[i]`: a member that is set, or whose address is handed on or kept.
fn element(function: &FunctionContext<'_>, place: Node<'_>, before: Span, found: &mut Filled) {
    let Some(parent) = function.above(place) else {
        return;
    };
    let operator = function.context.operator(parent);
    match parent.known_kind() {
        "field_expression" if operator == b"." => match member(function, place, b".") {
            Some(own) => filled_member(function, own, found),
            None => found.elsewhere = true,
        },
        "pointer_expression" if operator == b"&" => address(function, parent, before, found),
        "sizeof_expression" => {}
        _ => found.elsewhere = true,
    }
}

/// `p + i`: an element's address.
fn moved(function: &FunctionContext<'_>, sum: Node<'_>, before: Span, found: &mut Filled) {
    let around = std::iter::successors(Some(sum), Node::parent);
    let own = around.take_while(|own| bare(*own).id() == sum.id()).last();
    let own = own.unwrap_or(sum);
    match own
        .parent()
        .filter(|around| around.known_kind() == "field_expression")
    {
        Some(_) => match member(function, own, b"->") {
            Some(own) => filled_member(function, own, found),
            None => found.elsewhere = true,
        },
        None => address(function, own, before, found),
    }
}

/// The address of an element: handed on, or kept by a variable that has no other.
fn address(function: &FunctionContext<'_>, own: Node<'_>, before: Span, found: &mut Filled) {
    let Some(parent) = function.above(own) else {
        return;
    };
    match parent.known_kind() {
        "argument_list" if goes_out(function, own) => {}
        "argument_list" => match of_callee(function, own) {
            Some(own) => found.add(own),
            None => found.handed = true,
        },
        "init_declarator" | "assignment_expression" => {
            match function.pays().and_then(|()| kept(function, parent, own)) {
                Some(alias) => mentions(function, alias, before, |node| {
                    if !span(parent).contains(span(node)) {
                        reached(function, node, before, found);
                    }
                }),
                None => found.elsewhere = true,
            }
        }
        _ => found.elsewhere = true,
    }
}

/// What is set by a variable that keeps a member's address and nothing else, `p = &x.m`, `p = &x.m[i]`, and
/// whether that is an element's.
pub(crate) fn set_by_alias(
    function: &FunctionContext<'_>,
    place: Node<'_>,
) -> Option<(Filled, bool)> {
    let address = function.above(place).filter(|own| {
        own.known_kind() == "pointer_expression" && function.context.operator(*own) == b"&"
    })?;
    let taking = function.above(address)?;
    matches!(
        taking.known_kind(),
        "init_declarator" | "assignment_expression"
    )
    .then_some(())?;
    function.pays()?;
    let alias = kept(function, taking, address)?;
    let all = Span::new(alias.scope.end, alias.scope.end);
    // What is named before it leads anywhere is another question.
    let filled = filled_by(function, (alias, span(taking), all), |node, filled| {
        if node.start_byte() > taking.start_byte() {
            match fills_all(function, node) {
                true => filled.handed = true,
                false => reached(function, node, all, filled),
            }
        }
    });
    let mut parts = std::iter::successors(Some(place), |own| own.part("argument"));
    let array = parts.any(|own| own.known_kind() == "subscript_expression");
    Some((filled, array))
}

/// Whether a call copies something over what a pointer leads to, or clears it.
fn fills_all(function: &FunctionContext<'_>, pointer: Node<'_>) -> bool {
    let arguments = function.above(pointer);
    let call = arguments.and_then(|own| function.above(own));
    let name = call.and_then(|own| function.callee(own));
    name.zip(arguments).is_some_and(|(name, all)| {
        let words = function.file.words;
        let at = words.fills(name).map(|own| own.object);
        let at = at.or_else(|| Some(words.clears(name)?.object));
        let object = at.and_then(|at| all.named_child(answer::fits(at)?));
        object == Some(pointer)
    })
}

/// The variable that takes an address, and never anything else.
fn kept<'s>(
    function: &'s FunctionContext<'_>,
    taking: Node<'_>,
    address: Node<'_>,
) -> Option<&'s Local> {
    let target = taking.part("left").or_else(|| taking.part("declarator"))?;
    let target = match target.known_kind() {
        "pointer_declarator" => target.part("declarator")?,
        _ => target,
    };
    let name = answer::text(function.context.seen(target))
        .filter(|_| target.known_kind() == "identifier")?;
    let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
    let only = values.all(|(_, value)| value == span(address));
    function.graph.local(name).filter(|own| only && !own.array)
}
