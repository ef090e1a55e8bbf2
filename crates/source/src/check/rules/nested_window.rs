use crate::check::model::{Confidence, Severity, Violation};
use crate::check::paths::Open;
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::flow::Action;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "nested-window",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a window is opened while one is open",
    why: "Windows do not nest: the first end closes them all, and the accesses after it fault in the \
          kernel. objtool calls it a recursive UACCESS enable.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for (node, state) in scene.moments() {
        let Some((begin, place)) = scene.begin(node) else {
            continue;
        };
        let Some(Open::Here(outer)) = state.open.last() else {
            continue;
        };
        let Some(Action::Begin(first)) = scene.graph.nodes.get(*outer).map(|n| &n.action) else {
            continue;
        };
        let opened = scene.place(*outer);
        let again = opened == place;
        let message = if again {
            format!(
                "{}() is reached again in a loop with its window still open",
                begin.call
            )
        } else {
            format!(
                "{}() opens a window inside the one that {}() opened on line {}",
                begin.call,
                first.call,
                scene.line(opened)
            )
        };
        let mut violation =
            scene
                .page
                .violation(&INFO, place, "opened with a window open", message);
        if !again {
            violation
                .related
                .push(scene.page.mark(opened, "this one is open"));
        }
        out.push(violation);
    }
}
