//! Arrays of a function, and memory that it allocates, in which nothing but strings were written, and
//! that go out as a whole: behind the 0 lies what lay there before.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::flow::Local;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::allocation::Allocation;
use super::callee::{look_into, parameter};
use super::context::FunctionContext;
use super::fill::is_as_long;
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
    for node in before.filter(|node| !local.declared.contains(span(*node))) {
        // That there is any, and where it comes from.
        if allocated.is_some() && !is_argument(function, node) {
            continue;
        }
        written.push(writing(function, node, DEPTH)?);
    }
    let (by, at) = written.into_iter().next()?;
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
    let Some(fills) = function.file.words.fills(name) else {
        let depth = depth.checked_sub(1)?;
        let mut cursor = arguments.walk();
        let mut all = arguments.named_children(&mut cursor);
        let at = all.position(|own| own.id() == node.id())?;
        return only_writes(function, name, at, depth).then(own);
    };
    let is_whole = || {
        let size = space::array_bytes(function, &function.expression_of(variable));
        size.is_some_and(|size| is_as_long(function, call, name, size))
    };
    let object = arguments.named_child(answer::fits(fills.object)?)?;
    let string = fills.count.is_none() && object.id() == node.id() && !is_whole();
    string.then(own)
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
