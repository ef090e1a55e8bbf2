//! A write() of which no way says how much it took: where all goes well it gives 0, and the program
//! writes the same again.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Node as Step, Statement, StatementKind};
use crate::lex::TokenKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::carried::given;
use super::context::FunctionContext;
use super::fate::is_error;
use super::known::Told;
use super::plain_results::plainly;
use super::tokens::{parameter_spans, parameters};

/// So many rounds follow a number from variable to variable.
const ROUNDS: usize = 4;
/// So many variables one value is followed through.
const DEPTH: usize = 4;

/// A write() that gives 0.
pub(crate) struct ZeroAnswer {
    /// The parameter that says how many bytes there are.
    pub(crate) count: String,
    /// Where they are fetched.
    pub(crate) fetched: Span,
    /// What is given where that went well.
    pub(crate) given: Span,
}

/// What a function answers so.
pub(crate) fn zero_answer(function: &FunctionContext<'_>) -> Option<ZeroAnswer> {
    let (buffer, count) = written(function)?;
    let ends = function.graph.statements.iter();
    let ends: Vec<&Statement> = ends
        .filter(|own| own.kind == StatementKind::Return)
        .collect();
    let sided = || {
        let mut tokens = function.file.tokens_of(function.body).iter();
        tokens.any(|own| own.kind == TokenKind::Directive)
    };
    (!sided()).then_some(())?;
    let answer = Answer::of(function, &buffer, &count)?;
    let mut zero = None;
    for end in ends {
        let at = given(end)?;
        let value = function.expression(at)?;
        let may = answer.is_zero(&value, DEPTH)?;
        if may && zero.is_none() && !is_failed(function, &value) {
            let mut fetched = fetches(function, &buffer);
            let fetched = fetched.find(|own| at.contains(*own) || function.leads(*own, end.span));
            zero = fetched.map(|own| (own, at));
        }
    }
    let (fetched, given) = zero?;
    Some(ZeroAnswer {
        count,
        fetched,
        given,
    })
}

/// The parameters by which a write() of a table of the file is given where the program's bytes are, and
/// how many.
fn written(function: &FunctionContext<'_>) -> Option<(String, String)> {
    let (file, body) = (function.file, function.body);
    let mut tables = file.handlers(body).filter(|own| own.writes);
    let own = tables.next()?;
    let (buffer, position) = (own.buffer?, own.position?);
    let declared = parameter_spans(file.tokens, body)?;
    // Tables of other kinds call another function so.
    let is_pointer = |at: usize| {
        let own = declared.get(at).map(|own| file.tokens_in(*own));
        own.is_some_and(|own| own.iter().any(|own| own.is(b'*')))
    };
    (declared.len() == position + 1 && is_pointer(buffer) && is_pointer(position)).then_some(())?;
    let names = parameters(file.text, file.tokens, body)?;
    let count = names.get(position.checked_sub(1)?)?;
    Some((names.get(buffer)?.clone(), count.clone()))
}

/// The calls of a function that fetch what the program wrote.
fn fetches<'f>(
    function: &'f FunctionContext<'_>,
    buffer: &'f str,
) -> impl Iterator<Item = Span> + 'f {
    let all = function.calls.iter().map(|own| span(*own));
    all.filter(move |own| function.graph.names(*own, buffer))
}

/// Whether a variable is given where an `if` has asked for it: there it is an error number.
fn is_failed(function: &FunctionContext<'_>, value: &Expression) -> bool {
    let Some(name) = value.uncast().1.name() else {
        return false;
    };
    let at = value.span;
    let asks = |own: &&Statement| {
        let condition = own
            .expression
            .filter(|own| function.graph.names(*own, name));
        own.kind == StatementKind::If && condition.is_some() && own.span.contains(at)
    };
    function.graph.statements.iter().any(|own| asks(&own))
}

/// What may say how much there was to write.
struct Answer<'f> {
    function: &'f FunctionContext<'f>,
    /// The variables that the number, or the text, went to.
    told: HashSet<String>,
}

impl<'f> Answer<'f> {
    fn of(function: &'f FunctionContext<'f>, buffer: &str, count: &str) -> Option<Self> {
        let told = HashSet::from([buffer.to_owned(), count.to_owned()]);
        let mut own = Self { function, told };
        for _ in 0..ROUNDS {
            let before = own.told.len();
            own.goes_on();
            if own.told.len() == before {
                return Some(own);
            }
        }
        // What goes through so many variables is taken for told.
        None
    }

    /// One round: what takes any of it, and what calls that are given it may put it into.
    fn goes_on(&mut self) {
        let function = self.function;
        let mut more: Vec<String> = Vec::new();
        function.each_of(&["assignment_expression", "init_declarator"], |node| {
            more.extend(self.takes(node));
        });
        for call in function.calls {
            let whole = function.expression_of(*call);
            let Some((name, given)) = whole.call() else {
                continue;
            };
            if given.iter().any(|own| self.carries(own)) {
                let known = self.is_success(name);
                let into = given.iter().filter(|own| !(known && self.is_number(own)));
                more.extend(into.filter_map(roots));
            }
        }
        self.told.extend(more);
    }

    /// The variable that an assignment or a declaration gives any of it.
    fn takes(&self, node: Node<'_>) -> Option<String> {
        let declares = node.known_kind() == "init_declarator";
        let (left, right) = match declares {
            true => ("declarator", "value"),
            false => ("left", "right"),
        };
        let value = self.function.expression_of(node.part(right)?);
        self.carries(&value).then_some(())?;
        let mut left = node.part(left)?;
        while declares && left.known_kind() != "identifier" {
            left = left.part("declarator")?;
        }
        let place = self.function.expression_of(left);
        place.root().name().map(str::to_owned)
    }

    /// Whether a value is made of any of it: what says no more than whether it worked is not.
    fn carries(&self, value: &Expression) -> bool {
        if let Some((name, _)) = value.uncast().1.call()
            && self.is_success(name)
        {
            return false;
        }
        match value.name() {
            Some(name) => self.told.contains(name),
            None => value.parts().into_iter().any(|own| self.carries(own)),
        }
    }

    /// Whether a call of that name gives 0 where it worked, and otherwise an error number or what was left.
    fn is_success(&self, name: &str) -> bool {
        let told = self.function.told(name);
        let told = told.or_else(|| plainly(self.function, name));
        matches!(told, Some(Told::Error | Told::Left))
    }

    /// Whether an argument is a single variable, or its address: it takes what the text says.
    fn is_number(&self, own: &Expression) -> bool {
        let own = own.uncast().1;
        let name = match &own.term {
            Term::Address(place) => place.name(),
            _ => own.name(),
        };
        let local = name.and_then(|own| self.function.graph.local(own));
        local.is_some_and(|own| own.plain)
    }

    /// Whether a value may be 0 where all went well, rather than an error number; none where it may be
    /// anything else.
    fn is_zero(&self, value: &Expression, depth: usize) -> Option<bool> {
        let value = value.uncast().1;
        if is_error(value) && !matches!(value.term, Term::Choice(..)) {
            return Some(false);
        }
        if value.is_zero() {
            return Some(true);
        }
        match &value.term {
            Term::Choice(asked, yes, no) => {
                let yes = self.is_zero(yes.as_deref().unwrap_or(asked), depth)?;
                Some(self.is_zero(no, depth)? || yes)
            }
            _ if self.carries(value) => None,
            Term::Call(..) => {
                let (name, _) = value.call()?;
                Some(!self.function.file.words.makes_error(name))
            }
            Term::Name(name) => self.are_zero((name, value.span), depth.checked_sub(1)?),
            _ => None,
        }
    }

    /// The same of all that a variable may hold at a place.
    fn are_zero(&self, (name, at): (&str, Span), depth: usize) -> Option<bool> {
        let graph = self.function.graph;
        let local = graph.local(name)?;
        let own = local.plain && !local.lasting && !graph.unseen.contains(name);
        own.then_some(())?;
        let (mut zero, mut any) = (false, false);
        let effects = graph.effects.iter();
        for effect in effects.filter(|own| graph.name_of(own) == name) {
            match &effect.kind {
                EffectKind::Read | EffectKind::Handed { by_address: false } => {}
                EffectKind::Write(_) if !self.lasts(effect, at) => {}
                EffectKind::Write(write) if !write.compound => {
                    let value = self.function.expression(write.value?)?;
                    zero |= self.is_zero(&value, depth)?;
                    any = true;
                }
                _ => return None,
            }
        }
        any.then_some(zero)
    }

    /// Whether a variable may still hold at a place what it takes.
    fn lasts(&self, own: &Effect, at: Span) -> bool {
        let (function, graph) = (self.function, self.function.graph);
        let again = |node: &Step| {
            let mut effects = graph.effects_at(node).iter();
            effects.any(|other| {
                let writes = matches!(other.kind, EffectKind::Write(_));
                writes && other.place == own.place && other.span != own.span
            })
        };
        let from = function.touching(own.span);
        let reached = graph.reached_behind_any(from.iter().copied(), again);
        function.touching(at).iter().any(|at| reached.contains(at))
    }
}

/// The variable that an argument leads to.
fn roots(own: &Expression) -> Option<String> {
    let own = own.uncast().1;
    let place = match &own.term {
        Term::Address(place) => place,
        _ => own,
    };
    place.root().name().map(str::to_owned)
}
