use crate::check::context::FunctionContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "jump-out-of-cleanup",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "an access jumps out of a scope with a cleanup",
    why: "The jump of an unsafe_*() is an asm goto. clang refuses one that leaves the scope of a \
          variable with a cleanup, and the cleanup would be left out.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for (place, label) in &function.graph.jumps {
        let labels = function.graph.labels.iter();
        let Some((_, target)) = labels.into_iter().find(|(name, _)| name == label) else {
            continue;
        };
        let mut cleanups = function.graph.cleanups.iter();
        let Some(scope) = cleanups.find(|scope| scope.contains(*place) && !scope.contains(*target))
        else {
            continue;
        };
        let file = function.file;
        let word = scope.of(file.text);
        let end = word
            .iter()
            .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
            .unwrap_or(word.len());
        let opened = crate::Span::new(scope.start, scope.start + end);
        let message = format!(
            "the jump to {label} leaves the scope of the {} on line {}",
            opened.text(file.text),
            function.line(opened)
        );
        let mut violation = file.violation(&INFO, *place, "jumps out on a fault", message);
        violation
            .related
            .push(file.mark(opened, "cleaned up at the end of this scope"));
        violation.related.push(file.mark(*target, "outside"));
        out.push(violation);
    }
}
