//! Memory that is made of as much as a copy of the user's says, and that is then taken to have as much
//! as a second copy of the same says.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fetch::Fetch;
use super::refetched::{conditions_from, front, is_compared, is_refused, is_set};

/// So many places of a function that a number is made of are asked for.
const MOST: usize = 64;

/// Memory that is made between two fetches.
struct Room {
    /// The variable that leads to it.
    memory: String,
    /// The members of the first copy that say how much it is.
    of: Vec<Expression>,
}

/// Whether memory is made of a number in the first copy, and the second fetch brings that number
/// anew, which then says how many bytes that memory has.
pub(crate) fn is_sized_again(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
) -> bool {
    if !first.counted || first.asked.is_some() || second.asked.is_some() {
        return false;
    }
    rooms(function, first, second)
        .iter()
        .any(|room| over(function, first, second, room) || in_memory(function, first, second, room))
}

fn rooms(function: &FunctionContext<'_>, first: &Fetch<'_>, second: &Fetch<'_>) -> Vec<Room> {
    let words = function.file.words;
    let allocates = |call: &Node<'_>| {
        let place = span(*call);
        let between = first.span.end <= place.start && place.end <= second.span.start;
        let name = function.callee(*call).filter(|_| between);
        name.is_some_and(|name| words.allocates(name).is_some())
    };
    if !function.calls.iter().any(allocates) {
        return Vec::new();
    }
    let between = Span::new(first.span.end, second.span.start);
    let taken = function.graph.assignments();
    let taken = taken.filter(|(_, value)| between.contains(*value));
    let rooms = taken.filter_map(|(name, value)| {
        let value = function.expression(value)?;
        let (callee, given) = value.uncast().1.call()?;
        let known = words.allocates(callee)?;
        let size = known.object.is_none().then_some(known.size);
        let sizes = size.into_iter().chain(known.count);
        let of = sizes.filter_map(|at| given.get(at));
        let of: Vec<Expression> = of
            .flat_map(|own| members(function, own, first, between))
            .collect();
        (!of.is_empty()).then(|| Room {
            memory: name.to_owned(),
            of,
        })
    });
    rooms.collect()
}

/// The members of the first copy that a number is made of, by a variable or at once.
fn members(
    function: &FunctionContext<'_>,
    number: &Expression,
    first: &Fetch<'_>,
    between: Span,
) -> Vec<Expression> {
    let mut found = members_in(number, &first.value_root);
    let names = names_in(number);
    let values = function.graph.assignments().filter(|(name, value)| {
        between.contains(*value) && value.end <= number.span.start && names.contains(*name)
    });
    for (_, value) in values.take(MOST) {
        let value = function.expression(value);
        found.extend(
            value
                .into_iter()
                .flat_map(|own| members_in(&own, &first.value_root)),
        );
    }
    found
}

fn members_in(own: &Expression, root: &str) -> Vec<Expression> {
    if matches!(own.term, Term::Member { .. }) && own.root().name() == Some(root) {
        return vec![own.clone()];
    }
    let parts = own.parts().into_iter();
    parts.flat_map(|part| members_in(part, root)).collect()
}

fn names_in(own: &Expression) -> HashSet<String> {
    let mut found: HashSet<String> = own.name().map(str::to_owned).into_iter().collect();
    for part in own.parts() {
        found.extend(names_in(part));
    }
    found
}

/// Whether the second fetch goes over the number in the first copy, and a call is given the memory
/// and that number behind it.
fn over(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    room: &Room,
) -> bool {
    let place = match second.value.as_ref().map(|own| &own.uncast().1.term) {
        Some(Term::Address(place)) => Some(&**place),
        _ if second.counted => None,
        _ => second.value.as_ref(),
    };
    let Some(place) = place.filter(|_| first.value_root == second.value_root) else {
        return false;
    };
    let again = |own: &&Expression| own.lies_in(place);
    let Some(number) = room.of.iter().find(again) else {
        return false;
    };
    let mut nodes = Vec::new();
    function.each_of(&["field_expression"], |node| {
        let behind = span(node).start >= second.span.end;
        if behind && function.expression_of(node).as_ref() == number {
            nodes.push(node);
        }
    });
    is_length_of(function, first, second, (&room.memory, &nodes))
}

/// Whether the second fetch fills the memory, and the number in that is what a call is given with
/// it.
fn in_memory(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    room: &Room,
) -> bool {
    if second.value_root != room.memory || first.value_root == room.memory || !second.counted {
        return false;
    }
    room.of.iter().any(|own| {
        let Term::Member { field, .. } = &own.term else {
            return false;
        };
        let nodes = front(function, first, second, field);
        is_length_of(function, first, second, (&room.memory, &nodes))
    })
}

/// Whether a number that stands in some places goes, by itself or by a variable, to a call that is
/// given the memory as well, and nothing has held it against anything.
fn is_length_of(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    (memory, nodes): (&str, &[Node<'_>]),
) -> bool {
    let asked = conditions_from(function, second.span.end);
    let calls = || function.calls.iter();
    let with_memory = |node: &Node<'_>| is_beside(function, *node, memory);
    let settled = |node: &Node<'_>| {
        let at = span(*node);
        let inside = || calls().any(|call| span(*call).contains(at));
        is_set(function, *node)
            || is_held_down(function, *node)
            || is_compared(function, first, *node) && !inside()
            || is_refused(function, *node) && !inside()
            || asked.iter().any(|own| own.contains(at)) && !inside()
    };
    if nodes.is_empty() || nodes.iter().any(settled) {
        return false;
    }
    let made = nodes.iter().flat_map(|node| {
        let mut values = function.graph.assignments();
        let own = values.find(|(_, value)| value.contains(span(*node)));
        own.map(|(name, value)| (name.to_owned(), value))
    });
    let by_variable = |(name, value): (String, Span)| {
        let takes = |call: &Node<'_>| takes(function, *call, memory, &name);
        let judges = |own: &Span| {
            let names = own.start >= value.end && function.graph.names(*own, &name);
            names && !calls().any(|call| own.contains(span(*call)) && takes(call))
        };
        let behind = |call: &Node<'_>| span(*call).start >= value.end && takes(call);
        !asked.iter().any(judges) && calls().any(behind)
    };
    nodes.iter().any(with_memory) || made.into_iter().any(by_variable)
}

/// `min(size, p->size)`
fn is_held_down<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> bool {
    let mut around = function.around(node).take_while(|own| !own.is_statement());
    around.any(|own| {
        let name = function
            .callee(own)
            .filter(|_| own.known_kind() == "call_expression");
        name.is_some_and(|name| function.file.words.gives_least(name))
    })
}

/// Whether a call that a node is an argument of is given the memory as well.
fn is_beside<'t>(function: &FunctionContext<'t>, node: Node<'t>, memory: &str) -> bool {
    let mut around = function.around(node).take_while(|own| !own.is_statement());
    around.any(|own| {
        let whole = function.expression_of(own);
        let call = own.known_kind() == "call_expression";
        let given = whole.call().filter(|_| call);
        given.is_some_and(|(_, given)| {
            given
                .iter()
                .any(|own| own.uncast().1.name() == Some(memory))
        })
    })
}

/// Whether a call is given the memory and a variable, each as it is.
fn takes(function: &FunctionContext<'_>, call: Node<'_>, memory: &str, name: &str) -> bool {
    let whole = function.expression_of(call);
    let given = whole.call().map_or(&[][..], |(_, given)| given);
    let has = |wanted: &str| {
        given
            .iter()
            .any(|own| own.uncast().1.name() == Some(wanted))
    };
    has(memory) && has(name)
}
