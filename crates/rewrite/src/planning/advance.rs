//! `get_user(a, p++)`: the accesses of a window keep to `p`, `p + 1`, and `p`
//! is moved on once, behind the window.

use tollgate_source::{EffectKind, Hazard, Jump, Run, Site};

use crate::plan::{Advance, Plan};
use crate::planning::maybe;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// The pointer, if every access of the run has the address `pointer++`, happens
/// whatever else holds, and nothing else in the run names the pointer.
pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Option<Advance> {
    let flow = subject.flow;
    let mut pointers = run.sites.iter().map(|site| moved(subject, site));
    let pointer = pointers.next()??;
    let same = pointers.all(|other| other == Some(pointer));
    let once = |hazards: &[Hazard]| hazards.iter().filter(|h| **h == Hazard::SideEffect).count();
    let alone = run.sites.iter().all(|site| once(&site.hazards) == 1);
    // Each access reads it and moves it.
    let named = flow
        .effects_in(run.span)
        .filter(|e| flow.name_of(e) == pointer);
    let alone = alone && named.count() == 2 * run.sites.len();
    let always = (0..run.sites.len()).all(|index| maybe::condition(subject, run, index).is_none());
    (same && alone && always && flow.is_private(pointer)).then(|| Advance {
        pointer: pointer.to_owned(),
        count: run.sites.len(),
    })
}

/// The variable that an access moves on, if that is all that its address is.
fn moved<'s>(subject: &'s Subject<'_>, site: &Site) -> Option<&'s str> {
    let flow = subject.flow;
    let mut effects = flow.effects_in(site.address);
    let moved = effects.find(|effect| {
        let next = matches!(&effect.kind, EffectKind::Write(write) if write.next);
        next && flow.is_whole(effect) && effect.span == site.address
    });
    moved.map(|effect| flow.name_of(effect))
}

/// After a fault the pointer stood behind the access that faulted, and stands
/// before the first one now: nothing may look.
pub(crate) fn check(subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
    let Some(advance) = &plan.advance else {
        return Ok(());
    };
    let pointer = &advance.pointer;
    let seen = match &plan.fault.jump {
        Jump::Return(_) => false,
        Jump::Goto(label) => {
            let from = plan.region.start;
            !subject.flow.is_dead_at(pointer, from, label)
        }
        Jump::Break | Jump::Continue | Jump::None => true,
    };
    let kept = plan.before.is_some() || plan.behind.is_some() || plan.returns;
    if seen || kept || plan.chained.is_some() || plan.fault.names(subject, pointer) {
        return Err(subject.refuse(plan.region, Reason::SideEffect));
    }
    Ok(())
}
