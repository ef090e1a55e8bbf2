//! The statement that checks a range, and what stands behind it.

use tollgate_source::{Effect, EffectKind, Span, Statement, StatementKind, Term};

use crate::subject::Subject;

/// A range that a statement checks.
pub(super) struct Check<'f> {
    pub(super) statement: &'f Statement,
    /// The object, where it is written.
    pub(super) object: Span,
    pub(super) size: String,
    /// What happens where it is not the user's.
    pub(super) exit: Span,
    /// Where that begins which relies on it.
    pub(super) from: usize,
    /// Whether no statement says so: each access checks its own range, in one object.
    pub(super) implied: bool,
}

/// The check that a statement is.
pub(super) fn check<'f>(subject: &'f Subject<'_>, own: &'f Statement) -> Option<Check<'f>> {
    let flow = subject.flow;
    let [exit] = flow.inside(own.span).collect::<Vec<_>>()[..] else {
        return None;
    };
    let asked = subject.expression(own.expression.filter(|_| own.kind == StatementKind::If)?)?;
    let Term::Unary(not, inner) = &asked.term else {
        return None;
    };
    let (name, arguments) = inner.call().filter(|_| not == "!")?;
    let [object, size] = arguments else {
        return None;
    };
    let checks = subject.vocabulary.checks_range(name.as_bytes());
    let pure = [object, size].iter().all(|a| is_pure(subject, a.span));
    (checks && pure && flow.leaves(exit)).then_some(Check {
        statement: own,
        object: object.span,
        size: subject.line(size.span),
        exit: exit.span,
        from: own.span.end,
        implied: false,
    })
}

/// Whether nothing in a place takes a value, and a macro that it is given to gives it none.
fn is_pure(subject: &Subject<'_>, place: Span) -> bool {
    let macros = || {
        // What is called through a pointer may do anything.
        let called = subject.flow.called_in(place);
        called.is_some_and(|called| called.iter().all(|name| subject.calls.only_computes(name)))
    };
    let kept = |effect: &Effect| match effect.kind {
        EffectKind::Read => true,
        EffectKind::Handed { by_address } => !by_address && macros(),
        _ => false,
    };
    subject.flow.effects_in(place).all(kept)
}

/// The statements behind the check in its block.
pub(super) fn behind<'f>(
    subject: &'f Subject<'_>,
    check: &Check<'f>,
) -> impl Iterator<Item = &'f Statement> {
    let holder = subject.flow.holder(check.statement);
    let block = holder.map_or(subject.function.body, |holder| holder.span);
    let from = check.from;
    let all = subject.flow.inside(block);
    all.filter(move |own| own.span.start >= from)
}

pub(super) fn is_loop(own: &Statement) -> bool {
    matches!(own.kind, StatementKind::Loop | StatementKind::Do)
}
