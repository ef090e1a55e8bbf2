//! Whether a condition holds accesses and nothing else, so that it can go.

use tollgate_source::{Expression, Form, Junction, Run, Span, Step, StepKind, Term};

use crate::plan::Plan;
use crate::planning::maybe;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

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
        let (before, behind) = around(subject, run, step, *condition, (object, size));
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
    checked: (&str, &str),
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
fn same_check(subject: &Subject<'_>, operand: Span, (object, size): (&str, &str)) -> bool {
    let own = subject.expression(operand);
    own.is_some_and(|own| is_same_check(subject, &own, object, size) == Some(true))
}

/// Whether `!access_ok()` checks that range; none if it is no such thing.
fn is_same_check(
    subject: &Subject<'_>,
    own: &Expression,
    object: &str,
    size: &str,
) -> Option<bool> {
    match &own.term {
        Term::Unary(operator, inner) if operator == "!" => subject.checks(inner, object, size),
        _ => None,
    }
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
    let place = match &step.kind {
        StepKind::Guard { condition, .. } => *condition,
        StepKind::Assign { .. } | StepKind::Return { .. } => step.span,
        _ => return Ok(()),
    };
    let own = match &step.kind {
        StepKind::Guard { .. } => subject.expression(place),
        _ => subject.expression_of(place),
    };
    let whole = own.ok_or_else(|| subject.refuse(place, Reason::Statement))?;
    let known = Known {
        subject,
        plan,
        sites: sites(run, step),
        kept: kept(subject, run, plan, step),
    };
    match &step.kind {
        StepKind::Assign { variable, .. } => known.assigned(&whole, variable),
        StepKind::Return { form: Form::Elvis } => known.decides(chosen(subject, step, &whole)),
        _ => known.decides(&whole),
    }
}

/// `access || access` of `return access || access ? -EFAULT : 0;`.
fn chosen<'e>(subject: &Subject<'_>, step: &Step, whole: &'e Expression) -> &'e Expression {
    match &whole.term {
        Term::Choice(asked, ..) if subject.flow.choice(step.span).is_some() => asked,
        _ => whole,
    }
}

fn sites(run: &Run, step: &Step) -> Vec<Span> {
    let own = step.sites.iter().filter_map(|&index| run.sites.get(index));
    own.map(|site| site.span).collect()
}

/// What stays of the condition, behind the window or in it.
fn kept(subject: &Subject<'_>, run: &Run, plan: &Plan, step: &Step) -> Vec<Span> {
    let first = step.sites.first();
    let asked = first.and_then(|&index| maybe::condition(subject, run, index));
    [plan.before, plan.behind, asked]
        .into_iter()
        .flatten()
        .collect()
}

/// What an expression may hold that a window takes the place of.
struct Known<'k, 'a> {
    subject: &'k Subject<'a>,
    plan: &'k Plan,
    /// The accesses of the statement.
    sites: Vec<Span>,
    kept: Vec<Span>,
}

impl Known<'_, '_> {
    /// Whether an expression says that an access faulted, and nothing else.
    fn decides(&self, own: &Expression) -> Result<(), Refusal> {
        if self.is_kept(own) {
            return Ok(());
        }
        match &own.term {
            Term::Binary(left, operator, right) if is_joint(operator) => {
                self.decides(left).and_then(|()| self.decides(right))
            }
            // The condition that the access hangs on stays.
            Term::Binary(left, operator, right) if operator == "&&" && self.is_kept(left) => {
                self.decides(right)
            }
            // Both say of an access what it says itself.
            Term::Binary(left, operator, right)
                if matches!(operator.as_str(), "!=" | "<") && right.is_zero() =>
            {
                self.decides(left)
            }
            _ => self.absorbed(own),
        }
    }

    fn is_kept(&self, own: &Expression) -> bool {
        let kept = self.kept.iter().any(|part| part.contains(own.span));
        kept || self.sites.contains(&own.span)
    }

    /// `!access_ok(object, size)` is what the begin does.
    fn absorbed(&self, own: &Expression) -> Result<(), Refusal> {
        let Plan { object, size, .. } = self.plan;
        let reason = match is_same_check(self.subject, own, object, size) {
            Some(true) => return Ok(()),
            Some(false) => Reason::AccessOk(format!("{object}, {size}")),
            None => Reason::Statement,
        };
        Err(self.subject.refuse(own.span, reason))
    }

    /// `variable = …;` and `variable |= …;` with accesses, and the variable itself
    /// in `err = err ?: …`.
    fn assigned(&self, whole: &Expression, variable: &str) -> Result<(), Refusal> {
        match &whole.term {
            Term::Assignment(left, operator, value)
                if left.name() == Some(variable) && matches!(operator.as_str(), "=" | "|=") =>
            {
                self.gives(value, variable)
            }
            _ => Err(self.subject.refuse(whole.span, Reason::Statement)),
        }
    }

    /// Whether an expression is 0, or -EFAULT if an access faulted.
    fn gives(&self, own: &Expression, variable: &str) -> Result<(), Refusal> {
        match &own.term {
            _ if self.sites.contains(&own.span) || own.name() == Some(variable) => Ok(()),
            Term::Binary(left, operator, right) if operator == "|" => {
                self.gives(left, variable)?;
                self.gives(right, variable)
            }
            // It is 1, which nothing may look at.
            Term::Binary(_, operator, _) if operator == "||" && !self.is_seen(variable) => {
                self.decides(own)
            }
            Term::Choice(first, second, third) => {
                let second = second.as_deref().into_iter();
                let mut parts = std::iter::once(&**first).chain(second).chain([&**third]);
                parts.try_for_each(|part| self.gives(part, variable))
            }
            _ => Err(self.subject.refuse(own.span, Reason::Statement)),
        }
    }

    /// Whether something looks at what the variable holds after a fault, but for
    /// the test of it.
    fn is_seen(&self, variable: &str) -> bool {
        let fault = &self.plan.fault;
        let dead = fault.leaves_dead(self.subject, variable, self.plan.region);
        !dead || self.subject.flow.names(fault.body, variable)
    }
}

fn is_joint(operator: &str) -> bool {
    matches!(operator, "|" | "||")
}
