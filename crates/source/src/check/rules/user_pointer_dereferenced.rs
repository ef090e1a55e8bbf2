use crate::check::conditions::is_without;
use crate::check::context::FunctionContext;
use crate::check::extent;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::range::{declared_type, declares};
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind};
use crate::span::Span;
use crate::types::Shape;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "user-pointer-dereferenced",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a load or a store through a __user pointer that no accessor makes",
    why: "The address is the user's: nothing has opened access for a plain load or store, nothing \
          handles its fault, and an architecture with separate address spaces goes somewhere else. \
          An open window makes it work on some machines only.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for effect in &function.graph.effects {
        let stored = is_store(effect);
        let load = effect.kind == EffectKind::Read && !is_stored_too(function, effect);
        if !(stored || load) || !function.graph.places.is_right_behind(effect.place) {
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
        let loads = |place: &Expression| is_loaded(function, place, name);
        if load && !(is_plain(function, effect.span) && target.is_some_and(loads)) {
            continue;
        }
        let (done, label) = match stored {
            true => ("stored", "a plain store"),
            false => ("loaded", "a plain load"),
        };
        let message = format!("{name} points to {of} of the user's, and is {done} through by hand");
        let file = function.file;
        let mut violation = file.violation(&INFO, effect.span, label, message);
        // There the memory of the user is the kernel's.
        if is_without(file, effect.span, "CONFIG_MMU") {
            violation.confidence = Confidence::Low;
        }
        out.push(violation);
    }
}

/// Whether nothing but operators take what is there: no call, which may be a macro that
/// takes its address, and no assembly.
fn is_plain(function: &FunctionContext<'_>, place: Span) -> bool {
    let root = function.root;
    let mut node = root.descendant_for_byte_range(place.start, place.end);
    while let Some(own) = node {
        match own.kind() {
            "call_expression" | "gnu_asm_expression" => return false,
            kind if kind.ends_with("_statement") || kind == "declaration" => return true,
            _ => node = own.parent(),
        }
    }
    false
}

/// Whether the place has a value of its own: an array is but its address, and so may be
/// what the tree says nothing of.
fn is_loaded(function: &FunctionContext<'_>, place: &Expression, pointer: &str) -> bool {
    let of = extent::place(function, place, pointer);
    of.is_some_and(|(_, of)| matches!(of.shape, Shape::Scalar { .. } | Shape::Pointer(_)))
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
    let own = function.file.tokens_in(place);
    own.windows(3).any(|three| {
        let array = three.last().is_some_and(|next| next.is(b'['));
        declares(function, three, name) && !array
    }) && own.iter().any(|token| token.span.of(text) == b"__user")
}

/// Whether what is loaded is stored in the same expression: `(*p)++`, which is told once.
fn is_stored_too(function: &FunctionContext<'_>, load: &Effect) -> bool {
    let mut effects = function.graph.effects.iter();
    effects.any(|own| is_store(own) && own.place == load.place && own.span.contains(load.span))
}

/// An assignment; what inline assembly writes is its own affair.
fn is_store(effect: &Effect) -> bool {
    matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some() || write.next)
}
