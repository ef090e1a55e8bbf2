use crate::calls::Kind;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Suggestion, Violation};
use crate::check::paths::Open;
use crate::check::rule::{Look, Rule};
use crate::flow::Action;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "mismatched-end",
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "a window is closed by the end of another kind",
    why: "On x86 and arm64 all ends are the same. On powerpc user_access_end() closes reads and writes \
          and the others close one of them; the wrong one broke boots on ppc32, twice.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    windows(function, out);
    pairs(function, out);
}

/// The call of a pair that closes the gate, where another pair opened it: neither of the
/// two has its own other half in the function.
fn pairs(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let words = function.file.words;
    let nodes = function.graph.nodes.iter().enumerate();
    let halves = nodes.filter_map(|(node, place)| match &place.action {
        Action::Call(call) => {
            let (pair, begins) = words.pair_of(&call.name)?;
            words.is_gate(pair).then_some((node, pair, begins))
        }
        _ => None,
    });
    let halves: Vec<(usize, usize, bool)> = halves.collect();
    let alone =
        |of: &&(usize, usize, bool)| !halves.iter().any(|own| own.1 == of.1 && own.2 != of.2);
    let begin = halves.iter().filter(alone).find(|(_, _, begins)| *begins);
    let end = halves.iter().filter(alone).find(|(_, _, begins)| !*begins);
    let (Some((begin, pair, _)), Some((end, ..))) = (begin, end) else {
        return;
    };
    let Some((first, last)) = words.pair(*pair) else {
        return;
    };
    let file = function.file;
    let message = format!("{first}() has no {last}() here, but the end of another");
    let place = function.place(*end);
    let mut violation = file.violation(&INFO, place, "closes another gate", message);
    violation
        .related
        .push(file.mark(function.place(*begin), "opened here"));
    out.push(violation);
}

fn windows(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (node, place) in function.graph.nodes.iter().enumerate() {
        let Action::End { call, kind } = &place.action else {
            continue;
        };
        let opens = opens(function, node);
        for at in &opens {
            let Some((begin, opened)) = function.begin(*at) else {
                continue;
            };
            if begin.kind.closed_by(*kind) {
                continue;
            }
            let message = format!(
                "a {} window is closed by {call}() on line {}",
                begin.kind.name(),
                function.line(place.span)
            );
            let file = function.file;
            let label = format!("opens a {} window", begin.kind.name());
            let mut violation = file.violation(&INFO, opened, &label, message);
            if let Some(expected) = file.words.closing(begin.kind) {
                let told = format!("closed here; {expected}() belongs to it");
                violation.related.push(file.mark(place.span, told));
                if agree(function, &opens, begin.kind) {
                    violation.suggestion = renamed(place.span, call, expected);
                }
            }
            out.push(violation);
        }
    }
}

/// The begins whose windows may be the innermost open ones at a node.
fn opens(function: &FunctionContext<'_>, node: usize) -> Vec<usize> {
    let states = function.paths.before.get(node).into_iter().flatten();
    let mut found: Vec<usize> = states
        .filter_map(|state| match state.open.last() {
            Some(Open::Here(begin)) => Some(*begin),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn agree(function: &FunctionContext<'_>, opens: &[usize], kind: Kind) -> bool {
    let mut kinds = opens.iter().filter_map(|at| function.begin(*at));
    kinds.all(|(begin, _)| begin.kind == kind)
}

fn renamed(place: Span, call: &str, expected: &str) -> Option<Suggestion> {
    let name = Span::new(place.start, place.start + call.len());
    Some(Suggestion {
        span: name,
        text: expected.to_owned(),
        why: "close what was opened".to_owned(),
    })
}
