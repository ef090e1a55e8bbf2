//! Pointers into an array that were moved by the size of something larger than it.

use crate::expression::{Expression, Term};
use crate::flow::{EffectKind, Node as Step};
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;
use super::space;

/// What is copied past the end of an array.
pub(crate) struct PastArray {
    /// The array.
    pub(crate) array: String,
    /// How many bytes it has.
    pub(crate) size: u64,
    /// Behind how many bytes the copy ends, or begins.
    pub(crate) end: u64,
    /// What makes the pointer.
    pub(crate) moved: Span,
}

/// `p = w->a + sizeof(*w) - n; copy_from_user(p, u, n);`, and where nothing is taken off.
pub(crate) fn past_array(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<PastArray> {
    let count = access.bytes.as_ref()?.uncast().1;
    let value = function.expression_of(access.value_node);
    let value = value.uncast().1;
    if let Some(own) = moved(function, value, count) {
        return Some(own);
    }
    let name = value.name()?;
    function
        .graph
        .local(name)
        .filter(|own| !own.array && !own.plain)?;
    let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
    values.find_map(|(_, place)| {
        let taken = function.expression(place)?;
        let own = moved(function, taken.uncast().1, count)?;
        reaches(function, name, place, access.span).then_some(own)
    })
}

/// An address that is an array's front with a constant on it, maybe less the number that is copied.
fn moved(
    function: &FunctionContext<'_>,
    address: &Expression,
    count: &Expression,
) -> Option<PastArray> {
    matches!(address.term, Term::Binary(..)).then_some(())?;
    let mut sum = Sum::default();
    sum.add(address, true);
    let (front, rest) = sum.more.split_first()?;
    matches!(front.term, Term::Name(_) | Term::Member { .. }).then_some(())?;
    let constant = |own: &&&Expression| space::bytes(function, own.uncast().1);
    let less = match sum.less.as_slice() {
        [] => false,
        [number] => number.uncast().1 == count,
        _ => return None,
    };
    (less || sum.less.is_empty() && !rest.is_empty()).then_some(())?;
    let by: Option<Vec<u64>> = rest.iter().map(|own| constant(&own)).collect();
    let by = by?.into_iter().try_fold(0, u64::checked_add)?;
    let size = space::array_bytes(function, front).filter(|size| by > *size)?;
    (space::element(function, front) == Some(1)).then(|| PastArray {
        array: function.file.plain(front.span),
        size,
        end: by,
        moved: address.span,
    })
}

/// What is added, and what is taken off.
#[derive(Default)]
struct Sum<'e> {
    more: Vec<&'e Expression>,
    less: Vec<&'e Expression>,
}

impl<'e> Sum<'e> {
    fn add(&mut self, own: &'e Expression, more: bool) {
        match &own.term {
            Term::Binary(left, operator, right) if operator == "+" => {
                self.add(left, more);
                self.add(right, more);
            }
            Term::Binary(left, operator, right) if operator == "-" => {
                self.add(left, more);
                self.add(right, !more);
            }
            _ if more => self.more.push(own),
            _ => self.less.push(own),
        }
    }
}

/// Whether a variable holds at a place on some way what it took in another one.
pub(crate) fn reaches(function: &FunctionContext<'_>, name: &str, taken: Span, at: Span) -> bool {
    let graph = function.graph;
    // What is done at a node is done before its call.
    let last = |node: &Step| {
        let mut effects = graph.effects_at(node).iter().rev();
        effects.find_map(|effect| match &effect.kind {
            // What is put behind a pointer leaves it where it is.
            EffectKind::Write(write) if graph.is_whole(effect) => {
                (graph.name_of(effect) == name).then_some(write.value)
            }
            _ => None,
        })
    };
    let nodes = graph.nodes.iter().enumerate();
    let from = nodes.filter(|(_, node)| last(node) == Some(Some(taken)));
    let from: Vec<usize> = from.map(|(at, _)| at).collect();
    let mut on = graph.reached_behind_any(from.iter().copied(), |node| last(node).is_some());
    on.extend(from);
    let mut there = graph.nodes_in(at).chain(graph.touching(at));
    there.any(|at| on.contains(&at))
}
