use crate::calls::ForCaller;
use crate::check::callee::look_into;
use crate::check::context::FunctionContext;
use crate::check::inlines::says_inline;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::paths::Open;
use crate::check::rule::{Look, Rule};
use crate::check::words::Permission;
use crate::flow::{Action, Call, StatementKind};
use crate::lex::{TokenKind, word_at};
use crate::span::Span;
use crate::wrappers::definition;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "call-in-window",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a call while a window is open",
    why: "The callee runs with user memory open to it, and if it sleeps, whoever runs next does too. \
          objtool refuses any call that is not on its list; data/calls.toml has the list and what is known to be inlined.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (place, call, opened) in calls(function) {
        if call.argument_of.is_none() {
            out.extend(judged(function, &INFO, place, &call.name, opened));
        }
    }
    rounds(function, out);
    gates(function, out);
}

/// Macros of loops of which all rounds happen in a window: what the head calls, it calls with
/// the window open.
fn rounds(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let text = function.file.text;
    for own in &function.graph.statements {
        let word = word_at(text, own.span.start);
        let written = [b"for".as_slice(), b"while"].contains(&word.of(text));
        if own.kind != StatementKind::Loop || written {
            continue;
        }
        if let Some(opened) = around(function, own.span) {
            out.extend(judged(function, &INFO, word, &word.text(text), opened));
        }
    }
}

/// Where the window was opened in which all of a place happens.
fn around(function: &FunctionContext<'_>, place: Span) -> Option<Option<Span>> {
    let nodes = function.graph.nodes.iter().enumerate();
    let inside = nodes.filter(|(_, own)| place.contains(own.span));
    let open = inside.map(|(node, _)| {
        let mut states = function.paths.before.get(node)?.iter();
        states.find_map(|state| state.open.last())
    });
    let open: Option<Vec<&Open>> = open.collect();
    open?.first().map(|open| match open {
        Open::Here(begin) => Some(function.place(*begin)),
        Open::Caller => None,
    })
}

/// Calls that no window may hold, between the two calls of a pair that opens the gate.
/// What else is called there only the machine's own code can say.
fn gates(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let words = function.file.words;
    for (node, place) in function.graph.nodes.iter().enumerate() {
        let Action::Call(call) = &place.action else {
            continue;
        };
        let states = function.paths.before.get(node).into_iter().flatten();
        let mut held = states.flat_map(|state| &state.held);
        let gate = held.find(|(pair, _)| words.is_gate(*pair));
        let known = words.pair_of(&call.name).is_some();
        let forbidden = matches!(words.permission(&call.name), Permission::Forbidden(_));
        if let Some((_, begin)) = gate.filter(|_| forbidden && !known) {
            let opened = Some(function.place(*begin));
            out.extend(judged(function, &INFO, place.span, &call.name, opened));
        }
    }
}

/// The calls that are reached with a window open, and where it was opened.
pub(super) fn calls<'s>(
    function: &'s FunctionContext<'_>,
) -> impl Iterator<Item = (Span, &'s Call, Option<Span>)> {
    let nodes = function.graph.nodes.iter().enumerate();
    nodes.filter_map(|(node, place)| {
        let Action::Call(call) = &place.action else {
            return None;
        };
        let mut states = function.paths.before.get(node)?.iter();
        let open = states.find_map(|state| state.open.last())?;
        let opened = match open {
            Open::Here(begin) => Some(function.place(*begin)),
            Open::Caller => None,
        };
        Some((place.span, call, opened))
    })
}

/// What there is to say about a call in a window.
pub(super) fn judged(
    function: &FunctionContext<'_>,
    rule: &RuleInfo,
    place: Span,
    name: &str,
    opened: Option<Span>,
) -> Option<Violation> {
    let file = function.file;
    if file.words.named_for_caller(name, ForCaller::Inside) {
        return None;
    }
    let (severity, confidence, what) = match file.words.permission(name) {
        Permission::Allowed => return None,
        Permission::Forbidden(deed) => (
            Severity::Error,
            Confidence::High,
            format!("{name}() {}", deed.words()),
        ),
        Permission::Unknown => (
            Severity::Warning,
            guess(function, name),
            format!("{name}() is called"),
        ),
    };
    let where_from = match opened {
        Some(opened) => format!("the window that opens on line {}", function.line(opened)),
        None => "the window of the caller".to_owned(),
    };
    let message = format!("{what} in {where_from}");
    let mut violation = file.violation(rule, place, "called with the window open", message);
    violation.severity = severity;
    violation.confidence = confidence;
    let unknown = file.words.permission(name) == Permission::Unknown;
    violation.unless_inline = Some(name.to_owned()).filter(|_| unknown);
    // Of a window that a caller opened nothing is seen but that the function needs one: a
    // call is left of what calls something else by itself, inline or not.
    if let Some(inner) = left(function, name).filter(|_| unknown && opened.is_none()) {
        violation.message = format!("{}, and calls {inner}()", violation.message);
        violation.unless_inline = Some(inner);
        violation.confidence = Confidence::Medium;
        return Some(violation);
    }
    match opened {
        Some(opened) => violation.related.push(file.mark(opened, "opened here")),
        None if confidence == Confidence::High => violation.confidence = Confidence::Medium,
        None => violation.confidence = Confidence::Low,
    }
    Some(violation)
}

/// What a function of the file calls that no window may hold, or that nothing in the file
/// says to leave no call.
fn left(function: &FunctionContext<'_>, name: &str) -> Option<String> {
    look_into(function, name, |callee| {
        let calls = callee.calls.iter();
        let mut names = calls.filter_map(|call| callee.callee(*call));
        let leaves = |name: &&str| match callee.file.words.permission(name) {
            Permission::Allowed => false,
            Permission::Forbidden(_) => true,
            Permission::Unknown => {
                let elsewhere = callee.file.body_named(name).is_none();
                elsewhere && !name.is_empty() && guess(callee, name) == Confidence::Medium
            }
        };
        names.find(leaves).map(str::to_owned)
    })
}

/// A name in capitals is a macro, and so is one that this file defines as such;
/// an inline of this file mostly leaves no call.
fn guess(function: &FunctionContext<'_>, name: &str) -> Confidence {
    let capitals = !name.bytes().any(|b| b.is_ascii_lowercase());
    let file = function.file;
    let own = file.bodies.iter().find(|body| body.name == name);
    let inline = own.is_some_and(|body| {
        let mut header = file.tokens_in(body.header).iter();
        header.any(|token| says_inline(file.text, token))
    });
    if capitals || inline || is_macro(function, name) {
        Confidence::Low
    } else {
        Confidence::Medium
    }
}

fn is_macro(function: &FunctionContext<'_>, name: &str) -> bool {
    let text = function.file.text;
    let lines = function.file.tokens.iter();
    lines
        .filter(|t| t.kind == TokenKind::Directive)
        .filter_map(|line| definition(text, line.span))
        .any(|(defined, _)| defined.of(text) == name.as_bytes())
}
