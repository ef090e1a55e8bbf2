use crate::check::model::{Confidence, Severity, Suggestion, Violation};
use crate::check::paths::Open;
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::check::words::Kind;
use crate::flow::Action;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "mismatched-end",
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "a window is closed by the end of another kind",
    why: "On x86 and arm64 all ends are the same. On powerpc user_access_end() closes reads and writes \
          and the others close one of them; the wrong one broke boots on ppc32, twice.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for (node, place) in scene.graph.nodes.iter().enumerate() {
        let Action::End { call, kind } = &place.action else {
            continue;
        };
        let opens = opens(scene, node);
        for at in &opens {
            let Some((begin, opened)) = scene.begin(*at) else {
                continue;
            };
            if begin.kind.closed_by(*kind) {
                continue;
            }
            let message = format!(
                "a {} window is closed by {call}() on line {}",
                begin.kind.name(),
                scene.line(place.span)
            );
            let page = scene.page;
            let label = format!("opens a {} window", begin.kind.name());
            let mut violation = page.violation(&INFO, opened, &label, message);
            if let Some(expected) = page.words.closing(begin.kind) {
                let told = format!("closed here; {expected}() belongs to it");
                violation.related.push(page.mark(place.span, told));
                if agree(scene, &opens, begin.kind) {
                    violation.suggestion = renamed(place.span, call, expected);
                }
            }
            out.push(violation);
        }
    }
}

/// The begins whose windows may be the innermost open ones at a node.
fn opens(scene: &Scene<'_>, node: usize) -> Vec<usize> {
    let states = scene.paths.before.get(node).into_iter().flatten();
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

fn agree(scene: &Scene<'_>, opens: &[usize], kind: Kind) -> bool {
    let mut kinds = opens.iter().filter_map(|at| scene.begin(*at));
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
