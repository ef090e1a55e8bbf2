//! What the variable that takes the results held before the run, and what it
//! holds where a run is left early.

use tollgate_source::{Jump, Run, Span, Step, StepKind, Token};

use crate::advance::{is_used_behind, words};
use crate::plan::{Subject, mentions, needs};
use crate::refusal::{Reason, Refusal};

/// `err |= access;` goes on with what `err` held: a window forgets it, so that
/// it must have been 0.
pub(crate) fn check(subject: &Subject<'_>, run: &Run) -> Result<(), Refusal> {
    let mut assigned = run.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Assign { variable, .. } => Some((step, variable)),
        _ => None,
    });
    match assigned.next() {
        Some((step, variable)) if is_carried(subject, run, step, variable) => {
            let zero = is_zero(subject, run, variable) && !needs(subject, run, variable);
            let refusal = || subject.refuse(step.span, Reason::Carried(variable.clone()));
            zero.then_some(()).ok_or_else(refusal)
        }
        _ => Ok(()),
    }
}

/// A later access that uses the variable of the results finds 0 there, and would
/// find in a window what was there before.
pub(crate) fn unused(subject: &Subject<'_>, run: &Run) -> Result<(), Refusal> {
    for (at, step) in run.steps.iter().enumerate() {
        let before = run.steps.iter().take(at);
        let mut taken = before.filter_map(|step| match &step.kind {
            StepKind::Assign { variable, .. } => Some(variable),
            _ => None,
        });
        let used =
            |variable: &&String| asks(run, step, |place| mentions(&subject.at(place), variable));
        if let Some(variable) = taken.find(used) {
            return Err(subject.refuse(step.span, Reason::ResultUsed(variable.clone())));
        }
    }
    Ok(())
}

/// Whether the arguments of a step's accesses or what its condition asks is so.
fn asks(run: &Run, step: &Step, is: impl Fn(Span) -> bool) -> bool {
    let sites = step.sites.iter().filter_map(|&at| run.sites.get(at));
    let condition = match &step.kind {
        StepKind::Guard { condition, .. } => Some(*condition),
        _ => None,
    };
    let mut places = sites
        .flat_map(|site| [site.value, site.address])
        .chain(condition);
    places.any(is)
}

/// Whether a statement's result depends on what the variable held.
fn is_carried(subject: &Subject<'_>, run: &Run, step: &Step, variable: &str) -> bool {
    let sites = step.sites.iter().filter_map(|&at| run.sites.get(at));
    let inside: usize = sites
        .map(|site| words(&subject.at(site.span), variable))
        .sum();
    let text = subject.at(step.span);
    words(&text, variable) > inside + 1 || text.contains("|=")
}

/// Whether a variable of the function is 0 where the run begins: whatever else
/// is assigned to it is 0, or is left with if it is not.
fn is_zero(subject: &Subject<'_>, run: &Run, variable: &str) -> bool {
    let mut locals = subject.outline.locals.iter();
    let own = locals.any(|local| local.name == variable && local.plain);
    let body = subject.function.body;
    let tight: String = subject.at(body).split_whitespace().collect();
    let hidden = words(&tight, variable) > 0 && tight.contains(&format!("&{variable}"));
    let code = subject.code(body);
    let outside = |at: &usize| code.get(*at).is_some_and(|t| !run.span.contains(t.span));
    let places = (0..code.len()).filter(|at| is_assigned(subject, &code, *at, variable));
    let places: Vec<usize> = places.filter(outside).collect();
    let before = |at: &usize| code.get(*at).is_some_and(|t| t.span.end <= run.span.start);
    let harmless = |at: &usize| {
        let zero = is_zeroed(subject, &code, *at);
        zero || is_tested(subject, &code, *at, variable, run.span)
    };
    let passed = |at: usize| {
        let outside = code.get(at).is_some_and(|t| !run.span.contains(t.span));
        outside && is_passed(subject, &code, at, variable)
    };
    let hidden = hidden || (0..code.len()).any(passed);
    own && !hidden && places.iter().any(before) && places.iter().all(harmless)
}

/// Whether the variable is an argument here: a macro may give it a value.
fn is_passed(subject: &Subject<'_>, code: &[Token], at: usize, variable: &str) -> bool {
    let is = |at: usize, byte| code.get(at).is_some_and(|token| token.is(byte));
    let Some(front) = at.checked_sub(1) else {
        return false;
    };
    let named = word(subject, code, at) == variable.as_bytes();
    let several = is(front, b',') && is(at + 1, b')') || is(at + 1, b',') && is(front, b'(');
    let single = is(front, b'(') && is(at + 1, b')');
    let callee = front
        .checked_sub(1)
        .map_or(&[][..], |at| word(subject, code, at));
    let asked = matches!(
        callee,
        b"if" | b"unlikely" | b"likely" | b"while" | b"switch"
    );
    named && (several || is(front, b',') && is(at + 1, b',') || single && !asked)
}

fn word<'a>(subject: &'a Subject<'_>, code: &[Token], at: usize) -> &'a [u8] {
    code.get(at)
        .map_or(&[][..], |token| token.span.of(subject.text))
}

/// `variable =`, `variable |=` and the like.
pub(crate) fn is_assigned(
    subject: &Subject<'_>,
    code: &[Token],
    at: usize,
    variable: &str,
) -> bool {
    let is = |at: usize, byte| code.get(at).is_some_and(|token| token.is(byte));
    let member = at > 0 && (is(at - 1, b'.') || is(at - 1, b'>'));
    let name = word(subject, code, at) == variable.as_bytes() && !member;
    let plain = is(at + 1, b'=') && !is(at + 2, b'=');
    let joint = [b'|', b'&', b'+', b'-', b'*', b'/', b'%', b'^'];
    let joined = joint.iter().any(|byte| is(at + 1, *byte)) && is(at + 2, b'=');
    let counted = is(at + 1, b'+') && is(at + 2, b'+') || is(at + 1, b'-') && is(at + 2, b'-');
    name && (plain || joined || counted)
}

/// `variable = 0;`
fn is_zeroed(subject: &Subject<'_>, code: &[Token], at: usize) -> bool {
    let ends = [b';', b','].iter();
    let mut ends = ends.map(|byte| code.get(at + 3).is_some_and(|t| t.is(*byte)));
    code.get(at + 1).is_some_and(|t| t.is(b'='))
        && word(subject, code, at + 2) == b"0"
        && ends.any(|ends| ends)
}

/// `variable = …; if (variable) return …;`: what is not 0 does not come further.
fn is_tested(subject: &Subject<'_>, code: &[Token], at: usize, variable: &str, run: Span) -> bool {
    let rest = code.get(at..).unwrap_or_default();
    let Some(end) = rest.iter().position(|token| token.is(b';')) else {
        return false;
    };
    let mut next = at + end + 1;
    let mut head = |wanted: &[u8]| {
        let found = word(subject, code, next) == wanted;
        next += usize::from(found);
        found
    };
    if !head(b"if") || !head(b"(") {
        return false;
    }
    let likely = head(b"unlikely") && head(b"(");
    let named = head(variable.as_bytes()) && head(b")");
    let closed = !likely || head(b")");
    head(b"{");
    let jump = word(subject, code, next);
    let target = String::from_utf8_lossy(word(subject, code, next + 1)).into_owned();
    let ahead = |(name, place): &(String, Span)| *name == target && place.start >= run.end;
    let leaves = match jump {
        b"return" => true,
        b"goto" => subject.outline.labels.iter().any(ahead),
        _ => false,
    };
    named && closed && leaves
}

/// The variable that took results before `step`, all of which were tested: it
/// is 0 there.
pub(crate) fn taken<'r>(run: &'r Run, step: &Step) -> Option<&'r str> {
    let earlier = |other: &&Step| other.span.start < step.span.start;
    let mut earlier = run.steps.iter().rev().filter(earlier);
    earlier.find_map(|step| match &step.kind {
        StepKind::Assign { variable, .. } => Some(variable.as_str()),
        _ => None,
    })
}

/// Whether a way out of the run, which is no fault's, may come to something
/// that looks at the variable.
pub(crate) fn is_seen(
    subject: &Subject<'_>,
    run: &Run,
    jump: &Jump,
    statements: &[String],
    variable: &str,
) -> bool {
    let named = statements.iter().any(|line| mentions(line, variable));
    let read =
        |u: &tollgate_source::Use| u.name == variable && !u.assigned && !run.span.contains(u.span);
    named
        || match jump {
            Jump::Return(_) => false,
            Jump::Goto(label) => is_used_behind(subject, run.span, variable, label),
            _ => subject.outline.uses.iter().any(read),
        }
}
