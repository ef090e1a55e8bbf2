use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::paths::Open;
use crate::check::rule::{Look, Rule};
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

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (node, state) in function.states() {
        let Some((begin, place)) = function.begin(node) else {
            continue;
        };
        let Some(Open::Here(outer)) = state.open.last() else {
            continue;
        };
        let Some(Action::Begin(first)) = function.graph.nodes.get(*outer).map(|n| &n.action) else {
            continue;
        };
        let opened = function.place(*outer);
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
                function.line(opened)
            )
        };
        let mut violation =
            function
                .file
                .violation(&INFO, place, "opened with a window open", message);
        if !again {
            violation
                .related
                .push(function.file.mark(opened, "this one is open"));
        }
        out.push(violation);
    }
}
