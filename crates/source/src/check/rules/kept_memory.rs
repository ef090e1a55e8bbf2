use std::cell::OnceCell;
use std::collections::HashSet;

use crate::check::context::FunctionContext;
use crate::check::failures::{asks_itself, failures};
use crate::check::fate::{Arm, fallible, fate};
use crate::check::freed_with::{FreedWith, freed_with};
use crate::check::kept_member::{Kept, kept_members};
use crate::check::kept_place::kept_places;
use crate::check::kept_result::kept_results;
use crate::check::left_page::left_pages;
use crate::check::locks;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::owned::Owner;
use crate::check::pinned::{Left, left_pinned};
use crate::check::rule::{Look, Rule};
use crate::check::words::CheckWords;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "kept-memory",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "memory, a reference or a number is kept where a fault or an error leaves the function, which gives it back elsewhere",
    why: "Nobody has it behind that, and the user chooses when an access faults: he does it until the \
          machine has no memory left, or the count of a reference wraps.",
};

/// The variables that take what a call gives which may be the function's own.
fn taken(function: &FunctionContext<'_>) -> HashSet<String> {
    let words = function.file.words;
    let takes =
        |name: &str| words.takes(name) || words.owner_named(name).iter().any(|own| own.takes);
    let calls = function.calls.iter().filter(|call| {
        let name = function.callee(**call);
        name.is_some_and(takes)
    });
    let takers = calls.filter_map(|call| function.taker(*call));
    takers
        .filter_map(|own| own.name().map(str::to_owned))
        .collect()
}

/// Whether a call of the function's may fault without that it says so by itself: what gives a copy of
/// the user's memory, or hands a read() what it asks for.
fn may_fault(function: &FunctionContext<'_>) -> bool {
    let words = function.file.words;
    let mut names = function
        .calls
        .iter()
        .filter_map(|call| function.callee(*call));
    names.any(|name| words.may_fault(name))
}

/// The variables of the function whose object a call takes off its list, and where.
fn unlinked(function: &FunctionContext<'_>) -> Vec<(String, Span)> {
    let words = function.file.words;
    let calls = function.calls.iter().filter(|call| {
        let name = function.callee(**call);
        name.is_some_and(|name| words.unlinks(name))
    });
    let own = calls.filter_map(|call| {
        let whole = function.expression_of(*call);
        let first = whole.call()?.1.first()?.root().name()?;
        let own = function.graph.local(first).is_some();
        own.then(|| (first.to_owned(), span(*call)))
    });
    own.collect()
}

/// So many takings of a function are followed.
const MOST: usize = 256;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    out.extend(left_pinned(function).iter().map(|own| pins(function, own)));
    for own in left_pages(function) {
        let behind = ("an error", None);
        out.push(kept(function, &own.name, own.taken, behind, own.exit));
    }
    if fallible(function).next().is_none() && !may_fault(function) {
        return;
    }
    for own in kept_members(function) {
        out.push(of_member(function, &own));
    }
    for own in kept_places(function) {
        let behind = match own.access {
            Some(_) => ("a fault", own.access),
            None => ("an error", None),
        };
        out.push(kept(function, &own.name, own.taken, behind, own.exit));
    }
    out.extend(freed_with(function).iter().map(|own| lost(function, own)));
    let (taken, unlinked) = (taken(function), unlinked(function));
    let counts = |name: &str| taken.contains(name) || unlinked.iter().any(|(own, _)| own == name);
    for own in kept_results(function, counts) {
        let behind = ("a fault", Some(own.access));
        out.push(kept(function, &own.name, own.taken, behind, own.exit));
    }
    if taken.is_empty() && unlinked.is_empty() {
        return;
    }
    let owners = Owner::among(function, CheckWords::gives_back, counts);
    let all = owners.iter();
    let takes: Vec<Take<'_, '_>> = all.flat_map(|own| Take::all(own, &unlinked)).collect();
    if takes.is_empty() {
        return;
    }
    let mut faults = Fault::all(function);
    faults.extend(Fault::own(function));
    let mut told = HashSet::new();
    for (at, take) in takes.iter().enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        if let Some((fault, exit)) = take.kept(&faults)
            && told.insert(exit)
        {
            out.push(violation(take, fault, exit));
        }
    }
}

/// An access, and where ways begin that are taken where it faulted.
struct Fault {
    span: Span,
    nodes: Vec<usize>,
    arms: Vec<Arm>,
    /// Whether it is a function of the file that frees something, maybe what it is given.
    frees: bool,
    /// The condition of the function's own behind which it gives an error, where it is one.
    condition: Option<usize>,
}

impl Fault {
    fn all(function: &FunctionContext<'_>) -> Vec<Self> {
        let own = fallible(function).filter_map(|call| {
            let fate = fate(function, &call)?;
            let file = function.file;
            let body = file.body_named(&call.name).filter(|_| call.helper);
            let frees = |name: &str| file.words.gives_back(name);
            Some(Self {
                frees: body.is_some_and(|body| locks::names(function, body, frees)),
                span: call.span,
                nodes: function.graph.nodes_in(call.span).collect(),
                arms: fate.arms,
                condition: None,
            })
        });
        own.collect()
    }

    /// Conditions behind which one way gives nothing but errors.
    fn own(function: &FunctionContext<'_>) -> impl Iterator<Item = Self> {
        let all = failures(function).into_iter();
        all.map(|own| Self {
            span: Span::default(),
            nodes: vec![own.node],
            arms: vec![own.arm],
            frees: false,
            condition: Some(own.condition),
        })
    }
}

/// A variable that takes what is the function's own from there on.
struct Take<'o, 's> {
    owner: &'o Owner<'o, 's>,
    node: usize,
    value: Span,
    /// Whether it was somebody else's on a list before.
    unlinked: bool,
}

impl<'o, 's> Take<'o, 's> {
    fn all(owner: &'o Owner<'o, 's>, unlinked: &[(String, Span)]) -> Vec<Self> {
        let of = |node, value, unlinked| Self {
            owner,
            node,
            value,
            unlinked,
        };
        let takes = owner.takes().into_iter();
        let mut all: Vec<Self> = takes.map(|(node, value)| of(node, value, false)).collect();
        for (_, call) in unlinked.iter().filter(|own| own.0 == owner.local.name) {
            let nodes = owner.function.graph.nodes_in(*call);
            all.extend(nodes.map(|node| of(node, *call, true)));
        }
        all
    }

    /// The first access behind which a way leaves with it where that faulted, and where. Who
    /// was given it in between may have kept it, unless the function itself gives it back
    /// where the access did not fault.
    fn kept<'a>(&self, faults: &'a [Fault]) -> Option<(&'a Fault, Span)> {
        let own = self.owner.owned_behind(&[self.node], false);
        let lent = self.owner.owned_behind(&[self.node], true);
        let apart = |own: &&Fault| !own.span.contains(self.value) && !self.value.contains(own.span);
        let comes = |own: &Fault, to: &HashSet<usize>| own.nodes.iter().any(|at| to.contains(at));
        let given = |own: &&Fault| own.nodes.iter().any(|at| !self.owner.at(*at).is_empty());
        let faults = faults.iter().filter(|own| !own.frees || !given(own));
        // Who has another name for it may give it back, or ask for it, by that.
        let shared = OnceCell::new();
        let asked = |own: &&Fault| {
            own.condition.is_none_or(|own| {
                let owner = &self.owner;
                !asks_itself(owner.function, own, &owner.local.name)
                    && !*shared.get_or_init(|| self.is_shared())
            })
        };
        // Last what takes longest.
        let faults = faults.filter(apart).filter(|own| comes(own, &lent));
        let faults = faults.filter(asked);
        let mut left = faults.filter_map(|fault| {
            // Others may come to what is on no list by another way.
            let is_own = comes(fault, &own) && !self.unlinked && fault.condition.is_none();
            let is_left = |arm: &&Arm| is_own || self.owner.is_released_from(arm.success);
            // It may be given back before anybody asks whether it faulted.
            let behind = self.owner.owned_behind(&fault.nodes, false);
            let arms = fault.arms.iter().filter(|arm| behind.contains(&arm.fault));
            let exits = arms.filter(is_left).filter_map(|arm| self.exit(arm));
            Some((fault, exits.min()?))
        });
        left.next()
    }

    /// Whether another variable takes its value as it is.
    fn is_shared(&self) -> bool {
        let (function, name) = (self.owner.function, &self.owner.local.name);
        let mut taken = function.graph.assignments();
        taken.any(|(other, value)| {
            let value = function.expression(value).filter(|_| other != name);
            value.is_some_and(|value| value.uncast().1.name() == Some(name))
        })
    }

    fn exit(&self, arm: &Arm) -> Option<Span> {
        let function = self.owner.function;
        let nodes = self.owner.owned_from(arm.fault).into_iter();
        let exits = nodes.filter(|at| function.graph.nodes.get(*at).is_some_and(Owner::is_exit));
        exits.map(|at| function.place(at)).min()
    }
}

/// Pages of earlier rounds that stay pinned.
fn pins(function: &FunctionContext<'_>, own: &Left) -> Violation {
    let file = function.file;
    let message = format!(
        "the pages that earlier rounds of line {} pinned stay so, and {}, which has them, is freed",
        function.line(own.pinned),
        own.array
    );
    let mut violation = file.violation(&INFO, own.freed, "freed with them", message);
    violation.related.push(file.mark(own.pinned, "pinned here"));
    violation
}

/// What a member leads to whose object is freed.
fn lost(function: &FunctionContext<'_>, own: &FreedWith) -> Violation {
    let file = function.file;
    let message = format!(
        "what {} took on line {} is lost where what it lies in is freed",
        file.plain(own.member.span),
        function.line(own.taken)
    );
    let mut violation = file.violation(&INFO, own.freed, "freed without it", message);
    violation.related.push(file.mark(own.taken, "taken here"));
    violation
}

/// What a member of the function's own leads to.
fn of_member(function: &FunctionContext<'_>, own: &Kept) -> Violation {
    let what = function.file.plain(own.member.span);
    let behind = ("a fault", Some(own.access));
    kept(function, &what, own.taken, behind, own.exit)
}

fn violation(take: &Take<'_, '_>, fault: &Fault, exit: Span) -> Violation {
    let owner = &take.owner;
    let behind = match fault.condition {
        Some(_) => ("an error", None),
        None => ("a fault", Some(fault.span)),
    };
    kept(owner.function, &owner.local.name, take.value, behind, exit)
}

/// What something took in one place and still has where a fault leaves.
fn kept(
    function: &FunctionContext<'_>,
    what: &str,
    taken: Span,
    (behind, access): (&str, Option<Span>),
    exit: Span,
) -> Violation {
    let file = function.file;
    let message = format!(
        "what {what} took on line {} is kept where the function leaves behind {behind}",
        function.line(taken)
    );
    let mut violation = file.violation(&INFO, exit, "left with it", message);
    violation.related.push(file.mark(taken, "taken here"));
    let access = access.map(|at| file.mark(at, "may fault"));
    violation.related.extend(access);
    violation
}
