use crate::Direction;
use crate::calls::Outcome;
use crate::check::accesses::Access;
use crate::check::allocation::Allocation;
use crate::check::callee::{look_into, parameter};
use crate::check::context::FunctionContext;
use crate::check::copied_over::{CopiedOver, copied_over};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Local, StatementKind};
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unread-copy",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "what was set is copied over from the user, and looked at by nobody",
    why: "What a function puts into a variable and then fills from the user, without a look at it behind \
          that, was to go the other way: the user is given nothing, and his own bytes are dropped.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    out.extend(copied_over(function).iter().map(|own| over(function, own)));
    for access in function.accesses.iter().filter(|own| !own.inside) {
        // A macro may copy a variable that it is given by its name.
        let copied = access.word.count.is_some() || access.word.result == Some(Outcome::Left);
        let copies = access.word.direction == Direction::Read && copied;
        out.extend(copies.then(|| freed(function, access)).flatten());
        let local = filled(function, access).filter(|_| copies);
        let set = |local: &&Local| is_set(function, local, access);
        let local = local.filter(set);
        if let Some(local) = local.filter(|local| !is_looked_at(function, local, access)) {
            let message = format!(
                "{}() copies from the user over what was put into {}, and nothing looks at it behind that",
                access.word.name, local.name
            );
            let file = function.file;
            let mut violation = file.violation(&INFO, access.span, "looked at by nobody", message);
            let declared = file.mark(local.declared, "the variable");
            violation.related.push(declared);
            out.push(violation);
        }
    }
}

/// What an access puts over what another one has just put there.
fn over(function: &FunctionContext<'_>, own: &CopiedOver) -> Violation {
    let file = function.file;
    let message = format!(
        "{} has just been filled on line {}, and nothing has looked at that",
        file.plain(own.place),
        function.line(own.first)
    );
    let mut violation = file.violation(&INFO, own.second, "over that", message);
    let first = file.mark(own.first, "filled here");
    violation.related.push(first);
    violation
}

/// A copy into memory that the function allocates, and only frees behind it.
fn freed(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Violation> {
    let graph = function.graph;
    let value = function.expression_of(access.value_node);
    let name = value.uncast().1.name()?;
    let memory = Allocation::of(function, name, access.span)?;
    let local = function.local_at(name, access.span)?;
    if graph.computed || graph.unseen.contains(name) {
        return None;
    }
    let nodes = graph.nodes_in(access.span);
    let behind = nodes.flat_map(|node| graph.reached_behind(node, |_| false));
    let behind = behind.flat_map(|at| graph.effects_of(at));
    let own = |own: &&Effect| graph.name_of(own) == name && !access.span.contains(own.span);
    let mut gone = local.cleaned;
    for effect in behind.filter(own) {
        if !function.is_freed(effect.span) {
            return None;
        }
        gone = true;
    }
    // Last what takes longest.
    if !gone || is_taken(function, local) || is_handed(function, name, access) {
        return None;
    }
    let message = format!(
        "{}() copies from the user into {name}, and nothing looks at it before it is freed",
        access.word.name
    );
    let file = function.file;
    let mut violation = file.violation(&INFO, access.span, "looked at by nobody", message);
    let place = file.mark(memory.place, "allocated here");
    violation.related.push(place);
    Some(violation)
}

/// Whether a function that is called by its name is given the pointer before: it may keep it,
/// as sg_init_one() does. What a driver's operation is given is to be filled.
fn is_handed(function: &FunctionContext<'_>, name: &str, access: &Access<'_>) -> bool {
    let words = function.file.words;
    let mut calls = function.calls.iter();
    calls.any(|call| {
        let whole = function.expression_of(*call);
        let Some((callee, given)) = whole
            .call()
            .filter(|_| call.end_byte() <= access.span.start)
        else {
            return false;
        };
        let copies = words.access(callee).is_some() || words.clears(callee).is_some();
        let judges = words.tells_errors(callee) || words.tells_null(callee);
        let sized = |own: &Expression| own.any(&|part| matches!(part.term, Term::SizeOf(_)));
        let takes = |own: &Expression| own.any(&|part| part.name() == Some(name)) && !sized(own);
        // What says how much it has put there has filled it: `n = usb_control_msg(…, buffer, …)`.
        let filled = access.bytes.as_ref().is_some_and(|bytes| {
            let taker = function.taker(*call);
            taker.is_some_and(|taker| taker == *bytes.uncast().1)
        });
        !filled && !copies && !judges && !words.frees(callee) && given.iter().any(takes)
    })
}

/// Whether something else takes the pointer, by which it may be looked at.
fn is_taken(function: &FunctionContext<'_>, local: &Local) -> bool {
    let mut values = function.graph.effects.iter();
    values.any(|own| match &own.kind {
        EffectKind::Write(write) => {
            let value = write.value.and_then(|value| function.expression(value));
            value.is_some_and(|value| value.uncast().1.name() == Some(&local.name))
        }
        EffectKind::Address => function.graph.name_of(own) == local.name,
        _ => false,
    })
}

/// The variable of the function that an access fills: `&x`, `array`.
fn filled<'f>(function: &'f FunctionContext<'_>, access: &Access<'_>) -> Option<&'f Local> {
    let value = function.expression_of(access.value_node);
    let (name, array) = match &value.uncast().1.term {
        Term::Address(place) => (place.name()?, false),
        Term::Name(name) => (name.as_str(), access.word.count.is_some()),
        _ => return None,
    };
    let local = function.local_at(name, access.span)?;
    let own = if array { local.array } else { local.plain };
    (own && !local.lasting && !local.cleaned).then_some(local)
}

/// Whether the function puts anything into the variable on a way to the access: a copy that
/// is made of nothing but to see that it can be, is one.
fn is_set(function: &FunctionContext<'_>, local: &Local, access: &Access<'_>) -> bool {
    let graph = function.graph;
    let sets = |own: &Effect| {
        let stored = matches!(&own.kind, EffectKind::Write(write) if write.value.is_some());
        let own_access = function
            .accesses
            .iter()
            .any(|access| access.span.contains(own.span));
        stored && graph.name_of(own) == local.name && own.span != local.declared && !own_access
    };
    let targets: Vec<usize> = graph.nodes_in(access.span).collect();
    let mut nodes = 0..graph.nodes.len();
    nodes.any(|at| {
        let own = graph.effects_of(at).iter().any(sets);
        own && {
            let reached = graph.reached(at, |_| false);
            targets.iter().any(|target| reached.contains(target))
        }
    })
}

/// Whether anything that comes behind the access may look at the variable: it is read, or
/// something has its address.
fn is_looked_at(function: &FunctionContext<'_>, local: &Local, access: &Access<'_>) -> bool {
    let graph = function.graph;
    if graph.unseen.contains(&local.name) || graph.computed {
        return true;
    }
    let named = |own: &Effect| graph.name_of(own) == local.name;
    let looks = |own: &&Effect| named(own) && !matches!(own.kind, EffectKind::Write(_));
    let elsewhere = graph.effects.iter().filter(looks);
    // Who has its address from before may look at it at any time.
    let shared = elsewhere.clone().any(|own| {
        own.kind == EffectKind::Address
            && !is_lent(function, own.span)
            && !function
                .accesses
                .iter()
                .any(|access| access.value.contains(own.span))
    });
    let mut nodes = graph.nodes_in(access.span);
    shared
        || nodes.any(|node| {
            let behind = graph.reached_behind(node, |_| false);
            let mut effects = behind.iter().flat_map(|at| graph.effects_of(*at));
            // What the access does to it may be noted behind its call.
            effects.any(|own| looks(&own) && !access.span.contains(own.span))
        })
}

/// Whether an address is given to a function of the file that only goes through it, and so
/// keeps it nowhere.
fn is_lent(function: &FunctionContext<'_>, address: Span) -> bool {
    let calls = function.calls.iter();
    let Some(call) = calls
        .filter(|own| span(**own).contains(address))
        .min_by_key(|own| own.end_byte() - own.start_byte())
    else {
        return false;
    };
    let whole = function.expression_of(*call);
    let Some((name, given)) = whole.call() else {
        return false;
    };
    let at = given.iter().position(|own| own.span.contains(address));
    let keeps_none = at.and_then(|at| {
        look_into(function, name, |callee| {
            let own = parameter(callee, at)?;
            let graph = callee.graph;
            let kept = |effect: &Effect| match effect.kind {
                EffectKind::Address | EffectKind::Handed { .. } => true,
                EffectKind::Read => !graph.is_behind(effect) && is_given_on(callee, &own),
                EffectKind::Write(_) => !graph.is_behind(effect),
            };
            let mut effects = graph.effects.iter();
            let kept = effects.any(|effect| graph.name_of(effect) == own && kept(effect));
            (!kept).then_some(())
        })
    });
    keeps_none.is_some()
}

/// Whether a pointer goes into another variable as it is, or to the caller.
fn is_given_on(function: &FunctionContext<'_>, name: &str) -> bool {
    let graph = function.graph;
    let returned = graph
        .statements
        .iter()
        .filter(|own| own.kind == StatementKind::Return);
    let returned = returned.filter_map(|own| own.expression);
    let mut values = graph.assignments().map(|(_, value)| value).chain(returned);
    values.any(|value| {
        let value = function.expression(value);
        value.is_none_or(|value| value.uncast().1.name() == Some(name))
    })
}
