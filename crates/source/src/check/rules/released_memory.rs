use std::collections::HashSet;

use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::owned::{Owner, Use};
use crate::check::rule::{Look, Rule};
use crate::check::words::CheckWords;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "released-memory",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "what was given back is used, or given back once more",
    why: "It may be somebody else's by then. Where a fault leads there, the user chooses when.",
};

/// So many variables of a function are followed.
const MOST: usize = 256;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (at, owner) in Owner::all(function, CheckWords::frees).iter().enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        if let Some((used, released)) = used(owner) {
            let file = function.file;
            let name = &owner.local.name;
            let message = format!(
                "{name} was given back on line {}, and ways lead here from there",
                function.line(released)
            );
            let mut violation = file.violation(&INFO, used, "used behind that", message);
            violation
                .related
                .push(file.mark(released, "given back here"));
            out.push(violation);
        }
    }
}

/// The first use behind that it was given back, and where that was.
fn used(owner: &Owner<'_, '_>) -> Option<(Span, Span)> {
    let with = |kind: Use| -> HashSet<usize> {
        let own = owner.nodes().filter(|(_, uses)| uses.contains(&kind));
        own.map(|(at, _)| at).collect()
    };
    let (released, taken) = (with(Use::Released), with(Use::Taken));
    let on_all = on_all_ways(owner, &released, &taken);
    let place = |at: usize| owner.function.place(at);
    let uses = |at: &usize| owner.at(*at).iter().any(is_use);
    let mut all = released.iter().filter_map(|at| {
        let sure = owner.surely_behind(*at, |on| taken.contains(&on));
        let used = sure
            .iter()
            .chain(&on_all)
            .filter(|on| *on != at && uses(on));
        let behind = owner.behind(&[*at], |on| taken.contains(&on));
        let used = used.filter(|on| behind.contains(on));
        Some((used.map(|on| place(*on)).min()?, place(*at)))
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
