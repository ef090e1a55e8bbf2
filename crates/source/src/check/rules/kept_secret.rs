use tollgate_defect::answer;
use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::Access;
use crate::check::callee::look_into;
use crate::check::context::FunctionContext;
use crate::check::fate::{fallible, fate};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::tokens::parameters;
use crate::expression::Expression;
use crate::flow::{Action, Effect, EffectKind, Local};
use crate::hashed::HashSet;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "kept-secret",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "what the user gave is left in memory on one way, and wiped on the others",
    why: "Who wipes it on one way out holds it for a secret. What is left on the stack, or in memory that is given \
          back as it is, lies there until something else is put over it, and may be read by then.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let words = function.file.words;
    let reads = function.accesses.iter().chain(function.through);
    let reads =
        reads.filter(|own| own.word.direction == Direction::Read && own.word.count.is_some());
    let mut told: HashSet<String> = HashSet::default();
    for access in reads {
        let name = access.value_root.as_str();
        let Some(local) = function
            .local_at(name, access.span)
            .filter(|own| !own.lasting)
        else {
            continue;
        };
        let wipes: Vec<Span> =
            wiping(function, local, |name| words.wipes(name).is_some()).collect();
        if wipes.is_empty() || !told.insert(name.to_owned()) {
            continue;
        }
        out.extend(left(function, access, local, &wipes));
    }
}

/// The calls that wipe a variable, or the memory that it leads to, functions of the file that
/// do that with what they are given among them.
fn wiping<'s>(
    function: &'s FunctionContext<'_>,
    local: &'s Local,
    is_known: impl Fn(&str) -> bool + 's,
) -> impl Iterator<Item = Span> + 's {
    function.calls.iter().filter_map(move |call| {
        let name = function.callee(*call)?;
        let whole = function.expression_of(*call);
        let (_, given) = whole.call()?;
        let is_local = |own: &Expression| own.root().name() == Some(&local.name);
        let at = given.iter().position(is_local)?;
        let wipes = match is_known(name) {
            true => function.file.words.wipes(name) == Some(at),
            false => wipes_parameter(function, name, at),
        };
        wipes.then(|| Span::new(call.start_byte(), call.end_byte()))
    })
}

/// Whether a function of the file wipes what one of its parameters leads to.
fn wipes_parameter(function: &FunctionContext<'_>, name: &str, at: usize) -> bool {
    let file = function.file;
    let Some(body) = file.body_named(name) else {
        return false;
    };
    // Most name nothing of the kind.
    let wipes = |word: &[u8]| answer::text(word).is_some_and(|own| file.words.wipes(own).is_some());
    let mut tokens = file.tokens_of(body).iter();
    if !tokens.any(|own| wipes(own.span.of(file.text))) {
        return false;
    }
    let names = parameters(file.text, file.tokens, body);
    let Some(parameter) = names.as_ref().and_then(|names| names.get(at)) else {
        return false;
    };
    let asked = look_into(function, name, |callee| {
        let own = |call: &Node<'_>| {
            let whole = callee.expression_of(*call);
            let (name, given) = whole.call()?;
            let object = given.get(callee.file.words.wipes(name)?)?;
            Some(object.root().name() == Some(parameter))
        };
        Some(callee.calls.iter().any(|call| own(call) == Some(true)))
    });
    asked == Some(true)
}

/// Where the function is left with what a copy from the user gave, which it wipes elsewhere.
fn left(
    function: &FunctionContext<'_>,
    access: &Access<'_>,
    local: &Local,
    wipes: &[Span],
) -> Option<Violation> {
    let graph = function.graph;
    let own = fallible(function).find(|own| own.span == access.span)?;
    let arms = fate(function, &own)?.arms;
    let wiped: HashSet<usize> = wipes.iter().flat_map(|own| graph.nodes_in(*own)).collect();
    let exits = arms.iter().flat_map(|arm| {
        let reached = reached(function, arm.success, &wiped);
        reached.into_iter().filter(|at| {
            let node = graph.nodes.get(*at);
            node.is_some_and(|own| matches!(own.action, Action::Exit { .. }))
        })
    });
    let used = |exit: &Span| is_used(function, access, local, *exit);
    let mut exits = exits.map(|at| function.place(at));
    let exit = exits.find(used)?;
    let file = function.file;
    let message = format!(
        "what the user gave in {} is left behind, and wiped on line {} where the function is left otherwise",
        local.name,
        function.line(*wipes.first()?)
    );
    let mut violation = file.violation(&INFO, exit, "left as it is", message);
    violation
        .related
        .push(file.mark(access.span, "filled here"));
    Some(violation)
}

/// Whether a call is given the variable, or what it leads to, behind the copy and before a place:
/// what nothing has looked at yet may be wiped for what is put there later.
fn is_used(function: &FunctionContext<'_>, access: &Access<'_>, local: &Local, exit: Span) -> bool {
    let graph = function.graph;
    let hands = |effect: &Effect| match &effect.kind {
        EffectKind::Address => true,
        EffectKind::Handed { by_address } => *by_address || !local.plain,
        EffectKind::Read => !local.plain && !local.array && graph.is_whole(effect),
        EffectKind::Write(_) => false,
    };
    let mut effects = graph.effects.iter().filter(|effect| {
        let between = effect.span.start >= access.span.end && effect.span.end <= exit.start;
        between && graph.name_of(effect) == local.name
    });
    effects.any(hands)
}

/// The nodes that ways from one come to which pass none of some others.
fn reached(function: &FunctionContext<'_>, from: usize, besides: &HashSet<usize>) -> Vec<usize> {
    let graph = function.graph;
    let mut seen: HashSet<usize> = HashSet::default();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        if besides.contains(&at) || !seen.insert(at) {
            continue;
        }
        let next = graph.nodes.get(at).map_or(&[][..], |own| &own.next);
        work.extend(next.iter().map(|(_, to)| *to));
    }
    let mut found: Vec<usize> = seen.into_iter().collect();
    found.sort_unstable();
    found
}
