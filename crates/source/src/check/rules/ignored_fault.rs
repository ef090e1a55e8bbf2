use tollgate_defect::answer;
use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::Access;
use crate::check::context::FunctionContext;
use crate::check::fate::fallible;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::told_done::is_told_done;
use crate::check::unasked_length::unasked_length;
use crate::check::unfilled::{unfilled, unread_number};
use crate::expression::{Expression, Term};
use crate::flow::EffectKind;
use crate::node::Parts as _;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "ignored-fault",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "what a read from the user filled is used, but not whether it faulted",
    why: "After a fault get_user() leaves 0 and copy_from_user() zeroes the rest. The code goes on with \
          that as if the user had said it.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for access in function.accesses.iter().filter(|access| !access.inside) {
        let dropped = used(function, access).filter(|_| is_dropped(access.node));
        let told = dropped.map(|used| {
            let message = format!(
                "{} is used, but nothing asks whether {}() faulted",
                access.value_root, access.word.name
            );
            (message, "its result is dropped", Some(used))
        });
        let callee = access.word.name.as_bytes();
        let unasked = || {
            let asked_for =
                || function.file.words.must_use(callee) || is_told_done(function, access);
            let dropped = is_dropped(access.node) && asked_for();
            dropped.then(|| (unasked(&access.word.name), "its result is dropped", None))
        };
        let lost = || {
            let message = unread(function, access.node, &access.word.name)?;
            // Of a chain that nobody asks the last tells.
            (!is_passed_on(function, access.node)).then_some(())?;
            Some((message, "its result is lost", used(function, access)))
        };
        if let Some((message, label, used)) = told.or_else(unasked).or_else(lost) {
            let file = function.file;
            let mut violation = file.violation(&INFO, access.span, label, message);
            violation
                .related
                .extend(used.map(|used| file.mark(used, "used here")));
            out.push(violation);
        }
    }
    dropped(function, out);
    unasked_helpers(function, out);
    unasked_numbers(function, out);
    unasked_lengths(function, out);
}

/// The length of a string in user memory, gone by where nothing asks whether it is 0.
fn unasked_lengths(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for call in function.calls {
        let name = function.callee(*call);
        let name = name.filter(|name| function.file.words.results().gives_zero_for_a_fault(name));
        let found = name.and_then(|name| Some((name, unasked_length(function, *call)?)));
        let Some((name, used)) = found else { continue };
        let file = function.file;
        let message = format!("{name}() gives 0 where it faults, and nothing asks for that");
        let mut violation = file.violation(&INFO, span(*call), "0 for a fault", message);
        if !span(*call).contains(used) {
            violation.related.push(file.mark(used, "gone by here"));
        }
        out.push(violation);
    }
}

/// What a function of the file fills unless it faults, used before anything asks whether it
/// did.
fn unasked_helpers(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for call in fallible(function).filter(|own| own.helper) {
        let Some(own) = unfilled(function, &call) else {
            continue;
        };
        let file = function.file;
        let message = format!(
            "{} is used before anything asks what {}() gives, which leaves it without a value where it faults",
            own.local.name, call.name
        );
        let label = "may leave it without a value";
        let mut violation = file.violation(&INFO, call.span, label, message);
        violation.related.push(file.mark(own.used, "used here"));
        out.push(violation);
    }
}

/// What the number of a text is read into, used before anything asks whether it had one.
fn unasked_numbers(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for call in function.calls {
        let Some(own) = unread_number(function, *call) else {
            continue;
        };
        let file = function.file;
        let message = format!(
            "{} is used before anything asks what {}() gives, which leaves it without a value where the text is no number",
            own.local.name,
            String::from_utf8_lossy(function.called(*call))
        );
        let label = "may leave it without a value";
        let mut violation = file.violation(&INFO, span(*call), label, message);
        violation.related.push(file.mark(own.used, "used here"));
        out.push(violation);
    }
}

fn unasked(callee: &str) -> String {
    format!("nothing asks what {callee}() gives")
}

/// Where the variable is used that a read has filled.
fn used(function: &FunctionContext<'_>, access: &Access<'_>) -> Option<Span> {
    let own = access.word.direction == Direction::Read && is_own(function, access);
    let mut reads = function.reads(&access.value_root).filter(|_| own);
    let used = reads.find(|read| read.span.start >= access.span.end)?;
    Some(used.span)
}

/// Whether the call is a statement of its own.
fn is_dropped(call: Node<'_>) -> bool {
    let parent = call.parent();
    parent.is_some_and(|parent| parent.known_kind() == "expression_statement")
}

/// A result that goes into a variable of the function and that nothing looks at
/// there.
fn unread(function: &FunctionContext<'_>, call: Node<'_>, callee: &str) -> Option<String> {
    let holder = function.above(call)?;
    let stores = matches!(
        holder.known_kind(),
        "assignment_expression" | "init_declarator"
    );
    let place = stores.then(|| span(holder))?;
    let at =
        function.graph.effects.iter().position(|effect| {
            matches!(effect.kind, EffectKind::Write(_)) && effect.span == place
        })?;
    let effect = function.graph.effects.get(at)?;
    let name = function.graph.name_of(effect);
    let local = function.graph.local(name).filter(|local| local.plain)?;
    if says_unused(function, local.declared)
        || !function.graph.is_whole(effect)
        || function.graph.is_looked_at(at)
    {
        return None;
    }
    Some(format!("nothing looks at what {callee}() gives to {name}"))
}

/// Whether the variable that takes the result still holds it where a later access adds its own:
/// `err |= …; err |= …`.
fn is_passed_on(function: &FunctionContext<'_>, call: Node<'_>) -> bool {
    let Some(own) = function.above(call).map(span) else {
        return false;
    };
    let graph = function.graph;
    let joins = graph.joined_behind(own);
    let later = function
        .accesses
        .iter()
        .filter_map(|own| function.above(own.node));
    let mut later = later.map(span).filter(|later| later.start > own.start);
    later.any(|later| joins.contains(&later))
}

/// Whether a declaration says itself that nothing may look at the variable.
fn says_unused(function: &FunctionContext<'_>, declared: Span) -> bool {
    let tokens = function.file.tokens;
    let from = tokens.partition_point(|token| token.span.start < declared.start);
    let own = tokens.get(from..).unwrap_or_default().iter();
    let mut own = own.take_while(|token| token.span.end <= declared.end);
    own.any(|token| {
        let word = token.span.of(function.file.text);
        matches!(word, b"__maybe_unused" | b"__always_unused")
    })
}

/// Calls whose result says more than whether they faulted.
fn dropped(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let words = function.file.words;
    let calls = function.calls.iter().copied();
    let asks_more = |call: &Node<'_>| {
        let callee = function.called(*call);
        let name = answer::text(callee);
        let number = |name: &str| words.parses(name).is_some_and(|own| !own.all);
        words.must_use(callee) && name.is_none_or(|name| words.access(name).is_none())
            || name.is_some_and(number)
    };
    for call in calls.filter(asks_more) {
        let name = String::from_utf8_lossy(function.called(call)).into_owned();
        let told = match is_dropped(call) {
            true => Some((unasked(&name), "its result is dropped")),
            false => unread(function, call, &name).map(|told| (told, "its result is lost")),
        };
        let file = function.file;
        out.extend(told.map(|(message, label)| file.violation(&INFO, span(call), label, message)));
    }
}

/// Whether an expression leads to memory that is not the variable it is made from, or may.
fn leads_on(own: &Expression) -> bool {
    let behind = matches!(own.term, Term::Behind(_) | Term::Call(..));
    behind || matches!(own.term, Term::Member { arrow: true, .. })
}

/// Whether the value goes into a variable of this function; what a pointer
/// leads to is used elsewhere, if at all.
fn is_own(function: &FunctionContext<'_>, access: &Access<'_>) -> bool {
    let name = &access.value_root;
    let mut locals = function.graph.locals.iter();
    !function.expression_of(access.value_node).any(&leads_on)
        && locals.any(|l| l.name == *name && (l.plain || l.array))
}
