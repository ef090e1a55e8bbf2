//! Where a window's way out can stand so that it falls into the label that the
//! fault goes to: `efault: user_access_end(); out: …`.

use crate::subject::Subject;

/// The line of a label that a way out goes to, if nothing else comes to the line
/// before it.
pub(crate) fn place(subject: &Subject<'_>, name: &str) -> Option<usize> {
    let flow = subject.flow;
    let label = flow.label(name)?;
    let own = flow.labelled(label)?;
    let at = subject.line_start(label.start);
    let alone = subject.indent(label.start).len() + at == label.start;
    let whole = flow
        .holder(own)
        .is_some_and(|holder| holder.span == subject.function.body);
    let before = flow.before(own)?;
    let leaves = flow.leaves(before);
    let plain = subject.comments(before.span).is_empty();
    (alone && whole && leaves && plain).then_some(at)
}
