//! What stands behind the check: the accesses, and whatever else may happen in a
//! window.

use tollgate_source::{EffectKind, Span, Statement, StatementKind};

use crate::plan::Part;
use crate::planning::checked::check::{Check, is_loop};
use crate::planning::checked::sites::{self, Access};
use crate::refusal::{Reason, Refusal};
use crate::style::Style;
use crate::subject::Subject;

/// `if (access || access) exit`.
pub(super) struct Guard {
    pub(super) span: Span,
    pub(super) exit: Span,
    pub(super) accesses: Vec<Access>,
}

/// The accesses of a statement, if all of it may stand in the window of the check.
pub(super) fn guards(
    subject: &Subject<'_>,
    check: &Check<'_>,
    own: &Statement,
) -> Result<Vec<Guard>, Refusal> {
    let mut found = Vec::<Guard>::new();
    for inner in subject.flow.statements_in(own.span) {
        if found.iter().any(|guard| guard.span.contains(inner.span)) {
            continue;
        }
        match guard(subject, check, inner)? {
            Some(guard) => found.push(guard),
            None => stays(subject, own, inner)?,
        }
    }
    let open = subject
        .flow
        .statements_in(own.span)
        .find(|own| is_loop(own));
    if let Some(open) = open.filter(|_| !subject.open_over_rounds) {
        let reason = match found.is_empty() {
            true => Reason::Gap,
            false => Reason::OpenOverRounds,
        };
        return Err(subject.refuse(open.span, reason));
    }
    between(own.span, &found).try_for_each(|gap| plain(subject, gap))?;
    Ok(found)
}

fn guard(
    subject: &Subject<'_>,
    check: &Check<'_>,
    own: &Statement,
) -> Result<Option<Guard>, Refusal> {
    let [exit] = subject.flow.inside(own.span).collect::<Vec<_>>()[..] else {
        return Ok(None);
    };
    let asked = own.expression.filter(|_| own.kind == StatementKind::If);
    let Some(asked) = asked.filter(|_| subject.flow.leaves(exit)) else {
        return Ok(None);
    };
    let found = sites::of(subject, check, asked)?;
    let Some(accesses) = found else {
        return Ok(None);
    };
    let holder = subject.flow.holder(own).map(|holder| holder.kind);
    let arm = !matches!(
        holder,
        Some(StatementKind::Block | StatementKind::Case | StatementKind::Switch)
    );
    if arm && accesses.len() > 1 {
        return Err(subject.refuse(own.span, Reason::Arm));
    }
    if !subject.comments(own.span).is_empty() {
        return Err(subject.refuse(own.span, Reason::Comment));
    }
    Ok(Some(Guard {
        span: own.span,
        exit: exit.span,
        accesses,
    }))
}

/// Whether a statement may stand in the window. `whole` is the statement of the
/// block that holds it.
fn stays(subject: &Subject<'_>, whole: &Statement, own: &Statement) -> Result<(), Refusal> {
    let refuse = |reason| Err(subject.refuse(own.span, reason));
    match own.kind {
        StatementKind::Block
        | StatementKind::If
        | StatementKind::Else
        | StatementKind::Loop
        | StatementKind::Do
        | StatementKind::Switch
        | StatementKind::Case
        | StatementKind::Declaration
        | StatementKind::Expression => Ok(()),
        // Where a goto leads, the label says.
        StatementKind::Goto if own.label.is_some() => Ok(()),
        // A scope closes whichever way it is left.
        StatementKind::Return if subject.styled.style == Style::Scoped => Ok(()),
        StatementKind::Break | StatementKind::Continue if stays_inside(subject, whole, own) => {
            Ok(())
        }
        _ => refuse(Reason::Gap),
    }
}

/// Whether what a `break` or a `continue` ends is in the same statement.
fn stays_inside(subject: &Subject<'_>, whole: &Statement, own: &Statement) -> bool {
    let breaks = own.kind == StatementKind::Break;
    let mut holder = subject.flow.holder(own);
    while let Some(outer) = holder.filter(|outer| whole.span.contains(outer.span)) {
        if is_loop(outer) || breaks && outer.kind == StatementKind::Switch {
            return true;
        }
        holder = subject.flow.holder(outer);
    }
    false
}

/// Whether what is no access may happen in a window.
pub(crate) fn plain(subject: &Subject<'_>, gap: Span) -> Result<(), Refusal> {
    let flow = subject.flow;
    let copies = |kind: &EffectKind| matches!(kind, EffectKind::Write(write) if write.copies);
    let scope = |own: &Span| own.start > gap.start && own.start < gap.end;
    if flow.effects_in(gap).any(|e| copies(&e.kind)) || flow.cleanups.iter().any(scope) {
        return Err(subject.refuse(gap, Reason::Gap));
    }
    if !subject.calls.none_in(flow, gap) {
        return Err(subject.refuse(gap, Reason::GapCalls));
    }
    subject.stays(gap)
}

/// What of a place is no access.
fn between(place: Span, guards: &[Guard]) -> impl Iterator<Item = Span> {
    let starts = std::iter::once(place.start).chain(guards.iter().map(|guard| guard.span.end));
    let ends = guards
        .iter()
        .map(|guard| guard.span.start)
        .chain([place.end]);
    starts.zip(ends).map(|(start, end)| Span::new(start, end))
}

/// What stands behind the check as it is written, with unsafe accesses.
pub(super) fn parts(
    subject: &Subject<'_>,
    check: &Check<'_>,
    region: Span,
    guards: &[Guard],
) -> Vec<Part> {
    let text = subject.at(Span::new(check.from, region.end));
    let blank = text.len() - text.trim_start().len();
    let mut at = check.from + blank;
    let mut found = Vec::new();
    let mut first = 0;
    for guard in guards {
        let (span, apart) = taken(subject, guard);
        let front = subject.at(Span::new(at, span.start));
        found.push(match apart {
            Some(_) => Part::Text(front.trim_end().to_owned() + "\n"),
            None => Part::Text(front),
        });
        let last = first + guard.accesses.len();
        found.push(Part::Accesses {
            sites: (first..last).collect(),
            indent: subject.indent(guard.span.start),
            begins: apart.is_some(),
        });
        (at, first) = (span.end, last);
    }
    found.push(Part::Text(subject.at(Span::new(at, region.end))));
    found
}

/// What the unsafe accesses take the place of: with its braces, where nothing else
/// is in them and the rest of the `if` needs none.
fn taken(subject: &Subject<'_>, guard: &Guard) -> (Span, Option<()>) {
    let flow = subject.flow;
    let own = flow.statement(guard.span);
    let block = own.and_then(|own| flow.holder(own));
    let bare = block.filter(|block| guard.accesses.len() == 1 && is_bare(subject, block));
    let holder = bare.and_then(|block| flow.holder(block));
    let needless = holder.is_some_and(|holder| match holder.kind {
        StatementKind::Loop => true,
        StatementKind::If => flow
            .inside(holder.span)
            .all(|arm| arm_is_bare(subject, arm)),
        StatementKind::Else => flow
            .holder(holder)
            .is_some_and(|whole| flow.inside(whole.span).all(|arm| arm_is_bare(subject, arm))),
        _ => false,
    });
    match bare.filter(|_| needless) {
        Some(block) => (block.span, Some(())),
        None => (guard.span, None),
    }
}

/// Whether an arm of an `if` is one statement in braces.
fn arm_is_bare(subject: &Subject<'_>, arm: &Statement) -> bool {
    match arm.kind {
        StatementKind::Else => {
            let mut inner = subject.flow.inside(arm.span);
            inner.all(|own| is_bare(subject, own))
        }
        _ => is_bare(subject, arm),
    }
}

/// Whether a block holds one statement and nothing else.
fn is_bare(subject: &Subject<'_>, block: &Statement) -> bool {
    let inside = subject.flow.inside(block.span).collect::<Vec<_>>();
    let [only] = inside[..] else {
        return false;
    };
    block.kind == StatementKind::Block && subject.is_only_statement(block.span, only.span)
}
