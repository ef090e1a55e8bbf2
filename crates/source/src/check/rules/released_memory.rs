use std::cell::OnceCell;
use std::collections::HashSet;

use crate::check::alias::{Again, given_back_by_two};
use crate::check::callee::{look_into, parameter};
use crate::check::context::FunctionContext;
use crate::check::dangling::{Dangling, dangling, handed_back};
use crate::check::fate::{Fallible, fallible, fate};
use crate::check::locks;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::other_heap::{OtherHeap, other_heaps};
use crate::check::owned::{Owner, Use};
use crate::check::pinned::dropped;
use crate::check::rule::{Look, Rule};
use crate::check::words::CheckWords;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "released-memory",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "what was given back is used, or given back once more, or to another than it came from",
    why: "It may be somebody else's by then. Where a fault leads there, the user chooses when.",
};

/// So many variables of a function are followed.
const MOST: usize = 256;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (at, owner) in Owner::all(function, CheckWords::frees).iter().enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        if let Some(own) = used(owner, is_use) {
            let words = ("used behind that", "ways lead here from there");
            out.push(behind_that(function, owner, own, words));
        }
    }
    // Of a reference others may have one of their own.
    let puts = |words: &CheckWords, name: &str| words.releases(name) && !words.frees(name);
    let again: fn(&Use) -> bool = |own| *own == Use::Released;
    for owner in Owner::all(function, puts).iter().take(MOST) {
        if owner.may_be_taken_again() {
            continue;
        }
        if let Some(own) = used(owner, again) {
            let words = (
                "given back again",
                "ways lead from there to where it is once more",
            );
            out.push(behind_that(function, owner, own, words));
        }
    }
    out.extend(copied_behind(function));
    out.extend(
        other_heaps(function)
            .iter()
            .map(|own| by_other(function, own)),
    );
    out.extend(dropped(function).iter().map(|own| by_other(function, own)));
    out.extend(freed_by_helper(function));
    out.extend(
        given_back_by_two(function)
            .iter()
            .map(|own| by_another(function, own)),
    );
    let mut told = HashSet::new();
    let left = dangling(function).into_iter().chain(handed_back(function));
    for own in left.filter(|own| told.insert(own.released)) {
        out.push(left_behind(function, &own));
    }
}

/// What is copied to or from a program behind where the function gave its reference back, by a
/// call that is known or whose name says so.
fn copied_behind(function: &FunctionContext<'_>) -> Vec<Violation> {
    let puts = |words: &CheckWords, name: &str| words.gives_back(name) && !words.frees(name);
    let owners = Owner::all(function, puts);
    let owners = owners.iter().take(MOST);
    let found = owners
        .filter(|own| !own.may_be_taken_again())
        .filter_map(|owner| {
            let own = used(owner, is_use).filter(|(at, _)| copies(function, *at))?;
            let alone = function.calls.iter().find(|call| span(**call) == own.1)?;
            let name = function.callee(*alone)?;
            let words = ("used behind that", "what it leads to is copied here");
            let is_put = function.file.words.releases(name) || is_named_for(owner, name);
            is_put.then(|| behind_that(function, owner, own, words))
        });
    found.collect()
}

/// Whether the variable has what it leads to from a call of the same family as the one that gives
/// it back: `foo_find()`, `foo_put()`.
fn is_named_for(owner: &Owner<'_, '_>, put: &str) -> bool {
    let function = owner.function;
    let put = function.file.words.owner_named(put);
    let mut values = function.graph.assignments();
    values.any(|(name, value)| {
        let value = function
            .expression(value)
            .filter(|_| name == owner.local.name);
        let taken = value.as_ref().and_then(|own| own.uncast().1.call());
        taken.is_some_and(|(taken, _)| {
            let same = |front: &str| !front.is_empty() && taken.starts_with(&format!("{front}_"));
            put.iter().any(|own| !own.takes && same(&own.front))
        })
    })
}

/// What a helper of the file frees where an access faults, and its caller does once more.
fn freed_by_helper(function: &FunctionContext<'_>) -> Vec<Violation> {
    let (file, words) = (function.file, function.file.words);
    let frees = |name: &str| words.frees(name);
    let helpers = fallible(function).filter(|call| call.helper);
    let helpers = helpers.filter(|call| {
        let body = file.body_named(&call.name);
        body.is_some_and(|body| locks::names(function, body, frees))
    });
    let helpers: Vec<Fallible<'_>> = helpers.take(MOST).collect();
    if helpers.is_empty() {
        return Vec::new();
    }
    let owners = Owner::all(function, CheckWords::frees);
    let found = helpers.iter().filter_map(|call| {
        let whole = function.expression_of(call.node);
        let (_, given) = whole.call()?;
        let arms = fate(function, call)?.arms;
        owners.iter().find_map(|owner| {
            let name = owner.local.name.as_str();
            let at = given
                .iter()
                .position(|own| own.uncast().1.name() == Some(name))?;
            let is_end = |at: &usize| owner.at(*at).contains(&Use::Released);
            let again = arms.iter().find_map(|arm| {
                let on = owner.owned_or_given_back_from(arm.fault);
                on.into_iter()
                    .filter(is_end)
                    .map(|at| function.place(at))
                    .min()
            })?;
            frees_on_fault(function, &call.name, at).then_some((name, call.span, again))
        })
    });
    let found = found.map(|(name, helper, again)| {
        let message = format!(
            "{name} is given back here, and was by what is called on line {} where that says that an access \
             faulted",
            function.line(helper)
        );
        let mut violation = file.violation(&INFO, again, "given back again", message);
        violation.related.push(file.mark(helper, "given back in there"));
        violation
    });
    found.collect()
}

/// Whether a function of the file frees what it is given in a place, only where an access
/// faulted.
fn frees_on_fault(function: &FunctionContext<'_>, name: &str, at: usize) -> bool {
    let own = look_into(function, name, |callee| {
        let own = parameter(callee, at)?;
        let words = callee.file.words;
        let mut calls = callee.calls.iter().filter(|call| {
            let whole = callee.expression_of(**call);
            let freed = whole.call().filter(|(name, _)| words.frees(name));
            freed
                .is_some_and(|(_, given)| given.iter().any(|of| of.uncast().1.name() == Some(&own)))
        });
        let only = calls.next().filter(|_| calls.next().is_none())?;
        let nodes: Vec<usize> = callee.graph.nodes_in(span(*only)).collect();
        let comes = |from: usize| {
            let all = callee.graph.reached(from, |_| false);
            nodes.iter().any(|at| all.contains(at))
        };
        let mut arms = fallible(callee).filter_map(|call| Some(fate(callee, &call)?.arms));
        let found = arms.any(|arms| {
            arms.iter()
                .any(|arm| comes(arm.fault) && !comes(arm.success))
        });
        found.then_some(())
    });
    own.is_some()
}

/// What is given back by a call that takes back other memory.
fn by_other(function: &FunctionContext<'_>, own: &OtherHeap) -> Violation {
    let file = function.file;
    let message = format!(
        "{}() gave what {} leads to, and {}() gives none of that back",
        own.given.1, own.what, own.released.1
    );
    let label = "given back to another";
    let mut violation = file.violation(&INFO, own.released.0, label, message);
    violation.related.push(file.mark(own.given.0, "taken here"));
    violation
}

/// What is given back by one variable, and was by another that leads to the same.
fn by_another(function: &FunctionContext<'_>, own: &Again) -> Violation {
    let file = function.file;
    let message = format!(
        "{} leads to what {} does, which was given back on line {}, and ways lead here from there",
        own.name,
        own.other,
        function.line(own.first)
    );
    let mut violation = file.violation(&INFO, own.again, "given back again", message);
    violation
        .related
        .push(file.mark(own.first, "given back here"));
    violation
}

/// What is done with a variable behind where it was given back.
fn behind_that(
    function: &FunctionContext<'_>,
    owner: &Owner<'_, '_>,
    (used, released): (Span, Span),
    (label, what): (&str, &str),
) -> Violation {
    let file = function.file;
    let name = &owner.local.name;
    let line = function.line(released);
    let message = format!("{name} was given back on line {line}, and {what}");
    let mut violation = file.violation(&INFO, used, label, message);
    let mark = file.mark(released, "given back here");
    violation.related.push(mark);
    violation
}

/// Whether something is copied to or from a program in a place: what may take long, and no more
/// than a look at a number that is kept elsewhere, too.
fn copies(function: &FunctionContext<'_>, at: Span) -> bool {
    let results = function.file.words.results();
    let mut calls = function
        .calls
        .iter()
        .filter(|call| at.contains(span(**call)));
    calls.any(|call| {
        function
            .callee(*call)
            .is_some_and(|name| results.copied(name).is_some())
    }) || function.accesses.iter().any(|own| at.contains(own.span))
}

/// A member that still leads to what was given back.
fn left_behind(function: &FunctionContext<'_>, own: &Dangling) -> Violation {
    let file = function.file;
    let message = format!(
        "{} still leads to what was given back where a fault on line {} leaves the function",
        file.plain(own.place.span),
        function.line(own.fault)
    );
    let mut violation = file.violation(&INFO, own.released, "given back here", message);
    violation.related.push(file.mark(own.fault, "may fault"));
    violation.related.push(file.mark(own.exit, "left with it"));
    violation
}

/// The first use behind that it was given back, and where that was.
fn used(owner: &Owner<'_, '_>, is_use: fn(&Use) -> bool) -> Option<(Span, Span)> {
    let with = |kind: Use| -> HashSet<usize> {
        let own = owner.nodes().filter(|(_, uses)| uses.contains(&kind));
        own.map(|(at, _)| at).collect()
    };
    let (released, taken) = (with(Use::Released), with(Use::Taken));
    let on_all = OnceCell::new();
    let place = |at: usize| owner.function.place(at);
    let uses = |at: &usize| owner.at(*at).iter().any(is_use);
    let mut all = released.iter().filter_map(|at| {
        let behind = owner.behind(&[*at], |on| taken.contains(&on));
        // Last what takes longest.
        let mut used: Vec<&usize> = behind.iter().filter(|on| *on != at && uses(on)).collect();
        used.first()?;
        let sure = owner.surely_behind(*at, |on| taken.contains(&on));
        let on_all = on_all.get_or_init(|| on_all_ways(owner, &released, &taken));
        used.retain(|on| sure.contains(on) || on_all.contains(on));
        Some((used.into_iter().map(|on| place(*on)).min()?, place(*at)))
    });
    let first = all.next()?;
    Some(all.fold(first, Ord::min))
}

/// Whether a mention needs what it leads to.
fn is_use(own: &Use) -> bool {
    matches!(own, Use::Used | Use::Released | Use::Lent)
}

/// The nodes to which no way comes with what was not given back.
fn on_all_ways(
    owner: &Owner<'_, '_>,
    released: &HashSet<usize>,
    taken: &HashSet<usize>,
) -> HashSet<usize> {
    let from: Vec<usize> = released.iter().copied().collect();
    let mut gone = owner.behind(&from, |at| taken.contains(&at));
    let fresh: Vec<usize> = taken.iter().copied().chain([0]).collect();
    let here = owner.up_to(&fresh, |at| released.contains(&at));
    gone.retain(|at| !here.contains(at));
    gone
}
