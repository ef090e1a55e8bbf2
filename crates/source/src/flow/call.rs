//! From calls to what they open, close, access, fill and hand out.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::calls::Direction;
use crate::chain::unhinted;
use crate::check::words::{AccessWord, BeginWord, Permission};
use crate::expression::Expression;
use crate::lex::{closing, tokens};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::assembly::{Assembly, is_assembly, operands};
use super::build::{Builder, Source, Ways};
use super::expression::is_place;
use super::graph::{Action, Begin, Call, Edge, EffectKind, Inside, Opening, Write};

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
    pub(super) fn begin_of(&self, node: Node<'t>) -> Option<BeginWord> {
        let node = unhinted(self.context, node);
        let name = self.name_of(node)?;
        self.source.words.begin(&name).cloned()
    }

    pub(super) fn name_of(&self, call: Node<'t>) -> Option<String> {
        (call.known_kind() == "call_expression")
            .then(|| String::from_utf8_lossy(self.context.callee(call)).into_owned())
    }

    pub(super) fn begin(&mut self, word: &BeginWord, call: Node<'t>, opening: Opening) -> usize {
        let arguments = call.part("arguments");
        if let Some(arguments) = arguments {
            self.value(arguments);
        }
        let argument = |at: u32| Some(span(arguments?.named_child(at)?));
        let opening = if word.always || word.guessed && opening == Opening::Ignored {
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

    pub(super) fn call(&mut self, node: Node<'t>) {
        let Some(arguments) = node.part("arguments") else {
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
        } else if self.source.pieces.contains_key(&name) {
            self.other(node, arguments, name);
        } else if self.source.words.is_inside(&name)
            && self.source.words.permission(&name) == Permission::Unknown
        {
            self.wrapped(node, arguments, name);
        } else {
            // The parser library comes down from the root for what a node stands in.
            let alone =
                || node.parent().map(|own| own.known_kind()) == Some("expression_statement");
            let ends = self.source.words.ends(&name) && alone();
            self.other(node, arguments, name);
            if ends {
                self.ways.clear();
            }
        }
    }

    pub(super) fn access(&mut self, node: Node<'t>, arguments: Node<'t>, word: &AccessWord) {
        let part = |at: usize| arguments.named_child(answer::fits(at)?);
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
            called: false,
        };
        let at = self.emit(Action::Inside(inside), span(node));
        if let Some(label) = label {
            self.jump(at, Edge::Fault, span(node), label);
        }
        let at = part(word.value).map_or(span(node), span);
        self.after_read(filled, word.count.is_some(), at);
    }

    /// The place that a read fills: what is named, or what is pointed to.
    pub(super) fn filled_by(&mut self, value: Node<'t>, pointed: bool) -> Option<usize> {
        let inner = bare(value);
        if !pointed {
            return self.place(inner);
        }
        if inner.known_kind() == "pointer_expression" && self.context.operator(inner) == b"&" {
            return self.place(inner.part("argument")?);
        }
        self.behind(inner)
    }

    pub(super) fn after_read(&mut self, filled: Option<usize>, pointed: bool, at: Span) {
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
    pub(super) fn wrapped(&mut self, node: Node<'t>, arguments: Node<'t>, call: String) {
        self.value(arguments);
        let count = answer::fits::<u32, _>(arguments.named_child_count()).unwrap_or(0);
        let last = count
            .checked_sub(1)
            .and_then(|at| arguments.named_child(at));
        let label = last
            .filter(|last| last.known_kind() == "identifier")
            .map(|label| self.context.written(label));
        let inside = Inside {
            direction: direction_of(&call),
            call,
            wrapper: true,
            value: None,
            user: None,
            fills: None,
            called: false,
        };
        let at = self.emit(Action::Inside(inside), span(node));
        if let Some(label) = label {
            self.jump(at, Edge::Fault, span(node), label);
        }
    }

    pub(super) fn other(&mut self, node: Node<'t>, arguments: Node<'t>, name: String) {
        if let Some(function) = node.part("function")
            && function.known_kind() != "identifier"
        {
            self.value(function);
        }
        let name = match name.as_str() {
            "" => node
                .part("function")
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
            frees: self.source.words.frees(&name),
            clears: self.cleared(&name, &given, &handed),
            argument_of: self.argument_of.map(|(call, _)| call),
            name: name.clone(),
        };
        let expands = self.source.pieces.get(&name);
        let expands = expands.is_some_and(|all| all.iter().all(|piece| piece.expands));
        match expands {
            true => self.emit(Action::Join, span(node)),
            false => self.emit(Action::Call(call), span(node)),
        };
        let outer = self.argument_of.take();
        self.splice(&name, node, &given, &handed);
        let mut printed = false;
        for (at, (argument, place)) in given.iter().zip(handed).enumerate() {
            let filled = known.filter(|way| at == way.value && way.direction == Direction::Read);
            let by_address = bare(*argument).known_kind() == "pointer_expression";
            printed |= matches!(
                argument.known_kind(),
                "string_literal" | "concatenated_string"
            );
            match (filled, place) {
                (Some(way), place) => self.after_read(place, way.pointed, span(*argument)),
                // A macro may write to what it is given by name, but not to what a text
                // in front of it shows.
                (None, Some(_)) if printed && !by_address => {}
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
    pub(super) fn lent(&mut self, argument: Node<'t>) {
        let inner = bare(argument);
        let taken =
            inner.known_kind() == "pointer_expression" && self.context.operator(inner) == b"&";
        let place = match inner.part("argument").filter(|_| taken) {
            Some(place) => self.place(place),
            None => self.behind(inner),
        };
        if let Some(place) = place {
            self.effect(EffectKind::Read, place, span(argument));
        }
    }

    /// An argument; the place, if it is handed on as it is or by its address.
    pub(super) fn given(&mut self, argument: Node<'t>) -> Option<usize> {
        let inner = bare(argument);
        self.value(argument);
        let addressed =
            inner.known_kind() == "pointer_expression" && self.context.operator(inner) == b"&";
        let place = match inner.part("argument").filter(|_| addressed) {
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

    /// The variable of which a call sets every byte.
    fn cleared(
        &self,
        name: &str,
        arguments: &[Node<'t>],
        handed: &[Option<usize>],
    ) -> Option<usize> {
        let clears = self.source.words.clears(name)?;
        let place = (*handed.get(clears.object)?)?;
        let local = self.graph.locals.get(self.graph.places.as_local(place)?)?;
        let count = Expression::of(self.context, *arguments.get(clears.count)?);
        local.is_sized(&count).then_some(place)
    }

    /// What assembly reads and writes by its operands, and where it jumps.
    pub(super) fn assembled(&mut self, node: Node<'t>, arguments: Node<'t>, operands: Assembly) {
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
            frees: false,
            clears: None,
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
