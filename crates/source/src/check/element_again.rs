//! Elements of an array, and members behind a pointer, that are fetched and judged, and fetched again
//! with all of what they lie in.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::fetch::{Fetch, is_member_behind};
use super::fetched::{is_all_of, is_told};
use super::refetched::{is_compared, is_refused, is_set};

/// So many elements of a function are asked whether a way leads to them.
const LOOKS: usize = 64;

/// Whether the second fetch fills an array of which the first has filled an element that was judged,
/// and that is used as it came the second time.
pub(crate) fn is_element_again(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    conditions: impl FnOnce() -> Vec<Span>,
) -> bool {
    let root = second.value_root.as_str();
    let over = first.value_root == root;
    if !over && first.counted || !second.counted || root.is_empty() {
        return false;
    }
    let Some(only) = fetched_again(first, second) else {
        return false;
    };
    if !function
        .local_at(root, second.span)
        .is_some_and(|own| own.array)
    {
        return false;
    }
    // Who fetches hundreds of times is asked of the first alone.
    if function.pays().is_none() {
        return false;
    }
    let conditions = conditions();
    let (mut asked, mut used, mut again) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let calls = judging(function, (first, second), &conditions);
    // One that was fetched into a variable of its own.
    let names = |own: &Span| function.graph.names(*own, &first.value_root);
    if !over && conditions.iter().any(names) {
        asked.extend(only.clone());
    }
    let mut times = 0;
    function.each_of(&["subscript_expression"], |node| {
        let Some(at) = element(&function.expression_of(node), root) else {
            return;
        };
        let place = span(node);
        if place.start >= second.span.end {
            times += 1;
            // Another case of a `switch` has its own.
            let far = function.stops_at(times, LOOKS);
            if !far && !function.comes_to(second.span, place) {
                return;
            }
            let compared = is_compared(function, first, node) || is_refused(function, node);
            let settled = compared || is_set(function, node);
            let judged = settled || is_given_to(function, node, &calls);
            match judged {
                true => again.insert(at),
                false => used.insert(at),
            };
        } else if over && place.start >= first.span.end && place.end <= second.span.start {
            let holds = |own: &Span| own.contains(place);
            let told = conditions.iter().any(holds) || calls.iter().any(|(at, _)| holds(at));
            if told {
                asked.insert(at);
            }
        }
    });
    if let Some(only) = only {
        asked.retain(|own| *own == only);
    }
    let whole = is_handed_whole(function, root, second);
    asked
        .iter()
        .any(|own| !again.contains(own) && (used.contains(own) || whole))
}

/// Which element a second fetch has again, or that it has all of them; none where it has others.
fn fetched_again(first: &Fetch<'_>, second: &Fetch<'_>) -> Option<Option<String>> {
    match first.counted {
        true => (first.address == second.address).then_some(None),
        false => element_of(&first.address, &second.address).map(Some),
    }
}

/// The number of the element, of those that lie at an address, whose address another is: `&u[1]`.
fn element_of(address: &Expression, whole: &Expression) -> Option<String> {
    let Term::Address(place) = &address.term else {
        return None;
    };
    let Term::Element { array, index } = &place.term else {
        return None;
    };
    let Term::Number(at) = &index.uncast().1.term else {
        return None;
    };
    (**array == *whole).then(|| at.clone())
}

/// The number of an element of a variable.
fn element(own: &Expression, root: &str) -> Option<String> {
    let Term::Element { array, index } = &own.term else {
        return None;
    };
    match &index.uncast().1.term {
        Term::Number(at) if array.name() == Some(root) => Some(at.clone()),
        _ => None,
    }
}

/// The calls between two fetches of whose result something is asked, each with its name.
fn judging<'f>(
    function: &'f FunctionContext<'_>,
    (first, second): (&Fetch<'_>, &Fetch<'_>),
    conditions: &[Span],
) -> Vec<(Span, &'f str)> {
    let calls = function.calls.iter().filter_map(|call| {
        let place = span(*call);
        let between = place.start >= first.span.end && place.end <= second.span.start;
        let name = function.callee(*call).filter(|_| between)?;
        is_told(function, *call, conditions).then_some((place, name))
    });
    calls.collect()
}

/// Whether a node is given to a function that has judged what came first.
fn is_given_to(function: &FunctionContext<'_>, node: Node<'_>, calls: &[(Span, &str)]) -> bool {
    let mut around = function.around(node);
    let call = around.find(|own| own.known_kind() == "call_expression");
    let name = call.and_then(|call| function.callee(call));
    name.is_some_and(|name| calls.iter().any(|(_, own)| *own == name))
}

/// Whether a call behind the second fetch is given all of the array, and not to hand it out.
fn is_handed_whole(function: &FunctionContext<'_>, root: &str, second: &Fetch<'_>) -> bool {
    let words = function.file.words;
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let whole = function.expression_of(*call);
        let Some((name, given)) = whole.call() else {
            return false;
        };
        let goes_on = words.access(name).is_none() && words.clears(name).is_none();
        let all = |own: &Expression| own.uncast().1.name() == Some(root);
        span(*call).start >= second.span.end && goes_on && given.iter().any(all)
    })
}

/// Whether the second fetch goes over members that were judged, by the same pointer into an object that
/// others see, and nobody asks for them again.
pub(crate) fn is_over_judged(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    fields: &BTreeSet<String>,
) -> bool {
    let root = second.value_root.as_str();
    let same = first.value.is_some() && first.value == second.value && first.value_root == root;
    if !same || fields.is_empty() || first.value.as_ref().and_then(|own| own.name()) != Some(root) {
        return false;
    }
    let mut values = function.graph.assignments().filter(|own| own.0 == root);
    let kept = |at: Span| {
        let value = function.expression(at);
        value.is_some_and(|own| is_member_behind(&own))
    };
    if !values.next().is_some_and(|(_, at)| kept(at)) || !values.all(|(_, at)| kept(at)) {
        return false;
    }
    let mut touched = false;
    function.each_of(&["field_expression"], |node| {
        let behind = span(node).start >= second.span.end;
        touched |= behind && function.expression_of(node).root().name() == Some(root);
    });
    !touched
}

/// Whether the second fetch goes over all of what a call has judged, and another one is given it as it came
/// then: not the one that has judged it, and nothing is asked of a member.
pub(crate) fn is_over_judged_whole(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    conditions: impl FnOnce() -> Vec<Span>,
) -> bool {
    let root = second.value_root.as_str();
    let same = first.all && second.all && first.value_root == root && first.value == second.value;
    if !same || root.is_empty() {
        return false;
    }
    let words = function.file.words;
    let given = |call: &Node<'_>| {
        let whole = function.expression_of(*call);
        let mut given = whole.call().into_iter().flat_map(|(_, given)| given);
        given.any(|own| is_all_of(own, root))
    };
    let own = |place: Span| {
        function
            .calls
            .iter()
            .any(|call| span(*call) == place && given(call))
    };
    let mut judges = judging(function, (first, second), &conditions());
    judges.retain(|(place, name)| !function.may_fault(name) && !words.frees(name) && own(*place));
    let behind = function.calls.iter().filter(|call| {
        let name = function.callee(**call);
        let lets_go = name.is_some_and(|own| {
            words.access(own).is_some() || words.frees(own) || words.clears(own).is_some()
        });
        call.start_byte() >= second.span.end && !lets_go && given(call)
    });
    let mut used = behind.peekable();
    let any = !judges.is_empty() && used.peek().is_some();
    let again = |call: &Node<'_>| {
        let name = function.callee(*call);
        name.is_some_and(|own| judges.iter().any(|(_, judge)| *judge == own))
    };
    any && !used.any(again) && !asks_for_member(function, root, second)
}

/// Whether a member of a variable is named behind a fetch, or that is compared.
fn asks_for_member(function: &FunctionContext<'_>, root: &str, fetch: &Fetch<'_>) -> bool {
    let graph = function.graph;
    let mut compared = graph.comparisons.iter();
    let mut asked = compared.any(|own| own.start >= fetch.span.end && graph.names(*own, root));
    function.each_of(&["field_expression"], |node| {
        let behind = !asked && span(node).start >= fetch.span.end;
        asked |= behind && function.expression_of(node).root().name() == Some(root);
    });
    asked
}

/// Whether a way leads from a fetch to a place that goes by it, and on from there, without passing
/// any that judges it: another case of a `switch` may have its own judgement.
pub(crate) fn is_unsettled(
    function: &FunctionContext<'_>,
    fetch: &Fetch<'_>,
    used: &[Span],
    settled: &[Span],
) -> bool {
    if function.stops_at(used.len() + settled.len(), LOOKS) {
        return false;
    }
    let graph = function.graph;
    let places = settled.iter().flat_map(|own| function.touching(*own));
    let judges: HashSet<usize> = places.collect();
    if judges.is_empty() {
        return false;
    }
    let from = graph.nodes_in(fetch.span).collect::<Vec<usize>>();
    let next = from.iter().filter_map(|at| graph.nodes.get(*at));
    let next = next.flat_map(|own| own.next.iter().map(|(_, next)| *next));
    let reached = graph.reached_past(next, |at, _| judges.contains(&at));
    let alone = |at: &usize| {
        let behind = graph.reached_behind(*at, |_| false);
        !judges.contains(at) && !behind.iter().any(|at| judges.contains(at))
    };
    used.iter().any(|own| {
        let nodes = function.touching(*own);
        !nodes.is_empty() && nodes.iter().all(|at| reached.contains(at) && alone(at))
    })
}
