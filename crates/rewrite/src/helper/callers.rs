//! The callers that have accesses beside a call of the function, and the windows around
//! them.

use tollgate_source::{Expression, Function, Site, Span, Term};

use crate::asked::{Asked, Known};
use crate::edit::Edit;
use crate::helper::open::Open;
use crate::helper::pieces::may_stand;
use crate::plan::Plan;
use crate::planned::planned;
use crate::planning::declared::{members, part, plain_pointee};
use crate::planning::{checked, zero};
use crate::refusal::{FixError, Reason, Refusal};
use crate::subject::Subject;

/// A caller with windows around calls of the function.
pub(super) struct Caller {
    pub(super) name: String,
    pub(super) plans: Vec<Plan>,
    pub(super) edits: Vec<Edit>,
    /// How many calls of the function stand in them.
    pub(super) calls: usize,
    /// How many accesses stand in them, those of the function included.
    pub(super) accesses: usize,
    /// What the patch changes besides, each a sentence.
    pub(super) changes: Vec<String>,
}

/// Those of the file behind the function, and why calls stay as they are.
///
/// # Errors
/// When what decides could not be read.
pub(super) fn all(
    asked: &Asked<'_>,
    function: &Function,
    open: &Open,
) -> Result<(Vec<Caller>, Vec<Refusal>), FixError> {
    let mut report = asked.analyser()?.analyse(asked.text);
    let (mut callers, mut refused) = (Vec::new(), Vec::new());
    let runs = report.functions.iter_mut().flat_map(|own| &mut own.runs);
    for site in runs.flat_map(|run| &mut run.sites) {
        if site.call == function.name {
            site.direction = open.direction;
        }
    }
    let calling = report.functions.iter().filter(|own| {
        let mut sites = own.runs.iter().flat_map(|run| &run.sites);
        // Before the macro, there is none.
        own.header.start > function.body.end && sites.any(|site| site.call == function.name)
    });
    for own in calling {
        let mut analyser = asked.analyser()?;
        let Some(flow) = asked.flow(&mut analyser, own) else {
            refused.push(Refusal {
                line: own.position.line,
                reason: Reason::NotUnderstood,
            });
            continue;
        };
        let known = Known {
            function: own,
            flow: &flow,
            analyser,
            loops: &[],
        };
        let (caller, mut why) = asked.about(known, |subject| Ok(caller(asked, subject, open)))?;
        callers.extend(caller);
        refused.append(&mut why);
    }
    Ok((callers, refused))
}

/// The windows of a caller that take in a call of the function.
fn caller(asked: &Asked<'_>, subject: &Subject<'_>, open: &Open) -> (Option<Caller>, Vec<Refusal>) {
    let (plans, mut refused) = planned(subject, asked.form);
    let mut taken = Vec::new();
    for plan in plans {
        let given = opened(subject, &plan).map(|site| given(subject, site, open));
        let given: Vec<Result<(), Refusal>> = given.collect();
        match given.into_iter().collect::<Result<Vec<()>, Refusal>>() {
            Ok(calls) if calls.is_empty() => {}
            Ok(_) => taken.push(plan),
            Err(refusal) => refused.push(refusal),
        }
    }
    let mut written = asked.form.write(subject, taken);
    refused.append(&mut written.refused);
    let plans = written.plans;
    if plans.is_empty() {
        return (None, refused);
    }
    let sites = || plans.iter().flat_map(|plan| &plan.run.sites);
    let calls = plans.iter().map(|plan| opened(subject, plan).count()).sum();
    let mut changes = written.changes;
    changes.extend(checked::said(&plans));
    changes.extend(zero::said(subject, &plans));
    changes.extend(subject.custom.and_then(|custom| custom.said(&plans)));
    let caller = Caller {
        name: subject.function.name.clone(),
        accesses: sites().count() + calls * open.accesses - calls,
        calls,
        edits: written.edits,
        changes,
        plans,
    };
    (Some(caller), refused)
}

/// The calls of the function among what a window takes in.
fn opened<'p>(subject: &Subject<'_>, plan: &'p Plan) -> impl Iterator<Item = &'p Site> {
    let name = subject.opened.map(str::to_owned);
    let sites = plan.run.sites.iter();
    sites.filter(move |site| Some(&site.call) == name.as_ref())
}

/// Whether a call may stand in a window that checks what it is given.
fn given(subject: &Subject<'_>, site: &Site, open: &Open) -> Result<(), Refusal> {
    let refuse = |place, reason| Err(subject.refuse(place, reason));
    let call = subject.expression(site.span);
    let Some((_, arguments)) = call.as_ref().and_then(Expression::call) else {
        return refuse(site.span, Reason::Statement);
    };
    if arguments.len() != open.parameters.len() {
        return refuse(site.span, Reason::Statement);
    }
    for argument in arguments {
        may_stand(subject, argument.span)?;
    }
    match holds(subject, site.address, open) {
        true => Ok(()),
        false => {
            let address = subject.line(site.address);
            refuse(site.address, Reason::Range(address))
        }
    }
}

/// Whether what the caller gives has all that the function accesses: it is declared as the
/// function's pointer is, or is a member that large.
fn holds(subject: &Subject<'_>, address: Span, open: &Open) -> bool {
    let Some(address) = subject.expression(address) else {
        return false;
    };
    if let Some(name) = address.name() {
        return plain_pointee(subject, name).as_ref() == Some(&open.pointee);
    }
    let Term::Address(place) = &address.term else {
        return false;
    };
    let Some(name) = place.root().name() else {
        return false;
    };
    let member = || {
        let path = members(place, &subject.written(name)?)?;
        let of = plain_pointee(subject, name)?;
        let (_, own) = part(subject, &of, &path)?;
        let (_, wanted) = part(subject, &open.pointee, &[])?;
        Some(own.size >= wanted.size)
    };
    member() == Some(true)
}
