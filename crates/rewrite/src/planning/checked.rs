//! `if (!access_ok(p, size)) exit` and behind it, in the same block, accesses that
//! rely on it: the begin takes the place of the check with its range and its way
//! out, and the window stays open up to the last of them, over whatever stands
//! between that may happen in a window: conditions, cases, other statements.

mod body;
mod bytes;
mod check;
mod implied;
mod label;
mod sites;

use std::rc::Rc;

use tollgate_source::{Run, Span, Trait};

use crate::gate::Plain;
use crate::plan::{Checked, Line, Plan};
use crate::planning::checked::body::Guard;
pub(crate) use crate::planning::checked::body::plain;
use crate::planning::checked::check::{Check, behind, check, is_loop};
use crate::planning::checked::sites::Access;
use crate::planning::fault::{are_alike, leaving};
use crate::planning::rounds::is_in_loop;
use crate::planning::{way, zero};
use crate::refusal::{Reason, Refusal};
use crate::style::Style;
use crate::subject::Subject;

/// The plans of a function's checks that fit, of which none touches what another does,
/// and why other checks with accesses behind them have none.
pub(crate) fn plans(
    subject: &Subject<'_>,
    fits: impl Fn(&Plan) -> Result<(), Refusal>,
) -> (Vec<Plan>, Vec<Refusal>) {
    let (mut plans, mut refused) = (Vec::<Plan>::new(), Vec::new());
    for own in subject.flow.statements_in(subject.function.body) {
        let inside = |plan: &Plan| plan.region.end > own.span.start;
        if plans.last().is_some_and(inside) {
            continue;
        }
        let said = check(subject, own);
        let Some(check) = said.or_else(|| implied::check(subject, own)) else {
            continue;
        };
        let found = plan(subject, &check).and_then(|plan| match plan {
            Some(plan) => fits(&plan).map(|()| Some(plan)),
            None => Ok(None),
        });
        match found {
            Ok(found) => plans.extend(found),
            // Nobody asked for one there.
            Err(_) if check.implied => {}
            Err(refusal) => refused.push(refusal),
        }
    }
    (plans, refused)
}

/// The window that a check opens; none where too few accesses rely on it.
fn plan(subject: &Subject<'_>, check: &Check<'_>) -> Result<Option<Plan>, Refusal> {
    let (guards, stopped) = guards(subject, check);
    let accesses: Vec<&Access> = guards.iter().flat_map(|guard| &guard.accesses).collect();
    if accesses.len() < 2 && !guards.iter().any(|g| loops_between(subject, check, g.span)) {
        let rounds = |refusal: &Refusal| refusal.reason == Reason::OpenOverRounds;
        return stopped.filter(rounds).map_or(Ok(None), Err);
    }
    let Some(last) = guards.last() else {
        return Ok(None);
    };
    let end = outermost(subject, check, last.span);
    let fault = leaving(subject, last.exit)?;
    let start = match check.implied {
        true => check.from,
        false => check.statement.span.start,
    };
    let region = Span::new(start, end);
    let closing = match subject.styled.style {
        // A scope closes whichever way it is left.
        Style::Scoped => label::of_scope(subject, region, &fault)?,
        _ => label::of(subject, check, region, &guards, &fault)?,
    };
    let region = Span::new(region.start, closing.end);
    if !subject.has_no_directive(region) {
        return Err(subject.refuse(region, Reason::Preprocessor));
    }
    let run = run(subject, check, region, &accesses);
    let way = way(subject, &run)?;
    let plan = Plan {
        lines: vec![Line::Body(body::parts(subject, check, region, &guards))],
        way,
        gate: Rc::new(Plain(way)),
        object: subject.line(check.object),
        size: check.size.clone(),
        results: Vec::new(),
        returns: false,
        stops: false,
        chained: None,
        absorbs: !check.implied,
        fault,
        region,
        before: None,
        behind: None,
        advance: None,
        cleared: None,
        zeroes: false,
        rounds: None,
        checked: Some(Checked {
            from: check.from,
            implied: check.implied,
            exit: subject.statements(check.exit),
            label: closing.label,
            ends_at: closing.own,
            copies: accesses.iter().map(|access| access.size).collect(),
            some: guards
                .iter()
                .any(|guard| is_under(subject, check, guard.span)),
            loops: has_loops(subject, region),
            far: Vec::new(),
        }),
        run,
    };
    match zero::seen(subject, &plan) {
        Some((place, variable)) => Err(subject.refuse(place, Reason::ReadAfterFault(variable))),
        None => Ok(Some(plan)),
    }
}

/// What the message of a patch with such windows says besides.
pub(crate) fn said(plans: &[Plan]) -> Vec<String> {
    let mut all = plans.iter().filter_map(|plan| plan.checked.as_ref());
    let rounds = all
        .clone()
        .any(|own| own.loops)
        .then_some("The window stays open over all rounds of the loop, however many there are.");
    let far: Vec<&str> = all
        .clone()
        .flat_map(|own| own.far.iter().map(String::as_str))
        .collect();
    let far = (!far.is_empty()).then(|| {
        let (one, many) = ("That lies", "Each of these lies");
        let lies = if far.len() == 1 { one } else { many };
        format!(
            "Where the architecture masks the pointer, a bad one is told by the first access, and nothing checks the range of \
             {}. {lies} a 32-bit distance from the pointer at most, which leads from user memory to no other on 64 bits; on \
             32 bits it has to be less than the hole behind user memory.",
            far.join(" and ")
        )
    });
    let copies = all.any(|own| own.copies.iter().any(Option::is_some)).then_some(
        "The copy inside does not pass the checks of its kernel side (hardened usercopy) that it had: its size \
         has to be right without them. After a fault user memory holds what was written by then.",
    );
    let plain = rounds.into_iter().chain(copies).map(str::to_owned);
    plain.chain(far).collect()
}

/// The accesses behind the check that leave alike, as far as nothing stands between
/// them that may not happen in a window, and what does.
fn guards(subject: &Subject<'_>, check: &Check<'_>) -> (Vec<Guard>, Option<Refusal>) {
    let mut found = Vec::<Guard>::new();
    for own in behind(subject, check) {
        match body::guards(subject, check, own) {
            Ok(more) => {
                let mut all = found.iter().chain(&more);
                let first = all.next().map(|guard| subject.statements(guard.exit));
                let alike = |guard: &Guard| {
                    let own = subject.statements(guard.exit);
                    first.as_ref().is_none_or(|first| are_alike(first, &own))
                };
                if !all.all(alike) {
                    return (found, Some(subject.refuse(own.span, Reason::Exits)));
                }
                found.extend(more);
            }
            Err(refusal) => return (found, Some(refusal)),
        }
    }
    (found, None)
}

/// Where the statement of the check's block ends that holds a place.
fn outermost(subject: &Subject<'_>, check: &Check<'_>, place: Span) -> usize {
    let mut all = behind(subject, check);
    let own = all.find(|own| own.span.contains(place));
    own.map_or(place.end, |own| own.span.end)
}

/// Whether a loop behind the check holds the place.
fn loops_between(subject: &Subject<'_>, check: &Check<'_>, place: Span) -> bool {
    let mut all = subject.flow.statements_in(subject.function.body);
    all.any(|own| is_loop(own) && own.span.contains(place) && own.span.start >= check.from)
}

/// Whether an access stands in a statement of the check's block with others.
fn is_under(subject: &Subject<'_>, check: &Check<'_>, place: Span) -> bool {
    behind(subject, check).all(|own| own.span != place)
}

fn has_loops(subject: &Subject<'_>, region: Span) -> bool {
    subject.flow.statements_in(region).any(is_loop)
}

/// The accesses as one run.
fn run(subject: &Subject<'_>, check: &Check<'_>, region: Span, accesses: &[&Access]) -> Run {
    let looped = is_in_loop(subject, region).then_some(Trait::InLoop);
    let checks = (!check.implied).then_some(Trait::AccessOk);
    let holder = subject.flow.holder(check.statement);
    Run {
        sites: accesses.iter().map(|access| access.site.clone()).collect(),
        steps: Vec::new(),
        after: None,
        forms: Vec::new(),
        span: region,
        block: holder.map_or(subject.function.body, |holder| holder.span),
        traits: looped.into_iter().chain(checks).collect(),
    }
}
