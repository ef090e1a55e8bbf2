use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::flow::{Action, Node};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "half-done-pair",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a way out of a function that ends what it began on the others",
    why: "stac() without clac(), user_access_save() without user_access_restore(), pagefault_disable() \
          without pagefault_enable(): the state stays as it is for whatever runs next on that processor.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    let mut told = Vec::new();
    for (node, state) in scene.moments() {
        let Some(Node {
            action: Action::Exit { .. },
            span,
            ..
        }) = scene.graph.nodes.get(node)
        else {
            continue;
        };
        for (pair, begin) in &state.held {
            if !ends(scene, *pair, *begin) || told.contains(&(node, *begin)) {
                continue;
            }
            told.push((node, *begin));
            let words = scene.page.words.pair(*pair);
            let (first, last) = words.map_or(("", ""), |(first, last)| (first, last));
            let message = format!(
                "{first}() on line {} has no {last}() on this way",
                scene.line(scene.place(*begin))
            );
            let page = scene.page;
            let mut violation = page.violation(&INFO, *span, "left as it is", message);
            let mark = page.mark(scene.place(*begin), "begun here");
            violation.related.push(mark);
            out.push(violation);
        }
    }
}

/// Whether some way from the begin comes to its end: where none does, the function
/// begins it for its caller.
fn ends(scene: &Scene<'_>, pair: usize, begin: usize) -> bool {
    let graph = scene.graph;
    let mut behind = graph.reached_behind(begin, |_| false).into_iter();
    behind.any(
        |node| match graph.nodes.get(node).map(|node| &node.action) {
            Some(Action::Call(call)) => scene.page.words.pair_of(&call.name) == Some((pair, false)),
            _ => false,
        },
    )
}
