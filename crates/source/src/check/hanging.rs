//! A 0 that is put behind a string only where the string's own bytes say so.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::bounded::is_loop;
use super::context::FunctionContext;
use super::found_byte::holds_place_of_byte;

/// Where elements of an object are set.
pub(crate) struct Hanging<'h> {
    /// Whether an expression leads to the object.
    holds: &'h dyn Fn(&Expression) -> bool,
    /// Those that hang on what the bytes are: `if (s[n - 1] == '\n') s[n - 1] = 0`.
    places: Vec<Span>,
}

impl<'h> Hanging<'h> {
    pub(crate) fn new(holds: &'h dyn Fn(&Expression) -> bool) -> Self {
        Self {
            holds,
            places: Vec::new(),
        }
    }

    /// Whether it is known of what is set there that it hangs on the bytes; that is kept in mind.
    pub(crate) fn takes<'t>(&mut self, function: &FunctionContext<'t>, node: Node<'t>) -> bool {
        let hangs = self.hangs(function, node);
        if hangs {
            self.places.push(span(node));
        }
        hangs
    }

    /// Whether one of those is on every way to a place, or a byte is asked for whether it is the 0.
    pub(crate) fn may_end(&self, function: &FunctionContext<'_>, at: Span) -> bool {
        !self.places.is_empty()
            && (function.graph.passes(&self.places, at) || self.asks_for_end(function, at))
    }

    fn hangs<'t>(&self, function: &FunctionContext<'t>, node: Node<'t>) -> bool {
        let mut inside = node.id();
        for own in function.around(node) {
            let asked = own.part("condition");
            let then = asked.is_some_and(|asked| asked.id() != inside);
            let asks = then && asked.is_some_and(|asked| self.asks_for_byte(function, asked));
            // What looks for a byte and goes round until it finds one may well have found it.
            if asks || is_loop(own) {
                return asks && own.known_kind() != "for_statement" && !is_in_loop(function, own);
            }
            inside = own.id();
        }
        false
    }

    /// Whether a condition asks for a byte that is not 0: `*p == '\n'`, `isspace(*p)`.
    fn asks_for_byte(&self, function: &FunctionContext<'_>, asked: Node<'_>) -> bool {
        let own = function.expression_of(asked);
        // `if (*p)`, `if (p)` of where a byte was found.
        let whole = own.uncast().1;
        let found = whole
            .name()
            .is_some_and(|name| holds_place_of_byte(function, name));
        if found || matches!(whole.term, Term::Behind(_)) && self.is_byte(whole) {
            return true;
        }
        own.any(&|part| match &part.term {
            Term::Binary(left, operator, right) if operator == "==" || operator == "!=" => {
                let of = |one: &Expression, other: &Expression| {
                    self.is_byte(one) && is_character(other) && !is_end(other)
                };
                of(left, right) || of(right, left)
            }
            Term::Call(_, given) => matches!(given.as_slice(), [own] if self.is_byte(own)),
            _ => false,
        })
    }

    /// Whether a byte is asked for before a place whether it is 0.
    pub(crate) fn asks_for_end(&self, function: &FunctionContext<'_>, at: Span) -> bool {
        let mut asks = false;
        let kinds = [
            "binary_expression",
            "unary_expression",
            "parenthesized_expression",
        ];
        function.each_of(&kinds, |node| {
            if asks || node.end_byte() > at.start {
                return;
            }
            let own = function.expression_of(node);
            asks = match &own.term {
                // `if (s[n - 1])`
                Term::Element { .. } => is_asked(function, node) && self.is_byte(&own),
                Term::Binary(left, _, right) => {
                    self.is_byte(left) && is_end(right) || self.is_byte(right) && is_end(left)
                }
                Term::Unary(operator, of) => operator == "!" && self.is_byte(of),
                _ => false,
            };
        });
        asks
    }

    /// Whether it is an element of the object.
    fn is_byte(&self, own: &Expression) -> bool {
        match &own.uncast().1.term {
            Term::Element { array: of, .. } | Term::Behind(of) => (self.holds)(of),
            _ => false,
        }
    }
}

fn is_in_loop<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> bool {
    function.around(node).any(is_loop)
}

/// Whether an `if` asks for nothing but that.
fn is_asked<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> bool {
    let around = function.above(node);
    let around = around.filter(|own| own.known_kind() == "if_statement");
    around.is_some_and(|own| own.part("condition").map(|own| own.id()) == Some(node.id()))
}

/// `'\n'`, `10`
fn is_character(own: &Expression) -> bool {
    match &own.uncast().1.term {
        Term::Number(_) => true,
        Term::Other(words) => matches!(words.as_slice(), [word] if word.starts_with('\'')),
        _ => false,
    }
}

/// `'\0'`, `0`
pub(crate) fn is_end(own: &Expression) -> bool {
    let own = own.uncast().1;
    own.is_zero()
        || matches!(&own.term, Term::Other(words) if matches!(words.as_slice(), [word] if word == "'\\0'"))
}
