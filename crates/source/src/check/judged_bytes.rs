//! Bytes of the user's that a function judges in one copy, and goes by in another one: by whatever
//! names, types and pointers it looks at the two.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::types::Shape;

use super::context::FunctionContext;
use super::element_again::is_unsettled;
use super::fetch::Fetch;
use super::fetched::{is_line_of_log, is_told};
use super::known::Asked;
use super::lying::{Lying, led_to, lies};
use super::refetched::{conditions_from, is_limited, is_refused, is_set, operands};
use super::space;
use super::words::Permission;

/// So many places of a function are asked what they are: twice as many as any function of a
/// kernel has.
const LOOKS: usize = 512;

const LOOKED_AT: [&str; 3] = [
    "field_expression",
    "subscript_expression",
    "pointer_expression",
];

/// Bytes of the user's: how far behind the front of a copy, and how many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bytes {
    at: i128,
    /// None of a value, which is as large as the user's whatever takes it.
    size: Option<u64>,
}

impl Bytes {
    fn are(self, other: Self) -> bool {
        let either = self.size.is_none() || other.size.is_none();
        self.at == other.at && (either || self.size == other.size)
    }
}

/// Two fetches, what the first filled and what the second did.
struct Pair<'p, 't> {
    first: &'p Fetch<'t>,
    second: &'p Fetch<'t>,
    from: Lying,
    to: Lying,
    /// How far the first's address is behind the second's.
    apart: i128,
    /// The variables by which what the second filled may be named.
    names: BTreeSet<String>,
}

/// How a place stands behind the second fetch.
#[derive(PartialEq, Eq)]
enum Stand {
    /// The function goes by it.
    Used,
    /// It is judged, or set.
    Settled,
    /// Neither.
    Other,
}

/// Whether bytes that the function judged of the first copy are used of the second as they came
/// then.
pub(crate) fn are_again(
    function: &FunctionContext<'_>,
    first: &Fetch<'_>,
    second: &Fetch<'_>,
    conditions: impl FnOnce() -> Vec<Span>,
) -> bool {
    let value = matches!(first.asked, Some(Asked::Value)) && !first.counted;
    let own = (first.asked.is_none() || value) && second.asked.is_none() && !second.shifted;
    let Some(pair) = own.then(|| Pair::of(function, first, second)).flatten() else {
        return false;
    };
    let conditions = conditions();
    let sizes = pair.sizes(function);
    // Of two single values there is only one name for each.
    let bytes = first.counted || second.counted || value;
    let asked = bytes && !conditions.is_empty() || !sizes.is_empty();
    if !asked || function.pays().is_none() {
        return false;
    }
    let judged = match value {
        // What another function judged is told by its result.
        true if is_told(function, first.node, &conditions) => BTreeSet::from([Bytes {
            at: pair.apart,
            size: None,
        }]),
        true => return false,
        false => pair.judged(function, &conditions, &sizes),
    };
    if judged.is_empty() || pair.speaks_of_both(function) {
        return false;
    }
    let by_permission = conditions
        .iter()
        .any(|own| is_by_permission(function, *own));
    let (mut used, mut settled) = (Vec::new(), Vec::new());
    let Some(seen) = pair.behind(function, &judged) else {
        return false;
    };
    for node in seen {
        match pair.stand(function, node, &conditions, by_permission) {
            Stand::Used => used.push(span(node)),
            Stand::Settled => settled.push(span(node)),
            Stand::Other => {}
        }
    }
    used.retain(|own| function.comes_to(second.span, *own));
    match (used.is_empty(), settled.is_empty()) {
        (false, true) => true,
        (false, false) => is_unsettled(function, second, &used, &settled),
        (true, true) => pair.is_handed(function, !sizes.is_empty()),
        (true, false) => false,
    }
}

/// Whether a value is written as an address: `p = &x`.
fn is_address(function: &FunctionContext<'_>, value: Span) -> bool {
    function.file.text.get(value.start) == Some(&b'&')
}

impl<'p, 't> Pair<'p, 't> {
    fn of(
        function: &FunctionContext<'_>,
        first: &'p Fetch<'t>,
        second: &'p Fetch<'t>,
    ) -> Option<Self> {
        let (one, other) = (
            led_to(function, &first.address)?,
            led_to(function, &second.address)?,
        );
        let apart = one
            .at
            .checked_sub(other.at)
            .filter(|_| one.root == other.root)?;
        let to = filled(function, second)?;
        let from = match first.asked {
            None => filled(function, first)?,
            // It lies in another function.
            Some(_) => to.clone(),
        };
        let mut names = BTreeSet::from([second.value_root.clone()]);
        for (name, value) in function.graph.assignments() {
            let behind = value.start >= second.span.end;
            // What leads there since before does so behind it.
            let leads = behind || is_address(function, value);
            if leads && function.graph.names(value, &second.value_root) {
                names.insert(name.to_owned());
            }
        }
        Some(Self {
            first,
            second,
            from,
            to,
            apart,
            names,
        })
    }

    /// Where calls between the two are told by the first copy how much memory they give.
    fn sizes(&self, function: &FunctionContext<'_>) -> Vec<Span> {
        let between =
            |own: &Span| self.first.span.end <= own.start && own.end <= self.second.span.start;
        let named = |own: &Span| function.graph.names(*own, &self.first.value_root);
        let all = sizes(function).into_iter().filter(between);
        all.filter(named).collect()
    }

    /// The bytes of which something is asked between the two.
    fn judged(
        &self,
        function: &FunctionContext<'_>,
        conditions: &[Span],
        sizes: &[Span],
    ) -> BTreeSet<Bytes> {
        let (first, second) = (self.first, self.second);
        let between = Span::new(first.span.end, second.span.start);
        let assigned = function.graph.assignments();
        let limited = assigned.filter(|(name, value)| {
            let mut asked = conditions.iter();
            between.contains(*value) && asked.any(|asked| is_limited(function, *asked, name))
        });
        let made: Vec<Span> = limited.map(|(_, value)| value).collect();
        let asking = |node: Node<'_>| {
            let place = span(node);
            let behind = place.start >= first.span.end && !is_copied(function, node);
            let holds = |own: &&Span| own.contains(place);
            let asked = conditions.iter().chain(sizes).find(holds);
            // What a call makes of it is not it.
            let made = || {
                made.iter()
                    .find(holds)
                    .filter(|own| !is_given(function, node, **own))
            };
            asked.or_else(made).copied().filter(|_| behind)
        };
        let mut nodes: Vec<Node<'_>> = function.mentions(&first.value_root).collect();
        function.each_of(&LOOKED_AT, |node| nodes.push(node));
        let nodes = nodes.into_iter();
        let nodes: Vec<_> = nodes.filter_map(|own| Some((own, asking(own)?))).collect();
        if function.stops_at(nodes.len(), LOOKS) {
            return BTreeSet::new();
        }
        let (own, others) = (size(function, first), size(function, second));
        let inside = |at: i128, most: Option<u64>| most.is_none_or(|most| at < i128::from(most));
        let mut found = BTreeMap::<Bytes, Vec<Span>>::new();
        for (node, asked) in nodes {
            let Some(known) = bytes(function, node, first, &self.from) else {
                continue;
            };
            let there = known.at.checked_add(self.apart);
            let Some(at) = there.filter(|at| *at >= 0 && inside(*at, others)) else {
                continue;
            };
            if inside(known.at, own) {
                found.entry(Bytes { at, ..known }).or_default().push(asked);
            }
        }
        // Another case of a `switch` may have asked.
        found.retain(|_, asked| function.graph.passes(asked, second.span));
        found.into_keys().collect()
    }

    /// Where any of some bytes is looked at behind the second fetch; none where that is too often.
    fn behind<'f>(
        &self,
        function: &FunctionContext<'f>,
        judged: &BTreeSet<Bytes>,
    ) -> Option<Vec<Node<'f>>> {
        let mut nodes: Vec<Node<'f>> = function.mentions(&self.second.value_root).collect();
        function.each_of(&LOOKED_AT, |node| nodes.push(node));
        nodes.retain(|node| {
            let named = |node: Node<'_>| {
                let place = function.expression_of(node);
                let root = place.root().uncast().1.root().name();
                root.is_some_and(|root| self.names.contains(root))
            };
            node.start_byte() >= self.second.span.end && named(*node)
        });
        if function.stops_at(nodes.len(), LOOKS) {
            return None;
        }
        nodes.retain(|node| {
            let own = bytes(function, *node, self.second, &self.to);
            let again = own.is_some_and(|own| judged.iter().any(|judged| judged.are(own)));
            again && !self.is_replaced(function, *node)
        });
        Some(nodes)
    }

    /// Whether the variable takes another value between the second fetch and a node.
    fn is_replaced(&self, function: &FunctionContext<'_>, node: Node<'_>) -> bool {
        let root = self.second.value_root.as_str();
        let place = Span::new(self.second.span.end, node.start_byte());
        let mut values = function.graph.assignments();
        values.any(|(name, value)| name == root && place.contains(value))
    }

    fn stand(
        &self,
        function: &FunctionContext<'_>,
        node: Node<'_>,
        conditions: &[Span],
        by_permission: bool,
    ) -> Stand {
        if is_stepped(function, node) {
            return Stand::Other;
        }
        if is_set(function, node) || is_refused(function, node) || is_size(function, node) {
            return Stand::Settled;
        }
        let later = conditions_from(function, self.second.span.end);
        let mut asking = later.into_iter().filter(|own| own.contains(span(node)));
        let copied = is_copied(function, node);
        let Some(asking) = asking.next().filter(|_| !copied) else {
            return match is_printed(function, node) || is_addressed(function, node) {
                true => Stand::Other,
                false => Stand::Used,
            };
        };
        let checks = operands(function, conditions);
        let again = operands(function, &[asking]);
        let same = again.iter().any(|own| checks.contains(own));
        if leads_out(function, node) || same && !by_permission {
            return Stand::Settled;
        }
        if by_permission || is_index(function, node) {
            return Stand::Used;
        }
        // Which of two ways it goes says nothing of how large it may be.
        match is_compared_alone(function, node) {
            true => Stand::Other,
            false => Stand::Settled,
        }
    }

    /// Whether anything behind the second fetch speaks of both copies.
    fn speaks_of_both(&self, function: &FunctionContext<'_>) -> bool {
        let root = &self.first.value_root;
        if root.is_empty() || self.names.contains(root) {
            return false;
        }
        let graph = function.graph;
        let both = |place: Span| {
            let mut names = self.names.iter();
            place.start >= self.second.span.end
                && graph.names(place, root)
                && names.any(|name| graph.names(place, name))
        };
        let mut set = false;
        function.each_of(&["assignment_expression"], |node| set |= both(span(node)));
        let mut calls = function.calls.iter();
        set || calls.any(|call| both(span(*call)))
            || conditions_from(function, self.second.span.end)
                .into_iter()
                .any(both)
    }

    /// Whether a function that is not in the file is given what the second fetch filled, and its
    /// result judges nothing of it.
    fn is_handed(&self, function: &FunctionContext<'_>, by_size: bool) -> bool {
        let given = self.to.root.name();
        if given.is_some_and(|name| function.is_parameter(name)) {
            return false;
        }
        let words = function.file.words;
        let later = conditions_from(function, self.second.span.end);
        let mut calls = function.calls.iter();
        calls.any(|call| {
            let whole = function.expression_of(*call);
            let Some((name, given)) = whole.call() else {
                return false;
            };
            let lets_go = words.frees(name)
                || words.releases(name)
                || words.access(name).is_some()
                || words.fetches(name).is_some()
                || words.clears(name).is_some()
                || words.tells_errors(name)
                || words.tells_null(name)
                || words.permission(name) == Permission::Allowed
                || is_line_of_log(*call)
                || function.file.body_named(name).is_some();
            let own = |own: &Expression| {
                // A number goes by itself.
                let leads = self.second.counted || own.uncast().1.name().is_none();
                let place = led_to(function, own).filter(|_| leads);
                place.is_some_and(|place| place == self.to || by_size && place.root == self.to.root)
            };
            span(*call).start >= self.second.span.end
                && !lets_go
                && given.iter().any(own)
                && !is_told(function, *call, &later)
        })
    }
}

/// Which bytes behind the front of what a fetch filled a node is.
fn bytes(
    function: &FunctionContext<'_>,
    node: Node<'_>,
    fetch: &Fetch<'_>,
    front: &Lying,
) -> Option<Bytes> {
    let place = function.expression_of(node);
    if matches!(place.term, Term::Address(_)) {
        return None;
    }
    let own = lies(function, &place).filter(|own| own.root == front.root)?;
    let at = own.at.checked_sub(front.at).filter(|at| *at >= 0)?;
    let of = space::type_of(function, &place)?;
    // Where a pointer itself lies is not where it leads to; an array is an address.
    let plain = match of.shape {
        Shape::Scalar { .. } => true,
        Shape::Pointer { .. } => place.name().is_none(),
        _ => false,
    };
    let value = !fetch.counted && at == 0;
    (plain && (value || fetch.counted)).then_some(Bytes {
        at,
        size: (!value).then_some(of.size),
    })
}

/// How many bytes a fetch is of, where that is known.
fn size(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> Option<u64> {
    let bytes = fetch.bytes.as_ref()?;
    space::bytes(function, bytes.uncast().1)
}

/// Whether a call in a place is given a node.
fn is_given(function: &FunctionContext<'_>, node: Node<'_>, place: Span) -> bool {
    let around = function.around(node);
    let mut around = around.take_while(|own| place.contains(span(*own)));
    around.any(|own| own.known_kind() == "call_expression")
}

/// Where what a fetch fills lies.
fn filled(function: &FunctionContext<'_>, fetch: &Fetch<'_>) -> Option<Lying> {
    match (&fetch.value, fetch.counted) {
        (Some(value), true) => led_to(function, value),
        (Some(value), false) => lies(function, value),
        (None, _) => led_to(function, &function.taker(fetch.node)?),
    }
}

/// The arguments that say how much memory calls give.
fn sizes(function: &FunctionContext<'_>) -> Vec<Span> {
    let words = function.file.words;
    let mut found = Vec::new();
    for call in function.calls {
        let whole = function.expression_of(*call);
        let Some((name, given)) = whole.call() else {
            continue;
        };
        let lent = words.allocates(name).filter(|own| own.object.is_none());
        let lent = lent.map(|own| [Some(own.size), own.count]);
        let copied = function.duplicates(name).map(|own| [Some(own.count), None]);
        let at = lent.or(copied).into_iter().flatten().flatten();
        found.extend(at.filter_map(|at| given.get(at)).map(|own| own.span));
    }
    found
}

/// Whether a node says how much memory a call gives.
fn is_size(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let all = sizes(function);
    all.iter().any(|own| own.contains(span(node)))
}

/// Whether a condition asks whether something is equal together with what a call says, as of who
/// may do it.
fn is_by_permission(function: &FunctionContext<'_>, condition: Span) -> bool {
    let all = operands(function, &[condition]);
    let equal = |own: &Expression| matches!(&own.term, Term::Binary(_, operator, _) if matches!(operator.as_str(), "==" | "!="));
    let says = |own: &Expression| {
        let words = function.file.words;
        own.call()
            .is_some_and(|(name, _)| words.access(name).is_none() && !function.may_fault(name))
    };
    all.iter().any(equal) && all.iter().any(says)
}

/// Whether a node takes what is made of itself: `x.len = x.len - 5`, `x.len -= 5`.
fn is_stepped(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let around = function.above(node).filter(|_| is_set(function, node));
    around.is_some_and(|own| match &function.expression_of(own).term {
        // What a call makes of it may be bounded.
        Term::Assignment(left, operator, value) => match &value.uncast().1.term {
            Term::Binary(of, by, _) if operator == "=" => {
                matches!(by.as_str(), "+" | "-") && of.uncast().1 == left.uncast().1
            }
            _ => matches!(operator.as_str(), "+=" | "-="),
        },
        _ => false,
    })
}

/// Whether a node stands in what an access is given.
fn is_copied(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node);
    let call = around.find(|own| own.known_kind() == "call_expression");
    let name = call.and_then(|call| function.callee(call));
    name.is_some_and(|name| function.file.words.access(name).is_some())
}

/// Whether a node stands in what is printed.
fn is_printed(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node);
    let call = around.find(|own| own.known_kind() == "call_expression");
    call.is_some_and(is_line_of_log)
}

/// Whether only the address of a node is taken.
fn is_addressed(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let around = function.above(node);
    around.is_some_and(|own| {
        let addressed = || function.context.operator(own) == b"&";
        own.known_kind() == "pointer_expression" && addressed()
    })
}

/// Whether a node is a side of a comparison of an `if`.
fn is_compared_alone(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let around = function.above(node);
    let compared = around.is_some_and(|own| compares(function.context.operator(own)));
    let mut around = function.around(node);
    let holder = around.find(|own| own.is_statement());
    compared && holder.is_some_and(|own| own.known_kind() == "if_statement")
}

/// Whether a node picks an element.
fn is_index(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let (mut inner, mut found) = (node, false);
    for own in function.around(node).take_while(|own| !own.is_statement()) {
        found |= own.part("index") == Some(inner);
        inner = own;
    }
    found
}

/// Whether an `if` of whose condition a node is a part leaves the function, or goes on to its end.
fn leads_out(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut around = function.around(node);
    let holder = around.find(|own| own.is_statement());
    let asks = holder.filter(|own| own.known_kind() == "if_statement");
    asks.is_some_and(|own| {
        let mut inside = function.graph.inside(span(own));
        inside.any(|own| function.graph.leaves(own))
    })
}
