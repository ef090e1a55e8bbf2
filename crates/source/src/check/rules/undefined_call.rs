use std::collections::BTreeSet;

use crate::check::context::FileContext;
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::check::tokens::{TokenCall, calls};
use crate::check::words::Undefined;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Words(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "undefined-call",
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "a change calls what neither the tree nor the change defines",
    why: "It does not build: the change needs another one first, or was made for another tree. What such \
          a call does to a window can only be guessed by its name.",
};

fn check(file: &FileContext<'_>, out: &mut Vec<Violation>) {
    // Of a tree without a change nothing is.
    if !file.words.has_undefined() {
        return;
    }
    let mut told = BTreeSet::new();
    for body in file.bodies {
        let inside = file.tokens.get(body.tokens.clone()).unwrap_or_default();
        for call in calls(file.text, inside, |name| {
            file.words.undefined(name).is_some()
        }) {
            let name = call.name.text(file.text);
            if told.insert(name.clone()) {
                out.extend(judged(file, &call, &name));
            }
        }
    }
}

fn judged(file: &FileContext<'_>, call: &TokenCall, name: &str) -> Option<Violation> {
    let undefined = file.words.undefined(name)?;
    let guess = match (file.words.begin(name), file.words.end(name)) {
        (Some(begin), _) => format!("; it is taken to open a {} window", begin.kind.name()),
        (_, Some(end)) => format!("; it is taken to close a {} window", end.kind.name()),
        _ => String::new(),
    };
    let message =
        format!("{name}() is called, and neither the tree nor the change defines it{guess}");
    let mut violation = file.violation(&INFO, call.name, "defined nowhere", message);
    violation.confidence = match (undefined, guess.is_empty()) {
        (Undefined::Nowhere, false) => Confidence::High,
        (Undefined::Nowhere, true) | (Undefined::PerhapsPasted, false) => Confidence::Medium,
        (Undefined::PerhapsPasted, true) => Confidence::Low,
    };
    Some(violation)
}
