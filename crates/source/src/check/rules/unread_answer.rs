use crate::Direction;
use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::dropped_answer::{Dropped, dropped};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::zero_answer::{ZeroAnswer, zero_answer};
use crate::flow::{EffectKind, Local};
use crate::lex::{Token, TokenKind};
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unread-answer",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "what is put together in a variable is looked at by nobody, where another goes to the user",
    why: "Who gathers bits or a sum in a variable means to tell somebody. In a function that answers a program \
          it is the answer, and something else was given in its place.",
};

/// So many variables of a function are asked for.
const MOST: usize = 16;

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    out.extend(zero_answer(function).map(|own| untold(function, &own)));
    let writes = |own: &Access<'_>| own.word.direction == Direction::Write;
    let mut accesses = function.accesses.iter().chain(function.through);
    if !accesses.any(writes) {
        return;
    }
    let file = function.file;
    for (local, built) in built_up(function) {
        if !is_read(function, local) {
            let message = format!(
                "what is put together in {} is looked at by nobody, and something else goes to the user",
                local.name
            );
            let mut violation = file.violation(&INFO, built, "put into it here", message);
            violation
                .related
                .push(file.mark(local.declared, "the variable"));
            out.push(violation);
        }
    }
    out.extend(dropped(function).iter().map(|own| instead(function, own)));
}

/// A write() of which no way says how much it took.
fn untold(function: &FunctionContext<'_>, own: &ZeroAnswer) -> Violation {
    let message = format!(
        "where all goes well this write() gives 0 and never {}, so that the program writes the same again",
        own.count
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, own.given, "0 where all goes well", message);
    if !own.given.contains(own.fetched) {
        violation
            .related
            .push(file.mark(own.fetched, "what was written is fetched here"));
    }
    violation
}

/// What is worked out in one variable where another one goes to the user.
fn instead(function: &FunctionContext<'_>, own: &Dropped) -> Violation {
    let message = format!(
        "what is worked out in {} is looked at by nobody, and {} goes to the user",
        own.name, own.instead
    );
    let file = function.file;
    file.violation(&INFO, own.set, "worked out here", message)
}

/// The plain variables of the function that something is added to, each with the first place.
fn built_up<'f>(function: &'f FunctionContext<'_>) -> Vec<(&'f Local, Span)> {
    let graph = function.graph;
    let mut found: Vec<(&Local, Span)> = Vec::new();
    for effect in &graph.effects {
        let compound = matches!(&effect.kind, EffectKind::Write(own) if own.compound);
        if !compound || !graph.is_whole(effect) || found.len() == MOST {
            continue;
        }
        let name = graph.name_of(effect);
        let mut locals = graph.locals.iter().filter(|own| own.name == name);
        // One that hides another is not told from it by its name.
        let Some(local) = locals.next().filter(|_| locals.next().is_none()) else {
            continue;
        };
        let own = local.plain && !local.lasting && !local.cleaned && !graph.unseen.contains(name);
        if own && !found.iter().any(|(known, _)| known.name == name) {
            found.push((local, effect.span));
        }
    }
    found
}

/// Whether a function names a variable, on any side of its `#if`s, otherwise than to declare or set it in a
/// statement of its own.
fn is_read(function: &FunctionContext<'_>, local: &Local) -> bool {
    let file = function.file;
    let tokens = file.tokens_of(function.body);
    let is = |own: Option<&Token>, bytes: &[u8]| {
        own.is_some_and(|own| bytes.iter().any(|byte| own.is(*byte)))
    };
    let mut named = tokens.iter().enumerate().filter(|(_, own)| {
        own.kind == TokenKind::Word && own.span.of(file.text) == local.name.as_bytes()
    });
    named.any(|(at, own)| {
        if local.declared.contains(own.span) {
            return false;
        }
        let (next, behind) = (tokens.get(at + 1), tokens.get(at + 2));
        let plain = is(next, b"=") && !is(behind, b"=");
        let compound = is(next, b"|&+-^") && is(behind, b"=");
        // What stands before may take what the assignment gives.
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        let alone = is(before, b";{}:)");
        !(alone && (plain || compound))
    })
}
