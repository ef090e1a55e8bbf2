//! Where the window of a check is closed: right behind the last access, or behind a
//! label of the function that both the accesses and what follows them come to.

use std::collections::BTreeSet;

use tollgate_source::{Jump, Span, Statement, StatementKind};

use crate::plan::Fault;
use crate::planning::checked::body;
use crate::planning::checked::body::Guard;
use crate::planning::checked::check::{Check, behind};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;
use crate::writing::falls;

/// Where a window is closed.
pub(super) struct Closing {
    /// Behind that byte.
    pub(super) end: usize,
    /// The label of the function that a fault goes to, where the end stands behind it.
    pub(super) label: Option<String>,
    /// Where an end of its own stands, if it is that of faults alone.
    pub(super) own: Option<usize>,
}

/// Where a window closes that has the accesses of `region`.
///
/// # Errors
/// When something in it but a fault jumps out of the window past its end.
pub(super) fn of(
    subject: &Subject<'_>,
    check: &Check<'_>,
    region: Span,
    guards: &[Guard],
    fault: &Fault,
) -> Result<Closing, Refusal> {
    let left = jumps(subject, region, |own| {
        !check.exit.contains(own) && !guards.iter().any(|guard| guard.exit.contains(own))
    });
    let near = trailing(subject, check, region);
    if let Some((name, end)) = &near
        && let Some(label) = comes_back(subject, check, region, fault, name)
        && left.iter().all(|own| own == name)
    {
        return Ok(Closing {
            end: *end,
            label: Some(label),
            own: None,
        });
    }
    let near = near.filter(|(name, _)| only_from(subject, name, check, region));
    let faults = |name: &str| matches!(&fault.jump, Jump::Goto(label) if label == name);
    let plain = |name: &str| fault.only_goes_to() == Some(name);
    match near {
        Some((name, end)) if plain(&name) && left.iter().all(|own| *own == name) => Ok(Closing {
            end,
            label: Some(name),
            own: None,
        }),
        // What a fault does besides stands behind an end of its own.
        Some((name, end))
            if !left.is_empty() && !faults(&name) && left.iter().all(|own| *own == name) =>
        {
            Ok(Closing {
                end,
                label: None,
                own: None,
            })
        }
        _ if left.is_empty() => {
            let own = of_faults(subject, check, region, fault)?;
            Ok(Closing {
                end: with_comments(subject, region.end),
                label: own.as_ref().map(|(name, _)| name.clone()),
                own: own.map(|(_, at)| at),
            })
        }
        _ => Err(subject.refuse(region, Reason::Gap)),
    }
}

/// Where a scope closes: behind the last access. It may be left by any label but one inside.
///
/// # Errors
/// When a fault stays inside.
pub(super) fn of_scope(
    subject: &Subject<'_>,
    region: Span,
    fault: &Fault,
) -> Result<Closing, Refusal> {
    let mut labels = subject.flow.labels.iter();
    if labels.any(|(_, at)| region.contains(*at)) {
        return Err(subject.refuse(region, Reason::Gap));
    }
    Ok(Closing {
        end: with_comments(subject, region.end),
        label: fault.only_goes_to().map(str::to_owned),
        own: None,
    })
}

/// The label that a fault goes to, where nothing else comes to it, nothing happens behind
/// it that may not happen in a window, and it goes back to the label `end` behind the
/// accesses, which nothing else outside of the window does.
fn comes_back(
    subject: &Subject<'_>,
    check: &Check<'_>,
    region: Span,
    fault: &Fault,
    end: &str,
) -> Option<String> {
    let name = fault.only_goes_to()?;
    let alone = falls::place(subject, name).is_some() && only_from(subject, name, check, region);
    let back = way_back(subject, check, name).filter(|_| alone)?;
    let leads = back.label.map(|label| subject.at(label)).as_deref() == Some(end);
    let outside = |at: Span| is_outside(check, region, at) && !back.span.contains(at);
    (leads && !is_named(subject, end, outside)).then(|| name.to_owned())
}

/// The jump behind a label, if nothing stands between that may not happen in a window.
fn way_back<'f>(subject: &'f Subject<'_>, check: &Check<'_>, label: &str) -> Option<&'f Statement> {
    let flow = subject.flow;
    let labelled = flow.labelled(flow.label(label)?)?;
    let mut own = flow.inside(labelled.span).next()?;
    let mut behind = labelled.span;
    while own.kind != StatementKind::Goto {
        let Ok(found) = body::guards(subject, check, own) else {
            return None;
        };
        own = flow.next(behind).filter(|_| found.is_empty())?;
        behind = own.span;
    }
    Some(own)
}

/// The label that faults of this window alone go to, which nothing would use if they
/// had another one, and where the end goes behind it.
fn of_faults(
    subject: &Subject<'_>,
    check: &Check<'_>,
    region: Span,
    fault: &Fault,
) -> Result<Option<(String, usize)>, Refusal> {
    let Some(name) = fault.only_goes_to() else {
        return Ok(None);
    };
    let falls = falls::place(subject, name).is_some();
    if !falls || !only_from(subject, name, check, region) {
        return Ok(None);
    }
    let label = subject.flow.label(name);
    let colon = label.and_then(|at| colon(subject, Span::new(at.start, subject.function.body.end)));
    let at = colon.filter(|at| subject.text.get(*at) == Some(&b'\n'));
    let at = at.ok_or_else(|| subject.refuse(region, Reason::Statement))?;
    Ok(Some((name.to_owned(), at)))
}

/// Where the colon of a label ends that begins a place.
fn colon(subject: &Subject<'_>, place: Span) -> Option<usize> {
    let mut code = subject.tokens(place).into_iter();
    code.find(|token| token.is(b':'))
        .map(|token| token.span.end)
}

/// The labels that jumps in a place go to, of those that are asked for.
fn jumps(subject: &Subject<'_>, place: Span, is: impl Fn(Span) -> bool) -> BTreeSet<String> {
    let all = subject.flow.statements_in(place);
    let labels = all.filter(|own| is(own.span)).filter_map(|own| own.label);
    labels.map(|label| subject.at(label)).collect()
}

/// Whether nothing goes to a label but what is in the window.
fn only_from(subject: &Subject<'_>, name: &str, check: &Check<'_>, region: Span) -> bool {
    !is_named(subject, name, |at| is_outside(check, region, at))
}

fn is_outside(check: &Check<'_>, region: Span, at: Span) -> bool {
    !region.contains(at) || check.exit.contains(at)
}

/// Whether anything names a label in a place that counts, but the label itself: a jump,
/// or an access or assembly that jumps.
fn is_named(subject: &Subject<'_>, name: &str, counts: impl Fn(Span) -> bool) -> bool {
    let own = subject.flow.label(name).map(|label| label.start);
    let all = subject.tokens(subject.function.body).into_iter();
    let mut words = all.filter(|token| token.is_code() && Some(token.span.start) != own);
    words.any(|word| word.span.of(subject.text) == name.as_bytes() && counts(word.span))
}

/// The label behind the accesses, if nothing stands between but what may happen in
/// a window.
fn trailing(subject: &Subject<'_>, check: &Check<'_>, region: Span) -> Option<(String, usize)> {
    let flow = subject.flow;
    for own in behind(subject, check).filter(|own| own.span.start >= region.end) {
        if own.kind == StatementKind::Label {
            let mut labels = flow.labels.iter();
            let (name, _) = labels.find(|(_, at)| at.start == own.span.start)?;
            return Some((name.clone(), colon(subject, own.span)?));
        }
        match body::guards(subject, check, own) {
            Ok(found) if found.is_empty() => {}
            Ok(_) | Err(_) => return None,
        }
    }
    None
}

/// Comments behind the last access that an empty line parts from what follows speak
/// of it.
fn with_comments(subject: &Subject<'_>, end: usize) -> usize {
    let close = subject.function.body.end;
    let mut last = end;
    for comment in subject.comments(Span::new(end, close)) {
        let before = subject.at(Span::new(last, comment.start));
        if !before.trim().is_empty() {
            break;
        }
        last = comment.end;
    }
    let behind = subject.at(Span::new(last, close));
    let blank = behind.trim_start_matches([' ', '\t']).starts_with("\n\n");
    if blank { last } else { end }
}
