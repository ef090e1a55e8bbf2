//! What a call fills a variable of the function with by its address, and another call takes back the
//! same way: a path, a table, a map of colours. It is kept where an error leaves in between.

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::flow::{Action, EffectKind, Node as Step, StatementKind};
use crate::hashed::HashSet;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::failures::{Failure, asks_itself, failures};
use super::fate::{Arm, Fallible, fallible, fate, taken};
use super::held::is_alone;
use super::locks;

/// So many variables of a function are followed.
const MOST: usize = 16;

/// A variable that is left as it was filled.
pub(crate) struct KeptPlace {
    pub(crate) name: String,
    /// The call that filled it.
    pub(crate) taken: Span,
    /// The access that may fault, where it is one, behind which it is kept.
    pub(crate) access: Option<Span>,
    pub(crate) exit: Span,
}

/// All of a function.
pub(crate) fn kept_places(function: &FunctionContext<'_>) -> Vec<KeptPlace> {
    let names = given_back(function);
    let mut found = Vec::new();
    if names.is_empty() || function.graph.computed {
        return found;
    }
    let failures = failures(function);
    for (at, name) in names.iter().enumerate() {
        if function.stops_at(at, MOST) {
            break;
        }
        found.extend(Place::of(function, name, &failures).and_then(|own| own.kept(&failures)));
    }
    found
}

/// The variables that a call takes back, and that another one is given the address of.
fn given_back(function: &FunctionContext<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for call in function
        .calls
        .iter()
        .filter(|call| takes_back(function, **call))
    {
        let name = first_given(function, *call).filter(|own| !found.contains(own));
        found.extend(name.filter(|own| is_structure(function, own) || is_allocated(function, own)));
    }
    found
}

/// Whether a call takes back what it is given. Of one that may fail somebody asks what it gives:
/// `mptcp_put_subflow_data(&sfd, u)` puts it to the user.
fn takes_back(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let name = function.callee(call);
    name.is_some_and(|own| function.file.words.gives_back(own)) && is_alone(function, call)
}

/// `x` of `f(&x)` and of `f(x)`.
fn first_given(function: &FunctionContext<'_>, call: Node<'_>) -> Option<String> {
    let whole = function.expression_of(call);
    let first = whole.call()?.1.first()?.uncast().1;
    let own = address(first).or_else(|| first.name())?;
    Some(own.to_owned())
}

/// `x` of `&x`.
fn address(own: &Expression) -> Option<&str> {
    match &own.uncast().1.term {
        Term::Address(place) => place.name(),
        _ => None,
    }
}

/// Whether a call puts the address of memory there that it allocates: `import_iovec(…, &iov, &iter)`.
fn is_allocated(function: &FunctionContext<'_>, name: &str) -> bool {
    let mut calls = function.calls.iter();
    calls.any(|call| allocated_by(function, *call).as_deref() == Some(name))
}

/// The variable in which a call puts the address of memory that it allocates.
fn allocated_by(function: &FunctionContext<'_>, call: Node<'_>) -> Option<String> {
    let at = function.file.words.allocates_at(function.callee(call)?)?;
    let whole = function.expression_of(call);
    Some(address(whole.call()?.1.get(at)?)?.to_owned())
}

/// Whether it is the one variable of that name, and no pointer.
fn is_structure(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let mut locals = graph.locals.iter().filter(|own| own.name == name);
    let local = locals.next().filter(|_| locals.next().is_none());
    local.is_some_and(|own| {
        let plain = own.plain && !own.lasting && !own.cleaned && !own.initialised;
        plain && !graph.unseen.contains(name)
    })
}

/// A variable of the function, and what is done with it.
struct Place<'f, 's> {
    function: &'f FunctionContext<'s>,
    name: &'f str,
    /// The call that fills it, and where the ways begin on which it did.
    taken: Span,
    starts: Vec<usize>,
    /// What says whether it did: where it is asked, and the variable that holds it.
    forks: Vec<usize>,
    told: Option<usize>,
    /// The calls that take it back, or may.
    released: HashSet<Span>,
    /// What is read where an `if` asks whether to.
    asked: HashSet<Span>,
    /// Where something else takes what it holds.
    handed: HashSet<Span>,
}

impl<'f, 's> Place<'f, 's> {
    fn of(function: &'f FunctionContext<'s>, name: &'f str, failures: &[Failure]) -> Option<Self> {
        let given = |call: &&Node<'_>| {
            let whole = function.expression_of(**call);
            let mut given = whole.call().into_iter().flat_map(|(_, given)| given);
            given.any(|own| address(own) == Some(name))
        };
        let back = |call: &Node<'_>| takes_back(function, *call) || may_give_back(function, *call);
        let released = function.calls.iter().filter(|call| {
            back(call) && first_given(function, **call).is_some_and(|own| own == name)
        });
        let mut released: HashSet<Span> = released.map(|call| span(*call)).collect();
        let mut others = function.calls.iter().filter(given);
        let taker = others
            .by_ref()
            .find(|call| !released.contains(&span(**call)))?;
        let (callee, words) = (function.callee(*taker)?, function.file.words);
        if words.access(callee).is_some()
            || words.clears(callee).is_some()
            || words.may_fault(callee) && words.allocates_at(callee).is_none()
        {
            return None;
        }
        released.extend(others.filter(|call| back(call)).map(|call| span(*call)));
        let told = taken(function, *taker).and_then(|own| function.graph.effects.get(own.effect));
        let arms = fate(function, &Fallible::of(function, *taker))?.arms;
        let mut own = Self {
            function,
            name,
            taken: span(*taker),
            starts: arms.iter().map(|arm| success(arm, failures)).collect(),
            forks: arms.iter().map(|arm| arm.fork).collect(),
            told: told.map(|own| own.place),
            asked: HashSet::default(),
            handed: handed(function, name),
            released,
        };
        own.asked = own.asked();
        (!own.starts.is_empty() && own.is_taken_back_alone()).then_some(own)
    }

    /// Whether no way takes it back that the call did not fill it on.
    fn is_taken_back_alone(&self) -> bool {
        let graph = self.function.graph;
        let free = graph.reached(0, |node| node.span == self.taken);
        let ends = |at: &usize| {
            graph
                .nodes
                .get(*at)
                .is_some_and(|own| self.is_released(own))
        };
        !free.iter().any(ends)
    }

    fn is_released(&self, node: &Step) -> bool {
        matches!(node.action, Action::Call(_)) && self.released.contains(&node.span)
    }

    /// What is read where an `if` asks whether to take it back.
    fn asked(&self) -> HashSet<Span> {
        let graph = self.function.graph;
        let asking = graph.statements.iter().filter(|own| {
            let holds = self.released.iter().any(|call| own.span.contains(*call));
            // One that leaves with it taken back is a failure of its own.
            own.kind == StatementKind::If
                && holds
                && !graph.inside(own.span).any(|own| graph.leaves(own))
        });
        let asked = asking.filter_map(|own| own.expression);
        let read = asked.flat_map(|place| graph.effects_in(place));
        read.map(|own| own.span).collect()
    }

    fn stops(&self, node: &Step) -> bool {
        let graph = self.function.graph;
        let mut effects = graph.effects_at(node).iter();
        let by_effect = effects.any(|own| {
            let named = graph.is_whole(own) && graph.name_of(own) == self.name;
            named && matches!(own.kind, EffectKind::Write(_) | EffectKind::Read)
                || self.asked.contains(&own.span)
                || self.handed.contains(&own.span)
        });
        by_effect || self.is_released(node)
    }

    /// Where it is kept behind what fails while it is held.
    fn kept(&self, failures: &[Failure]) -> Option<KeptPlace> {
        let function = self.function;
        function.pays()?;
        let graph = function.graph;
        let held = graph.reached_any(self.starts.iter().copied(), |node| self.stops(node));
        let known = graph.reached_any(self.starts.iter().copied(), |node| self.tells_anew(node));
        let apart = |arm: &Arm| held.contains(&arm.fork) && !self.forks.contains(&arm.fork);
        let own = failures
            .iter()
            .filter(|own| apart(&own.arm) && !self.asks(own, &known));
        let own = own.map(|own| (own.arm, None));
        let accesses = fallible(function).filter(|call| call.span != self.taken);
        let faults = accesses.flat_map(|call| {
            let arms = fate(function, &call).map_or_else(Vec::new, |own| own.arms);
            arms.into_iter().map(move |arm| (arm, Some(call.span)))
        });
        let mut left = own.chain(faults.filter(|(arm, _)| apart(arm)));
        left.find_map(|(arm, access)| {
            let exit = self.exit(&arm)?;
            Some(KeptPlace {
                name: self.name.to_owned(),
                taken: self.taken,
                access,
                exit,
            })
        })
    }

    /// Whether a condition may tell whether the variable was filled.
    fn asks(&self, own: &Failure, known: &HashSet<usize>) -> bool {
        let graph = self.function.graph;
        let condition = graph.conditions.get(own.condition);
        let reads = condition.map_or(&[][..], |own| &own.reads);
        let told = self.told.is_some_and(|place| reads.contains(&place));
        told && known.contains(&own.node) || asks_itself(self.function, own.condition, self.name)
    }

    /// Whether what says whether it was filled takes another value at a node.
    fn tells_anew(&self, node: &Step) -> bool {
        let mut effects = self.function.graph.effects_at(node).iter();
        effects.any(|own| Some(own.place) == self.told && matches!(own.kind, EffectKind::Write(_)))
    }

    /// Where a way leaves with it that others divide from which take it back.
    fn exit(&self, arm: &Arm) -> Option<Span> {
        let graph = self.function.graph;
        let node = |at: &usize| graph.nodes.get(*at);
        let on = graph.reached(arm.success, |_| false);
        on.iter()
            .filter_map(node)
            .any(|own| self.is_released(own))
            .then_some(())?;
        let left = graph.reached(arm.fault, |node| self.stops(node));
        let exits = left.into_iter();
        let exits = exits
            .filter(|at| node(at).is_some_and(|own| matches!(own.action, Action::Exit { .. })));
        let exits = exits.filter(|at| node(at).is_some_and(|own| !self.stops(own)));
        exits.map(|at| self.function.place(at)).min()
    }
}

/// Where a way goes on behind what asks whether a call failed: the other one gives an error.
fn success(arm: &Arm, failures: &[Failure]) -> usize {
    let own = failures.iter().find(|own| own.node == arm.fork);
    own.map_or(arm.success, |own| own.arm.success)
}

/// Whether a function of the file gives something back, maybe what it is given.
fn may_give_back(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let file = function.file;
    let body = function.callee(call).and_then(|name| file.body_named(name));
    body.is_some_and(|body| locks::names(function, body, |name| file.words.gives_back(name)))
}

/// What is read of a variable where another place takes it, as it is: `file->f_path = path`. What a
/// variable of the function takes that nobody gives back is no such place.
fn handed(function: &FunctionContext<'_>, name: &str) -> HashSet<Span> {
    let mut found = HashSet::default();
    let kinds = [
        "assignment_expression",
        "init_declarator",
        "return_statement",
    ];
    function.each_of(&kinds, |node| {
        let value = node.part("right").or_else(|| node.part("value"));
        let value = value.or_else(|| {
            node.named_child(0)
                .filter(|_| node.known_kind() == "return_statement")
        });
        let value = value.map(|own| function.expression_of(own));
        let Some(own) = value.filter(|own| is_of(own.uncast().1, name)) else {
            return;
        };
        if is_lent(function, node) {
            return;
        }
        found.extend(function.graph.effects_in(own.span).map(|own| own.span));
    });
    found
}

/// Whether what takes a value is a variable of the function that nobody gives back.
fn is_lent(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let mut place = node.part("left").or_else(|| node.part("declarator"));
    while let Some(own) = place.filter(|own| own.known_kind() == "pointer_declarator") {
        place = own.part("declarator");
    }
    let place = place.map(|own| function.expression_of(own));
    let name = place.as_ref().and_then(|own| own.name());
    let back = |call: &Node<'_>| {
        let own = function.callee(*call);
        own.is_some_and(|own| function.file.words.gives_back(own))
    };
    name.is_some_and(|name| {
        let mut calls = function.calls.iter().filter(|call| back(call));
        function.graph.local(name).is_some()
            && !calls.any(|call| first_given(function, *call).as_deref() == Some(name))
    })
}

/// `x`, `&x`, `x.member`
fn is_of(own: &Expression, name: &str) -> bool {
    match &own.term {
        Term::Address(place) => is_of(place, name),
        Term::Member {
            holder,
            arrow: false,
            ..
        } => is_of(holder, name),
        _ => own.name() == Some(name),
    }
}
