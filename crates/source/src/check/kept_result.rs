//! What a call gave that a function gives back wherever no access faulted, and keeps where one did.

use std::collections::HashSet;

use crate::flow::EffectKind;
use crate::span::Span;

use super::context::FunctionContext;
use super::fate::{Arm, Fallible, fallible, fate};
use super::owned::{Owner, Use, released};
use super::words::CheckWords;

/// What is kept so.
pub(crate) struct KeptResult {
    /// The variable.
    pub(crate) name: String,
    /// The call that gave it.
    pub(crate) taken: Span,
    /// The access.
    pub(crate) access: Span,
    /// Where the function leaves with it.
    pub(crate) exit: Span,
}

/// So many variables of a function are followed.
const MOST: usize = 64;

/// All of a function, but of the variables that something else is known to have given.
pub(crate) fn kept_results(
    function: &FunctionContext<'_>,
    known: impl Fn(&str) -> bool,
) -> Vec<KeptResult> {
    if released(function, CheckWords::releases)
        .iter()
        .all(|own| known(own))
    {
        return Vec::new();
    }
    let faults: Vec<(Fallible<'_>, Vec<Arm>)> = fallible(function)
        .filter_map(|call| {
            let arms = fate(function, &call)?.arms;
            Some((call, arms))
        })
        .collect();
    if faults.is_empty() {
        return Vec::new();
    }
    let owners = Owner::among(function, CheckWords::releases, |name| !known(name));
    let own = owners.iter().take(MOST);
    own.filter_map(|owner| kept(owner, &faults)).collect()
}

fn kept(owner: &Owner<'_, '_>, faults: &[(Fallible<'_>, Vec<Arm>)]) -> Option<KeptResult> {
    let (node, taken) = given(owner)?;
    let function = owner.function;
    let lent = owner.owned_behind(&[node], true);
    let faults = faults
        .iter()
        .filter(|(call, _)| !call.span.contains(taken) && !taken.contains(call.span));
    let mut left = HashSet::new();
    let mut first = None;
    for (call, arms) in faults {
        let nodes: Vec<usize> = function.graph.nodes_in(call.span).collect();
        if !nodes.iter().any(|at| lent.contains(at)) {
            continue;
        }
        let behind = owner.owned_behind(&nodes, false);
        for arm in arms.iter().filter(|arm| behind.contains(&arm.fault)) {
            let exits = exits(owner, &owner.owned_from(arm.fault));
            if exits.is_empty() {
                continue;
            }
            is_given_back(owner, arm.success).then_some(())?;
            let exit = exits.iter().map(|at| function.place(*at)).min()?;
            first.get_or_insert((call.span, exit));
            left.extend(exits);
        }
    }
    let (access, exit) = first?;
    // Who leaves with it elsewhere may have left it where it is.
    let all = exits(owner, &lent);
    all.is_subset(&left).then(|| KeptResult {
        name: owner.local.name.clone(),
        taken,
        access,
        exit,
    })
}

/// The one call that gives the variable all that it ever leads to, but for nothing.
fn given(owner: &Owner<'_, '_>) -> Option<(usize, Span)> {
    let function = owner.function;
    let graph = function.graph;
    let mut found = None;
    for at in 0..graph.nodes.len() {
        for effect in graph.effects_of(at) {
            let EffectKind::Write(write) = &effect.kind else {
                continue;
            };
            if graph.name_of(effect) != owner.local.name || !graph.is_whole(effect) {
                continue;
            }
            let Some(place) = write.value else {
                // `struct reply *p;`
                owner.local.declared.contains(effect.span).then_some(())?;
                continue;
            };
            let value = function.expression(place)?;
            if value.uncast().1.is_null() {
                continue;
            }
            value.uncast().1.call()?;
            let again = found.replace((at, place));
            again.is_none().then_some(())?;
        }
    }
    found
}

fn exits(owner: &Owner<'_, '_>, nodes: &HashSet<usize>) -> HashSet<usize> {
    let graph = owner.function.graph;
    let exits = nodes.iter().copied();
    exits
        .filter(|at| graph.nodes.get(*at).is_some_and(Owner::is_exit))
        .collect()
}

/// Whether every way from a node gives it back, before anything else may have it or takes it off a list.
fn is_given_back(owner: &Owner<'_, '_>, from: usize) -> bool {
    let ends = |at: usize| {
        let mut uses = owner.at(at).iter();
        uses.any(|own| !matches!(own, Use::Asked | Use::Used))
    };
    let mut on: HashSet<usize> = HashSet::from([from]);
    if !ends(from) {
        on.extend(owner.up_to(&[from], ends));
    }
    let gives = |at: usize| {
        let mut uses = owner.at(at).iter();
        uses.find(|own| !matches!(own, Use::Asked | Use::Used)) == Some(&Use::Released)
    };
    let left = exits(owner, &on);
    let mut ended = on.iter().copied().filter(|at| ends(*at)).peekable();
    ended.peek().is_some() && ended.all(gives) && left.iter().all(|at| gives(*at))
}
