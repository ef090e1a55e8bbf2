//! Whether a condition holds accesses and nothing else, so that it can go.

use tollgate_source::{
    Form, Junction, Run, Span, Step, StepKind, Token, TokenKind, closing, tokens,
};

use crate::layout::on_one_line;
use crate::maybe;
use crate::plan::{Plan, Subject};
use crate::refusal::{Reason, Refusal};

/// What the conditions of a run hold besides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outside {
    /// Operands of the first condition that are evaluated before the run.
    pub(crate) before: Option<Span>,
    /// Operands of the last condition that are evaluated after the run.
    pub(crate) behind: Option<Span>,
}

/// The operands of the first and the last condition that are not the run's.
pub(crate) fn outside(
    subject: &Subject<'_>,
    run: &Run,
    object: &str,
    size: &str,
) -> Result<Outside, Refusal> {
    let mut found = Outside::default();
    for (at, step) in run.steps.iter().enumerate() {
        let StepKind::Guard { condition, .. } = &step.kind else {
            continue;
        };
        let (before, behind) = around(subject, run, step, *condition, &format!("{object}, {size}"));
        if before.is_some() && at > 0 || behind.is_some() && at + 1 < run.steps.len() {
            return Err(subject.refuse(step.span, Reason::Statement));
        }
        found.before = found.before.or(before);
        found.behind = behind;
    }
    Ok(found)
}

fn around(
    subject: &Subject<'_>,
    run: &Run,
    step: &Step,
    condition: Span,
    checked: &str,
) -> (Option<Span>, Option<Span>) {
    let operands = operands(subject, condition);
    let own = |operand: &Span| {
        let sites = step.sites.iter().filter_map(|&index| run.sites.get(index));
        sites.into_iter().any(|site| operand.contains(site.span))
            || same_check(subject, *operand, checked)
    };
    let (Some(first), Some(last)) = (
        operands.iter().position(own),
        operands.iter().rposition(own),
    ) else {
        return (None, None);
    };
    let joined = |part: Option<&[Span]>| {
        part.unwrap_or_default()
            .iter()
            .copied()
            .reduce(|a, b| a.join(b))
    };
    (
        joined(operands.get(..first)),
        joined(operands.get(last + 1..)),
    )
}

/// Whether an operand is `!access_ok()` of what the begin checks.
fn same_check(subject: &Subject<'_>, operand: Span, checked: &str) -> bool {
    let tight = |text: &str| text.split_whitespace().collect::<String>();
    let operand = tight(&subject.at(operand));
    let mut checks = subject.vocabulary.range_checks().iter();
    checks.any(|check| operand == tight(&format!("!{check}({checked})")))
}

/// The parts of a condition between `||` outside parentheses.
fn operands(subject: &Subject<'_>, condition: Span) -> Vec<Span> {
    match subject.flow.junction(condition).filter(|own| !own.both) {
        Some(Junction { left, right, .. }) => {
            let mut found = operands(subject, left);
            found.push(right);
            found
        }
        None => vec![condition],
    }
}

/// Checks each statement of the run.
pub(crate) fn check_all(subject: &Subject<'_>, run: &Run, plan: &Plan) -> Result<(), Refusal> {
    run.steps
        .iter()
        .try_for_each(|step| check(subject, run, plan, step))
}

fn check(subject: &Subject<'_>, run: &Run, plan: &Plan, step: &Step) -> Result<(), Refusal> {
    let (place, results): (Span, &[&[u8]]) = match &step.kind {
        StepKind::Guard { condition, .. } => (*condition, &[]),
        StepKind::Assign { .. } => return assignment(subject, run, step),
        StepKind::Return { form: Form::Elvis } => (chain(subject, step), &[b"return"]),
        StepKind::Return { .. } => (step.span, &[b"return", b";"]),
        _ => return Ok(()),
    };
    let rest: Vec<Token> = rest(subject, run, step, place)
        .into_iter()
        .filter(|token| !is_kept(subject, run, plan, step, token))
        .collect();
    let mut at = 0;
    while let Some(token) = rest.get(at) {
        let word = token.span.of(subject.text);
        if word == b"!" {
            at = absorbed(subject, plan, &rest, at)?;
        } else if !is_joint(word) && !results.contains(&word) && !is_test(subject, &rest, at) {
            return Err(subject.refuse(token.span, Reason::Statement));
        }
        at += 1;
    }
    Ok(())
}

/// `return access || access` of `return access || access ? -EFAULT : 0;`.
fn chain(subject: &Subject<'_>, step: &Step) -> Span {
    let asked = subject.flow.choice(step.span);
    asked.map_or(step.span, |asked| Span::new(step.span.start, asked.end))
}

fn is_kept(subject: &Subject<'_>, run: &Run, plan: &Plan, step: &Step, token: &Token) -> bool {
    let asked = step
        .sites
        .first()
        .and_then(|&index| maybe::condition(subject, run, index));
    let joint = asked.is_some() && token.is(b'&');
    let kept = [plan.before, plan.behind, asked];
    joint || kept.iter().flatten().any(|part| part.contains(token.span))
}

/// The code of a place outside the accesses of the statement.
fn rest(subject: &Subject<'_>, run: &Run, step: &Step, place: Span) -> Vec<Token> {
    let upto = subject.text.get(..place.end).unwrap_or_default();
    let sites: Vec<Span> = step
        .sites
        .iter()
        .filter_map(|&index| run.sites.get(index))
        .map(|site| site.span)
        .collect();
    let outside =
        |token: &Token| token.is_code() && !sites.iter().any(|site| site.contains(token.span));
    tokens(upto, place.start)
        .into_iter()
        .filter(outside)
        .collect()
}

fn is_joint(word: &[u8]) -> bool {
    matches!(word, b"|" | b"(" | b")" | b"unlikely" | b"likely")
}

/// `!= 0` and `< 0` say of an access what it says itself.
fn is_test(subject: &Subject<'_>, rest: &[Token], at: usize) -> bool {
    let word = |at: usize| {
        rest.get(at)
            .map(|t| t.span.of(subject.text))
            .unwrap_or_default()
    };
    let before = |back: usize| at.checked_sub(back).map(word).unwrap_or_default();
    match word(at) {
        b"<" => word(at + 1) == b"0",
        b"0" => before(1) == b"<" || before(1) == b"=" && before(2) == b"!",
        _ => false,
    }
}

/// `!access_ok(object, size)` is what the begin does; `!=` goes on behind.
fn absorbed(
    subject: &Subject<'_>,
    plan: &Plan,
    rest: &[Token],
    at: usize,
) -> Result<usize, Refusal> {
    let place = rest.get(at).map(|t| t.span).unwrap_or_default();
    let word = |at: usize| {
        rest.get(at)
            .map(|t| t.span.of(subject.text))
            .unwrap_or_default()
    };
    if word(at + 1) == b"=" && word(at + 2) == b"0" {
        return Ok(at + 2);
    }
    if !subject.vocabulary.checks_range(word(at + 1)) {
        return Err(subject.refuse(place, Reason::Statement));
    }
    let close = closing(rest, at + 2).ok_or_else(|| subject.refuse(place, Reason::Statement))?;
    let from = rest.get(at + 2).map_or(0, |t| t.span.end);
    let to = rest.get(close).map_or(from, |t| t.span.start);
    let checked = on_one_line(&subject.at(Span::new(from, to)));
    let wanted = format!("{}, {}", plan.object, plan.size);
    let same = |text: &str| text.split_whitespace().collect::<String>();
    if same(&checked) == same(&wanted) {
        Ok(close)
    } else {
        Err(subject.refuse(place, Reason::AccessOk(wanted)))
    }
}

/// `variable = …;` and `variable |= …;` with accesses, and the variable itself
/// in `err = err ?: …`.
fn assignment(subject: &Subject<'_>, run: &Run, step: &Step) -> Result<(), Refusal> {
    let StepKind::Assign { variable, .. } = &step.kind else {
        return Ok(());
    };
    let rest = rest(subject, run, step, step.span);
    let known = |token: &&Token| {
        let word = token.span.of(subject.text);
        is_joint(word) || matches!(word, b"=" | b"?" | b":" | b";") || word == variable.as_bytes()
    };
    match rest
        .iter()
        .find(|token| !known(token) || token.kind == TokenKind::Number)
    {
        Some(token) => Err(subject.refuse(token.span, Reason::Statement)),
        None => Ok(()),
    }
}
