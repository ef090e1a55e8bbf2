//! An expression as the grammar sees it, for whoever decides on what is written.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::lex::{TokenKind, tokens};
use crate::node::Parts as _;
use crate::normalise::{Branches, normalise};
use crate::parse::parse;
use crate::site::{Context, span};
use crate::span::{LineIndex, Span};
use crate::types::{TypeName, cast_name, type_name};
use crate::vocabulary::Vocabulary;

/// What stands around an expression so that the grammar takes it for one.
const FRONT: &[u8] = b"{return ";
const BACK: &[u8] = b";}";

/// An expression without the parentheses around it. Two are equal if they are
/// written alike, however their blanks, lines and parentheses stand.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub term: Term,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.term == other.term
    }
}

impl Eq for Expression {}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A variable, a constant with a name.
    Name(String),
    /// A number as it is written.
    Number(String),
    /// `holder->field`, `holder.field`
    Member {
        /// What holds it.
        holder: Box<Expression>,
        /// Whether the holder is a pointer.
        arrow: bool,
        /// Its name.
        field: String,
    },
    /// `array[index]`
    Element {
        /// The array or the pointer.
        array: Box<Expression>,
        /// The index.
        index: Box<Expression>,
    },
    /// `!a`, `-a`, `~a`, `+a`
    Unary(String, Box<Expression>),
    /// `a++`, `--a` and so on.
    Step(Box<Expression>),
    /// `*a`
    Behind(Box<Expression>),
    /// `&a`
    Address(Box<Expression>),
    /// `a + b`, `a || b` and so on.
    Binary(Box<Expression>, String, Box<Expression>),
    /// `a = b`, `a |= b` and so on.
    Assignment(Box<Expression>, String, Box<Expression>),
    /// `a ? b : c`, `a ?: c`
    Choice(Box<Expression>, Option<Box<Expression>>, Box<Expression>),
    /// `(type)a`
    Cast(TypeName, Box<Expression>),
    /// `function(arguments)`
    Call(Box<Expression>, Vec<Expression>),
    /// `sizeof(type)`
    SizeOfType(TypeName),
    /// `sizeof(a)`; a type with a name of its own looks like a variable.
    SizeOf(Box<Expression>),
    /// Anything else, by its tokens.
    Other(Vec<String>),
}

impl Expression {
    /// The expression that a place of a text holds; none where it is none, holds a
    /// line of the preprocessor, or is larger than what is parsed.
    #[must_use]
    pub fn read(text: &[u8], place: Span, vocabulary: &Vocabulary) -> Option<Self> {
        let own = text.get(place.start..place.end)?;
        let framed = [FRONT, own, BACK].concat();
        let all = tokens(&framed, 0);
        if all.iter().any(|token| token.kind == TokenKind::Directive) {
            return None;
        }
        let whole = Span::new(0, framed.len());
        let normalised = normalise(&framed, &all, vocabulary, Branches::First);
        let Ok(tree) = parse(&normalised, whole, &all) else {
            return None;
        };
        let node = only(
            tree.root_node(),
            &["compound_statement", "return_statement"],
        )?;
        let context = Context {
            original: &framed,
            normalised: &normalised.text,
            vocabulary,
            lines: &LineIndex::new(&framed),
            wrappers: &[],
            user_pointers: &HashSet::new(),
        };
        let reading = Reading {
            context: &context,
            frame: FRONT.len(),
            start: place.start,
        };
        Some(reading.expression(node))
    }

    /// The expression that a node of a parsed body is.
    pub(crate) fn of(context: &Context<'_>, node: Node<'_>) -> Self {
        let reading = Reading {
            context,
            frame: 0,
            start: 0,
        };
        reading.expression(node)
    }

    /// The expression that a text is.
    #[must_use]
    pub fn written(text: &str, vocabulary: &Vocabulary) -> Option<Self> {
        Self::read(text.as_bytes(), Span::new(0, text.len()), vocabulary)
    }

    /// What it is made of, in the order in which it is written.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match &self.term {
            Term::Name(_) | Term::Number(_) | Term::SizeOfType(_) | Term::Other(_) => vec![],
            Term::Member { holder: a, .. }
            | Term::Unary(_, a)
            | Term::Step(a)
            | Term::Behind(a)
            | Term::Address(a)
            | Term::Cast(_, a)
            | Term::SizeOf(a) => vec![a],
            Term::Element { array: a, index: b }
            | Term::Binary(a, _, b)
            | Term::Assignment(a, _, b)
            | Term::Choice(a, None, b) => vec![a, b],
            Term::Choice(a, Some(b), c) => vec![a, b, c],
            Term::Call(function, arguments) => {
                std::iter::once(&**function).chain(arguments).collect()
            }
        }
    }

    /// What it leads to: `*p` of `p`.
    pub(crate) fn behind(&self) -> Self {
        Self {
            span: self.span,
            term: Term::Behind(Box::new(self.clone())),
        }
    }

    /// Whether it or anything in it is so.
    pub fn any(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self) || self.parts().into_iter().any(|part| part.any(is))
    }

    /// The same of what its value is made of: what only picks an element is none of that, nor is
    /// what a call is given the address of.
    pub(crate) fn any_but_indices(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        let inner = |part: &Self| match &self.term {
            Term::Element { array, .. } => std::ptr::eq(part, &raw const **array),
            Term::Address(_) => false,
            _ => true,
        };
        let parts = self.parts();
        let mut parts = parts.into_iter().filter(|part| inner(part));
        is(self) || parts.any(|part| part.any_but_indices(is))
    }

    /// Whether its value hangs on that of another expression: what only picks an element, an
    /// address and a size do not.
    pub(crate) fn has_value_of(&self, other: &Self) -> bool {
        let parts = match &self.term {
            Term::Address(_) | Term::SizeOf(_) => Vec::new(),
            Term::Element { array, .. } => vec![&**array],
            _ => self.parts(),
        };
        self == other || parts.into_iter().any(|part| part.has_value_of(other))
    }

    /// The expression without casts, and the type of the outermost of them.
    #[must_use]
    pub fn uncast(&self) -> (Option<&TypeName>, &Self) {
        match &self.term {
            Term::Cast(to, value) => (Some(to), value.uncast().1),
            _ => (None, self),
        }
    }

    /// What the operator joins, from left to right: the expression itself where it
    /// is no such one.
    #[must_use]
    pub fn joined(&self, by: &str) -> Vec<&Self> {
        match &self.term {
            Term::Binary(left, operator, right) if operator == by => {
                let mut all = left.joined(by);
                all.push(right);
                all
            }
            _ => vec![self],
        }
    }

    /// The same with another name for a variable.
    pub(crate) fn renamed(&self, name: &str, to: &str) -> Self {
        let to = Self {
            term: Term::Name(to.to_owned()),
            span: self.span,
        };
        self.replaced(name, &to)
    }

    /// The same with an expression in the place of a variable; `&*p` and `(&x)->m` are
    /// what they come to.
    pub(crate) fn replaced(&self, name: &str, by: &Self) -> Self {
        let again = |own: &Self| Box::new(own.replaced(name, by));
        let term = match &self.term {
            Term::Name(own) if own == name => by.term.clone(),
            Term::Member {
                holder,
                arrow,
                field,
            } => {
                let (holder, field) = (again(holder), field.clone());
                match holder.term {
                    Term::Address(holder) if *arrow => Term::Member {
                        holder,
                        arrow: false,
                        field,
                    },
                    _ => Term::Member {
                        holder,
                        arrow: *arrow,
                        field,
                    },
                }
            }
            Term::Element { array, index } => Term::Element {
                array: again(array),
                index: again(index),
            },
            Term::Behind(own) => match again(own).term {
                Term::Address(place) => place.term,
                term => {
                    let span = own.span;
                    Term::Behind(Box::new(Self { span, term }))
                }
            },
            Term::Address(own) => Term::Address(again(own)),
            Term::Binary(left, operator, right) => {
                Term::Binary(again(left), operator.clone(), again(right))
            }
            Term::Cast(of, own) => Term::Cast(of.clone(), again(own)),
            other => other.clone(),
        };
        Self {
            term,
            span: self.span,
        }
    }

    /// The name, if it is nothing else.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.term {
            Term::Name(name) => Some(name),
            _ => None,
        }
    }

    /// `struct s` of `sizeof(struct s)`, a name of `sizeof(name)`.
    #[must_use]
    pub fn sized(&self) -> Option<&str> {
        match &self.term {
            Term::SizeOfType(of) => {
                let plain = of.pointers == 0 && of.dimensions.is_empty();
                plain.then_some(&of.base)
            }
            Term::SizeOf(of) => of.name(),
            _ => None,
        }
    }

    /// The name of what is called, and the arguments, if it is a call by name.
    #[must_use]
    pub fn call(&self) -> Option<(&str, &[Self])> {
        match &self.term {
            Term::Call(function, arguments) => Some((function.name()?, arguments)),
            _ => None,
        }
    }

    /// `len` of `offsetof(struct s, len)`
    pub(crate) fn offset_of(&self) -> Option<&str> {
        let Term::Other(words) = &self.term else {
            return None;
        };
        match words.as_slice() {
            [first, .., comma, field, close] => {
                let own = first == "offsetof" && comma == "," && close == ")";
                own.then_some(field)
            }
            _ => None,
        }
    }

    /// Whether it is the number 0 as it is written mostly.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        matches!(&self.term, Term::Number(text) if text == "0")
    }

    /// Whether it is NULL, by that name or as 0.
    pub(crate) fn is_null(&self) -> bool {
        self.is_zero() || self.name() == Some("NULL")
    }

    /// What it is made from: `a` of `a->b[1].c`, `&a->b`, `f(a)`, `a + 1`.
    #[must_use]
    pub fn root(&self) -> &Self {
        match &self.term {
            Term::Member { holder: inner, .. }
            | Term::Element { array: inner, .. }
            | Term::Behind(inner)
            | Term::Address(inner)
            | Term::Unary(_, inner)
            | Term::Cast(_, inner)
            | Term::Step(inner)
            | Term::Binary(inner, ..)
            | Term::Assignment(inner, ..) => inner.root(),
            Term::Call(_, arguments) => arguments.first().map_or(self, Self::root),
            _ => self,
        }
    }

    /// The pointer behind which the place lies: `p->q` of `p->q->a.b[1]`.
    #[must_use]
    pub fn pointer(&self) -> Option<&Self> {
        match &self.term {
            Term::Member {
                holder,
                arrow: true,
                ..
            } => Some(holder),
            Term::Behind(pointer) => Some(pointer),
            Term::Member { holder, .. } => holder.pointer(),
            Term::Element { array, .. } => array.pointer(),
            _ => None,
        }
    }

    /// Whether the place is the other one or a part of it: `p->a.b` and `p->a`.
    #[must_use]
    pub fn lies_in(&self, other: &Self) -> bool {
        let inner = match &self.term {
            Term::Member {
                holder,
                arrow: false,
                ..
            } => holder,
            Term::Element { array, .. } => array,
            _ => return self == other,
        };
        self == other || inner.lies_in(other)
    }
}

/// What is inside nodes of those kinds, each the only part of the one before.
fn only<'t>(root: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let alone = |node: Node<'t>| {
        node.named_child(0)
            .filter(|_| node.named_child_count() == 1)
    };
    let inside =
        |node: Node<'t>, kind: &&str| alone(node).filter(|inner| inner.known_kind() == *kind);
    let last = kinds
        .iter()
        .try_fold(root, inside)
        .filter(|_| !root.has_error());
    last.and_then(alone)
}

/// From the parse of a text to the expression.
struct Reading<'r, 'a> {
    context: &'r Context<'a>,
    /// How much stands before the text in what was parsed.
    frame: usize,
    /// Where the text begins.
    start: usize,
}

impl Reading<'_, '_> {
    fn expression(&self, node: Node<'_>) -> Expression {
        if node.known_kind() == "parenthesized_expression"
            && let Some(inner) = node.named_child(0)
        {
            return self.expression(inner);
        }
        let term = self.term(node).unwrap_or_else(|| self.other(node));
        let span = self.place(node);
        Expression { span, term }
    }

    /// Where a node stands in the text that was framed.
    fn place(&self, node: Node<'_>) -> Span {
        let moved = |at: usize| at - self.frame + self.start;
        Span::new(moved(node.start_byte()), moved(node.end_byte()))
    }

    fn boxed(&self, node: Node<'_>) -> Box<Expression> {
        Box::new(self.expression(node))
    }

    /// The term that a node is, if it is one of those with a name.
    fn term(&self, node: Node<'_>) -> Option<Term> {
        let part = |field: &str| node.part(field).map(|one| self.boxed(one));
        let operator = || self.context.operator(node);
        let words = || String::from_utf8_lossy(operator()).into_owned();
        Some(match node.known_kind() {
            "identifier" | "true" | "false" | "null" => Term::Name(self.context.written(node)),
            "number_literal" => self.number(node),
            "field_expression" => Term::Member {
                holder: part("argument")?,
                arrow: operator() == b"->",
                field: self.context.written(node.part("field")?),
            },
            "subscript_expression" => Term::Element {
                array: part("argument")?,
                index: part("index")?,
            },
            "update_expression" => Term::Step(part("argument")?),
            "unary_expression" => Term::Unary(words(), part("argument")?),
            "pointer_expression" if operator() == b"*" => Term::Behind(part("argument")?),
            "pointer_expression" => Term::Address(part("argument")?),
            "binary_expression" => Term::Binary(part("left")?, words(), part("right")?),
            "assignment_expression" => Term::Assignment(part("left")?, words(), part("right")?),
            "conditional_expression" => Term::Choice(
                part("condition")?,
                part("consequence"),
                part("alternative")?,
            ),
            "cast_expression" => Term::Cast(self.cast_type(node)?, part("value")?),
            "call_expression" => return self.called(node, part("function")?),
            "sizeof_expression" => match part("value") {
                Some(of) => Term::SizeOf(of),
                None => Term::SizeOfType(self.named_type(node)?),
            },
            _ => return None,
        })
    }

    /// A number; to the grammar a sign in front of it is part of it.
    fn number(&self, node: Node<'_>) -> Term {
        let text = self.context.written(node);
        let (sign, digits) = text.split_at(usize::from(text.starts_with(['-', '+'])));
        let digits = digits.trim_start().to_owned();
        if sign.is_empty() {
            return Term::Number(digits);
        }
        let end = self.place(node).end;
        let inner = Expression {
            span: Span::new(end - digits.len(), end),
            term: Term::Number(digits),
        };
        Term::Unary(sign.to_owned(), Box::new(inner))
    }

    /// A call; `likely(a)` is `a`.
    fn called(&self, node: Node<'_>, function: Box<Expression>) -> Option<Term> {
        let list = node.part("arguments")?;
        let mut cursor = list.walk();
        let all = list.named_children(&mut cursor);
        let arguments: Vec<Expression> = all.map(|one| self.expression(one)).collect();
        let callee = self.context.callee(node);
        let hint = self.context.vocabulary.is_transparent(callee);
        Some(match <[Expression; 1]>::try_from(arguments) {
            Ok([only]) if hint => only.term,
            Ok(only) => Term::Call(function, only.into()),
            Err(arguments) => Term::Call(function, arguments),
        })
    }

    /// The type of a cast or a `sizeof`.
    fn named_type(&self, node: Node<'_>) -> Option<TypeName> {
        let place = span(node.part("type")?);
        let text = self.context.original;
        type_name(text, &tokens(text.get(..place.end)?, place.start))
    }

    /// The type of a cast; `(a) * b` may be none.
    fn cast_type(&self, node: Node<'_>) -> Option<TypeName> {
        const OPERANDS: [&str; 5] = [
            "identifier",
            "number_literal",
            "call_expression",
            "field_expression",
            "subscript_expression",
        ];
        let (kind, value) = (span(node.part("type")?), node.part("value")?);
        let text = self.context.original;
        let all = tokens(text.get(..kind.end)?, kind.start);
        cast_name(text, &all, OPERANDS.contains(&value.known_kind()))
    }

    fn other(&self, node: Node<'_>) -> Term {
        let (place, text) = (span(node), self.context.original);
        let upto = text.get(..place.end).unwrap_or(&[]);
        let all = tokens(upto, place.start).into_iter();
        Term::Other(all.map(|token| token.span.text(text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Expression> {
        Expression::written(text, &Vocabulary::builtin().unwrap())
    }

    #[test]
    fn expressions_are_equal_however_they_are_laid_out() {
        let same = [
            ("&p->a[ 1 ]", "&(p->a)[1]"),
            ("a+b", "(a) + (b)"),
            ("likely(!access_ok(p,\n\t4))", "!access_ok(p, 4)"),
            ("- 1", "-(1)"),
            ("a || /* or */ b", "a || b"),
            ("(u32 __user *)p", "(u32 *)(p)"),
        ];
        for (a, b) in same {
            assert_eq!(read(a).unwrap(), read(b).unwrap(), "{a}");
        }
        for (a, b) in [
            ("a->b", "a.b"),
            ("a - b", "b - a"),
            ("(u32)a", "(u64)a"),
            ("a", "a()"),
        ] {
            assert_ne!(read(a).unwrap(), read(b).unwrap(), "{a}");
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = b"x = (u8 *)p->a || q;";
        let vocabulary = Vocabulary::builtin().unwrap();
        let found = Expression::read(text, Span::new(4, 19), &vocabulary).unwrap();
        let parts = found.joined("||");
        let texts: Vec<String> = parts.iter().map(|part| part.span.text(text)).collect();
        assert_eq!(texts, ["(u8 *)p->a", "q"]);
        let (to, value) = parts.first().unwrap().uncast();
        assert_eq!(to.unwrap().base, "u8");
        assert_eq!(value.root().name(), Some("p"));
    }

    #[test]
    fn what_is_no_expression_is_none() {
        let deep = "(".repeat(100_000) + "a" + &")".repeat(100_000);
        let none = [
            "",
            "a; b",
            "a)",
            "(a",
            "}; int x; {",
            "a\n#if B\n+ 1\n#endif\n",
        ];
        for text in none.into_iter().chain([deep.as_str()]) {
            assert_eq!(
                read(text),
                None,
                "{}",
                text.chars().take(20).collect::<String>()
            );
        }
    }
}
