//! A page of the user's that a call found for the function, kept where the error of another call leaves it, and given back
//! wherever there was none.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, Effect, EffectKind, Node as Step, StatementKind};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::failures::asks_itself;
use super::fate::is_error;

/// So many conditions of a function are looked at.
const MOST: usize = 128;

/// A page that is kept.
pub(crate) struct LeftPage {
    pub(crate) name: String,
    pub(crate) taken: Span,
    pub(crate) exit: Span,
}

/// All of a function.
pub(crate) fn left_pages(function: &FunctionContext<'_>) -> Vec<LeftPage> {
    let calls = function.calls.iter();
    let found = calls.filter_map(|call| Page::of(function, *call)?.left());
    found.collect()
}

/// A variable that a call puts one page in.
struct Page<'f, 's> {
    function: &'f FunctionContext<'s>,
    name: String,
    taken: Span,
    /// The calls that give it back.
    released: HashSet<Span>,
}

impl<'f, 's> Page<'f, 's> {
    fn of(function: &'f FunctionContext<'s>, call: Node<'_>) -> Option<Self> {
        let words = function.file.words;
        let pages = words.pages(function.callee(call)?)?;
        let whole = function.expression_of(call);
        let name = match &whole.call()?.1.get(pages.at)?.uncast().1.term {
            Term::Address(place) => place.name()?.to_owned(),
            _ => return None,
        };
        let local = function
            .graph
            .local(&name)
            .is_some_and(|own| !own.array && !own.lasting);
        let gives_back = |call: &&Node<'_>| {
            let own = function.callee(**call);
            own.is_some_and(|own| words.drops_page(own) || words.unpins(own))
                && is_given(function, **call, &name)
        };
        let released = function.calls.iter().filter(gives_back);
        let released: HashSet<Span> = released.map(|call| span(*call)).collect();
        (local && !released.is_empty()).then_some(Self {
            function,
            name,
            taken: span(call),
            released,
        })
    }

    fn is_released(&self, node: &Step) -> bool {
        matches!(node.action, Action::Call(_)) && self.released.contains(&node.span)
    }

    /// Where another's error leaves with it, which every other way gives back.
    fn left(&self) -> Option<LeftPage> {
        let graph = self.function.graph;
        let from: Vec<usize> = graph.nodes_in(self.taken).collect();
        let held = graph.reached_behind_any(from.iter().copied(), |node| {
            // Behind what asks for it there may be none.
            self.ends(node) || self.asks(node)
        });
        let forks = graph.nodes.iter().enumerate();
        let forks = forks.filter(|(at, _)| held.contains(at)).take(MOST);
        let mut exits = forks.filter_map(|(at, node)| {
            let [(Edge::If(condition, one), yes), (Edge::If(..), no)] = node.next.as_slice() else {
                return None;
            };
            let (told, bad) = self.told(*condition)?;
            let (bad, good) = if *one == bad {
                (*yes, *no)
            } else {
                (*no, *yes)
            };
            let other = !self.is_own(&from, &told, at) && !self.is_asked(&told);
            (other && self.is_given_back(good)).then_some(())?;
            self.exit(bad, &told)
        });
        Some(LeftPage {
            name: self.name.clone(),
            taken: self.taken,
            exit: exits.next()?,
        })
    }

    /// Whether it is no longer the function's behind a node: given back, taken anew or put elsewhere.
    fn ends(&self, node: &Step) -> bool {
        let graph = self.function.graph;
        let sets = |own: &Effect| {
            matches!(own.kind, EffectKind::Write(_)) && graph.name_of(own) == self.name
        };
        self.is_released(node) || graph.effects_at(node).iter().any(sets)
    }

    /// The variable whose error a condition asks for, and on which side it is one.
    fn told(&self, condition: usize) -> Option<(String, bool)> {
        let own = self.function.graph.conditions.get(condition)?;
        let asked = self.function.asked(own)?;
        let (variable, bad) = match &asked.uncast().1.term {
            Term::Name(name) => (name, true),
            Term::Unary(not, of) if not == "!" => (variable_of(of)?, false),
            Term::Binary(left, operator, right) if right.is_zero() => match operator.as_str() {
                "<" | "!=" => (variable_of(left)?, true),
                "==" | ">=" => (variable_of(left)?, false),
                _ => return None,
            },
            _ => return None,
        };
        let local = self.function.graph.local(variable)?;
        (local.plain && *variable != self.name).then(|| (variable.clone(), bad))
    }

    /// Whether a variable may hold at a node what the call itself gave: there may be no page.
    fn is_own(&self, from: &[usize], told: &str, at: usize) -> bool {
        let graph = self.function.graph;
        let anew = |own: &Effect| match &own.kind {
            EffectKind::Write(write) => {
                graph.name_of(own) == told
                    && write.value.is_none_or(|value| !value.contains(self.taken))
            }
            _ => false,
        };
        let known = graph.reached_behind_any(from.iter().copied(), |node| {
            graph.effects_at(node).iter().any(anew)
        });
        let sets = graph
            .nodes
            .get(at)
            .map(|own| graph.effects_at(own).iter().any(anew));
        known.contains(&at) && sets != Some(true)
    }

    /// Whether an `if` that asks it gives the page back itself.
    fn is_asked(&self, told: &str) -> bool {
        let graph = self.function.graph;
        graph.statements.iter().any(|own| {
            let holds = self.released.iter().any(|call| own.span.contains(*call));
            let asked = own
                .expression
                .filter(|_| own.kind == StatementKind::If && holds);
            asked.is_some_and(|asked| graph.names(asked, told))
        })
    }

    /// Whether a way divides on whether there is one.
    fn asks(&self, node: &Step) -> bool {
        match node.next.first() {
            Some((Edge::If(condition, _), _)) => asks_itself(self.function, *condition, &self.name),
            _ => false,
        }
    }

    /// Whether every way from a node gives it back, but where it asks whether there is one.
    fn is_given_back(&self, from: usize) -> bool {
        let graph = self.function.graph;
        let ways = graph.reached(from, |node| self.asks(node) || self.ends(node));
        let mut ways = ways.iter().filter_map(|at| graph.nodes.get(*at));
        ways.all(|node| !matches!(node.action, Action::Exit { .. }) && node.span != self.taken)
    }

    /// Where ways from a node leave with an error, and name the page no more.
    fn exit(&self, from: usize, told: &str) -> Option<Span> {
        let graph = self.function.graph;
        let names = |node: &Step| {
            let mut effects = graph.effects_at(node).iter();
            self.is_released(node) || effects.any(|own| graph.name_of(own) == self.name)
        };
        let ways = graph.reached(from, names);
        let exits = ways.iter().filter_map(|at| graph.nodes.get(*at));
        let exits = exits.filter(|own| matches!(own.action, Action::Exit { .. }) && !names(own));
        let exits = exits.filter(|own| {
            let given = graph.statement(own.span).and_then(|own| own.expression);
            given.is_some_and(|given| {
                let whole = self.function.expression(given);
                graph.names(given, told) || whole.is_some_and(|own| is_error(&own))
            })
        });
        exits.map(|own| own.span).min()
    }
}

/// Whether a call is given a variable first, as it is or by its address.
fn is_given(function: &FunctionContext<'_>, call: Node<'_>, name: &str) -> bool {
    let whole = function.expression_of(call);
    let first = whole.call().and_then(|(_, given)| given.first());
    first.is_some_and(|own| match &own.uncast().1.term {
        Term::Address(place) => place.name() == Some(name),
        _ => own.uncast().1.name() == Some(name),
    })
}

/// The name that an expression is.
fn variable_of(own: &Expression) -> Option<&String> {
    match &own.uncast().1.term {
        Term::Name(name) => Some(name),
        _ => None,
    }
}
