//! Which elements of an array are set: each by its number, by the rounds of a loop, or by a function of
//! the file.

use std::collections::BTreeSet;

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::Direction;
use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;

use super::accesses::{Access, each};
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::fill::element;
use super::space;

/// So many elements are told apart.
const MOST: u64 = 1 << 12;

/// So many functions may hand an array on, one to the other.
const DEPTH: usize = 3;

/// The elements that may be set where an array is named; none where anything else is done to it.
pub(crate) fn set_elements(
    function: &FunctionContext<'_>,
    array: Node<'_>,
) -> Option<BTreeSet<u64>> {
    stored(function, array).or_else(|| by_callee(function, array, DEPTH))
}

/// The same where a function of the file is given the array.
pub(crate) fn given_elements(
    function: &FunctionContext<'_>,
    array: Node<'_>,
) -> Option<BTreeSet<u64>> {
    by_callee(function, array, DEPTH)
}

/// Whether the element of an array takes a value there.
fn is_stored(function: &FunctionContext<'_>, array: Node<'_>) -> bool {
    let set = function.above(array).and_then(|element| {
        let set = function.above(element)?;
        (set.part("left") == Some(element)).then_some(set)
    });
    set.is_some_and(|set| {
        set.known_kind() == "assignment_expression" && function.context.operator(set) == b"="
    })
}

/// `x[2] = 1`, `for (i = 0; i < 2; i++) x[i] = 1;`
fn stored(function: &FunctionContext<'_>, array: Node<'_>) -> Option<BTreeSet<u64>> {
    is_stored(function, array).then_some(())?;
    if let Some(at) = element(function, array) {
        return Some(BTreeSet::from([at]));
    }
    by_rounds(function, array)
}

/// Those that a loop of a constant number of rounds goes through.
pub(crate) fn by_rounds(function: &FunctionContext<'_>, array: Node<'_>) -> Option<BTreeSet<u64>> {
    let end = rounds(function, array)?;
    Some((0..end).collect())
}

/// No element from that number on is set by the rounds of the loop around.
fn rounds(function: &FunctionContext<'_>, array: Node<'_>) -> Option<u64> {
    let index = array.parent()?.part("index")?;
    let index = Expression::of(function.context, index);
    let index = index.uncast().1.name()?;
    let mut around = std::iter::successors(array.parent(), Node::parent);
    around.find_map(|round| {
        let asked = round
            .part("condition")
            .filter(|_| round.known_kind() == "for_statement")?;
        let asked = Expression::of(function.context, asked);
        let Term::Binary(left, operator, right) = &asked.term else {
            return None;
        };
        (left.name() == Some(index)).then_some(())?;
        let more = match operator.as_str() {
            "<" => 0,
            "<=" => 1,
            _ => return None,
        };
        let end = space::bytes(function, right.uncast().1)?.checked_add(more)?;
        let body = span(round.part("body")?);
        let steps_inside = function
            .graph
            .effects_in(body)
            .any(|own| own.kind != EffectKind::Read && function.graph.name_of(own) == index);
        (!steps_inside && end <= MOST).then_some(end)
    })
}

/// The same of a function of the file that is given the array.
fn by_callee(
    function: &FunctionContext<'_>,
    array: Node<'_>,
    depth: usize,
) -> Option<BTreeSet<u64>> {
    let arguments = function
        .above(array)
        .filter(|own| own.known_kind() == "argument_list")?;
    let name = function.callee(function.above(arguments)?)?;
    let mut cursor = arguments.walk();
    let mut all = arguments.named_children(&mut cursor);
    let at = all.position(|own| own.id() == array.id())?;
    look_into(function, name, |callee| {
        let own = parameter(callee, at)?;
        (!callee.graph.unseen.contains(&own)).then_some(())?;
        let mut found = BTreeSet::new();
        for node in callee.mentions(&own) {
            found.extend(behind(callee, node, depth)?);
        }
        Some(found)
    })
}

/// What is set where a parameter that leads to the array is named.
fn behind(
    callee: &FunctionContext<'_>,
    parameter: Node<'_>,
    depth: usize,
) -> Option<BTreeSet<u64>> {
    let around = callee.above(parameter)?;
    let none = Some(BTreeSet::new());
    match around.known_kind() {
        "sizeof_expression" | "unary_expression" => none,
        "subscript_expression" if is_read(callee, around) => none,
        "subscript_expression" => stored(callee, parameter),
        "argument_list" if is_shown(callee, parameter) => none,
        "argument_list" => front(callee, parameter).or_else(|| {
            let depth = depth.checked_sub(1)?;
            by_callee(callee, parameter, depth)
        }),
        _ => None,
    }
}

/// Whether no more than the value of an element is asked.
fn is_read(function: &FunctionContext<'_>, element: Node<'_>) -> bool {
    let Some(around) = function.above(element) else {
        return false;
    };
    match around.known_kind() {
        "assignment_expression" => around.part("right") == Some(element),
        "binary_expression"
        | "argument_list"
        | "return_statement"
        | "init_declarator"
        | "parenthesized_expression"
        | "conditional_expression" => {
            space::element(function, &Expression::of(function.context, element)).is_none()
        }
        _ => false,
    }
}

/// Whether a call gives what lies there to the user, which leaves it as it is.
fn is_shown(function: &FunctionContext<'_>, object: Node<'_>) -> bool {
    let mut accesses = function.accesses.iter();
    accesses.any(|own| own.word.direction == Direction::Write && own.value == span(object))
}

/// The elements from the front on that a call fills with so many bytes: `memcpy(p, from, 6)`.
fn front(function: &FunctionContext<'_>, object: Node<'_>) -> Option<BTreeSet<u64>> {
    let arguments = function.above(object)?;
    let words = function.file.words;
    let name = function.callee(function.above(arguments)?)?;
    let cleared = words.clears(name).map(|own| (own.object, own.count));
    let filled = words.fills(name);
    let (at, count) = cleared.or_else(|| filled.and_then(|own| Some((own.object, own.count?))))?;
    let part = |at: usize| arguments.named_child(answer::fits(at)?);
    if part(at).map(|own| own.id()) != Some(object.id()) {
        // What it copies from.
        return Some(BTreeSet::new());
    }
    let bytes = space::bytes(function, &Expression::of(function.context, part(count)?))?;
    let size = space::element(function, &Expression::of(function.context, object))?;
    let many = bytes.div_ceil(size.max(1));
    (many <= MOST).then(|| (0..many).collect())
}

/// What leaves out the store of an element in some rounds of a loop that goes through them by
/// their numbers: the branch that it stands in, or a `continue` before it.
pub(crate) fn left_out(function: &FunctionContext<'_>, place: Node<'_>) -> Option<Span> {
    let mut parts = std::iter::successors(Some(place), |own| own.part("argument"));
    let subscript = parts.find(|own| own.known_kind() == "subscript_expression")?;
    let index = Expression::of(function.context, subscript.part("index")?);
    let index = index.uncast().1.name()?;
    let mut around = std::iter::successors(place.parent(), Node::parent);
    let round = around.find(|own| LOOPS.contains(&own.known_kind()))?;
    let asked = round
        .part("condition")
        .filter(|_| round.known_kind() == "for_statement")?;
    let own = Expression::of(function.context, asked);
    matches!(&own.term, Term::Binary(left, ..) if left.name() == Some(index)).then_some(())?;
    let by = skipping(round.part("body")?, place)?;
    (!otherwise_leaves(function, by)).then(|| span(by))
}

/// Whether the function is left where the branch of an `if` is not taken: no round goes on then.
fn otherwise_leaves(function: &FunctionContext<'_>, branch: Node<'_>) -> bool {
    let holder = branch
        .parent()
        .filter(|own| own.known_kind() == "if_statement");
    let other = holder.and_then(|own| {
        let then = own.part("consequence");
        match then == Some(branch) {
            true => own.part("alternative")?.named_child(0),
            false => then,
        }
    });
    let other = other.and_then(|own| function.graph.statement(span(own)));
    other.is_some_and(|own| function.graph.leaves(own))
}

/// The outermost branch in the body of a loop that a place stands in, or a `continue` before it.
pub(crate) fn skipping<'t>(body: Node<'t>, place: Node<'t>) -> Option<Node<'t>> {
    let around = std::iter::successors(Some(place), Node::parent);
    // The body may be the branch: `for (…) if (…) a[n++] = x;`
    let within = around.take_while(|own| *own != body);
    let within: Vec<Node<'_>> = within.chain([body]).collect();
    let mut branch = within.windows(2).filter_map(|two| match two {
        [own, holder] if holder.known_kind() == "if_statement" => {
            (holder.part("condition") != Some(*own)).then_some(*own)
        }
        _ => None,
    });
    if let Some(branch) = branch.next_back() {
        return Some(branch);
    }
    let mut found = None;
    each(body, &mut |own| {
        let before = own.end_byte() <= place.start_byte();
        if own.known_kind() == "continue_statement" && before {
            found = found.or(Some(own));
        }
    });
    found
}

/// Whether a number is compared with a constant, or with as many as are copied, behind the loop that
/// makes it: what a program has room for says nothing of how many there are.
pub(crate) fn is_compared_behind(
    function: &FunctionContext<'_>,
    name: &str,
    access: &Access<'_>,
) -> bool {
    let mut found = false;
    function.each_of(&["binary_expression"], |node| {
        let compares = compares(function.context.operator(node));
        let mut around = std::iter::successors(Some(node), Node::parent);
        let rounds = around.any(|own| LOOPS.contains(&own.known_kind()));
        let before = node.start_byte() < access.span.start;
        if !compares || !before || rounds || !function.graph.names(span(node), name) {
            return;
        }
        let Term::Binary(left, _, right) = &function.expression_of(node).term else {
            return;
        };
        let copied = |own: &Expression| {
            let bytes = access.bytes.as_ref();
            bytes.is_some_and(|bytes| bytes.any(&|part| part == own))
        };
        found |= [left, right]
            .iter()
            .any(|own| copied(own) || space::bytes(function, own).is_some());
    });
    found
}
