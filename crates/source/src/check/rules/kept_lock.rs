use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::fate::{Arm, Fallible, fallible, fate, is_given_users};
use crate::check::locks;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::words::CheckWords;
use crate::expression::Expression;
use crate::flow::{Action, Effect, Node as Step, StatementKind};
use crate::hashed::{HashMap, HashSet};
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

/// What tells apart the locks that calls take and let go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    /// One of the data, or of a header's.
    Known(usize),
    /// What the calls' names say.
    Named(String),
    /// A bit of a word.
    Bit,
}

/// What a call of that name does to a lock, and whether it takes it.
fn kind(words: &CheckWords, name: &str) -> Option<(Kind, bool)> {
    let known = words
        .lock_of(name)
        .map(|(kind, takes)| (Kind::Known(kind), takes));
    let named = || {
        words
            .lock_named(name)
            .map(|(stem, takes)| (Kind::Named(stem), takes))
    };
    let bit = || words.results().bit(name).map(|sets| (Kind::Bit, sets));
    known.or_else(bit).or_else(named)
}

/// A call that takes a lock or lets it go.
struct Turn {
    node: usize,
    span: Span,
    name: String,
    kind: Kind,
    takes: bool,
    /// The lock, where it is an argument.
    lock: Option<Expression>,
    /// Which bit of it is one.
    bit: Option<Expression>,
    /// Where it is known whether it was taken: the other way it was another one's already.
    arms: Vec<Arm>,
}

impl Turn {
    /// Sets a bit and asks whether it was set, or clears one.
    fn of_bit(
        function: &FunctionContext<'_>,
        call: Node<'_>,
        (node, takes): (usize, bool),
    ) -> Option<Self> {
        let whole = function.expression_of(call);
        let (name, given) = whole.call()?;
        let [bit, lock] = given else { return None };
        let own = || fate(function, &Fallible::of(function, call)).map(|own| own.arms);
        let arms = match takes {
            true => own().filter(|own| !own.is_empty())?,
            false => Vec::new(),
        };
        Some(Self {
            node,
            span: span(call),
            name: name.to_owned(),
            kind: Kind::Bit,
            takes,
            lock: Some(lock.clone()),
            bit: Some(bit.clone()),
            arms,
        })
    }
}

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let turns = turns(function);
    if !turns.iter().any(|own| own.takes) {
        return;
    }
    let faulting = faulting(function);
    if faulting.is_empty() {
        return;
    }
    let callees = letting_go(function, &turns);
    let named = Named::of(function);
    let faults = Fault::all(function);
    let (mut told, mut again) = (HashSet::default(), HashSet::default());
    let (mut asked, mut untaken) = (HashSet::default(), HashSet::default());
    for (at, taken) in turns.iter().filter(|own| own.takes).enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        let held = Held::of(function, taken, &turns, (&callees, &faulting, &named));
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
        let Some((access, exits)) = held.kept(&faults) else {
            continue;
        };
        let exits = exits.into_iter().filter(|exit| told.insert(*exit));
        out.extend(exits.map(|exit| violation(function, taken, exit, access)));
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

/// The locks' calls of the function.
fn turns(function: &FunctionContext<'_>) -> Vec<Turn> {
    let is_lock = |own: &Node<'_>| {
        let words = function.file.words;
        let name = function.callee(*own);
        name.is_some_and(|name| words.locker(name).is_some() || kind(words, name).is_some())
    };
    if !function.calls.iter().any(is_lock) {
        return Vec::new();
    }
    let places: HashMap<Span, usize> = (0..function.graph.nodes.len())
        .map(|at| (function.place(at), at))
        .collect();
    let calls = function.calls.iter().filter_map(|call| {
        let name = function.callee(*call)?;
        let words = function.file.words;
        let known = words
            .lock_of(name)
            .or_else(|| locks::headers(function, name));
        let known = known.map(|(kind, takes)| (Kind::Known(kind), takes));
        let (kind, takes) = known.or_else(|| kind(words, name))?;
        let node = *places.get(&span(*call))?;
        if kind == Kind::Bit {
            return Turn::of_bit(function, *call, (node, takes));
        }
        Some(Turn {
            node,
            span: span(*call),
            name: name.to_owned(),
            kind,
            takes,
            lock: locks::given(function, *call),
            bit: None,
            arms: Vec::new(),
        })
    });
    calls.collect()
}

/// The effects of a function, in the order of the text: which stand in a place is asked for
/// each call.
struct Named<'f>(Vec<&'f Effect>);

impl<'f> Named<'f> {
    fn of(function: &'f FunctionContext<'_>) -> Self {
        let mut all: Vec<&Effect> = function.graph.effects.iter().collect();
        all.sort_by_key(|own| own.span.start);
        Self(all)
    }

    fn inside(&self, place: Span) -> impl Iterator<Item = &'f Effect> {
        let from = self.0.partition_point(|own| own.span.start < place.start);
        let behind = self.0.iter().skip(from).copied();
        let near = behind.take_while(move |own| own.span.start < place.end);
        near.filter(move |own| place.contains(own.span))
    }
}

/// The functions of the file that the function calls and that let a lock go, with its kind.
fn letting_go(function: &FunctionContext<'_>, turns: &[Turn]) -> HashSet<(String, Kind)> {
    let file = function.file;
    let calls = function.calls.iter();
    let called: HashSet<&[u8]> = calls.map(|call| function.context.callee(*call)).collect();
    let bodies = file.bodies.iter();
    let bodies = bodies.filter(|body| called.contains(body.name.as_bytes()));
    let kinds = bodies.flat_map(|body| {
        let lets_go = |of: &Kind| {
            locks::names(function, body, |name| {
                kind(file.words, name).is_some_and(|(own, takes)| !takes && own == *of)
            })
        };
        let kinds: BTreeSet<&Kind> = turns.iter().map(|own| &own.kind).collect();
        let own = kinds.into_iter().filter(|kind| lets_go(kind));
        own.map(|kind| (body.name.clone(), kind.clone()))
            .collect::<Vec<_>>()
    });
    kinds.collect()
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

/// A lock that the function takes, and what it says of it elsewhere.
struct Held<'f, 's> {
    function: &'f FunctionContext<'s>,
    taken: &'f Turn,
    begins: HashSet<Span>,
    ends: HashSet<Span>,
    callees: &'f HashSet<(String, Kind)>,
    faulting: &'f HashSet<Span>,
    named: &'f Named<'f>,
}

impl<'f, 's> Held<'f, 's> {
    fn of(
        function: &'f FunctionContext<'s>,
        taken: &'f Turn,
        turns: &[Turn],
        (callees, faulting, named): (
            &'f HashSet<(String, Kind)>,
            &'f HashSet<Span>,
            &'f Named<'f>,
        ),
    ) -> Self {
        let same = turns.iter().filter(|own| is_same(taken, own));
        let (begins, ends): (Vec<&Turn>, Vec<&Turn>) = same.partition(|own| own.takes);
        let places = |turns: Vec<&Turn>| turns.into_iter().map(|own| own.span).collect();
        Self {
            function,
            taken,
            begins: places(begins),
            ends: places(ends),
            callees,
            faulting,
            named,
        }
    }

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
            asks || self.lets_go(node) || self.is_given(node)
        };
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

    /// Whether it may be kept where nothing faults.
    fn counts(&self) -> bool {
        match self.taken.kind {
            Kind::Known(kind) => self.function.file.words.counts_things(kind),
            Kind::Named(_) => false,
            Kind::Bit => true,
        }
    }

    fn is_end(&self, node: &Step) -> bool {
        self.ends.contains(&node.span)
    }

    fn is_begin(&self, node: &Step) -> bool {
        self.begins.contains(&node.span)
    }

    /// Whether it is let go there, by the function or by another of the file; a bit goes with
    /// the file that becomes the program's.
    fn lets_go(&self, node: &Step) -> bool {
        let words = self.function.file.words;
        let installed = |name: &str| words.installs(name) || words.makes_file_of(name).is_some();
        let by_callee = || match &node.action {
            Action::Call(call) => {
                let own = (call.name.clone(), self.taken.kind.clone());
                self.callees.contains(&own) || self.taken.kind == Kind::Bit && installed(&call.name)
            }
            _ => false,
        };
        self.is_end(node) || by_callee()
    }

    /// What is come to with it, and no way from the front without.
    fn nodes(&self) -> HashSet<usize> {
        let graph = self.function.graph;
        let lets_go = |node: &Step| self.lets_go(node);
        let arms = || self.taken.arms.iter();
        let mut held = match self.taken.arms.is_empty() {
            true => graph.reached_behind(self.taken.node, lets_go),
            false => graph.reached_any(arms().map(|arm| arm.success), lets_go),
        };
        let others = arms().map(|arm| arm.fault);
        let free = graph.reached_any(others.chain([0]), |node| self.is_begin(node));
        held.retain(|at| !free.contains(at));
        held
    }

    /// The accesses under it: none that some way comes to once it was let go.
    fn accesses(&self, held: &HashSet<usize>, ends: &[usize]) -> Vec<usize> {
        let graph = self.function.graph;
        let free = graph.reached_behind_any(ends.iter().copied(), |node| self.is_begin(node));
        let is_own = |at: &&usize| self.faulting.contains(&self.function.place(**at));
        let own = held.iter().filter(is_own).filter(|at| !free.contains(at));
        own.copied().collect()
    }

    /// What is read where an `if` asks whether to let it go: `if (locked) mutex_unlock(…)`.
    fn asked(&self) -> HashSet<Span> {
        let statements = self.function.graph.statements.iter();
        let asked = statements.filter(|own| {
            let inside = |end: &Span| own.span.contains(*end);
            own.kind == StatementKind::If && self.ends.iter().any(inside)
        });
        let asked = asked.filter_map(|own| own.expression);
        let read = asked.flat_map(|place| self.named.inside(place));
        read.map(|own| own.span).collect()
    }

    /// Whether a call is given what the lock is a part of: it may let it go.
    fn is_given(&self, node: &Step) -> bool {
        let Action::Call(call) = &node.action else {
            return false;
        };
        // One that has no argument is nobody's part: `rtnl_lock()`.
        let Some(lock) = &self.taken.lock else {
            return false;
        };
        let root = lock.root().name();
        let words = self.function.file.words;
        let locks = kind(words, &call.name).is_some() || words.locker(&call.name).is_some();
        let knows = locks || words.access(&call.name).is_some();
        let names = |root: &str| {
            let mut inside = self.named.inside(node.span);
            inside.any(|own| self.function.graph.name_of(own) == root)
        };
        !knows && root.is_none_or(names)
    }
}

/// Whether one call may let go what the other has taken.
fn is_same(taken: &Turn, other: &Turn) -> bool {
    let member = |own: &Turn| own.lock.as_ref().and_then(locks::member).map(str::to_owned);
    taken.kind == other.kind && taken.bit == other.bit && member(taken) == member(other)
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
