//! From a run to what its window must do, or to the reason why it may not.

use tollgate_source::Vocabulary;
use tollgate_source::{
    Direction, EffectKind, Exit, Expression, Flow, Form, Function, Hazard, LineIndex, Run, Site,
    Span, Step, StepKind, Token, TokenKind, Trait, Types, tokens,
};

use crate::advance::{self, Advance};
use crate::carried;
use crate::chained::{self, Chained};
use crate::condition::{self, Outside};
use crate::covered;
use crate::directives::{conditions, is_left_between};
use crate::fault::{Fault, statements};
use crate::gate::Gate;
use crate::layout::on_one_line;
use crate::maybe;
use crate::offers::Offers;
use crate::offset;
use crate::range;
use crate::refusal::{Reason, Refusal};
use crate::style::Style;
use crate::zero;

/// A function and everything that is known of it.
pub(crate) struct Subject<'a> {
    /// The bytes of the file.
    pub(crate) text: &'a [u8],
    /// Its lines.
    pub(crate) lines: &'a LineIndex<'a>,
    /// The function.
    pub(crate) function: &'a Function,
    /// What it does.
    pub(crate) flow: &'a Flow,
    /// The calls that it may hold.
    pub(crate) vocabulary: &'a Vocabulary,
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
    /// The types that the file sees.
    pub(crate) types: &'a Types<'a>,
    /// Whether only the end for both ways closes a masked begin everywhere.
    pub(crate) one_mask: bool,
    /// Whether a copy may touch members that the function leaves alone.
    pub(crate) touch_all_members: bool,
}

impl Subject<'_> {
    /// Whether a call in a place does nothing but check a range.
    pub(crate) fn checks_range(&self, place: Span) -> bool {
        let mut checks = self.vocabulary.range_checks().iter();
        checks.any(|check| self.flow.calls_to(place, check).is_some())
    }

    /// The expression that stands in a place.
    pub(crate) fn expression(&self, place: Span) -> Option<Expression> {
        Expression::read(self.text, place, self.vocabulary)
    }

    /// The expression that a text is.
    pub(crate) fn written(&self, text: &str) -> Option<Expression> {
        Expression::written(text, self.vocabulary)
    }

    /// Whether an expression is a check of that range, `access_ok(object, size)`;
    /// none if it is no check.
    pub(crate) fn checks(&self, own: &Expression, object: &str, size: &str) -> Option<bool> {
        let (name, arguments) = own.call()?;
        let wanted = [self.written(object), self.written(size)];
        let same = arguments
            .iter()
            .zip(&wanted)
            .all(|(a, b)| Some(a) == b.as_ref());
        let check = self.vocabulary.checks_range(name.as_bytes());
        check.then_some(same && arguments.len() == wanted.len())
    }

    /// The original text of a place.
    pub(crate) fn at(&self, span: Span) -> String {
        span.text(self.text)
    }

    /// The original text of a place as one line.
    pub(crate) fn line(&self, span: Span) -> String {
        on_one_line(&self.at(span))
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

    /// The `#if` lines under which a place stands and the function's end does
    /// not; none if they cannot be repeated there.
    pub(crate) fn conditions(&self, place: Span) -> Option<Vec<String>> {
        if is_left_between(self.text, place.end, self.function.body.end) {
            conditions(self.text, self.function.body, place.start)
        } else {
            Some(Vec::new())
        }
    }

    /// What a statement asks, gives or is.
    pub(crate) fn expression_of(&self, statement: Span) -> Option<Expression> {
        let own = self.flow.statement(statement)?;
        self.expression(own.expression?)
    }

    /// The tokens of a place.
    pub(crate) fn tokens(&self, place: Span) -> Vec<Token> {
        tokens(self.text.get(..place.end).unwrap_or(&[]), place.start)
    }

    /// Whether neither comments nor preprocessor lines are in a place.
    pub(crate) fn is_code(&self, place: Span) -> bool {
        self.tokens(place).iter().all(Token::is_code)
    }

    /// The comments that begin in a place, with their places.
    pub(crate) fn comments(&self, place: Span) -> Vec<Span> {
        let inside = self.tokens(place).into_iter();
        let comments = inside.filter(|token| token.kind == TokenKind::Comment);
        comments.map(|token| token.span).collect()
    }
}

/// One line of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The access with that index.
    Access(usize),
    /// A comment or another statement, as it is written.
    Verbatim(String),
    /// A variable that is made zero, as a failed read would make it.
    Zero(String),
    /// The access with that index, only under a condition; what is made zero
    /// before it hangs on the condition, too.
    When {
        condition: String,
        zero: Option<String>,
        index: usize,
    },
    /// A way out that is no fault's: the condition, and what happens then.
    Leave(String, Vec<String>),
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
    /// The variables that must be 0 behind the window.
    pub(crate) results: Vec<String>,
    /// Whether the window's success is the function's.
    pub(crate) returns: bool,
    /// Whether later accesses used to happen after a fault and no longer do.
    pub(crate) stops: bool,
    /// What keeps a fault, where the function goes on behind it.
    pub(crate) chained: Option<Chained>,
    /// The pointer that the accesses move on.
    pub(crate) advance: Option<Advance>,
    /// What is made zero before the begin, as its failed read would be, behind
    /// what the condition asks before the run.
    pub(crate) cleared: Option<String>,
    /// Whether anything is made zero.
    pub(crate) zeroes: bool,
    /// Whether the begin stands for an `access_ok()` of the chain.
    pub(crate) absorbs: bool,
    /// What opens and closes the window.
    pub(crate) gate: Gate,
}

/// What a window for the run must do.
pub(crate) fn plan(subject: &Subject<'_>, run: &Run) -> Result<Plan, Refusal> {
    let chained = chained::of(subject, run);
    whole(subject, run, chained.is_some())?;
    let advance = advance::of(subject, run);
    for (index, site) in run.sites.iter().enumerate() {
        harmless(subject, run, index, site, advance.is_some())?;
    }
    let (object, size) = match &advance {
        Some(advance) => advance.range(),
        None => range::of(subject, run)?,
    };
    let (fault, region) = way_out(subject, run, chained.as_ref())?;
    carried::check(subject, run)?;
    carried::unused(subject, run)?;
    let rest = condition::outside(subject, run, &object, &size)?;
    if chained.is_some() && (rest.before.is_some() || rest.behind.is_some()) {
        return Err(subject.refuse(run.span, Reason::Statement));
    }
    let way = way(subject, run)?;
    let mut plan = Plan {
        lines: lines(subject, run, region, &fault, &rest)?,
        run: run.clone(),
        before: rest.before,
        behind: rest.behind,
        way,
        gate: Gate::plain(way),
        object,
        size,
        results: results(subject, run, region),
        returns: last(run, &fault).is_some_and(|step| matches!(step.kind, StepKind::Return { .. })),
        stops: fault.stops,
        chained,
        absorbs: absorbs(subject, run, &rest),
        fault,
        region,
        advance,
        cleared: None,
        zeroes: false,
    };
    condition::check_all(subject, run, &plan)?;
    covered::absorb(subject, &mut plan);
    zero::add(subject, &mut plan)?;
    advance::check(subject, &plan)?;
    Ok(plan)
}

/// What happens on a fault, and what the window takes the place of.
fn way_out(
    subject: &Subject<'_>,
    run: &Run,
    chained: Option<&Chained>,
) -> Result<(Fault, Span), Refusal> {
    if chained.is_some() {
        return Ok((chained::fault(run), chained::region(run)));
    }
    let fault = Fault::of(subject, run)?;
    let region = region(run, &fault);
    Ok((fault, region))
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
        range::one_object(subject, run)?;
        return Err(subject.refuse(step.span, Reason::Blocks));
    }
    let divided = |step: &&Step| step.partial && !matches!(step.kind, StepKind::Guard { .. });
    match run.steps.iter().find(divided) {
        Some(step) => Err(subject.refuse(step.span, Reason::Statement)),
        None => Ok(()),
    }
}

fn harmless(
    subject: &Subject<'_>,
    run: &Run,
    index: usize,
    site: &Site,
    advances: bool,
) -> Result<(), Refusal> {
    let known = |hazard: &Hazard| match hazard {
        Hazard::SideEffect => advances,
        Hazard::Conditional => maybe::condition(subject, run, index).is_some(),
        hazard => is_pointer_index(subject, hazard),
    };
    let reason = match site.hazards.iter().find(|hazard| !known(hazard)) {
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
    matches!(hazard, Hazard::Index(name) if is_pointer(subject, name))
}

/// Whether a name is that of a pointer variable of the function.
fn is_pointer(subject: &Subject<'_>, name: &str) -> bool {
    match subject.flow.local(name) {
        Some(local) => !local.array,
        // A parameter is never an array, whatever its declaration looks like.
        None => subject.flow.is_parameter(name),
    }
}

/// Whether an `access_ok()` of the run is not among what is kept of it.
fn absorbs(subject: &Subject<'_>, run: &Run, rest: &Outside) -> bool {
    let kept = |part: &Span| subject.checks_range(*part);
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
        .map(|(index, site)| (site.span.start, access(subject, run, index)))
        .collect();
    for step in &run.steps {
        let line = match &step.kind {
            StepKind::Plain => verbatim_statement(subject, run, step)?,
            StepKind::Check { condition, exit } if !fault.answers.contains(&step.span) => {
                leave(subject, run, step, *condition, exit)?
            }
            _ => continue,
        };
        placed.push((step.span.start, line));
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
            if !fault.body.contains(comment) && !leaves(run, fault, comment) {
                return Err(subject.refuse(comment, Reason::Comment));
            }
            continue;
        }
        placed.push((comment.start, Line::Verbatim(subject.at(comment))));
    }
    placed.sort_by_key(|(start, _)| *start);
    Ok(placed.into_iter().map(|(_, line)| line).collect())
}

fn access(subject: &Subject<'_>, run: &Run, index: usize) -> Line {
    match maybe::condition(subject, run, index) {
        Some(condition) => Line::When {
            condition: subject.at(condition),
            zero: None,
            index,
        },
        None => Line::Access(index),
    }
}

/// A way out that is no fault's, behind an end of its own. Where results went to
/// a variable that something looks at, it is 0 there.
fn leave(
    subject: &Subject<'_>,
    run: &Run,
    step: &Step,
    condition: Span,
    exit: &Exit,
) -> Result<Line, Refusal> {
    stays(subject, condition)?;
    let mut lines = statements(subject, exit.span);
    for variable in carried::taken(run, step) {
        if subject.flow.names(condition, variable) {
            return Err(subject.refuse(condition, Reason::Statement));
        }
        if !subject.flow.is_dead_before(variable, exit.span.start) {
            lines.insert(0, format!("{variable} = 0;"));
        }
    }
    Ok(Line::Leave(subject.at(condition), lines))
}

/// Whether a comment stands in a way out that is kept as it is.
fn leaves(run: &Run, fault: &Fault, comment: Span) -> bool {
    run.steps.iter().any(|step| match &step.kind {
        StepKind::Check { exit, .. } => {
            exit.span.contains(comment) && !fault.answers.contains(&step.span)
        }
        _ => false,
    })
}

/// Whether code may stay inside the window: what indexes an array may call the
/// handler of a bounds checker.
pub(crate) fn stays(subject: &Subject<'_>, place: Span) -> Result<(), Refusal> {
    match subject.flow.index_in(place) {
        Some(array) => Err(subject.refuse(place, Reason::Index(subject.at(array)))),
        None => Ok(()),
    }
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

/// A statement may stay between the accesses if it leaves their object alone,
/// or moves it on by what was accessed.
fn verbatim_statement(subject: &Subject<'_>, run: &Run, step: &Step) -> Result<Line, Refusal> {
    stays(subject, step.span)?;
    let text = subject.at(step.span);
    let flow = subject.flow;
    let result = carried::taken(run, step).any(|variable| flow.names(step.span, variable));
    // A compiler copies a structure with a call of memcpy().
    let copies = |kind: &EffectKind| matches!(kind, EffectKind::Write(write) if write.copies);
    if result || flow.effects_in(step.span).any(|e| copies(&e.kind)) {
        return Err(subject.refuse(step.span, Reason::Gap));
    }
    let addresses = |name: &str| run.sites.iter().any(|site| flow.names(site.address, name));
    let mut named = flow.effects_in(step.span).map(|e| flow.name_of(e));
    let moves = named.any(addresses);
    if moves && offset::steps(subject, run).is_none() {
        return Err(subject.refuse(step.span, Reason::Gap));
    }
    Ok(Line::Verbatim(text))
}

/// Variables that took results must hold 0 behind the window, if they are read.
fn results(subject: &Subject<'_>, run: &Run, region: Span) -> Vec<String> {
    let left = |(step, variable): &(&Step, &str)| {
        let joined = matches!(&step.kind, StepKind::Assign { form, .. } if *form == Form::ErrOr);
        let kept = joined && carried::is_carried(subject, run, step, variable);
        !kept && !subject.flow.is_dead(variable, region)
    };
    let all = carried::first_results(run).into_iter().filter(left);
    all.map(|(_, variable)| variable.to_owned()).collect()
}

/// Whether an access stores, fills or reaches through the variable, which then
/// cannot hold -EFAULT meanwhile.
pub(crate) fn needs(subject: &Subject<'_>, run: &Run, variable: &str) -> bool {
    let plain = run.steps.iter().filter(|step| step.kind == StepKind::Plain);
    let places = run.sites.iter().flat_map(|site| [site.value, site.address]);
    places
        .chain(plain.map(|step| step.span))
        .any(|place| subject.flow.names(place, variable))
}

/// Whether `text` holds `name` as a word, or as a whole expression; a member of
/// that name is something else.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let front = text.get(..at).unwrap_or_default();
            let after = text.get(at + name.len()..).and_then(|s| s.chars().next());
            let member = front.ends_with('.') || front.ends_with("->");
            !member && !is_word(front.chars().next_back()) && !is_word(after)
        })
}
