use crate::check::context::FunctionContext;
use crate::check::masked::{Unused, unused};
use crate::check::model::{Confidence, RuleInfo, Severity, Violation};
use crate::check::rule::{Look, Rule};
use crate::flow::{Begin, Effect, EffectKind, Opening};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Window(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "unchecked-begin",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "nothing asks whether a begin opened its window",
    why: "The begin holds the range check. Without a look at its result an address of the kernel goes \
          through, as in CVE-2017-5123, or the accesses fault because nothing is open.",
};

fn check(function: &FunctionContext<'_>, out: &mut Vec<Violation>) {
    for node in 0..function.graph.nodes.len() {
        let Some((begin, place)) = function
            .begin(node)
            .filter(|(begin, _)| is_lost(function, begin))
        else {
            continue;
        };
        let message = format!("the result of {}() is not looked at", begin.call);
        out.push(function.file.violation(
            &INFO,
            place,
            "0 if the range is not the user's",
            message,
        ));
    }
    out.extend(
        unused(function)
            .iter()
            .map(|own| thrown_away(function, own)),
    );
}

/// The address that is the user's whatever it was, which nobody takes.
fn thrown_away(function: &FunctionContext<'_>, own: &Unused) -> Violation {
    let message = format!(
        "{}() gives the address that is the user's for sure, and what it was given is accessed",
        own.name
    );
    let file = function.file;
    file.violation(&INFO, own.call, "its address is not used", message)
}

fn is_lost(function: &FunctionContext<'_>, begin: &Begin) -> bool {
    match &begin.opening {
        Opening::Ignored => true,
        Opening::Stored(place) => {
            let graph = function.graph;
            let read = |e: &Effect| e.place == *place && matches!(e.kind, EffectKind::Read);
            graph.places.parent(*place).is_none() && !graph.effects.iter().any(read)
        }
        _ => false,
    }
}
