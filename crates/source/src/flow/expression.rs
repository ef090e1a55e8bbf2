//! From the expressions of a body to the nodes of its graph, in the order in
//! which they are evaluated.

use tree_sitter::Node;

use crate::chain::unhinted;
use crate::compared::orders;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::build::Builder;
use super::graph::{EffectKind, Opening, Write};
use super::names::Step;

impl<'t> Builder<'_, '_> {
    pub(super) fn sides(&self, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
        Some((node.part("left")?, node.part("right")?))
    }

    /// An expression whose value is taken.
    pub(crate) fn value(&mut self, node: Node<'t>) {
        match node.known_kind() {
            "sizeof_expression" | "offsetof_expression" | "type_descriptor" | "comment" => {}
            "call_expression" => self.call(node),
            "assignment_expression" => self.assignment(node),
            "update_expression" => self.update(node),
            "conditional_expression" => self.conditional(node),
            "binary_expression" if matches!(self.context.operator(node), b"&&" | b"||") => {
                let (mut yes, no) = self.decide(node);
                yes.extend(no);
                self.ways = yes;
            }
            "pointer_expression" if self.context.operator(node) == b"&" => self.address(node, true),
            "compound_statement" => self.block(node, Self::children),
            // `(void)x` quietens a compiler; nobody takes the value.
            "cast_expression" if self.is_void(node) => {}
            _ if is_place(node) => self.read(node),
            _ => self.parts(node),
        }
    }

    pub(super) fn is_void(&self, cast: Node<'t>) -> bool {
        let (kind, value) = (cast.part("type"), cast.part("value"));
        kind.is_some_and(|kind| self.context.seen(kind) == b"void")
            && value.is_some_and(|value| value.known_kind() == "identifier")
    }

    pub(super) fn parts(&mut self, node: Node<'t>) {
        let compares = orders(self.context.operator(node));
        if compares && node.known_kind() == "binary_expression" {
            self.graph.comparisons.push(span(node));
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        children.into_iter().for_each(|child| self.value(child));
    }

    /// The place that an expression is; what it takes to know it is done.
    pub(crate) fn place(&mut self, node: Node<'t>) -> Option<usize> {
        match node.known_kind() {
            "identifier" => Some(self.variable(self.context.seen(node))),
            "parenthesized_expression" => self.place(node.named_child(0)?),
            "field_expression" => {
                let holder = node.part("argument")?;
                let field = self.context.written(node.part("field")?);
                let from = match self.context.operator(node) {
                    b"->" => self.behind(holder),
                    _ => self.place(holder),
                };
                Some(self.graph.places.step(from?, Step::Field(field)))
            }
            "subscript_expression" => self.element(node),
            "pointer_expression" if self.context.operator(node) == b"*" => {
                self.behind(node.part("argument")?)
            }
            _ => {
                self.value(node);
                None
            }
        }
    }

    /// What a pointer points to.
    pub(super) fn behind(&mut self, pointer: Node<'t>) -> Option<usize> {
        let inner = bare(pointer);
        if inner.known_kind() == "pointer_expression" && self.context.operator(inner) == b"&" {
            // `*(u32 *)&x`: a part of it.
            let place = self.place(bare(inner.part("argument")?))?;
            return Some(self.graph.places.step(place, Step::Element(String::new())));
        }
        if !is_place(inner) {
            self.value(inner);
            return None;
        }
        let place = self.place(inner)?;
        let local = self.graph.places.as_local(place);
        let array = local.and_then(|at| self.graph.locals.get(at));
        if array.is_some_and(|local| local.array) {
            return Some(self.graph.places.step(place, Step::Element(String::new())));
        }
        self.effect(EffectKind::Read, place, span(inner));
        Some(self.graph.places.step(place, Step::Behind))
    }

    pub(super) fn element(&mut self, node: Node<'t>) -> Option<usize> {
        let index = node.part("index")?;
        self.value(index);
        let holder = bare(node.part("argument")?);
        let from = match holder.known_kind() {
            // A member that is an array lies in its structure.
            "field_expression" => self.place(holder),
            _ => self.behind(holder),
        };
        if !self.context.has_constant_index(node) && !self.is_pointer(holder) {
            self.graph.indices.push((span(node), span(holder)));
        }
        let index = Step::Element(self.context.written(index));
        Some(self.graph.places.step(from?, index))
    }

    /// Whether an expression is a variable that is a pointer: a local one, or a
    /// parameter, which is never an array.
    pub(super) fn is_pointer(&mut self, node: Node<'t>) -> bool {
        if node.known_kind() != "identifier" {
            return false;
        }
        let place = self.variable(self.context.seen(node));
        let local = self.graph.places.as_local(place);
        match local.and_then(|at| self.graph.locals.get(at)) {
            Some(local) => !local.array,
            None => self.is_parameter(self.context.seen(node)),
        }
    }

    pub(super) fn read(&mut self, node: Node<'t>) {
        let Some(place) = self.place(node) else {
            return;
        };
        let local = self.graph.places.as_local(place);
        let array = local.and_then(|at| self.graph.locals.get(at));
        let kind = match array {
            // As a value it is the address of its first element.
            Some(local) if local.array => EffectKind::Address,
            _ => EffectKind::Read,
        };
        self.effect(kind, place, span(node));
    }

    /// `&place`; `kept` if whoever gets it may keep it.
    pub(super) fn address(&mut self, node: Node<'t>, kept: bool) {
        let Some(argument) = node.part("argument") else {
            return;
        };
        if let Some(place) = self.place(argument)
            && kept
            && !self.graph.places.is_behind(place)
        {
            self.effect(EffectKind::Address, place, span(node));
        }
    }

    pub(super) fn conditional(&mut self, node: Node<'t>) {
        let Some(condition) = node.part("condition") else {
            return self.parts(node);
        };
        let (yes, no) = self.decide(condition);
        self.ways = yes;
        if let Some(part) = node.part("consequence") {
            self.value(part);
        }
        let after = self.switch_to(no);
        if let Some(part) = node.part("alternative") {
            self.value(part);
        }
        self.join(after);
    }

    pub(super) fn assignment(&mut self, node: Node<'t>) {
        let Some((left, right)) = self.sides(node) else {
            return self.parts(node);
        };
        if self.context.operator(node) == b"=" {
            let place = self.place(bare(left));
            return self.stored(place, right, span(node));
        }
        self.value(right);
        let write = Write {
            value: Some(span(right)),
            compound: true,
            ..Write::default()
        };
        self.changed(left, write, span(node));
    }

    pub(super) fn update(&mut self, node: Node<'t>) {
        if let Some(argument) = node.part("argument") {
            let operator = node.part("operator");
            let next = self.context.operator(node) == b"++"
                && operator.is_some_and(|sign| sign.start_byte() > argument.start_byte());
            let write = Write {
                next,
                ..Write::default()
            };
            self.changed(argument, write, span(node));
        }
    }

    /// A place that is read and takes a new value.
    pub(super) fn changed(&mut self, left: Node<'t>, write: Write, at: Span) {
        if let Some(place) = self.place(bare(left)) {
            self.effect(EffectKind::Read, place, span(left));
            self.write(place, write, at);
        }
    }

    pub(super) fn write(&mut self, place: usize, write: Write, at: Span) {
        let optional = self.is_optional(at);
        self.effect(EffectKind::Write(Write { optional, ..write }), place, at);
    }

    /// A value that goes into a place.
    pub(crate) fn stored(&mut self, place: Option<usize>, right: Node<'t>, at: Span) {
        if let (Some(word), Some(place)) = (self.begin_of(right), place) {
            let call = unhinted(self.context, right);
            self.begin(&word, call, Opening::Stored(place));
            if word.always {
                // What it gives is no answer but the masked address.
                let value = Some(span(right));
                let write = Write {
                    value,
                    ..Write::default()
                };
                self.write(place, write, at);
            }
            return;
        }
        let inner = bare(right);
        if is_decision(self.context.operator(inner), inner) {
            return self.stored_decision(place, right, at);
        }
        let constant = is_constant(self.context, inner).then(|| self.context.written(inner));
        if constant.is_none() {
            self.value(right);
        }
        let Some(place) = place else { return };
        let text = self.context.seen(inner);
        let write = Write {
            value: Some(span(right)),
            constant,
            truth: truth(text),
            copies: self.copies(place, inner),
            ..Write::default()
        };
        self.write(place, write, at);
    }

    /// Whether a structure may be copied: one of the function's own, or what a
    /// pointer points to.
    pub(super) fn copies(&mut self, place: usize, value: Node<'t>) -> bool {
        let own = |graph: &super::Flow, place: usize| {
            let local = graph.places.as_local(place);
            local.and_then(|at| graph.locals.get(at)).map(|local| {
                let named = ["struct ", "union "];
                local.plain && named.iter().any(|word| local.base_type.starts_with(word))
            })
        };
        let from = match value.known_kind() {
            "identifier" => {
                let place = self.variable(self.context.seen(value));
                own(&self.graph, place).unwrap_or(false)
            }
            "pointer_expression" => self.context.operator(value) == b"*",
            _ => false,
        };
        own(&self.graph, place).unwrap_or(from)
    }
}

/// Whether an expression names a place.
pub(super) fn is_place(node: Node<'_>) -> bool {
    match node.known_kind() {
        "identifier" | "field_expression" | "subscript_expression" => true,
        "pointer_expression" => node
            .part("operator")
            .is_some_and(|operator| operator.known_kind() == "*"),
        _ => false,
    }
}

/// Whether an expression is a number, a name in capitals, or such with a minus.
fn is_constant(context: &crate::site::Context<'_>, node: Node<'_>) -> bool {
    match node.known_kind() {
        "number_literal" | "true" | "false" | "null" => true,
        "unary_expression" if context.operator(node) == b"-" => {
            let operand = node.part("argument").map(bare);
            operand.is_some_and(|operand| match operand.known_kind() {
                "number_literal" => true,
                "identifier" => context.seen(operand).iter().all(u8::is_ascii_uppercase),
                _ => false,
            })
        }
        _ => false,
    }
}

fn is_decision(operator: &[u8], node: Node<'_>) -> bool {
    node.known_kind() == "binary_expression" && matches!(operator, b"&&" | b"||")
        || node.known_kind() == "unary_expression" && operator == b"!"
}

/// What a constant is as a condition.
fn truth(text: &[u8]) -> Option<bool> {
    match text {
        b"0" | b"NULL" | b"false" => Some(false),
        b"1" | b"true" => Some(true),
        [b'-', b'E', ..] => Some(true),
        _ => None,
    }
}
