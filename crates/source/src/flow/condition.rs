//! From conditions to the ways that they divide, each asked only where the ones
//! before it do not decide.

use tree_sitter::Node;

use crate::chain::unhinted;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::build::{Builder, Ways};
use super::expression::is_place;
use super::graph::{Action, Condition, Edge, Opening, Write};
use super::statement::Junction;

impl<'t> Builder<'_, '_> {
    /// A condition: the ways on if it holds, and if it does not.
    pub(crate) fn decide(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let node = unhinted(self.context, node);
        match (node.known_kind(), self.context.operator(node)) {
            ("unary_expression", b"!") => self.negated(node),
            ("binary_expression", b"&&") => self.both(node),
            ("binary_expression", b"||") => self.either(node),
            ("binary_expression", b"==" | b"!=") => self.compared(node),
            ("assignment_expression", b"=") => self.assigned_test(node),
            ("number_literal" | "true" | "false", _) => self.constant(node),
            _ => self.atom(node),
        }
    }

    pub(super) fn negated(&mut self, node: Node<'t>) -> (Ways, Ways) {
        match node.part("argument") {
            Some(argument) => {
                let (yes, no) = self.decide(argument);
                (no, yes)
            }
            None => self.atom(node),
        }
    }

    pub(super) fn joined(&mut self, node: Node<'t>, both: bool, left: Node<'t>, right: Node<'t>) {
        self.graph.junctions.push(Junction {
            span: span(node),
            both,
            left: span(left),
            right: span(right),
        });
    }

    pub(super) fn both(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let Some((left, right)) = self.sides(node) else {
            return self.atom(node);
        };
        self.joined(node, true, left, right);
        let (yes, mut no) = self.decide(left);
        self.ways = yes;
        let (yes, not) = self.decide(right);
        no.extend(not);
        (yes, no)
    }

    pub(super) fn either(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let Some((left, right)) = self.sides(node) else {
            return self.atom(node);
        };
        self.joined(node, false, left, right);
        let (mut yes, no) = self.decide(left);
        self.ways = no;
        let (more, no) = self.decide(right);
        yes.extend(more);
        (yes, no)
    }

    /// `x == 0`, `x != NULL`: the same as `!x` and `x`.
    pub(super) fn compared(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let Some((left, right)) = self.sides(node) else {
            return self.atom(node);
        };
        match self.context.seen(bare(right)) {
            b"0" | b"NULL" | b"false" => {
                let (yes, no) = self.decide(left);
                match self.context.operator(node) {
                    b"==" => (no, yes),
                    _ => (yes, no),
                }
            }
            _ => self.atom(node),
        }
    }

    /// `if ((ok = begin(…)))`, `if (!(err = f()))`.
    pub(super) fn assigned_test(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let Some((left, right)) = self.sides(node) else {
            return self.atom(node);
        };
        let place = self.place(bare(left));
        self.stored(place, right, span(node));
        let text = self.context.written(left);
        self.test(text, place, place.into_iter().collect())
    }

    pub(super) fn constant(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let ways = self.take();
        match self.context.seen(node) {
            b"0" | b"false" => (Ways::new(), ways),
            _ => (ways, Ways::new()),
        }
    }

    pub(super) fn atom(&mut self, node: Node<'t>) -> (Ways, Ways) {
        match self.begin_of(node) {
            Some(word) => {
                let at = self.begin(&word, node, Opening::Tested);
                if word.always {
                    return (self.take(), Ways::new());
                }
                self.ways.clear();
                (
                    vec![(at, Edge::Opened(true))],
                    vec![(at, Edge::Opened(false))],
                )
            }
            None => {
                let first = self.graph.effects.len();
                self.value(node);
                let asked = self.graph.effects.get(first..).unwrap_or_default();
                let reads: Vec<usize> = asked.iter().map(|effect| effect.place).collect();
                let only = is_place(node).then(|| reads.last().copied()).flatten();
                self.test(self.context.written(node), only, reads)
            }
        }
    }

    /// Notes a condition that asks for a variable and nothing else.
    pub(crate) fn note_test(&mut self, condition: Node<'t>) {
        let whole = condition
            .named_child(0)
            .filter(|_| condition.known_kind() == "parenthesized_expression");
        let node = unhinted(self.context, condition);
        let zero = |node: Node<'t>| {
            let right = node.part("right");
            right.is_some_and(|right| self.context.seen(right) == b"0")
        };
        let variable = match (node.known_kind(), self.context.operator(node)) {
            ("binary_expression", b"!=" | b"<") if zero(node) => node.part("left").map(bare),
            _ => Some(node),
        };
        if let Some(variable) = variable.filter(|v| v.known_kind() == "identifier") {
            let place = self.variable(self.context.seen(variable));
            let at = span(whole.unwrap_or(condition));
            self.graph.tests.push((at, place));
        }
    }

    /// Notes `return a || b ? -EFAULT : 0;`.
    pub(crate) fn note_choice(&mut self, node: Node<'t>, value: Node<'t>) {
        let value = bare(value);
        let part = |field| value.part(field).map(bare);
        let is = |part: Option<Node<'t>>, text| part.is_some_and(|p| self.context.seen(p) == text);
        let chooses = value.known_kind() == "conditional_expression"
            && is(part("consequence"), b"-EFAULT".as_slice())
            && is(part("alternative"), b"0");
        if let Some(asked) = value.part("condition").filter(|_| chooses) {
            let stops = !self.joins_bits(asked);
            self.graph.choices.push((span(node), span(asked), stops));
        }
    }

    pub(super) fn joins_bits(&self, node: Node<'t>) -> bool {
        let mut cursor = node.walk();
        node.known_kind() == "binary_expression" && self.context.operator(node) == b"|"
            || node
                .named_children(&mut cursor)
                .any(|child| self.joins_bits(child))
    }

    /// A fork on a condition.
    pub(crate) fn test(
        &mut self,
        text: String,
        place: Option<usize>,
        reads: Vec<usize>,
    ) -> (Ways, Ways) {
        // Variables of two scopes may share a name.
        let next = self.graph.conditions.len();
        let condition = *self.asked.entry((text.clone(), place)).or_insert(next);
        if condition == next {
            self.graph.conditions.push(Condition { text, place, reads });
        }
        let at = self.emit(Action::Join, Span::default());
        self.ways.clear();
        (
            vec![(at, Edge::If(condition, true))],
            vec![(at, Edge::If(condition, false))],
        )
    }

    /// `ok = a && begin(…)`.
    pub(super) fn stored_decision(&mut self, place: Option<usize>, right: Node<'t>, at: Span) {
        let (yes, no) = self.decide(right);
        let decided = |truth: bool| Write {
            value: Some(span(right)),
            truth: Some(truth),
            ..Write::default()
        };
        self.ways = yes;
        if let Some(place) = place {
            self.write(place, decided(true), at);
        }
        let after = self.switch_to(no);
        if let Some(place) = place {
            self.write(place, decided(false), at);
        }
        self.join(after);
    }
}
