//! Memory without a value that calls fill as far as one number says, and that is copied by a larger
//! one.

use tollgate_defect::answer;
use tree_sitter::Node;

use crate::calls::Rounds;
use crate::expression::{Expression, Term};
use crate::flow::{EffectKind, Local};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::allocation::Allocation;
use super::context::FunctionContext;
use super::fill::is_told_apart;
use super::space;

/// What is filled so.
pub(crate) struct FilledShort<'f> {
    pub(crate) local: &'f Local,
    /// Where it is filled, and how far.
    pub(crate) filled: Span,
    pub(crate) count: Span,
}

/// So many places at which one variable is named are asked.
const FEW: usize = 24;

/// What an access copies more of than the calls before it have filled.
pub(crate) fn filled_short<'f>(
    function: &'f FunctionContext<'_>,
    access: &Access<'_>,
) -> Option<FilledShort<'f>> {
    let all = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let local = function.local_at(value.uncast().1.name()?, access.span)?;
    let array = local.array && !local.initialised && !local.lasting;
    let memory = || Allocation::of(function, &local.name, access.span).filter(|own| !own.zeroed);
    let allocated = (!array).then(memory).flatten();
    (array || allocated.is_some()).then_some(())?;
    let from = allocated.map_or(local.declared, |own| own.place);
    let named = function.mentions(&local.name);
    let named =
        named.filter(|own| own.start_byte() >= from.end && span(*own).end <= access.span.start);
    let mut found: Option<FilledShort<'f>> = None;
    for (times, node) in named
        .filter(|own| local.scope.contains(span(*own)))
        .enumerate()
    {
        if function.stops_at(times, FEW) {
            return None;
        }
        if is_left_alone(function, node) {
            continue;
        }
        let (call, count) = counted(function, node)?;
        let own = is_less(function, &count, all) && !is_told_apart(function, &count);
        let changed = changes(function, &[&count, all], (span(call), access.span));
        (own && !changed).then_some(())?;
        found.get_or_insert(FilledShort {
            local,
            filled: span(call),
            count: count.span,
        });
    }
    found.filter(|_| !function.graph.unseen.contains(&local.name))
}

/// Whether nothing is done there with what a pointer leads to: it is asked for, given back, measured.
fn is_left_alone(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let Some(parent) = function.above(node) else {
        return false;
    };
    match parent.known_kind() {
        "unary_expression" | "parenthesized_expression" | "sizeof_expression" => true,
        "binary_expression" => matches!(
            function.context.operator(parent),
            b"&&" | b"||" | b"==" | b"!="
        ),
        "argument_list" => {
            let name = function
                .above(parent)
                .and_then(|call| function.callee(call));
            name.is_some_and(|name| function.file.words.frees(name))
        }
        _ => false,
    }
}

/// The call that is given memory from its front on, and how many bytes it is told: by an argument that
/// is known, or the next one to it.
fn counted<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> Option<(Node<'t>, Expression)> {
    let mut around = function.around(node);
    let arguments = around.find(|own| own.known_kind() != "cast_expression")?;
    (arguments.known_kind() == "argument_list").then_some(())?;
    let call = function.above(arguments)?;
    let name = function.callee(call)?;
    let mut cursor = arguments.walk();
    let mut all = arguments.named_children(&mut cursor);
    let at = all.position(|own| span(own).contains(span(node)))?;
    let words = function.file.words;
    let count = match words.fills(name) {
        Some(own) => own.count.filter(|_| own.object == at)?,
        None if words.access(name).is_some() || words.clears(name).is_some() => return None,
        None => at.checked_add(1)?,
    };
    let count = arguments.named_child(answer::fits(count)?)?;
    Some((call, Expression::of(function.context, count)))
}

/// Whether anything gives a variable of these another value between two places.
pub(crate) fn changes(
    function: &FunctionContext<'_>,
    of: &[&Expression],
    (from, to): (Span, Span),
) -> bool {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    effects.any(|own| {
        let between = own.span.start >= from.end && own.span.end <= to.start;
        let written = matches!(
            own.kind,
            EffectKind::Write(_) | EffectKind::Handed { by_address: true }
        );
        let name = graph.name_of(own);
        between
            && written
            && of
                .iter()
                .any(|whole| whole.any(&|part| part.name() == Some(name)))
    })
}

/// What a variable was given, where that is all that it ever takes.
fn made(function: &FunctionContext<'_>, of: &Expression) -> Option<Expression> {
    let value = function.graph.only_value(of.name()?)?;
    Some(function.expression(value)?.uncast().1.clone())
}

/// Whether one number may be less than another, and never is more: `min(n, most)` of `n`,
/// `round_down(n, 4)` of `n`, `n` of `round_up(n, 4)`.
fn is_less(function: &FunctionContext<'_>, small: &Expression, all: &Expression) -> bool {
    let small = small.uncast().1;
    let from_made = || made(function, small).is_some_and(|own| is_cut_of(function, &own, all));
    let grown = |own: &Expression| is_grown_of(function, own, small);
    let less = || {
        is_cut_of(function, small, all)
            || from_made()
            || grown(all)
            || made(function, all).is_some_and(|own| grown(&own))
    };
    small != all && less()
}

/// `min(n, most)`, `round_down(n, 4)`, `n & ~3`, `n - 1`, `n / 4 * 4`
fn is_cut_of(function: &FunctionContext<'_>, own: &Expression, all: &Expression) -> bool {
    let words = function.file.words;
    let same = |own: &Expression| own.uncast().1 == all;
    match &own.term {
        Term::Call(..) => own.call().is_some_and(|(name, given)| {
            let cut = words.rounds(name) == Some(Rounds::Down) && given.first().is_some_and(same);
            cut || words.gives_least(name) && is_least(function, given, all)
        }),
        Term::Binary(left, operator, right) => match operator.as_str() {
            "&" => same(left) && matches!(&right.uncast().1.term, Term::Unary(by, _) if by == "~"),
            "-" => same(left) && space::bytes(function, right).is_some_and(|own| own > 0),
            "*" => matches!(&left.uncast().1.term, Term::Binary(whole, by, part)
                if by == "/" && same(whole) && part.uncast().1 == right.uncast().1),
            "<<" => matches!(&left.uncast().1.term, Term::Binary(whole, by, part)
                if by == ">>" && same(whole) && part.uncast().1 == right.uncast().1),
            _ => false,
        },
        _ => false,
    }
}

/// Whether the least of some numbers is no more than another, but may be less: it is one of them, or
/// not smaller than a constant that is.
fn is_least(function: &FunctionContext<'_>, given: &[Expression], all: &Expression) -> bool {
    let given: Vec<&Expression> = given.iter().map(|own| own.uncast().1).collect();
    let bytes: Vec<Option<u64>> = given
        .iter()
        .map(|own| space::bytes(function, own))
        .collect();
    let open = bytes.iter().any(Option::is_none);
    match space::bytes(function, all) {
        Some(whole) => open && bytes.iter().flatten().any(|own| *own <= whole),
        None => given.contains(&all),
    }
}

/// `round_up(n, 4)`, `n + 1`
fn is_grown_of(function: &FunctionContext<'_>, own: &Expression, small: &Expression) -> bool {
    let same = |own: &Expression| own.uncast().1 == small;
    match &own.term {
        Term::Call(..) => own.call().is_some_and(|(name, given)| {
            let up = function.file.words.rounds(name) == Some(Rounds::Up);
            up && given.first().is_some_and(same)
        }),
        Term::Binary(left, operator, right) if operator == "+" => {
            same(left) && space::bytes(function, right).is_some_and(|own| own > 0)
        }
        _ => false,
    }
}

/// Whether a number of bytes is all of an object or a smaller one: `sizeof(x)` by whatever name, the
/// least of that and what the function is given, a variable that takes it on a way to a place.
pub(crate) fn may_be_all(
    function: &FunctionContext<'_>,
    count: &Expression,
    size: u64,
    at: Span,
) -> bool {
    let count = count.uncast().1;
    match &count.term {
        Term::Call(..) => is_size_or_given(function, count, size),
        Term::Name(name) if space::bytes(function, count).is_none() => {
            let values = function.graph.assignments().filter(|(own, _)| *own == name);
            let mut values = values.filter(|(_, value)| {
                let value = function.expression(*value);
                value.is_some_and(|own| {
                    let own = own.uncast().1;
                    space::bytes(function, own) == Some(size)
                        || is_size_or_given(function, own, size)
                })
            });
            values.any(|(_, value)| {
                !is_clamp(function, name, value) && comes_as_it_is(function, name, (value, at))
            })
        }
        _ => space::bytes(function, count) == Some(size),
    }
}

/// `min(n, sizeof(x))` of a parameter: what is measured by something else may be how much there is.
fn is_size_or_given(function: &FunctionContext<'_>, least: &Expression, size: u64) -> bool {
    least.call().is_some_and(|(name, given)| {
        let sized = |own: &Expression| space::bytes(function, own.uncast().1) == Some(size);
        let asked = |own: &Expression| {
            let own = own.uncast().1.name();
            own.is_some_and(|own| function.is_parameter(own) && !function.graph.takes_a_value(own))
        };
        function.file.words.gives_least(name) && given.iter().any(sized) && given.iter().any(asked)
    })
}

/// Whether a variable takes a value there only where it is asked for itself: `if (n > N) n = N;`
fn is_clamp(function: &FunctionContext<'_>, name: &str, value: Span) -> bool {
    let node = function
        .root
        .descendant_for_byte_range(value.start, value.end);
    let around = std::iter::successors(node, Node::parent);
    let mut around =
        around.filter(|own| matches!(own.known_kind(), "if_statement" | "conditional_expression"));
    around.any(|own| {
        let asked = own.part("condition");
        asked.is_some_and(|own| function.graph.names(span(own), name))
    })
}

/// Whether a value that a variable takes comes to a place on some way.
pub(crate) fn comes_as_it_is(
    function: &FunctionContext<'_>,
    name: &str,
    (value, at): (Span, Span),
) -> bool {
    let graph = function.graph;
    // What it takes last at a node, or else whether it takes anything.
    let last = |node: usize| {
        let effects = graph.effects_of(node).iter().rev();
        let mut taken = effects.filter_map(|effect| match &effect.kind {
            EffectKind::Write(write) if graph.name_of(effect) == name => Some(write.value),
            _ => None,
        });
        taken.next()
    };
    let own = |node: usize| last(node) == Some(Some(value));
    let from = (0..graph.nodes.len()).filter(|at| own(*at));
    let next = from.filter_map(|own| graph.nodes.get(own));
    let next: Vec<usize> = next
        .flat_map(|own| own.next.iter().map(|(_, to)| *to))
        .collect();
    let reached = graph.reached_past(next, |node, _| last(node).is_some());
    // What is done before a call stands at its node.
    let mut nodes = graph.nodes_in(at);
    nodes.any(|at| reached.contains(&at) || own(at))
}
