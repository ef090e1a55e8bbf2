//! What calls read up to the 0 behind it: by themselves, as a part of what they print, or in a
//! function of the file that they are.

use std::rc::Rc;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::hashed::HashSet;
use crate::lex::TokenKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::split::Body;

use super::callee::look_into;
use super::context::FunctionContext;
use super::format::{Part, literal, parts};
use super::hanging::Hanging;
use super::read_in::{AllRead, ReadIn};
use super::space;
use super::tokens::parameters;

/// A string that a call reads.
pub(crate) struct Reading {
    /// What leads to it.
    pub(crate) string: Expression,
    /// What reads it, in words.
    pub(crate) by: String,
    /// Whether it is read no further than another string goes.
    pub(crate) compared: bool,
    /// Whether the words say in which function of the file.
    within: bool,
}

impl Reading {
    /// What a call reads as it is given it.
    pub(crate) fn of(string: Expression, by: String) -> Self {
        Self {
            string,
            by,
            compared: false,
            within: false,
        }
    }
}

/// So many functions one in the other are looked into for what they read.
const DEEP: usize = 3;

/// What a call reads so.
pub(crate) fn readings(function: &FunctionContext<'_>, call: Node<'_>) -> Vec<Reading> {
    readings_within(function, call, DEEP)
}

fn readings_within(function: &FunctionContext<'_>, call: Node<'_>, deep: usize) -> Vec<Reading> {
    let Some(name) = function.callee(call) else {
        return Vec::new();
    };
    let mut found = read_by(function, call);
    let left = deep.checked_sub(1).filter(|_| found.is_empty());
    if let Some(left) = left
        && let Some(body) = function.file.body_named(name)
        && !std::ptr::eq(body, function.body)
        && is_given_bytes(function, call, deep < DEEP)
        && may_read(function, body, left)
    {
        found.extend(in_helper(function, (body, left), call));
    }
    found
}

/// What a call reads by itself.
fn read_by(function: &FunctionContext<'_>, call: Node<'_>) -> Vec<Reading> {
    let whole = function.expression_of(call);
    let Some((name, given)) = whole.call() else {
        return Vec::new();
    };
    let reading = |own: &Expression| Reading {
        string: led_to(function, own.uncast().1).clone(),
        by: format!("{name}()"),
        compared: false,
        within: false,
    };
    let words = function.file.words;
    let compared = words.compared(name).and_then(|at| given.get(at));
    let compared = compared.map(|own| Reading {
        compared: true,
        ..reading(own)
    });
    let direct = words.reads_strings(name).iter();
    let direct = direct.filter_map(|at| given.get(*at)).map(reading);
    direct
        .chain(compared)
        .chain(printed(given).into_iter().map(reading))
        .collect()
}

/// What leads to a string whose pointer's address is given: `strsep(&p, " ")`.
fn led_to<'e>(function: &FunctionContext<'_>, own: &'e Expression) -> &'e Expression {
    let pointer = |place: &Expression| {
        let local = place
            .name()
            .and_then(|name| function.local_at(name, place.span));
        let declared = local
            .filter(|own| !own.array)
            .and_then(|own| space::declared(function, &own.name, place.span));
        declared.is_some_and(|own| own.ends_with('*'))
    };
    match &own.term {
        Term::Address(place) if pointer(place) => place,
        _ => own,
    }
}

/// The arguments that a format among them has printed as strings, as long as they are.
fn printed(given: &[Expression]) -> Vec<&Expression> {
    let formats = given.iter().enumerate();
    let mut formats = formats.filter_map(|(at, own)| Some((at, parts(&literal(own)?)?)));
    let Some((at, parts)) = formats.next() else {
        return Vec::new();
    };
    let taking = parts.iter().filter(|own| !matches!(own, Part::Text(_)));
    let pairs = taking.zip(given.iter().skip(at + 1));
    let strings = pairs.filter(|(part, _)| matches!(part, Part::String { .. }));
    strings.map(|(_, own)| own).collect()
}

/// Whether the words of a function, or of those that it may call, may read a string: to look into
/// it costs more.
fn may_read(function: &FunctionContext<'_>, body: &Body, deep: usize) -> bool {
    let mut seen = HashSet::from_iter([body.span.start]);
    let mut bodies = vec![body];
    for _ in 0..=deep {
        if bodies.iter().any(|body| names_reader(function, body)) {
            return true;
        }
        let called = bodies.iter().flat_map(|body| {
            let tokens = function.file.tokens_of(body).iter();
            let words = tokens.filter(|own| own.kind == TokenKind::Word);
            words.filter_map(|own| answer::text(own.span.of(function.file.text)))
        });
        let called = called.filter_map(|name| function.file.body_named(name));
        bodies = called.filter(|own| seen.insert(own.span.start)).collect();
    }
    false
}

/// The same of the words of one function alone.
fn names_reader(function: &FunctionContext<'_>, body: &Body) -> bool {
    let (text, words) = (function.file.text, function.file.words);
    let mut tokens = function.file.tokens_of(body).iter();
    tokens.any(|own| match own.kind {
        TokenKind::Word => {
            let name = answer::text(own.span.of(text));
            name.is_some_and(|name| !words.reads_strings(name).is_empty())
        }
        TokenKind::Literal => {
            let parts = parts(own.span.text(text).trim_matches('"'));
            let mut parts = parts.into_iter().flatten();
            parts.any(|part| matches!(part, Part::String { .. }))
        }
        _ => false,
    })
}

/// What a function of the file reads of what it is given, as its caller has it.
fn in_helper(
    function: &FunctionContext<'_>,
    (body, left): (&Body, usize),
    call: Node<'_>,
) -> Vec<Reading> {
    let whole = function.expression_of(call);
    let Some((name, given)) = whole.call() else {
        return Vec::new();
    };
    let read = read_in(function, (body, left));
    let own = read.iter().filter_map(|own| {
        let string = as_given(&own.string, given.get(own.at)?.uncast().1)?;
        let string = led_to(function, &string).clone();
        let by = match own.within {
            true => own.by.clone(),
            false => format!("{} in {name}()", own.by),
        };
        Some(Reading {
            string,
            by,
            compared: own.compared,
            within: true,
        })
    });
    own.collect()
}

/// The same as the function names it, which is looked for once.
fn read_in(function: &FunctionContext<'_>, (body, left): (&Body, usize)) -> AllRead {
    let file = function.file;
    let asked = (body.span.start, left);
    if let Some(known) = file.read_in.borrow().get(&asked) {
        return Rc::clone(known);
    }
    let read = look_into(function, &body.name, |callee| {
        let named = parameters(file.text, file.tokens, body)?;
        let calls = callee.calls.iter();
        let strings = calls.flat_map(|call| {
            let read = readings_within(callee, *call, left).into_iter();
            read.map(|own| (own, span(*call)))
        });
        let placed = strings.flat_map(|(own, call)| open_at(callee, &named, (&own, call)));
        Some(placed.collect::<Vec<ReadIn>>())
    });
    // Another function may be able to pay for the look.
    let known = read.is_some() || !file.in_part.get();
    let read: AllRead = read.into_iter().flatten().collect();
    if known {
        file.read_in.borrow_mut().insert(asked, Rc::clone(&read));
    }
    read
}

/// The parameters that lead to a string which a call reads, where nothing ends it before.
fn open_at(
    callee: &FunctionContext<'_>,
    named: &[String],
    (own, call): (&Reading, Span),
) -> Vec<ReadIn> {
    let all = values(callee, &own.string).into_iter();
    let placed = all.filter_map(|string| {
        let root = string.root().name()?;
        let at = named.iter().position(|own| own == root)?;
        (!may_end(callee, &string, call)).then(|| ReadIn {
            at,
            string,
            by: own.by.clone(),
            compared: own.compared,
            within: own.within,
        })
    });
    placed.collect()
}

/// Whether an argument of a call may lead to bytes that the function copied, or to those that a
/// helper was given.
fn is_given_bytes(function: &FunctionContext<'_>, call: Node<'_>, helper: bool) -> bool {
    let whole = function.expression_of(call);
    let mut given = whole.call().into_iter().flat_map(|(_, given)| given);
    given.any(|own| leads_to_bytes(function, own.uncast().1, helper))
}

/// Whether an argument may lead to bytes that the function copied: not a number.
fn leads_to_bytes(function: &FunctionContext<'_>, own: &Expression, helper: bool) -> bool {
    match &own.term {
        Term::Address(place) if place.name().is_some() => true,
        Term::Address(_) | Term::Binary(..) => match &front(own).term {
            Term::Name(name) => function.graph.local(name).is_some_and(|own| !own.plain),
            _ => false,
        },
        Term::Name(name) => {
            function.graph.local(name).is_some() || helper && function.is_parameter(name)
        }
        Term::Member { .. } => true,
        _ => false,
    }
}

/// The array or the pointer of which an address is of an element: `s` of `&s[8]`, `s + 8`.
pub(crate) fn front(own: &Expression) -> &Expression {
    match &own.term {
        Term::Address(place) => match &place.term {
            Term::Element { array, .. } => front(array.uncast().1),
            _ => own,
        },
        Term::Binary(array, operator, _) if operator == "+" => front(array.uncast().1),
        _ => own,
    }
}

/// What a pointer of a function may lead to: itself, or what it takes elsewhere.
pub(crate) fn values(function: &FunctionContext<'_>, own: &Expression) -> Vec<Expression> {
    let mut found = vec![own.clone()];
    let taken = own.name().map(|name| {
        let all = function.graph.assignments();
        let all = all.filter(move |(of, _)| *of == name);
        all.filter_map(|(_, value)| function.expression(value))
    });
    let places = taken.into_iter().flatten();
    let places = places.map(|value| value.uncast().1.clone());
    found.extend(places.filter(|value| match &value.term {
        Term::Member { .. } => true,
        // `char *s = *text;`
        Term::Behind(pointer) => pointer.name().is_some(),
        _ => false,
    }));
    found
}

/// Whether a function may have put a 0 behind what it is given, or looked for one, before a call
/// reads it: an element takes a value, or a call is given it that does more than read strings.
fn may_end(function: &FunctionContext<'_>, string: &Expression, read: Span) -> bool {
    let mut ended = false;
    // Whoever has the pointer's address has what it leads to.
    let pointer = match &string.term {
        Term::Behind(pointer) => Some(&**pointer),
        _ => None,
    };
    let holds = |own: &Expression| own.any(&|part| part == string);
    let mut hanging = Hanging::new(&holds);
    function.each_of(&["assignment_expression"], |node| {
        let left = node.part("left").filter(|_| !ended);
        let left = left.map(|left| function.expression_of(left));
        let sets = left.is_some_and(|left| (*left != *string || pointer.is_some()) && holds(&left));
        ended |= sets && !hanging.takes(function, node);
    });
    let mut before = function
        .calls
        .iter()
        .filter(|call| span(**call).end <= read.start);
    ended
        || hanging.may_end(function, read)
        || before.any(|call| {
            let reads = read_by(function, *call);
            let whole = function.expression_of(*call);
            let mut given = whole.call().into_iter().flat_map(|(_, given)| given);
            let reached = |own: &Expression| holds(own) || pointer == Some(own.uncast().1);
            reads.is_empty() && given.any(reached)
        })
}

/// A place behind a parameter as its caller has it: of `p->name` and `&c` it is `c.name`, of `*p` it
/// is `c`.
fn as_given(place: &Expression, given: &Expression) -> Option<Expression> {
    let span = given.span;
    let term = match &place.term {
        Term::Name(_) => return Some(given.clone()),
        Term::Behind(pointer) if pointer.name().is_some() => {
            return match &given.term {
                Term::Address(object) => Some((**object).clone()),
                _ => None,
            };
        }
        Term::Member {
            holder,
            arrow: true,
            field,
        } if holder.name().is_some() => {
            let (holder, arrow) = match &given.term {
                Term::Address(object) => (object.clone(), false),
                _ => (Box::new(given.clone()), true),
            };
            Term::Member {
                holder,
                arrow,
                field: field.clone(),
            }
        }
        _ => return None,
    };
    Some(Expression { span, term })
}

/// A place as the function would write it: what a helper reads stands nowhere in it.
pub(crate) fn words(function: &FunctionContext<'_>, own: &Expression) -> String {
    match &own.term {
        Term::Name(name) => name.clone(),
        Term::Member {
            holder,
            arrow,
            field,
        } => {
            let follows = if *arrow { "->" } else { "." };
            words(function, holder) + follows + field
        }
        _ => function.file.plain(own.span),
    }
}
