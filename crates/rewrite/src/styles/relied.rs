//! What a masked pointer covers of the accesses that rely on a check: they begin within a
//! page of it, in the order of their addresses, and the first of them comes first. A
//! pointer that is not the user's is told by that one then, not before.

use tollgate_source::{Site, Span, Statement, StatementKind, Token};

use crate::plan::{Checked, Plan};
use crate::planning::declared::{Pointer, joined, path};
use crate::planning::fault::are_alike;
use crate::refusal::{Reason, Refusal};
use crate::styles::pointer::PAGE;
use crate::subject::Subject;

/// Whether the window may stand around what follows the check, with the pointer masked.
///
/// # Errors
/// When something may happen before an access tells that the pointer is bad, when an
/// access may begin beyond a page of it, or when anything else looks at it.
pub(super) fn covered(
    subject: &Subject<'_>,
    plan: &Plan,
    checked: &Checked,
    pointer: &Pointer,
) -> Result<(), Refusal> {
    if !are_alike(&checked.exit, &plan.fault.statements) {
        return Err(subject.refuse(plan.region, Reason::Exits));
    }
    first(subject, plan, checked)?;
    undeclared(subject, plan, checked)?;
    members(subject, plan, checked, pointer)?;
    unseen(subject, plan, checked, &pointer.name)
}

/// An access stands right behind the check.
fn first(subject: &Subject<'_>, plan: &Plan, checked: &Checked) -> Result<(), Refusal> {
    let behind = Span::new(checked.from, plan.region.end);
    let next = subject.flow.statements_in(behind).next();
    let asked = next.and_then(|next| next.expression);
    let site = plan.run.sites.first();
    let is_access = asked
        .zip(site)
        .is_some_and(|(asked, site)| asked.contains(site.span));
    match is_access {
        true => Ok(()),
        false => Err(subject.refuse(next.map_or(behind, |next| next.span), Reason::Late)),
    }
}

/// No variable is declared that what follows the scope would not see any more.
fn undeclared(subject: &Subject<'_>, plan: &Plan, checked: &Checked) -> Result<(), Refusal> {
    let flow = subject.flow;
    let behind = Span::new(checked.from, plan.region.end);
    let own = |own: &Statement| flow.holder(own).map_or(subject.function.body, |h| h.span);
    let mut all = flow.statements_in(behind);
    let declared = all.find(|s| s.kind == StatementKind::Declaration && own(s) == plan.run.block);
    declared.map_or(Ok(()), |own| Err(subject.refuse(own.span, Reason::Gap)))
}

/// Members of what the pointer points to, in the order of their addresses.
fn members(
    subject: &Subject<'_>,
    plan: &Plan,
    checked: &Checked,
    pointer: &Pointer,
) -> Result<(), Refusal> {
    let mut last = 0;
    for site in &plan.run.sites {
        let at = offset(subject, site, pointer)?;
        // Another round begins again.
        if at < last || checked.loops && at > 0 {
            let address = subject.line(site.address);
            return Err(subject.refuse(site.span, Reason::Order(address)));
        }
        last = at;
    }
    if last >= PAGE {
        let object = format!("*{}", pointer.name);
        return Err(subject.refuse(plan.region, Reason::Large(object, last)));
    }
    Ok(())
}

/// How far behind the pointer an access begins.
fn offset(subject: &Subject<'_>, site: &Site, pointer: &Pointer) -> Result<u64, Refusal> {
    let address = subject.expression(site.address);
    if address.is_some_and(|own| own.uncast().1.name() == Some(&pointer.name)) {
        return Ok(0);
    }
    let path = path(subject, site, &pointer.name)
        .ok_or_else(|| subject.refuse(site.span, Reason::Range(subject.line(site.address))))?;
    let unknown = |error| subject.refuse(site.span, Reason::Layout(error));
    let of = subject.styled.types.layout(&pointer.pointee());
    let of = of.map_err(unknown)?;
    of.at(&joined(&path)).map(|(at, _)| at).map_err(unknown)
}

/// Nothing but the addresses names the pointer in the window, which is another value
/// there.
fn unseen(
    subject: &Subject<'_>,
    plan: &Plan,
    checked: &Checked,
    name: &str,
) -> Result<(), Refusal> {
    let code = subject.tokens(Span::new(checked.from, plan.region.end));
    let named = |token: &&Token| token.is_code() && token.span.of(subject.text) == name.as_bytes();
    let known = |at: Span| plan.run.sites.iter().any(|site| site.address.contains(at));
    let mut names = code.iter().filter(named);
    let other = names.find(|token| !known(token.span));
    other.map_or(Ok(()), |token| {
        Err(subject.refuse(token.span, Reason::Masked(name.to_owned())))
    })
}
