use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
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

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let mut told = Vec::new();
    for (node, state) in function.states() {
        let Some(Node {
            action: Action::Exit { .. },
            span,
            ..
        }) = function.graph.nodes.get(node)
        else {
            continue;
        };
        for (pair, begin) in &state.held {
            if !ends(function, *pair, *begin) || told.contains(&(node, *begin)) {
                continue;
            }
            told.push((node, *begin));
            let words = function.file.words.pair(*pair);
            let (first, last) = words.map_or(("", ""), |(first, last)| (first, last));
            let message = format!(
                "{first}() on line {} has no {last}() on this way",
                function.line(function.place(*begin))
            );
            let file = function.file;
            let mut violation = file.violation(&INFO, *span, "left as it is", message);
            let mark = file.mark(function.place(*begin), "begun here");
            violation.related.push(mark);
            out.push(violation);
        }
    }
}

/// Whether some way from the begin comes to its end, or from another begin of the pair:
/// where none does, the function begins it for its caller.
fn ends(function: &FunctionContext<'_>, pair: usize, begin: usize) -> bool {
    let others = function.graph.nodes.iter().enumerate();
    let others = others.filter(|(_, node)| is_half(function, node, (pair, true)));
    let mut begins = std::iter::once(begin).chain(others.map(|(node, _)| node));
    begins.any(|begin| comes_to_end(function, pair, begin))
}

fn comes_to_end(function: &FunctionContext<'_>, pair: usize, begin: usize) -> bool {
    let graph = function.graph;
    let mut behind = graph.reached_behind(begin, |_| false).into_iter();
    behind.any(|node| {
        let node = graph.nodes.get(node);
        node.is_some_and(|node| is_half(function, node, (pair, false)))
    })
}

/// Whether a node calls that half of a pair.
fn is_half(function: &FunctionContext<'_>, node: &Node, half: (usize, bool)) -> bool {
    match &node.action {
        Action::Call(call) => function.file.words.pair_of(&call.name) == Some(half),
        _ => false,
    }
}
