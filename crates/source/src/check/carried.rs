//! Where a function gives what a call gave it: at once, or by a variable that keeps it.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, Effect, EffectKind, Statement, StatementKind};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::{bare, span};
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::is_error;

/// The variables that hold what a call gave, one after the other, and where the last of them
/// is returned.
pub(crate) struct Carried {
    pub(crate) places: Vec<usize>,
    pub(crate) at: Span,
    /// Whether what it comes to is a member of what others see, and no `return`.
    pub(crate) stored: bool,
}

/// The variable that takes what a call gave, and the `return` to which it comes as it
/// is on a way where it is not 0: through a label at the end, past other work, by a further
/// variable, or as what a `?:` there chooses.
pub(crate) fn carried(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Carried> {
    handed_on(function, call).filter(|own| !own.stored)
}

/// The same; where no `return` is come to, what keeps it for others.
pub(crate) fn handed_on(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Carried> {
    assigned(function, call)?;
    let graph = function.graph;
    let (at, place) = taken_at(function, call)?;
    let walk = Walk::new(function);
    let mut work = vec![(at, vec![place])];
    let mut seen = HashSet::default();
    let mut stored = None;
    while let Some(((at, from), places)) = work.pop() {
        let place = *places.last()?;
        if from == 0 && !seen.insert((at, place)) {
            continue;
        }
        let behind = graph.effects_of(at).iter().skip(from);
        let node = graph.nodes.get(at)?;
        let next = match walk.first(behind, place) {
            Some((_, Fate::Returned(at))) => {
                return Some(Carried {
                    places,
                    at,
                    stored: false,
                });
            }
            Some((_, Fate::Gone)) => continue,
            Some((count, Fate::Stored(place))) => {
                stored.get_or_insert_with(|| Carried {
                    places: places.clone(),
                    at: place,
                    stored: true,
                });
                work.push(((at, from + count + 1), places));
                continue;
            }
            // Both hold it from there on.
            Some((count, Fate::Moved(to))) => {
                let behind = (at, from + count + 1);
                if !places.contains(&to) {
                    let moved = places.iter().copied().chain([to]).collect();
                    work.push((behind, moved));
                }
                work.push((behind, places));
                continue;
            }
            None => node.next.iter(),
        };
        if let Action::Exit { returned, .. } = &node.action
            && *returned == Some(place)
        {
            return Some(Carried {
                places,
                at: node.span,
                stored: false,
            });
        }
        let ways = next.filter(|(edge, _)| leaves_something(function, place, edge));
        work.extend(ways.map(|(_, next)| ((*next, 0), places.clone())));
    }
    stored
}

/// The node and the effect behind which a variable holds what a call gave, and that variable's place.
fn taken_at(function: &FunctionContext<'_>, call: Node<'_>) -> Option<((usize, usize), usize)> {
    let graph = function.graph;
    let taken = |effect: &Effect| {
        let value = match &effect.kind {
            EffectKind::Write(write) => write.value?,
            _ => return None,
        };
        let own = value == span(call) && graph.is_whole(effect);
        own.then_some(effect.place)
    };
    let mut nodes = 0..graph.nodes.len();
    nodes.find_map(|at| {
        let own = graph.effects_of(at);
        let mut own = own.iter().enumerate();
        let (first, place) = own.find_map(|(i, effect)| Some((i, taken(effect)?)))?;
        Some(((at, first + 1), place))
    })
}

/// What becomes of a variable that holds what was left.
enum Fate {
    /// It is what a `return` chooses there.
    Returned(Span),
    /// Another variable takes it as it is.
    Moved(usize),
    /// A member that is not the function's own takes it as it is there.
    Stored(Span),
    /// It takes something else, or something is made of it.
    Gone,
}

/// What a way through a function does to a variable.
struct Walk<'f, 'a> {
    function: &'f FunctionContext<'a>,
    /// What `return a ? b : c` gives.
    chosen: HashSet<Span>,
}

impl<'f, 'a> Walk<'f, 'a> {
    fn new(function: &'f FunctionContext<'a>) -> Self {
        let mut chosen = HashSet::default();
        function.each_of(&["identifier"], |name| {
            let choice = function.above(name).map(|own| own.known_kind());
            let inner = matches!(
                choice,
                Some("conditional_expression" | "parenthesized_expression")
            );
            if inner && returning(function, name).is_some() {
                chosen.insert(span(name));
            }
        });
        Self { function, chosen }
    }

    /// The first of some effects that does something to the variable in that place, by its
    /// number.
    fn first<'e>(
        &self,
        effects: impl Iterator<Item = &'e Effect>,
        place: usize,
    ) -> Option<(usize, Fate)> {
        let mut all = effects.enumerate();
        all.find_map(|(at, effect)| Some((at, self.fate(effect, place)?)))
    }

    fn fate(&self, effect: &Effect, place: usize) -> Option<Fate> {
        let graph = self.function.graph;
        let own = effect.place == place;
        match &effect.kind {
            EffectKind::Read if own && self.chosen.contains(&effect.span) => {
                Some(Fate::Returned(effect.span))
            }
            EffectKind::Read => None,
            _ if own => Some(Fate::Gone),
            // What another variable makes of it may be what is asked: `failed = ret != 0`.
            EffectKind::Write(write) => {
                let value = write.value?;
                let mut read = graph.effects_in(value);
                if !read.any(|own| own.place == place && own.kind == EffectKind::Read) {
                    return None;
                }
                let behind = graph.is_behind(effect) && !graph.is_all_behind(effect);
                match self.is_moved(effect, value) {
                    true => Some(Fate::Moved(effect.place)),
                    false if behind && self.is_plain(effect, value) => {
                        Some(Fate::Stored(effect.span))
                    }
                    // `n -= left` asks nothing of it.
                    false => self.sets(effect).then_some(Fate::Gone),
                }
            }
            _ => None,
        }
    }

    /// Whether all of what the variable was is gone, `a = b`, and not `a += b`.
    fn sets(&self, effect: &Effect) -> bool {
        !matches!(&effect.kind, EffectKind::Write(write) if write.compound)
    }

    /// Whether what takes it takes all of it.
    fn is_plain(&self, effect: &Effect, value: Span) -> bool {
        let value = self.function.expression(value);
        self.sets(effect) && value.is_some_and(|value| value.uncast().1.name().is_some())
    }

    /// Whether a variable of the function takes a name's value as a number.
    fn is_moved(&self, effect: &Effect, value: Span) -> bool {
        let graph = self.function.graph;
        let local = graph.places.as_local(effect.place);
        let local = local.and_then(|own| graph.locals.get(own));
        let counts = local.is_some_and(|own| own.plain && own.base_type != "bool");
        let counts = counts && self.sets(effect);
        let value = self.function.expression(value);
        counts && value.is_some_and(|value| value.uncast().1.name().is_some())
    }
}

/// Whether a way is taken where the variable in that place is more than 0. Of a test that asks
/// something else of it neither side is followed.
pub(crate) fn leaves_something(function: &FunctionContext<'_>, place: usize, edge: &Edge) -> bool {
    let Edge::If(condition, holds) = edge else {
        return true;
    };
    let condition = function.graph.conditions.get(*condition);
    condition.is_some_and(|own| match own.place {
        Some(own) if own == place => *holds,
        _ if !own.reads.contains(&place) => true,
        _ => {
            let asked = function.asked(own);
            asked.is_some_and(|asked| holds_for_more(&asked) == Some(*holds))
        }
    })
}

/// Whether a comparison of a variable with 0 or an error number holds where that is more than 0;
/// none where something else is asked.
fn holds_for_more(asked: &Expression) -> Option<bool> {
    let Term::Binary(left, operator, right) = &asked.uncast().1.term else {
        return None;
    };
    left.uncast().1.name()?;
    let (zero, error) = (right.is_zero(), is_error(right));
    match operator.as_str() {
        "<" | "<=" | "==" if zero || error => Some(false),
        ">" | ">=" | "!=" if zero || error => Some(true),
        _ => None,
    }
}

/// Whether the variable in that place takes an error number anywhere.
pub(crate) fn takes_errors(function: &FunctionContext<'_>, place: usize) -> bool {
    let mut effects = function.graph.effects.iter();
    effects.any(|effect| match &effect.kind {
        EffectKind::Write(write) if effect.place == place => {
            let value = write.value.and_then(|value| function.expression(value));
            value.is_some_and(|value| is_error(&value))
        }
        _ => false,
    })
}

/// Whether something asks the variable in that place for less than 0, or did before the
/// call whether there was more: it holds an error number, too.
pub(crate) fn is_asked_for_errors(
    function: &FunctionContext<'_>,
    place: usize,
    call: Span,
) -> bool {
    let mut tests = function.graph.comparisons.iter();
    tests.any(|test| {
        let whole = function.expression(*test);
        let Some(Term::Binary(left, operator, right)) = whole.as_ref().map(|own| &own.term) else {
            return false;
        };
        let mut named = function.graph.effects_in(*test);
        let own = left.name().is_some() && named.any(|own| own.place == place);
        let asks = matches!(operator.as_str(), "<" | ">=") || test.end <= call.start;
        own && right.is_zero() && asks
    })
}

/// What a `return` gives.
pub(crate) fn given(own: &Statement) -> Option<Span> {
    own.expression.filter(|_| own.kind == StatementKind::Return)
}

/// What takes what a call gave, and nothing else of it: `left -= …` keeps a part.
pub(crate) fn assigned<'s>(function: &FunctionContext<'s>, call: Node<'s>) -> Option<Node<'s>> {
    let holder = function.above(call)?;
    let field = match holder.known_kind() {
        "assignment_expression" if function.context.operator(holder) == b"=" => "left",
        "init_declarator" => "declarator",
        _ => return None,
    };
    holder.part(field)
}

/// The `return` that a call stands in, alone or as what is chosen: `return f() ?: error`.
pub(crate) fn returning(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Span> {
    let mut own = call;
    while let Some(holder) = function.above(own) {
        let chosen = || {
            let asked = holder.part("condition") == Some(own);
            !asked || holder.part("consequence").is_none()
        };
        match holder.known_kind() {
            "return_statement" => return Some(span(holder)),
            "parenthesized_expression" => {}
            "conditional_expression" if chosen() => {}
            _ => return None,
        }
        own = holder;
    }
    None
}

/// The `return` of what a call gave, at once or by a variable: right behind it, or
/// under a test that it is not 0.
pub(crate) fn given_back(function: &FunctionContext<'_>, call: Node<'_>) -> Option<Span> {
    let holder = function.above(call)?;
    if let Some(own) = returning(function, call) {
        return Some(own);
    }
    let variable = assigned(function, call)?;
    let name = function.context.written(bare(variable));
    let graph = function.graph;
    graph.local(&name).filter(|local| local.plain)?;
    let around = graph.statements.iter();
    let around = around.filter(|own| own.span.contains(span(holder)));
    let own = around.min_by_key(|own| own.span.end - own.span.start)?;
    let asked = match own.kind {
        StatementKind::If => own,
        _ => graph.next(own.span)?,
    };
    let is_own = |own: &&Statement| {
        let given = given(own).and_then(|given| function.expression(given));
        given.is_some_and(|given| given.name() == Some(&name))
    };
    let tests = |condition: Span| {
        let inner = condition.contains(span(holder));
        inner || graph.tests(condition, &name)
    };
    match asked.kind {
        StatementKind::Return => Some(asked).filter(is_own).map(|own| own.span),
        StatementKind::If if asked.expression.is_some_and(tests) => {
            let inside = graph.statements.iter();
            let inside = inside.filter(|own| asked.span.contains(own.span));
            let mut others = graph.inside(asked.span);
            let other = others.find(|own| own.kind == StatementKind::Else);
            let mut inside = inside.filter(|own| !other.is_some_and(|o| o.span.contains(own.span)));
            inside.find(is_own).map(|own| own.span)
        }
        _ => None,
    }
}
