use crate::check::model::{Confidence, Severity, Violation};
use crate::check::paths::Open;
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::check::words::Manner;
use crate::flow::{Action, Call};
use crate::lex::TokenKind;
use crate::span::Span;
use crate::wrappers::definition;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "call-in-window",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a call while a window is open",
    why: "The callee runs with user memory open to it, and if it sleeps, whoever runs next does too. \
          objtool refuses any call that is not on its list; data/calls.toml has the list and what is known to be inlined.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for (place, call, opened) in calls(scene) {
        if call.argument_of.is_none() {
            out.extend(judged(scene, &INFO, place, call, opened));
        }
    }
}

/// The calls that are reached with a window open, and where it was opened.
pub(super) fn calls<'s>(
    scene: &'s Scene<'_>,
) -> impl Iterator<Item = (Span, &'s Call, Option<Span>)> {
    let nodes = scene.graph.nodes.iter().enumerate();
    nodes.filter_map(|(node, place)| {
        let Action::Call(call) = &place.action else {
            return None;
        };
        let mut states = scene.paths.before.get(node)?.iter();
        let open = states.find_map(|state| state.open.last())?;
        let opened = match open {
            Open::Here(begin) => Some(scene.place(*begin)),
            Open::Caller => None,
        };
        Some((place.span, call, opened))
    })
}

/// What there is to say about a call in a window.
pub(super) fn judged(
    scene: &Scene<'_>,
    rule: &RuleInfo,
    place: Span,
    call: &Call,
    opened: Option<Span>,
) -> Option<Violation> {
    let page = scene.page;
    let name = &call.name;
    if name.contains("unsafe") {
        return None;
    }
    let (severity, confidence, what) = match page.words.manner(name) {
        Manner::Allowed => return None,
        Manner::Forbidden(what) => (
            Severity::Error,
            Confidence::High,
            format!("{name}() {what}"),
        ),
        Manner::Unknown => (
            Severity::Warning,
            guess(scene, name),
            format!("{name}() is called"),
        ),
    };
    let where_from = match opened {
        Some(opened) => format!("the window that opens on line {}", scene.line(opened)),
        None => "the window of the caller".to_owned(),
    };
    let message = format!("{what} in {where_from}");
    let mut violation = page.violation(rule, place, "called with the window open", message);
    violation.severity = severity;
    violation.confidence = confidence;
    let unknown = page.words.manner(name) == Manner::Unknown;
    violation.unless_inline = Some(name.clone()).filter(|_| unknown);
    match opened {
        Some(opened) => violation.related.push(page.mark(opened, "opened here")),
        None if confidence == Confidence::High => violation.confidence = Confidence::Medium,
        None => violation.confidence = Confidence::Low,
    }
    Some(violation)
}

/// A name in capitals is a macro, and so is one that this file defines as such;
/// an inline of this file mostly leaves no call.
fn guess(scene: &Scene<'_>, name: &str) -> Confidence {
    let capitals = !name.bytes().any(|b| b.is_ascii_lowercase());
    let page = scene.page;
    let own = page.bodies.iter().find(|body| body.name == name);
    let inline = own.is_some_and(|body| {
        let header = body.header.text(page.text);
        header.contains("inline")
    });
    if capitals || inline || is_macro(scene, name) {
        Confidence::Low
    } else {
        Confidence::Medium
    }
}

fn is_macro(scene: &Scene<'_>, name: &str) -> bool {
    let text = scene.page.text;
    let lines = scene.page.tokens.iter();
    lines
        .filter(|t| t.kind == TokenKind::Directive)
        .filter_map(|line| definition(text, line.span))
        .any(|(defined, _)| defined.of(text) == name.as_bytes())
}
