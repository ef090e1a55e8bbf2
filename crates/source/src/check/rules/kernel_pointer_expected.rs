use tree_sitter::Node;

use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::space;
use crate::check::words::Permission;
use crate::expression::{Expression, Term};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "kernel-pointer-expected",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a __user pointer is given to a function that is declared to take one of the kernel's",
    why: "The function goes through it as through any other: nothing opens access for that, nothing handles \
          a fault, and the address may be one of the kernel's that the user must not reach.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let (file, body) = (function.file, function.body);
    let mut words = file.tokens_in(body.header.join(body.span)).iter();
    let declares = words.any(|own| own.span.of(file.text) == b"__user");
    for call in function.calls {
        out.extend(handed(function, *call, declares));
    }
}

/// An address of the user's that a function of another file is given for one of the kernel's:
/// a variable of a function that declares any as such, or a member.
fn handed(function: &FunctionContext<'_>, call: Node<'_>, declares: bool) -> Option<Violation> {
    let (file, name) = (function.file, function.callee(call)?);
    let pointer = function.graph.local(name).is_some() || function.is_parameter(name);
    if pointer || file.body_named(name).is_some() || is_known(function, name) {
        return None;
    }
    let whole = function.expression_of(call);
    let (_, given) = whole.call()?;
    let given: Vec<(usize, &Expression)> = given
        .iter()
        .enumerate()
        .filter(|(_, own)| declares || own.any(&|part| matches!(part.term, Term::Member { .. })))
        .filter(|(_, own)| is_users(function, own))
        .collect();
    // Last what takes longest.
    given.first()?;
    let words = file.words;
    if given.iter().all(|(at, _)| words.takes_users(name, *at)) {
        return None;
    }
    let takes = file.signature(name)?;
    let kernels = |(at, _): &&(usize, &Expression)| {
        let own = takes.takes.get(*at);
        own.is_some_and(|own| own.pointer && !own.users)
    };
    let (_, own) = given.iter().find(kernels)?;
    let message = format!(
        "{} is an address of the user's, and {name}() is declared to take one of the kernel's",
        file.plain(own.span)
    );
    Some(file.violation(&INFO, own.span, "the user's", message))
}

/// Whether another rule, or the vocabulary, says what a call of that name does with addresses.
fn is_known(function: &FunctionContext<'_>, name: &str) -> bool {
    let words = function.file.words;
    // What may stand in a window looks at no more than the address: prefetchw().
    let harmless = || words.permission(name) == Permission::Allowed;
    words.knows(name)
        || words.goes_by_hand(name)
        || function.known.get(name).is_some()
        || harmless()
}

/// Whether an expression is an address of the user's by its own type, and the function gives
/// the place no other.
fn is_users(function: &FunctionContext<'_>, own: &Expression) -> bool {
    let place = match &own.term {
        // Whoever has a structure goes through it.
        Term::Cast(to, value) if to.pointers == 1 && is_aggregate(&to.base) => {
            return value.name().is_some() && is_users(function, value);
        }
        Term::Name(_) | Term::Member { .. } => own,
        Term::Binary(left, operator, _) if operator == "+" => left,
        _ => return false,
    };
    let other = || match place.name() {
        Some(name) => space::is_set_to_another(function, name),
        None => function.assigns(place),
    };
    space::is_users(function, own) && !other()
}

/// Whether a type is a structure by its name.
fn is_aggregate(base: &str) -> bool {
    let word = base.split_whitespace().find(|own| *own != "const");
    matches!(word, Some("struct" | "union"))
}
