use crate::check::model::{Confidence, Severity, Violation};
use crate::check::range::declared_type;
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::flow::{Effect, EffectKind};

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "user-pointer-dereferenced",
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "a store through a __user pointer that no accessor makes",
    why: "The address is the user's: nothing has opened access for a plain store, nothing handles its \
          fault, and an architecture with separate address spaces stores somewhere else. An open \
          window makes it work on some machines only.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for effect in &scene.graph.effects {
        if !is_store(effect) || !scene.graph.places.is_right_behind(effect.place) {
            continue;
        }
        let name = scene.graph.name_of(effect);
        let Some(of) = declared_type(scene, name) else {
            continue;
        };
        let message = format!("{name} points to {of} of the user's, and is stored through by hand");
        let page = scene.page;
        out.push(page.violation(&INFO, effect.span, "a plain store", message));
    }
}

/// An assignment; what inline assembly writes is its own affair.
fn is_store(effect: &Effect) -> bool {
    matches!(&effect.kind, EffectKind::Write(write) if write.value.is_some() || write.next)
}
