use tree_sitter::Node;

use crate::Direction;
use crate::check::accesses::{Access, accesses, each_call};
use crate::check::model::{Confidence, Severity, Violation};
use crate::check::rules::{Look, Rule, RuleInfo};
use crate::check::scene::Scene;
use crate::flow::EffectKind;
use crate::site::span;
use crate::span::Span;

pub(super) const RULE: Rule = Rule {
    info: &INFO,
    look: Look::Access(check),
};

const INFO: RuleInfo = RuleInfo {
    name: "ignored-fault",
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "what a read from the user filled is used, but not whether it faulted",
    why: "After a fault get_user() leaves 0 and copy_from_user() zeroes the rest. The code goes on with \
          that as if the user had said it.",
};

fn check(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    for access in accesses(scene).iter().filter(|access| !access.inside) {
        let used = used(scene, access).filter(|_| is_dropped(access.node));
        let told = used.map(|used| {
            let message = format!(
                "{} is used, but nothing asks whether {}() faulted",
                access.value_root, access.word.name
            );
            (message, "its result is dropped", Some(used))
        });
        if let Some((message, label, used)) = told.or_else(|| unread(scene, access)) {
            let page = scene.page;
            let mut violation = page.violation(&INFO, access.span, label, message);
            violation
                .related
                .extend(used.map(|used| page.mark(used, "used here")));
            out.push(violation);
        }
    }
    dropped(scene, out);
}

/// Where the variable is used that a read has filled.
fn used(scene: &Scene<'_>, access: &Access<'_>) -> Option<Span> {
    let own = access.word.direction == Direction::Read && is_own(scene, access);
    let mut reads = scene.reads(&access.value_root).filter(|_| own);
    let used = reads.find(|read| read.span.start >= access.span.end)?;
    Some(used.span)
}

/// Whether the call is a statement of its own.
fn is_dropped(call: Node<'_>) -> bool {
    let parent = call.parent();
    parent.is_some_and(|parent| parent.kind() == "expression_statement")
}

/// A result that goes into a variable of the function and that nothing looks at
/// there.
fn unread(scene: &Scene<'_>, access: &Access<'_>) -> Option<(String, &'static str, Option<Span>)> {
    let holder = access.node.parent()?;
    let stores = matches!(holder.kind(), "assignment_expression" | "init_declarator");
    let place = stores.then(|| span(holder))?;
    let at =
        scene.graph.effects.iter().position(|effect| {
            matches!(effect.kind, EffectKind::Write(_)) && effect.span == place
        })?;
    let effect = scene.graph.effects.get(at)?;
    let name = scene.graph.name_of(effect);
    let local = scene.graph.local(name).filter(|local| local.plain)?;
    if says_unused(scene, local.declared)
        || !scene.graph.is_whole(effect)
        || scene.graph.is_looked_at(at)
    {
        return None;
    }
    let message = format!(
        "nothing looks at what {}() gives to {name}",
        access.word.name
    );
    Some((message, "its result is lost", used(scene, access)))
}

/// Whether a declaration says itself that nothing may look at the variable.
fn says_unused(scene: &Scene<'_>, declared: Span) -> bool {
    let tokens = scene.page.tokens;
    let from = tokens.partition_point(|token| token.span.start < declared.start);
    let own = tokens.get(from..).unwrap_or_default().iter();
    let mut own = own.take_while(|token| token.span.end <= declared.end);
    own.any(|token| {
        let word = token.span.of(scene.page.text);
        matches!(word, b"__maybe_unused" | b"__always_unused")
    })
}

/// Calls whose result says more than whether they faulted.
fn dropped(scene: &Scene<'_>, out: &mut Vec<Violation>) {
    each_call(scene.root, &mut |call| {
        let name = scene.context.callee(call);
        if scene.page.words.must_use(name) && is_dropped(call) {
            let message = format!(
                "nothing asks what {}() gives",
                String::from_utf8_lossy(name)
            );
            let page = scene.page;
            out.push(page.violation(&INFO, span(call), "its result is dropped", message));
        }
    });
}

/// Whether the value goes into a variable of this function; what a pointer
/// leads to is used elsewhere, if at all.
fn is_own(scene: &Scene<'_>, access: &Access<'_>) -> bool {
    let text = access.value.of(scene.page.text);
    let plain = !text.contains(&b'*')
        && !text.contains(&b'(')
        && memchr::memmem::find(text, b"->").is_none();
    let name = &access.value_root;
    let mut locals = scene.graph.locals.iter();
    plain && locals.any(|l| l.name == *name && (l.plain || l.array))
}
