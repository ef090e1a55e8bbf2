//! What a function owns through a variable of its own and gives back by a call: memory, a
//! reference, a number.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tree_sitter::Node;

use crate::compared::compares;
use crate::expression::{Expression, Term};
use crate::flow::{Action, Edge, EffectKind, Local, Node as Step, Statement, StatementKind};
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::held_inside::{Holder, Part};
use super::words::{CheckWords, OwnerName};

/// What a mention of such a variable does with what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The variable takes a value.
    Taken,
    /// It is given back.
    Released,
    /// It is tested, and what it leads to is not looked at.
    Asked,
    /// It is looked at, filled or copied, and stays the function's.
    Used,
    /// A call is given it, which may own it from there on.
    Lent,
    /// It is stored or returned: somebody else may own it from there on.
    HandedOn,
}

/// Whether a call of that name gives something back.
pub(crate) type Releases = fn(&CheckWords, &str) -> bool;

/// A variable of the function, and each mention of it.
pub(crate) struct Owner<'f, 's> {
    pub(crate) function: &'f FunctionContext<'s>,
    pub(crate) local: &'f Local,
    /// By where the mention begins.
    uses: BTreeMap<usize, Use>,
    /// The call that is given what is mentioned there.
    given: HashMap<usize, Span>,
    /// What the mentions at each node do, in order; of those alone that have one.
    at: BTreeMap<usize, Vec<Use>>,
    /// The function's own structures that have it as well.
    holders: Vec<Holder>,
    /// What is read where an `if` asks whether to give it back.
    asked: HashSet<usize>,
    /// The conditions that hold where it leads to nothing, and how they hold there.
    nothing: HashMap<usize, bool>,
}

/// So many structures of the function's that have the value as well are looked at.
const HOLDERS: usize = 4;

impl<'f, 's> Owner<'f, 's> {
    /// The variables of the function that some call is given to give back what they lead to.
    pub(crate) fn all(function: &'f FunctionContext<'s>, releases: Releases) -> Vec<Self> {
        Self::among(function, releases, |_| true)
    }

    /// Those of some names.
    pub(crate) fn among(
        function: &'f FunctionContext<'s>,
        releases: Releases,
        counts: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let graph = function.graph;
        if graph.computed {
            return Vec::new();
        }
        let named = released(function, releases);
        let own = |name: &String| {
            let mut locals = graph.locals.iter().filter(|own| own.name == *name);
            // Of several in scopes of their own it is not told which one is meant.
            let local = locals.next().filter(|_| locals.next().is_none())?;
            let plain = !local.array && !local.lasting && !local.cleaned;
            (plain && !graph.unseen.contains(name)).then(|| Self::of(function, local, releases))
        };
        let owners = named.iter().filter(|own| counts(own)).filter_map(own);
        owners.filter(|own| !own.is_in_macro_header()).collect()
    }

    fn of(function: &'f FunctionContext<'s>, local: &'f Local, releases: Releases) -> Self {
        let (mut uses, mut given) = (BTreeMap::new(), HashMap::new());
        let own = function.mentions(&local.name);
        let mut holders = Vec::new();
        for node in own.filter(|node| local.scope.contains(span(*node))) {
            let mention = Mention::by(function, releases);
            let (own, holder) = mention.of(node);
            uses.insert(node.start_byte(), own);
            holders.extend(holder);
            let call = call_around(function, node);
            given.extend(call.map(|call| (node.start_byte(), span(call))));
        }
        for holder in holders.iter().take(HOLDERS) {
            for node in function.mentions(&holder.root) {
                let mention = Mention::by(function, releases);
                let Some(own) = mention.of_holder(holder, node) else {
                    continue;
                };
                uses.insert(node.start_byte(), own);
                let call = call_around(function, node);
                given.extend(call.map(|call| (node.start_byte(), span(call))));
            }
        }
        let mut owner = Self {
            function,
            local,
            uses,
            given,
            at: BTreeMap::new(),
            holders,
            asked: HashSet::new(),
            nothing: HashMap::new(),
        };
        owner.at = owner.by_node();
        owner.asked = owner.asked();
        owner.nothing = owner.nothing();
        owner
    }

    /// Where it takes what is the function's own from there on: the nodes, with the calls.
    pub(crate) fn takes(&self) -> Vec<(usize, Span)> {
        let graph = self.function.graph;
        let own = |at: usize| {
            let mut effects = graph.effects_of(at).iter();
            effects.find_map(|effect| match &effect.kind {
                EffectKind::Write(write) if graph.name_of(effect) == self.local.name => {
                    let value = write.value?;
                    let given = self.function.expression(value)?;
                    let (name, _) = given.uncast().1.call()?;
                    let takes = || self.function.file.words.takes(name) || self.takes_back(name);
                    (takes() && !self.is_handed_on_at_once(at, value)).then_some((at, value))
                }
                _ => None,
            })
        };
        (0..graph.nodes.len()).filter_map(own).collect()
    }

    /// Whether somebody else has what it takes before the node is left that takes it:
    /// `r->file = file = fget(fd)`, or a statement behind that, which no call parts from it.
    fn is_handed_on_at_once(&self, at: usize, value: Span) -> bool {
        let graph = self.function.graph;
        let mut behind = graph
            .effects_of(at)
            .iter()
            .filter(|own| self.is_named(graph.name_of(own)) && own.span.start >= value.end);
        let handed = |place: Span| self.inside(place).any(|own| own == Use::HandedOn);
        behind.any(|own| handed(own.span)) || self.is_assigned_on(value)
    }

    /// Whether what takes a value is what another place takes.
    fn is_assigned_on(&self, value: Span) -> bool {
        let function = self.function;
        let given = function
            .root
            .descendant_for_byte_range(value.start, value.end);
        let taker = given.and_then(|own| function.above(outermost(function, own)));
        let taker = taker.filter(|own| own.known_kind() == "assignment_expression");
        let around = taker.and_then(|own| function.above(outermost(function, own)));
        around.is_some_and(|own| own.known_kind() == "assignment_expression")
    }

    /// Whether what a call of that name gives is the caller's to give back, as the names of both
    /// calls say: one of those that the variable is given to.
    fn takes_back(&self, name: &str) -> bool {
        let words = self.function.file.words;
        let taken = words.owner_named(name);
        if !taken.iter().any(|own| own.takes) {
            return false;
        }
        let released = self.uses.iter().filter(|(_, own)| **own == Use::Released);
        let mut calls = released.filter_map(|(at, _)| self.given.get(at));
        calls.any(|call| {
            let node = self
                .function
                .root
                .descendant_for_byte_range(call.start, call.end);
            let name = node.and_then(|own| self.function.callee(own));
            let released = name.map_or(Vec::new(), |name| words.owner_named(name));
            let own = |own: &OwnerName| taken.iter().any(|taken| own.gives_back(taken));
            released.iter().any(own)
        })
    }

    /// Whether a call that it is given may take it once more, as its name says.
    pub(crate) fn may_be_taken_again(&self) -> bool {
        let words = self.function.file.words;
        let mut calls = self.function.calls.iter().filter(|call| {
            let place = span(**call);
            self.given.values().any(|own| *own == place)
        });
        calls.any(|call| {
            let name = self.function.callee(*call);
            let named = name.map_or_else(Vec::new, |name| words.owner_named(name));
            named.iter().any(|own| own.takes)
        })
    }

    /// What the mentions at a node do, in order.
    pub(crate) fn at(&self, node: usize) -> &[Use] {
        self.at.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The nodes at which it is mentioned.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (usize, &[Use])> {
        self.at.iter().map(|(at, uses)| (*at, uses.as_slice()))
    }

    /// What a call is given stands at the call, and everything else where it is done.
    fn by_node(&self) -> BTreeMap<usize, Vec<Use>> {
        let graph = self.function.graph;
        let calls: HashMap<Span, Vec<usize>> = self.calls();
        let mut all = BTreeMap::<usize, Vec<Use>>::new();
        let mut seen = HashSet::new();
        for (start, own) in &self.uses {
            let around = self.given.get(start).and_then(|call| calls.get(call));
            for at in around.into_iter().flatten() {
                seen.insert(*start);
                all.entry(*at).or_default().push(*own);
            }
        }
        for at in 0..graph.nodes.len() {
            let effects = graph.effects_of(at).iter();
            for effect in effects.filter(|own| self.is_named(graph.name_of(own))) {
                let place = effect.span.start..effect.span.end;
                let own = self.uses.range(place);
                let own = own.filter(|(start, _)| !seen.contains(*start));
                all.entry(at).or_default().extend(own.map(|(_, own)| *own));
            }
        }
        all
    }

    /// Whether a place is the variable's, or of a structure that has its value.
    fn is_named(&self, name: &str) -> bool {
        name == self.local.name || self.holders.iter().any(|own| own.root == name)
    }

    /// Whether a macro that is followed by a block names it, as list_for_each_entry() does: it
    /// gives it a value for each round, which nobody sees.
    fn is_in_macro_header(&self) -> bool {
        let graph = self.function.graph;
        let mut effects = graph
            .effects
            .iter()
            .filter(|own| graph.name_of(own) == self.local.name);
        effects.any(|own| {
            let mut seen = self.uses.range(own.span.start..own.span.end);
            own.span != self.local.declared && seen.next().is_none()
        })
    }

    fn calls(&self) -> HashMap<Span, Vec<usize>> {
        let mut calls = HashMap::<Span, Vec<usize>>::new();
        for (at, node) in self.function.graph.nodes.iter().enumerate() {
            if node.action != Action::Join {
                calls.entry(node.span).or_default().push(at);
            }
        }
        calls
    }

    fn inside(&self, place: Span) -> impl Iterator<Item = Use> {
        self.uses.range(place.start..place.end).map(|(_, own)| *own)
    }

    /// Whether something at a node ends that the function owns it, or may; what a call is
    /// given is lent where `lends` says so.
    fn ends(&self, node: usize, lends: bool) -> bool {
        let ends = |own: Use| match own {
            Use::Taken | Use::Released | Use::HandedOn => true,
            Use::Lent => !lends,
            Use::Asked | Use::Used => false,
        };
        let mut effects = self.function.graph.effects_of(node).iter();
        effects.any(|own| self.asked.contains(&own.span.start))
            || self.at(node).iter().copied().any(ends)
    }

    /// Every node that is come to behind some nodes while the function owns it.
    pub(crate) fn owned_behind(&self, from: &[usize], lends: bool) -> HashSet<usize> {
        self.behind(from, |at| self.ends(at, lends))
    }

    /// Whether some way from a node, that node included, comes to where it is given back.
    pub(crate) fn is_released_from(&self, node: usize) -> bool {
        let goes_on = |at: usize| !self.at(at).contains(&Use::Taken);
        let on = self.reached(vec![node], goes_on, |_| true);
        let mut on = on.into_iter();
        on.any(|at| self.at(at).contains(&Use::Released))
    }

    /// Every node that is come to behind some nodes, and before one that stops.
    pub(crate) fn behind(&self, from: &[usize], stops: impl Fn(usize) -> bool) -> HashSet<usize> {
        let first = from.iter().flat_map(|at| self.next(*at)).collect();
        self.reached(first, |at| !stops(at), |_| true)
    }

    /// Every node that is come to behind some nodes, and no further than where one stops.
    pub(crate) fn up_to(&self, from: &[usize], stops: impl Fn(usize) -> bool) -> HashSet<usize> {
        let first = from.iter().flat_map(|at| self.next(*at)).collect();
        self.reached(first, |_| true, |at| !stops(at))
    }

    /// Every node that is come to behind a node, and before one that stops, by no condition
    /// that may have decided whether that node is come to at all.
    pub(crate) fn surely_behind(
        &self,
        node: usize,
        stops: impl Fn(usize) -> bool,
    ) -> HashSet<usize> {
        let before = self.asked_before(node);
        let asked = |edge: &Edge| match edge {
            Edge::If(condition, _) => before.contains(condition),
            _ => false,
        };
        let ways = |at: usize| -> Vec<usize> {
            let ways = self.function.graph.nodes.get(at).map(|own| &own.next);
            let ways = ways.into_iter().flatten().filter(|(edge, _)| !asked(edge));
            ways.map(|(_, to)| *to).collect()
        };
        let (mut found, mut work) = (HashSet::new(), ways(node));
        while let Some(at) = work.pop() {
            if !stops(at) && found.insert(at) {
                work.extend(ways(at));
            }
        }
        found
    }

    /// The conditions that are asked on a way to a node, and whose answer may be the same
    /// there: not those of a variable that takes another value on each such way.
    fn asked_before(&self, node: usize) -> HashSet<usize> {
        let nodes = self.function.graph.nodes.iter().enumerate();
        let mut from = HashMap::<usize, Vec<usize>>::new();
        for (at, own) in nodes {
            for (_, to) in &own.next {
                from.entry(*to).or_default().push(at);
            }
        }
        let before = |stops: &dyn Fn(usize) -> bool| {
            let (mut seen, mut work) = (HashSet::new(), vec![node]);
            while let Some(at) = work.pop() {
                let before = from.get(&at).into_iter().flatten();
                let new = before.copied().filter(|own| seen.insert(*own));
                work.extend(new.filter(|own| !stops(*own)));
            }
            self.asked_at(&seen)
        };
        let mut asked = before(&|_| false);
        asked.retain(|condition| {
            let writes = |at: usize| self.answers_anew(at, *condition);
            let all = 0..self.function.graph.nodes.len();
            // What is done to places at a node is done before it is come to.
            !writes(node) && (!all.clone().any(writes) || before(&writes).contains(condition))
        });
        asked
    }

    /// The conditions that are asked at some nodes.
    fn asked_at(&self, nodes: &HashSet<usize>) -> HashSet<usize> {
        let nodes = nodes.iter();
        let ways = nodes.filter_map(|at| self.function.graph.nodes.get(*at));
        let ways = ways.flat_map(|own| own.next.iter());
        let asked = ways.filter_map(|(edge, _)| match edge {
            Edge::If(condition, _) => Some(*condition),
            _ => None,
        });
        asked.collect()
    }

    /// Whether a node gives a variable another value that a condition is of.
    fn answers_anew(&self, node: usize, condition: usize) -> bool {
        let graph = self.function.graph;
        let reads = graph.conditions.get(condition).map(|own| &own.reads);
        let effects = graph.effects_of(node).iter();
        let mut written = effects.filter_map(|effect| match &effect.kind {
            EffectKind::Write(write) if !write.optional => Some(effect.place),
            _ => None,
        });
        written.any(|place| reads.is_some_and(|reads| reads.contains(&place)))
    }

    /// The same from a node on, that node included.
    pub(crate) fn owned_from(&self, node: usize) -> HashSet<usize> {
        self.reached(vec![node], |at| !self.ends(at, false), |_| true)
    }

    /// Every node from a node on, up to where it takes another value or is given back.
    pub(crate) fn owned_or_given_back_from(&self, node: usize) -> HashSet<usize> {
        let takes = |at: usize| self.at(at).contains(&Use::Taken);
        let ends = |at: usize| self.at(at).contains(&Use::Released);
        self.reached(vec![node], |at| !takes(at), |at| !ends(at))
    }

    /// The nodes that are come to and may be entered, where each may be left.
    fn reached(
        &self,
        first: Vec<usize>,
        enters: impl Fn(usize) -> bool,
        leaves: impl Fn(usize) -> bool,
    ) -> HashSet<usize> {
        let mut found = HashSet::new();
        let mut work = first;
        while let Some(at) = work.pop() {
            if enters(at) && found.insert(at) && leaves(at) {
                work.extend(self.next(at));
            }
        }
        found
    }

    /// Where ways lead on from a node, without those on which there is nothing to own.
    fn next(&self, node: usize) -> Vec<usize> {
        let ways = self.function.graph.nodes.get(node).map(|own| &own.next);
        let leads = |edge: &Edge| match edge {
            Edge::If(condition, holds) => self.nothing.get(condition) != Some(holds),
            _ => true,
        };
        let ways = ways.into_iter().flatten().filter(|(edge, _)| leads(edge));
        ways.map(|(_, to)| *to).collect()
    }

    /// What is read where an `if` asks whether to give it back: `if (own) kfree(p)`.
    fn asked(&self) -> HashSet<usize> {
        let graph = self.function.graph;
        let released = |place: Span| self.inside(place).any(|own| own == Use::Released);
        let statements = graph.statements.iter();
        // Behind one that leaves with it nothing is given back.
        let leaves = |own: &Statement| {
            let inside: Vec<&Statement> = graph.inside(own.span).collect();
            matches!(inside.as_slice(), [only] if graph.leaves(only))
        };
        let asking = statements.filter(|own| own.kind == StatementKind::If && released(own.span));
        let asking = asking.filter(|own| !leaves(own));
        let asked = asking.filter_map(|own| own.expression);
        let read = asked.flat_map(|place| graph.effects_in(place));
        read.map(|own| own.span.start).collect()
    }

    /// The conditions that tell whether there is anything: `p`, `IS_ERR(p)`, `fd < 0`.
    fn nothing(&self) -> HashMap<usize, bool> {
        let conditions = self.function.graph.conditions.iter().enumerate();
        let tells = |(at, condition): (usize, &crate::flow::Condition)| {
            if !condition.text.contains(&self.local.name) {
                return None;
            }
            let asked = self.function.asked(condition)?;
            Some((at, self.holds_for_nothing(&asked)?))
        };
        conditions.filter_map(tells).collect()
    }

    fn holds_for_nothing(&self, asked: &Expression) -> Option<bool> {
        let words = self.function.file.words;
        let is_own = |own: &Expression| own.uncast().1.name() == Some(&self.local.name);
        match &asked.uncast().1.term {
            Term::Name(name) => (*name == self.local.name).then_some(false),
            Term::Binary(left, operator, right) if is_own(left) => match operator.as_str() {
                "<" if right.is_zero() => Some(true),
                ">=" if right.is_zero() => Some(false),
                _ => None,
            },
            _ => {
                let (name, given) = asked.uncast().1.call()?;
                let tells = words.tells_errors(name) || words.tells_null(name);
                (tells && given.first().is_some_and(is_own)).then_some(true)
            }
        }
    }

    /// Whether a node leaves the function.
    pub(crate) fn is_exit(node: &Step) -> bool {
        matches!(node.action, Action::Exit { .. })
    }
}

/// The variables that a call is given to give back what they lead to.
pub(crate) fn released(function: &FunctionContext<'_>, releases: Releases) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for call in function.calls {
        let name = function.callee(*call);
        if !name.is_some_and(|name| releases(function.file.words, name)) {
            continue;
        }
        let whole = function.expression_of(*call);
        let given = whole.call().map_or(&[][..], |(_, given)| given);
        let names = given.iter().filter_map(|own| own.uncast().1.name());
        found.extend(names.map(str::to_owned));
    }
    found
}

/// What asks what a mention of a variable does.
struct Mention<'f, 's> {
    function: &'f FunctionContext<'s>,
    releases: Releases,
    /// Whether it is of a variable that leads into what another one leads to.
    within: bool,
}

impl<'f, 's> Mention<'f, 's> {
    fn by(function: &'f FunctionContext<'s>, releases: Releases) -> Self {
        Self {
            function,
            releases,
            within: false,
        }
    }

    /// What a mention does, and the function's own structure that has it behind that as well.
    fn of<'t>(&self, node: Node<'t>) -> (Use, Option<Holder>) {
        let own = self.does(node);
        let holder = (own == Use::HandedOn)
            .then(|| Holder::of(self.function, outermost(self.function, node)))
            .flatten();
        match holder {
            Some(_) => (Use::Used, holder),
            None => (own, None),
        }
    }

    /// What a mention of such a structure does; none where it has to do with another member.
    fn of_holder(&self, holder: &Holder, node: Node<'_>) -> Option<Use> {
        let given = |address: Node<'_>| {
            let around = self.function.above(outermost(self.function, address));
            match around.filter(|own| own.known_kind() == "argument_list") {
                Some(list) => self.given(list, true),
                None => Use::HandedOn,
            }
        };
        match holder.part(self.function, node) {
            Part::Own(own) => Some(self.does(own)),
            Part::Address(address) => Some(given(address)),
            Part::Other => None,
        }
    }

    /// What a mention does by itself.
    fn does(&self, node: Node<'_>) -> Use {
        let own = outermost(self.function, node);
        let Some(parent) = self.function.above(own) else {
            return Use::HandedOn;
        };
        let is_part = |name: &str| parent.part(name).map(|part| part.id()) == Some(own.id());
        match parent.known_kind() {
            "init_declarator" if is_part("declarator") => Use::Taken,
            "assignment_expression" if is_part("left") => Use::Taken,
            "pointer_declarator" | "declaration" => Use::Taken,
            "argument_list" => self.given(parent, false),
            "field_expression" if is_part("argument") => self.behind(parent),
            "subscript_expression" if is_part("argument") => self.behind(parent),
            "subscript_expression" | "sizeof_expression" => Use::Used,
            "pointer_expression" if self.function.context.operator(parent) == b"*" => {
                self.behind(parent)
            }
            _ => self.asked(parent, own),
        }
    }

    /// A value that decides something, or becomes part of another.
    fn asked(&self, parent: Node<'_>, own: Node<'_>) -> Use {
        let operator = self.function.context.operator(parent);
        let decides = match parent.known_kind() {
            "unary_expression" => operator == b"!",
            "binary_expression" => compares(operator) || matches!(operator, b"&&" | b"||"),
            "parenthesized_expression" => is_condition(self.function, parent),
            _ => parent.part("condition").map(|part| part.id()) == Some(own.id()),
        };
        match decides {
            true => Use::Asked,
            false if parent.known_kind() == "binary_expression" => self.moved(parent),
            false => Use::HandedOn,
        }
    }

    /// `p + n`: what an access is given of it stays the function's.
    fn moved(&self, sum: Node<'_>) -> Use {
        let own = outermost(self.function, sum);
        match self.function.above(own) {
            Some(list) if list.known_kind() == "argument_list" => self.given(list, false),
            Some(around) if around.known_kind() == "pointer_expression" => self.behind(around),
            _ => Use::HandedOn,
        }
    }

    /// What stands behind it: its value is looked at, its address may be kept.
    fn behind(&self, place: Node<'_>) -> Use {
        let mut own = outermost(self.function, place);
        while let Some(around) = self.function.above(own) {
            let goes_on = matches!(
                around.known_kind(),
                "field_expression" | "subscript_expression"
            ) && around.part("argument").map(|part| part.id()) == Some(own.id());
            // What another pointer leads to is no part of it.
            if !goes_on || self.function.context.operator(around) == b"->" {
                break;
            }
            own = outermost(self.function, around);
        }
        let address = self.function.above(own).filter(|around| {
            around.known_kind() == "pointer_expression"
                && self.function.context.operator(*around) == b"&"
        });
        let Some(address) = address else {
            return Use::Used;
        };
        match self.function.above(outermost(self.function, address)) {
            Some(list) if list.known_kind() == "argument_list" => self.given(list, true),
            Some(around) if around.known_kind() == "sizeof_expression" => Use::Used,
            Some(around) => self.taken_inside(around).unwrap_or(Use::HandedOn),
            None => Use::HandedOn,
        }
    }

    /// What is done with a part whose address a variable of the function takes, and no other place:
    /// `d = &ubi->dbg`. The whole stays the function's where nothing else than calls are given it.
    fn taken_inside(&self, holder: Node<'_>) -> Option<Use> {
        let place = match holder.known_kind() {
            "init_declarator" => inner(holder.part("declarator")?),
            "assignment_expression" if self.function.context.operator(holder) == b"=" => {
                holder.part("left")?
            }
            _ => return None,
        };
        (!self.within && place.known_kind() == "identifier").then_some(())?;
        let text = self.function.context.written(place);
        let local = self.function.graph.local(&text).filter(|own| {
            let plain = !own.lasting && !own.array;
            plain && !self.function.graph.unseen.contains(&own.name)
        })?;
        let inside = Self {
            within: true,
            ..Self::by(self.function, self.releases)
        };
        let mut all = self.function.mentions(&local.name);
        all.try_fold(Use::Used, |found, own| match inside.does(own) {
            Use::Released | Use::HandedOn => None,
            Use::Lent => Some(Use::Lent),
            Use::Taken | Use::Asked | Use::Used => Some(found),
        })
    }

    /// What a call does with an argument.
    fn given(&self, list: Node<'_>, by_address: bool) -> Use {
        let words = self.function.file.words;
        let call = self.function.above(list);
        let call = call.filter(|own| own.known_kind() == "call_expression");
        let name = call.and_then(|call| self.function.callee(call));
        let Some(name) = name else {
            return Use::HandedOn;
        };
        if (self.releases)(words, name) {
            return match by_address {
                true => Use::HandedOn,
                false => Use::Released,
            };
        }
        if words.tells_errors(name) || words.tells_null(name) {
            return Use::Asked;
        }
        let copies = words.access(name).is_some() || words.may_fault(name);
        let fills = words.clears(name).is_some() || words.fills(name).is_some();
        match copies || fills || words.allocates(name).is_some() {
            true => Use::Used,
            false => Use::Lent,
        }
    }
}

/// The innermost call that a mention stands in an argument of.
fn call_around<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let mut expressions = function.around(node).take_while(|own| !own.is_statement());
    let list = expressions.find(|own| own.known_kind() == "argument_list")?;
    let call = function.above(list);
    call.filter(|own| own.known_kind() == "call_expression")
}

/// The variable that a declarator declares: `p` of `*p`.
fn inner(declarator: Node<'_>) -> Node<'_> {
    let mut own = declarator;
    while let Some(of) = own.part("declarator") {
        own = of;
    }
    own
}

/// The node with the parentheses and casts around it.
fn outermost<'t>(function: &FunctionContext<'t>, node: Node<'t>) -> Node<'t> {
    let mut own = node;
    while let Some(around) = function.above(own) {
        let is_value = around.part("value").map(|part| part.id()) == Some(own.id());
        match around.known_kind() {
            "parenthesized_expression" if !is_condition(function, around) => own = around,
            "cast_expression" if is_value => own = around,
            _ => break,
        }
    }
    own
}

fn is_condition(function: &FunctionContext<'_>, node: Node<'_>) -> bool {
    let above = function.above(node);
    let condition = above.and_then(|around| around.part("condition"));
    condition.map(|own| own.id()) == Some(node.id())
}
