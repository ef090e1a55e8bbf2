//! What a run does on a fault: one thing, whichever access faults.

use tollgate_source::{Direction, Exit, Form, Jump, Run, Span, Step, StepKind, Trait};

use crate::layout::{on_one_line, reindent};
use crate::plan::Subject;
use crate::refusal::{Reason, Refusal};

/// What happens on a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The statements without indentation, the jump last.
    pub(crate) statements: Vec<String>,
    /// The jump.
    pub(crate) jump: Jump,
    /// Where the statements stand.
    pub(crate) body: Span,
    /// Whether the statement behind the run is part of it.
    pub(crate) takes_after: bool,
    /// Whether later accesses used to happen after a fault.
    pub(crate) stops: bool,
    /// The tests of a result, which go.
    pub(crate) answers: Vec<Span>,
}

impl Fault {
    /// What the run does on a fault.
    pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Result<Self, Refusal> {
        let mut found: Option<Fault> = None;
        let mut open: Option<&str> = None;
        let (mut stops, mut answers) = (false, Vec::new());
        let behind = run.after.iter().map(|step| (step, true));
        for (step, after) in run.steps.iter().map(|step| (step, false)).chain(behind) {
            if after && open.is_none() {
                break;
            }
            stops |= goes_on(subject, run, step)?;
            if open.is_none() && matches!(step.kind, StepKind::Check { .. }) {
                continue;
            }
            let Some(mut fault) = from_step(subject, run, step, &mut open)? else {
                continue;
            };
            answers.push(step.span);
            fault.takes_after = after;
            let body = found.as_ref().map_or(fault.body, |first| first.body);
            if found
                .as_ref()
                .is_some_and(|first| first.statements != fault.statements)
            {
                return Err(subject.refuse(step.span, Reason::Exits));
            }
            found = Some(Fault { body, ..fault });
        }
        match found {
            Some(fault) if open.is_none() => Ok(Fault {
                stops,
                answers,
                ..fault
            }),
            _ if subject.stop_at_first_fault => Err(subject.refuse(run.span, Reason::Untested)),
            _ => Err(subject.refuse(run.span, Reason::GoesOn)),
        }
    }
}

/// Whether accesses after this statement used to happen whatever it gave.
fn goes_on(subject: &Subject<'_>, run: &Run, step: &Step) -> Result<bool, Refusal> {
    let joined = match &step.kind {
        StepKind::Guard { form, .. } | StepKind::Assign { form, .. } => *form,
        StepKind::Bare => {
            return Err(subject.refuse(step.span, Reason::ResultUnused));
        }
        _ => return Ok(false),
    };
    if !matches!(joined, Form::ErrOr | Form::BitOr) || unseen(subject, run) {
        return Ok(false);
    }
    if subject.stop_at_first_fault {
        Ok(true)
    } else {
        Err(subject.refuse(step.span, Reason::GoesOn))
    }
}

/// Reads into variables of the function: nobody sees those after a fault.
fn unseen(subject: &Subject<'_>, run: &Run) -> bool {
    run.sites.iter().all(|site| {
        let variable = subject.at(site.value);
        let root = variable.split(['.', '[']).next().unwrap_or_default().trim();
        let local = subject
            .outline
            .locals
            .iter()
            .find(|local| local.name == root);
        site.direction == Direction::Read
            && local.is_some_and(|local| local.plain)
            && !variable.contains("->")
    })
}

/// What one statement does on a fault. `open` is the variable that holds a
/// result nothing has tested yet.
fn from_step<'r>(
    subject: &Subject<'_>,
    run: &Run,
    step: &'r Step,
    open: &mut Option<&'r str>,
) -> Result<Option<Fault>, Refusal> {
    match &step.kind {
        StepKind::Guard { exit, .. } if exit.jump == Jump::None => {
            falls_to_return(subject, run, step, exit).map(Some)
        }
        StepKind::Guard { exit, .. } => leave(subject, exit).map(Some),
        StepKind::Assign { variable, form } if *form != Form::Expression => {
            *open = Some(variable);
            Ok(None)
        }
        StepKind::Check { condition, exit } => match open.take() {
            Some(variable) if tests(&subject.at(*condition), variable) => {
                leave(subject, exit).map(|fault| Some(with_result(fault, variable)))
            }
            _ => Err(subject.refuse(step.span, Reason::Exits)),
        },
        StepKind::Return { form: Form::Assign } if !step.sites.is_empty() => {
            Ok(Some(returning(step.span)))
        }
        StepKind::Return { form: Form::Elvis } if chosen(&subject.at(step.span)).is_some() => {
            Ok(Some(returning(step.span)))
        }
        StepKind::Return { .. } if returns(&subject.at(step.span), *open) => {
            *open = None;
            Ok(Some(returning(step.span)))
        }
        StepKind::Plain => Ok(None),
        _ => Err(subject.refuse(step.span, Reason::Statement)),
    }
}

fn returns(statement: &str, variable: Option<&str>) -> bool {
    let value = statement
        .trim_start_matches("return")
        .trim_end_matches(';')
        .trim();
    variable == Some(value)
}

/// The length of `return access || access` in a statement that goes on with
/// `? -EFAULT : 0;`. Accesses joined by `|` are not meant: they go on.
pub(crate) fn chosen(statement: &str) -> Option<usize> {
    let (chain, values) = statement.rsplit_once('?')?;
    let values: String = values.split_whitespace().collect();
    let bitwise = chain.replace("||", "").contains('|');
    (values == "-EFAULT:0;" && !bitwise).then_some(chain.len())
}

/// `err = -EFAULT;` where `return err;` is all that follows: blocks end, and
/// nothing else happens, so that the fault may return at once.
fn falls_to_return(
    subject: &Subject<'_>,
    run: &Run,
    step: &Step,
    exit: &Exit,
) -> Result<Fault, Refusal> {
    let refusal = subject.refuse(exit.span, Reason::Exit("the next statement"));
    let lines = statements(subject, exit.span);
    let variable = match lines.as_slice() {
        [line] => line.strip_suffix(" = -EFAULT;"),
        _ => None,
    };
    let behind = subject.text.get(step.span.end..).unwrap_or_default();
    let ends = |b: &&u8| b.is_ascii_whitespace() || **b == b'}';
    let next = behind
        .get(behind.iter().take_while(ends).count()..)
        .unwrap_or_default();
    let returned =
        variable.is_some_and(|name| next.starts_with(format!("return {name};").as_bytes()));
    let last = run.steps.last().is_some_and(|last| last.span == step.span);
    if !returned || !last || run.has(Trait::InLoop) {
        return Err(refusal);
    }
    Ok(returning(exit.span))
}

/// `return get_user(…);` and `return err;` both give the caller -EFAULT.
fn returning(body: Span) -> Fault {
    Fault {
        statements: vec!["return -EFAULT;".to_owned()],
        jump: Jump::Return("-EFAULT".to_owned()),
        body,
        takes_after: false,
        stops: false,
        answers: Vec::new(),
    }
}

fn leave(subject: &Subject<'_>, exit: &Exit) -> Result<Fault, Refusal> {
    if exit.jump == Jump::None {
        return Err(subject.refuse(exit.span, Reason::Exit("the next statement")));
    }
    Ok(Fault {
        statements: statements(subject, exit.span),
        jump: exit.jump.clone(),
        body: exit.span,
        takes_after: false,
        stops: false,
        answers: Vec::new(),
    })
}

/// The lines of a body without its braces and its indentation.
pub(crate) fn statements(subject: &Subject<'_>, body: Span) -> Vec<String> {
    let text = subject.at(body);
    let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) else {
        return vec![on_one_line(&text)];
    };
    let inner = inner.trim_matches('\n').trim_end();
    let indent: String = inner
        .chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .collect();
    reindent(inner, &indent, "")
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The variable held the access's own -EFAULT when the way out was taken.
fn with_result(mut fault: Fault, variable: &str) -> Fault {
    match &fault.jump {
        Jump::Return(value) if value.trim() == variable => {
            fault.statements.pop();
            fault.statements.push("return -EFAULT;".to_owned());
            fault.jump = Jump::Return("-EFAULT".to_owned());
        }
        Jump::Return(value) if !crate::plan::mentions(value, variable) => {}
        _ => {
            let assigned = format!("{variable} = -EFAULT;");
            if fault.statements.first() != Some(&assigned) {
                fault.statements.insert(0, assigned);
            }
        }
    }
    fault
}

/// Whether a condition holds exactly when an access has put -EFAULT there.
fn tests(condition: &str, variable: &str) -> bool {
    let inner = condition
        .trim()
        .strip_prefix("unlikely(")
        .and_then(|c| c.strip_suffix(')'))
        .unwrap_or(condition.trim());
    let rest = inner.trim().strip_prefix(variable).map(str::trim);
    matches!(rest, Some("" | "< 0" | "!= 0"))
}
