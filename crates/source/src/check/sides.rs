//! The way to a place past the side of an `#if` in which something is done: a configuration leaves
//! that out.

use tree_sitter::Node;

use crate::lex::TokenKind;
use crate::normalise::{Sides, all_sides, directive_words};
use crate::site::span;
use crate::span::Span;

use super::arms::Arm;
use super::context::FunctionContext;

/// The way past the one side of an `#if` of the function in which something is named, from where it
/// begins to matter to a place; none where anything else asks for the same option, or the other sides
/// leave it.
pub(crate) fn other_side<'t>(
    function: &FunctionContext<'t>,
    named: impl Iterator<Item = Node<'t>>,
    (from, at): (Span, Span),
) -> Option<Arm> {
    let (file, body) = (function.file, function.body);
    let lines = file.tokens_of(body).iter();
    let lines = lines.filter(|own| own.kind == TokenKind::Directive);
    let mut lines = lines.map(|own| own.span).peekable();
    lines.peek()?;
    let named: Vec<Span> = named
        .map(span)
        .filter(|own| own.start >= from.end)
        .collect();
    let holds = |place: Span| named.iter().any(|own| place.contains(*own));
    let all = all_sides(lines, file.text);
    let between = |own: Span| own.start >= from.end && own.end <= at.start;
    let mut own = all
        .iter()
        .filter(|own| between(whole(own)) && holds(whole(own)));
    let sides = own.next().filter(|_| own.next().is_none())?;
    is_asked_once(function, sides, &all).then_some(())?;
    let parts = parts(sides);
    let mut holding = parts.iter().filter(|own| holds(**own));
    let taken = *holding.next().filter(|_| holding.next().is_none())?;
    let mut others = parts.iter().filter(|own| **own != taken);
    let open = parts.len() == 1 || others.any(|own| goes_on(function, *own));
    (open && function.comes_to(taken, at)).then(|| Arm {
        decides: whole(sides),
        left_out: vec![taken],
        other: false,
        called: false,
    })
}

/// From the line that opens an `#if` to the one that ends it.
fn whole(sides: &Sides) -> Span {
    let start = sides.lines.first().map_or(sides.end, |own| own.start);
    Span::new(start, sides.end)
}

/// What stands between the lines.
fn parts(sides: &Sides) -> Vec<Span> {
    let ends = sides.lines.iter().skip(1).map(|own| own.start);
    let ends = ends.chain([sides.end]);
    let all = sides.lines.iter().zip(ends);
    all.map(|(line, end)| Span::new(line.end, end.max(line.end)))
        .collect()
}

/// Whether nothing else in the function names what an `#if` asks for, an option by its name.
fn is_asked_once(function: &FunctionContext<'_>, sides: &Sides, all: &[Sides]) -> bool {
    let (file, body) = (function.file, function.body);
    let words = |line: &Span| {
        let words = directive_words(*line, file.text).skip(1);
        let name = |own: &&[u8]| *own != b"defined" && !own.first().is_some_and(u8::is_ascii_digit);
        words.filter(name).collect::<Vec<_>>()
    };
    let asked: Vec<&[u8]> = sides.lines.iter().flat_map(words).collect();
    let others = all.iter().filter(|own| whole(own) != whole(sides));
    let mut others = others.flat_map(|own| own.lines.iter().flat_map(words));
    let mut tokens = file.tokens_of(body).iter();
    !asked.is_empty()
        && !others.any(|own| asked.contains(&own))
        && !tokens.any(|own| own.kind == TokenKind::Word && asked.contains(&own.span.of(file.text)))
}

/// Whether a side of an `#if` ends where the next line is.
fn goes_on(function: &FunctionContext<'_>, place: Span) -> bool {
    let leaves: [&[u8]; 4] = [b"return", b"goto", b"break", b"continue"];
    let mut own = function.file.tokens_in(place).iter();
    !own.any(|own| leaves.contains(&own.span.of(function.file.text)))
}
