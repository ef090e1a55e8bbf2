//! From the expressions of a body to the nodes of its graph, in the order in
//! which they are evaluated.

use tree_sitter::Node;

use crate::chain::unhinted;
use crate::lex::{closing, tokens};
use crate::site::{bare, span};
use crate::span::Span;
use crate::vocabulary::Direction;

use super::build::{Builder, Ways};
use super::graph::{Action, Assign, Begin, Call, Edge, Inside, Opening};
use super::words::{AccessWord, BeginWord};

impl<'t> Builder<'_, '_> {
    /// An expression whose value nobody takes.
    pub(crate) fn discarded(&mut self, node: Node<'t>) {
        match self.begin_of(node) {
            Some(word) => {
                let opening = Opening::Ignored;
                self.begin(&word, unhinted(self.context, node), opening);
            }
            None => self.value(node),
        }
    }

    /// The begin that an expression is, with nothing around it but hints.
    fn begin_of(&self, node: Node<'t>) -> Option<BeginWord> {
        let node = unhinted(self.context, node);
        let name = self.name_of(node)?;
        self.words.begin(&name).cloned()
    }

    fn name_of(&self, call: Node<'t>) -> Option<String> {
        (call.kind() == "call_expression")
            .then(|| String::from_utf8_lossy(self.context.callee(call)).into_owned())
    }

    fn begin(&mut self, word: &BeginWord, call: Node<'t>, opening: Opening) -> usize {
        let arguments = call.child_by_field_name("arguments");
        if let Some(arguments) = arguments {
            self.value(arguments);
        }
        let argument = |at: u32| Some(span(arguments?.named_child(at)?));
        let opening = if word.always {
            Opening::Always
        } else {
            opening
        };
        let begin = Begin {
            call: word.name.clone(),
            kind: word.kind,
            opening,
            fence: word.fence,
            address: argument(0),
            size: argument(1),
            scope: None,
        };
        self.emit(Action::Begin(begin), span(call))
    }

    /// A statement that opens a window for the block behind it.
    pub(crate) fn scoped_begin(&mut self, name: &str, header: Span, scope: Span) -> bool {
        let Some(word) = self.words.scoped(name).cloned() else {
            return false;
        };
        let arguments = arguments_of(self.context.original, header);
        let label = arguments
            .last()
            .map(|last| last.text(self.context.original));
        let begin = Begin {
            call: word.name.clone(),
            kind: word.kind,
            opening: Opening::Tested,
            fence: true,
            address: arguments.first().copied(),
            size: arguments.get(1).copied().filter(|_| word.arguments == 3),
            scope: Some(scope),
        };
        let node = self.emit(Action::Begin(begin), header);
        self.ways = vec![(node, Edge::Opened(true))];
        if let Some(label) = label {
            self.jump(node, Edge::Opened(false), header, label);
        }
        true
    }

    /// What a return hands back; the ways on which it hands over a window.
    pub(crate) fn returned(&mut self, value: Node<'t>) -> Ways {
        match self.begin_of(value) {
            Some(word) => {
                let call = unhinted(self.context, value);
                let node = self.begin(&word, call, Opening::Returned);
                self.ways = vec![(node, Edge::Opened(false))];
                vec![(node, Edge::Opened(true))]
            }
            None => {
                self.value(value);
                Ways::new()
            }
        }
    }

    /// A condition: the ways on if it holds, and if it does not.
    pub(crate) fn decide(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let node = unhinted(self.context, node);
        match (node.kind(), self.context.operator(node)) {
            ("unary_expression", b"!") => self.negated(node),
            ("binary_expression", b"&&") => self.both(node),
            ("binary_expression", b"||") => self.either(node),
            ("binary_expression", b"==" | b"!=") => self.compared(node),
            ("assignment_expression", b"=") => self.assigned_test(node),
            ("number_literal" | "true" | "false", _) => self.constant(node),
            _ => self.atom(node),
        }
    }

    fn negated(&mut self, node: Node<'t>) -> (Ways, Ways) {
        match node.child_by_field_name("argument") {
            Some(argument) => {
                let (yes, no) = self.decide(argument);
                (no, yes)
            }
            None => self.atom(node),
        }
    }

    fn sides(&self, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
        Some((
            node.child_by_field_name("left")?,
            node.child_by_field_name("right")?,
        ))
    }

    fn both(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let Some((left, right)) = self.sides(node) else {
            return self.atom(node);
        };
        let (yes, mut no) = self.decide(left);
        self.ways = yes;
        let (yes, not) = self.decide(right);
        no.extend(not);
        (yes, no)
    }

    fn either(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let Some((left, right)) = self.sides(node) else {
            return self.atom(node);
        };
        let (mut yes, no) = self.decide(left);
        self.ways = no;
        let (more, no) = self.decide(right);
        yes.extend(more);
        (yes, no)
    }

    /// `x == 0`, `x != NULL`: the same as `!x` and `x`.
    fn compared(&mut self, node: Node<'t>) -> (Ways, Ways) {
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
    fn assigned_test(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let Some((left, right)) = self.sides(node) else {
            return self.atom(node);
        };
        self.stored(Some(left), right, span(node));
        self.test(self.context.written(left))
    }

    fn constant(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let ways = std::mem::take(&mut self.ways);
        match self.context.seen(node) {
            b"0" | b"false" => (Ways::new(), ways),
            _ => (ways, Ways::new()),
        }
    }

    fn atom(&mut self, node: Node<'t>) -> (Ways, Ways) {
        match self.begin_of(node) {
            Some(word) => {
                let at = self.begin(&word, node, Opening::Tested);
                if word.always {
                    return (std::mem::take(&mut self.ways), Ways::new());
                }
                self.ways.clear();
                (
                    vec![(at, Edge::Opened(true))],
                    vec![(at, Edge::Opened(false))],
                )
            }
            None => {
                self.value(node);
                self.test(self.context.written(node))
            }
        }
    }

    /// A fork on a condition.
    fn test(&mut self, text: String) -> (Ways, Ways) {
        let condition = self.condition(text);
        let at = self.emit(Action::Join, Span::default());
        self.ways.clear();
        (
            vec![(at, Edge::If(condition, true))],
            vec![(at, Edge::If(condition, false))],
        )
    }

    /// An expression whose value is taken.
    pub(crate) fn value(&mut self, node: Node<'t>) {
        match node.kind() {
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
            "identifier" => self.identifier(node),
            "compound_statement" => self.children(node),
            // `(void)x` quietens a compiler; nobody takes the value.
            "cast_expression" if self.is_void(node) => {}
            _ => self.parts(node),
        }
    }

    fn is_void(&self, cast: Node<'t>) -> bool {
        let (kind, value) = (
            cast.child_by_field_name("type"),
            cast.child_by_field_name("value"),
        );
        kind.is_some_and(|kind| self.context.seen(kind) == b"void")
            && value.is_some_and(|value| value.kind() == "identifier")
    }

    fn parts(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        children.into_iter().for_each(|child| self.value(child));
    }

    fn identifier(&mut self, node: Node<'t>) {
        let name = self.context.written(node);
        if self.watched.contains(&name) {
            self.emit(Action::Use(name), span(node));
        }
    }

    fn conditional(&mut self, node: Node<'t>) {
        let Some(condition) = node.child_by_field_name("condition") else {
            return self.parts(node);
        };
        let (yes, no) = self.decide(condition);
        self.ways = yes;
        if let Some(part) = node.child_by_field_name("consequence") {
            self.value(part);
        }
        let after = std::mem::replace(&mut self.ways, no);
        if let Some(part) = node.child_by_field_name("alternative") {
            self.value(part);
        }
        self.ways.extend(after);
    }

    fn assignment(&mut self, node: Node<'t>) {
        let Some((left, right)) = self.sides(node) else {
            return self.parts(node);
        };
        if self.context.operator(node) == b"=" {
            return self.stored(Some(left), right, span(node));
        }
        self.value(right);
        self.value(left);
        self.assign(left, None, span(node));
    }

    fn update(&mut self, node: Node<'t>) {
        if let Some(argument) = node.child_by_field_name("argument") {
            self.value(argument);
            self.assign(argument, None, span(node));
        }
    }

    /// A value that goes into `left`.
    pub(crate) fn stored(&mut self, left: Option<Node<'t>>, right: Node<'t>, place: Span) {
        let variable = left.map(|left| self.context.written(bare(left)));
        if let (Some(word), Some(variable)) = (self.begin_of(right), &variable) {
            let call = unhinted(self.context, right);
            self.begin(&word, call, Opening::Stored(variable.clone()));
            return;
        }
        if is_decision(self.context.operator(bare(right)), bare(right)) {
            return self.stored_decision(left, right, place);
        }
        self.value(right);
        let Some(left) = left else { return };
        if left.kind() != "identifier" {
            self.place_of(left);
        }
        self.assign(left, truth(self.context.seen(bare(right))), place);
    }

    /// `ok = a && begin(…)`.
    fn stored_decision(&mut self, left: Option<Node<'t>>, right: Node<'t>, place: Span) {
        let (yes, no) = self.decide(right);
        let Some(left) = left else {
            self.ways = yes;
            self.ways.extend(no);
            return;
        };
        self.ways = yes;
        self.assign(left, Some(true), place);
        let after = std::mem::replace(&mut self.ways, no);
        self.assign(left, Some(false), place);
        self.ways.extend(after);
    }

    /// What has to be evaluated to know where `left` is.
    fn place_of(&mut self, left: Node<'t>) {
        match left.kind() {
            "field_expression" | "subscript_expression" | "pointer_expression" => self.parts(left),
            "parenthesized_expression" => self.parts(left),
            _ => {}
        }
    }

    fn assign(&mut self, left: Node<'t>, truth: Option<bool>, place: Span) {
        let assign = Assign {
            variable: self.context.written(bare(left)),
            truth,
            argument_of: self.argument_of.clone(),
        };
        self.emit(Action::Assign(assign), place);
    }

    fn call(&mut self, node: Node<'t>) {
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return self.parts(node);
        };
        let name = self.name_of(node).unwrap_or_default();
        if let Some(word) = self.words.begin(&name).cloned() {
            self.begin(&word, node, Opening::Ignored);
        } else if let Some(word) = self.words.end(&name).cloned() {
            let (call, kind) = (name, word.kind);
            self.emit(Action::End { call, kind }, span(node));
        } else if let Some(word) = self.words.in_window(&name).cloned() {
            self.access(node, arguments, &word);
        } else if name.starts_with("unsafe_")
            && self.words.manner(&name) == super::words::Manner::Unknown
        {
            self.wrapped(node, arguments, name);
        } else {
            self.other(node, arguments, name);
        }
    }

    fn access(&mut self, node: Node<'t>, arguments: Node<'t>, word: &AccessWord) {
        let part = |at: usize| {
            u32::try_from(at)
                .ok()
                .and_then(|at| arguments.named_child(at))
        };
        let label = part(word.arguments - 1).map(|label| self.context.written(label));
        for at in 0..word.arguments - 1 {
            let Some(argument) = part(at) else { continue };
            let outer = self
                .argument_of
                .replace((word.name.clone(), at == word.user));
            if at == word.value && word.direction == Direction::Read {
                self.place_of(argument);
            } else {
                self.value(argument);
            }
            self.argument_of = outer;
        }
        let inside = Inside {
            call: word.name.clone(),
            direction: Some(word.direction),
            wrapper: false,
            value: part(word.value).map(span),
            user: part(word.user).map(span),
            label: label.clone(),
        };
        let at = self.emit(Action::Inside(inside), span(node));
        if let Some(label) = label {
            self.jump(at, Edge::Fault, span(node), label);
        }
        if let Some(value) = part(word.value).filter(|_| word.direction == Direction::Read) {
            self.assign(value, None, span(node));
        }
    }

    /// A macro around accesses: only its label, the last argument, is known.
    fn wrapped(&mut self, node: Node<'t>, arguments: Node<'t>, call: String) {
        self.value(arguments);
        let count = u32::try_from(arguments.named_child_count()).unwrap_or(0);
        let last = count
            .checked_sub(1)
            .and_then(|at| arguments.named_child(at));
        let label = last
            .filter(|last| last.kind() == "identifier")
            .map(|label| self.context.written(label));
        let inside = Inside {
            direction: direction_of(&call),
            call,
            wrapper: true,
            value: None,
            user: None,
            label: label.clone(),
        };
        let at = self.emit(Action::Inside(inside), span(node));
        if let Some(label) = label {
            self.jump(at, Edge::Fault, span(node), label);
        }
    }

    fn other(&mut self, node: Node<'t>, arguments: Node<'t>, name: String) {
        if let Some(function) = node.child_by_field_name("function")
            && function.kind() != "identifier"
        {
            self.value(function);
        }
        let name = match name.as_str() {
            "" => node
                .child_by_field_name("function")
                .map(|f| self.context.written(f))
                .unwrap_or_default(),
            _ => name,
        };
        if matches!(name.as_str(), "sizeof" | "offsetof" | "typeof") {
            return;
        }
        self.value(arguments);
        let argument_of = self.argument_of.as_ref().map(|(call, _)| call.clone());
        self.emit(Action::Call(Call { name, argument_of }), span(node));
        self.filled(arguments);
    }

    /// Variables whose address a call takes may have a new value after it.
    fn filled(&mut self, arguments: Node<'t>) {
        let outer = self.argument_of.take();
        let mut cursor = arguments.walk();
        let given: Vec<Node<'t>> = arguments.named_children(&mut cursor).collect();
        for argument in given {
            let inner = bare(argument);
            if inner.kind() != "pointer_expression" || self.context.operator(inner) != b"&" {
                continue;
            }
            if let Some(place) = inner.child_by_field_name("argument") {
                self.assign(place, None, span(argument));
            }
        }
        self.argument_of = outer;
    }
}

/// Whether a value is itself a decision that may hold a begin.
fn is_decision(operator: &[u8], node: Node<'_>) -> bool {
    node.kind() == "binary_expression" && matches!(operator, b"&&" | b"||")
        || node.kind() == "unary_expression" && operator == b"!"
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

/// Which way a macro's name says that data goes.
fn direction_of(name: &str) -> Option<Direction> {
    let holds = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if holds(&["_put_", "to_user", "_save", "_setup"]) {
        Some(Direction::Write)
    } else if holds(&["_get_", "from_user", "_restore"]) {
        Some(Direction::Read)
    } else {
        None
    }
}

/// The arguments between the first parentheses of `header`.
fn arguments_of(text: &[u8], header: Span) -> Vec<Span> {
    let all = tokens(text.get(..header.end).unwrap_or_default(), header.start);
    let Some(close) = closing(&all, 1) else {
        return Vec::new();
    };
    super::tokens::arguments(&all, 1, close)
}
