//! Copies that begin where a program stands in a file, of no more bytes than the whole has: how far
//! that is from its front is taken off nowhere.

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::behind_front::{begun, is_asked, is_made_of};
use super::bounded::comes_before;
use super::context::{FileContext, FunctionContext};
use super::limit::held_against;
use super::{space, unbounded};

/// What such a copy is made of.
pub(crate) struct LeftOut {
    number: Expression,
    whole: Expression,
    position: String,
    asked: Span,
}

impl LeftOut {
    /// What is wrong, and what says so.
    pub(crate) fn told(&self, file: &FileContext<'_>) -> (String, Span) {
        let [number, whole] = [&self.number, &self.whole].map(|own| file.plain(own.span));
        let told = format!(
            "{number} may be {whole}, and the copy begins *{} bytes behind the front, which nothing takes off",
            self.position
        );
        (told, self.asked)
    }
}

/// `if (n > size) n = size;` and `copy_to_user(to, front + *pos, n)`
pub(crate) fn position_left_out(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<LeftOut> {
    let number = access.bytes.as_ref()?.uncast().1;
    let length = number.name()?;
    let position = unbounded::position(function)?;
    let own = Position::of(function, &position);
    let value = function.expression_of(access.value_node);
    let address = value.uncast().1;
    own.is_behind(address, access.span).then_some(())?;
    // Of an array it is asked whether the position is bounded at all.
    let front = begun(address).map(|(front, _)| front.uncast().1);
    let array = front.and_then(|front| space::array_bytes(function, front));
    array.is_none().then_some(())?;
    let held = held_against(function, number, access.span).into_iter();
    let others: Vec<(Expression, Span)> = held.filter(|(other, _)| other != number).collect();
    let (whole, asked) = own.whole(&others)?.clone();
    let known = others.iter().any(|(other, _)| own.is_in(other)) || own.is_taken_off(access.span);
    let asks = || {
        let mut names = own.names(number.span).into_iter();
        names.any(|at| {
            is_asked(function, &at, length) || is_made_of(function, &at, length, access.span)
        })
    };
    let other = || own.is_judged_by_another(&whole) || own.is_given();
    (!known && !asks() && !other()).then(|| LeftOut {
        number: number.clone(),
        whole,
        position: position.clone(),
        asked,
    })
}

/// A position, and the variables that are made of it.
struct Position<'f, 's> {
    function: &'f FunctionContext<'s>,
    name: &'f str,
    made: HashSet<&'f str>,
}

impl<'f, 's> Position<'f, 's> {
    fn of(function: &'f FunctionContext<'s>, name: &'f str) -> Self {
        let values = function.graph.assignments();
        let made = values.filter(|(_, value)| function.graph.names(*value, name));
        let made = made.map(|(own, _)| own).collect();
        Self {
            function,
            name,
            made,
        }
    }

    /// What it is called: what leads to it, what lies there, and the variables that it is.
    fn names(&self, span: Span) -> Vec<Expression> {
        let own = |term: Term| Expression { span, term };
        let leads = own(Term::Name(self.name.to_owned()));
        let lies = own(Term::Behind(Box::new(leads.clone())));
        let made = self
            .made
            .iter()
            .map(|name| own(Term::Name((*name).to_owned())));
        let made = made.filter(|name| self.is(name));
        [leads, lies].into_iter().chain(made).collect()
    }

    /// Whether an expression is the position, as far as it is known.
    fn is(&self, own: &Expression) -> bool {
        let own = own.uncast().1;
        let value = |name: &str| {
            let value = self.function.graph.only_value(name)?;
            self.function.expression(value)
        };
        match &own.term {
            Term::Behind(of) => of.uncast().1.name() == Some(self.name),
            Term::Name(name) if self.made.contains(name.as_str()) => {
                value(name).is_some_and(|own| match &own.uncast().1.term {
                    Term::Behind(of) => of.uncast().1.name() == Some(self.name),
                    _ => false,
                })
            }
            _ => false,
        }
    }

    /// What of all that a number is held against is the whole: what the position is, too, or else what is no
    /// type, and not what the program asks for.
    fn whole<'o>(&self, others: &'o [(Expression, Span)]) -> Option<&'o (Expression, Span)> {
        let function = self.function;
        let mut compared = Vec::new();
        function.each_of(&["binary_expression"], |node| {
            if !compares(function.context.operator(node)) {
                return;
            }
            if let Term::Binary(left, _, right) = &function.expression_of(node).term {
                let (left, right) = (left.uncast().1, right.uncast().1);
                compared.extend(self.is(left).then(|| right.clone()));
                compared.extend(self.is(right).then(|| left.clone()));
            }
        });
        let asked = |own: &Expression| {
            let name = own.name();
            name.is_some_and(|own| {
                function.is_parameter(own) || function.file.layout(own).is_some()
            })
        };
        let both = others.iter().find(|(own, _)| compared.contains(own));
        both.or_else(|| others.iter().find(|(own, _)| !asked(own)))
    }

    /// Whether anything in an expression hangs on the position.
    fn is_in(&self, own: &Expression) -> bool {
        own.any(&|part: &Expression| {
            let name = part.name();
            name.is_some_and(|name| name == self.name || self.made.contains(name))
        })
    }

    /// Whether an address is the position behind a front, or a variable that was moved on by it.
    fn is_behind(&self, address: &Expression, at: Span) -> bool {
        let function = self.function;
        let sum = |own: &Expression| begun(own).is_some_and(|(_, index)| self.is(index));
        let Some(name) = address.name() else {
            return sum(address);
        };
        let value = function.graph.only_value(name);
        let value = value.and_then(|value| function.expression(value));
        value.is_some_and(|own| sum(own.uncast().1)) || self.moves(name, at)
    }

    /// `p += *pos` before a place.
    fn moves(&self, name: &str, at: Span) -> bool {
        let mut found = false;
        self.function.each_of(&["assignment_expression"], |node| {
            let before = span(node).end <= at.start && !found;
            let Some(own) = before.then(|| self.function.expression_of(node)) else {
                return;
            };
            found = match &own.term {
                Term::Assignment(left, operator, by) => {
                    operator == "+=" && left.name() == Some(name) && self.is(by)
                }
                _ => false,
            };
        });
        found
    }

    /// Whether anything that hangs on it is taken off of anything before a place.
    fn is_taken_off(&self, at: Span) -> bool {
        let mut found = false;
        let kinds = ["binary_expression", "assignment_expression"];
        self.function.each_of(&kinds, |node| {
            if found || !comes_before(self.function, span(node), at) {
                return;
            }
            found = match &self.function.expression_of(node).term {
                Term::Binary(_, operator, by) => operator == "-" && self.is_in(by),
                Term::Assignment(_, operator, by) => operator == "-=" && self.is_in(by),
                _ => false,
            };
        });
        found
    }

    /// Whether it is compared with anything but the whole, or in another way than by itself.
    fn is_judged_by_another(&self, whole: &Expression) -> bool {
        let graph = self.function.graph;
        let taken = whole.name().and_then(|name| graph.only_value(name));
        let taken = taken.and_then(|value| self.function.expression(value));
        let is_whole = |own: &Expression| {
            let own = own.uncast().1;
            own == whole || taken.as_ref().is_some_and(|taken| taken.uncast().1 == own)
        };
        let mut found = false;
        self.function.each_of(&["binary_expression"], |node| {
            let own = self.function.expression_of(node);
            let Term::Binary(left, operator, right) = &own.term else {
                return;
            };
            let named = compares(operator) && (self.is_in(left) || self.is_in(right));
            let plain = self.is(left) && is_whole(right) || self.is(right) && is_whole(left);
            found |= named && !plain;
        });
        found
    }

    /// Whether a call is given what hangs on it, and may judge it.
    fn is_given(&self) -> bool {
        let function = self.function;
        function.calls.iter().any(|call| {
            let access = function.accesses.iter().any(|own| own.span == span(*call));
            let own = function.expression_of(*call);
            let given = own.call().map(|(_, given)| given);
            // What is printed is judged by nobody.
            let printed = given.is_some_and(|given| {
                let mut given = given.iter();
                given.any(|own| super::format::literal(own).is_some())
            });
            !access && !printed && self.is_in(&own)
        })
    }
}
