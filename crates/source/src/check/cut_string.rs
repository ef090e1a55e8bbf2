//! Strings of the user's that may have been cut off, so that no 0 stands behind them.

use std::cell::OnceCell;

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::allocation::Allocation;
use super::context::FunctionContext;
use super::fate::taken;
use super::limit::{changed, limit};
use super::space;
use super::unbounded::is_put_over;
use super::valued::reached_with;

/// A string that was copied by a call which leaves the 0 out where there is no room for it.
pub(crate) struct CutString {
    /// Where it is copied to.
    pub(crate) object: Expression,
    /// What copies it.
    pub(crate) name: String,
}

/// The string that a call copies, where nothing asks whether it was cut off, and nothing
/// puts a 0 behind it.
pub(crate) fn cut_string(function: &FunctionContext<'_>, call: Node<'_>) -> Option<CutString> {
    let name = function.callee(call)?;
    let cuts = function.file.words.cuts(name)?;
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let object = given.get(cuts.object)?.uncast().1;
    let count = given.get(cuts.count)?;
    let root = object.root().name()?;
    let known = !fills(function, object, count)
        || is_asked(function, call, (root, count))
        || is_ended(function, object, root)
        || !is_used(function, object, root, call);
    (!known).then(|| CutString {
        object: object.clone(),
        name: name.to_owned(),
    })
}

/// Whether so many bytes are all that the object has: of a variable its size, of memory what
/// was allocated, of the caller's what the caller says. `sizeof(name) - 1` leaves room, which holds
/// a 0 if anything put one there.
fn fills(function: &FunctionContext<'_>, object: &Expression, count: &Expression) -> bool {
    let Some(name) = object.name() else {
        return is_member_of(function, object, count);
    };
    let kept = |own: &Expression| {
        let own = own.uncast().1.name();
        own.is_some_and(|own| function.is_parameter(own) && !function.graph.takes_a_value(own))
    };
    let size = || space::array(function, function.local_at(name, object.span)?);
    // Where nothing lay before, room that is left for a 0 does not hold one.
    let local = function.local_at(name, object.span);
    let bare = local.is_some_and(|own| own.array && !own.initialised && !own.lasting)
        && !is_put_over(function, name, count.span);
    let memory = || Allocation::of(function, name, count.span);
    match space::bytes(function, count) {
        Some(bytes) if bare => size().is_some_and(|size| bytes <= size),
        Some(bytes) => {
            let all = |own: Allocation| is_no_more(function, &own, (name, bytes), count.span);
            size() == Some(bytes) || memory().is_some_and(all)
        }
        None => {
            let bytes = count.uncast().1;
            let all =
                |own: Allocation| own.is_of(count) || leaves_room(function, &own, (name, bytes));
            let allocated = memory().is_some_and(all);
            let most = || limit(function, count.uncast().1, count.span)?.value;
            let as_large =
                |most: u64| size().is_some_and(|size| most == size || bare && most < size);
            let bounded = || most().is_some_and(as_large);
            allocated || kept(object) && kept(count) || bounded()
        }
    }
}

/// Whether so many bytes are all of some memory, or leave room in which nothing has put a 0.
fn is_no_more(
    function: &FunctionContext<'_>,
    memory: &Allocation,
    (name, bytes): (&str, u64),
    at: Span,
) -> bool {
    let bare = || !memory.zeroed && !is_put_over(function, name, at);
    let size = memory.bytes(function);
    size.is_some_and(|size| bytes == size || bytes < size && bare())
}

/// The same of a number: `kmalloc(n + 1)`, of which a string takes `n`.
fn leaves_room(
    function: &FunctionContext<'_>,
    memory: &Allocation,
    (name, bytes): (&str, &Expression),
) -> bool {
    let size = memory.size().filter(|_| !memory.zeroed);
    let one_more = size.is_some_and(|size| match &size.uncast().1.term {
        Term::Binary(left, sign, right) => {
            let sides = [(&**left, &**right), (&**right, &**left)];
            let more = |(own, more): &(&Expression, &Expression)| {
                own.uncast().1 == bytes && space::bytes(function, more).is_some()
            };
            sign == "+" && sides.iter().any(more)
        }
        _ => false,
    });
    one_more
        && !changed(function, bytes, memory.place, bytes.span)
        && !is_put_over(function, name, bytes.span)
}

/// Whether so many bytes are those of an array that is a member.
fn is_member_of(function: &FunctionContext<'_>, object: &Expression, count: &Expression) -> bool {
    let of = space::type_of(function, object);
    let array = of.filter(|of| matches!(of.shape, Shape::Array(..)));
    array.is_some_and(|of| space::bytes(function, count) == Some(of.size))
}

/// Whether anything compares the result with more than 0, or hands it on.
fn is_asked(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    (root, count): (&str, &Expression),
) -> bool {
    let Some(own) = taken(function, call) else {
        // Asked at once, it is asked for less than 0; of what is 0 nothing is cut off.
        let around = function.above(call).map(|own| own.known_kind());
        return around != Some("binary_expression");
    };
    let Some(effect) = function.graph.effects.get(own.effect) else {
        return true;
    };
    let name = function.graph.name_of(effect);
    let counted = counts_an_end(function, name);
    let open = OnceCell::new();
    let read = || *open.get_or_init(|| is_read_full(function, call, (name, root), count));
    let still = OnceCell::new();
    let is_still = |node: Node<'_>| {
        let nodes = function.touching(span(node));
        let reached = still.get_or_init(|| reached_unchanged(function, name, span(call)));
        nodes.is_empty() || nodes.iter().any(|node| reached.contains(node))
    };
    let mut asked = false;
    function.each_of(
        &[
            "binary_expression",
            "assignment_expression",
            "init_declarator",
            "subscript_expression",
            "argument_list",
        ],
        |node| {
            let expression = || Expression::of(function.context, node);
            let own = match node.known_kind() {
                "binary_expression" => {
                    let own = expression();
                    tells_length(function, &own, name, count)
                        && !(is_of_constant(function, &own) && read())
                }
                // Its value goes elsewhere: `n = ret`, `f(ret)`, `p[ret] = 0`.
                "assignment_expression" | "init_declarator" | "subscript_expression" => {
                    !span(node).contains(span(call)) && takes(function, node, name)
                }
                "argument_list" => {
                    !counted && !is_hint(function, node) && holds(function, node, name)
                }
                _ => false,
            };
            asked |= own && is_still(node);
        },
    );
    asked
}

/// The nodes to which a variable comes with what a call gave it.
fn reached_unchanged(function: &FunctionContext<'_>, name: &str, call: Span) -> HashSet<usize> {
    let graph = function.graph;
    let replaces = |own: &Effect| match &own.kind {
        EffectKind::Write(write) => {
            let value = write.value.filter(|_| !write.compound && !write.optional);
            value.is_some_and(|value| !value.contains(call))
                && graph.name_of(own) == name
                && graph.is_whole(own)
        }
        _ => false,
    };
    graph.reached_behind_any(function.touching(call), |node| {
        graph.effects_at(node).iter().any(replaces)
    })
}

/// Whether one side of a comparison is a constant, so that it is known which way a string takes
/// that has no 0.
fn is_of_constant(function: &FunctionContext<'_>, own: &Expression) -> bool {
    match &own.term {
        Term::Binary(left, _, right) => {
            let mut sides = [left, right].into_iter();
            sides.any(|own| space::bytes(function, own.uncast().1).is_some())
        }
        _ => false,
    }
}

/// Whether the string is read where the result is as much as the call gives at most, whatever
/// is asked of it: `if (len < 3) … else …` has both ways read it.
fn is_read_full(
    function: &FunctionContext<'_>,
    call: Node<'_>,
    (name, root): (&str, &str),
    count: &Expression,
) -> bool {
    let only = function.graph.only_value(name);
    let full = only.filter(|own| own.contains(span(call)));
    let Some(full) = full.and_then(|_| space::bytes(function, count.uncast().1)) else {
        return false;
    };
    let ways = reached_with(function, (name, full), span(call));
    let own = function.reads(root);
    let mut own = own.filter(|own| own.span.start >= span(call).end);
    own.any(|own| {
        let mut nodes = function.touching(own.span).into_iter();
        !function.is_freed(own.span) && nodes.any(|node| ways.contains(&node))
    })
}

/// Whether the variable is made one more, as of a string whose 0 is there: who is given it then
/// takes that for granted.
fn counts_an_end(function: &FunctionContext<'_>, name: &str) -> bool {
    let mut counts = false;
    function.each_of(&["update_expression", "assignment_expression"], |node| {
        let own = Expression::of(function.context, node);
        counts |= match &own.term {
            Term::Step(of) => of.name() == Some(name) && function.context.operator(node) == b"++",
            Term::Assignment(left, operator, _) => left.name() == Some(name) && operator == "+=",
            _ => false,
        };
    });
    counts
}

/// `ret >= n`, `ret == n`: not `ret < 0`, `ret <= 0` and the like, nor whether it is more than the
/// call gives at most: `ret > n`.
fn tells_length(
    function: &FunctionContext<'_>,
    own: &Expression,
    name: &str,
    count: &Expression,
) -> bool {
    let Term::Binary(left, operator, right) = &own.term else {
        return false;
    };
    let named = |own: &Expression| own.uncast().1.name() == Some(name);
    let most = |own: &Expression| {
        let own = own.uncast().1;
        let bytes = || space::bytes(function, own);
        own == count.uncast().1
            || bytes().is_some_and(|own| Some(own) == space::bytes(function, count))
    };
    let never = |more: &str, other: &Expression| operator == more && most(other);
    compares(operator)
        && (named(left) && !right.is_zero() && !never(">", right)
            || named(right) && !left.is_zero() && !never("<", left))
}

/// Whether the value of a node is made of the variable.
fn takes(function: &FunctionContext<'_>, node: Node<'_>, name: &str) -> bool {
    let part = ["right", "value", "index"]
        .into_iter()
        .find_map(|field| node.part(field));
    part.is_some_and(|part| {
        let own = Expression::of(function.context, part);
        own.any(&|part| part.name() == Some(name))
    })
}

/// `unlikely(…)` asks nothing but what stands in it.
fn is_hint<'t>(function: &FunctionContext<'t>, list: Node<'t>) -> bool {
    let call = function.above(list);
    let vocabulary = &function.context.vocabulary;
    call.is_some_and(|call| vocabulary.is_transparent(function.called(call)))
}

/// Whether an argument names the variable, but for a line of the log.
fn holds(function: &FunctionContext<'_>, list: Node<'_>, name: &str) -> bool {
    let mut cursor = list.walk();
    let mut all = list.named_children(&mut cursor);
    let text = |own: Node<'_>| matches!(own.known_kind(), "string_literal" | "concatenated_string");
    let mut named = false;
    let told = all.any(|own| {
        named |= Expression::of(function.context, own).any(&|part| part.name() == Some(name));
        text(own)
    });
    named && !told
}

/// Whether anything sets an element of the object: a 0 behind the string.
fn is_ended(function: &FunctionContext<'_>, object: &Expression, root: &str) -> bool {
    let graph = function.graph;
    if matches!(object.term, Term::Member { .. }) {
        let mut ended = false;
        function.each_of(&["assignment_expression"], |node| {
            let left = node.part("left").filter(|_| !ended);
            let left = left.map(|left| Expression::of(function.context, left));
            ended |= left.is_some_and(|left| left.any(&|part| part == object));
        });
        return ended;
    }
    let mut effects = graph.effects.iter();
    effects.any(|effect| {
        let stores = matches!(&effect.kind, EffectKind::Write(own) if own.value.is_some());
        stores && graph.name_of(effect) == root && !graph.is_whole(effect)
    })
}

/// Whether the string goes anywhere behind the call, or others have what it lies in.
fn is_used(
    function: &FunctionContext<'_>,
    object: &Expression,
    root: &str,
    call: Node<'_>,
) -> bool {
    let mut reads = function.reads(root);
    let others = || matches!(object.term, Term::Member { .. }) && object.pointer().is_some();
    function.is_parameter(root)
        || others()
        || reads.any(|own| own.span.start >= span(call).end && !function.is_freed(own.span))
}
