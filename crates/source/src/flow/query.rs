//! What is asked of a graph: what is named where, what is live behind a place,
//! what a variable holds there, whether only the function can see it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::hashed::HashSet;
use crate::span::Span;
use crate::vocabulary::Vocabulary;

use super::graph::{Action, Edge, Effect, EffectKind, Flow, Local, Node, Write};
use super::held::Held;
use super::reached::NodeSet;
use super::statement::{Junction, Statement, StatementKind};

/// One of so many effects is asked for by where it begins; of more all are.
const MANY: usize = 8;

/// A variable as code at some place sees it.
#[derive(Clone, Copy)]
struct Variable {
    /// Its number among the places; none if nothing names it.
    place: Option<usize>,
}

/// What the read of `x |= …` is to who asks whether x is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Own {
    /// A read.
    Read,
    /// A part of the value behind it.
    Passed,
}

impl Flow {
    /// Whether the name is one of the function's: a variable, a label, a call or
    /// anything else that a new name would collide with.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        let all = [&self.header, &self.words, &self.unseen];
        all.iter().any(|words| words.contains(name))
    }

    /// The first declaration of a variable of that name.
    #[must_use]
    pub fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().find(|local| local.name == name)
    }

    /// Whether the name is one of the function's header and no variable hides it.
    #[must_use]
    pub fn is_parameter(&self, name: &str) -> bool {
        self.local(name).is_none() && self.header.contains(name)
    }

    /// Where a label stands.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<Span> {
        let mut labels = self.labels.iter();
        labels.find(|(known, _)| known == name).map(|(_, at)| *at)
    }

    /// What is done in a place, in the order of the evaluation.
    pub fn effects_in(&self, place: Span) -> impl Iterator<Item = &Effect> {
        // To put many of them in order takes longer than to ask all.
        let most = self.effects.len() / MANY;
        let mut own: Vec<usize> = self.effects_from(place).take(most + 1).collect();
        let few = own.len() <= most;
        own.truncate(if few { most } else { 0 });
        own.sort_unstable();
        let own = own.into_iter().filter_map(|at| self.effects.get(at));
        let all = (!few).then_some(&self.effects).into_iter().flatten();
        own.chain(all)
            .filter(move |effect| place.contains(effect.span))
    }

    /// The numbers of those that begin in a place, in the order of the text.
    pub(super) fn effects_from(&self, place: Span) -> impl Iterator<Item = usize> {
        let start = |at: &usize| self.effects.get(*at).map(|own| own.span.start);
        let all = self.in_order.get_or_init(|| {
            let mut all: Vec<usize> = (0..self.effects.len()).collect();
            all.sort_by_key(start);
            all
        });
        debug_assert_eq!(all.len(), self.effects.len(), "a graph that grows is asked");
        let first = all.partition_point(|at| start(at) < Some(place.start));
        let from = all.iter().skip(first).copied();
        from.take_while(move |at| start(at) <= Some(place.end))
    }

    /// The name of the variable that an effect's place is, or is reached from.
    #[must_use]
    pub fn name_of(&self, effect: &Effect) -> &str {
        let root = self.places.root(effect.place);
        let local = self.places.as_local(root);
        let local = local.and_then(|at| self.locals.get(at));
        local.map_or_else(
            || self.places.as_outer(root).unwrap_or_default(),
            |local| &local.name,
        )
    }

    /// Whether an effect is on a variable as a whole, not on a part of it or on
    /// what it points to.
    #[must_use]
    pub fn is_whole(&self, effect: &Effect) -> bool {
        self.places.parent(effect.place).is_none()
    }

    /// Whether an effect is on what lies behind a pointer.
    #[must_use]
    pub fn is_behind(&self, effect: &Effect) -> bool {
        self.places.is_behind(effect.place)
    }

    /// Whether an effect is on all that a variable points to: `*p = q`.
    #[must_use]
    pub fn is_all_behind(&self, effect: &Effect) -> bool {
        let pointer = self.places.parent(effect.place);
        pointer.is_some_and(|at| self.places.parent(at).is_none())
            && self.places.is_right_behind(effect.place)
    }

    /// Whether anything that happens in a place names the variable.
    #[must_use]
    pub fn names(&self, place: Span, name: &str) -> bool {
        self.effects_from(place).any(|at| {
            let own = self.effects.get(at);
            own.is_some_and(|own| place.contains(own.span) && self.name_of(own) == name)
        })
    }

    /// Whether something in a place needs the variable's value.
    #[must_use]
    pub fn reads(&self, place: Span, name: &str) -> bool {
        self.effects_in(place)
            .any(|e| self.name_of(e) == name && (e.kind == EffectKind::Read || self.is_behind(e)))
    }

    /// What the argument of a read is filled with there.
    #[must_use]
    pub fn filled(&self, value: Span) -> Option<&Effect> {
        let mut effects = self.effects_in(value);
        effects.find(|effect| matches!(effect.kind, EffectKind::Write(_)))
    }

    /// Whether something beside those places reads the variable.
    #[must_use]
    pub fn is_read_outside(&self, name: &str, places: &[Span]) -> bool {
        let outside = |at: Span| !places.iter().any(|place| place.contains(at));
        let reads = |e: &Effect| !matches!(e.kind, EffectKind::Write(_)) || self.is_behind(e);
        let mut effects = self.effects.iter();
        self.unseen.contains(name)
            || effects.any(|e| reads(e) && outside(e.span) && self.name_of(e) == name)
    }

    /// Whether two places that are reached from one variable by members alone
    /// are such that neither holds the other.
    #[must_use]
    pub fn are_members_apart(&self, one: &Effect, other: &Effect) -> bool {
        let (one, other) = (one.place, other.place);
        let places = &self.places;
        let plain = !places.is_element(one) && !places.is_element(other);
        plain && !places.is_in(one, other) && !places.is_in(other, one)
    }

    /// Whether anything is called in a place.
    #[must_use]
    pub fn calls(&self, place: Span) -> bool {
        let calls = |node: &Node| !matches!(node.action, Action::Join | Action::Exit { .. });
        let mut nodes = self.nodes.iter();
        nodes.any(|node| calls(node) && place.contains(node.span))
    }

    /// Whether anything is called in a place but what the vocabulary knows to compute
    /// only.
    #[must_use]
    pub fn calls_beyond(&self, place: Span, vocabulary: &Vocabulary) -> bool {
        let known = |name: &str| {
            vocabulary.is_pure(name.as_bytes()) || vocabulary.is_transparent(name.as_bytes())
        };
        let mut nodes = self.nodes.iter().filter(|node| place.contains(node.span));
        nodes.any(|node| match &node.action {
            Action::Join | Action::Exit { .. } => false,
            Action::Call(call) => !known(&call.name),
            _ => true,
        })
    }

    /// The names of what is called in a place; none where anything else happens that
    /// is a call or a window's.
    #[must_use]
    pub fn called_in(&self, place: Span) -> Option<BTreeSet<&str>> {
        let inside = self.nodes.iter().filter(|node| place.contains(node.span));
        let actions = inside.map(|node| &node.action);
        let acts = actions.filter(|own| !matches!(own, Action::Join | Action::Exit { .. }));
        let names = acts.map(|own| match own {
            Action::Call(call) if !call.name.is_empty() => Some(call.name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// Whether something of that name is called in a place.
    #[must_use]
    pub fn calls_to(&self, place: Span, name: &str) -> Option<Span> {
        let calls = self.nodes.iter().filter(|node| place.contains(node.span));
        let mut calls = calls.filter(|n| matches!(&n.action, Action::Call(c) if c.name == name));
        calls.next().map(|node| node.span)
    }

    /// Whether a condition holds exactly when the variable is not 0, or less.
    #[must_use]
    pub fn tests(&self, condition: Span, name: &str) -> bool {
        let mut tests = self.tests.iter();
        tests.any(|(at, place)| *at == condition && self.is_named(Some(*place), name))
    }

    /// What is asked in `return a || b ? -EFAULT : 0;`, if nothing is asked
    /// behind what holds.
    #[must_use]
    pub fn choice(&self, place: Span) -> Option<Span> {
        let mut choices = self.choices.iter();
        let own = choices.find(|(at, _, stops)| *at == place && *stops);
        own.map(|(_, asked, _)| *asked)
    }

    /// The two sides of a condition that is `left && right` or `left || right`.
    #[must_use]
    pub fn junction(&self, place: Span) -> Option<Junction> {
        let mut junctions = self.junctions.iter();
        junctions.find(|own| own.span == place).copied()
    }

    /// The last jump or return of a place.
    #[must_use]
    pub fn jump_in(&self, place: Span) -> Option<Span> {
        self.exit_in(place).map(|own| own.span)
    }

    /// The same, as the statement that it is.
    #[must_use]
    pub fn exit_in(&self, place: Span) -> Option<&Statement> {
        let leaves = |own: &&Statement| own.kind.leaves() && place.contains(own.span);
        self.statements.iter().rfind(leaves)
    }

    /// The statements in a place, itself included.
    pub fn statements_in(&self, place: Span) -> impl Iterator<Item = &Statement> {
        let all = self.statements.iter();
        all.filter(move |own| place.contains(own.span))
    }

    /// The statement that a label begins.
    #[must_use]
    pub fn labelled(&self, label: Span) -> Option<&Statement> {
        let own = |s: &&Statement| s.kind == StatementKind::Label && s.span.start == label.start;
        self.statements.iter().find(own)
    }

    /// The statement that holds another one.
    #[must_use]
    pub fn holder(&self, own: &Statement) -> Option<&Statement> {
        self.statements.get(own.parent?)
    }

    /// The statement before another one in the same block.
    #[must_use]
    pub fn before(&self, own: &Statement) -> Option<&Statement> {
        let earlier = |s: &&Statement| s.parent == own.parent && s.span.end <= own.span.start;
        self.statements.iter().rfind(earlier)
    }

    /// The statement behind a place in the same block.
    #[must_use]
    pub fn next(&self, place: Span) -> Option<&Statement> {
        let own = self.statements_in(place).last()?;
        let later = |s: &&Statement| s.span.start >= place.end;
        let mut holder = Some(own);
        while let Some(inner) = holder.filter(|own| place.contains(own.span)) {
            holder = self.holder(inner);
        }
        let parent = |s: &Statement| s.parent.and_then(|at| self.statements.get(at));
        let same = |s: &&Statement| parent(s).map(|p| p.span) == holder.map(|p| p.span);
        self.statements.iter().filter(later).find(same)
    }

    /// The statements right inside a block, in order.
    pub fn inside(&self, block: Span) -> impl Iterator<Item = &Statement> {
        let own = self.statements.iter().position(|s| s.span == block);
        let all = self.statements.iter();
        all.filter(move |s| own.is_some() && s.parent == own)
    }

    /// Whether nothing comes behind a statement from it.
    #[must_use]
    pub fn leaves(&self, own: &Statement) -> bool {
        match own.kind {
            kind if kind.leaves() => true,
            StatementKind::Block | StatementKind::Label => {
                let last = self.inside(own.span).last();
                last.is_some_and(|last| self.leaves(last))
            }
            _ => false,
        }
    }

    /// What takes a value, whole, and the expression that it takes.
    pub fn assignments(&self) -> impl Iterator<Item = (&str, Span)> {
        let whole = self.effects.iter().filter(|effect| self.is_whole(effect));
        whole.filter_map(|effect| match &effect.kind {
            EffectKind::Write(write) => Some((self.name_of(effect), write.value?)),
            _ => None,
        })
    }

    /// What a variable takes, where nothing else gives it anything; what lies behind a pointer is
    /// none of its own.
    #[must_use]
    pub fn only_value(&self, name: &str) -> Option<Span> {
        let mut own = self.locals.iter().filter(|local| local.name == name);
        let declared = own.next().map(|local| local.declared);
        // `int x;`
        let declares = |write: &Write, at: Span| {
            *write == Write::default() && declared.is_some_and(|own| own.contains(at))
        };
        let mut written = self.effects.iter().filter_map(|effect| match &effect.kind {
            EffectKind::Write(write) if self.name_of(effect) == name => {
                let own = !declares(write, effect.span) && !self.is_behind(effect);
                own.then_some(write.value)
            }
            _ => None,
        });
        let only = written.next().filter(|_| written.next().is_none());
        only.flatten()
    }

    /// Whether a variable takes a value anywhere.
    #[must_use]
    pub fn takes_a_value(&self, name: &str) -> bool {
        let written = |e: &&Effect| matches!(e.kind, EffectKind::Write(_)) && self.is_whole(e);
        let mut written = self.effects.iter().filter(written);
        written.any(|effect| self.name_of(effect) == name)
    }

    /// Whether anything takes a value in a place.
    #[must_use]
    pub fn writes(&self, place: Span) -> bool {
        let mut effects = self.effects_in(place);
        effects.any(|effect| !matches!(effect.kind, EffectKind::Read))
    }

    /// The array of an index in that place which is no constant, if one is.
    #[must_use]
    pub fn index_in(&self, place: Span) -> Option<Span> {
        let mut indices = self.indices.iter();
        let inside = indices.find(|(at, _)| place.contains(*at));
        inside.map(|(_, array)| *array)
    }

    /// The statement that a place is, the outermost of those.
    #[must_use]
    pub fn statement(&self, place: Span) -> Option<&Statement> {
        self.statements.iter().find(|own| own.span == place)
    }

    /// The variable that a name means in a place.
    fn variable(&self, name: &str, byte: usize) -> Variable {
        let seen = |(_, local): &(usize, &Local)| {
            local.name == name && local.scope.start <= byte && byte <= local.scope.end
        };
        let locals = self.locals.iter().enumerate().filter(seen);
        let local = locals.min_by_key(|(_, local)| local.scope.end - local.scope.start);
        Variable {
            place: match local {
                Some((local, _)) => self.places.find_local(local),
                None => self.places.find_outer(name),
            },
        }
    }

    pub(super) fn local_of(&self, variable: usize) -> Option<&Local> {
        self.locals.get(self.places.as_local(variable)?)
    }

    /// Whether somebody may have the address of a variable at a node: it was
    /// taken on a way that comes there.
    fn is_shared(&self, variable: usize, node: usize) -> bool {
        let taken = |effect: &Effect| {
            effect.kind == EffectKind::Address && self.places.is_in(effect.place, variable)
        };
        let takes = |at: &usize| self.effects_of(*at).iter().any(taken);
        let takers = (0..self.nodes.len()).filter(takes);
        self.reachable(takers.flat_map(|at| self.nexts(at)).collect())
            .contains(&node)
    }

    /// The nodes whose action stands in a place.
    pub(crate) fn nodes_in(&self, place: Span) -> impl Iterator<Item = usize> {
        let all = self.nodes.iter().enumerate();
        let inside =
            all.filter(move |(_, node)| node.action != Action::Join && place.contains(node.span));
        inside.map(|(at, _)| at)
    }

    /// Whether every way to what happens in a place passes what happens in another one; not
    /// where nothing is known to happen there.
    pub(crate) fn passes(&self, by: &[Span], at: Span) -> bool {
        let mut passed = NodeSet::of(self.nodes.len());
        let all = by.iter().flat_map(|place| self.at_work_in(*place));
        all.for_each(|node| _ = passed.insert(node));
        let bare = self.ways_from(vec![0], |node, _| passed.contains(node));
        let mut own = self.at_work_in(at).peekable();
        own.peek().is_some() && own.all(|node| !bare.contains(node))
    }

    /// The nodes whose action stands in a place, and those that read or write something there.
    fn at_work_in(&self, place: Span) -> impl Iterator<Item = usize> {
        self.nodes_in(place).chain(self.touching(place))
    }

    /// Every node that ways from some nodes come to, those included.
    fn reachable(&self, from: Vec<usize>) -> HashSet<usize> {
        let (mut seen, mut work) = (HashSet::default(), from);
        while let Some(at) = work.pop() {
            if seen.insert(at) {
                work.extend(self.nexts(at));
            }
        }
        seen
    }

    /// Whether only this call of the function can see the variable: it is its
    /// own or a parameter, and nobody has its address.
    #[must_use]
    pub fn is_private(&self, name: &str) -> bool {
        let mut own = self.locals.iter().filter(|local| local.name == name);
        let lasting = own.clone().any(|local| local.lasting);
        let known = own.next().is_some() || self.is_parameter(name);
        let mut effects = self.effects.iter();
        let shared = effects.any(|e| e.kind == EffectKind::Address && self.name_of(e) == name);
        known && !lasting && !shared && !self.unseen.contains(name)
    }

    /// The node behind the last of the statements in a place.
    fn behind(&self, place: Span) -> Option<usize> {
        let mut inside = self.statements_in(place);
        inside.find(|own| own.span.end == place.end)?.after
    }

    /// Whether nothing reads what the variable holds behind the statements of a
    /// place: on every way an assignment or the end comes first.
    #[must_use]
    pub fn is_dead(&self, name: &str, place: Span) -> bool {
        let byte = place.end.saturating_sub(1);
        self.behind(place)
            .is_some_and(|from| self.is_dead_from(name, byte, from, from))
    }

    /// Whether nothing reads what the variable holds where a jump to the label
    /// goes from the statement that begins at `byte`.
    #[must_use]
    pub fn is_dead_at(&self, name: &str, byte: usize, label: &str) -> bool {
        let mut statements = self.statements.iter();
        let own = statements.find(|own| own.span.start == byte);
        let leaves = own.and_then(|own| own.before);
        let ways = leaves.zip(self.at_label.get(label));
        ways.is_some_and(|(leaves, from)| self.is_dead_from(name, byte, leaves, *from))
    }

    /// Whether nothing reads what the variable holds where the statement that
    /// begins at `byte` begins.
    #[must_use]
    pub fn is_dead_before(&self, name: &str, byte: usize) -> bool {
        let mut statements = self.statements.iter();
        let own = statements.find(|own| own.span.start == byte);
        let from = own.and_then(|own| own.before);
        from.is_some_and(|from| self.is_dead_from(name, byte, from, from))
    }

    /// `leaves` is where it holds it, `from` where the code goes on.
    fn is_dead_from(&self, name: &str, byte: usize, leaves: usize, from: usize) -> bool {
        if self.computed || self.unseen.contains(name) {
            return false;
        }
        let Some(variable) = self.variable(name, byte).place else {
            return true;
        };
        let local = self.local_of(variable);
        let ends = match local {
            Some(local) => !local.lasting && !local.cleaned,
            None => self.is_parameter(name),
        };
        ends && !self.is_shared(variable, leaves) && !self.is_read_from(variable, from)
    }

    /// Whether anything looks at what an effect writes into a local variable. What becomes
    /// part of its next value (`err |= …`) is looked at where that is.
    pub(crate) fn is_looked_at(&self, at: usize) -> bool {
        let Some(written) = self.effects.get(at) else {
            return true;
        };
        let variable = written.place;
        let holds = |node: &&super::graph::Node| node.effects.contains(&at);
        let Some(own) = self.nodes.iter().find(holds) else {
            return true;
        };
        match self.first_among(variable, at + 1..own.effects.end, Own::Passed) {
            Some(read) => read,
            None => {
                let mut ways = own.next.iter();
                let returned = matches!(&own.action, Action::Exit { returned: Some(place), .. } if *place == variable);
                returned || ways.any(|(_, next)| self.comes_to_read(variable, *next, Own::Passed))
            }
        }
    }

    /// Whether a way from a node comes to a read before an assignment.
    fn is_read_from(&self, variable: usize, from: usize) -> bool {
        self.comes_to_read(variable, from, Own::Read)
    }

    fn comes_to_read(&self, variable: usize, from: usize, own: Own) -> bool {
        let mut seen = vec![false; self.nodes.len()];
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            let Some(first) = seen.get_mut(at).filter(|seen| !**seen) else {
                continue;
            };
            *first = true;
            let effects = self.nodes.get(at).map_or(0..0, |node| node.effects.clone());
            match self.first_among(variable, effects, own) {
                Some(true) => return true,
                Some(false) => {}
                None => work.extend(self.nexts(at)),
            }
        }
        false
    }

    fn nexts(&self, node: usize) -> impl Iterator<Item = usize> {
        let next = self.nodes.get(node).map(|node| node.next.as_slice());
        next.unwrap_or_default().iter().map(|(_, to)| *to)
    }

    /// Whether the first of some effects on the variable reads it, or gives it a value.
    fn first_among(&self, variable: usize, effects: Range<usize>, own: Own) -> Option<bool> {
        let mut at = effects.start;
        while at < effects.end {
            let effect = self.effects.get(at)?;
            at += 1;
            if !self.places.is_in(effect.place, variable) {
                continue;
            }
            if own == Own::Passed && self.is_of_own_value(at - 1, variable) {
                at += 1;
                continue;
            }
            match &effect.kind {
                EffectKind::Write(write) if effect.place == variable => {
                    if !write.optional {
                        return Some(false);
                    }
                }
                // A part takes a value, whatever the rest holds.
                EffectKind::Write(_) if !self.places.is_behind(effect.place) => {}
                _ => return Some(true),
            }
        }
        None
    }

    /// Whether an effect is the read of `x |= …`, behind which x takes its new value.
    pub(crate) fn is_of_own_value(&self, at: usize, variable: usize) -> bool {
        let (Some(read), Some(write)) = (self.effects.get(at), self.effects.get(at + 1)) else {
            return false;
        };
        let whole = [read, write].iter().all(|own| own.place == variable);
        let same = write.span.start == read.span.start && write.span.contains(read.span);
        whole && same && read.kind == EffectKind::Read && matches!(write.kind, EffectKind::Write(_))
    }

    /// The constant, as it is written, that the variable holds wherever the code
    /// comes to the statement that begins at `byte`.
    #[must_use]
    pub fn value(&self, name: &str, byte: usize) -> Option<String> {
        let mut statements = self.statements.iter();
        let at = statements.find(|own| own.span.start == byte)?.before?;
        let variable = self.variable(name, byte).place?;
        let own = self.local_of(variable)?;
        if self.computed || self.unseen.contains(name) || own.lasting {
            return None;
        }
        match self.held(variable, 0, Held::Unknown).remove(&at)? {
            Held::Constant(text) => Some(text),
            _ => None,
        }
    }

    /// Whether all that happens behind the statements of a place is that the
    /// function returns the variable.
    #[must_use]
    pub fn only_returns(&self, name: &str, place: Span) -> bool {
        let Some(mut at) = self.behind(place) else {
            return false;
        };
        for _ in 0..self.nodes.len() {
            let Some(node) = self.nodes.get(at) else {
                return false;
            };
            match (&node.action, self.effects_of(at), node.next.as_slice()) {
                (Action::Exit { returned, .. }, _, _) => return self.is_named(*returned, name),
                (Action::Join, [], [(Edge::Always, to)]) => at = *to,
                _ => return false,
            }
        }
        false
    }

    fn is_named(&self, variable: Option<usize>, name: &str) -> bool {
        let local = |at: usize| self.local_of(at).map(|local| local.name.as_str());
        variable.is_some_and(|at| local(at).or_else(|| self.places.as_outer(at)) == Some(name))
    }

    /// Whether a return gives the variable as it is.
    #[must_use]
    pub fn returns(&self, place: Span, name: &str) -> bool {
        let exits = self.nodes.iter().filter(|node| node.span == place);
        exits.into_iter().any(|node| {
            matches!(&node.action, Action::Exit { returned, .. } if self.is_named(*returned, name))
        })
    }

    /// Whether every way from a label to the end of the function calls something
    /// that frees the object.
    #[must_use]
    pub fn frees_behind(&self, label: &str, object: &str) -> bool {
        let Some(from) = self.at_label.get(label) else {
            return false;
        };
        let mut seen = vec![false; self.nodes.len()];
        let mut work = vec![*from];
        while let Some(at) = work.pop() {
            let Some(first) = seen.get_mut(at).filter(|seen| !**seen) else {
                continue;
            };
            *first = true;
            match self.nodes.get(at).map(|node| &node.action) {
                _ if self.frees(at, object) => {}
                Some(Action::Exit { .. }) => return false,
                _ => work.extend(self.nexts(at)),
            }
        }
        true
    }

    /// Whether something in a place frees the object.
    #[must_use]
    pub fn frees_in(&self, place: Span, object: &str) -> bool {
        let inside = |at: &usize| self.nodes.get(*at).is_some_and(|n| place.contains(n.span));
        (0..self.nodes.len())
            .filter(inside)
            .any(|at| self.frees(at, object))
    }

    fn frees(&self, node: usize, object: &str) -> bool {
        let Some(Action::Call(call)) = self.nodes.get(node).map(|node| &node.action) else {
            return false;
        };
        let given = |place: &usize| self.is_named(Some(*place), object);
        call.frees && call.given.iter().any(given)
    }
}
