//! Variables that have no value yet where they are needed.

use tree_sitter::Node;

use crate::expression::Term;
use crate::flow::{Action, Effect, EffectKind, Local, Node as Step};
use crate::node::{LOOPS, Parts as _};
use crate::site::span;
use crate::span::Span;

use super::arms::arms;
use super::callee::{look_into, parameter};
use super::context::FunctionContext;

/// Whether a plain variable of the function has taken no value on any way to a place: what
/// is only added to it, or made of itself, gives it none.
pub(crate) fn is_unset(function: &FunctionContext<'_>, local: &Local, at: Span) -> bool {
    is_unset_past(function, local, at, |_| false)
}

/// The same on ways that pass by some places.
fn is_unset_past(
    function: &FunctionContext<'_>,
    local: &Local,
    at: Span,
    passes_by: impl Fn(Span) -> bool,
) -> bool {
    let graph = function.graph;
    let own = local.plain && !local.initialised && !local.lasting && !local.cleaned;
    if !own || graph.unseen.contains(&local.name) {
        return false;
    }
    let place = |effect: &Effect| {
        let local_of = graph.places.as_local(graph.places.root(effect.place));
        let known = local_of.and_then(|at| graph.locals.get(at));
        known.is_some_and(|known| known.declared == local.declared && known.name == local.name)
    };
    let sets = |effect: &Effect| {
        let declares = local.declared.contains(effect.span);
        // What is copied there by its address is only read.
        let copied = at.contains(effect.span) && !matches!(effect.kind, EffectKind::Write(_));
        let here = place(effect) && !declares && !copied && !passes_by(effect.span);
        here && gives_value(function, effect)
    };
    let mut setting = (0..graph.nodes.len()).filter(|at| graph.effects_of(*at).iter().any(sets));
    // Its own argument may set it: `put_user(v = next(), p)`.
    let here: Vec<usize> = graph.nodes_in(at).collect();
    !here.is_empty()
        && !setting.any(|from| {
            let reached = graph.reached(from, |_| false);
            here.iter().any(|at| reached.contains(at))
        })
}

/// So many places at which a variable is named are asked for what decides over them.
const FEW: usize = 32;

/// What decides over whether a plain variable has a value in a place, where one of its arms gives it none
/// and leads there: a `case` too few.
pub(crate) fn unset_on_an_arm(
    function: &FunctionContext<'_>,
    local: &Local,
    at: Span,
) -> Option<Span> {
    let own = local.plain && !local.initialised && !local.lasting && !local.cleaned;
    (own && !function.graph.unseen.contains(&local.name)).then_some(())?;
    let named = function.mentions(&local.name).filter(|own| {
        let place = span(*own);
        local.scope.contains(place) && place.end <= at.start && place.start >= local.declared.end
    });
    let named: Vec<Node<'_>> = named.take(FEW + 1).collect();
    (!named.is_empty() && named.len() <= FEW).then_some(())?;
    let decided = named.iter().any(|own| is_decided(function, *own, at));
    decided.then(|| function.pays()).flatten()?;
    leads_unset(function, local, at).then_some(())?;
    let ways = arms(function, named.into_iter(), (local.declared, at));
    let mut ways = ways
        .iter()
        // What a call says may be so each time.
        .filter(|arm| !arm.called)
        .filter(|arm| is_unset_past(function, local, at, |place| arm.leaves_out(place)));
    ways.next().map(|arm| arm.decides)
}

/// Whether a way leads to a place on which nothing names the variable but to read it.
fn leads_unset(function: &FunctionContext<'_>, local: &Local, at: Span) -> bool {
    let graph = function.graph;
    let sets = |node: &Step| {
        let mut own = graph.effects_at(node).iter();
        own.any(|own| {
            let named = graph.name_of(own) == local.name && own.kind != EffectKind::Read;
            named && !local.declared.contains(own.span) && !at.contains(own.span)
        })
    };
    let reached = graph.reached(0, sets);
    graph.nodes_in(at).any(|own| reached.contains(&own))
}

/// Whether an `if` or a `switch` decides over a place, and not over another one.
fn is_decided(function: &FunctionContext<'_>, node: Node<'_>, at: Span) -> bool {
    let mut around = function
        .around(node)
        .take_while(|own| !span(*own).contains(at));
    around.any(|own| matches!(own.known_kind(), "if_statement" | "switch_statement"))
}

/// Whether an effect may give its variable a value.
fn gives_value(function: &FunctionContext<'_>, effect: &Effect) -> bool {
    match &effect.kind {
        EffectKind::Read => false,
        EffectKind::Address | EffectKind::Handed { .. } => !is_left(function, effect.span),
        EffectKind::Write(write) => !write.next && !is_made_of_itself(function, effect),
    }
}

/// Whether the function of the file that is given an address there, and gives nothing back
/// that could tell, leaves on some way what lies there.
fn is_left(function: &FunctionContext<'_>, address: Span) -> bool {
    let mut calls = function.calls.iter();
    let given = calls.find_map(|call| {
        let mut cursor = call.walk();
        let arguments = call.part("arguments")?;
        let mut all = arguments.named_children(&mut cursor);
        let own = |own: Node<'_>| {
            let whole =
                own.known_kind() == "pointer_expression" && function.context.operator(own) == b"&";
            whole && span(own).contains(address)
        };
        let at = all.position(own)?;
        Some((function.callee(*call)?, at))
    });
    let left = given.and_then(|(name, at)| {
        look_into(function, name, |callee| {
            let own = parameter(callee, at)?;
            leaves(callee, &own).then_some(())
        })
    });
    left.is_some()
}

/// Whether a function leaves on some way what lies behind a parameter, or makes of that what it
/// leaves there: `*p |= 1`.
fn leaves(callee: &FunctionContext<'_>, parameter: &str) -> bool {
    let graph = callee.graph;
    let named = |effect: &&Effect| graph.name_of(effect) == parameter;
    let sets = |effect: &Effect| {
        let anew = matches!(&effect.kind, EffectKind::Write(own) if !own.next && !own.compound);
        anew && !is_made_of_itself(callee, effect)
    };
    let adds = |effect: &Effect| matches!(effect.kind, EffectKind::Write(_)) && !sets(effect);
    let adding: Vec<Span> = graph
        .effects
        .iter()
        .filter(named)
        .filter(|own| adds(own))
        .map(|own| own.span)
        .collect();
    let only_set = graph.effects.iter().filter(named).all(|effect| {
        let made = || adding.iter().any(|own| own.contains(effect.span));
        match effect.kind {
            EffectKind::Write(_) => graph.is_all_behind(effect),
            EffectKind::Read => !graph.is_behind(effect) || made(),
            _ => false,
        }
    });
    let set = |node: &Step| graph.effects_at(node).iter().filter(named).any(sets);
    only_set && tells_nothing(callee) && graph.leaves_without(set)
}

/// Whether a function gives nothing that its caller could ask: 0 each time, or nothing at all.
fn tells_nothing(callee: &FunctionContext<'_>) -> bool {
    let graph = callee.graph;
    let zero = |own: &Step| {
        let given = graph.statement(own.span).and_then(|own| own.expression);
        given.is_some_and(|own| callee.expression(own).is_some_and(|own| own.is_zero()))
    };
    let reached = || graph.reached(0, |_| false).into_iter();
    let mut exits = reached().filter_map(|at| graph.nodes.get(at));
    callee.file.gives_nothing(callee.body)
        || exits.all(|own| !matches!(own.action, Action::Exit { .. }) || zero(own))
}

/// `v |= 1`, `v = v + 1`
fn is_made_of_itself(function: &FunctionContext<'_>, write: &Effect) -> bool {
    let mut inside = function.graph.effects_in(write.span);
    inside.any(|own| own.kind == EffectKind::Read && own.place == write.place)
}

/// The conditions of which one has to hold for a plain variable to have a value in a place: each is
/// that of an `if` before it, and nothing else in the function asks what they ask.
pub(crate) fn set_only_if(
    function: &FunctionContext<'_>,
    local: &Local,
    at: Span,
) -> Option<Vec<Span>> {
    let own = local.plain && !local.initialised && !local.lasting && !local.cleaned;
    (own && !function.graph.unseen.contains(&local.name)).then_some(())?;
    let named = function.mentions(&local.name).filter(|own| {
        let place = span(*own);
        local.scope.contains(place) && !local.declared.contains(place) && !at.contains(place)
    });
    let conditions: Vec<Span> = named
        .filter(|own| own.start_byte() < at.start || is_in_loop(function, at))
        .map(|own| condition_of(function, own, at))
        .collect::<Option<_>>()?;
    let alone = conditions
        .iter()
        .all(|own| is_asked_alone(function, *own, local.scope));
    (alone && !conditions.is_empty()).then_some(conditions)
}

fn is_in_loop(function: &FunctionContext<'_>, at: Span) -> bool {
    let node = function.root.descendant_for_byte_range(at.start, at.end);
    let around = std::iter::successors(node, Node::parent);
    around
        .into_iter()
        .any(|own| LOOPS.contains(&own.known_kind()))
}

/// The condition of the `if`, without an `else`, in which a variable takes a value at a mention, and
/// behind which `at` stands, in the same block or in one that nothing decides over.
fn condition_of(function: &FunctionContext<'_>, mention: Node<'_>, at: Span) -> Option<Span> {
    let set = function.above(mention)?;
    let takes = set.known_kind() == "assignment_expression"
        && function.context.operator(set) == b"="
        && set.part("left").map(|own| own.id()) == Some(mention.id());
    takes.then_some(())?;
    let decides = |own: &Node<'_>| {
        let kind = own.known_kind();
        LOOPS.contains(&kind)
            || matches!(
                kind,
                "if_statement" | "switch_statement" | "conditional_expression"
            )
    };
    let own = function.around(set).find(decides)?;
    let plain = own.known_kind() == "if_statement" && own.part("alternative").is_none();
    let front = span(own).end <= at.start;
    let inside = own
        .part("consequence")
        .is_some_and(|part| span(part).contains(span(set)));
    (plain && front && inside).then_some(())?;
    let block = function.above(own)?;
    let place = function.root.descendant_for_byte_range(at.start, at.end)?;
    let mut between = std::iter::successors(Some(place), Node::parent);
    let mut between = between.by_ref().take_while(|own| own.id() != block.id());
    let same = span(block).contains(at) && !between.any(|own| decides(&own));
    same.then(|| own.part("condition").map(span))?
}

/// Whether nothing else that decides names what a condition names.
fn is_asked_alone(function: &FunctionContext<'_>, condition: Span, scope: Span) -> bool {
    let Some(own) = function.expression(condition) else {
        return false;
    };
    let mut alone = !own.any(&|part| matches!(part.term, Term::Call(..)));
    function.each_of(
        &[
            "if_statement",
            "while_statement",
            "for_statement",
            "switch_statement",
            "conditional_expression",
        ],
        |node| {
            let other = node
                .part("condition")
                .filter(|other| span(*other) != condition);
            let Some(other) = other.filter(|_| alone) else {
                return;
            };
            let asked = function.expression_of(other);
            alone = !own.any(&|part| {
                let place = part.name().is_some() || matches!(part.term, Term::Member { .. });
                place && asked.any(&|own| own == part)
            });
        },
    );
    alone && scope.contains(condition)
}
