//! Copies that begin where a program says in a file, and are bounded as if that were the front.

use crate::compared::orders;
use crate::expression::{Expression, Term};
use crate::hashed::HashSet;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::unbounded::position;

/// A copy of too much behind a position.
pub(crate) struct Unplaced {
    pub(crate) access: Span,
    /// The number of bytes.
    pub(crate) count: String,
    /// Where they begin.
    pub(crate) from: String,
    /// What bounds them.
    pub(crate) asked: Span,
}

/// Every such copy of a function: `if (n > size) n = size; copy_to_user(to, base + *ppos, n)`.
pub(crate) fn unplaced(function: &FunctionContext<'_>) -> Vec<Unplaced> {
    let Some(placed) = Placed::of(function) else {
        return Vec::new();
    };
    let accesses = function.accesses.iter();
    accesses.filter_map(|own| placed.unplaced(own)).collect()
}

/// The names of a function that hang on where a program reads or writes.
struct Placed<'f, 's> {
    function: &'f FunctionContext<'s>,
    /// The parameter that says where.
    position: String,
    /// What is made of it, by any number of steps.
    names: HashSet<String>,
}

impl<'f, 's> Placed<'f, 's> {
    fn of(function: &'f FunctionContext<'s>) -> Option<Self> {
        let counted = |own: &Access<'_>| own.bytes.is_some();
        function.accesses.iter().any(counted).then_some(())?;
        let position = position(function)?;
        let names = HashSet::default();
        let mut placed = Self {
            function,
            position,
            names,
        };
        // One more is found each time, or none is left.
        while let Some(name) = placed.next() {
            placed.names.insert(name);
        }
        Some(placed)
    }

    fn next(&self) -> Option<String> {
        let mut all = self.function.graph.assignments();
        let new = all.find(|(name, value)| {
            let value = || self.function.expression(*value);
            !self.names.contains(*name) && value().is_some_and(|own| self.hangs(&own))
        });
        new.map(|(name, _)| name.to_owned())
    }

    /// Whether an expression names the position, or what is made of it.
    fn hangs(&self, own: &Expression) -> bool {
        own.any(&|part| match &part.term {
            Term::Name(name) => *name == self.position || self.names.contains(name),
            _ => false,
        })
    }

    /// Whether something is asked of the position that may say where it is: that it is the front, or by
    /// another function; not of the number of bytes.
    fn is_judged(&self, count: &str) -> bool {
        let function = self.function;
        let given = function.calls.iter().any(|call| {
            let whole = function.expression_of(*call);
            let given = whole.call().map_or(&[][..], |(_, given)| given);
            given.iter().any(|own| self.hangs_but(own, count)) && !self.is_access(&whole)
        });
        given
            || function.graph.conditions.iter().any(|own| {
                let own = function.asked(own);
                own.is_none_or(|own| {
                    let access = own.any(&|part| self.is_access(part));
                    self.hangs_but(&own, count) && !self.is_ordered(&own) && !access
                })
            })
    }

    /// Whether the position, or what is made of it, may be as much as the number of bytes is bounded by:
    /// two bounds may add up to all there is.
    fn reaches(&self, count: &str, asked: &Expression) -> bool {
        let Term::Binary(left, _, right) = &asked.term else {
            return false;
        };
        let (function, graph) = (self.function, self.function.graph);
        let all = match left.uncast().1.name() == Some(count) {
            true => right.uncast().1,
            false => left.uncast().1,
        };
        let made = all.name().and_then(|name| graph.only_value(name));
        let made = made.and_then(|value| function.expression(value));
        let made = made.as_ref().map_or(all, |own| own.uncast().1);
        let tests = graph.comparisons.iter();
        let mut tests = tests.filter_map(|own| function.expression(*own));
        tests.any(|own| {
            let held = |side: &Expression| *side == *all || *side == *made;
            let same = match &own.term {
                Term::Binary(left, _, right) => held(left.uncast().1) || held(right.uncast().1),
                _ => false,
            };
            same && self.is_ordered(&own) && self.hangs_but(&own, count)
        })
    }

    fn is_access(&self, call: &Expression) -> bool {
        let words = self.function.file.words;
        let call = call.call();
        call.is_some_and(|(name, _)| words.access(name).is_some())
    }

    /// Whether a condition asks for an order alone, and not for 0.
    fn is_ordered(&self, own: &Expression) -> bool {
        match &own.uncast().1.term {
            Term::Binary(left, operator, right) => {
                orders(operator) && !left.is_zero() && !right.is_zero()
            }
            _ => false,
        }
    }

    fn unplaced(&self, access: &Access<'_>) -> Option<Unplaced> {
        let function = self.function;
        let count = access.bytes.as_ref()?.uncast().1;
        let name = count.name()?;
        let value = function.expression_of(access.value_node);
        let from = self.begin(value.uncast().1)?;
        let asked = self.only_bound(name, access.span)?;
        // Of a position that nothing bounds another rule says that.
        let test = function.expression(asked)?;
        (self.reaches(name, &test) && !self.is_judged(name)).then_some(())?;
        Some(Unplaced {
            access: access.span,
            count: name.to_owned(),
            from: function.file.plain(from.span),
            asked,
        })
    }

    /// What says where a copy begins: `p` of `base + p`, of `&base[p]`, or of a variable that is one.
    fn begin(&self, value: &Expression) -> Option<Expression> {
        match &value.term {
            Term::Binary(_, operator, from) if operator == "+" && self.hangs(from) => {
                Some((**from).clone())
            }
            Term::Address(place) => match &place.term {
                Term::Element { index, .. } if self.hangs(index) => Some((**index).clone()),
                _ => None,
            },
            Term::Name(name) => {
                let only = self.function.graph.only_value(name)?;
                let made = self.function.expression(only)?;
                let made = made.uncast().1;
                made.name().is_none().then(|| self.begin(made))?
            }
            _ => None,
        }
    }

    /// The comparison of a number with what does not hang on the position, where nothing else that does
    /// may bound it.
    fn only_bound(&self, name: &str, at: Span) -> Option<Span> {
        let (function, graph) = (self.function, self.function.graph);
        let mut bound = None;
        let tests = graph.comparisons.iter();
        for place in tests.filter(|own| graph.names(**own, name)) {
            let own = function.expression(*place)?;
            let Term::Binary(left, operator, right) = &own.term else {
                return None;
            };
            if left.is_zero() || right.is_zero() {
                continue;
            }
            let alone = |own: &Expression| own.uncast().1.name() == Some(name);
            let plain =
                orders(operator) && (alone(left) || alone(right)) && !self.hangs_but(&own, name);
            bound = Some(plain.then_some(*place)?);
        }
        let mut taken = graph.assignments().filter(|(own, _)| *own == name);
        let bounded = taken.any(|(_, value)| {
            let own = function.expression(value);
            let hangs = own.is_none_or(|own| self.hangs_but(&own, name) || own.call().is_some());
            hangs && graph.passes(&[value], at)
        });
        bound.filter(|_| !bounded)
    }

    /// The same of all that an expression names but one variable.
    fn hangs_but(&self, own: &Expression, but: &str) -> bool {
        own.any(&|part| match &part.term {
            Term::Name(name) => {
                name != but && (*name == self.position || self.names.contains(name))
            }
            _ => false,
        })
    }
}
