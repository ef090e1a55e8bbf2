//! From the statements of a body to its graph.

use std::collections::{HashMap, HashSet};

use tree_sitter::Node;

use crate::site::{Context, span};
use crate::span::Span;

use super::graph::{Action, Edge, Graph, Node as Place};
use super::words::CheckWords;

/// Ways that lead to whatever comes next.
pub(crate) type Ways = Vec<(usize, Edge)>;

/// Where the jumps of a loop or a switch go.
#[derive(Default)]
struct Target {
    breaks: Ways,
    /// None for a switch: a continue belongs to the loop around it.
    continues: Option<Ways>,
}

/// Builds the graph of one body.
pub(crate) struct Builder<'a, 'c> {
    pub(crate) context: &'c Context<'a>,
    pub(crate) words: &'c CheckWords,
    /// Variables whose uses matter.
    pub(crate) watched: &'c HashSet<String>,
    pub(crate) graph: Graph,
    /// The ways that are open now; none where nothing comes here.
    pub(crate) ways: Ways,
    /// The access whose arguments are being evaluated, and whether it is its
    /// address.
    pub(crate) argument_of: Option<(String, bool)>,
    targets: Vec<Target>,
    labels: HashMap<String, usize>,
    gotos: Vec<(usize, Edge, String)>,
}

/// The graph of a body that was parsed whole.
pub(crate) fn build(
    context: &Context<'_>,
    words: &CheckWords,
    watched: &HashSet<String>,
    root: Node<'_>,
) -> Graph {
    let mut builder = Builder {
        context,
        words,
        watched,
        graph: Graph::default(),
        ways: Vec::new(),
        argument_of: None,
        targets: Vec::new(),
        labels: HashMap::new(),
        gotos: Vec::new(),
    };
    builder.emit(
        Action::Join,
        Span::new(root.start_byte(), root.start_byte()),
    );
    builder.children(root);
    let end = root.end_byte();
    builder.emit(
        Action::Exit { hands_over: false },
        Span::new(end.saturating_sub(1), end),
    );
    builder.finish()
}

impl<'t> Builder<'_, '_> {
    /// A node that all open ways lead to, and from which the next one starts.
    pub(crate) fn emit(&mut self, action: Action, place: Span) -> usize {
        let node = self.graph.nodes.len();
        self.graph.nodes.push(Place {
            action,
            span: place,
            next: Vec::new(),
        });
        let ways = std::mem::replace(&mut self.ways, vec![(node, Edge::Always)]);
        self.link(ways, node);
        node
    }

    pub(crate) fn link(&mut self, ways: Ways, to: usize) {
        for (from, edge) in ways {
            if let Some(from) = self.graph.nodes.get_mut(from) {
                from.next.push((edge, to));
            }
        }
    }

    /// The number of a condition.
    pub(crate) fn condition(&mut self, text: String) -> usize {
        let known = self.graph.conditions.iter().position(|have| *have == text);
        known.unwrap_or_else(|| {
            self.graph.conditions.push(text);
            self.graph.conditions.len() - 1
        })
    }

    /// A jump to a label from the node.
    pub(crate) fn jump(&mut self, from: usize, edge: Edge, place: Span, label: String) {
        self.graph.jumps.push((place, label.clone()));
        self.gotos.push((from, edge, label));
    }

    fn finish(mut self) -> Graph {
        for (from, edge, label) in std::mem::take(&mut self.gotos) {
            if let Some(to) = self.labels.get(&label).copied() {
                self.link(vec![(from, edge)], to);
            }
        }
        self.graph
    }

    pub(crate) fn children(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        children.into_iter().for_each(|child| self.statement(child));
    }

    pub(crate) fn statement(&mut self, node: Node<'t>) {
        match node.kind() {
            "compound_statement" | "else_clause" => self.children(node),
            "if_statement" => self.branch(node),
            "while_statement" => self.repeated(node),
            "do_statement" => self.at_least_once(node),
            "for_statement" => self.counted(node),
            "switch_statement" => self.switch(node),
            "case_statement" => self.children(node),
            "labeled_statement" => self.label(node),
            "goto_statement" => self.goto(node),
            "break_statement" => self.leave(false),
            "continue_statement" => self.leave(true),
            "return_statement" => self.leave_function(node),
            "declaration" => self.declaration(node),
            "expression_statement" => self.expression_statement(node),
            "comment" | "type_definition" | "statement_identifier" => {}
            _ => self.value(node),
        }
    }

    fn expression_statement(&mut self, node: Node<'t>) {
        if let Some(inner) = node.named_child(0) {
            self.discarded(inner);
        }
    }

    fn declaration(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let declarators: Vec<Node<'t>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        for declarator in declarators {
            if let Some(value) = declarator.child_by_field_name("value") {
                let name = declarator.child_by_field_name("declarator");
                self.stored(name, value, span(declarator));
            }
        }
    }

    fn branch(&mut self, node: Node<'t>) {
        let (yes, no) = match node.child_by_field_name("condition") {
            Some(condition) => self.decide(condition),
            None => (std::mem::take(&mut self.ways), Ways::new()),
        };
        self.ways = yes;
        if let Some(part) = node.child_by_field_name("consequence") {
            self.statement(part);
        }
        let after = std::mem::replace(&mut self.ways, no);
        if let Some(part) = node.child_by_field_name("alternative") {
            self.statement(part);
        }
        self.ways.extend(after);
    }

    /// `while (…)`, or a macro that the normaliser turned into one.
    fn repeated(&mut self, node: Node<'t>) {
        let start = span(node).start;
        let word = self.context.original.get(start..).unwrap_or_default();
        let end = word
            .iter()
            .position(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        let word = word.get(..end.unwrap_or(0)).unwrap_or_default();
        let name = String::from_utf8_lossy(word).into_owned();
        if name == "while" {
            return self.whiles(node);
        }
        let head = self.header(node, &name);
        let once = head || self.context.vocabulary.is_scope(word);
        self.macro_loop(node, once);
    }

    /// What stands between the parentheses of a macro that is followed by a
    /// block; whether it opens a window for that block.
    fn header(&mut self, node: Node<'t>, name: &str) -> bool {
        let Some(body) = node.child_by_field_name("body") else {
            return false;
        };
        self.scoped_begin(
            name,
            Span::new(node.start_byte(), body.start_byte()),
            span(body),
        )
    }

    /// A loop of which nothing is known, or a block that runs once.
    fn macro_loop(&mut self, node: Node<'t>, once: bool) {
        // No place: the way in lies before a scope that the block opens.
        let head = self.emit(Action::Join, Span::default());
        self.enter_loop();
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        let mut after = std::mem::take(&mut self.ways);
        after.extend(target.continues.unwrap_or_default());
        if once {
            self.ways = after;
        } else {
            self.link(after, head);
            self.ways = vec![(head, Edge::Always)];
        }
        self.ways.extend(target.breaks);
    }

    fn enter_loop(&mut self) {
        self.targets.push(Target {
            breaks: Ways::new(),
            continues: Some(Ways::new()),
        });
    }

    fn whiles(&mut self, node: Node<'t>) {
        let head = self.emit(Action::Join, span(node));
        let (yes, no) = match node.child_by_field_name("condition") {
            Some(condition) => self.decide(condition),
            None => (std::mem::take(&mut self.ways), Ways::new()),
        };
        self.ways = yes;
        self.enter_loop();
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        let mut back = std::mem::take(&mut self.ways);
        back.extend(target.continues.unwrap_or_default());
        self.link(back, head);
        self.ways = no;
        self.ways.extend(target.breaks);
    }

    fn at_least_once(&mut self, node: Node<'t>) {
        let head = self.emit(Action::Join, span(node));
        self.enter_loop();
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        self.ways.extend(target.continues.unwrap_or_default());
        let (yes, no) = match node.child_by_field_name("condition") {
            Some(condition) => self.decide(condition),
            None => (Ways::new(), std::mem::take(&mut self.ways)),
        };
        self.link(yes, head);
        self.ways = no;
        self.ways.extend(target.breaks);
    }

    fn counted(&mut self, node: Node<'t>) {
        if let Some(first) = node.child_by_field_name("initializer") {
            match first.kind() {
                "declaration" => self.declaration(first),
                _ => self.discarded(first),
            }
        }
        let head = self.emit(Action::Join, span(node));
        let (yes, no) = match node.child_by_field_name("condition") {
            Some(condition) => self.decide(condition),
            None => (std::mem::take(&mut self.ways), Ways::new()),
        };
        self.ways = yes;
        self.enter_loop();
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        self.ways.extend(target.continues.unwrap_or_default());
        if let Some(update) = node.child_by_field_name("update") {
            self.discarded(update);
        }
        let back = std::mem::take(&mut self.ways);
        self.link(back, head);
        self.ways = no;
        self.ways.extend(target.breaks);
    }

    fn switch(&mut self, node: Node<'t>) {
        if let Some(condition) = node.child_by_field_name("condition") {
            self.value(condition);
        }
        let head = self.emit(Action::Join, span(node));
        self.ways.clear();
        self.targets.push(Target::default());
        let mut complete = false;
        if let Some(body) = node.child_by_field_name("body") {
            complete = self.cases(body, head);
        }
        let target = self.targets.pop().unwrap_or_default();
        self.ways.extend(target.breaks);
        if !complete {
            self.ways.push((head, Edge::Always));
        }
    }

    /// The cases of a switch, each falling into the next; whether one of them
    /// takes every value that the others leave.
    fn cases(&mut self, body: Node<'t>, head: usize) -> bool {
        let mut complete = false;
        let mut cursor = body.walk();
        let children: Vec<Node<'t>> = body.named_children(&mut cursor).collect();
        for child in children {
            if child.kind() == "case_statement" {
                complete |= child.child_by_field_name("value").is_none();
                self.ways.push((head, Edge::Always));
            }
            self.statement(child);
        }
        complete
    }

    fn label(&mut self, node: Node<'t>) {
        if let Some(label) = node.child_by_field_name("label") {
            let at = self.emit(Action::Join, span(label));
            let name = self.context.written(label);
            self.graph.labels.push((name.clone(), span(label)));
            self.labels.entry(name).or_insert(at);
        }
        self.children(node);
    }

    fn goto(&mut self, node: Node<'t>) {
        let label = node.child_by_field_name("label");
        let place = span(node);
        let from = self.emit(Action::Join, place);
        self.ways.clear();
        match label {
            Some(label) => {
                let name = self.context.written(label);
                self.jump(from, Edge::Always, place, name);
            }
            None => self.graph.computed = true,
        }
    }

    fn leave(&mut self, continues: bool) {
        let ways = std::mem::take(&mut self.ways);
        for target in self.targets.iter_mut().rev() {
            match (&mut target.continues, continues) {
                (Some(open), true) => {
                    open.extend(ways);
                    return;
                }
                (None, true) => {}
                (_, false) => {
                    target.breaks.extend(ways);
                    return;
                }
            }
        }
    }

    fn leave_function(&mut self, node: Node<'t>) {
        let mut handed = Ways::new();
        if let Some(value) = node.named_child(0) {
            handed = self.returned(value);
        }
        self.emit(Action::Exit { hands_over: false }, span(node));
        if !handed.is_empty() {
            self.ways = handed;
            self.emit(Action::Exit { hands_over: true }, span(node));
        }
        self.ways.clear();
    }
}
