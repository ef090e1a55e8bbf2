//! What lasts and is moved on by all that a copy was asked for, where the function counts how much less
//! it has copied: where a program stands in a file, what is left of a buffer.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Edge, EffectKind};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::carried::{assigned, given, leaves_something};
use super::context::FunctionContext;
use super::known::Told;

/// What is moved on too far.
pub(crate) struct TooFar {
    /// What it is.
    pub(crate) what: Span,
    /// Where it is moved on.
    pub(crate) moved: Span,
    /// Where what was copied is counted.
    pub(crate) counted: Span,
}

/// So many copies of a function are followed.
const MOST: usize = 16;

/// `left = copy_to_user(to, from, n); *position += n; return n - left;`
pub(crate) fn too_far(function: &FunctionContext<'_>) -> Option<TooFar> {
    let copies = function
        .calls
        .iter()
        .filter_map(|call| Part::of(function, *call));
    let mut copies = copies.enumerate();
    let found = copies.find_map(|(at, own)| match function.stops_at(at, MOST) {
        true => None,
        false => own.too_far(),
    });
    found.or_else(|| by_old_number(function))
}

/// The same where a variable still holds what was asked for: `all = n; n -= copy_from_user(to, from, n);
/// *position += all;`
fn by_old_number(function: &FunctionContext<'_>) -> Option<TooFar> {
    let calls = function.calls.iter();
    let mut taken_off = calls.filter_map(|call| {
        let (copied, all) = asked_for(function, *call)?;
        let holder = function.above(*call)?;
        let whole = function.expression_of(holder);
        let is = matches!(&whole.term, Term::Assignment(left, operator, _)
            if operator == "-=" && **left == all);
        (is && !copied).then_some((all, span(holder)))
    });
    taken_off.find_map(|(all, counted)| {
        let own = all.name()?;
        let mut moves = Vec::new();
        function.each_of(&["assignment_expression"], |node| {
            let whole = function.expression_of(node);
            if let Term::Assignment(place, operator, by) = &whole.term
                && operator == "+="
                && lasts(function, place)
                && by
                    .uncast()
                    .1
                    .name()
                    .is_some_and(|by| holds(function, by, own))
            {
                moves.push((place.span, span(node), by.uncast().1.clone()));
            }
        });
        let behind = |at: Span| counted.end <= at.start && function.comes_to(counted, at);
        let mut moves = moves.into_iter();
        let (what, moved, _) =
            moves.find(|(_, at, by)| behind(*at) && !are_compared(function, by, &all))?;
        Some(TooFar {
            what,
            moved,
            counted,
        })
    })
}

/// Whether all that a variable ever holds is what another one does where that is declared.
fn holds(function: &FunctionContext<'_>, by: &str, other: &str) -> bool {
    let graph = function.graph;
    let value = graph.local(by).and_then(|_| graph.only_value(by));
    let value = value.and_then(|at| function.expression(at));
    by != other && value.is_some_and(|own| own.uncast().1.name() == Some(other))
}

/// Whether the function asks anywhere whether two numbers are one.
fn are_compared(function: &FunctionContext<'_>, one: &Expression, other: &Expression) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        if let Term::Binary(left, _, right) = &function.expression_of(node).term {
            let (left, right) = (left.uncast().1, right.uncast().1);
            found |= left == one && right == other || left == other && right == one;
        }
    });
    found
}

/// The variable that takes how many bytes a copy left, or how many it has copied.
struct Part<'f, 's> {
    function: &'f FunctionContext<'s>,
    name: String,
    place: usize,
    /// Whether it says how many were copied.
    copied: bool,
    /// How many were asked for.
    all: Expression,
    /// Where it takes them: the node, and how many of its effects come before.
    node: usize,
    before: usize,
}

impl<'f, 's> Part<'f, 's> {
    fn of(function: &'f FunctionContext<'s>, call: Node<'_>) -> Option<Self> {
        let (copied, all) = asked_for(function, call)?;
        let taker = function.expression_of(bare(assigned(function, call)?));
        let name = taker.name()?;
        let graph = function.graph;
        graph.local(name).filter(|own| own.plain && !own.lasting)?;
        let takes = |own: &crate::flow::Effect| {
            let written = matches!(own.kind, EffectKind::Write(_));
            written && graph.name_of(own) == name && own.span.contains(span(call))
        };
        let (node, before) = (0..graph.nodes.len()).find_map(|at| {
            let own = graph.effects_of(at).iter().position(takes)?;
            Some((at, own + 1))
        })?;
        let place = graph.effects_of(node).get(before - 1)?.place;
        Some(Self {
            function,
            name: name.to_owned(),
            place,
            copied,
            all,
            node,
            before,
        })
    }

    fn too_far(&self) -> Option<TooFar> {
        let mut counted = self.counted();
        counted.retain(|at| !self.is_overwritten(*at));
        let first = *counted.first()?;
        let moves: Vec<Move> = self.moves();
        if moves.is_empty() {
            return None;
        }
        let reached = self.reached();
        moves.into_iter().find_map(|own| {
            let counted = counted
                .iter()
                .find(|at| self.function.share_a_way(own.at, **at));
            let on = reached.contains(&own.at);
            (on && !self.is_mended(&own.place)).then_some(TooFar {
                what: own.place.span,
                moved: own.at,
                counted: *counted.unwrap_or(&first),
            })
        })
    }

    fn is_own(&self, own: &Expression) -> bool {
        own.uncast().1.name() == Some(&self.name)
    }

    /// Whether the variable may hold something else in a place behind the copy.
    fn is_overwritten(&self, at: Span) -> bool {
        let (function, graph) = (self.function, self.function.graph);
        let own = graph.effects_of(self.node).get(self.before - 1);
        let taken = own.map_or(Span::default(), |own| own.span);
        let mut others = graph.effects.iter().filter(|own| {
            let written = matches!(&own.kind, EffectKind::Write(write) if write.value.is_some());
            written && own.place == self.place && own.span != taken
        });
        others.any(|own| function.comes_to(taken, own.span) && function.comes_to(own.span, at))
    }

    /// Where what was copied is counted: `return n - left`, `done += n - left`, `n -= left`, and
    /// `return copied`, `copied < n`.
    fn counted(&self) -> Vec<Span> {
        let function = self.function;
        if self.copied {
            return self.given();
        }
        let mut found = Vec::new();
        function.each_of(&["binary_expression", "assignment_expression"], |node| {
            let own = function.expression_of(node);
            let counts = match &own.term {
                Term::Binary(all, operator, left) => {
                    let off = operator == "-" && self.is_own(left);
                    off && *all.uncast().1 == self.all && is_kept(function, node)
                }
                Term::Assignment(all, operator, left) => {
                    operator == "-=" && self.is_own(left) && **all == self.all
                }
                _ => false,
            };
            found.extend(counts.then(|| span(node)));
        });
        found
    }

    /// Where how many were copied is given as it is.
    fn given(&self) -> Vec<Span> {
        let graph = self.function.graph;
        let returns = graph.statements.iter().filter_map(given);
        let own = |at: &Span| {
            self.function
                .expression(*at)
                .is_some_and(|own| self.is_own(&own))
        };
        returns.filter(own).collect()
    }

    /// What lasts and is moved by all that was asked for.
    fn moves(&self) -> Vec<Move> {
        let function = self.function;
        let mut found = Vec::new();
        function.each_of(&["assignment_expression"], |node| {
            let own = function.expression_of(node);
            let Term::Assignment(place, operator, by) = &own.term else {
                return;
            };
            let by = by.uncast().1;
            let moved = match operator.as_str() {
                "+=" | "-=" => *by == self.all,
                "=" => matches!(&by.term, Term::Binary(_, sum, with) if sum == "+" && *with.uncast().1 == self.all),
                _ => false,
            };
            if moved && lasts(function, place) {
                found.push(Move {
                    place: (**place).clone(),
                    at: span(node),
                });
            }
        });
        found
    }

    /// What is done behind the copy where something may have been left, and before the number that
    /// was asked for changes.
    fn reached(&self) -> HashSet<Span> {
        let graph = self.function.graph;
        let (mut found, mut seen) = (HashSet::default(), HashSet::default());
        let mut work = vec![(self.node, self.before)];
        while let Some((at, from)) = work.pop() {
            if from == 0 && !seen.insert(at) {
                continue;
            }
            let mut effects = graph.effects_of(at).iter().skip(from);
            let ends = effects.any(|own| {
                let written = matches!(own.kind, EffectKind::Write(_));
                let own_place = own.place == self.place && written;
                let all =
                    written && graph.is_whole(own) && Some(graph.name_of(own)) == self.all.name();
                let ends = own_place || all;
                if !ends && written {
                    found.insert(own.span);
                }
                ends
            });
            let Some(node) = graph.nodes.get(at).filter(|_| !ends) else {
                continue;
            };
            let ways = node.next.iter().filter(|(edge, _)| self.may_be_left(edge));
            work.extend(ways.map(|(_, next)| (*next, 0)));
        }
        found
    }

    /// Whether something may have been left on a way.
    fn may_be_left(&self, edge: &Edge) -> bool {
        let Edge::If(condition, holds) = edge else {
            return true;
        };
        if self.copied {
            return self.may_be_part((*condition, *holds));
        }
        let own = self.function.graph.conditions.get(*condition);
        let asked = own.and_then(|own| self.function.asked(own));
        let of_all = asked.is_some_and(|own| match &own.uncast().1.term {
            Term::Binary(_, _, right) => !right.is_zero(),
            _ => false,
        });
        of_all || leaves_something(self.function, self.place, edge)
    }

    /// Whether some but not all may have been copied where a condition holds, or does not.
    fn may_be_part(&self, (condition, holds): (usize, bool)) -> bool {
        let own = self.function.graph.conditions.get(condition);
        let asked = own.and_then(|own| self.function.asked(own));
        let Some(Term::Binary(left, operator, right)) = asked.as_ref().map(|own| &own.term) else {
            return own.is_none_or(|own| own.place != Some(self.place) || holds);
        };
        let all = *right.uncast().1 == self.all;
        if !self.is_own(left) || !all && !right.is_zero() {
            return true;
        }
        match operator.as_str() {
            "==" | ">=" if all => !holds,
            "!=" | "<" if all => holds,
            "==" | "<" | "<=" => !holds,
            _ => holds,
        }
    }

    /// Whether what was left is taken off the same place again.
    fn is_mended(&self, place: &Expression) -> bool {
        let function = self.function;
        let mut mended = false;
        function.each_of(&["assignment_expression"], |node| {
            let own = function.expression_of(node);
            if let Term::Assignment(left, _, value) = &own.term {
                mended |= **left == *place && value.any(&|part| self.is_own(part));
            }
        });
        mended
    }
}

/// How many bytes a call is asked to copy, and whether its result says how many it has: it says how many
/// it has left otherwise.
fn asked_for(function: &FunctionContext<'_>, call: Node<'_>) -> Option<(bool, Expression)> {
    let name = function.callee(call)?;
    if let Some(fills) = function.file.words.results().fills_from(name) {
        let whole = function.expression_of(call);
        let count = whole.call()?.1.get(fills.count)?;
        return Some((true, count.uncast().1.clone()));
    }
    let copied = match function.told(name)? {
        Told::Left => false,
        Told::Copied => true,
        _ => return None,
    };
    let mut copies = function.accesses.iter().chain(function.through);
    let copy = copies.find(|own| own.span == span(call))?;
    let all = copy.bytes.as_ref()?.uncast().1.clone();
    Some((copied, all))
}

/// Where something is moved.
struct Move {
    place: Expression,
    at: Span,
}

/// Whether a place is there when the function has left: `*position`, `d->offset`.
pub(crate) fn lasts(function: &FunctionContext<'_>, place: &Expression) -> bool {
    match &place.term {
        Term::Behind(of) => of
            .uncast()
            .1
            .name()
            .is_some_and(|name| function.is_parameter(name)),
        Term::Member { holder, arrow, .. } => {
            *arrow && !matches!(holder.uncast().1.term, Term::Address(_)) || lasts(function, holder)
        }
        _ => false,
    }
}

/// Whether a number is given, or a variable takes it.
fn is_kept<'t>(function: &FunctionContext<'t>, number: Node<'t>) -> bool {
    let plain = |own: &Node<'_>| {
        !matches!(
            own.known_kind(),
            "parenthesized_expression" | "cast_expression" | "conditional_expression"
        )
    };
    let around = function.around(number).find(plain);
    around.is_some_and(|own| {
        matches!(
            own.known_kind(),
            "return_statement" | "assignment_expression" | "init_declarator"
        )
    })
}
