//! `err = access; if (!err) err = access;`: each access hangs on the one before,
//! and what follows asks `err`. Behind a fault the function just goes on.

use tollgate_source::{Direction, Form, Jump, Run, Span, Step, StepKind};

use crate::fault::Fault;
use crate::plan::{Subject, needs};

/// The variable that all results go to, if the run is such a chain of writes. A
/// failed read would have to leave zero in its variable, which may be used.
pub(crate) fn variable<'r>(subject: &Subject<'_>, run: &'r Run) -> Option<&'r str> {
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
    }
}
