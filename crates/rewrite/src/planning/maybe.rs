//! `if (asked && access) exit`: the access happens in the window as it did
//! without one, only if the rest of the condition holds.

use tollgate_source::{Form, Run, Span, StepKind};

use crate::subject::Subject;

/// The condition under which the access with that index happens, if a window
/// can ask it: it is the whole rest of its `if`, calls nothing and changes
/// nothing. The first access of a run decides whether the window opens at all.
pub(crate) fn condition(subject: &Subject<'_>, run: &Run, index: usize) -> Option<Span> {
    let step = run.steps.iter().find(|step| step.sites == [index])?;
    let StepKind::Guard {
        form: Form::SequentialIf,
        condition,
        ..
    } = &step.kind
    else {
        return None;
    };
    let site = run.sites.get(index).filter(|_| index > 0)?;
    let joint = subject.flow.junction(*condition).filter(|own| own.both)?;
    let (asked, rest) = (joint.left, joint.right);
    let plain = !step.partial && rest.start <= site.span.start;
    let pure = !subject.flow.calls(asked) && !subject.flow.writes(asked);
    (plain && pure && subject.stays(asked).is_ok()).then_some(asked)
}
