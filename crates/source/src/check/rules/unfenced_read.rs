use crate::Direction;
use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::paths::Open;
use crate::check::rule::{Look, Rule};
use crate::flow::Action;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unfenced-read",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a read behind a range check without what stops speculation",
    why: "A processor may run ahead of the check and load from an address of the kernel; what it loaded \
          can be read out of the cache. user_*_begin() fences, masked_user_access_begin() clamps; a bare \
          access_ok() with raw_copy_from_user() or __uaccess_begin() needs barrier_nospec().",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    copies(function, out);
    windows(function, out);
}

fn copies(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    let mut checked: Option<(Span, &[u8])> = None;
    function.calls.iter().for_each(|&call| {
        let name = function.called(call);
        let words = function.file.words;
        if words.checks_range(name) && !words.is_part(name) {
            checked.get_or_insert((span(call), name));
        }
    });
    let Some((checked, check)) = checked else {
        return;
    };
    let check = String::from_utf8_lossy(check);
    for access in function.accesses {
        let word = &access.word;
        let reads = word.part && word.direction == Direction::Read;
        if !reads
            || access.span.start < checked.end
            || function.is_fenced(access.span, &access.user_root)
        {
            continue;
        }
        let message = format!("{}() may run ahead of {check}()", word.name);
        let file = function.file;
        let mut violation = file.violation(&INFO, access.span, "no fence before this", message);
        violation.related.push(file.mark(checked, "checked here"));
        out.push(violation);
    }
}

fn windows(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (node, state) in function.states() {
        let Some(place) = function.graph.nodes.get(node) else {
            continue;
        };
        let (Action::Inside(inside), Some(Open::Here(at))) = (&place.action, state.open.last())
        else {
            continue;
        };
        let Some((begin, opened)) = function.begin(*at).filter(|(begin, _)| !begin.fence) else {
            continue;
        };
        let root = inside.user.and_then(|user| function.root_in(user));
        let fenced = root.is_some_and(|root| function.is_fenced(place.span, &root));
        if inside.direction != Some(Direction::Read) || fenced {
            continue;
        }
        let file = function.file;
        let message = format!(
            "{}() reads in a window that {}() opens without a fence",
            inside.call, begin.call
        );
        let mut violation = file.violation(&INFO, place.span, "read here", message);
        violation
            .related
            .push(file.mark(opened, "opened without a fence"));
        out.push(violation);
    }
}
