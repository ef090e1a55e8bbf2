//! What a variable takes once more behind where the function bounded it.

use crate::expression::Term;
use crate::flow::{Effect, EffectKind, Flow};
use crate::hashed::{HashMap, HashSet};
use crate::span::Span;

use super::context::FunctionContext;

/// So many nodes of the graph are gone through for all the values of a variable: each is
/// followed through the whole function. No function of Linux 6.1, 6.12 or 7.3 comes to it.
const MOST: usize = 1 << 20;

/// A value that a variable may still hold in a place.
pub(crate) struct Taken {
    /// The value, and where the variable takes it.
    pub(crate) value: Span,
    pub(crate) at: Span,
    /// The nodes in which the variable takes it.
    from: Vec<usize>,
    /// Those on the ways from there to the place.
    between: HashSet<usize>,
}

impl Taken {
    /// Whether something is done on a way between the two.
    pub(crate) fn is_followed_by(&self, function: &FunctionContext<'_>, place: Span) -> bool {
        let mut touching = function.touching(place).into_iter();
        // What is done in the very step that takes it may come behind that.
        let here = place.start >= self.at.end;
        touching.any(|node| self.between.contains(&node) || here && self.from.contains(&node))
    }
}

/// The values that may still be in a variable in a place, of several; none where it is not
/// known what it holds there, or every value may still be there.
pub(crate) fn taken_anew(function: &FunctionContext<'_>, name: &str, at: Span) -> Vec<Taken> {
    let graph = function.graph;
    let of_it = |own: &&Effect| graph.name_of(own) == name;
    let all = graph.effects.iter().filter(of_it);
    let copied = EffectKind::Handed { by_address: false };
    let mut changes: Vec<&Effect> = all
        .filter(|own| own.kind != EffectKind::Read && own.kind != copied)
        .collect();
    // What takes longer comes last.
    if changes.len() < 2 {
        return Vec::new();
    }
    changes.retain(|own| !takes_off(function, own));
    if changes.len() < 2 {
        return Vec::new();
    }
    let Some(values) = changes
        .iter()
        .filter(|own| !is_declared_only(own))
        .map(|own| whole_value(function, own))
        .collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    if function.stops_at(values.len() * graph.nodes.len(), MOST) {
        return Vec::new();
    }
    let writes = writing(graph, &values);
    let taken: Vec<Taken> = values
        .iter()
        .filter_map(|own| still_there(function, *own, &writes, at))
        .collect();
    match taken.len() < values.len() {
        true => taken,
        false => Vec::new(),
    }
}

/// `int n;`, and what steps by one: neither bounds it, nor takes it anew.
fn is_declared_only(own: &Effect) -> bool {
    matches!(&own.kind, EffectKind::Write(write) if write.value.is_none() && !write.next)
}

/// What a variable takes as a whole and without a condition, and where.
fn whole_value(function: &FunctionContext<'_>, own: &Effect) -> Option<(Span, Span)> {
    let EffectKind::Write(write) = &own.kind else {
        return None;
    };
    let whole = function.graph.is_whole(own) && !write.optional && !write.compound;
    write.value.filter(|_| whole).map(|value| (value, own.span))
}

/// The nodes in which the variable takes a value, each with where.
fn writing(graph: &Flow, values: &[(Span, Span)]) -> Vec<(usize, Span)> {
    let places: HashSet<Span> = values.iter().map(|(_, place)| *place).collect();
    let nodes = graph.nodes.iter().enumerate();
    let writes = nodes.flat_map(|(at, node)| {
        let effects = graph.effects_at(node).iter();
        let own = effects.filter(|own| matches!(own.kind, EffectKind::Write(_)));
        own.map(move |own| (at, own.span))
    });
    writes.filter(|(_, place)| places.contains(place)).collect()
}

/// A value of several, if a way leads from where the variable takes it to a place on which the
/// variable takes no other.
fn still_there(
    function: &FunctionContext<'_>,
    (value, taken): (Span, Span),
    writes: &[(usize, Span)],
    at: Span,
) -> Option<Taken> {
    let graph = function.graph;
    let own = writes.iter().filter(|(_, place)| *place == taken);
    let from: Vec<usize> = own.map(|(node, _)| *node).collect();
    let others: HashSet<usize> = writes.iter().map(|(node, _)| *node).collect();
    let next = from.iter().filter_map(|node| graph.nodes.get(*node));
    let next = next.flat_map(|node| node.next.iter().map(|(_, next)| *next));
    let reached = graph.reached_past(next, |node, _| others.contains(&node));
    let ends = function.touching(at).into_iter();
    let ends: Vec<usize> = ends.filter(|end| reached.contains(end)).collect();
    (!ends.is_empty()).then(|| Taken {
        value,
        at: taken,
        from,
        between: leading(graph, &reached, ends),
    })
}

/// Those of some nodes from which ways among them lead to the last ones, these included.
fn leading(graph: &Flow, nodes: &HashSet<usize>, ends: Vec<usize>) -> HashSet<usize> {
    let mut before: HashMap<usize, Vec<usize>> = HashMap::default();
    for at in nodes {
        let node = graph.nodes.get(*at).into_iter();
        for (_, next) in node.flat_map(|node| &node.next) {
            before.entry(*next).or_default().push(*at);
        }
    }
    let (mut found, mut work) = (HashSet::default(), ends);
    while let Some(at) = work.pop() {
        if found.insert(at) {
            work.extend(before.get(&at).into_iter().flatten());
        }
    }
    found
}

/// Whether an effect only takes something off what a variable is: that bounds it by nothing.
pub(crate) fn takes_off(function: &FunctionContext<'_>, effect: &Effect) -> bool {
    // What is only declared, or steps on, takes no expression to see.
    if !matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some()) {
        return false;
    }
    let own = function.expression(effect.span);
    own.is_some_and(|own| matches!(&own.term, Term::Assignment(_, operator, _) if operator == "-="))
}
