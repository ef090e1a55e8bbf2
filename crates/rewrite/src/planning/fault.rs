//! What a run does on a fault: one thing, whichever access faults.

use tollgate_source::{
    Direction, Exit, Form, Jump, Run, Span, Statement, StatementKind, Step, StepKind, Term,
    TokenKind, tokens,
};

use crate::plan::Fault;
use crate::planning::chained::falls_to_return;
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

impl Fault {
    /// Whether something that is done on a fault names the variable.
    pub(crate) fn names(&self, subject: &Subject<'_>, variable: &str) -> bool {
        subject.flow.names(self.kept, variable)
    }

    /// Whether nothing looks, where a fault leads to, at what the variable holds
    /// by then: the way out may go on behind a label, a loop or the run.
    pub(crate) fn leaves_dead(&self, subject: &Subject<'_>, variable: &str, run: Span) -> bool {
        let flow = subject.flow;
        match &self.jump {
            _ if self.sets(subject, variable) => true,
            Jump::Return(_) => !self.names(subject, variable),
            Jump::None => flow.is_dead(variable, run),
            Jump::Goto(_) | Jump::Break | Jump::Continue => {
                flow.is_dead_before(variable, self.body.start)
            }
        }
    }

    /// Whether what is done on a fault makes the variable -EFAULT.
    fn sets(&self, subject: &Subject<'_>, variable: &str) -> bool {
        let own = |name: &str| name == variable;
        self.given.as_deref().is_some_and(own) || set_in(subject, self.body).iter().any(|n| own(n))
    }

    /// Whether the function gives -EFAULT, or a variable is made that, on a fault.
    pub(crate) fn is_negative(&self, subject: &Subject<'_>) -> bool {
        self.gives_fault() || self.given.is_some() || !set_in(subject, self.body).is_empty()
    }

    /// Whether all that is done on a fault is `return -EFAULT;`.
    pub(crate) fn only_returns(&self) -> bool {
        self.only_jumps() && self.gives_fault()
    }

    /// The label that a fault goes to, where it does nothing before.
    pub(crate) fn only_goes_to(&self) -> Option<&str> {
        match &self.jump {
            Jump::Goto(label) if self.only_jumps() => Some(label),
            _ => None,
        }
    }

    /// What is done on a fault where a variable holds what the accesses gave.
    pub(crate) fn with_variable(&self, variable: &str) -> Vec<String> {
        let mut all = self.without(variable).to_vec();
        if self.gives_fault() {
            all.pop();
            all.push(format!("return {variable};"));
        }
        all
    }

    /// The statements without those that make the variable -EFAULT.
    fn without(&self, variable: &str) -> &[String] {
        let mut own = self.besides.iter();
        let found = own.find(|(name, _)| name == variable);
        found.map_or(&self.statements, |(_, rest)| rest)
    }

    /// Changes what is done, whichever variable holds what the accesses gave.
    fn change(&mut self, change: impl Fn(&mut Vec<String>)) {
        change(&mut self.statements);
        self.besides.iter_mut().for_each(|(_, rest)| change(rest));
    }

    /// Whether the function gives -EFAULT behind all else that is done.
    fn gives_fault(&self) -> bool {
        matches!(&self.jump, Jump::Return(value) if value == "-EFAULT")
    }

    /// The jump is the last of the statements.
    fn only_jumps(&self) -> bool {
        self.statements.len() == 1 && self.jump != Jump::None
    }

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
            let first = found.as_ref();
            let (body, kept) = first.map_or((fault.body, fault.kept), |f| (f.body, f.kept));
            let other = |first: &Self| !are_alike(&first.statements, &fault.statements);
            if found.as_ref().is_some_and(other) {
                return Err(subject.refuse(step.span, Reason::Exits));
            }
            found = Some(Fault {
                body,
                kept,
                ..fault
            });
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

/// Whether two ways out are the same code, however it is laid out.
pub(crate) fn are_alike(one: &[String], other: &[String]) -> bool {
    let code = |statements: &[String]| -> Vec<String> {
        let text = statements.join("\n").into_bytes();
        let code = tokens(&text, 0).into_iter();
        let code = code.filter(|token| token.kind != TokenKind::Comment);
        code.map(|token| token.span.text(&text)).collect()
    };
    code(one) == code(other)
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
    let flow = subject.flow;
    let own = |name: &str| flow.local(name).is_some_and(|local| local.plain);
    run.sites.iter().all(|site| {
        let filled = flow.filled(site.value);
        site.direction == Direction::Read
            && filled.is_some_and(|e| own(flow.name_of(e)) && !flow.is_behind(e))
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
            if falls_to_return(subject, run, step, exit) {
                return Ok(Some(returning(exit.span)));
            }
            Err(subject.refuse(exit.span, Reason::Exit("the next statement")))
        }
        StepKind::Guard { exit, .. } => leave(subject, exit).map(Some),
        StepKind::Assign { variable, form } if *form != Form::Expression => {
            // What an access before it gave lies in another variable, or is overwritten.
            let lost = open.is_some_and(|own| own != variable || *form == Form::Assign);
            if lost {
                return Err(subject.refuse(step.span, Reason::Untested));
            }
            *open = Some(variable);
            Ok(None)
        }
        StepKind::Check { condition, exit } => match open.take() {
            Some(variable) if subject.flow.tests(*condition, variable) => {
                leave(subject, exit).map(|fault| Some(with_result(subject, fault, variable)))
            }
            _ => Err(subject.refuse(step.span, Reason::Exits)),
        },
        StepKind::Return { form: Form::Assign } if !step.sites.is_empty() => {
            Ok(Some(returning(step.span)))
        }
        StepKind::Return { form: Form::Elvis } if subject.flow.choice(step.span).is_some() => {
            Ok(Some(returning(step.span)))
        }
        StepKind::Return { .. }
            if open.is_some_and(|variable| subject.flow.returns(step.span, variable)) =>
        {
            *open = None;
            Ok(Some(returning(step.span)))
        }
        StepKind::Plain => Ok(None),
        _ => Err(subject.refuse(step.span, Reason::Statement)),
    }
}

/// `return get_user(…);` and `return err;` both give the caller -EFAULT.
fn returning(body: Span) -> Fault {
    Fault {
        statements: vec!["return -EFAULT;".to_owned()],
        besides: Vec::new(),
        jump: Jump::Return("-EFAULT".to_owned()),
        body,
        kept: Span::new(body.start, body.start),
        takes_after: false,
        stops: false,
        answers: Vec::new(),
        given: None,
    }
}

/// What a way out does that is no result's.
pub(crate) fn leaving(subject: &Subject<'_>, place: Span) -> Result<Fault, Refusal> {
    let own = subject.flow.exit_in(place);
    let jump = own.and_then(|own| match (own.kind, own.label) {
        (StatementKind::Return, _) => {
            let value = own.expression.map(|value| subject.line(value));
            Some(Jump::Return(value.unwrap_or_default()))
        }
        (_, Some(label)) => Some(Jump::Goto(subject.at(label))),
        _ => None,
    });
    let Some(jump) = jump else {
        return Err(subject.refuse(place, Reason::Exits));
    };
    let span = place;
    leave(subject, &Exit { jump, span })
}

fn leave(subject: &Subject<'_>, exit: &Exit) -> Result<Fault, Refusal> {
    if exit.jump == Jump::None {
        return Err(subject.refuse(exit.span, Reason::Exit("the next statement")));
    }
    Ok(Fault {
        statements: subject.statements(exit.span),
        besides: besides(subject, exit.span),
        jump: exit.jump.clone(),
        body: exit.span,
        kept: exit.span,
        takes_after: false,
        stops: false,
        answers: Vec::new(),
        given: None,
    })
}

/// The variable held the access's own -EFAULT when the way out was taken.
fn with_result(subject: &Subject<'_>, mut fault: Fault, variable: &str) -> Fault {
    let jump = subject.flow.jump_in(fault.body).unwrap_or(fault.body);
    let returns = matches!(fault.jump, Jump::Return(_));
    let first = set_in(subject, fault.body).into_iter().next();
    if returns && subject.flow.returns(jump, variable) {
        fault.change(|all| {
            all.pop();
            all.push("return -EFAULT;".to_owned());
        });
        fault.jump = Jump::Return("-EFAULT".to_owned());
        fault.kept = Span::new(fault.body.start, jump.start);
    } else if (!returns || subject.flow.names(jump, variable)) && first.as_deref() != Some(variable)
    {
        let rest = fault.without(variable).to_vec();
        fault.change(|all| all.insert(0, format!("{variable} = -EFAULT;")));
        fault.besides.insert(0, (variable.to_owned(), rest));
        fault.given = Some(variable.to_owned());
    }
    fault
}

/// The variables that statements of a way out make -EFAULT whatever else holds, in
/// order.
fn set_in(subject: &Subject<'_>, body: Span) -> Vec<String> {
    let own = subject.flow.statement(body).into_iter();
    let all = own.chain(subject.flow.inside(body));
    all.filter_map(|own| set_by(subject, own)).collect()
}

/// The statements of a way out without those that make a variable -EFAULT, for each that
/// they make that.
fn besides(subject: &Subject<'_>, body: Span) -> Vec<(String, Vec<String>)> {
    let rest = |name: String| {
        let sets = |own: &Statement| set_by(subject, own).as_ref() == Some(&name);
        let rest = subject.statements_but(body, &sets);
        (name, rest)
    };
    set_in(subject, body).into_iter().map(rest).collect()
}

/// `variable` of `variable = -EFAULT;`
fn set_by(subject: &Subject<'_>, own: &Statement) -> Option<String> {
    let own = subject.expression(own.expression?)?;
    let Term::Assignment(left, operator, value) = &own.term else {
        return None;
    };
    let fault = match &value.term {
        Term::Unary(minus, error) => minus == "-" && error.name() == Some("EFAULT"),
        _ => false,
    };
    (operator == "=" && fault).then(|| left.name().map(str::to_owned))?
}
