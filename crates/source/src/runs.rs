//! From the accesses and statements of an open run to a [`Run`].

use crate::calls::Direction;
use crate::model::{Form, Hazard, Run, Site, Step, StepKind, Trait};
use crate::site::Context;
use crate::span::Span;

/// The run that these make, if they make one of so many accesses.
pub(crate) fn close(
    context: &Context<'_>,
    mut sites: Vec<Site>,
    steps: Vec<Step>,
    least: usize,
) -> Option<Run> {
    if sites.len() < least {
        return None;
    }
    let (steps, after) = trimmed(steps);
    let span = steps
        .iter()
        .map(|step| step.span)
        .reduce(|all, span| all.join(span))?;
    note_dependences(context, &mut sites);
    Some(Run {
        forms: forms(&steps),
        traits: traits(context, &steps),
        sites,
        steps,
        after,
        span,
        block: span,
    })
}

/// The run's own statements, and the one after them.
fn trimmed(mut steps: Vec<Step>) -> (Vec<Step>, Option<Step>) {
    let last = steps
        .iter()
        .rposition(|step| !step.sites.is_empty())
        .map_or(0, |at| at + 1);
    let after = steps.split_off(last.min(steps.len())).into_iter().next();
    (steps, after)
}

fn forms(steps: &[Step]) -> Vec<Form> {
    let mut forms: Vec<Form> = steps.iter().filter_map(form_of).collect();
    forms.sort_unstable();
    forms.dedup();
    forms
}

fn traits(context: &Context<'_>, steps: &[Step]) -> Vec<Trait> {
    let mut found = Vec::new();
    if steps.iter().any(|step| step.kind == StepKind::Plain) {
        found.push(Trait::Gap);
    }
    if steps
        .iter()
        .any(|step| matches!(step.kind, StepKind::Check { .. }))
    {
        found.push(Trait::Check);
    }
    let checks = context.vocabulary.range_checks();
    let mentions = |step: &Step| {
        let text = step.span.of(context.normalised);
        let holds = |check: &String| memchr::memmem::find(text, check.as_bytes()).is_some();
        checks.iter().any(holds)
    };
    if steps.iter().any(mentions) {
        found.push(Trait::AccessOk);
    }
    found
}

/// An address may need what an earlier access of the same run reads.
fn note_dependences(context: &Context<'_>, sites: &mut [Site]) {
    let mut filled: Vec<Span> = Vec::new();
    for site in sites {
        let variables = filled.iter().map(|span| span.of(context.original));
        if let Some(variable) = variables
            .into_iter()
            .find(|v| mentions(site.address.of(context.original), v))
        {
            site.hazards.push(Hazard::DependsOnRead(
                String::from_utf8_lossy(variable).into_owned(),
            ));
        }
        if site.direction == Direction::Read {
            filled.push(site.value);
        }
    }
}

/// The form that the steps of a run give it.
fn form_of(step: &Step) -> Option<Form> {
    let form = step.kind.form().filter(|_| !step.sites.is_empty())?;
    let returned = matches!(step.kind, StepKind::Return { .. });
    Some(match (step.under, returned) {
        (Some(_), _) => Form::IfNoError,
        (None, true) => Form::Return,
        (None, false) => form,
    })
}

/// Whether `text` holds `words`, not as a part of a longer word nor as the name
/// of a member of something else.
pub(crate) fn mentions(text: &[u8], words: &[u8]) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memchr::memmem::find_iter(text, words).any(|at| {
        let before = at.checked_sub(1).and_then(|i| text.get(i));
        let inner = text.get(..at).unwrap_or_default().trim_ascii_end();
        let member = inner.ends_with(b"->") || inner.ends_with(b".");
        !member && !is_word(before) && !is_word(text.get(at + words.len()))
    })
}
