//! What a rule looks at: a file, or one function of it.

use tree_sitter::Node;

use crate::lex::Token;
use crate::outline::Outline;
use crate::site::Context;
use crate::span::{LineIndex, Span};
use crate::split::Body;

use super::flow::{Flow, State};
use super::graph::{Begin, Graph};
use super::model::{Mark, Violation};
use super::rules::RuleInfo;
use super::words::CheckWords;

/// A file as its words show it.
pub(crate) struct Page<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) lines: LineIndex<'a>,
    pub(crate) tokens: &'a [Token],
    pub(crate) bodies: &'a [Body],
    pub(crate) words: &'a CheckWords,
}

impl Page<'_> {
    /// A place with what is there.
    pub(crate) fn mark(&self, span: Span, text: impl Into<String>) -> Mark {
        Mark {
            span,
            position: self.lines.position(span.start),
            text: text.into(),
        }
    }

    /// The function that holds a place.
    pub(crate) fn holder(&self, span: Span) -> Option<&Body> {
        let after = self
            .bodies
            .partition_point(|body| body.header.start <= span.start);
        let body = self.bodies.get(after.checked_sub(1)?)?;
        body.header.join(body.span).contains(span).then_some(body)
    }

    /// A violation of a rule at a place.
    pub(crate) fn violation(
        &self,
        rule: &RuleInfo,
        span: Span,
        label: &str,
        message: String,
    ) -> Violation {
        Violation {
            rule: rule.name.to_owned(),
            severity: rule.severity,
            confidence: rule.confidence,
            function: self.holder(span).map(|body| body.name.clone()),
            message,
            mark: self.mark(span, label),
            related: Vec::new(),
            suggestion: None,
            excerpts: Vec::new(),
            unless_called_in_window: None,
        }
    }

    /// The text of a place on one line.
    pub(crate) fn plain(&self, span: Span) -> String {
        let text = span.text(self.text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// One function.
pub(crate) struct Scene<'a> {
    pub(crate) page: &'a Page<'a>,
    pub(crate) context: &'a Context<'a>,
    pub(crate) body: &'a Body,
    pub(crate) root: Node<'a>,
    pub(crate) outline: &'a Outline,
    pub(crate) graph: &'a Graph,
    pub(crate) flow: &'a Flow,
}

impl Scene<'_> {
    /// Each node with each state that comes to it.
    pub(crate) fn moments(&self) -> impl Iterator<Item = (usize, &State)> {
        let nodes = self.flow.before.iter().enumerate();
        nodes.flat_map(|(node, states)| states.iter().map(move |state| (node, state)))
    }

    /// The begin at a node and its place.
    pub(crate) fn begin(&self, node: usize) -> Option<(&Begin, Span)> {
        self.graph.begin(node)
    }

    /// The place of a node.
    pub(crate) fn place(&self, node: usize) -> Span {
        self.graph
            .nodes
            .get(node)
            .map_or(Span::default(), |n| n.span)
    }

    /// The line of a place.
    pub(crate) fn line(&self, span: Span) -> u32 {
        self.page.lines.position(span.start).line
    }
}
