//! What a function owns and keeps in a structure of its own as well: `cd.file = file`. It stays the
//! function's until somebody else is given the structure.

use std::rc::Rc;

use tree_sitter::Node;

use crate::expression::Expression;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::context::FunctionContext;

/// A structure of the function's that a member of took such a value.
pub(crate) struct Holder {
    /// The variable.
    pub(crate) root: String,
    /// The member, where it is named as in other places.
    member: Option<Rc<Expression>>,
    /// Where it takes the value.
    stored: Span,
}

/// What is mentioned of a holder.
pub(crate) enum Part<'t> {
    /// The member that has the value, or the structure itself.
    Own(Node<'t>),
    /// Their address.
    Address(Node<'t>),
    /// Something else of it.
    Other,
}

impl Holder {
    /// The one whose member takes what stands at a node, as it is.
    pub(crate) fn of<'t>(function: &FunctionContext<'t>, own: Node<'t>) -> Option<Self> {
        let around = function.above(own)?;
        match around.known_kind() {
            "assignment_expression" => Self::assigned(function, around, own),
            "initializer_pair" => Self::initialised(function, around),
            _ => None,
        }
    }

    /// `cd.file = file`
    fn assigned<'t>(
        function: &FunctionContext<'t>,
        around: Node<'t>,
        own: Node<'t>,
    ) -> Option<Self> {
        let right = around.part("right").filter(|right| right.id() == own.id());
        right.filter(|_| function.context.operator(around) == b"=")?;
        let left = bare(around.part("left")?);
        let mut place = left;
        while place.known_kind() == "field_expression" && function.context.operator(place) == b"." {
            place = bare(place.part("argument")?);
        }
        (place.id() != left.id() && place.known_kind() == "identifier").then_some(())?;
        let member = function.expression_of(left);
        let root = member.root().name()?.to_owned();
        is_own(function, &root).then_some(Self {
            root,
            member: Some(member),
            stored: span(around),
        })
    }

    /// `struct cancel cd = { .file = file };`
    fn initialised<'t>(function: &FunctionContext<'t>, pair: Node<'t>) -> Option<Self> {
        let list = function.above(pair)?;
        let declarator = function
            .above(list)
            .filter(|own| own.known_kind() == "init_declarator")?;
        let name = declarator
            .part("declarator")
            .filter(|own| own.known_kind() == "identifier")?;
        let root = function.expression_of(name).name()?.to_owned();
        is_own(function, &root).then_some(Self {
            root,
            member: None,
            stored: span(declarator),
        })
    }

    /// What a mention of the variable is of.
    pub(crate) fn part<'t>(&self, function: &FunctionContext<'t>, mention: Node<'t>) -> Part<'t> {
        if self.stored.contains(span(mention)) {
            return Part::Other;
        }
        let mut own = mention;
        while let Some(around) = function.above(own)
            && around.known_kind() == "field_expression"
            && around.part("argument").map(|part| part.id()) == Some(own.id())
        {
            own = around;
        }
        let address = function.above(own).filter(|around| {
            around.known_kind() == "pointer_expression"
                && function.context.operator(*around) == b"&"
        });
        if let Some(address) = address {
            return Part::Address(address);
        }
        let is_member = || {
            self.member
                .as_ref()
                .is_some_and(|own_member| *own_member == function.expression_of(own))
        };
        match own.id() == mention.id() || is_member() {
            true => Part::Own(own),
            false => Part::Other,
        }
    }
}

/// Whether it is the one structure of the function's own of that name.
fn is_own(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut locals = graph.locals.iter().filter(|own| own.name == name);
    let local = locals.next().filter(|_| locals.next().is_none());
    let plain = local.is_some_and(|own| own.plain && !own.lasting && !own.cleaned);
    plain && !graph.unseen.contains(name)
}
