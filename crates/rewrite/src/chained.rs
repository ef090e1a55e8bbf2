//! Runs behind which the function just goes on, whether or not an access
//! faulted: `err = access; if (!err) err = access;`, where each access hangs on
//! the one before, and `if (access || access) ret = 0;`.

use tollgate_source::{Direction, Exit, Form, Jump, Local, Run, Span, Step, StepKind, Trait};

use crate::carried::is_assigned;
use crate::fault::{Fault, statements};
use crate::plan::{Subject, mentions, needs};

/// What says behind the window whether an access faulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chained {
    /// The variable.
    pub(crate) variable: String,
    /// What it holds after a fault.
    pub(crate) fault: String,
    /// What it holds if there was none.
    pub(crate) success: String,
}

/// What says it, if the run is of this kind.
pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Option<Chained> {
    let chain = variable(subject, run).map(|variable| Chained {
        variable: variable.to_owned(),
        fault: "-EFAULT".to_owned(),
        success: "0".to_owned(),
    });
    chain.or_else(|| settled(subject, run))
}

/// `ret = 1; … if (access || access) ret = 0;`: what the variable held is known.
fn settled(subject: &Subject<'_>, run: &Run) -> Option<Chained> {
    let [step] = run.steps.as_slice() else {
        return None;
    };
    let (StepKind::Guard { form, exit, .. }, None, false) = (&step.kind, step.under, step.partial)
    else {
        return None;
    };
    let joined = matches!(form, Form::OrChain | Form::SequentialIf) && exit.jump == Jump::None;
    let (variable, fault) = set(subject, exit).filter(|_| joined)?;
    let success = held(subject, run, &variable)?;
    (!needs(subject, run, &variable)).then_some(Chained {
        variable,
        fault,
        success,
    })
}

/// The variable and the constant of `ret = 0;`, if that is all that is done.
fn set(subject: &Subject<'_>, exit: &Exit) -> Option<(String, String)> {
    let lines = statements(subject, exit.span);
    let [line] = lines.as_slice() else {
        return None;
    };
    let (variable, value) = line.strip_suffix(';')?.split_once(" = ")?;
    is_constant(value).then(|| (variable.to_owned(), value.to_owned()))
}

/// The constant that a plain variable of the function was last given before the
/// run, in the run's own block or in one around it.
fn held(subject: &Subject<'_>, run: &Run, variable: &str) -> Option<String> {
    let outline = subject.outline;
    let local = outline.locals.iter().find(|local| local.name == variable)?;
    if let Some(value) = initial(subject, run, local) {
        return Some(value);
    }
    let address = format!("&{variable}");
    let before = |u: &&tollgate_source::Use| u.name == variable && u.span.end <= run.span.start;
    let last = outline.uses.iter().rfind(before).filter(|u| u.assigned)?;
    let text = subject.text.get(last.span.end..run.span.start)?;
    let text = String::from_utf8_lossy(text).into_owned();
    let (value, rest) = text.trim_start().strip_prefix('=')?.split_once(';')?;
    // Straight from there to the run: nothing is closed, entered or left out.
    let straight = !rest.contains(['{', '}', '#', ':']) && !mentions(rest, "if");
    let hidden = subject.at(subject.function.body).contains(&address);
    let known = local.plain && straight && !hidden && is_constant(value.trim());
    known.then(|| value.trim().to_owned())
}

/// The constant that a variable is declared with, if nothing but the declaration
/// has given it a value where the run begins.
fn initial(subject: &Subject<'_>, run: &Run, local: &Local) -> Option<String> {
    let code = subject.code(Span::new(local.scope.start, run.span.start));
    let assigned = |at: &usize| is_assigned(subject, &code, *at, &local.name);
    let mut places = (0..code.len()).filter(assigned);
    let (Some(at), None) = (places.next(), places.next()) else {
        return None;
    };
    let mut labels = subject.outline.labels.iter();
    let again = run.has(Trait::InLoop) || labels.any(|(_, label)| label.start < run.span.start);
    let body: String = subject
        .at(subject.function.body)
        .split_whitespace()
        .collect();
    let hidden = body.contains(&format!("&{}", local.name));
    let rest = code.get(at + 2..)?;
    let end = rest.iter().position(|t| t.is(b',') || t.is(b';'))?;
    let value = subject.at(rest.first()?.span.join(rest.get(end.checked_sub(1)?)?.span));
    // As an argument of a macro it may get another value.
    let named = rest.iter().any(|t| subject.at(t.span) == local.name);
    let known =
        !named && local.plain && local.initialised && !again && !hidden && is_constant(&value);
    known.then_some(value)
}

fn is_constant(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let error = digits.len() < value.len() && digits.chars().all(|c| c.is_ascii_uppercase());
    let word = matches!(value, "true" | "false" | "NULL");
    !digits.is_empty() && (word || error || digits.chars().all(|c| c.is_ascii_digit()))
}

/// The variable that all results go to, if the run is such a chain of writes. A
/// failed read would have to leave zero in its variable, which may be used.
fn variable<'r>(subject: &Subject<'_>, run: &'r Run) -> Option<&'r str> {
    let (first, rest) = run.steps.split_first()?;
    let variable = assigned(first).filter(|_| first.under.is_none())?;
    let chained = |step: &Step| {
        assigned(step) == Some(variable) && !step.partial && hangs_on(subject, step, variable)
    };
    if needs(subject, run, variable) {
        return None;
    }
    let writes = run.count(Direction::Read) == 0;
    (writes && !first.partial && !rest.is_empty() && rest.iter().all(chained)).then_some(variable)
}

fn assigned(step: &Step) -> Option<&str> {
    match &step.kind {
        StepKind::Assign {
            form: Form::Assign,
            variable,
        } if step.sites.len() == 1 => Some(variable),
        _ => None,
    }
}

/// Whether the statement is all that its own `if (!variable)` holds.
fn hangs_on(subject: &Subject<'_>, step: &Step, variable: &str) -> bool {
    let tight = |text: String| text.split_whitespace().collect::<String>();
    let own = tight(subject.at(step.span));
    let around = step.under.map(|under| tight(subject.at(under)));
    let plain = format!("if(!{variable}){own}");
    let braced = format!("if(!{variable}){{{own}}}");
    around.is_some_and(|around| around == plain || around == braced)
}

/// From the first statement to the end of the last one's `if`.
pub(crate) fn region(run: &Run) -> Span {
    let wholes = run.steps.iter().map(|step| step.under.unwrap_or(step.span));
    wholes.fold(run.span, |all, whole| all.join(whole))
}

/// Nothing is done on a fault but to keep it in the variable.
pub(crate) fn fault(run: &Run) -> Fault {
    Fault {
        statements: Vec::new(),
        jump: Jump::None,
        body: Span::new(run.span.end, run.span.end),
        takes_after: false,
        stops: false,
        answers: Vec::new(),
    }
}
