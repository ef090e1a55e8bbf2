//! What else a round does: nothing that may not happen in a window.

use tollgate_source::{EffectKind, Loop, Run, Span, Statement, StatementKind};

use crate::planning::carried;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// Whether the access happens in each round, and the rest of a round may stay around
/// it.
pub(crate) fn check(
    subject: &Subject<'_>,
    own: &Loop,
    run: &Run,
    taken: Span,
) -> Result<(), Refusal> {
    always(subject, own, taken)?;
    let parts = rest(subject, own, taken);
    parts.iter().try_for_each(|part| stays(subject, part))?;
    let mut cleanups = subject.flow.cleanups.iter();
    if cleanups.any(|scope| own.body.contains(Span::new(scope.start, scope.start))) {
        return Err(subject.refuse(own.span, Reason::CleanupScope));
    }
    let heads = [own.begin, own.condition, own.update].into_iter().flatten();
    for head in heads {
        calls_nothing(subject, head)?;
    }
    let flow = subject.flow;
    for (step, variable) in carried::first_results(run) {
        let own_place = |at: Span| taken.contains(at);
        let mut effects = flow.effects_in(own.span);
        if effects.any(|e| flow.name_of(e) == variable && !own_place(e.span)) {
            return Err(subject.refuse(step.span, Reason::ResultUsed(variable.to_owned())));
        }
    }
    Ok(())
}

/// Whether the statements that the access takes the place of stand right in the loop.
fn always(subject: &Subject<'_>, own: &Loop, taken: Span) -> Result<(), Refusal> {
    let flow = subject.flow;
    let mut inside = flow.inside(own.body);
    let direct = inside.any(|s| s.span.start == taken.start);
    match direct || own.body == taken {
        true => Ok(()),
        false => Err(subject.refuse(taken, Reason::Conditional)),
    }
}

/// The statements of a round beside the access.
fn rest<'f>(subject: &'f Subject<'_>, own: &Loop, taken: Span) -> Vec<&'f Statement> {
    let all = subject.flow.statements_in(own.body);
    let other = |s: &&Statement| !taken.contains(s.span) && !s.span.contains(taken);
    all.filter(other).collect()
}

/// Whether a statement may stand in a window, and the loop goes on behind it.
fn stays(subject: &Subject<'_>, own: &Statement) -> Result<(), Refusal> {
    let plain = matches!(
        own.kind,
        StatementKind::Block
            | StatementKind::Declaration
            | StatementKind::Expression
            | StatementKind::If
            | StatementKind::Else
    );
    if own.kind.leaves() {
        return Err(subject.refuse(own.span, Reason::RoundLeaves));
    }
    let flow = subject.flow;
    let copies = |kind: &EffectKind| matches!(kind, EffectKind::Write(write) if write.copies);
    if !plain || flow.effects_in(own.span).any(|e| copies(&e.kind)) {
        return Err(subject.refuse(own.span, Reason::Gap));
    }
    calls_nothing(subject, own.span)
}

fn calls_nothing(subject: &Subject<'_>, place: Span) -> Result<(), Refusal> {
    match subject.flow.calls_beyond(place, subject.vocabulary) {
        true => Err(subject.refuse(place, Reason::RoundCalls)),
        false => subject.stays(place),
    }
}
