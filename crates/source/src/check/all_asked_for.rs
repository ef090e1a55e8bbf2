//! As many bytes as were asked for, where a call has said how many it gave: the rest of what goes out
//! is what lay there before.

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::{Action, Effect, EffectKind, Node as Step};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::allocation::Allocation;
use super::context::FunctionContext;
use super::fate::taken;
use super::filled_short::changes;
use super::space;
use super::unbounded::is_put_over;

/// A copy of more than was given.
pub(crate) struct AllAskedFor {
    /// The memory that goes out.
    pub(crate) object: String,
    /// What fills it, and what says how far.
    pub(crate) by: String,
    pub(crate) given: String,
    /// Where it is filled.
    pub(crate) filled: Span,
}

/// What an access copies so: `got = read(d, buf, want); copy_to_user(to, buf, want); at += got;`
pub(crate) fn all_asked_for(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<AllAskedFor> {
    let count = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let object = value.uncast().1.name()?;
    let before = function.calls.iter();
    let before = before.filter(|call| call.end_byte() <= access.span.start);
    let mut own = before.filter_map(|call| {
        let name = function.callee(*call)?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let has = |own: &dyn Fn(&Expression) -> bool| given.iter().any(|part| own(part.uncast().1));
        let asks = has(&|part| part.name() == Some(object)) && has(&|part| part == count);
        let words = function.file.words;
        let known = words.access(name).is_some() || words.fills(name).is_some();
        (asks && !known && words.clears(name).is_none()).then_some(())?;
        let result = function.graph.effects.get(taken(function, *call)?.effect)?;
        let tells = words.results().gets(name).is_some_and(|own| {
            let at = |at: usize| given.get(at).map(|own| own.uncast().1);
            at(own.object).and_then(Expression::name) == Some(object)
                && at(own.count) == Some(count)
        });
        Some((name, result, span(*call), tells))
    });
    let (by, result, filled, tells) = own.next()?;
    let given = function.graph.name_of(result);
    let only = own.next().is_none()
        && count.root().name() != Some(given)
        && is_bare(function, object, filled);
    let open = only && !is_held_against(function, given);
    let kept = || {
        let between = (filled, access.span);
        !changes(function, &[count], between) && !is_given_on(function, object, between)
    };
    let counts = || {
        let open = tells || is_never_read(function, given);
        open && kept() && is_all(function, object, (count, access.span))
            || counts_on(function, result, filled)
    };
    (open && counts()).then(|| AllAskedFor {
        object: object.to_owned(),
        by: by.to_owned(),
        given: given.to_owned(),
        filled,
    })
}

/// Whether a number is how large the memory is: another one may be how much there is to give.
fn is_all(function: &FunctionContext<'_>, object: &str, (count, at): (&Expression, Span)) -> bool {
    match function.local_at(object, at) {
        Some(local) if local.array => {
            let size = space::array(function, local);
            size.is_some() && space::bytes(function, count) == size
        }
        _ => Allocation::of(function, object, at).is_some_and(|own| own.is_size(function, count)),
    }
}

/// Whether another call is given the memory between two places, which may fill the rest.
fn is_given_on(function: &FunctionContext<'_>, object: &str, (from, to): (Span, Span)) -> bool {
    let calls = function.calls.iter();
    let mut between =
        calls.filter(|own| own.start_byte() >= from.end && own.end_byte() <= to.start);
    between.any(|call| {
        let whole = function.expression_of(*call);
        let mut given = whole.call().into_iter().flat_map(|(_, given)| given);
        given.any(|own| own.any(&|part| part.name() == Some(object)))
    })
}

/// Whether nothing looks at a variable: what a call has given lies unused.
fn is_never_read(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    let local = graph
        .local(name)
        .is_some_and(|own| own.plain && !own.lasting);
    local
        && !graph.unseen.contains(name)
        && effects.all(|own| {
            graph.name_of(own) != name
                || matches!(&own.kind, EffectKind::Write(own) if !own.compound)
        })
}

/// Whether nothing has set what lies there before a place: in an array or memory of the function's.
fn is_bare(function: &FunctionContext<'_>, name: &str, at: Span) -> bool {
    let local = function.local_at(name, at);
    let array = local.is_some_and(|own| own.array && !own.initialised && !own.lasting);
    let memory = || Allocation::of(function, name, at).is_some_and(|own| !own.zeroed);
    (array || memory()) && !is_put_over(function, name, at)
}

/// Whether the function goes on by as much as a call has given, before the variable takes anything
/// else: `pos += n`, `left -= n`; or gives that to a program which has asked to read so many.
fn counts_on(function: &FunctionContext<'_>, result: &Effect, call: Span) -> bool {
    let graph = function.graph;
    let name = graph.name_of(result);
    let places = counting(function, name);
    let mut handlers = function.file.handlers(function.body);
    let read = handlers.any(|own| own.position.is_some()) && !is_asked_for_success(function, name);
    if places.is_empty() && !read {
        return false;
    }
    let again = |node: &Step| {
        let mut own = graph.effects_at(node).iter();
        own.any(|own| {
            let writes = matches!(own.kind, EffectKind::Write(_)) && own.place == result.place;
            writes && own.span != result.span
        })
    };
    let reached = graph.reached_behind_any(graph.nodes_in(call), again);
    let gives = |node: &Step| matches!(&node.action, Action::Exit { returned, .. } if *returned == Some(result.place));
    let counts = |at: &usize| {
        let mut own = graph.effects_of(*at).iter();
        let given = || read && graph.nodes.get(*at).is_some_and(gives);
        own.any(|own| own.place == result.place && places.iter().any(|at| at.contains(own.span)))
            || given()
    };
    reached.iter().any(counts)
}

/// Where a function goes on by as much as a variable says.
fn counting(function: &FunctionContext<'_>, name: &str) -> Vec<Span> {
    let mut places = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        let counts = match &function.expression_of(node).term {
            Term::Assignment(_, operator, by) => {
                matches!(operator.as_str(), "+=" | "-=") && by.uncast().1.name() == Some(name)
            }
            _ => false,
        };
        places.extend(counts.then(|| span(node)));
    });
    places
}

/// Whether anything asks of the variable whether it is 0, as of an error number.
fn is_asked_for_success(function: &FunctionContext<'_>, name: &str) -> bool {
    let mut asked = false;
    function.each_of(
        &["if_statement", "unary_expression", "binary_expression"],
        |node| {
            let of = match node.known_kind() {
                "if_statement" => node.part("condition"),
                "unary_expression" => node
                    .part("argument")
                    .filter(|_| function.context.operator(node) == b"!"),
                _ => {
                    let alike = matches!(function.context.operator(node), b"==" | b"!=");
                    Some(node).filter(|_| alike)
                }
            };
            let of = of.map(|own| function.expression_of(own));
            asked |= of.is_some_and(|own| match &own.term {
                Term::Binary(left, operator, right) => {
                    matches!(operator.as_str(), "==" | "!=")
                        && (left.name() == Some(name) || right.name() == Some(name))
                }
                _ => own.name() == Some(name),
            });
        },
    );
    asked
}

/// Whether anything compares the variable with more than 0.
fn is_held_against(function: &FunctionContext<'_>, name: &str) -> bool {
    let mut held = false;
    function.each_of(&["binary_expression"], |node| {
        let compares = compares(function.context.operator(node));
        if held || !compares || !function.graph.names(span(node), name) {
            return;
        }
        if let Term::Binary(left, _, right) = &function.expression_of(node).term {
            held = !left.is_zero() && !right.is_zero();
        }
    });
    held
}
