//! What a function fetches from the user: by itself, by a call that makes a copy, or by a function
//! of the file.

use std::cell::OnceCell;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::Direction;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::accesses::{Access, root_of};
use super::context::FunctionContext;
use super::fetched::is_all_of;
use super::known::Asked;
use super::space;

/// A fetch from the user, into a variable.
pub(crate) struct Fetch<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) span: Span,
    /// The user's address.
    pub(crate) user: Span,
    /// The variable that the address is made from.
    pub(crate) user_root: String,
    /// The address, without casts.
    pub(crate) address: Expression,
    /// Whether it is of so many bytes, and not of one value.
    pub(crate) counted: bool,
    /// The variable that the value is or lies in; empty where another function has it.
    pub(crate) value_root: String,
    /// What it fills, without casts, where that is an argument.
    pub(crate) value: Option<Expression>,
    /// Whether it leaves out as much at the front of both sides.
    pub(crate) shifted: bool,
    /// Whether all of what that leads to is filled, and no member of it.
    pub(crate) whole: bool,
    /// How many bytes it is of, where that is said.
    pub(crate) bytes: Option<Expression>,
    /// Whether what it fills is a member behind a pointer: it is there when the function is left.
    pub(crate) stays: bool,
    /// The same, or a variable of the function is.
    pub(crate) all: bool,
    /// What of it was asked there, where another function fetches it.
    pub(crate) asked: Option<Asked>,
    /// Whether what it fills is the number that a text of the user's says.
    pub(crate) parsed: bool,
    /// Whether the variable is used behind it, once that was asked.
    pub(crate) used: OnceCell<bool>,
}

impl<'t> Fetch<'t> {
    /// An access that reads.
    pub(crate) fn of(function: &FunctionContext<'_>, access: &Access<'t>) -> Option<Self> {
        let value = || Expression::of(function.context, access.value_node);
        let address = || without_shift(&access.address, value().uncast().1);
        (access.word.direction == Direction::Read).then(|| Self {
            node: access.node,
            span: access.span,
            user: access.user,
            user_root: access.user_root.clone(),
            address: address().unwrap_or_else(|| access.address.clone()),
            counted: access.count.is_some(),
            shifted: address().is_some(),
            value_root: access.value_root.clone(),
            value: Some(value().uncast().1.clone()),
            whole: matches!(value().uncast().1.term, Term::Name(_) | Term::Behind(_)),
            bytes: access.bytes.clone(),
            stays: is_member_behind(&value()),
            all: is_all_of(&value(), &access.value_root),
            asked: None,
            parsed: false,
            used: OnceCell::new(),
        })
    }

    /// A call that gives a copy, which a variable takes.
    pub(crate) fn duplicate(function: &FunctionContext<'_>, call: Node<'t>) -> Option<Self> {
        let name = String::from_utf8_lossy(function.called(call)).into_owned();
        let array = || function.file.words.results().array_of(&name);
        let at = function
            .duplicates(&name)
            .map(|own| own.user)
            .or_else(array)?;
        let user = call.part("arguments")?.named_child(answer::fits(at)?)?;
        let holder = function.above(call)?;
        let variable = match holder.known_kind() {
            "assignment_expression" => holder.part("left")?,
            "init_declarator" => holder.part("declarator")?,
            _ => return None,
        };
        Some(Self {
            node: call,
            span: span(call),
            user: span(user),
            user_root: root_of(function.context, user),
            address: Expression::of(function.context, bare(user)),
            counted: true,
            shifted: false,
            value_root: root_of(function.context, variable),
            value: None,
            whole: true,
            bytes: None,
            stays: false,
            all: true,
            asked: None,
            parsed: false,
            used: OnceCell::new(),
        })
    }

    /// A call that says what holds the user's address: `copy_from_sockptr(&a, p, sizeof(a))`.
    pub(crate) fn told(function: &FunctionContext<'_>, call: Node<'t>) -> Option<Self> {
        let words = function.file.words;
        let name = function.callee(call)?;
        let (source, into) = (words.source(name)?, words.fetches(name)?);
        let given = |at: usize| {
            let arguments = call.part("arguments")?;
            arguments.named_child(answer::fits(at)?)
        };
        let (user, value, count) = (given(source.user)?, given(into)?, given(source.count)?);
        let filled = Expression::of(function.context, bare(value));
        let value_root = root_of(function.context, value);
        Some(Self {
            node: call,
            span: span(call),
            user: span(user),
            user_root: root_of(function.context, user),
            address: Expression::of(function.context, bare(user)),
            counted: true,
            shifted: false,
            whole: matches!(filled.uncast().1.term, Term::Name(_) | Term::Behind(_)),
            bytes: Some(Expression::of(function.context, bare(count))),
            stays: is_member_behind(&filled),
            all: is_all_of(&filled, &value_root),
            value_root,
            value: Some(filled.uncast().1.clone()),
            asked: None,
            parsed: words.results().gives_zero_or_an_error(name),
            used: OnceCell::new(),
        })
    }

    /// What a function of the file fetches that is called there.
    pub(crate) fn through(function: &FunctionContext<'_>, call: Node<'t>) -> Vec<Self> {
        let name = function.callee(call);
        let Some(known) = name.and_then(|name| function.known.get(name)) else {
            return Vec::new();
        };
        let whole = function.expression_of(call);
        let Some((_, given)) = whole.call() else {
            return Vec::new();
        };
        let fetches = known.fetches.iter().filter_map(|own| {
            let address = own.given(&known.parameters, given)?;
            let at = answer::fits(own.argument(&known.parameters)?)?;
            Some(Self {
                node: call,
                span: span(call),
                user: span(call.part("arguments")?.named_child(at)?),
                user_root: address.root().name()?.to_owned(),
                address,
                counted: own.counted,
                shifted: false,
                value_root: String::new(),
                value: None,
                whole: false,
                bytes: None,
                stays: false,
                all: false,
                asked: Some(own.asked.clone()),
                parsed: false,
                used: OnceCell::new(),
            })
        });
        fetches.collect()
    }
}

/// `&p->member`, `p->array`
pub(crate) fn is_member_behind(value: &Expression) -> bool {
    let value = value.uncast().1;
    let place = match &value.term {
        Term::Address(place) => place,
        _ => value,
    };
    matches!(place.term, Term::Member { .. }) && space::followed(place).is_some()
}

/// The object's front of which a copy leaves out as much on both sides: `p` of `p + n`, where
/// the kernel's is `q + n`.
fn without_shift(address: &Expression, value: &Expression) -> Option<Expression> {
    let front = |own: &Expression| match &own.term {
        Term::Binary(left, operator, right) if operator == "+" => {
            Some((left.uncast().1.clone(), (**right).clone()))
        }
        _ => None,
    };
    let ((users, one), (kernels, other)) = (front(address)?, front(value)?);
    (one == other && kernels.name().is_some()).then_some(users)
}
