//! A lock that a function takes, and where it is held.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use tree_sitter::Node;

use super::context::FunctionContext;
use super::failures::failures;
use super::fate::{Arm, Fallible, Fate, fate};
use super::locks;
use super::untaken::untaken_ways;
use super::words::{CheckWords, Permission};
use crate::calls::Deed;
use crate::expression::{Expression, Term};
use crate::flow::{Action, Effect, Node as Step, StatementKind};
use crate::hashed::{HashMap, HashSet};
use crate::lex::TokenKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;
use crate::split::Body;
use tollgate_defect::answer;

/// What tells apart the locks that calls take and let go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// One of the data, or of a header's.
    Known(usize),
    /// What the calls' names say.
    Named(String),
    /// The same of what counts things.
    Counted(String),
    /// A bit of a word.
    Bit,
}

/// What a call of that name does to a lock, and whether it takes it.
pub(crate) fn kind(words: &CheckWords, name: &str) -> Option<(Kind, bool)> {
    let known = words
        .lock_of(name)
        .map(|(kind, takes)| (Kind::Known(kind), takes));
    let named = || {
        words
            .lock_named(name)
            .map(|(stem, takes)| (Kind::Named(stem), takes))
    };
    let bit = || words.results().bit(name).map(|sets| (Kind::Bit, sets));
    // Most names are none of these, which is quick to say.
    if known.is_none() && !words.may_be_named(name) {
        return bit();
    }
    let counted = || {
        words
            .count_named(name)
            .map(|(stem, takes)| (Kind::Counted(stem), takes))
    };
    known.or_else(bit).or_else(named).or_else(counted)
}

/// What a call of that name tries to take, whose result is not 0 where it did.
fn tried(words: &CheckWords, name: &str) -> Option<Kind> {
    let known = words.lock_tried(name).map(Kind::Known);
    let named = || words.try_named(name).map(Kind::Named);
    known.or_else(named)
}

/// A call that takes a lock or lets it go.
pub(crate) struct Turn {
    pub(crate) node: usize,
    pub(crate) span: Span,
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) takes: bool,
    /// The lock, where it is an argument.
    pub(crate) lock: Option<Expression>,
    /// Which bit of it is one.
    pub(crate) bit: Option<Expression>,
    /// Where it is known whether it was taken: the other way it was another one's already.
    pub(crate) arms: Vec<Arm>,
    /// Whether its result is used, and nobody can tell what it says of that.
    pub(crate) unclear: bool,
    /// Whether it is taken only where nobody has it.
    tried: bool,
}

impl Turn {
    /// Sets a bit and asks whether it was set, or clears one.
    pub(crate) fn of_bit(
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
            unclear: false,
            tried: false,
        })
    }

    /// Takes a lock where nobody has it: `if (!mutex_trylock(&d->lock)) return -EBUSY;`
    fn of_tried(function: &FunctionContext<'_>, call: Node<'_>, at: (usize, Kind)) -> Option<Self> {
        let own = fate(function, &Fallible::of(function, call)).filter(|own| !own.told)?;
        (!own.arms.is_empty()).then_some(())?;
        let arms = own.arms.into_iter().map(Arm::turned).collect();
        let own = Self::on_arms(function, call, at, arms)?;
        Some(Self { tried: true, ..own })
    }

    /// Counts something, or gives an error number: `err = dev_get_access(d); if (err) return err;`
    fn of_counted(
        function: &FunctionContext<'_>,
        call: Node<'_>,
        (node, kind): (usize, Kind),
    ) -> Option<Self> {
        let own = fate(function, &Fallible::of(function, call)).filter(|own| !own.told)?;
        let arms = own.arms;
        let told = !arms.is_empty() && !arms.iter().any(|arm| arm.negated);
        (told && is_given_back_alike(function, call, &kind)).then_some(())?;
        Self::on_arms(function, call, (node, kind), arms)
    }

    /// Takes one on one side of each of these questions, and none on the other.
    fn on_arms(
        function: &FunctionContext<'_>,
        call: Node<'_>,
        (node, kind): (usize, Kind),
        arms: Vec<Arm>,
    ) -> Option<Self> {
        Some(Self {
            node,
            span: span(call),
            name: function.callee(call)?.to_owned(),
            kind,
            takes: true,
            lock: locks::given(function, call),
            bit: None,
            arms,
            unclear: false,
            tried: false,
        })
    }
}

/// The locks' calls of the function.
pub(crate) fn turns(function: &FunctionContext<'_>) -> Vec<Turn> {
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
    let fails = OnceCell::new();
    let calls = function.calls.iter().filter_map(|call| {
        let name = function.callee(*call)?;
        let words = function.file.words;
        let known = words
            .lock_of(name)
            .or_else(|| locks::headers(function, name));
        let known = known.map(|(kind, takes)| (Kind::Known(kind), takes));
        let node = *places.get(&span(*call))?;
        let Some((kind, takes)) = known.or_else(|| kind(words, name)) else {
            return Turn::of_tried(function, *call, (node, tried(words, name)?));
        };
        // What copies from the user gives a number, and what finds a thing gives that.
        if matches!(kind, Kind::Counted(_)) && takes && !is_alone(function, *call) {
            let turn = Turn::of_counted(function, *call, (node, kind))?;
            return fails
                .get_or_init(|| failing(function))
                .contains(&turn.arms.first()?.fork)
                .then_some(turn);
        }
        if kind == Kind::Bit {
            return Turn::of_bit(function, *call, (node, takes));
        }
        let own = match takes {
            true => Told::of(function, *call),
            false => Told::default(),
        };
        Some(Turn {
            node,
            span: span(*call),
            name: name.to_owned(),
            kind,
            takes,
            lock: locks::given(function, *call),
            bit: None,
            arms: own.arms,
            unclear: own.unclear,
            tried: false,
        })
    });
    calls.collect()
}

/// Whether another call lets go of what one counts, given the same: what is given an address to fill may
/// as well fetch something, which the other one hands back.
fn is_given_back_alike(function: &FunctionContext<'_>, call: Node<'_>, of: &Kind) -> bool {
    let whole = function.expression_of(call);
    let given = whole.call().map_or(&[][..], |(_, given)| given);
    let fills = given.iter().any(|own| match &own.uncast().1.term {
        Term::Address(place) => place.name().is_some(),
        _ => false,
    });
    let words = function.file.words;
    let mut others = function.calls.iter();
    !fills
        && others.any(|other| {
            let kind = function.callee(*other).and_then(|name| kind(words, name));
            let lets_go = kind.is_some_and(|(kind, takes)| !takes && kind == *of);
            let other_whole = function.expression_of(*other);
            lets_go
                && is_alone(function, *other)
                && other_whole.call().is_some_and(|(_, own)| own == given)
        })
}

/// The nodes behind which one way gives nothing but errors.
fn failing(function: &FunctionContext<'_>) -> HashSet<usize> {
    failures(function).iter().map(|own| own.node).collect()
}

/// What the result of a call tells of the lock that it takes.
#[derive(Default)]
struct Told {
    arms: Vec<Arm>,
    unclear: bool,
}

impl Told {
    fn of(function: &FunctionContext<'_>, call: Node<'_>) -> Self {
        if is_alone(function, call) {
            return Self::default();
        }
        let words = function.file.words;
        let fails = function
            .callee(call)
            .is_some_and(|name| words.lock_fails(name));
        let own = fate(function, &Fallible::of(function, call));
        // What is asked whether it is 0 may as well have taken the lock where it is not.
        let clear = |own: &Fate| !own.told && !own.arms.iter().any(|arm| arm.negated);
        match own.filter(|own| fails || clear(own)) {
            Some(own) => Self {
                arms: own.arms,
                unclear: false,
            },
            None => Self {
                arms: Vec::new(),
                unclear: !fails,
            },
        }
    }
}

/// Whether nothing is done with the result of a call.
pub(crate) fn is_alone(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let around = function.around(call).find(|own| {
        !matches!(
            own.known_kind(),
            "parenthesized_expression" | "cast_expression"
        )
    });
    around.is_some_and(|own| own.known_kind() == "expression_statement")
}

/// The effects of a function, in the order of the text: which stand in a place is asked for
/// each call.
pub(crate) struct Named<'f>(Vec<&'f Effect>);

impl<'f> Named<'f> {
    pub(crate) fn of(function: &'f FunctionContext<'_>) -> Self {
        let mut all: Vec<&Effect> = function.graph.effects.iter().collect();
        all.sort_by_key(|own| own.span.start);
        Self(all)
    }

    pub(crate) fn inside(&self, place: Span) -> impl Iterator<Item = &'f Effect> {
        let from = self.0.partition_point(|own| own.span.start < place.start);
        let behind = self.0.iter().skip(from).copied();
        let near = behind.take_while(move |own| own.span.start < place.end);
        near.filter(move |own| place.contains(own.span))
    }
}

/// What is known of the functions of the file that a function calls.
#[derive(Default)]
pub(crate) struct Callees {
    /// Those that let a lock go, with its kind.
    letting_go: HashSet<(String, Kind)>,
    /// Those that do nothing but take and let go of their own, and what is known to do nothing
    /// to a lock.
    quiet: HashSet<String>,
}

impl Callees {
    pub(crate) fn of(function: &FunctionContext<'_>, turns: &[Turn]) -> Self {
        let calls = function.calls.iter();
        let called: HashSet<&[u8]> = calls.map(|call| function.called(*call)).collect();
        let kinds: BTreeSet<&Kind> = turns.iter().map(|own| &own.kind).collect();
        let mut found = Self::default();
        let bodies = function.file.bodies.iter();
        for body in bodies.filter(|body| called.contains(body.name.as_bytes())) {
            let own = kinds.iter().filter(|kind| lets_go(function, body, kind));
            let own = own.map(|kind| (body.name.clone(), (*kind).clone()));
            found.letting_go.extend(own);
            if is_quiet(function, body) {
                found.quiet.insert(body.name.clone());
            }
        }
        found
    }
}

fn lets_go(function: &FunctionContext<'_>, body: &Body, of: &Kind) -> bool {
    locks::names(function, body, |name| {
        kind(function.file.words, name).is_some_and(|(own, takes)| !takes && own == *of)
    })
}

/// Whether a function calls nothing that may let its caller's lock go unseen.
fn is_quiet(function: &FunctionContext<'_>, body: &Body) -> bool {
    let file = function.file;
    let words = file.words;
    let quiet = |name: &str| {
        let known = kind(words, name).is_some() || words.access(name).is_some();
        let listed = || words.permission(name) != Permission::Unknown && !words.gives_back(name);
        is_statement(name) || known || listed()
    };
    let mut two = file.tokens_in(body.span).windows(2).skip(1);
    two.all(|two| match two {
        [word, open] if open.is(b'(') && word.kind == TokenKind::Word => {
            let name = answer::text(word.span.of(file.text));
            name.is_some_and(|name| name == body.name || quiet(name))
        }
        _ => true,
    })
}

/// Whether a word before a parenthesis calls nothing.
fn is_statement(word: &str) -> bool {
    matches!(
        word,
        "if" | "while" | "for" | "switch" | "return" | "sizeof"
    )
}

/// A lock that the function takes, and what it says of it elsewhere.
pub(crate) struct Held<'f, 's> {
    pub(crate) function: &'f FunctionContext<'s>,
    pub(crate) taken: &'f Turn,
    pub(crate) begins: HashSet<Span>,
    /// Where the ways go on on which none of those took it.
    failed: Vec<usize>,
    /// Whether one of them takes it only where nobody has it.
    pub(crate) tried: bool,
    pub(crate) ends: HashSet<Span>,
    pub(crate) callees: &'f Callees,
    pub(crate) faulting: &'f HashSet<Span>,
    pub(crate) named: &'f Named<'f>,
}

impl<'f, 's> Held<'f, 's> {
    pub(crate) fn of(
        function: &'f FunctionContext<'s>,
        taken: &'f Turn,
        turns: &[Turn],
        (callees, faulting, named): (&'f Callees, &'f HashSet<Span>, &'f Named<'f>),
    ) -> Self {
        let same = turns.iter().filter(|own| is_same(taken, own));
        let (begins, ends): (Vec<&Turn>, Vec<&Turn>) = same.partition(|own| own.takes);
        let tried = begins.iter().any(|own| own.tried);
        let failed = begins.iter().flat_map(|own| &own.arms);
        let failed = failed.map(|arm| arm.fault).collect();
        let places = |turns: Vec<&Turn>| turns.into_iter().map(|own| own.span).collect();
        Self {
            function,
            taken,
            begins: places(begins),
            failed,
            tried,
            ends: places(ends),
            callees,
            faulting,
            named,
        }
    }

    /// Whether it may be kept where nothing faults.
    pub(crate) fn counts(&self) -> bool {
        match self.taken.kind {
            Kind::Known(kind) => self.function.file.words.counts_things(kind),
            Kind::Named(_) => false,
            Kind::Counted(_) | Kind::Bit => true,
        }
    }

    pub(crate) fn is_end(&self, node: &Step) -> bool {
        self.ends.contains(&node.span)
    }

    pub(crate) fn is_begin(&self, node: &Step) -> bool {
        self.begins.contains(&node.span)
    }

    /// Whether it is let go there, by the function or by another of the file; what is counted
    /// goes with the file that becomes the program's.
    pub(crate) fn lets_go(&self, node: &Step) -> bool {
        let words = self.function.file.words;
        let installed = |name: &str| words.installs(name) || words.ties_to_file(name);
        let by_callee = || match &node.action {
            Action::Call(call) => {
                let own = (call.name.clone(), self.taken.kind.clone());
                self.callees.letting_go.contains(&own) || self.counts() && installed(&call.name)
            }
            _ => false,
        };
        self.is_end(node) || by_callee()
    }

    /// What is come to with it, and no way from the front without.
    pub(crate) fn nodes(&self) -> HashSet<usize> {
        let graph = self.function.graph;
        let mut held = graph.reached_any(self.starts(), |node| self.lets_go(node));
        let others = self.failed.iter().copied();
        let untaken = self.untaken_ways();
        let free = graph.reached_past(others.chain([0]), |at, node| {
            self.is_begin(node) || untaken.contains(&at)
        });
        held.retain(|at| !free.contains(at));
        held
    }

    /// Whether whoever calls the function has it: no way takes it that did not let it go before.
    pub(crate) fn is_callers(&self) -> bool {
        let graph = self.function.graph;
        let before = graph.reached(0, |node| self.is_end(node));
        let mut before = before.iter().filter_map(|at| graph.nodes.get(*at));
        !self.ends.is_empty() && !before.any(|node| self.is_begin(node))
    }

    /// The ways on which a condition that takes it does not hold.
    pub(crate) fn untaken_ways(&self) -> HashSet<usize> {
        untaken_ways(self.function, self.taken.span)
    }

    /// Where it begins to be held.
    pub(crate) fn starts(&self) -> Vec<usize> {
        let graph = self.function.graph;
        let behind = graph.nodes.get(self.taken.node);
        let behind = behind.into_iter().flat_map(|own| own.next.iter());
        match self.taken.arms.as_slice() {
            [] => behind.map(|(_, next)| *next).collect(),
            arms => arms.iter().map(|arm| arm.success).collect(),
        }
    }

    /// What is read where an `if` asks whether to let it go: `if (locked) mutex_unlock(…)`.
    pub(crate) fn asked(&self) -> HashSet<Span> {
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
    pub(crate) fn is_given(&self, node: &Step) -> bool {
        let Action::Call(call) = &node.action else {
            return false;
        };
        // One that has no argument is nobody's part: `rtnl_lock()`.
        let Some(lock) = &self.taken.lock else {
            return false;
        };
        let root = lock.root().name();
        let words = self.function.file.words;
        let locks = kind(words, &call.name).is_some()
            || words.locker(&call.name).is_some()
            || tried(words, &call.name).is_some();
        let waits = matches!(
            words.permission(&call.name),
            Permission::Forbidden(Deed::Schedules | Deed::Prints)
        );
        let quiet = self.callees.quiet.contains(&call.name);
        let knows = locks || waits || quiet || words.access(&call.name).is_some();
        let names = |root: &str| {
            let mut inside = self.named.inside(node.span);
            inside.any(|own| self.function.graph.name_of(own) == root)
        };
        !knows && root.is_none_or(names)
    }
}

/// Whether one call may let go what the other has taken.
pub(crate) fn is_same(taken: &Turn, other: &Turn) -> bool {
    let member = |own: &Turn| own.lock.as_ref().and_then(locks::member).map(str::to_owned);
    taken.kind == other.kind && taken.bit == other.bit && member(taken) == member(other)
}
