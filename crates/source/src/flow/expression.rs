//! From the expressions of a body to the nodes of its graph, in the order in
//! which they are evaluated.

use tree_sitter::Node;

use crate::chain::unhinted;
use crate::check::words::{AccessWord, BeginWord, Manner};
use crate::lex::{closing, tokens};
use crate::site::{bare, span};
use crate::span::Span;
use crate::vocabulary::Direction;

use super::assembly::{Assembly, is_assembly, operands};
use super::build::{Builder, Source, Ways};
use super::graph::{Action, Begin, Call, Condition, Edge, EffectKind, Inside, Opening, Write};
use super::names::Step;
use super::statement::Junction;

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
        self.source.words.begin(&name).cloned()
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
        let Some(word) = self.source.words.scoped(name).cloned() else {
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

    fn joined(&mut self, node: Node<'t>, both: bool, left: Node<'t>, right: Node<'t>) {
        self.graph.junctions.push(Junction {
            span: span(node),
            both,
            left: span(left),
            right: span(right),
        });
    }

    fn both(&mut self, node: Node<'t>) -> (Ways, Ways) {
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

    fn either(&mut self, node: Node<'t>) -> (Ways, Ways) {
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
        let place = self.place(bare(left));
        self.stored(place, right, span(node));
        let text = self.context.written(left);
        self.test(text, place, place.into_iter().collect())
    }

    fn constant(&mut self, node: Node<'t>) -> (Ways, Ways) {
        let ways = self.take();
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
            .filter(|_| condition.kind() == "parenthesized_expression");
        let node = unhinted(self.context, condition);
        let zero = |node: Node<'t>| {
            let right = node.child_by_field_name("right");
            right.is_some_and(|right| self.context.seen(right) == b"0")
        };
        let variable = match (node.kind(), self.context.operator(node)) {
            ("binary_expression", b"!=" | b"<") if zero(node) => {
                node.child_by_field_name("left").map(bare)
            }
            _ => Some(node),
        };
        if let Some(variable) = variable.filter(|v| v.kind() == "identifier") {
            let place = self.variable(self.context.seen(variable));
            let at = span(whole.unwrap_or(condition));
            self.graph.tests.push((at, place));
        }
    }

    /// Notes `return a || b ? -EFAULT : 0;`.
    pub(crate) fn note_choice(&mut self, node: Node<'t>, value: Node<'t>) {
        let value = bare(value);
        let part = |field| value.child_by_field_name(field).map(bare);
        let is = |part: Option<Node<'t>>, text| part.is_some_and(|p| self.context.seen(p) == text);
        let chooses = value.kind() == "conditional_expression"
            && is(part("consequence"), b"-EFAULT".as_slice())
            && is(part("alternative"), b"0");
        if let Some(asked) = value.child_by_field_name("condition").filter(|_| chooses) {
            let stops = !self.joins_bits(asked);
            self.graph.choices.push((span(node), span(asked), stops));
        }
    }

    fn joins_bits(&self, node: Node<'t>) -> bool {
        let mut cursor = node.walk();
        node.kind() == "binary_expression" && self.context.operator(node) == b"|"
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
        let mut known = self.graph.conditions.iter();
        // Variables of two scopes may share a name.
        let known = known.position(|have| have.text == text && have.place == place);
        let condition = known.unwrap_or_else(|| {
            self.graph.conditions.push(Condition { text, place, reads });
            self.graph.conditions.len() - 1
        });
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
            "pointer_expression" if self.context.operator(node) == b"&" => self.address(node, true),
            "compound_statement" => self.block(node, Self::children),
            // `(void)x` quietens a compiler; nobody takes the value.
            "cast_expression" if self.is_void(node) => {}
            _ if is_place(node) => self.read(node),
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

    /// The place that an expression is; what it takes to know it is done.
    pub(crate) fn place(&mut self, node: Node<'t>) -> Option<usize> {
        match node.kind() {
            "identifier" => Some(self.variable(self.context.seen(node))),
            "parenthesized_expression" => self.place(node.named_child(0)?),
            "field_expression" => {
                let holder = node.child_by_field_name("argument")?;
                let field = self.context.written(node.child_by_field_name("field")?);
                let from = match self.context.operator(node) {
                    b"->" => self.behind(holder),
                    _ => self.place(holder),
                };
                Some(self.graph.places.step(from?, Step::Field(field)))
            }
            "subscript_expression" => self.element(node),
            "pointer_expression" if self.context.operator(node) == b"*" => {
                self.behind(node.child_by_field_name("argument")?)
            }
            _ => {
                self.value(node);
                None
            }
        }
    }

    /// What a pointer points to.
    fn behind(&mut self, pointer: Node<'t>) -> Option<usize> {
        let inner = bare(pointer);
        if inner.kind() == "pointer_expression" && self.context.operator(inner) == b"&" {
            // `*(u32 *)&x`: a part of it.
            let place = self.place(bare(inner.child_by_field_name("argument")?))?;
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

    fn element(&mut self, node: Node<'t>) -> Option<usize> {
        let index = node.child_by_field_name("index")?;
        self.value(index);
        let holder = bare(node.child_by_field_name("argument")?);
        let from = match holder.kind() {
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
    fn is_pointer(&mut self, node: Node<'t>) -> bool {
        if node.kind() != "identifier" {
            return false;
        }
        let place = self.variable(self.context.seen(node));
        let local = self.graph.places.as_local(place);
        match local.and_then(|at| self.graph.locals.get(at)) {
            Some(local) => !local.array,
            None => self.is_parameter(self.context.seen(node)),
        }
    }

    fn read(&mut self, node: Node<'t>) {
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
    fn address(&mut self, node: Node<'t>, kept: bool) {
        let Some(argument) = node.child_by_field_name("argument") else {
            return;
        };
        if let Some(place) = self.place(argument)
            && kept
            && !self.graph.places.is_behind(place)
        {
            self.effect(EffectKind::Address, place, span(node));
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
        let after = self.switch_to(no);
        if let Some(part) = node.child_by_field_name("alternative") {
            self.value(part);
        }
        self.join(after);
    }

    fn assignment(&mut self, node: Node<'t>) {
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
            ..Write::default()
        };
        self.changed(left, write, span(node));
    }

    fn update(&mut self, node: Node<'t>) {
        if let Some(argument) = node.child_by_field_name("argument") {
            let operator = node.child_by_field_name("operator");
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
    fn changed(&mut self, left: Node<'t>, write: Write, at: Span) {
        if let Some(place) = self.place(bare(left)) {
            self.effect(EffectKind::Read, place, span(left));
            self.write(place, write, at);
        }
    }

    fn write(&mut self, place: usize, write: Write, at: Span) {
        let optional = self.is_optional(at);
        self.effect(EffectKind::Write(Write { optional, ..write }), place, at);
    }

    /// A value that goes into a place.
    pub(crate) fn stored(&mut self, place: Option<usize>, right: Node<'t>, at: Span) {
        if let (Some(word), Some(place)) = (self.begin_of(right), place) {
            let call = unhinted(self.context, right);
            self.begin(&word, call, Opening::Stored(place));
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
    fn copies(&mut self, place: usize, value: Node<'t>) -> bool {
        let own = |graph: &super::Flow, place: usize| {
            let local = graph.places.as_local(place);
            local.and_then(|at| graph.locals.get(at)).map(|local| {
                let named = ["struct ", "union "];
                local.plain && named.iter().any(|word| local.base_type.starts_with(word))
            })
        };
        let from = match value.kind() {
            "identifier" => {
                let place = self.variable(self.context.seen(value));
                own(&self.graph, place).unwrap_or(false)
            }
            "pointer_expression" => self.context.operator(value) == b"*",
            _ => false,
        };
        own(&self.graph, place).unwrap_or(from)
    }

    /// `ok = a && begin(…)`.
    fn stored_decision(&mut self, place: Option<usize>, right: Node<'t>, at: Span) {
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

    fn call(&mut self, node: Node<'t>) {
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return self.parts(node);
        };
        let name = self.name_of(node).unwrap_or_default();
        if let Some(word) = self.source.words.begin(&name).cloned() {
            self.begin(&word, node, Opening::Ignored);
        } else if let Some(word) = self.source.words.end(&name).cloned() {
            let (call, kind) = (name, word.kind);
            self.emit(Action::End { call, kind }, span(node));
        } else if let Some(word) = self.source.words.in_window(&name).cloned() {
            self.access(node, arguments, &word);
        } else if name.starts_with("unsafe_") && self.source.words.manner(&name) == Manner::Unknown
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
        self.graph.accesses.push(word.name.clone());
        let number = self.graph.accesses.len() - 1;
        let reads = word.direction == Direction::Read;
        let mut filled = None;
        for at in 0..word.arguments - 1 {
            let Some(argument) = part(at) else { continue };
            let outer = self.argument_of.replace((number, at == word.user));
            if at == word.value && reads {
                filled = self.filled_by(argument, word.count.is_some());
            } else {
                self.value(argument);
            }
            self.argument_of = outer;
        }
        let plain = |place: &usize| self.graph.places.parent(*place).is_none();
        let inside = Inside {
            call: word.name.clone(),
            direction: Some(word.direction),
            wrapper: false,
            value: part(word.value).map(span),
            user: part(word.user).map(span),
            fills: filled.filter(|place| plain(place) && word.count.is_none()),
        };
        let at = self.emit(Action::Inside(inside), span(node));
        if let Some(label) = label {
            self.jump(at, Edge::Fault, span(node), label);
        }
        let at = part(word.value).map_or(span(node), span);
        self.after_read(filled, word.count.is_some(), at);
    }

    /// The place that a read fills: what is named, or what is pointed to.
    fn filled_by(&mut self, value: Node<'t>, pointed: bool) -> Option<usize> {
        let inner = bare(value);
        if !pointed {
            return self.place(inner);
        }
        if inner.kind() == "pointer_expression" && self.context.operator(inner) == b"&" {
            return self.place(inner.child_by_field_name("argument")?);
        }
        self.behind(inner)
    }

    fn after_read(&mut self, filled: Option<usize>, pointed: bool, at: Span) {
        match filled {
            // How much of it is copied is not known here.
            Some(place) if pointed => {
                self.effect(EffectKind::Handed { by_address: true }, place, at)
            }
            Some(place) => self.write(place, Write::default(), at),
            None => {}
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
            fills: None,
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
        if let Some(operands) = assembly(self.context, node, &self.source) {
            return self.assembled(node, arguments, operands);
        }
        let known = self.known(node, &name);
        let mut cursor = arguments.walk();
        let given: Vec<Node<'t>> = arguments.named_children(&mut cursor).collect();
        let mut handed = Vec::new();
        for (at, argument) in given.iter().enumerate() {
            handed.push(match known {
                Some(way) if at == way.value && way.direction == Direction::Read => {
                    self.filled_by(*argument, way.pointed)
                }
                Some(way) if at == way.value && way.pointed => {
                    self.lent(*argument);
                    None
                }
                _ => self.given(*argument),
            });
        }
        let hints = self.context.vocabulary.is_transparent(name.as_bytes())
            || self.context.vocabulary.is_pure(name.as_bytes());
        let call = Call {
            given: handed.iter().copied().flatten().collect(),
            argument_of: self.argument_of.map(|(call, _)| call),
            name,
        };
        self.emit(Action::Call(call), span(node));
        let outer = self.argument_of.take();
        for (at, (argument, place)) in given.iter().zip(handed).enumerate() {
            let filled = known.filter(|way| at == way.value && way.direction == Direction::Read);
            let by_address = bare(*argument).kind() == "pointer_expression";
            match (filled, place) {
                (Some(way), place) => self.after_read(place, way.pointed, span(*argument)),
                (None, Some(place)) if known.is_none() && !hints => {
                    self.effect(EffectKind::Handed { by_address }, place, span(*argument));
                }
                _ => {}
            }
        }
        self.argument_of = outer;
    }

    /// How a call accesses user memory, if it is one that does.
    fn known(&self, call: Node<'t>, name: &str) -> Option<Way> {
        let own = self.context.access(call).map(|access| Way {
            value: 0,
            direction: access.direction,
            pointed: false,
        });
        own.or_else(|| {
            self.source.words.access(name).map(|word| Way {
                value: word.value,
                direction: word.direction,
                pointed: word.count.is_some(),
            })
        })
    }

    /// What goes out from behind an address, which nobody keeps.
    fn lent(&mut self, argument: Node<'t>) {
        let inner = bare(argument);
        let taken = inner.kind() == "pointer_expression" && self.context.operator(inner) == b"&";
        let place = match inner.child_by_field_name("argument").filter(|_| taken) {
            Some(place) => self.place(place),
            None => self.behind(inner),
        };
        if let Some(place) = place {
            self.effect(EffectKind::Read, place, span(argument));
        }
    }

    /// An argument; the place, if it is handed on as it is or by its address.
    fn given(&mut self, argument: Node<'t>) -> Option<usize> {
        let inner = bare(argument);
        self.value(argument);
        let addressed =
            inner.kind() == "pointer_expression" && self.context.operator(inner) == b"&";
        let place = match inner.child_by_field_name("argument").filter(|_| addressed) {
            Some(place) => bare(place),
            None => inner,
        };
        if !is_place(place) {
            return None;
        }
        // What it takes to know the place is done already.
        let (known, placed) = (self.graph.effects.len(), self.graph.indices.len());
        let found = self.place(place);
        self.graph.effects.truncate(known);
        self.graph.indices.truncate(placed);
        found
    }

    /// What assembly reads and writes by its operands, and where it jumps.
    fn assembled(&mut self, node: Node<'t>, arguments: Node<'t>, operands: Assembly) {
        let mut cursor = arguments.walk();
        let given: Vec<Node<'t>> = arguments.named_children(&mut cursor).collect();
        let mut written = Vec::new();
        for argument in given {
            let operand = operands
                .operands
                .iter()
                .find(|o| o.value.contains(span(argument)));
            match operand {
                Some(operand) if operand.writes => {
                    let place = self.place(bare(argument));
                    if let Some(place) = place.filter(|_| operand.reads) {
                        self.effect(EffectKind::Read, place, span(argument));
                    }
                    written.extend(place.map(|place| (place, span(argument))));
                }
                _ => self.value(argument),
            }
        }
        let call = Call {
            name: "a".to_owned(),
            given: Vec::new(),
            argument_of: self.argument_of.map(|(call, _)| call),
        };
        let at = self.emit(Action::Call(call), span(node));
        for (place, at) in written {
            self.write(place, Write::default(), at);
        }
        for label in operands.labels {
            self.jump(
                at,
                Edge::Always,
                span(node),
                label.text(self.context.original),
            );
        }
    }
}

/// How a call accesses user memory.
#[derive(Clone, Copy)]
struct Way {
    /// The argument that is the other side of the user's address.
    value: usize,
    direction: Direction,
    /// Whether that is a pointer to what is copied.
    pointed: bool,
}

/// The operands of a call that stands for assembly.
fn assembly(
    context: &crate::site::Context<'_>,
    call: Node<'_>,
    source: &Source<'_>,
) -> Option<Assembly> {
    let tokens = source.tokens;
    let at = tokens.partition_point(|t| t.span.start < call.start_byte());
    let word = tokens.get(at)?.span.of(context.original);
    is_assembly(word).then(|| operands(context.original, tokens, at).unwrap_or_default())
}

/// Whether an expression names a place.
fn is_place(node: Node<'_>) -> bool {
    match node.kind() {
        "identifier" | "field_expression" | "subscript_expression" => true,
        "pointer_expression" => node
            .child_by_field_name("operator")
            .is_some_and(|operator| operator.kind() == "*"),
        _ => false,
    }
}

/// Whether an expression is a number, a name in capitals, or such with a minus.
fn is_constant(context: &crate::site::Context<'_>, node: Node<'_>) -> bool {
    match node.kind() {
        "number_literal" | "true" | "false" | "null" => true,
        "unary_expression" if context.operator(node) == b"-" => {
            let operand = node.child_by_field_name("argument").map(bare);
            operand.is_some_and(|operand| match operand.kind() {
                "number_literal" => true,
                "identifier" => context.seen(operand).iter().all(u8::is_ascii_uppercase),
                _ => false,
            })
        }
        _ => false,
    }
}

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
    crate::check::tokens::arguments(&all, 1, close)
}
