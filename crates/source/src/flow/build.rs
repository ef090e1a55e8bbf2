//! From the statements of a body to its graph.

use tollgate_defect::answer;

use tree_sitter::Node;

use crate::check::words::CheckWords;
use crate::hashed::HashMap;
use crate::lex::{Token, TokenKind, is_member, word_at};
use crate::model::Jump;
use crate::node::Parts as _;
use crate::normalise::is_loop;
use crate::site::{Context, bare, span};
use crate::span::Span;

use super::graph::{Action, Edge, Effect, EffectKind, Flow, Leaving, Local, Node as Place, Write};
use super::splice::Pieces;
use super::statement::{Statement, StatementKind};

/// Ways that lead to whatever comes next.
pub(crate) type Ways = Vec<(usize, Edge)>;

/// Where the jumps of a loop or a switch go.
#[derive(Default)]
struct Target {
    breaks: Ways,
    /// None for a switch: a continue belongs to the loop around it.
    continues: Option<Ways>,
}

/// What a graph is made from besides the parse.
#[derive(Clone, Copy)]
pub(crate) struct Source<'c> {
    pub(crate) words: &'c CheckWords,
    /// The function's tokens, from its header on.
    pub(crate) tokens: &'c [Token],
    /// The words that open a scope with a cleanup.
    pub(crate) scopes: &'c [Span],
    /// Code that a configuration may leave out, though the parse holds it.
    pub(crate) optional: &'c [Span],
    /// Code that the parse does not hold.
    pub(crate) left_out: &'c [Span],
    /// Whether each statement gets a node before and behind it.
    pub(crate) points: bool,
    /// The definitions whose graphs stand for their calls.
    pub(crate) pieces: &'c Pieces<'c>,
}

/// Builds the graph of one body.
pub(crate) struct Builder<'a, 'c> {
    pub(crate) context: &'c Context<'a>,
    pub(crate) source: Source<'c>,
    pub(crate) graph: Flow,
    /// The ways that are open now; none where nothing comes here.
    pub(crate) ways: Ways,
    /// The access whose arguments are being evaluated, and whether it is its
    /// address.
    pub(crate) argument_of: Option<(usize, bool)>,
    /// The numbers of the conditions.
    pub(crate) asked: HashMap<(String, Option<usize>), usize>,
    /// Effects up to here have a node.
    placed: usize,
    targets: Vec<Target>,
    labels: HashMap<String, usize>,
    gotos: Vec<(usize, Edge, String)>,
    /// The blocks around, with how many names were known before each.
    blocks: Vec<(Span, usize)>,
    /// The variables that can be seen, the innermost last.
    visible: Vec<(Vec<u8>, usize)>,
    /// The statements around.
    around: Vec<usize>,
    /// Blocks, and statements that a macro turned into loops.
    scopes: Vec<Span>,
}

/// The graph of a body that was parsed whole.
pub(crate) fn build(context: &Context<'_>, source: Source<'_>, root: Node<'_>) -> Flow {
    let mut builder = Builder {
        context,
        source,
        graph: Flow::default(),
        ways: Vec::new(),
        argument_of: None,
        asked: HashMap::default(),
        placed: 0,
        targets: Vec::new(),
        labels: HashMap::default(),
        gotos: Vec::new(),
        blocks: vec![(span(root), 0)],
        visible: Vec::new(),
        around: Vec::new(),
        scopes: Vec::new(),
    };
    if source.points {
        builder.note_words(span(root));
    }
    builder.emit(
        Action::Join,
        Span::new(root.start_byte(), root.start_byte()),
    );
    builder.children(root);
    let end = root.end_byte();
    builder.exit(false, None, Span::new(end.saturating_sub(1), end));
    builder.finish(root)
}

impl<'t> Builder<'_, '_> {
    /// A node that all open ways lead to, and from which the next one starts. What
    /// was done since the last one is done before its action.
    pub(crate) fn emit(&mut self, action: Action, place: Span) -> usize {
        let node = self.graph.nodes.len();
        let effects = self.placed..self.graph.effects.len();
        self.placed = effects.end;
        self.graph.nodes.push(Place {
            effects,
            action,
            span: place,
            next: Vec::new(),
        });
        let ways = std::mem::replace(&mut self.ways, vec![(node, Edge::Always)]);
        self.link(ways, node);
        node
    }

    /// A node that other ways may come to: what was done before is not its own.
    fn meet(&mut self, at: Span) -> usize {
        self.ways = self.take();
        self.emit(Action::Join, at)
    }

    /// The ways that are open now, behind all that was done so far.
    pub(crate) fn take(&mut self) -> Ways {
        if self.placed < self.graph.effects.len() {
            self.emit(Action::Join, Span::default());
        }
        std::mem::take(&mut self.ways)
    }

    /// Those ways come here, too.
    pub(crate) fn join(&mut self, more: Ways) {
        let mut all = self.take();
        all.extend(more);
        self.ways = all;
    }

    /// Goes on with those; the ways that were open until now.
    pub(crate) fn switch_to(&mut self, ways: Ways) -> Ways {
        let open = self.take();
        self.ways = ways;
        open
    }

    pub(crate) fn effect(&mut self, kind: EffectKind, place: usize, at: Span) {
        self.graph.effects.push(Effect {
            kind,
            place,
            span: at,
            argument_of: self.argument_of,
        });
    }

    /// Whether a configuration may leave out what stands there.
    pub(crate) fn is_optional(&self, at: Span) -> bool {
        self.source.optional.iter().any(|side| side.contains(at))
    }

    pub(crate) fn link(&mut self, ways: Ways, to: usize) {
        for (from, edge) in ways {
            if let Some(from) = self.graph.nodes.get_mut(from) {
                from.next.push((edge, to));
            }
        }
    }

    /// A jump to a label from the node, by what is no `goto`.
    pub(crate) fn jump(&mut self, from: usize, edge: Edge, place: Span, label: String) {
        self.graph.jumps.push((place, label.clone()));
        self.gotos.push((from, edge, label));
    }

    /// The variable that a name means here.
    pub(crate) fn variable(&mut self, name: &[u8]) -> usize {
        let known = self.visible.iter().rev().find(|(known, _)| known == name);
        match known {
            Some((_, local)) => self.graph.places.local(*local),
            None => {
                let name = String::from_utf8_lossy(name).into_owned();
                self.graph.places.outer(name)
            }
        }
    }

    fn finish(mut self, root: Node<'_>) -> Flow {
        for (from, edge, label) in std::mem::take(&mut self.gotos) {
            match self.labels.get(&label).copied() {
                Some(to) => self.link(vec![(from, edge)], to),
                None => self.graph.leaving.push((from, edge, Leaving::Label(label))),
            }
        }
        let pending = |word: &Span| self.pending(*word);
        self.graph.cleanups = self.source.scopes.iter().filter_map(pending).collect();
        self.graph.ending = root.named_child(0).and_then(|body| self.ending(body));
        self.graph.at_label = std::mem::take(&mut self.labels);
        self.graph
    }

    /// The words of the header, of the body, and of what is not followed.
    fn note_words(&mut self, body: Span) {
        let text = self.context.original;
        let words = self.source.tokens.iter();
        for word in words.filter(|t| t.kind == TokenKind::Word).map(|t| t.span) {
            let hidden = self.source.left_out.iter().any(|side| side.contains(word));
            let known = match (word.start < body.start, hidden) {
                (true, _) => &mut self.graph.header,
                (false, true) => &mut self.graph.unseen,
                (false, false) => &mut self.graph.words,
            };
            known.insert(word.text(text));
        }
    }

    /// Whether the name is one of the header.
    pub(crate) fn is_parameter(&self, name: &[u8]) -> bool {
        let name = answer::text(name);
        name.is_some_and(|name| self.graph.header.contains(name))
    }

    /// How the last statement of the body leaves.
    fn ending(&self, body: Node<'t>) -> Option<Jump> {
        let mut last = last_child(body)?;
        while last.known_kind() == "labeled_statement" {
            last = last_child(last)?;
        }
        let argument = last.named_child(0).map(|node| self.context.written(node));
        let argument = argument.unwrap_or_default();
        Some(match last.known_kind() {
            "return_statement" => Jump::Return(argument),
            "goto_statement" => Jump::Goto(argument),
            _ => Jump::None,
        })
    }

    /// From the word to the end of what it opens: its own statement, or the
    /// rest of the block around it.
    fn pending(&self, word: Span) -> Option<Span> {
        let own = self.scopes.iter().find(|block| block.start == word.start);
        let around = self.scopes.iter().filter(|block| block.contains(word));
        let innermost = around.min_by_key(|block| block.end - block.start);
        own.or(innermost)
            .map(|block| Span::new(word.start, block.end))
    }

    pub(crate) fn children(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        children.into_iter().for_each(|child| self.statement(child));
    }

    pub(crate) fn statement(&mut self, node: Node<'t>) {
        let Some(kind) = kind_of(self.context, node) else {
            return self.plain(node);
        };
        let at = self.graph.statements.len();
        let before = self.point(node.start_byte());
        self.graph.statements.push(Statement {
            kind,
            span: span(node),
            parent: self.around.last().copied(),
            expression: expression(node),
            label: label(kind, node),
            before,
            after: None,
        });
        self.around.push(at);
        self.plain(node);
        self.around.pop();
        let after = self.point(node.end_byte());
        if let Some(own) = self.graph.statements.get_mut(at) {
            own.after = after;
        }
    }

    /// A node between statements, where those are asked for.
    fn point(&mut self, byte: usize) -> Option<usize> {
        let wanted = self.source.points;
        wanted.then(|| self.meet(Span::new(byte, byte)))
    }

    fn plain(&mut self, node: Node<'t>) {
        match node.known_kind() {
            "compound_statement" => self.block(node, Self::children),
            "else_clause" => self.children(node),
            "if_statement" => self.branch(node),
            "while_statement" => self.repeated(node),
            "do_statement" => self.at_least_once(node),
            "for_statement" => self.block(node, Self::counted),
            "switch_statement" => self.switch(node),
            "case_statement" => self.children(node),
            "labeled_statement" => self.label(node),
            "goto_statement" => self.goto(node),
            "break_statement" => self.leave_round(false),
            "continue_statement" => self.leave_round(true),
            "return_statement" => self.leave_function(node),
            "declaration" => self.declaration(node),
            "expression_statement" => self.expression_statement(node),
            "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_else" => self.side(node),
            "comment" | "type_definition" | "statement_identifier" | "preproc_call" => {}
            _ => self.value(node),
        }
    }

    /// What is declared inside is not seen behind it.
    pub(crate) fn block(&mut self, node: Node<'t>, inside: fn(&mut Self, Node<'t>)) {
        self.scopes.push(span(node));
        self.blocks.push((span(node), self.visible.len()));
        inside(self, node);
        self.unblock();
    }

    fn unblock(&mut self) {
        if let Some((_, known)) = self.blocks.pop() {
            self.visible.truncate(known);
        }
    }

    /// A side of an `#if`: a configuration takes it or what comes behind.
    fn side(&mut self, node: Node<'t>) {
        let line = span(node).of(self.context.original);
        let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
        let asked = String::from_utf8_lossy(line).into_owned();
        let (yes, no) = match node.known_kind() {
            "preproc_else" => (self.take(), Ways::new()),
            _ => self.test(asked, None, Vec::new()),
        };
        self.ways = yes;
        let other = node.part("alternative");
        let apart = ["condition", "name", "alternative"];
        let apart = apart.map(|field| node.part(field).map(|part| part.id()));
        let mut cursor = node.walk();
        let own: Vec<Node<'t>> = node.named_children(&mut cursor).collect();
        for child in own {
            if !apart.contains(&Some(child.id())) {
                self.statement(child);
            }
        }
        let after = self.switch_to(no);
        if let Some(other) = other {
            self.statement(other);
        }
        self.join(after);
    }

    fn expression_statement(&mut self, node: Node<'t>) {
        if let Some(inner) = node.named_child(0) {
            self.discarded(inner);
        }
    }

    fn declaration(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let kind = node.part("type");
        let base_type = kind.map(|t| self.context.written(t)).unwrap_or_default();
        let place = span(node);
        let cleaned = self.source.scopes.iter().any(|word| place.contains(*word));
        let storage = |child: Node<'_>| {
            // What is declared `extern` has its value from elsewhere.
            child.known_kind() == "storage_class_specifier"
                && matches!(self.context.seen(child), b"static" | b"extern")
        };
        let lasting = node.named_children(&mut cursor).any(storage);
        let declarators: Vec<Node<'t>> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let (scope, _) = self.blocks.last().copied().unwrap_or_default();
        for declarator in declarators {
            let value = declarator.part("value");
            let holder = match value {
                Some(_) => declarator.part("declarator"),
                None => Some(declarator),
            };
            let name = innermost(declarator);
            let local = Local {
                name: self.context.written(name),
                base_type: base_type.clone(),
                plain: holder.is_some_and(|d| d.known_kind() == "identifier"),
                array: holder.is_some_and(is_array),
                initialised: value.is_some(),
                lasting,
                cleaned,
                declared: place,
                scope,
            };
            self.declared(
                local,
                self.context.seen(name).to_vec(),
                value,
                span(declarator),
            );
        }
    }

    fn declared(&mut self, local: Local, name: Vec<u8>, value: Option<Node<'t>>, at: Span) {
        let number = self.graph.locals.len();
        let lasting = local.lasting;
        self.graph.locals.push(local);
        // A variable can be seen in its own value.
        self.visible.push((name, number));
        let place = self.graph.places.local(number);
        match value {
            Some(value) => self.stored(Some(place), value, at),
            None if lasting => {}
            None => self.effect(EffectKind::Write(Write::default()), place, at),
        }
    }

    fn branch(&mut self, node: Node<'t>) {
        if let Some(condition) = node.part("condition") {
            self.note_test(condition);
        }
        let (yes, no) = match node.part("condition") {
            Some(condition) => self.decide(condition),
            None => (self.take(), Ways::new()),
        };
        self.ways = yes;
        if let Some(part) = node.part("consequence") {
            self.statement(part);
        }
        let after = self.switch_to(no);
        if let Some(part) = node.part("alternative") {
            self.statement(part);
        }
        self.join(after);
    }

    /// `while (…)`, or a macro that the normaliser turned into one.
    fn repeated(&mut self, node: Node<'t>) {
        self.scopes.push(span(node));
        let text = self.context.original;
        let word = word_at(text, node.start_byte()).of(text);
        let name = String::from_utf8_lossy(word).into_owned();
        if name == "while" {
            return self.whiles(node);
        }
        self.named_in_header(node);
        let head = self.header(node, &name);
        let once = head || self.context.vocabulary.is_scope(word);
        self.macro_loop(node, once);
    }

    /// What stands between the parentheses of a macro that is followed by a
    /// block; whether it opens a window for that block.
    fn header(&mut self, node: Node<'t>, name: &str) -> bool {
        let Some(body) = node.part("body") else {
            return false;
        };
        self.scoped_begin(
            name,
            Span::new(node.start_byte(), body.start_byte()),
            span(body),
        )
    }

    /// What the parser does not see of such a macro: it may read what it is
    /// given, or fill it.
    fn named_in_header(&mut self, node: Node<'t>) {
        let body = node.part("body");
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let tokens = self.source.tokens;
        let from = tokens.partition_point(|t| t.span.start <= node.start_byte());
        let named = tokens.get(from..).unwrap_or_default().iter().enumerate();
        let named = named.take_while(|(_, t)| t.span.end <= end);
        let named =
            named.filter(|(at, t)| t.kind == TokenKind::Word && !is_member(tokens, from + at));
        let named: Vec<Span> = named.map(|(_, token)| token.span).collect();
        for at in named {
            let place = self.variable(at.of(self.context.original));
            self.effect(EffectKind::Read, place, at);
            self.effect(EffectKind::Handed { by_address: false }, place, at);
        }
    }

    /// A loop of which nothing is known, or a block that runs once.
    fn macro_loop(&mut self, node: Node<'t>, once: bool) {
        // No place: the way in lies before a scope that the block opens.
        let head = self.meet(Span::default());
        self.enter_loop();
        if let Some(body) = node.part("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        let mut after = self.take();
        after.extend(target.continues.unwrap_or_default());
        if once {
            self.ways = after;
        } else {
            self.link(after, head);
            self.ways = vec![(head, Edge::Always)];
        }
        self.join(target.breaks);
    }

    fn enter_loop(&mut self) {
        self.targets.push(Target {
            breaks: Ways::new(),
            continues: Some(Ways::new()),
        });
    }

    fn whiles(&mut self, node: Node<'t>) {
        let head = self.meet(span(node));
        let (yes, no) = match node.part("condition") {
            Some(condition) => self.decide(condition),
            None => (self.take(), Ways::new()),
        };
        self.ways = yes;
        self.enter_loop();
        if let Some(body) = node.part("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        let mut back = self.take();
        back.extend(target.continues.unwrap_or_default());
        self.link(back, head);
        self.ways = no;
        self.join(target.breaks);
    }

    fn at_least_once(&mut self, node: Node<'t>) {
        let head = self.meet(span(node));
        self.enter_loop();
        if let Some(body) = node.part("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        self.join(target.continues.unwrap_or_default());
        let (yes, no) = match node.part("condition") {
            Some(condition) => self.decide(condition),
            None => (Ways::new(), self.take()),
        };
        self.link(yes, head);
        self.ways = no;
        self.join(target.breaks);
    }

    fn counted(&mut self, node: Node<'t>) {
        if let Some(first) = node.part("initializer") {
            match first.known_kind() {
                "declaration" => self.declaration(first),
                _ => self.discarded(first),
            }
        }
        let head = self.meet(span(node));
        let (yes, no) = match node.part("condition") {
            Some(condition) => self.decide(condition),
            None => (self.take(), Ways::new()),
        };
        self.ways = yes;
        self.enter_loop();
        if let Some(body) = node.part("body") {
            self.statement(body);
        }
        let target = self.targets.pop().unwrap_or_default();
        self.join(target.continues.unwrap_or_default());
        if let Some(update) = node.part("update") {
            self.discarded(update);
        }
        let back = self.take();
        self.link(back, head);
        self.ways = no;
        self.join(target.breaks);
    }

    fn switch(&mut self, node: Node<'t>) {
        if let Some(condition) = node.part("condition") {
            self.value(condition);
        }
        let head = self.meet(span(node));
        self.ways.clear();
        self.targets.push(Target::default());
        let mut complete = false;
        if let Some(body) = node.part("body") {
            complete = self.cases(body, head);
        }
        let target = self.targets.pop().unwrap_or_default();
        self.join(target.breaks);
        if !complete {
            self.join(vec![(head, Edge::Always)]);
        }
    }

    /// The cases of a switch, each falling into the next; whether one of them
    /// takes every value that the others leave.
    fn cases(&mut self, body: Node<'t>, head: usize) -> bool {
        let mut complete = false;
        self.scopes.push(span(body));
        self.blocks.push((span(body), self.visible.len()));
        let mut cursor = body.walk();
        let children: Vec<Node<'t>> = body.named_children(&mut cursor).collect();
        for child in children {
            if child.known_kind() == "case_statement" {
                complete |= child.part("value").is_none();
                self.join(vec![(head, Edge::Always)]);
            }
            self.statement(child);
        }
        self.unblock();
        complete
    }

    fn label(&mut self, node: Node<'t>) {
        if let Some(label) = node.part("label") {
            let at = self.meet(span(label));
            let name = self.context.written(label);
            self.graph.labels.push((name.clone(), span(label)));
            self.labels.entry(name).or_insert(at);
        }
        self.children(node);
    }

    fn goto(&mut self, node: Node<'t>) {
        let label = node.part("label");
        let place = span(node);
        let from = self.emit(Action::Join, place);
        self.ways.clear();
        match label {
            Some(label) => {
                let name = self.context.written(label);
                self.gotos.push((from, Edge::Always, name));
            }
            None => self.graph.computed = true,
        }
    }

    fn leave_round(&mut self, continues: bool) {
        let ways = self.take();
        self.leave(ways, continues);
    }

    /// Those ways leave the loop or the switch around, or the round of the loop.
    pub(super) fn leave(&mut self, ways: Ways, continues: bool) {
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
        let to = match continues {
            true => Leaving::Continue,
            false => Leaving::Break,
        };
        let out = ways
            .into_iter()
            .map(|(from, edge)| (from, edge, to.clone()));
        self.graph.leaving.extend(out);
    }

    /// All effects so far have a node.
    pub(super) fn all_placed(&mut self) {
        self.placed = self.graph.effects.len();
    }

    fn leave_function(&mut self, node: Node<'t>) {
        let value = node.named_child(0);
        if let Some(value) = value {
            self.note_choice(node, value);
        }
        let handed = value.map(|value| self.returned(value)).unwrap_or_default();
        let place = value
            .map(bare)
            .filter(|value| value.known_kind() == "identifier");
        let place = place.map(|value| self.variable(self.context.seen(value)));
        self.exit(false, place, span(node));
        if !handed.is_empty() {
            self.ways = handed;
            self.exit(true, None, span(node));
        }
        self.ways.clear();
    }

    fn exit(&mut self, hands_over: bool, returned: Option<usize>, at: Span) {
        let exit = Action::Exit {
            hands_over,
            returned,
        };
        self.emit(exit, at);
    }
}

fn kind_of(context: &Context<'_>, node: Node<'_>) -> Option<StatementKind> {
    let word = word_at(context.original, node.start_byte()).of(context.original);
    Some(match node.known_kind() {
        "compound_statement" => StatementKind::Block,
        "if_statement" => StatementKind::If,
        "else_clause" => StatementKind::Else,
        "while_statement" if word != b"while" && !is_loop(word) => StatementKind::Scope,
        "while_statement" | "for_statement" => StatementKind::Loop,
        "do_statement" => StatementKind::Do,
        "switch_statement" => StatementKind::Switch,
        "case_statement" => StatementKind::Case,
        "labeled_statement" => StatementKind::Label,
        "goto_statement" => StatementKind::Goto,
        "break_statement" => StatementKind::Break,
        "continue_statement" => StatementKind::Continue,
        "return_statement" => StatementKind::Return,
        "declaration" => StatementKind::Declaration,
        "expression_statement" => StatementKind::Expression,
        "preproc_if" | "preproc_ifdef" | "preproc_elif" | "preproc_else" => StatementKind::Side,
        _ => return None,
    })
}

/// What an `if` asks, what a `return` gives, or the expression that a statement is.
fn expression(node: Node<'_>) -> Option<Span> {
    let inner = match node.known_kind() {
        "if_statement" => node.part("condition")?.named_child(0),
        "return_statement" | "expression_statement" => node.named_child(0),
        _ => None,
    };
    inner.map(span)
}

/// The label that a `goto` names.
fn label(kind: StatementKind, node: Node<'_>) -> Option<Span> {
    let label = node.part("label").filter(|_| kind == StatementKind::Goto);
    label.map(span)
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let last = node.named_child_count().checked_sub(1)?;
    node.named_child(answer::fits(last)?)
}

fn is_array(declarator: Node<'_>) -> bool {
    let inner = declarator.part("declarator");
    declarator.known_kind() == "array_declarator" || inner.is_some_and(is_array)
}

fn innermost(declarator: Node<'_>) -> Node<'_> {
    let inner = declarator
        .part("declarator")
        .or_else(|| match declarator.known_kind() {
            "identifier" => None,
            _ => declarator.named_child(0),
        });
    inner.map_or(declarator, innermost)
}
