use crate::calls::ForCaller;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::paths::{Last, Open};
use crate::check::rule::{Look, Rule};
use crate::flow::Action;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "window-closed-twice",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a window is closed that is closed already, or was never opened",
    why: "The second end closes nothing, or a window that somebody else has opened; mostly it \
          shows that an error path was put together wrongly. objtool calls it a redundant UACCESS \
          disable.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    windows(function, out);
    pairs(function, out);
}

/// Gates that are closed by one call of a pair, with no other to open them again between.
fn pairs(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (node, state) in function.states() {
        let Some(place) = function.graph.nodes.get(node) else {
            continue;
        };
        let Action::Call(call) = &place.action else {
            continue;
        };
        let Some((pair, false)) = function.file.words.pair_of(&call.name) else {
            continue;
        };
        let first = state.ended.iter().find(|(ended, _)| *ended == pair);
        if let Some((_, first)) = first {
            out.push(again(function, place.span, &call.name, *first));
        }
    }
}

fn windows(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let words = function.file.words;
    let named = words.named_for_caller(&function.body.name, ForCaller::Closes);
    for (node, state) in function.states() {
        let Some(place) = function.graph.nodes.get(node) else {
            continue;
        };
        let Action::End { call, .. } = &place.action else {
            continue;
        };
        let scoped = state.open.last().and_then(|open| match open {
            Open::Here(begin) => function
                .begin(*begin)
                .filter(|(begin, _)| begin.scope.is_some()),
            Open::Caller => None,
        });
        if let Some((begin, opened)) = scoped {
            out.push(by_hand(function, place.span, call, &begin.call, opened));
            continue;
        }
        match (state.open.as_slice(), state.last) {
            ([], Last::Closed(first)) => out.push(again(function, place.span, call, first)),
            ([], Last::None) => out.push(never(function, place.span, call)),
            ([Open::Caller], _) if !named => {
                let mut violation = never(function, place.span, call);
                violation.confidence = Confidence::Medium;
                violation.unless_called_in_window = Some(function.body.name.clone());
                out.push(violation);
            }
            _ => {}
        }
    }
}

fn again(function: &FunctionContext<'_>, place: Span, call: &str, first: usize) -> Violation {
    let before = function.place(first);
    let message = if before == place {
        format!("{call}() is reached again in a loop, with the window closed already")
    } else {
        format!(
            "{call}() closes a window that is closed on line {} already",
            function.line(before)
        )
    };
    let mut violation = function
        .file
        .violation(&INFO, place, "closed again", message);
    if before != place {
        violation
            .related
            .push(function.file.mark(before, "closed here first"));
    }
    violation
}

fn by_hand(
    function: &FunctionContext<'_>,
    place: Span,
    call: &str,
    begin: &str,
    opened: Span,
) -> Violation {
    let message = format!("{call}() closes the window of {begin}(), which ends with its scope");
    let file = function.file;
    let mut violation = file.violation(&INFO, place, "closed by hand", message);
    let mark = file.mark(opened, "closed at the end of this scope");
    violation.related.push(mark);
    violation
}

fn never(function: &FunctionContext<'_>, place: Span, call: &str) -> Violation {
    let message = format!("{call}() closes a window that nothing on this path has opened");
    function
        .file
        .violation(&INFO, place, "nothing is open", message)
}
