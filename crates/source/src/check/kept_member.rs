//! Memory and the like that a member of a function's own structure leads to, and that is kept
//! where a fault leaves.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, EffectKind, Node as Step, StatementKind};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{fallible, fate};

/// So many takings of a function are followed.
const MOST: usize = 32;

/// What a member takes, and where it is left with.
pub(crate) struct Kept {
    pub(crate) member: Expression,
    pub(crate) taken: Span,
    pub(crate) access: Span,
    pub(crate) exit: Span,
}

/// What a function keeps so.
pub(crate) fn kept_members(function: &FunctionContext<'_>) -> Vec<Kept> {
    let mut takes = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        takes.extend(Take::of(function, node));
    });
    let mut found = Vec::new();
    for (at, take) in takes.iter().enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        found.extend(take.kept());
    }
    found
}

/// A member of a structure that lies on the function's stack, and that takes what is the
/// function's to give back.
struct Take<'f, 's> {
    function: &'f FunctionContext<'s>,
    member: Expression,
    place: Span,
    /// The calls that give it back.
    released: HashSet<Span>,
    /// What is read where an `if` asks whether to.
    asked: HashSet<Span>,
}

impl<'f, 's> Take<'f, 's> {
    fn of(function: &'f FunctionContext<'s>, node: Node<'_>) -> Option<Self> {
        let left = node
            .part("left")
            .filter(|own| own.known_kind() == "field_expression")?;
        let whole = function.expression_of(node);
        let Term::Assignment(_, operator, value) = &whole.term else {
            return None;
        };
        let (name, _) = value.uncast().1.call().filter(|_| operator == "=")?;
        function.file.words.takes(name).then_some(())?;
        let member = (*function.expression_of(left)).clone();
        let led = |part: &Expression| {
            let arrow = matches!(part.term, Term::Member { arrow: true, .. });
            arrow || matches!(part.term, Term::Element { .. } | Term::Behind(_))
        };
        let local = function.local_at(member.root().name()?, member.span)?;
        let own = local.plain && !local.lasting && !local.cleaned && !member.any(&led);
        own.then_some(())?;
        let words = function.file.words;
        let released = function.calls.iter().filter(|call| {
            let whole = function.expression_of(**call);
            let own = whole.call().filter(|(name, _)| words.gives_back(name));
            own.is_some_and(|(_, given)| given.iter().any(|own| *own.uncast().1 == member))
        });
        let released: HashSet<Span> = released.map(|call| span(*call)).collect();
        if released.is_empty() {
            return None;
        }
        let statements = function.graph.statements.iter();
        let asking = statements.filter(|own| {
            let holds = released.iter().any(|call| own.span.contains(*call));
            own.kind == StatementKind::If && holds
        });
        let asked = asking.filter_map(|own| own.expression);
        let read = asked.flat_map(|place| function.graph.effects_in(place));
        let asked = read.map(|own| own.span).collect();
        Some(Self {
            function,
            member,
            place: span(node),
            released,
            asked,
        })
    }

    fn kept(&self) -> Option<Kept> {
        let function = self.function;
        let graph = function.graph;
        function.pays()?;
        let handed = self.handed();
        let stops = |node: &Step| self.ends(node, &handed);
        let from = (0..graph.nodes.len()).filter(|at| {
            let mut effects = graph.effects_of(*at).iter();
            effects.any(|own| own.span == self.place)
        });
        let held = graph.reached_behind_any(from, stops);
        fallible(function).take(MOST).find_map(|call| {
            let mut own = graph.nodes_in(call.span);
            own.any(|at| held.contains(&at)).then_some(())?;
            let arms = fate(function, &call)?.arms;
            let exit = arms.iter().find_map(|arm| {
                let all = graph.reached(arm.success, |_| false);
                let back = |at: &usize| {
                    let node = graph.nodes.get(*at);
                    node.is_some_and(|node| self.released.contains(&node.span))
                };
                all.iter().any(back).then_some(())?;
                let on = graph.reached(arm.fault, stops);
                let exits = on
                    .iter()
                    .filter(|at| held.contains(at) && self.is_exit(**at));
                exits.map(|at| function.place(*at)).min()
            })?;
            Some(Kept {
                member: self.member.clone(),
                taken: self.place,
                access: call.span,
                exit,
            })
        })
    }

    fn is_exit(&self, at: usize) -> bool {
        let node = self.function.graph.nodes.get(at);
        node.is_some_and(|node| matches!(node.action, Action::Exit { .. }))
    }

    /// Where something else may own it from there on: the structure's address goes to a call, or
    /// the member's value into another place.
    fn handed(&self) -> Vec<Span> {
        let function = self.function;
        let mut found = Vec::new();
        let root = self.member.root().name();
        for call in function.calls {
            let name = function.callee(*call);
            if name.is_some_and(|name| function.file.words.access(name).is_some()) {
                continue;
            }
            let whole = function.expression_of(*call);
            let given = whole.call().map_or(&[][..], |(_, given)| given);
            let own = |own: &Expression| match &own.uncast().1.term {
                Term::Address(place) => place.root().name() == root,
                Term::Name(name) => Some(name.as_str()) == root,
                _ => false,
            };
            found.extend(given.iter().any(own).then(|| span(*call)));
        }
        function.each_of(
            &[
                "assignment_expression",
                "init_declarator",
                "return_statement",
            ],
            |node| {
                let value = node.part("right").or_else(|| node.part("value"));
                let value = value.or_else(|| {
                    node.named_child(0)
                        .filter(|_| node.known_kind() == "return_statement")
                });
                let own = value.is_some_and(|value| {
                    let whole = function.expression_of(value);
                    let kept = whole.uncast().1;
                    *kept == self.member || kept.name().is_some() && kept.name() == root
                });
                found.extend(own.then(|| span(node)));
            },
        );
        found
    }

    /// Whether at a node it is given back, may be another's, or the member takes another value.
    fn ends(&self, node: &Step, handed: &[Span]) -> bool {
        let graph = self.function.graph;
        let mut effects = graph.effects_at(node).iter();
        let root = self.member.root().name();
        let by_effect = effects.any(|own| {
            let whole = graph.is_whole(own) && matches!(own.kind, EffectKind::Write(_));
            let named = whole && Some(graph.name_of(own)) == root;
            let taken = self.place == own.span;
            named
                || taken
                || self.asked.contains(&own.span)
                || handed.iter().any(|at| at.contains(own.span))
        });
        by_effect || self.released.contains(&node.span) || handed.contains(&node.span)
    }
}
