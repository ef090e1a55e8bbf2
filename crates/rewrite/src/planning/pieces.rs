//! A run that no single window can serve, cut where one could end and the next
//! begin, and around what no window may hold.

use tollgate_source::{Direction, Hazard, Jump, Reach, Run, Span, Step, StepKind, Trait};

use super::harmless;
use crate::subject::Subject;

/// What a run is cut around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    /// What no window may hold.
    Harm,
    /// Accesses, too, of which nothing says where in the object they are.
    Unplaced,
}

/// The parts of a run with at least two accesses each, to one object and with
/// one way out. None if the run has no place to cut.
pub(crate) fn pieces(subject: &Subject<'_>, run: &Run, around: Around) -> Vec<Run> {
    let apart = |step: &Step| {
        let unplaced = step.sites.iter().any(|at| is_unplaced(run, *at));
        around == Around::Unplaced && unplaced || stands_apart(subject, run, step)
    };
    let mut groups: Vec<Vec<&Step>> = Vec::new();
    for step in &run.steps {
        match groups.last_mut() {
            Some(group) if !cuts(subject, run, (group, step), &apart) => group.push(step),
            _ => groups.push(vec![step]),
        }
    }
    if groups.len() < 2 {
        return Vec::new();
    }
    groups
        .iter()
        .filter_map(|group| piece(subject, run, group))
        .collect()
}

/// Whether a window must end before `step`.
fn cuts(
    subject: &Subject<'_>,
    run: &Run,
    (group, step): (&[&Step], &Step),
    apart: &dyn Fn(&Step) -> bool,
) -> bool {
    let last = group.last();
    if step.kind == StepKind::Plain || last.is_some_and(|s| s.kind == StepKind::Plain) {
        return true;
    }
    if apart(step) || last.is_some_and(|s| apart(s)) {
        return true;
    }
    if last.is_some_and(|s| !subject.has_no_directive(s.span.join(step.span))) {
        return true;
    }
    if let StepKind::Check { .. } = step.kind {
        let assigned = group
            .last()
            .is_some_and(|s| matches!(s.kind, StepKind::Assign { .. }));
        return !assigned;
    }
    let unrelated = |s: &&&Step| matches!(s.kind, StepKind::Check { .. }) && group.len() == 1;
    group.iter().any(|s| unrelated(&s)) || differs(subject, run, group, step)
}

fn is_unplaced(run: &Run, site: usize) -> bool {
    let site = run.sites.get(site);
    site.is_some_and(|site| site.reach == Reach::Computed)
}

/// Whether a step has no place in a window: it stands in a block, does more than to access user
/// memory, or an argument of an access may not stay.
fn stands_apart(subject: &Subject<'_>, run: &Run, step: &Step) -> bool {
    let divided = step.partial && !matches!(step.kind, StepKind::Guard { .. });
    let harms = |index: &usize| {
        run.sites.get(*index).is_some_and(|site| {
            // What was read before a window is known when it opens.
            let mut site = site.clone();
            let earlier = |own: &Hazard| matches!(own, Hazard::DependsOnRead(_));
            site.hazards.retain(|own| !earlier(own));
            harmless(subject, run, *index, &site, false).is_err()
        })
    };
    divided || step.under.is_some() || step.sites.iter().any(harms)
}

fn differs(subject: &Subject<'_>, run: &Run, group: &[&Step], step: &Step) -> bool {
    let first = |steps: &[&Step]| {
        let index = steps.iter().flat_map(|s| &s.sites).next().copied();
        index
            .and_then(|i| run.sites.get(i))
            .map(|site| site.object.clone())
    };
    let known = first(group);
    let other = known.is_some() && first(&[step]).is_some_and(|object| Some(object) != known);
    let way = |s: &Step| match &s.kind {
        StepKind::Guard { exit, .. } if exit.jump != Jump::None => Some(subject.at(exit.span)),
        _ => None,
    };
    let ways = group.iter().rev().find_map(|s| way(s));
    other || ways.is_some() && way(step).is_some_and(|exit| Some(exit) != ways)
}

fn piece(subject: &Subject<'_>, run: &Run, group: &[&Step]) -> Option<Run> {
    let last = group.iter().rposition(|step| !step.sites.is_empty())?;
    let first = group.iter().position(|step| !step.sites.is_empty())?;
    let own = group.get(first..=last)?;
    let indices: Vec<usize> = own
        .iter()
        .flat_map(|step| step.sites.iter().copied())
        .collect();
    if indices.len() < 2 {
        return None;
    }
    let mut piece = run.clone();
    piece.steps = own.iter().map(|step| renumbered(step, &indices)).collect();
    piece.sites = indices
        .iter()
        .filter_map(|&i| run.sites.get(i).cloned())
        .collect();
    piece.span = own
        .iter()
        .map(|step| step.span)
        .reduce(|all, span| all.join(span))?;
    piece.after = behind(subject, run, piece.span);
    if !subject.checks_range(piece.span) {
        piece.traits.retain(|known| *known != Trait::AccessOk);
    }
    if subject.has_no_directive(piece.span) {
        piece.traits.retain(|known| *known != Trait::Preprocessor);
    }
    forget_earlier_reads(&mut piece);
    Some(piece)
}

fn renumbered(step: &Step, indices: &[usize]) -> Step {
    let sites = step
        .sites
        .iter()
        .filter_map(|i| indices.iter().position(|have| have == i));
    Step {
        sites: sites.collect(),
        ..step.clone()
    }
}

/// The step behind a piece, which a configuration has wherever it has the piece.
fn behind(subject: &Subject<'_>, run: &Run, piece: Span) -> Option<Step> {
    let next = run.steps.iter().find(|step| step.span.start >= piece.end);
    let next = next.or(run.after.as_ref());
    next.filter(|next| subject.has_no_directive(piece.join(next.span)))
        .cloned()
}

/// What was read before the piece begins is known when its window opens: a
/// piece of writes depends on no read of its own.
fn forget_earlier_reads(piece: &mut Run) {
    if piece.count(Direction::Read) > 0 {
        return;
    }
    for site in &mut piece.sites {
        site.hazards
            .retain(|hazard| !matches!(hazard, Hazard::DependsOnRead(_)));
    }
}
