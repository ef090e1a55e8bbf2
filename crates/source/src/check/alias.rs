//! What two variables of a function lead to, and is given back by both.

use std::collections::{BTreeSet, HashSet};

use crate::flow::{Effect, EffectKind, StatementKind};
use crate::span::Span;

use super::context::FunctionContext;
use super::owned::{Owner, Use, released};
use super::words::CheckWords;

/// What is given back by a variable, and was by another before.
pub(crate) struct Again {
    pub(crate) name: String,
    pub(crate) other: String,
    /// Where it was given back first.
    pub(crate) first: Span,
    pub(crate) again: Span,
}

/// So many copied pointers of a function are followed.
const MOST: usize = 256;

/// What a function gives back so.
pub(crate) fn given_back_by_two(function: &FunctionContext<'_>) -> Vec<Again> {
    // Two are given back, or there is nothing to tell.
    let copies = match released(function, CheckWords::releases).len() {
        0 | 1 => BTreeSet::new(),
        _ => copies(function),
    };
    let is_copied = |name: &str| copies.iter().any(|(to, from)| to == name || from == name);
    let mut owners = match copies.is_empty() {
        true => Vec::new(),
        false => Owner::among(function, CheckWords::releases, is_copied),
    };
    owners.retain(|own| !own.may_be_taken_again());
    let of = |name: &str| owners.iter().find(|own| own.local.name == name);
    let pairs = copies
        .iter()
        .filter_map(|(to, from)| Some((of(to)?, of(from)?)));
    let mut found = Vec::new();
    for (at, (alias, own)) in pairs.enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        let set = set_from(alias, own);
        let both = [again(own, alias, &set), again(alias, own, &set)].into_iter();
        let told = both
            .flatten()
            .find(|found| !is_told_apart(own, alias, found));
        found.extend(told);
    }
    found
}

/// The variables that take the value of another one, with that.
fn copies(function: &FunctionContext<'_>) -> BTreeSet<(String, String)> {
    let graph = function.graph;
    let copied = |(to, value): (&str, Span)| {
        let own = function.expression(value)?;
        let from = own.uncast().1.name()?;
        let both = to != from && graph.local(to).is_some() && graph.local(from).is_some();
        both.then(|| (to.to_owned(), from.to_owned()))
    };
    graph.assignments().filter_map(copied).collect()
}

/// The nodes at which a variable takes the value of another.
fn set_from(alias: &Owner<'_, '_>, own: &Owner<'_, '_>) -> Vec<usize> {
    let function = alias.function;
    let graph = function.graph;
    let is_own = |effect: &Effect| graph.name_of(effect) == alias.local.name;
    let takes = |at: &usize| {
        graph
            .effects_of(*at)
            .iter()
            .any(|effect| match &effect.kind {
                EffectKind::Write(write) if graph.is_whole(effect) && is_own(effect) => {
                    let value = write.value.and_then(|value| function.expression(value));
                    value.is_some_and(|value| value.uncast().1.name() == Some(&own.local.name))
                }
                _ => false,
            })
    };
    let all = alias.nodes().map(|(at, _)| at);
    all.filter(takes).collect()
}

/// Whether something is given back where a condition names both: which is which is told by it.
fn is_told_apart(own: &Owner<'_, '_>, alias: &Owner<'_, '_>, found: &Again) -> bool {
    let function = own.function;
    let statements = function.graph.statements.iter();
    let around = statements.filter(|own| {
        let inside = own.span.contains(found.first) || own.span.contains(found.again);
        inside && matches!(own.kind, StatementKind::If | StatementKind::Loop)
    });
    let mut asked = around.filter_map(|own| function.expression(own.expression?));
    asked.any(|asked| {
        let names = |name: &str| asked.any(&|part| part.name() == Some(name));
        names(&own.local.name) && names(&alias.local.name)
    })
}

/// Where the second gives back what the first did, behind where one took the other's value.
fn again(first: &Owner<'_, '_>, second: &Owner<'_, '_>, set: &[usize]) -> Option<Again> {
    let with = |owner: &Owner<'_, '_>, kind: Use| -> HashSet<usize> {
        let own = owner.nodes().filter(|(_, uses)| uses.contains(&kind));
        own.map(|(at, _)| at).collect()
    };
    let (taken, taken_too) = (with(first, Use::Taken), with(second, Use::Taken));
    // Where the same condition is asked once more, they may not be the same.
    let stops = |at: usize| taken.contains(&at) || taken_too.contains(&at);
    let same = set.iter().flat_map(|at| first.surely_behind(*at, stops));
    let same: HashSet<usize> = same.collect();
    let place = |at: usize| first.function.place(at);
    let released = with(first, Use::Released);
    let mut found = released.intersection(&same).filter_map(|at| {
        let on = second.behind(&[*at], |at| taken_too.contains(&at));
        let again = with(second, Use::Released);
        let again = again.intersection(&on).map(|on| place(*on)).min()?;
        Some((place(*at), again))
    });
    let start = found.next()?;
    let (first_place, again) = found.fold(start, Ord::min);
    Some(Again {
        name: second.local.name.clone(),
        other: first.local.name.clone(),
        first: first_place,
        again,
    })
}
