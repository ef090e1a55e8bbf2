//! Arrays of a function, and memory that it allocates, in which nothing but strings were written, and
//! that go out as a whole: behind the 0 lies what lay there before.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{EffectKind, Local};
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::allocation::Allocation;
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::fill::{is_as_long, is_told_apart};
use super::filled_short::may_be_all;
use super::space;

/// An array that is filled so.
pub(crate) struct PartlyWritten<'f> {
    pub(crate) local: &'f Local,
    /// What writes a string there, and where.
    pub(crate) by: String,
    pub(crate) written: Span,
}

/// The array that an access copies whole, where all that is done to it before is that calls write
/// strings.
pub(crate) fn partly_written<'f>(
    function: &'f FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<PartlyWritten<'f>> {
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    let local = function.local_at(value.name()?, value.span)?;
    let count = access.bytes.as_ref()?.uncast().1;
    let allocated = match local.array {
        true => None,
        false => Some(
            Allocation::of(function, &local.name, access.span)
                .filter(|own| !own.zeroed && own.is_size(function, count))?,
        ),
    };
    let own = allocated.is_some() || !local.initialised && !local.lasting;
    own.then_some(())?;
    let mut written = Vec::new();
    let before = function.mentions(&local.name);
    let before = before.filter(|node| node.start_byte() < access.span.start);
    let mut set = Vec::new();
    for node in before.filter(|node| !local.declared.contains(span(*node))) {
        // That there is any, and where it comes from.
        if allocated.is_some() && !is_argument(function, node) || is_looked_at(function, node) {
            continue;
        }
        match element(function, node) {
            Some(own) => set.push(own),
            None => written.push((node, writing(function, node, DEPTH)?)),
        }
    }
    let among = |own: &Node<'_>| is_among(function, *own, &written);
    let all = |(place, _): &(Node<'_>, (String, Span))| is_by_rounds(function, *place);
    (set.iter().all(among) && !written.iter().any(all)).then_some(())?;
    let written = written.into_iter().map(|(_, own)| own);
    let (by, at) = written.min_by_key(|(_, at)| at.start)?;
    let whole = allocated.is_some()
        || space::array(function, local)
            .is_some_and(|own| may_be_all(function, count, own, access.span));
    // What stands on another side of an #if is not in the parse.
    let seen = !function.graph.unseen.contains(&local.name);
    (whole && seen).then_some(PartlyWritten {
        local,
        by,
        written: at,
    })
}

/// Whether a name stands in what a call is given, or an element of it is meant.
fn is_argument(function: &FunctionContext<'_>, variable: Node<'_>) -> bool {
    let around = function.around(variable);
    let mut around = around.take_while(|own| !own.is_statement());
    around.any(|own| {
        matches!(
            own.known_kind(),
            "argument_list" | "subscript_expression" | "pointer_expression"
        )
    })
}

/// The element that takes a value where an array is named: `buf[n - 1] = '\n'`.
fn element<'t>(function: &FunctionContext<'t>, variable: Node<'t>) -> Option<Node<'t>> {
    let element = function.above(variable)?;
    let array = element.part("argument").map(|own| own.id());
    let picked = element.known_kind() == "subscript_expression" && array == Some(variable.id());
    let around = function.above(element).filter(|_| picked)?;
    let takes = around.known_kind() == "assignment_expression"
        && around.part("left").map(|own| own.id()) == Some(element.id());
    takes.then_some(element)
}

/// Whether an element is one by itself, or one of those that are counted with what the calls write:
/// others in a loop may be all that there are.
fn is_among(
    function: &FunctionContext<'_>,
    element: Node<'_>,
    written: &[(Node<'_>, (String, Span))],
) -> bool {
    let around = std::iter::successors(element.parent(), Node::parent);
    let mut around = around.take_while(|own| *own != function.root);
    if !around.any(|own| LOOPS.contains(&own.known_kind())) {
        return true;
    }
    let index = element.part("index").map(|own| function.expression_of(own));
    let name = index.as_ref().and_then(|own| match &own.uncast().1.term {
        Term::Step(of) => of.name(),
        _ => own.uncast().1.name(),
    });
    name.is_some_and(|name| {
        let mut places = written.iter();
        places.any(|(place, _)| {
            begins_at(function, *place).is_some_and(|own| own.name() == Some(name))
        })
    })
}

/// How far behind the front a call writes that is given an array there: `buf + n`, `&buf[n]`.
fn begins_at(function: &FunctionContext<'_>, place: Node<'_>) -> Option<Expression> {
    let around = function.above(place)?;
    match &function.expression_of(around).term {
        Term::Binary(_, operator, by) if operator == "+" => Some(by.uncast().1.clone()),
        Term::Element { index, .. } => Some(index.uncast().1.clone()),
        _ => None,
    }
}

/// Whether calls write where the rounds of a loop say, and not behind what was written before: they may
/// fill all that there is.
fn is_by_rounds(function: &FunctionContext<'_>, place: Node<'_>) -> bool {
    let around = std::iter::successors(place.parent(), Node::parent);
    let mut around = around.take_while(|own| *own != function.root);
    let looped = around.any(|own| LOOPS.contains(&own.known_kind()));
    let Some(index) = begins_at(function, place).filter(|_| looped) else {
        return false;
    };
    let Some(name) = index.name() else {
        return matches!(index.term, Term::Binary(..));
    };
    let mut effects = function.graph.effects.iter();
    !effects.any(|own| {
        let grows = matches!(&own.kind, EffectKind::Write(write)
            if write.value.is_some() && write.constant.is_none());
        grows && function.graph.name_of(own) == name
    })
}

/// Whether a call reads the string from where it is named on, or an element of it is looked at.
fn is_looked_at(function: &FunctionContext<'_>, variable: Node<'_>) -> bool {
    let whole = |own: Node<'_>| {
        let operator = function.context.operator(own);
        match own.known_kind() {
            "binary_expression" => operator == b"+",
            "pointer_expression" => operator == b"&",
            kind => matches!(kind, "subscript_expression" | "parenthesized_expression"),
        }
    };
    let mut around = function.around(variable).skip_while(|own| whole(*own));
    let Some(holder) = around.next() else {
        return false;
    };
    match holder.known_kind() {
        "argument_list" => {
            let name = function
                .above(holder)
                .and_then(|call| function.callee(call));
            name.is_some_and(|name| {
                let words = function.file.words;
                words.fills(name).is_none() && !words.reads_strings(name).is_empty()
            })
        }
        "binary_expression" => true,
        _ => false,
    }
}

/// So many functions of the file may hand the array on, one to the other.
const DEPTH: usize = 2;

/// The call that writes a string into an array from where it is named on, or hands it to a function
/// of the file that does no more; none where anything else is done to it.
fn writing(
    function: &FunctionContext<'_>,
    variable: Node<'_>,
    depth: usize,
) -> Option<(String, Span)> {
    let mut node = variable;
    let arguments = loop {
        let parent = function.above(node)?;
        match parent.known_kind() {
            "argument_list" => break parent,
            "binary_expression" if function.context.operator(parent) == b"+" => {}
            "subscript_expression" | "parenthesized_expression" => {}
            "pointer_expression" if function.context.operator(parent) == b"&" => {}
            _ => return None,
        }
        node = parent;
    };
    let call = function.above(arguments)?;
    let name = function.callee(call)?;
    let own = || (name.to_owned(), span(call));
    let array = || space::array_bytes(function, &function.expression_of(variable));
    let Some(fills) = function.file.words.fills(name) else {
        // Memory may have been made of as many as it writes.
        if sets_front(function, call, (arguments, node)) {
            return array().map(|_| own());
        }
        let depth = depth.checked_sub(1)?;
        let mut cursor = arguments.walk();
        let mut all = arguments.named_children(&mut cursor);
        let at = all.position(|own| own.id() == node.id())?;
        return only_writes(function, name, at, depth).then(own);
    };
    let is_whole = || array().is_some_and(|size| is_as_long(function, call, name, size));
    let object = arguments.named_child(answer::fits(fills.object)?)?;
    let string = fills.count.is_none() && object.id() == node.id() && !is_whole();
    string.then(own)
}

/// Whether a call writes from the front of an array on as many bytes as a number says that is no
/// constant, and what it gives is no place from which the rounds of a loop go on:
/// `bin2hex(text, from, n)`.
fn sets_front(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    (arguments, object): (Node<'_>, Node<'_>),
) -> bool {
    let name = function.callee(call);
    let touches = name.and_then(|name| function.file.words.results().touches(name).first());
    let Some(own) = touches else { return false };
    let part = |at: usize| arguments.named_child(answer::fits(at)?);
    let is_it = part(own.object).is_some_and(|own| own.id() == object.id());
    let count = part(own.count).filter(|_| is_it);
    let Some(count) = count.map(|own| function.expression_of(own)) else {
        return false;
    };
    let open = space::bytes(function, &count).is_none() && !is_told_apart(function, &count);
    let goes_on = || {
        let place = function.taker(call);
        let mut named = place.as_ref().and_then(Expression::name).into_iter();
        named.any(|name| function.mentions(name).any(|own| is_in_loop(function, own)))
    };
    open && !goes_on()
}

fn is_in_loop(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node);
    around.any(|own| LOOPS.contains(&own.known_kind()))
}

/// Whether a function of the file does no more with what an argument leads to than to write strings
/// there.
fn only_writes(function: &FunctionContext<'_>, name: &str, at: usize, depth: usize) -> bool {
    let own = look_into(function, name, |callee| {
        let own = parameter(callee, at)?;
        let seen = !callee.graph.unseen.contains(&own);
        let mut places = callee.mentions(&own).peekable();
        let any = places.peek().is_some();
        (seen && any && places.all(|node| writing(callee, node, depth).is_some())).then_some(())
    });
    own.is_some()
}
