//! Accesses that follow each other with a condition or a loop between them: no
//! window for all ways, but one on some.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memchr3;
use tree_sitter::Node;

use crate::chain;
use crate::model::{Hazard, Site};
use crate::node::Parts as _;
use crate::normalise::is_loop;
use crate::opportunity::{Beside, Kind, Near, Opportunity, Parted, Size};
use crate::runs::mentions;
use crate::site::{Context, bare, first_word, inner, span};
use crate::span::Span;

/// An access, and one that no call stands before on some way to it.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    first: Site,
    second: Site,
    parted: Parted,
    one_object: bool,
}

impl Pair {
    /// Whether both stand in that place.
    pub(crate) fn is_within(&self, place: Span) -> bool {
        let inside = |site: &Site| place.contains(site.span);
        !self.is_round() && inside(&self.first) && inside(&self.second)
    }

    /// What it says something of: an access, or one of a loop.
    pub(crate) fn key(&self) -> (Span, bool) {
        (self.second.span, self.is_round())
    }

    fn is_round(&self) -> bool {
        matches!(self.parted, Parted::Round { .. })
    }

    /// What the pair is an opportunity for.
    pub(crate) fn opportunity(self, function: &str) -> Opportunity {
        let kind = match (self.one_object, self.is_round()) {
            (false, _) => Kind::OtherObject,
            (true, true) => Kind::LoopAccess,
            (true, false) => Kind::ConditionalNeighbour,
        };
        let beside = (self.first.span != self.second.span).then(|| Beside {
            call: self.first.call.clone(),
            position: self.first.position,
        });
        Opportunity {
            kind,
            function: function.to_owned(),
            call: self.second.call,
            direction: self.second.direction,
            position: self.second.position,
            span: self.second.span,
            object: self.second.object,
            written: String::new(),
            size: Size::Bytes(0),
            beside,
            near: Some(Near {
                parted: self.parted,
                other: (!self.one_object).then_some(self.first.object),
            }),
            path: None,
        }
    }
}

/// The pairs of a body, one for each second access and each loop.
pub(crate) fn pairs(context: &Context<'_>, body: Node<'_>) -> Vec<Pair> {
    let mut walker = Walker {
        context,
        sites: Vec::new(),
        under: Vec::new(),
        loops: Vec::new(),
        found: BTreeMap::new(),
        calling: BTreeSet::new(),
        cases: 0,
    };
    walker.block(body, State::default());
    walker.pairs()
}

/// What may have happened last on the ways to a place, with no call since: an
/// access, or the beginning of a round of a loop.
#[derive(Clone, Debug, Default)]
struct State {
    sites: BTreeSet<usize>,
    /// Those that something else has followed that no window spans, but that no
    /// call has: what a round may end with.
    past: BTreeSet<usize>,
    rounds: BTreeSet<usize>,
    /// Whether the round has called something by now.
    called: bool,
}

/// More ways than this to a place, each with another access last on it, are more
/// than one finding says.
const NEAREST: usize = 16;

impl State {
    fn joined(mut self, other: Self) -> Self {
        self.sites.extend(other.sites);
        self.past.extend(other.past);
        self.rounds.extend(other.rounds);
        self.called |= other.called;
        for sites in [&mut self.sites, &mut self.past] {
            while sites.len() > NEAREST {
                sites.pop_first();
            }
        }
        self
    }

    fn take(&mut self, other: &Self) {
        *self = std::mem::take(self).joined(other.clone());
    }

    /// Behind a call that is not known.
    fn called() -> Self {
        Self {
            called: true,
            ..Self::default()
        }
    }

    /// Where no window should reach.
    fn past(mut self) -> Self {
        let sites = std::mem::take(&mut self.sites);
        self.past.extend(sites);
        self
    }
}

/// What a statement stands under.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Under {
    If(Span),
    Else(Span),
    Case,
    Loop(usize),
}

/// A loop, or a `switch`, of which only what `break` leaves behind is asked.
struct Loop {
    begins: usize,
    is_switch: bool,
    /// The first accesses of a round.
    first: BTreeSet<usize>,
    /// What `continue` leaves behind.
    again: State,
    /// What `break` leaves behind.
    left: State,
    /// The names that are set in it, and those that only move on.
    set: BTreeSet<Vec<u8>>,
    moved: BTreeSet<Vec<u8>>,
}

struct Walker<'a, 'c> {
    context: &'c Context<'a>,
    sites: Vec<(Site, Vec<Under>)>,
    under: Vec<Under>,
    loops: Vec<Loop>,
    /// By the second access and the loop whose rounds part it from the first.
    found: BTreeMap<(usize, Option<usize>), BTreeSet<usize>>,
    /// The loops of which some rounds call something.
    calling: BTreeSet<usize>,
    /// How many times a `case` was passed.
    cases: usize,
}

impl Walker<'_, '_> {
    fn block(&mut self, node: Node<'_>, mut state: State) -> State {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            state = self.statement(child, state);
        }
        state
    }

    fn statement(&mut self, node: Node<'_>, state: State) -> State {
        match node.known_kind() {
            "if_statement" => self.branch(node, state),
            "while_statement" | "for_statement" | "do_statement" => self.repeated(node, state),
            "switch_statement" => self.switch(node, state),
            "return_statement" => {
                self.expression(node, state);
                State::default()
            }
            "goto_statement" => State::default(),
            "break_statement" => {
                let own = self.loops.last_mut();
                own.into_iter().for_each(|own| own.left.take(&state));
                State::default()
            }
            "continue_statement" => {
                let own = self.loops.iter_mut().rev().find(|own| !own.is_switch);
                own.into_iter().for_each(|own| own.again.take(&state));
                State::default()
            }
            // Others jump here for reasons of their own.
            "case_statement" => {
                self.cases += 1;
                self.block(node, state.past())
            }
            "compound_statement" | "else_clause" | "labeled_statement" | "preproc_ifdef"
            | "preproc_if" | "preproc_else" | "preproc_elif" => self.block(node, state),
            "type_definition" | "comment" => state,
            _ => self.expression(node, state),
        }
    }

    fn branch(&mut self, node: Node<'_>, state: State) -> State {
        let Some(condition) = node.part("condition") else {
            return self.block(node, state);
        };
        let before = self.sites.len();
        let state = self.expression(condition, state);
        let accesses = self.sites.len() > before;
        let holds = accesses && chain::is_no_fault(self.context, condition);
        let faults = accesses && !holds && !asks_value(self.context, condition);
        let asked = inner(condition);
        let consequence = node.part("consequence");
        let alternative = node.part("alternative");
        let then = if faults {
            State::default()
        } else {
            state.clone()
        };
        let other = if holds { State::default() } else { state };
        let cases = self.cases;
        let then = self.side(consequence, Under::If(asked), then);
        let other = self.side(alternative, Under::Else(asked), other);
        let state = then.joined(other);
        // Whoever jumps into it is told apart by more than the condition.
        if self.cases > cases {
            state.past()
        } else {
            state
        }
    }

    fn side(&mut self, node: Option<Node<'_>>, under: Under, state: State) -> State {
        let Some(node) = node else {
            return state;
        };
        self.under.push(under);
        let state = self.statement(node, state);
        self.under.pop();
        state
    }

    fn repeated(&mut self, node: Node<'_>, state: State) -> State {
        let word = first_word(span(node).of(self.context.original));
        let own = matches!(word, b"for" | b"while" | b"do");
        let vocabulary = self.context.vocabulary;
        let calm = own || is_loop(word) && vocabulary.is_pure(word);
        if !calm {
            // What the macro does is not known: a lock, a call for each round.
            self.block(node, State::called());
            return State::called();
        }
        let part = |name: &str| node.part(name);
        let state = match part("initializer") {
            Some(begin) => self.expression(begin, state),
            None => state,
        };
        let is_do = node.known_kind() == "do_statement";
        let before = self.sites.len();
        let at = self.enter(node);
        let mut round = State {
            sites: state.sites.clone(),
            rounds: BTreeSet::from([at]),
            ..State::default()
        };
        let mut left = state;
        if let Some(condition) = part("condition").filter(|_| !is_do) {
            round = self.expression(condition, round);
            left = round.clone();
        }
        if let Some(body) = part("body") {
            round = self.statement(body, round);
        }
        if let Some(own) = self.loops.last_mut() {
            round = round.joined(std::mem::take(&mut own.again));
        }
        for last in [part("update"), part("condition").filter(|_| is_do)] {
            round = last
                .into_iter()
                .fold(round, |state, last| self.expression(last, state));
        }
        if is_do {
            left = round.clone();
        }
        let ended = self.leave(at, &round);
        let mut state = left.joined(round).joined(ended);
        state.rounds.remove(&at);
        if self.sites.len() == before {
            // No window should wait for a loop that it does not serve.
            state = state.past();
        }
        state
    }

    fn enter(&mut self, node: Node<'_>) -> usize {
        let begins = node.start_byte();
        self.loops.push(Loop {
            begins,
            is_switch: false,
            first: BTreeSet::new(),
            again: State::default(),
            left: State::default(),
            set: BTreeSet::new(),
            moved: BTreeSet::new(),
        });
        self.under.push(Under::Loop(begins));
        begins
    }

    /// Goes on outside of the innermost loop: what it sets, the one around it sets.
    fn outside(&mut self) -> Option<Loop> {
        let own = self.loops.pop()?;
        if let Some(outer) = self.loops.last_mut() {
            outer.set.extend(own.set.iter().cloned());
            outer.moved.extend(own.moved.iter().cloned());
        }
        Some(own)
    }

    /// Joins the last accesses of a round with the first of the next.
    fn leave(&mut self, at: usize, round: &State) -> State {
        self.under.pop();
        let Some(own) = self.outside() else {
            return State::default();
        };
        let is_inside = |site: &&usize| {
            let site = self.sites.get(**site);
            site.is_some_and(|(_, under)| under.contains(&Under::Loop(at)))
        };
        let last = round.sites.union(&round.past).filter(is_inside);
        let last: BTreeSet<usize> = last.copied().collect();
        if let Some(first) = own.first.iter().next().filter(|_| !last.is_empty()) {
            let one = self.sites.get(*first);
            let one = one.is_some_and(|(site, _)| is_one(site.object.as_bytes(), &own));
            // Where each round has an object of its own, no pair is one of it.
            let last = if one { last } else { BTreeSet::new() };
            self.calling.extend(round.called.then_some(own.begins));
            self.found.insert((*first, Some(own.begins)), last);
        }
        own.left
    }

    /// Each case may be the one that is jumped to.
    fn switch(&mut self, node: Node<'_>, state: State) -> State {
        let mut state = match node.part("condition") {
            Some(condition) => self.expression(condition, state),
            None => state,
        };
        // Which case it is tells what the accesses are for: no window reaches in.
        state = state.past();
        let Some(body) = node.part("body") else {
            return State::default();
        };
        // A `break` in it is its own, a `continue` the loop's.
        self.enter(node);
        if let Some(own) = self.loops.last_mut() {
            own.is_switch = true;
        }
        self.under.pop();
        self.under.push(Under::Case);
        let mut falls = State::default();
        let mut cursor = body.walk();
        for child in body.named_children(&mut cursor) {
            if child.known_kind() == "case_statement" {
                falls = falls.joined(state.clone());
            }
            falls = self.statement(child, falls);
        }
        self.under.pop();
        let state = state.joined(falls);
        match self.outside() {
            Some(own) => state.joined(own.left),
            None => state,
        }
    }

    /// Whether nothing in it is an access, a call or, in a loop, a name that is set.
    fn is_still(&self, node: Node<'_>) -> bool {
        let sets = || memchr3(b'=', b'+', b'-', self.context.seen(node)).is_some();
        self.context.calls_nothing(node) && (self.loops.is_empty() || !sets())
    }

    fn expression(&mut self, node: Node<'_>, state: State) -> State {
        if self.is_still(node) {
            return state;
        }
        match node.known_kind() {
            "sizeof_expression" | "offsetof_expression" | "type_descriptor" => state,
            "call_expression" => self.call(node, state),
            "conditional_expression" => self.conditional(node, state),
            "assignment_expression" | "update_expression" => self.assigned(node, state),
            "compound_statement" | "ERROR" => {
                self.block(node, State::called());
                State::called()
            }
            _ => {
                let mut cursor = node.walk();
                let children = node.named_children(&mut cursor);
                children.fold(state, |state, child| self.expression(child, state))
            }
        }
    }

    fn call(&mut self, node: Node<'_>, state: State) -> State {
        let access = self.context.access(node);
        if let Some(site) = access.and_then(|access| self.context.site(node, access)) {
            return self.site(site, &state);
        }
        let callee = self.context.callee(node);
        let vocabulary = self.context.vocabulary;
        let arguments = node.part("arguments");
        let state = arguments
            .into_iter()
            .fold(state, |state, all| self.expression(all, state));
        if vocabulary.is_transparent(callee) || vocabulary.is_pure(callee) {
            state
        } else {
            State::called()
        }
    }

    fn site(&mut self, site: Site, state: &State) -> State {
        let at = self.sites.len();
        self.sites.push((site, self.under.clone()));
        if !state.sites.is_empty() {
            self.found.insert((at, None), state.sites.clone());
        }
        // What an argument calls in each round cannot all be called before the first.
        let calls = self.sites.last().is_some_and(|(site, _)| calls(site));
        for own in &mut self.loops {
            if state.rounds.contains(&own.begins) && !calls {
                own.first.insert(at);
            }
        }
        State {
            sites: BTreeSet::from([at]),
            called: state.called || calls,
            ..State::default()
        }
    }

    fn conditional(&mut self, node: Node<'_>, state: State) -> State {
        let part = |name: &str| node.part(name);
        let Some(condition) = part("condition") else {
            return state;
        };
        let state = self.expression(condition, state);
        let asked = span(condition);
        // `a ?: b`: what follows is no way of its own for a fault.
        let under = |holds| {
            if holds {
                Under::If(asked)
            } else {
                Under::Else(asked)
            }
        };
        let then = self.part(part("consequence"), under(true), state.clone());
        let other = self.part(part("alternative"), under(false), state);
        then.joined(other)
    }

    fn part(&mut self, node: Option<Node<'_>>, under: Under, state: State) -> State {
        let Some(node) = node else {
            return state;
        };
        self.under.push(under);
        let state = self.expression(node, state);
        self.under.pop();
        state
    }

    fn assigned(&mut self, node: Node<'_>, state: State) -> State {
        let part = |name: &str| node.part(name);
        let place = part("left").or(part("argument")).map(bare);
        let sets =
            node.known_kind() == "assignment_expression" && self.context.operator(node) == b"=";
        let name = place.filter(|place| place.known_kind() == "identifier");
        let name = name.map(|place| self.context.seen(place).to_vec());
        if let (Some(name), Some(own)) = (name, self.loops.last_mut()) {
            let names = if sets { &mut own.set } else { &mut own.moved };
            names.insert(name);
        }
        let parts = [part("right"), part("left"), part("argument")];
        let parts = parts.into_iter().flatten();
        parts.fold(state, |state, part| self.expression(part, state))
    }

    fn pairs(&self) -> Vec<Pair> {
        let all = self.found.iter();
        all.filter_map(|((second, round), first)| self.pair(*second, *round, first))
            .collect()
    }

    fn pair(&self, second: usize, round: Option<usize>, first: &BTreeSet<usize>) -> Option<Pair> {
        let (site, under) = self.sites.get(second)?;
        let line = |begins: usize| self.context.lines.position(begins).line;
        if let Some(begins) = round {
            let last = first.iter().next_back();
            let last = last.and_then(|last| self.sites.get(*last));
            return Some(Pair {
                first: last.map_or(site, |(last, _)| last).clone(),
                second: site.clone(),
                parted: Parted::Round {
                    line: line(begins),
                    calls: self.calling.contains(&begins),
                },
                one_object: !first.is_empty(),
            });
        }
        let near = first.iter().rev().filter_map(|at| self.sites.get(*at));
        let (other, own) = near
            .clone()
            .find(|(other, _)| other.object == site.object)
            .or(near.clone().next())?;
        Some(Pair {
            first: other.clone(),
            second: site.clone(),
            parted: self.parted(own, under),
            one_object: other.object == site.object,
        })
    }

    /// What stands between two places.
    fn parted(&self, first: &[Under], second: &[Under]) -> Parted {
        let same = first.iter().zip(second).take_while(|(a, b)| a == b).count();
        let rest = |all: &[Under]| all.get(same..).unwrap_or_default().to_vec();
        let (first, second) = (rest(first), rest(second));
        let all = || second.iter().chain(&first);
        let looped = all().find_map(|own| match own {
            Under::Loop(begins) => Some(*begins),
            _ => None,
        });
        if let Some(begins) = looped {
            let line = self.context.lines.position(begins).line;
            return Parted::Loop { line };
        }
        let text = |place: &Span| {
            let text = place.text(self.context.original);
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let found = all().find_map(|own| match own {
            Under::If(place) => Some(Parted::When {
                condition: text(place),
            }),
            Under::Else(place) => Some(Parted::Unless {
                condition: text(place),
            }),
            _ => None,
        });
        found.unwrap_or(match all().next() {
            Some(_) => Parted::Case,
            None => Parted::Statement,
        })
    }
}

fn calls(site: &Site) -> bool {
    let mut hazards = site.hazards.iter();
    hazards.any(|hazard| matches!(hazard, Hazard::Call(_)))
}

/// Whether a condition asks for what was read, not only for the fault.
fn asks_value(context: &Context<'_>, condition: Node<'_>) -> bool {
    let text = context.seen(condition);
    memchr::memmem::find(text, b"&&").is_some()
}

/// Whether an object is the same in every round: what says which it is does not
/// change but for a pointer that moves on.
fn is_one(object: &[u8], own: &Loop) -> bool {
    let named = |name: &Vec<u8>| mentions(object, name);
    let moves = |name: &Vec<u8>| name.as_slice() != object && named(name);
    !own.set.iter().any(named) && !own.moved.iter().any(moves)
}
