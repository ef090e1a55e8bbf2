//! What a call of a function of the file does to user memory, as its own body says.

use std::rc::Rc;

use crate::calls::{Duplicates, Outcome};
use crate::expression::{Expression, Term};
use crate::flow::{Action, StatementKind};
use crate::node::Parts as _;
use crate::site::bare;
use crate::span::Span;

use super::accesses::Access;
use super::callee::look_into;
use super::context::FunctionContext;
use super::fate::{is_error, tells_fault};
use super::fetched::fetches;
use super::known::{Fails, Summary, Told};
use super::range::declared_type;
use super::tokens::parameters;
use super::words::AccessWord;

/// What a function does; none where no caller has to know it.
pub(crate) fn summary(function: &FunctionContext<'_>) -> Option<Summary> {
    let body = function.body;
    let file = function.file;
    if body.defined_by.is_some() || !file.is_called(body) {
        return None;
    }
    let names = parameters(file.text, file.tokens, body)?;
    let gives = Given::of(function);
    let tells_fault = tells_fault(function);
    let error = tells_fault.is_some() && !function.accesses.is_empty();
    let own = Summary {
        copies: copies(function, &names),
        faults: faults(function),
        fails: gives.fails,
        duplicates: gives.duplicates.and_then(|own| duplicated(own, &names)),
        succeeds: succeeds(function),
        tells_fault: tells_fault == Some(true),
        told: told(function).or(error.then_some(Told::Error)),
        fetches: fetches(function, &names),
        parameters: Vec::new(),
    };
    (own != Summary::default()).then_some(Summary {
        parameters: names,
        ..own
    })
}

/// The parameter that an expression is, whose value is the caller's all along.
pub(crate) fn parameter(
    function: &FunctionContext<'_>,
    names: &[String],
    own: &Expression,
) -> Option<usize> {
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
        let value = function.expression_of(access.value_node);
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
    let holder = around.find(|own| own.known_kind() != "parenthesized_expression");
    match access.word.result {
        Some(Outcome::Left) if holder.is_some_and(|own| own.known_kind() == "return_statement") => {
            Outcome::Left
        }
        _ => Outcome::Fault,
    }
}

/// What a function that accesses user memory gives for a fault, if not an error number alone.
fn told(function: &FunctionContext<'_>) -> Option<Told> {
    let gives_truth = function.file.gives(function.body, b"bool");
    if gives_truth && !function.accesses.is_empty() {
        return Some(Told::Truth);
    }
    let statements = function.graph.statements.iter();
    let returns = statements.filter(|own| own.kind == StatementKind::Return);
    let mut given = Vec::new();
    for value in returns.filter_map(|own| own.expression) {
        leaves(&*function.expression(value)?, &mut given);
    }
    let (left, other): (Vec<&Expression>, Vec<&Expression>) =
        given.iter().partition(|own| is_left(function, own));
    let only_errors = other.iter().all(|own| own.is_zero() || is_error(own));
    match (left.is_empty(), other.iter().all(|own| own.is_zero())) {
        (false, true) => Some(Told::Left),
        (false, false) if only_errors => Some(Told::LeftOrError),
        _ if given.iter().any(|own| is_summed(function, own)) => Some(Told::Summed),
        _ => None,
    }
}

/// What an expression may come to: itself, or what it chooses of.
fn leaves(own: &Expression, into: &mut Vec<Expression>) {
    match &own.uncast().1.term {
        Term::Choice(asked, yes, no) => {
            leaves(yes.as_deref().unwrap_or(asked), into);
            leaves(no, into);
        }
        _ => into.push(own.uncast().1.clone()),
    }
}

/// Whether a value is how many bytes were left, as a call gave it.
fn is_left(function: &FunctionContext<'_>, own: &Expression) -> bool {
    let gives = |call: &Expression| {
        call.call()
            .is_some_and(|(name, _)| function.told(name) == Some(Told::Left))
    };
    match own.name() {
        None => gives(own),
        Some(name) => {
            // Behind a test it may be 0.
            let plain = function.graph.local(name).is_some_and(|local| local.plain);
            let own = plain && !is_tested(function, name);
            let only = function.graph.only_value(name).filter(|_| own);
            let value = only.and_then(|value| function.expression(value));
            value.is_some_and(|value| gives(value.uncast().1))
        }
    }
}

/// Whether a value is what some accesses gave together, how many bytes were left among them:
/// `err |= copy_from_user(…); err |= get_user(…)`.
fn is_summed(function: &FunctionContext<'_>, own: &Expression) -> bool {
    let graph = function.graph;
    let Some(name) = own.name() else { return false };
    let plain = graph.local(name).is_some_and(|local| local.plain);
    if !plain || is_tested(function, name) {
        return false;
    }
    let (mut left, mut other) = (false, false);
    function.each_of(&["assignment_expression", "init_declarator"], |node| {
        let target = node.part("left").or_else(|| node.part("declarator"));
        let value = node.part("right").or_else(|| node.part("value"));
        let (Some(target), Some(value)) = (target, value) else {
            return;
        };
        if function.context.written(bare(target)) != name {
            return;
        }
        let value = function.expression_of(value);
        let adds = matches!(function.context.operator(node), b"|=" | b"+=");
        let told = value.uncast().1.call();
        let told = told.and_then(|(name, _)| function.told(name));
        left |= adds && told == Some(Told::Left);
        other |= !(value.is_zero() || adds && told.is_some());
    });
    left && !other
}

/// Whether a statement other than a `return` asks something of a variable.
fn is_tested(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    graph.statements.iter().any(|own| {
        let condition = own.expression.filter(|_| own.kind != StatementKind::Return);
        condition.is_some_and(|condition| graph.tests(condition, name))
    })
}

/// Whether all that a function gives is `!access(…)`.
fn succeeds(function: &FunctionContext<'_>) -> bool {
    let statements = function.graph.statements.iter();
    let mut returns = statements.filter(|own| own.kind == StatementKind::Return);
    let given = returns
        .next()
        .and_then(|own| function.expression(own.expression?));
    let alone = given.filter(|_| returns.next().is_none());
    alone.is_some_and(|own| match &own.term {
        Term::Unary(not, call) if not == "!" => call.call().is_some_and(|(name, _)| {
            let word = function.file.words.access(name);
            word.is_some_and(|word| word.result.is_some())
        }),
        _ => false,
    })
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
        let names = names.filter_map(|call| callee.callee(*call));
        let mut deeper = names.filter(|name| callee.known.may_sleep(name));
        match is_quiet(callee) {
            true => None,
            false => {
                faults(callee).or_else(|| deeper.find_map(|name| deep_faults(callee, name, left)))
            }
        }
    })
}

/// What is called in a function.
fn called<'s>(function: &'s FunctionContext<'_>) -> impl Iterator<Item = &'s str> {
    let nodes = function.graph.nodes.iter();
    nodes.filter_map(|node| match &node.action {
        Action::Call(call) => Some(call.name.as_str()),
        Action::Inside(inside) => Some(inside.call.as_str()),
        _ => None,
    })
}

/// Whether a function switches page faults off anywhere, by a call or by a guard.
fn is_quiet(function: &FunctionContext<'_>) -> bool {
    let scopes = function.graph.cleanups.iter();
    let guards = scopes.filter_map(|scope| function.guard(*scope));
    let mut all = called(function).chain(guards);
    all.any(|name| function.file.words.switches_faults_off(name))
}

/// The call that may sleep on a fault, where the function does not see to it that none
/// does.
fn faults(function: &FunctionContext<'_>) -> Option<String> {
    let found = called(function).find(|name| function.may_fault(name))?;
    (!is_quiet(function)).then(|| found.to_owned())
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
        let given: Vec<Rc<Expression>> = given.collect();
        let null = given.iter().any(|own| own.is_null());
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
