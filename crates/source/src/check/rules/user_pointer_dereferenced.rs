use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::declared_type;
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "user-pointer-dereferenced",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a store through a __user pointer that no accessor makes",
    why: "The address is the user's: nothing has opened access for a plain store, nothing handles its \
          fault, and an architecture with separate address spaces stores somewhere else. An open \
          window makes it work on some machines only.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for effect in &function.graph.effects {
        if !is_store(effect) || !function.graph.places.is_right_behind(effect.place) {
            continue;
        }
        // Whoever casts it says that it is the kernel's there.
        let cast = |own: &Expression| matches!(own.term, Term::Cast(..));
        let store = function.expression(effect.span);
        let target = store.as_ref().map(|store| match &store.term {
            Term::Assignment(left, ..) => &**left,
            _ => store,
        });
        if target.is_none_or(|target| target.any(&cast)) {
            continue;
        }
        let name = function.graph.name_of(effect);
        let Some(of) = declared_type(function, name).filter(|_| is_the_users(function, effect))
        else {
            continue;
        };
        let message = format!("{name} points to {of} of the user's, and is stored through by hand");
        let file = function.file;
        out.push(file.violation(&INFO, effect.span, "a plain store", message));
    }
}

/// Whether the declaration that the variable has there makes it a pointer to user
/// memory, no array of such; a parameter that takes another value may be anything.
fn is_the_users(function: &FunctionContext<'_>, effect: &Effect) -> bool {
    let (graph, text) = (function.graph, function.file.text);
    let name = graph.name_of(effect);
    let local = graph.places.as_local(graph.places.root(effect.place));
    let place = match local.and_then(|local| graph.locals.get(local)) {
        Some(local) if local.array => return false,
        Some(local) => local.declared,
        None if graph.takes_a_value(name) => return false,
        None => function.body.header,
    };
    let tokens = function.file.tokens;
    let from = tokens.partition_point(|token| token.span.start < place.start);
    let to = tokens.partition_point(|token| token.span.end <= place.end);
    let own = tokens.get(from..to).unwrap_or_default();
    own.windows(3).any(|three| {
        let [star, word, next] = three else {
            return false;
        };
        star.is(b'*') && word.span.of(text) == name.as_bytes() && !next.is(b'[')
    }) && own.iter().any(|token| token.span.of(text) == b"__user")
}

/// An assignment; what inline assembly writes is its own affair.
fn is_store(effect: &Effect) -> bool {
    matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some() || write.next)
}
