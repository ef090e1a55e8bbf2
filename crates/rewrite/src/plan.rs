//! From a run to what its window must do, or to the reason why it may not.

use tollgate_source::{
    Direction, Exit, Form, Function, Hazard, Jump, LineIndex, Outline, Run, Site, Span, Step,
    StepKind, TokenKind, Trait, tokens,
};

use crate::chained;
use crate::condition::{self, Outside};
use crate::directives::{conditions, is_left_between, other_sides};
use crate::fault::Fault;
use crate::gate::Gate;
use crate::offers::Offers;
use crate::range;
use crate::refusal::{Reason, Refusal};
use crate::style::Style;
use crate::types::Types;

/// A function and everything that is known of it.
pub(crate) struct Subject<'a> {
    /// The bytes of the file.
    pub(crate) text: &'a [u8],
    /// Its lines.
    pub(crate) lines: &'a LineIndex,
    /// The function.
    pub(crate) function: &'a Function,
    /// What else is in it.
    pub(crate) outline: &'a Outline,
    /// What the tree offers to open a window with.
    pub(crate) offers: Offers,
    /// Whether accesses that go on after a fault may be made to stop.
    pub(crate) stop_at_first_fault: bool,
    /// What the style needs besides.
    pub(crate) styled: Styled<'a>,
}

/// What a style needs to know besides the function.
#[derive(Clone, Copy)]
pub(crate) struct Styled<'a> {
    /// How user memory is accessed after the fix.
    pub(crate) style: Style,
    /// The definitions that the file may use; none for the style `window`.
    pub(crate) types: &'a Types,
    /// Whether only the end for both ways closes a masked begin everywhere.
    pub(crate) one_mask: bool,
    /// Whether a copy may touch members that the function leaves alone.
    pub(crate) touch_all_members: bool,
}

impl Subject<'_> {
    /// The original text of a place.
    pub(crate) fn at(&self, span: Span) -> String {
        span.text(self.text)
    }

    /// A refusal at a place.
    pub(crate) fn refuse(&self, span: Span, reason: Reason) -> Refusal {
        Refusal {
            line: self.lines.position(span.start).line,
            reason,
        }
    }

    /// Where the line of a place begins.
    pub(crate) fn line_start(&self, byte: usize) -> usize {
        self.lines.line_start(byte)
    }

    /// The blanks before a place on its line.
    pub(crate) fn indent(&self, byte: usize) -> String {
        let line = self
            .text
            .get(self.lines.line_start(byte)..byte)
            .unwrap_or_default();
        let blanks = line
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        String::from_utf8_lossy(line.get(..blanks).unwrap_or_default()).into_owned()
    }

    /// Whether nothing reads the variable behind `byte` before it is assigned,
    /// whatever the configuration.
    pub(crate) fn is_dead(&self, variable: &str, byte: usize) -> bool {
        let sides = other_sides(self.text, self.function.body);
        self.outline.is_dead(variable, byte)
            && !sides.iter().any(|side| mentions(&self.at(*side), variable))
    }

    /// The `#if` lines under which a place stands and the function's end does
    /// not; none if they cannot be repeated there.
    pub(crate) fn conditions(&self, place: Span) -> Option<Vec<String>> {
        if is_left_between(self.text, place.end, self.function.body.end) {
            conditions(self.text, self.function.body, place.start)
        } else {
            Some(Vec::new())
        }
    }

    /// The comments that begin in a place, with their places.
    pub(crate) fn comments(&self, place: Span) -> Vec<Span> {
        let upto = self.text.get(..place.end).unwrap_or_default();
        let inside = tokens(upto, place.start).into_iter();
        inside
            .filter(|token| token.kind == TokenKind::Comment)
            .map(|token| token.span)
            .collect()
    }
}

/// One line of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The access with that index.
    Access(usize),
    /// A comment or another statement, as it is written.
    Verbatim(String),
}

/// What a window must do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The run that it replaces.
    pub(crate) run: Run,
    /// The middle of the names of the begin and the end, empty for both ways.
    pub(crate) way: &'static str,
    /// The object whose range the begin checks.
    pub(crate) object: String,
    /// The size of that range.
    pub(crate) size: String,
    /// What stands between begin and end.
    pub(crate) lines: Vec<Line>,
    /// What happens on a fault.
    pub(crate) fault: Fault,
    /// What is replaced.
    pub(crate) region: Span,
    /// The part of the first condition that is evaluated before the run.
    pub(crate) before: Option<Span>,
    /// The part of the last condition that is evaluated after the run.
    pub(crate) behind: Option<Span>,
    /// The variable that must be 0 behind the window.
    pub(crate) result: Option<String>,
    /// Whether the window's success is the function's.
    pub(crate) returns: bool,
    /// Whether later accesses used to happen after a fault and no longer do.
    pub(crate) stops: bool,
    /// The variable that keeps a fault, where the function goes on behind it.
    pub(crate) chained: Option<String>,
    /// Whether the begin stands for an `access_ok()` of the chain.
    pub(crate) absorbs: bool,
    /// What opens and closes the window.
    pub(crate) gate: Gate,
}

/// What a window for the run must do.
pub(crate) fn plan(subject: &Subject<'_>, run: &Run) -> Result<Plan, Refusal> {
    let chained = chained::variable(subject, run);
    whole(subject, run, chained.is_some())?;
    for site in &run.sites {
        harmless(subject, site)?;
    }
    let (object, size) = range::of(subject, run)?;
    let (fault, region) = if chained.is_some() {
        (chained::fault(run), chained::region(run))
    } else {
        let fault = Fault::of(subject, run)?;
        let region = region(run, &fault);
        (fault, region)
    };
    let rest = condition::outside(subject, run, &object, &size)?;
    let way = way(subject, run)?;
    let plan = Plan {
        lines: lines(subject, run, region, &fault, &rest)?,
        run: run.clone(),
        before: rest.before,
        behind: rest.behind,
        way,
        gate: Gate::plain(way),
        object,
        size,
        result: result(subject, run, region),
        returns: last(run, &fault).is_some_and(|step| matches!(step.kind, StepKind::Return { .. })),
        stops: fault.stops,
        chained: chained.map(str::to_owned),
        absorbs: absorbs(subject, run, &rest),
        fault,
        region,
    };
    condition::check_all(subject, run, &plan)?;
    unread_after_fault(subject, &plan)?;
    Ok(plan)
}

fn way(subject: &Subject<'_>, run: &Run) -> Result<&'static str, Refusal> {
    let way = subject
        .offers
        .way(run.count(Direction::Read), run.count(Direction::Write));
    way.ok_or_else(|| subject.refuse(run.span, Reason::Begin))
}

/// The run stands in one block, without preprocessor lines.
fn whole(subject: &Subject<'_>, run: &Run, chained: bool) -> Result<(), Refusal> {
    if run.has(Trait::Preprocessor) {
        return Err(subject.refuse(run.span, Reason::Preprocessor));
    }
    if let Some(step) = run
        .steps
        .iter()
        .find(|step| step.under.is_some() && !chained)
    {
        return Err(subject.refuse(step.span, Reason::Blocks));
    }
    let divided = |step: &&Step| step.partial && !matches!(step.kind, StepKind::Guard { .. });
    match run.steps.iter().find(divided) {
        Some(step) => Err(subject.refuse(step.span, Reason::Statement)),
        None => Ok(()),
    }
}

fn harmless(subject: &Subject<'_>, site: &Site) -> Result<(), Refusal> {
    let mut hazards = site.hazards.iter();
    let reason = match hazards.find(|hazard| !is_pointer_index(subject, hazard)) {
        None => return Ok(()),
        Some(Hazard::Call(name)) => Reason::Call(name.clone()),
        Some(Hazard::Wrapped(name)) => Reason::Wrapped(name.clone()),
        Some(Hazard::Index(array)) => Reason::Index(array.clone()),
        Some(Hazard::SideEffect) => Reason::SideEffect,
        Some(Hazard::Conditional) => Reason::Conditional,
        Some(Hazard::DependsOnRead(name)) => Reason::DependsOnRead(name.clone()),
    };
    Err(subject.refuse(site.span, reason))
}

/// An index into what a pointer variable points to has no bounds to check.
fn is_pointer_index(subject: &Subject<'_>, hazard: &Hazard) -> bool {
    let Hazard::Index(name) = hazard else {
        return false;
    };
    let mut locals = subject.outline.locals.iter();
    match locals.find(|local| local.name == *name) {
        Some(local) => !local.array,
        // A parameter is never an array, whatever its declaration looks like.
        None => mentions(&subject.at(subject.function.header), name),
    }
}

/// Whether an `access_ok()` of the run is not among what is kept of it.
fn absorbs(subject: &Subject<'_>, run: &Run, rest: &Outside) -> bool {
    let kept = |part: &Span| mentions(&subject.at(*part), "access_ok");
    run.has(Trait::AccessOk) && ![rest.before, rest.behind].iter().flatten().any(kept)
}

/// The last statement that is replaced.
fn last<'r>(run: &'r Run, fault: &Fault) -> Option<&'r Step> {
    let after = run.after.as_ref().filter(|_| fault.takes_after);
    after.or(run.steps.last())
}

/// The statements of the run, and the test behind them that the fault answers.
fn region(run: &Run, fault: &Fault) -> Span {
    match &run.after {
        Some(after) if fault.takes_after => run.span.join(after.span),
        _ => run.span,
    }
}

/// Accesses, comments and statements, in the order in which they stand.
fn lines(
    subject: &Subject<'_>,
    run: &Run,
    region: Span,
    fault: &Fault,
    rest: &Outside,
) -> Result<Vec<Line>, Refusal> {
    let mut placed: Vec<(usize, Line)> = run
        .sites
        .iter()
        .enumerate()
        .map(|(index, site)| (site.span.start, Line::Access(index)))
        .collect();
    for step in run.steps.iter().filter(|step| step.kind == StepKind::Plain) {
        placed.push((step.span.start, verbatim_statement(subject, run, step)?));
    }
    for comment in subject.comments(region) {
        if [rest.before, rest.behind]
            .iter()
            .flatten()
            .any(|kept| kept.contains(comment))
        {
            continue;
        }
        if run
            .steps
            .iter()
            .any(|step| step.kind == StepKind::Plain && step.span.contains(comment))
        {
            continue;
        }
        if exits(run).any(|exit| exit.span.contains(comment)) {
            if !fault.body.contains(comment) {
                return Err(subject.refuse(comment, Reason::Comment));
            }
            continue;
        }
        placed.push((comment.start, Line::Verbatim(subject.at(comment))));
    }
    placed.sort_by_key(|(start, _)| *start);
    Ok(placed.into_iter().map(|(_, line)| line).collect())
}

fn exits(run: &Run) -> impl Iterator<Item = &Exit> {
    run.steps
        .iter()
        .chain(&run.after)
        .filter_map(|step| match &step.kind {
            StepKind::Guard { exit, .. } | StepKind::Check { exit, .. } => Some(exit),
            _ => None,
        })
}

/// A statement may stay between the accesses if it leaves their object alone.
fn verbatim_statement(subject: &Subject<'_>, run: &Run, step: &Step) -> Result<Line, Refusal> {
    let assigned = subject
        .outline
        .uses
        .iter()
        .filter(|u| step.span.contains(u.span));
    let addresses = |name: &str| {
        run.sites
            .iter()
            .any(|site| mentions(&subject.at(site.address), name))
    };
    if assigned.into_iter().any(|u| addresses(&u.name)) {
        return Err(subject.refuse(step.span, Reason::Gap));
    }
    Ok(Line::Verbatim(subject.at(step.span)))
}

/// A variable that took the results must hold 0 behind the window, if it is read.
fn result(subject: &Subject<'_>, run: &Run, region: Span) -> Option<String> {
    let first = run.steps.first()?;
    match &first.kind {
        StepKind::Assign { form, variable } => {
            let kept = *form == Form::ErrOr && subject.at(first.span).contains("|=");
            let dead = !run.has(Trait::InLoop) && subject.is_dead(variable, region.end);
            (!kept && !dead).then(|| variable.clone())
        }
        _ => None,
    }
}

/// `get_user()` makes its variable zero on a fault; the window does not.
fn unread_after_fault(subject: &Subject<'_>, plan: &Plan) -> Result<(), Refusal> {
    let reads = plan
        .run
        .sites
        .iter()
        .filter(|site| site.direction == Direction::Read);
    for site in reads {
        let variable = subject.at(site.value);
        if plan
            .fault
            .statements
            .iter()
            .any(|statement| mentions(statement, &variable))
        {
            return Err(subject.refuse(site.span, Reason::ReadAfterFault(variable)));
        }
        if let Jump::Goto(label) = &plan.fault.jump {
            used_behind(subject, site, &variable, label)?;
        }
    }
    Ok(())
}

fn used_behind(
    subject: &Subject<'_>,
    site: &Site,
    variable: &str,
    label: &str,
) -> Result<(), Refusal> {
    let place = subject
        .outline
        .labels
        .iter()
        .find(|(name, _)| name == label)
        .map(|(_, span)| *span);
    let Some(place) = place else { return Ok(()) };
    let rest = Span::new(place.end, subject.function.body.end);
    // A jump back may read anything again.
    if place.start < site.span.start || mentions(&subject.at(rest), variable) {
        return Err(subject.refuse(site.span, Reason::ReadAfterFault(variable.to_owned())));
    }
    Ok(())
}

/// Whether an access stores, fills or reaches through the variable, which then
/// cannot hold -EFAULT meanwhile.
pub(crate) fn needs(subject: &Subject<'_>, run: &Run, variable: &str) -> bool {
    let plain = run.steps.iter().filter(|step| step.kind == StepKind::Plain);
    let places = run.sites.iter().flat_map(|site| [site.value, site.address]);
    places
        .chain(plain.map(|step| step.span))
        .any(|place| mentions(&subject.at(place), variable))
}

/// Whether `text` holds `name` as a word, or as a whole expression.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|s| s.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|s| s.chars().next());
            !is_word(before) && !is_word(after)
        })
}
