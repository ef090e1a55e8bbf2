//! Runs behind which the function just goes on, whether or not an access
//! faulted: `err = access; if (!err) err = access;`, where each access hangs on
//! the one before, `if (access || access) ret = 0;`, and, where accesses may stop at the
//! first fault, `err |= access; err |= access;` of which something asks only later.

use tollgate_source::{
    Direction, EffectKind, Exit, Expression, Form, Jump, Run, Span, StatementKind, Step, StepKind,
    Trait, Write,
};

use crate::plan::{Chained, Fault};
use crate::planning::carried::is_carried;
use crate::subject::Subject;

/// What says it, if the run is of this kind.
pub(crate) fn of(subject: &Subject<'_>, run: &Run) -> Option<Chained> {
    let chain = variable(subject, run).map(|variable| Chained {
        variable: variable.to_owned(),
        fault: "-EFAULT".to_owned(),
        success: "0".to_owned(),
        stops: false,
        carried: false,
    });
    chain.or_else(|| settled(subject, run))
}

/// What keeps the fault of `err |= access; err |= access;`, all of which happened until
/// now, where nothing right behind them asks for it: the variable. Of a read that no longer happens something might look at what it filled.
pub(crate) fn joined(subject: &Subject<'_>, run: &Run) -> Option<Chained> {
    let (first, rest) = run.steps.split_first()?;
    let own = |step: &'_ Step| match &step.kind {
        StepKind::Assign { form, variable } if step.under.is_none() && !step.partial => {
            Some((*form, variable.clone()))
        }
        _ => None,
    };
    let (form, variable) = own(first)?;
    let more = |step: &Step| own(step).is_some_and(|own| own == (Form::ErrOr, variable.clone()));
    let writes = run.count(Direction::Read) == 0 || subject.no_zero_on_fault;
    if !matches!(form, Form::Assign | Form::ErrOr) || !writes || !rest.iter().all(more) {
        return None;
    }
    // What others see may not be a fault before there is one.
    subject.flow.local(&variable).filter(|local| local.plain)?;
    // A fault that it holds from before is the first.
    let zero = || held(subject, run, &variable).as_deref() == Some("0");
    let carried = is_carried(subject, run, first, &variable) && !zero();
    let known = !carried || holds_faults(subject, &variable);
    (known && !subject.needs(run, &variable)).then_some(Chained {
        variable,
        fault: "-EFAULT".to_owned(),
        success: "0".to_owned(),
        stops: true,
        carried,
    })
}

/// Whether a variable holds nothing but what accesses gave, and errors of other calls that it
/// takes in beside them: `err |= save(regs)`.
fn holds_faults(subject: &Subject<'_>, variable: &str) -> bool {
    let flow = subject.flow;
    let mut effects = flow.effects_in(subject.function.body);
    let is_fault = |own: &Write| match own.value {
        Some(value) => gives_fault(subject, own, value),
        None => !own.next,
    };
    effects.all(|effect| match &effect.kind {
        _ if flow.name_of(effect) != variable => true,
        EffectKind::Read => true,
        EffectKind::Write(own) => is_fault(own),
        EffectKind::Address | EffectKind::Handed { .. } => false,
    })
}

/// Whether a value is 0 or what a fault leaves.
fn gives_fault(subject: &Subject<'_>, write: &Write, value: Span) -> bool {
    let constant = write.constant.as_deref();
    let vocabulary = subject.vocabulary;
    let accesses = |name: &str| {
        let name = name.as_bytes();
        vocabulary.access(name).is_some() || vocabulary.copy(name).is_some()
    };
    let calls = |own: Expression| {
        own.call()
            .is_some_and(|(name, _)| write.compound || accesses(name))
    };
    matches!(constant, Some("0" | "-EFAULT")) || subject.expression(value).is_some_and(calls)
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
    let joined = matches!(form, Form::OrChain | Form::SequentialIf)
        && exit.jump == Jump::None
        && !falls_to_return(subject, run, step, exit);
    let (variable, fault) = set(subject, exit).filter(|_| joined)?;
    let success = held(subject, run, &variable)?;
    (!subject.needs(run, &variable)).then_some(Chained {
        variable,
        fault,
        success,
        stops: false,
        carried: false,
    })
}

/// The variable and the constant of `ret = 0;`, if that is all that is done.
pub(crate) fn set(subject: &Subject<'_>, exit: &Exit) -> Option<(String, String)> {
    let flow = subject.flow;
    let mut effects = flow.effects_in(exit.span);
    let (only, None) = (effects.next()?, effects.next()) else {
        return None;
    };
    let EffectKind::Write(write) = &only.kind else {
        return None;
    };
    let known = flow.is_whole(only) && !flow.calls(exit.span);
    let value = write.constant.clone().filter(|_| known)?;
    Some((flow.name_of(only).to_owned(), value))
}

/// The constant that a plain variable of the function holds where the run begins.
fn held(subject: &Subject<'_>, run: &Run, variable: &str) -> Option<String> {
    subject.flow.local(variable).filter(|local| local.plain)?;
    subject.flow.value(variable, run.span.start)
}

/// The variable that all results go to, if the run is such a chain of writes. A
/// failed read would have to leave zero in its variable, which may be used.
fn variable<'r>(subject: &Subject<'_>, run: &'r Run) -> Option<&'r str> {
    let (first, rest) = run.steps.split_first()?;
    let variable = assigned(first).filter(|_| first.under.is_none())?;
    let chained =
        |step: &Step| assigned(step) == Some(variable) && !step.partial && hangs_on(subject, step);
    if subject.needs(run, variable) {
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
fn hangs_on(subject: &Subject<'_>, step: &Step) -> bool {
    let Some(under) = step.under else {
        return false;
    };
    let mut inside = subject.flow.statements_in(under);
    let block = |kind| matches!(kind, StatementKind::Block | StatementKind::If);
    let alone = inside.all(|own| own.span == step.span || block(own.kind));
    alone && subject.comments(under).is_empty()
}

/// From the first statement to the end of the last one's `if`.
pub(crate) fn region(run: &Run) -> Span {
    let wholes = run.steps.iter().map(|step| step.under.unwrap_or(step.span));
    wholes.fold(run.span, |all, whole| all.join(whole))
}

/// Nothing is done on a fault but to keep it in the variable.
pub(crate) fn fault(run: &Run, stops: bool) -> Fault {
    Fault {
        statements: Vec::new(),
        besides: Vec::new(),
        jump: Jump::None,
        body: Span::new(run.span.end, run.span.end),
        kept: Span::new(run.span.end, run.span.end),
        takes_after: false,
        stops,
        answers: Vec::new(),
        given: None,
    }
}

/// `err = -EFAULT;` where `return err;` is all that follows: nothing else
/// happens, so that the fault may return at once.
pub(crate) fn falls_to_return(subject: &Subject<'_>, run: &Run, step: &Step, exit: &Exit) -> bool {
    let set = set(subject, exit).filter(|(_, value)| value == "-EFAULT");
    let returned = |(name, _): (String, String)| subject.flow.only_returns(&name, step.span);
    let last = run.steps.last().is_some_and(|last| last.span == step.span);
    set.is_some_and(returned) && last && !run.has(Trait::InLoop)
}
