//! What a call of a function of the file does to user memory, as its own body says.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use tollgate_defect::answer;

use crate::calls::{Duplicates, Outcome};
use crate::expression::{Expression, Term};
use crate::flow::{Action, StatementKind};
use crate::lex::{Token, TokenKind};
use crate::span::Span;
use crate::split::Body;

use super::accesses::Access;
use super::callee::look_into;
use super::context::FunctionContext;
use super::fetched::Fetched;
use super::range::declared_type;
use super::tokens::parameters;
use super::words::AccessWord;

/// What is known of the functions of a file, by their names: of each from where it was
/// looked at on, which is before its callers where it stands before them.
#[derive(Default)]
pub(crate) struct Summaries {
    of: HashMap<String, Summary, RandomState>,
    /// Those that name what may sleep on a fault, whether they were looked at or not.
    sleepers: HashSet<String, RandomState>,
}

impl Summaries {
    /// What a function does, if it was looked at and a caller has to know it.
    pub(crate) fn get(&self, name: &str) -> Option<&Summary> {
        self.of.get(name)
    }

    /// Whether none was looked at.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Whether a function names what may sleep on a fault: it is worth a look.
    pub(crate) fn may_sleep(&self, name: &str) -> bool {
        self.sleepers.contains(name)
    }

    /// Notes that a function does.
    pub(crate) fn sleeps(&mut self, body: &Body) {
        if body.defined_by.is_none() {
            self.sleepers.insert(body.name.clone());
        }
    }

    /// Notes what a function does.
    pub(crate) fn note(&mut self, body: &Body, own: Option<Summary>) {
        let Some(own) = own else { return };
        let merged = match self.of.remove(&body.name) {
            Some(before) => before.merged(own),
            None => own,
        };
        self.of.insert(body.name.clone(), merged);
    }

    /// Whether some tokens name a function that may sleep on a fault.
    pub(crate) fn name_sleepers(&self, text: &[u8], tokens: &[Token]) -> bool {
        let own = |name: &[u8]| answer::text(name).is_some_and(|name| self.may_sleep(name));
        !self.sleepers.is_empty() && words(text, tokens).any(own)
    }

    /// Whether some tokens name a function of which more is known than that it may sleep.
    pub(crate) fn name_any(&self, text: &[u8], tokens: &[Token]) -> bool {
        let told = |name: &[u8]| {
            let own = answer::text(name).and_then(|name| self.get(name));
            own.is_some_and(Summary::tells)
        };
        !self.is_empty() && words(text, tokens).any(told)
    }
}

/// The words of some tokens.
fn words<'t>(text: &'t [u8], tokens: &[Token]) -> impl Iterator<Item = &'t [u8]> {
    let words = tokens.iter().filter(|own| own.kind == TokenKind::Word);
    words.map(|own| own.span.of(text))
}

/// What a call of a function does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The copy that it makes of what it is given, by the places of its parameters.
    pub(crate) copies: Option<AccessWord>,
    /// The call in it that may sleep on a fault.
    pub(crate) faults: Option<String>,
    /// What it gives where it fails, if it gives a pointer.
    pub(crate) fails: Option<Fails>,
    /// Which of its parameters say what of the user's it gives a copy of.
    pub(crate) duplicates: Option<Duplicates>,
    /// What it fetches and asks something of.
    pub(crate) fetches: Vec<Fetched>,
    /// The names of its parameters.
    pub(crate) parameters: Vec<String>,
}

/// What a function that gives a pointer gives where it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    /// An error number as a pointer, and never NULL.
    ErrorPointer,
    /// NULL, and no error number.
    Null,
    /// The one or the other.
    Either,
}

impl Summary {
    /// What a function does; none where no caller has to know it.
    pub(crate) fn of(function: &FunctionContext<'_>) -> Option<Self> {
        let body = function.body;
        let file = function.file;
        if body.defined_by.is_some() || !file.is_called(body) {
            return None;
        }
        let names = parameters(file.text, file.tokens, body)?;
        let gives = Given::of(function);
        let own = Self {
            copies: copies(function, &names),
            faults: faults(function),
            fails: gives.fails,
            duplicates: gives.duplicates.and_then(|own| duplicated(own, &names)),
            fetches: Fetched::all(function, &names),
            parameters: Vec::new(),
        };
        (own != Self::default()).then_some(Self {
            parameters: names,
            ..own
        })
    }

    /// Whether a caller has to know more of it than that it may sleep.
    fn tells(&self) -> bool {
        let gives = self.fails.is_some() || self.duplicates.is_some();
        gives || self.copies.is_some() || !self.fetches.is_empty()
    }

    /// What is so of both definitions of a function, on the two sides of an `#if`.
    pub(crate) fn merged(self, other: Self) -> Self {
        let same = |one: &Option<AccessWord>| *one == other.copies;
        Self {
            copies: self.copies.filter(|own| same(&Some(own.clone()))),
            faults: self.faults.or(other.faults),
            fails: self.fails.filter(|own| other.fails == Some(*own)),
            duplicates: self.duplicates.filter(|own| other.duplicates == Some(*own)),
            fetches: match self.parameters == other.parameters {
                true => self.fetches,
                false => Vec::new(),
            },
            parameters: self.parameters,
        }
    }
}

/// The parameter that an expression is, whose value is the caller's all along.
fn parameter(function: &FunctionContext<'_>, names: &[String], own: &Expression) -> Option<usize> {
    let name = own.uncast().1.name()?;
    let kept = !function.graph.takes_a_value(name) && function.is_parameter(name);
    names.iter().position(|own| own == name).filter(|_| kept)
}

/// The copy of what the function is given, as if it were a call that does it. Its address
/// is declared as the user's: what is the kernel's for some callers is not.
fn copies(function: &FunctionContext<'_>, names: &[String]) -> Option<AccessWord> {
    let all = function.accesses.iter().chain(function.through);
    let mut own = all.filter_map(|access| {
        let count = access.bytes.as_ref()?;
        let user = parameter(function, names, &access.address)?;
        let value = Expression::of(function.context, access.value_node);
        declared_type(function, names.get(user)?)?;
        Some(AccessWord {
            name: function.body.name.clone(),
            direction: access.word.direction,
            arguments: names.len(),
            value: parameter(function, names, &value)?,
            user,
            count: Some(parameter(function, names, count)?),
            result: Some(result(access)),
            checked: access.word.checked,
            part: false,
        })
    });
    // One that does both ways is another thing for each of its callers.
    own.next().filter(|_| own.next().is_none())
}

/// What the result means: what is left, where the function gives that on as it is.
fn result(access: &Access<'_>) -> Outcome {
    let mut around = std::iter::successors(access.node.parent(), tree_sitter::Node::parent);
    let holder = around.find(|own| own.kind() != "parenthesized_expression");
    match access.word.result {
        Some(Outcome::Left) if holder.is_some_and(|own| own.kind() == "return_statement") => {
            Outcome::Left
        }
        _ => Outcome::Fault,
    }
}

/// So many functions of the file are looked into, one from the other.
const DEEPEST: usize = 3;

/// The call in a function of the file that may sleep on a fault, where it was not looked at
/// before.
pub(crate) fn faults_in(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    deep_faults(function, name, DEEPEST)
}

fn deep_faults(function: &FunctionContext<'_>, name: &str, depth: usize) -> Option<String> {
    let left = depth.checked_sub(1)?;
    look_into(function, name, |callee| {
        let names = callee.calls.iter();
        let names = names.filter_map(|call| answer::text(callee.context.callee(*call)));
        let names: Vec<&str> = names.collect();
        let words = callee.file.words;
        if names.iter().any(|name| words.switches_faults_off(name)) {
            return None;
        }
        let mut deeper = names
            .iter()
            .filter(|name| callee.file.body_named(name).is_some());
        faults(callee).or_else(|| deeper.find_map(|name| deep_faults(callee, name, left)))
    })
}

/// The call that may sleep on a fault, where the function does not see to it that none
/// does.
fn faults(function: &FunctionContext<'_>) -> Option<String> {
    let words = function.file.words;
    let guarded = function.graph.cleanups.iter();
    let mut guarded = guarded.filter_map(|scope| function.guard(*scope));
    let calls = function
        .graph
        .nodes
        .iter()
        .filter_map(|node| match &node.action {
            Action::Call(call) => Some(call.name.as_str()),
            Action::Inside(inside) => Some(inside.call.as_str()),
            _ => None,
        });
    let mut calls = calls.chain(guarded.by_ref());
    let mut found = None;
    let off = calls.any(|name| {
        if found.is_none() && function.may_fault(name) {
            found = Some(name.to_owned());
        }
        words.switches_faults_off(name)
    });
    found.filter(|_| !off)
}

/// What a function gives, over all of its returns.
struct Given {
    fails: Option<Fails>,
    /// The arguments of the call that gives a copy of the user's: its address and the
    /// number of bytes.
    duplicates: Option<(Expression, Expression)>,
}

impl Given {
    const NOTHING: Self = Self {
        fails: None,
        duplicates: None,
    };

    fn of(function: &FunctionContext<'_>) -> Self {
        let body = function.body;
        let front = Span::new(body.header.start, body.name_span.start);
        let mut front = function.file.tokens_in(front).iter();
        match front.any(|own| own.is(b'*')) {
            true => Self::of_returns(function),
            false => Self::NOTHING,
        }
    }

    fn of_returns(function: &FunctionContext<'_>) -> Self {
        let statements = function.graph.statements.iter();
        let returns = statements.filter(|own| own.kind == StatementKind::Return);
        let given = returns.filter_map(|own| function.expression(own.expression?));
        let given: Vec<Expression> = given.collect();
        let null = given.iter().any(Expression::is_null);
        let calls: Vec<Expression> = given.iter().flat_map(|own| made(function, own)).collect();
        let of_call = |own: &Expression| {
            let (name, _) = own.call()?;
            match function.file.words.makes_error(name) {
                true => Some(Fails::ErrorPointer),
                false => function.fails(name),
            }
        };
        let failing: Vec<Fails> = calls.iter().filter_map(of_call).collect();
        let errors = failing.iter().any(|own| *own != Fails::Null);
        let null = null || failing.iter().any(|own| *own != Fails::ErrorPointer);
        // What other functions give may be anything.
        let known = given
            .iter()
            .all(|own| own.uncast().1.name().is_some() || own.is_null());
        let known = known && calls.iter().all(|own| is_known(function, own));
        let copies = |own: &Expression| {
            let (name, given) = own.call()?;
            let places = function.duplicates(name)?;
            Some((
                given.get(places.user)?.clone(),
                given.get(places.count)?.clone(),
            ))
        };
        Self {
            fails: match (errors, null) {
                (true, true) => Some(Fails::Either),
                (true, false) => Some(Fails::ErrorPointer),
                (false, true) if known => Some(Fails::Null),
                _ => None,
            },
            duplicates: calls.iter().find_map(copies),
        }
    }
}

/// Whether a call gives NULL where it fails, and nothing else that is no address.
fn is_known(function: &FunctionContext<'_>, own: &Expression) -> bool {
    own.call().is_some_and(|(name, _)| {
        let allocates = function.file.words.allocates(name).is_some();
        allocates || function.fails(name) == Some(Fails::Null)
    })
}

/// The calls of which a value is the result: itself, or what its variable takes.
fn made(function: &FunctionContext<'_>, given: &Expression) -> Vec<Expression> {
    let given = given.uncast().1;
    let Some(name) = given.name() else {
        let call = given.call().is_some();
        return call.then(|| given.clone()).into_iter().collect();
    };
    let taken = function.graph.assignments();
    let taken = taken.filter(|(own, _)| *own == name);
    let values = taken.filter_map(|(_, value)| function.expression(value));
    let values = values.map(|own| own.uncast().1.clone());
    values
        .filter(|own| matches!(own.term, Term::Call(..)))
        .collect()
}

fn duplicated((user, count): (Expression, Expression), names: &[String]) -> Option<Duplicates> {
    let at = |own: &Expression| {
        let name = own.uncast().1.name()?;
        names.iter().position(|own| own == name)
    };
    Some(Duplicates {
        user: at(&user)?,
        count: at(&count)?,
    })
}
