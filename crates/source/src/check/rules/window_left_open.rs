use crate::calls::ForCaller;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Suggestion, Violation};
use crate::check::paths::Open;
use crate::check::rule::{Look, Rule};
use crate::flow::{Action, Node};
use crate::node::Parts as _;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "window-left-open",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a function is left with its window open",
    why: "From here on the kernel runs with user memory open to it: what SMAP, PAN or KUAP would have \
          caught goes through. unsafe_*() jump to their label with the window open, so the label has to close it.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    if opens_for_caller(function) {
        return;
    }
    let mut seen = Vec::new();
    for (node, state) in function.states() {
        let exit = function.graph.nodes.get(node);
        let kept = |n: &Node| {
            matches!(
                n.action,
                Action::Exit {
                    hands_over: false,
                    ..
                }
            )
        };
        if !exit.is_some_and(kept) {
            continue;
        }
        for open in &state.open {
            if let Open::Here(begin) = open
                && !seen.contains(&(node, *begin))
            {
                seen.push((node, *begin));
                out.extend(left_open(function, function.place(node), *begin));
            }
        }
    }
}

/// Whether a function is made to leave a window open: it is named so, and never
/// closes one.
fn opens_for_caller(function: &FunctionContext<'_>) -> bool {
    let mut nodes = function.graph.nodes.iter();
    let closes = nodes.any(|node| matches!(node.action, Action::End { .. }));
    let words = function.file.words;
    !closes && words.named_for_caller(&function.body.name, ForCaller::Opens)
}

fn left_open(function: &FunctionContext<'_>, exit: Span, at: usize) -> Option<Violation> {
    let (begin, opened) = function.begin(at)?;
    if begin.scope.is_some() {
        return None;
    }
    let file = function.file;
    let message = format!(
        "the window that {}() opens on line {} is still open here",
        begin.call,
        function.line(opened)
    );
    let mut violation = file.violation(&INFO, exit, "left with the window open", message);
    violation.related.push(file.mark(opened, "opened here"));
    violation.suggestion = file
        .words
        .closing(begin.kind)
        .and_then(|end| closing(function, exit, end));
    Some(violation)
}

/// The end before a return that stands in a block of its own.
fn closing(function: &FunctionContext<'_>, exit: Span, end: &str) -> Option<Suggestion> {
    let node = function
        .root
        .descendant_for_byte_range(exit.start, exit.end)?;
    let in_block = node.known_kind() == "return_statement"
        && node
            .parent()
            .is_some_and(|p| p.known_kind() == "compound_statement");
    let line = function.file.lines.line_start(exit.start);
    let indent = Span::new(line, exit.start).text(function.file.text);
    (in_block && indent.trim().is_empty()).then(|| Suggestion {
        span: Span::new(exit.start, exit.start),
        text: format!("{end}();\n{indent}"),
        why: "close it first".to_owned(),
    })
}
