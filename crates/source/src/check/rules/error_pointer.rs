use memchr::memmem::Finder;

use crate::check::context::FunctionContext;
use crate::check::known::Fails;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{Action, Condition, Edge, Effect, EffectKind, Node as Step, StatementKind};
use crate::hashed::HashSet;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "error-pointer",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "what memdup_user() gives is not asked for an error, or is compared with NULL",
    why: "memdup_user(), strndup_user() and the like give an error number as a pointer where the copy faults \
          or memory is short, never NULL. IS_ERR() tells it; any other test takes it for an address.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let mut seen = HashSet::default();
    for call in function.calls {
        let Some(name) = function.callee(*call) else {
            continue;
        };
        // What else of the file gives one is looked at beside accesses alone.
        let own = function.file.words.gives_error_pointer(name) || function.may_fault(name);
        let gives = function.fails(name).map(|fails| (fails, name));
        let gives = gives.filter(|_| own || !function.accesses.is_empty());
        let taken = gives.and_then(|gives| Some((gives, function.taker(*call)?)));
        let Some((gives, target)) = taken else {
            continue;
        };
        let unasked = unasked(function, span(*call), gives, &target);
        let told = unasked.is_some();
        out.extend(unasked);
        // Of a place once: every test of it is looked at.
        let written = function.file.plain(target.span);
        if !told && seen.insert(written) {
            out.extend(freed(function, span(*call), gives, &target));
        }
    }
}

/// An error pointer that a way from where IS_ERR() held comes to a call with which frees it.
fn freed(
    function: &FunctionContext<'_>,
    at: Span,
    (fails, name): (Fails, &str),
    target: &Expression,
) -> Option<Violation> {
    let (graph, words) = (function.graph, function.file.words);
    (fails != Fails::Null).then_some(())?;
    let place = place_of(function, at, target)?;
    let root = graph.places.root(place);
    let asks = |condition: &Condition| {
        let own = function.asked(condition);
        let own = own.filter(|own| own.call().is_some_and(|(name, _)| words.tells_errors(name)));
        own.is_some_and(|own| {
            own.call()
                .is_some_and(|(_, given)| given == std::slice::from_ref(target))
        })
    };
    let conditions = graph.conditions.iter().enumerate();
    let tests = conditions.filter(|(_, own)| own.reads.contains(&place) && asks(own));
    let tests: HashSet<usize> = tests.map(|(at, _)| at).collect();
    let starts = graph.nodes.iter().flat_map(|node| node.next.iter());
    let starts = starts.filter_map(|(edge, next)| match edge {
        Edge::If(condition, true) if tests.contains(condition) => Some(*next),
        _ => None,
    });
    let mut work: Vec<usize> = starts.collect();
    let mut seen = HashSet::default();
    while let Some(node) = work.pop() {
        let own = graph.nodes.get(node).filter(|_| seen.insert(node));
        let Some(own) = own else { continue };
        let mut effects = graph.effects_at(own).iter();
        let sets = |kind: &EffectKind| match kind {
            EffectKind::Write(_) | EffectKind::Address => true,
            EffectKind::Handed { by_address } => *by_address,
            EffectKind::Read => false,
        };
        // What holds a member may be given another, or to who gives the member one.
        let holds = |effect: &Effect| {
            let handed = matches!(effect.kind, EffectKind::Handed { .. });
            effect.place == root && (handed || sets(&effect.kind))
        };
        let is_set = |effect: &Effect| effect.place == place && sets(&effect.kind);
        if effects.any(|effect| is_set(effect) || root != place && holds(effect)) {
            continue;
        }
        if let Some(told) = frees_there(function, own, target) {
            let file = function.file;
            let variable = file.plain(target.span);
            let message = format!(
                "{variable} is an error pointer where {name}() failed, and a way from there comes here with it"
            );
            let mut violation = file.violation(&INFO, told, "frees an error pointer", message);
            violation.related.push(file.mark(at, "given here"));
            return Some(violation);
        }
        // What asks for it again knows.
        let free = own.next.iter().filter(|(edge, _)| match edge {
            Edge::If(condition, _) => graph
                .conditions
                .get(*condition)
                .is_none_or(|own| !own.reads.contains(&place) && own.place != Some(place)),
            _ => true,
        });
        work.extend(free.map(|(_, next)| *next));
    }
    None
}

/// The number of the place that takes what a call gives: a variable of the function, or a member of
/// what one leads to.
fn place_of(function: &FunctionContext<'_>, call: Span, target: &Expression) -> Option<usize> {
    let graph = function.graph;
    let mut effects = graph.effects.iter();
    let Some(variable) = target.name() else {
        let takes = |effect: &&Effect| match &effect.kind {
            EffectKind::Write(write) => write.value.is_some_and(|own| own.contains(call)),
            _ => false,
        };
        // Which element one is may change with what counts them.
        let picked = target.any(&|part| matches!(part.term, Term::Element { .. }));
        let member = matches!(target.term, Term::Member { .. }) && !picked;
        return effects.find(takes).filter(|_| member).map(|own| own.place);
    };
    // A variable of another block may have its name.
    let declared = function.local_at(variable, target.span)?.declared;
    let own = |effect: &&Effect| {
        let local = graph.places.as_local(effect.place);
        let local = local.and_then(|at| graph.locals.get(at));
        local.is_some_and(|own| own.declared == declared && own.name == variable)
    };
    Some(effects.find(own)?.place)
}

/// The call at a node that frees the pointer.
fn frees_there(function: &FunctionContext<'_>, node: &Step, target: &Expression) -> Option<Span> {
    let Action::Call(call) = &node.action else {
        return None;
    };
    let frees = function.file.words.frees(&call.name);
    let whole = function.expression(node.span).filter(|_| frees)?;
    let given = whole
        .call()
        .is_some_and(|(_, given)| given.iter().any(|own| own.uncast().1 == target));
    given.then_some(node.span)
}

/// What is done with a pointer that a call gave.
#[derive(Default)]
struct Uses {
    /// Where it is asked for an error.
    told: Option<Span>,
    /// Whether it is asked for NULL together with that.
    null: bool,
    /// Where it is compared with NULL.
    compared: Option<Span>,
    /// Where it is followed.
    followed: Option<Span>,
}

/// The expressions that may look at a pointer, or go through it.
const USES: [&str; 6] = [
    "call_expression",
    "unary_expression",
    "binary_expression",
    "field_expression",
    "pointer_expression",
    "subscript_expression",
];

impl Uses {
    fn of(function: &FunctionContext<'_>, at: Span, target: &Expression) -> Self {
        // A variable of another block may have its name.
        let declared = |at: Span| {
            let local = target.name().and_then(|name| function.local_at(name, at));
            local.map(|local| local.declared)
        };
        let known = declared(target.span);
        let same = |own: &Expression| own.uncast().1 == target && declared(own.span) == known;
        let mut found = Self::default();
        // What does not have its name is not looked into; without one everything is.
        let name = target.root().name();
        let name = name.map(|name| Finder::new(name.as_bytes()));
        function.each_of(&USES, |node| {
            let place = span(node).of(function.file.text);
            if name.as_ref().is_some_and(|name| name.find(place).is_none()) {
                return;
            }
            let own = function.expression_of(node);
            found.note(function, &own, node.start_byte() >= at.end, &same);
        });
        found
    }

    fn note(
        &mut self,
        function: &FunctionContext<'_>,
        own: &Expression,
        behind: bool,
        same: &dyn Fn(&Expression) -> bool,
    ) {
        let words = function.file.words;
        match &own.term {
            Term::Call(..) => {
                let asked = own.call().filter(|(_, given)| given.iter().any(same));
                if let Some((name, _)) = asked.filter(|(name, _)| words.tells_errors(name)) {
                    self.told = self.told.or(Some(own.span));
                    self.null |= words.tells_null(name);
                }
            }
            Term::Unary(not, of) if not == "!" && behind && same(of) => {
                self.compared = self.compared.or(Some(own.span));
            }
            Term::Binary(left, operator, right) if behind && same(left) => {
                let null = matches!(operator.as_str(), "==" | "!=") && right.is_null();
                self.compared = self.compared.or(null.then_some(own.span));
            }
            Term::Member {
                holder: pointer,
                arrow: true,
                ..
            }
            | Term::Behind(pointer)
            | Term::Element { array: pointer, .. }
                if behind && same(pointer) =>
            {
                self.followed = self.followed.or(Some(own.span));
            }
            _ => {}
        }
    }

    /// Whether anything asks it for NULL, as far as that is seen of a variable.
    fn asked_for_null(&self, function: &FunctionContext<'_>, target: &Expression) -> bool {
        let mut tests = function.graph.tests.iter();
        let tested = target
            .name()
            .is_none_or(|name| tests.any(|(at, _)| function.graph.tests(*at, name)));
        self.null || self.compared.is_some() || tested
    }
}

/// Whether the function returns it: its caller asks.
fn is_returned(function: &FunctionContext<'_>, target: &Expression) -> bool {
    let mut returns = function.graph.statements.iter();
    returns.any(|own| {
        let given = own.expression.filter(|_| own.kind == StatementKind::Return);
        let given = given.and_then(|given| function.expression(given));
        given.is_some_and(|given| given.uncast().1 == target)
    })
}

/// The violation where nothing asks for what the call gives where it fails, and something
/// takes the result for an address or for the other of the two.
fn unasked(
    function: &FunctionContext<'_>,
    at: Span,
    (fails, name): (Fails, &str),
    target: &Expression,
) -> Option<Violation> {
    let uses = Uses::of(function, at, target);
    let returned = is_returned(function, target);
    let file = function.file;
    let mut violation = match fails {
        Fails::Null => {
            let asked = returned || uses.asked_for_null(function, target);
            let place = uses.told.filter(|_| !asked)?;
            let message =
                format!("{name}() gives NULL where it fails, which IS_ERR() does not tell");
            file.violation(&INFO, place, "never holds", message)
        }
        Fails::ErrorPointer | Fails::Either => {
            let place = uses.compared.or(uses.followed);
            let place = place.filter(|_| uses.told.is_none() && !returned)?;
            let what = match (uses.compared, fails) {
                (Some(_), Fails::Either) => "it is compared with NULL, which it is at other times",
                (Some(_), _) => "it is compared with NULL, which it never is",
                (None, _) => "it is followed as it is",
            };
            let message = format!("{name}() gives an error pointer where it fails: {what}");
            file.violation(&INFO, place, "no IS_ERR()", message)
        }
    };
    violation.related.push(file.mark(at, "given here"));
    Some(violation)
}
