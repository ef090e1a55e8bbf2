//! Memory and the like that a member leads to, which nobody has any more where what the member lies in is
//! freed: `p->name = memdup_user(u, n); if (get_user(p->id, v)) { kfree(p); return -EFAULT; }`.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, EffectKind, Node as Step};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;

/// So many members of a function are followed.
const MOST: usize = 16;

/// What is lost so.
pub(crate) struct FreedWith {
    pub(crate) member: Expression,
    pub(crate) taken: Span,
    /// What frees the object.
    pub(crate) freed: Span,
}

/// All of a function.
pub(crate) fn freed_with(function: &FunctionContext<'_>) -> Vec<FreedWith> {
    let frees: Vec<(String, Span)> = function
        .calls
        .iter()
        .filter_map(|call| freed(function, *call))
        .collect();
    let mut found = Vec::new();
    if frees.is_empty() {
        return found;
    }
    let mut takes = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        takes.extend(Taken::of(function, node, &frees));
    });
    for (at, own) in takes.iter().enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        found.extend(own.lost());
    }
    found
}

/// The variable whose memory a call gives back.
fn freed(function: &FunctionContext<'_>, call: Node<'_>) -> Option<(String, Span)> {
    let heaps = function.file.words.heaps();
    heaps.taken_back_by(function.callee(call)?)?;
    let whole = function.expression_of(call);
    let name = whole.call()?.1.first()?.uncast().1.name()?;
    function.graph.local(name)?;
    Some((name.to_owned(), span(call)))
}

/// A member that takes what is its holder's alone.
struct Taken<'f, 's> {
    function: &'f FunctionContext<'s>,
    member: Expression,
    place: Span,
    /// The calls that free the holder.
    frees: HashSet<Span>,
    /// Where somebody else may have the value, or the holder.
    ends: HashSet<Span>,
}

impl<'f, 's> Taken<'f, 's> {
    fn of(
        function: &'f FunctionContext<'s>,
        node: Node<'_>,
        frees: &[(String, Span)],
    ) -> Option<Self> {
        let left = node.part("left")?;
        (left.known_kind() == "field_expression").then_some(())?;
        let whole = function.expression_of(node);
        let Term::Assignment(member, operator, value) = &whole.term else {
            return None;
        };
        let Term::Member {
            holder,
            arrow: true,
            ..
        } = &member.term
        else {
            return None;
        };
        let root = holder.name()?;
        let (name, _) = value.uncast().1.call().filter(|_| operator == "=")?;
        function.file.words.takes(name).then_some(())?;
        let frees = frees.iter().filter(|(own, _)| own == root);
        let frees: HashSet<Span> = frees.map(|(_, at)| *at).collect();
        (!frees.is_empty()).then_some(())?;
        let ends = ends(function, root, member, span(node));
        Some(Self {
            function,
            member: (**member).clone(),
            place: span(node),
            frees,
            ends,
        })
    }

    /// Where the holder is freed while nobody else has the value.
    fn lost(&self) -> Option<FreedWith> {
        let function = self.function;
        function.pays()?;
        let graph = function.graph;
        let takes = |at: &usize| {
            graph
                .effects_of(*at)
                .iter()
                .any(|own| own.span == self.place)
        };
        let from = (0..graph.nodes.len()).find(takes)?;
        let (mut seen, mut work) = (HashSet::default(), self.next(from));
        let mut found: Option<Span> = None;
        while let Some(at) = work.pop() {
            let Some(node) = graph.nodes.get(at).filter(|_| seen.insert(at)) else {
                continue;
            };
            if self.is_end(node) {
                continue;
            }
            if matches!(node.action, Action::Call(_)) && self.frees.contains(&node.span) {
                found = Some(found.map_or(node.span, |own| own.min(node.span)));
                continue;
            }
            work.extend(self.next(at));
        }
        Some(FreedWith {
            member: self.member.clone(),
            taken: self.place,
            freed: found?,
        })
    }

    /// Whether somebody else may have the value from a node on, or it is given back there.
    fn is_end(&self, node: &Step) -> bool {
        let mut effects = self.function.graph.effects_at(node).iter();
        let holds = |at: &Span| at.contains(node.span) && matches!(node.action, Action::Call(_));
        effects.any(|own| self.ends.iter().any(|at| at.contains(own.span)))
            || self.ends.iter().any(holds)
    }

    /// Where ways lead on from a node, without those on which there is nothing.
    fn next(&self, at: usize) -> Vec<usize> {
        let node = self.function.graph.nodes.get(at);
        let ways = node.into_iter().flat_map(|own| own.next.iter());
        let ways = ways.filter(|(edge, _)| match edge {
            Edge::If(condition, holds) => self.nothing(*condition) != Some(*holds),
            _ => true,
        });
        ways.map(|(_, next)| *next).collect()
    }

    /// How a condition holds where the member leads to nothing.
    fn nothing(&self, condition: usize) -> Option<bool> {
        let own = self.function.graph.conditions.get(condition)?;
        let asked = self.function.asked(own)?;
        let asked = asked.uncast().1;
        if *asked == self.member {
            return Some(false);
        }
        let words = self.function.file.words;
        let (name, given) = asked.call()?;
        let tells = words.tells_errors(name) || words.tells_null(name);
        let own = given
            .first()
            .is_some_and(|own| *own.uncast().1 == self.member);
        (tells && own).then_some(true)
    }
}

/// Where a member's value, or what it lies in, goes elsewhere than to a copy.
fn ends(
    function: &FunctionContext<'_>,
    root: &str,
    member: &Expression,
    taken: Span,
) -> HashSet<Span> {
    let words = function.file.words;
    let mut found = HashSet::default();
    for call in function.calls {
        let name = function.callee(*call);
        let copies = name.is_some_and(|name| {
            words.access(name).is_some()
                || words.tells_errors(name)
                || words.tells_null(name)
                || words.clears(name).is_some()
        });
        let frees = freed(function, *call).is_some_and(|(own, _)| own == root);
        if copies || frees || taken.contains(span(*call)) {
            continue;
        }
        let whole = function.expression_of(*call);
        let Term::Call(callee, given) = &whole.term else {
            continue;
        };
        // Another member's value may go where it will.
        let own = |own: &Expression| match &own.uncast().1.term {
            Term::Name(name) => name == root,
            Term::Address(place) => place.root().name() == Some(root),
            _ => own.any(&|part| part == member),
        };
        let by = callee.any(&|part| part.name() == Some(root));
        found.extend((by || given.iter().any(own)).then(|| span(*call)));
    }
    let kinds = [
        "assignment_expression",
        "init_declarator",
        "return_statement",
    ];
    function.each_of(&kinds, |node| {
        if span(node) == taken {
            return;
        }
        let left = node.part("left").map(|own| function.expression_of(own));
        let again = left.is_some_and(|own| *own == *member || own.name() == Some(root));
        let value = node.part("right").or_else(|| node.part("value"));
        let value = value.or_else(|| {
            let returned = node.known_kind() == "return_statement";
            node.named_child(0).filter(|_| returned)
        });
        let value = value.map(|own| function.expression_of(own));
        let kept = value.is_some_and(|own| {
            let own = own.uncast().1;
            own == member
                || own.name() == Some(root)
                || matches!(&own.term, Term::Address(place) if place.root().name() == Some(root))
        });
        found.extend((again || kept).then(|| span(node)));
    });
    // What is read where an `if` asks whether to give it back.
    let asked = function
        .graph
        .effects
        .iter()
        .filter(|own| own.kind == EffectKind::Address);
    let asked = asked.filter(|own| function.graph.name_of(own) == root);
    found.extend(asked.map(|own| own.span));
    found
}
