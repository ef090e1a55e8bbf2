use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::fate::{Fallible, fallible, fate, is_given_users};
use crate::check::held::{Callees, Held, Kind, Named, Turn, turns};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::flow::{Action, Node as Step};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "kept-lock",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a lock is kept where a fault leaves the function, which lets it go elsewhere",
    why: "Whoever comes next waits for ever, and the user chooses when an access faults: a pointer to \
          nothing is enough to hang the device, or the machine.",
};

/// So many locks of a function are followed.
const MOST: usize = 512;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let turns = turns(function);
    if !turns.iter().any(|own| own.takes) {
        return;
    }
    let faulting = faulting(function);
    let callees = Callees::of(function, &turns);
    let named = Named::of(function);
    let faults = Fault::all(function);
    let (mut told, mut again) = (HashSet::default(), HashSet::default());
    let (mut asked, mut untaken) = (HashSet::default(), HashSet::default());
    for (at, taken) in turns.iter().filter(|own| own.takes).enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        let held = Held::of(function, taken, &turns, (&callees, &faulting, &named));
        if held.is_callers() {
            continue;
        }
        // Of a lock that is taken in several places once.
        let first = held.ends.iter().min().copied();
        if first.is_some_and(|first| asked.insert(first))
            // A bit that is cleared once more is as clear as before.
            && taken.kind != Kind::Bit
            && let Some((access, end)) = held.twice(&faults)
            && again.insert(end)
        {
            let how = "again behind a fault, and was let go before it";
            out.push(let_go(
                function,
                taken,
                (end, access),
                ("let go again", how),
            ));
        }
        if first.is_some_and(|first| untaken.insert(first))
            && let Some((access, end)) = held.untaken(&faults)
            && again.insert(end)
        {
            let how = "here behind a fault that comes before it";
            out.push(let_go(
                function,
                taken,
                (end, access),
                ("let go and not taken", how),
            ));
        }
        if let Some((access, exits)) = held.kept(&faults) {
            let exits = exits.into_iter().filter(|exit| told.insert(*exit));
            out.extend(exits.map(|exit| violation(function, taken, exit, access)));
        }
        if let Some(end) = held.never_asked()
            && again.insert(function.place(end))
        {
            out.push(unheld(function, taken, end));
        }
        let exits = held.left_behind_errors().into_iter();
        let exits = exits.filter(|exit| told.insert(*exit));
        out.extend(exits.map(|exit| left(function, taken, exit)));
    }
}

/// The accesses of the function, and its calls of others that may fault: those too of which
/// nothing is known but that they are given an address of the user's and asked what came of it.
fn faulting(function: &FunctionContext<'_>) -> HashSet<Span> {
    let calls = function.calls.iter().filter(|call| {
        let name = function.callee(**call);
        name.is_some_and(|name| {
            function.may_fault(name) || is_unknown(function, name) && is_asked(function, **call)
        })
    });
    let accesses = function.accesses.iter().map(|own| own.span);
    accesses.chain(calls.map(|call| span(*call))).collect()
}

/// Whether a call of that name is nothing that the rules know.
fn is_unknown(function: &FunctionContext<'_>, name: &str) -> bool {
    let words = function.file.words;
    let checks = words.checks_range(name.as_bytes()) || words.tells_errors(name);
    !checks && !words.knows(name) && !words.addresses(name) && !words.frees(name)
}

/// Whether a call is given an address of the user's, and its result tells of an error: it is a
/// condition, or what a variable takes that one asks.
fn is_asked(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let told = fate(function, &Fallible::of(function, call));
    // The type of an address takes a search of the headers.
    told.is_some_and(|own| !own.arms.is_empty()) && is_given_users(function, call)
}

/// An access, and where ways begin that are taken where it faulted.
struct Fault {
    span: Span,
    nodes: Vec<usize>,
    arms: Vec<usize>,
}

impl Fault {
    fn all(function: &FunctionContext<'_>) -> Vec<Self> {
        let own = fallible(function).filter_map(|call| {
            let arms = fate(function, &call)?.arms;
            let nodes: Vec<usize> = function.graph.nodes_in(call.span).collect();
            (!nodes.is_empty()).then(|| Self {
                span: call.span,
                nodes,
                arms: arms.iter().map(|arm| arm.fault).collect(),
            })
        });
        own.collect()
    }
}

impl Held<'_, '_> {
    /// The ways out on which it is kept behind an access, and the first such access; none
    /// where the function never lets it go.
    fn kept(&self, faults: &[Fault]) -> Option<(Span, BTreeSet<usize>)> {
        let graph = self.function.graph;
        let all = graph.reached_behind(self.taken.node, |_| false);
        let is_end = |at: &&usize| graph.nodes.get(**at).is_some_and(|own| self.is_end(own));
        let ends: Vec<usize> = all.iter().filter(is_end).copied().collect();
        if ends.is_empty() {
            return None;
        }
        let held = self.nodes();
        let own = self.accesses(&held, &ends);
        let asked = self.asked();
        let stops = |node: &Step| {
            let mut read = graph.effects_at(node).iter();
            let asks = read.any(|read| asked.contains(&read.span));
            asks || self.lets_go(node) || self.is_lent(node)
        };
        if !self.untaken_ways().is_empty() && self.leaves_otherwise(faults, &stops) {
            return None;
        }
        let under = |fault: &&Fault| fault.nodes.iter().any(|at| own.contains(at));
        let under = faults.iter().filter(under);
        let arms = under.flat_map(|own| own.arms.iter().copied());
        let (on, behind) = match self.counts() {
            true => (graph.reached_any(arms, stops), HashSet::default()),
            false => {
                let on = graph.reached_behind_any(own.iter().copied(), stops);
                // Behind a fault that is asked for while it is held it is, whoever else comes
                // to the same end without it.
                let behind = graph.reached_any(arms.filter(|arm| on.contains(arm)), stops);
                // What tries first goes on with care: others let it go on ways of their own.
                let on = if self.tried { HashSet::default() } else { on };
                (on, behind)
            }
        };
        let is_exit = |at: &usize| {
            let node = graph.nodes.get(*at);
            node.is_some_and(|node| matches!(node.action, Action::Exit { .. }))
        };
        let on = on.into_iter().filter(|exit| held.contains(exit));
        let exits = on.chain(behind).filter(is_exit);
        let first = own.iter().map(|at| self.function.place(*at)).min();
        Some((first?, exits.collect()))
    }

    /// Whether a way leaves with it that no fault takes: what a condition takes, others may know by another one.
    fn leaves_otherwise(&self, faults: &[Fault], stops: &impl Fn(&Step) -> bool) -> bool {
        let arms = faults.iter().flat_map(|own| own.arms.iter().copied());
        let arms: HashSet<usize> = arms.collect();
        let graph = self.function.graph;
        let ways = graph.reached_past(self.starts(), |at, node| stops(node) || arms.contains(&at));
        let mut ways = ways.iter().filter_map(|at| graph.nodes.get(*at));
        ways.any(|node| matches!(node.action, Action::Exit { .. }))
    }

    /// Where it is let go on a way that a fault takes to which every way comes behind that it
    /// was, and that access.
    fn twice(&self, faults: &[Fault]) -> Option<(Span, Span)> {
        if faults.is_empty() || self.ends.len() < 2 {
            return None;
        }
        let graph = self.function.graph;
        let all = 0..graph.nodes.len();
        let is_begin = |at: &usize| graph.nodes.get(*at).is_some_and(|own| self.is_begin(own));
        let begins: Vec<usize> = all.filter(is_begin).collect();
        let held = graph.reached_behind_any(begins, |node| self.lets_go(node));
        let callers = graph.reached(0, |node| self.is_end(node));
        let asked = self.asked();
        let stops = |node: &Step| {
            let mut read = graph.effects_at(node).iter();
            let asks = read.any(|read| asked.contains(&read.span));
            asks || self.is_begin(node) || self.is_given(node)
        };
        let free = |at: &usize| !held.contains(at) && !callers.contains(at);
        let faults = faults.iter().filter(|own| own.nodes.iter().all(free));
        let faults: Vec<&Fault> = faults.collect();
        // It may be taken again before anybody asks whether it faulted.
        let from = faults.iter().flat_map(|own| own.nodes.iter().copied());
        let behind = graph.reached_behind_any(from, |node| self.is_begin(node));
        let asks = |arm: &usize| behind.contains(arm);
        let arms = faults.iter().flat_map(|own| own.arms.iter().copied());
        let on = graph.reached_any(arms.filter(asks), stops);
        let mut ends = on.into_iter();
        let is_end = |at: &usize| graph.nodes.get(*at).is_some_and(|own| self.is_end(own));
        let end = ends
            .by_ref()
            .filter(is_end)
            .map(|at| self.function.place(at))
            .min()?;
        let asked = faults.iter().filter(|own| own.arms.iter().any(asks));
        Some((asked.map(|own| own.span).min()?, end))
    }

    /// Where it is let go on a way that a fault takes before it is taken, and on no other such
    /// way, and that access.
    fn untaken(&self, faults: &[Fault]) -> Option<(Span, Span)> {
        let lock = matches!(self.taken.kind, Kind::Known(_)) && !self.counts();
        if faults.is_empty() || !lock {
            return None;
        }
        let graph = self.function.graph;
        let asked = self.asked();
        let taken = |node: &Step| self.is_begin(node) || self.is_given(node);
        let stops = |node: &Step| {
            let mut read = graph.effects_at(node).iter();
            read.any(|read| asked.contains(&read.span)) || taken(node)
        };
        let free = graph.reached(0, taken);
        let faults = faults
            .iter()
            .filter(|own| own.nodes.iter().all(|at| free.contains(at)));
        let faults: Vec<&Fault> = faults.collect();
        let arms: HashSet<usize> = faults
            .iter()
            .flat_map(|own| own.arms.iter().copied())
            .collect();
        let others = graph.reached_past([0], |at, node| arms.contains(&at) || taken(node));
        let is_end = |at: &usize| graph.nodes.get(*at).is_some_and(|own| self.is_end(own));
        faults.iter().find_map(|fault| {
            let on = graph.reached_any(fault.arms.iter().copied(), stops);
            let ends = on
                .into_iter()
                .filter(is_end)
                .filter(|at| !others.contains(at));
            let end = ends.map(|at| self.function.place(at)).min()?;
            Some((fault.span, end))
        })
    }

    /// The accesses under it: none that some way comes to once it was let go.
    fn accesses(&self, held: &HashSet<usize>, ends: &[usize]) -> Vec<usize> {
        let graph = self.function.graph;
        let free = graph.reached_behind_any(ends.iter().copied(), |node| self.is_begin(node));
        let is_own = |at: &&usize| self.faulting.contains(&self.function.place(**at));
        let own = held.iter().filter(is_own).filter(|at| !free.contains(at));
        own.copied().collect()
    }
}

fn violation(function: &FunctionContext<'_>, taken: &Turn, exit: usize, access: Span) -> Violation {
    let file = function.file;
    let message = format!(
        "what {}() took on line {} is kept where the function leaves behind a fault",
        taken.name,
        function.line(taken.span)
    );
    let place = function.place(exit);
    let mut violation = file.violation(&INFO, place, "left with the lock", message);
    violation.related.push(file.mark(taken.span, "taken here"));
    violation.related.push(file.mark(access, "may fault"));
    violation
}

/// A lock that is held where the function gives an error.
fn left(function: &FunctionContext<'_>, taken: &Turn, exit: usize) -> Violation {
    let file = function.file;
    let message = format!(
        "what {}() took on line {} is kept where the function gives an error",
        taken.name,
        function.line(taken.span)
    );
    let place = function.place(exit);
    let mut violation = file.violation(&INFO, place, "left with the lock", message);
    violation.related.push(file.mark(taken.span, "taken here"));
    violation
}

/// A lock that is let go though nobody may have taken it.
fn unheld(function: &FunctionContext<'_>, taken: &Turn, end: usize) -> Violation {
    let file = function.file;
    let message = format!(
        "what {}() may not have taken on line {} is let go, whatever it gave",
        taken.name,
        function.line(taken.span)
    );
    let place = function.place(end);
    let mut violation = file.violation(&INFO, place, "let go and not taken", message);
    let mark = file.mark(taken.span, "gives an error number where it took nothing");
    violation.related.push(mark);
    violation
}

/// A lock that is let go where it is not held, or was not taken yet.
fn let_go(
    function: &FunctionContext<'_>,
    taken: &Turn,
    (end, access): (Span, Span),
    (label, how): (&'static str, &str),
) -> Violation {
    let file = function.file;
    let line = function.line(taken.span);
    let message = format!("what {}() takes on line {line} is let go {how}", taken.name);
    let mut violation = file.violation(&INFO, end, label, message);
    violation.related.push(file.mark(taken.span, "taken here"));
    violation.related.push(file.mark(access, "may fault"));
    violation
}
