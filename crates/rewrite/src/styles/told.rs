//! What comes first in a scope whose pointer is masked. A bad pointer is told by the first
//! access, where a check would have told it before: nothing that somebody sees may happen
//! until then, on no way through the scope.

use tollgate_source::{Effect, EffectKind, Span, Statement, StatementKind};

use crate::plan::Plan;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// What some statements come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// To an access, before anything else.
    Access,
    /// To their end, and nothing happened that anybody sees.
    End,
    /// To something that must not happen before an access.
    Other(Span),
}

/// Whether the access that tells is always the first of the plan.
///
/// # Errors
/// When something may happen before one tells.
pub(super) fn is_the_first(
    subject: &Subject<'_>,
    plan: &Plan,
    from: usize,
) -> Result<bool, Refusal> {
    let telling = Telling { subject, plan };
    let own = |own: &&Statement| own.span.start >= from && own.span.end <= plan.region.end;
    let all: Vec<&Statement> = subject.flow.inside(plan.run.block).filter(own).collect();
    match telling.of_all(all.iter().copied()) {
        Way::Access => Ok(all
            .first()
            .is_some_and(|own| telling.sites_of(own).is_some())),
        Way::End => Err(subject.refuse(plan.region, Reason::Late)),
        Way::Other(at) => Err(subject.refuse(at, Reason::Late)),
    }
}

/// How many accesses there may be on one way through the plan.
pub(super) fn most(subject: &Subject<'_>, plan: &Plan, from: usize) -> usize {
    let telling = Telling { subject, plan };
    let own = |own: &&Statement| own.span.start >= from && own.span.end <= plan.region.end;
    let all = subject.flow.inside(plan.run.block).filter(own);
    all.map(|own| telling.most(own)).sum()
}

struct Telling<'t, 's> {
    subject: &'t Subject<'s>,
    plan: &'t Plan,
}

impl Telling<'_, '_> {
    /// How many accesses a condition is.
    fn sites_of(&self, own: &Statement) -> Option<usize> {
        let asked = own.expression.filter(|_| own.kind == StatementKind::If)?;
        let sites = self.plan.run.sites.iter();
        let count = sites.filter(|site| asked.contains(site.span)).count();
        (count > 0).then_some(count)
    }

    fn of_all<'f>(&self, all: impl Iterator<Item = &'f Statement>) -> Way {
        let mut ways = all.map(|own| self.of(own));
        ways.find(|way| *way != Way::End).unwrap_or(Way::End)
    }

    fn of(&self, own: &Statement) -> Way {
        let flow = self.subject.flow;
        match own.kind {
            StatementKind::If if self.sites_of(own).is_some() => Way::Access,
            StatementKind::If => self.of_arms(own),
            StatementKind::Block | StatementKind::Else => self.of_all(flow.inside(own.span)),
            StatementKind::Declaration | StatementKind::Expression if self.is_unseen(own.span) => {
                Way::End
            }
            _ => Way::Other(own.span),
        }
    }

    fn of_arms(&self, own: &Statement) -> Way {
        let arms: Vec<&Statement> = self.subject.flow.inside(own.span).collect();
        let asked = own.expression.filter(|asked| self.is_unseen(*asked));
        if asked.is_none() {
            return Way::Other(own.span);
        }
        let ways: Vec<Way> = arms.iter().map(|arm| self.of(arm)).collect();
        let both = ways.len() == 2;
        match ways.iter().find(|way| matches!(way, Way::Other(_))) {
            Some(other) => *other,
            None if both && ways.iter().all(|way| *way == Way::Access) => Way::Access,
            None => Way::End,
        }
    }

    /// Whether nobody sees that a place was executed, if a fault comes next.
    fn is_unseen(&self, place: Span) -> bool {
        let (subject, flow) = (self.subject, self.subject.flow);
        let plain = |effect: &Effect| match &effect.kind {
            // What is called only computes.
            EffectKind::Read | EffectKind::Handed { .. } | EffectKind::Address => true,
            EffectKind::Write(_) => {
                let name = flow.name_of(effect);
                let dead = self.plan.fault.leaves_dead(subject, name, self.plan.region);
                flow.is_whole(effect) && flow.is_private(name) && dead
            }
        };
        let called = flow.called_in(place);
        let computes = called.is_some_and(|names| {
            let mut names = names.into_iter();
            names.all(|name| subject.calls.only_computes(name))
        });
        computes && flow.effects_in(place).all(plain)
    }

    fn most(&self, own: &Statement) -> usize {
        let flow = self.subject.flow;
        let inner = || flow.inside(own.span).map(|own| self.most(own));
        match (own.kind, self.sites_of(own)) {
            (_, Some(sites)) => sites,
            (StatementKind::If, None) => inner().max().unwrap_or(0),
            // There may be many rounds.
            (StatementKind::Loop | StatementKind::Do, None) => 2 * inner().sum::<usize>(),
            _ => inner().sum(),
        }
    }
}
