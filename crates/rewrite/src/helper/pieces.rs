//! The statements of a function that access user memory, each of which becomes unsafe
//! accesses, and those that only kept or asked whether one had faulted, which go.

use std::collections::BTreeSet;

use tollgate_source::{Direction, Expression, Span, Statement, StatementKind, Term, TokenKind};

use crate::helper::open::is_fault;
use crate::planning::declared::{numbered, path_to, plain_pointee, pointee};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// One access.
pub(super) struct Own {
    pub(super) direction: Direction,
    pub(super) value: Span,
    pub(super) address: Span,
    name: String,
    checks: bool,
}

/// A statement with accesses.
pub(super) struct Piece {
    pub(super) span: Span,
    pub(super) accesses: Vec<Own>,
    /// Whether it returns that nothing faulted.
    pub(super) returns: bool,
}

/// All of a function.
pub(super) struct Pieces {
    pub(super) all: Vec<Piece>,
    /// What goes with its line.
    pub(super) gone: Vec<Span>,
    /// What becomes 0.
    pub(super) zeros: Vec<Span>,
    /// What is 0 all the time, and is returned.
    kept: Vec<Span>,
    /// The parameter that all addresses are made from.
    pub(super) pointer: String,
    /// Whether later accesses used to happen after a fault.
    pub(super) stops: bool,
    /// Whether somebody sees what a read fills, after a fault, too.
    pub(super) keeps: bool,
}

/// What was found on the way.
#[derive(Default)]
struct Found {
    all: Vec<Piece>,
    /// The variable that keeps whether one faulted.
    kept: BTreeSet<String>,
    /// Statements that ask for nothing else, or make it 0.
    gone: Vec<Span>,
    /// Where it is returned.
    returned: Vec<Span>,
    /// Checks of a range, each with its condition.
    checked: Vec<(Span, Expression)>,
    /// Whether a result was kept that nothing has asked for yet.
    pending: bool,
    stops: bool,
    keeps: bool,
}

impl Pieces {
    /// Those of the subject's function.
    ///
    /// # Errors
    /// When an access has no form, or user memory is read.
    pub(super) fn of(subject: &Subject<'_>) -> Result<Self, Refusal> {
        let body = subject.function.body;
        let mut found = Found::default();
        for own in subject.flow.statements_in(body) {
            found.take(subject, own)?;
        }
        let count: usize = found.all.iter().map(|piece| piece.accesses.len()).sum();
        if count != subject.function.accesses || count == 0 {
            return Err(subject.refuse(found.left(subject), Reason::Statement));
        }
        let pointer = found.pointer(subject)?;
        found.ranges(subject, &pointer)?;
        if found.stops && !subject.stop_at_first_fault {
            return Err(subject.refuse(body, Reason::GoesOn));
        }
        found.whole(subject, pointer)
    }

    /// How many accesses there are.
    pub(super) fn accesses(&self) -> usize {
        self.all.iter().map(|piece| piece.accesses.len()).sum()
    }

    /// What they are made with.
    pub(super) fn calls(&self) -> BTreeSet<String> {
        let own = self.all.iter().flat_map(|piece| &piece.accesses);
        own.map(|own| own.name.clone()).collect()
    }

    /// Whether some of them stand under a condition or in a loop.
    pub(super) fn some(&self, subject: &Subject<'_>) -> bool {
        let mut top = subject.flow.inside(subject.function.body);
        let at_top = |piece: &Piece| top.any(|own| own.span == piece.span);
        !self.all.iter().all(at_top)
    }

    /// Which way they go.
    pub(super) fn direction(&self) -> Direction {
        let mut own = self.all.iter().flat_map(|piece| &piece.accesses);
        own.next().map_or(Direction::Write, |own| own.direction)
    }

    /// Whether each checks its own range.
    pub(super) fn all_check(&self) -> bool {
        let mut own = self.all.iter().flat_map(|piece| &piece.accesses);
        own.all(|own| own.checks)
    }

    /// Whether a statement is one of them, or goes.
    pub(super) fn takes(&self, place: Span) -> bool {
        self.spans().any(|own| own.contains(place))
    }

    /// Whether what is returned there is 0 then.
    pub(super) fn gives_zero(&self, value: Span) -> bool {
        self.zeros.contains(&value) || self.kept.contains(&value)
    }

    /// The places that change, in order.
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> {
        let own = self.all.iter().map(|piece| piece.span);
        let mut all: Vec<Span> = own.chain(self.gone.iter().copied()).collect();
        all.sort_unstable();
        all.into_iter()
    }
}

impl Found {
    /// What a statement is of that.
    fn take(&mut self, subject: &Subject<'_>, own: &Statement) -> Result<(), Refusal> {
        let taken = |piece: &Piece| piece.span.contains(own.span);
        if self.all.iter().any(taken) || self.gone.iter().any(|gone| gone.contains(own.span)) {
            return Ok(());
        }
        let Some(asked) = own.expression.and_then(|at| subject.expression(at)) else {
            return Ok(());
        };
        match own.kind {
            StatementKind::Expression => self.expression(subject, own, &asked),
            StatementKind::If => self.condition(subject, own, asked),
            StatementKind::Return => self.returned(subject, own, &asked),
            _ => Ok(()),
        }
    }

    /// `err |= access | access;`, `err = access;`, `err = 0;`
    fn expression(
        &mut self,
        subject: &Subject<'_>,
        own: &Statement,
        asked: &Expression,
    ) -> Result<(), Refusal> {
        let Term::Assignment(left, operator, right) = &asked.term else {
            return Ok(());
        };
        let Some(name) = left.name() else {
            return Ok(());
        };
        if right.is_zero() && self.kept.contains(name) {
            self.gone.push(own.span);
            return Ok(());
        }
        let Some(accesses) = accesses(subject, right, "|")? else {
            return Ok(());
        };
        let asked_behind = self.is_asked_behind(subject, own, name);
        let first = self.all.is_empty() && is_at_top(subject, own);
        let sets = operator == "=" && !self.pending && (first || asked_behind);
        if operator != "|=" && !sets {
            return Err(subject.refuse(own.span, Reason::Statement));
        }
        self.stops |= accesses.len() > 1 || !asked_behind;
        self.pending = !asked_behind;
        self.kept.insert(name.to_owned());
        self.push(subject, own, accesses, false)
    }

    /// Whether the next statement leaves if it faulted.
    fn is_asked_behind(&self, subject: &Subject<'_>, own: &Statement, name: &str) -> bool {
        let next = subject.flow.next(own.span);
        let next = next.filter(|next| subject.flow.holder(next) == subject.flow.holder(own));
        next.is_some_and(|next| match next.kind {
            StatementKind::If => is_test(subject, next, name),
            StatementKind::Return => {
                let value = next.expression.and_then(|at| subject.expression(at));
                value.is_some_and(|value| value.name() == Some(name))
            }
            _ => false,
        })
    }

    /// `if (access || access) return -EFAULT;`, `if (err) return err;`
    fn condition(
        &mut self,
        subject: &Subject<'_>,
        own: &Statement,
        asked: Expression,
    ) -> Result<(), Refusal> {
        if let Some(name) = asked.name().filter(|name| self.kept.contains(*name)) {
            return match is_test(subject, own, name) {
                true => {
                    self.pending = false;
                    self.gone.push(own.span);
                    Ok(())
                }
                false => Err(subject.refuse(own.span, Reason::Exits)),
            };
        }
        let inner = match &asked.term {
            Term::Unary(not, inner) if not == "!" => inner.call(),
            _ => None,
        };
        if inner.is_some_and(|(name, _)| subject.vocabulary.checks_range(name.as_bytes())) {
            self.gone.push(own.span);
            self.checked.push((own.span, asked));
            return match exit(subject, own) {
                true => Ok(()),
                false => Err(subject.refuse(own.span, Reason::Exits)),
            };
        }
        let both = accesses(subject, &asked, "||")?;
        let each = match both {
            Some(found) => Some((found, false)),
            None => accesses(subject, &asked, "|")?.map(|found| (found, true)),
        };
        let Some((accesses, goes_on)) = each else {
            return Ok(());
        };
        if !exit(subject, own) {
            return Err(subject.refuse(own.span, Reason::Exits));
        }
        self.stops |= goes_on && accesses.len() > 1;
        self.push(subject, own, accesses, false)
    }

    /// `return access;`, `return err;`
    fn returned(
        &mut self,
        subject: &Subject<'_>,
        own: &Statement,
        asked: &Expression,
    ) -> Result<(), Refusal> {
        if asked.name().is_some_and(|name| self.kept.contains(name)) {
            self.returned.push(asked.span);
            return Ok(());
        }
        match accesses(subject, asked, "|")? {
            Some(accesses) => {
                self.stops |= accesses.len() > 1;
                self.push(subject, own, accesses, true)
            }
            None => Ok(()),
        }
    }

    fn push(
        &mut self,
        subject: &Subject<'_>,
        own: &Statement,
        accesses: Vec<Own>,
        returns: bool,
    ) -> Result<(), Refusal> {
        if !subject.comments(own.span).is_empty() {
            return Err(subject.refuse(own.span, Reason::Comment));
        }
        let lines = accesses.len() + usize::from(returns);
        if lines > 1 && !is_in_block(subject, own) {
            return Err(subject.refuse(own.span, Reason::Arm));
        }
        let mut all = self
            .all
            .iter()
            .flat_map(|piece| &piece.accesses)
            .chain(&accesses);
        let first = all.next().map(|own| own.direction);
        if all.any(|own| Some(own.direction) != first) {
            return Err(subject.refuse(own.span, Reason::HelperBothWays));
        }
        self.all.push(Piece {
            span: own.span,
            accesses,
            returns,
        });
        Ok(())
    }

    /// The first statement with an access that has no form; all of the function where none
    /// shows one.
    fn left(&self, subject: &Subject<'_>) -> Span {
        let accesses = |own: &Expression| {
            let call = own.call();
            call.is_some_and(|(name, _)| subject.vocabulary.access(name.as_bytes()).is_some())
        };
        let left = |own: &&Statement| {
            let whole = own.expression.and_then(|at| subject.expression(at));
            let taken = self.all.iter().any(|piece| piece.span.contains(own.span));
            !taken && whole.is_some_and(|whole| whole.any(&accesses))
        };
        let body = subject.function.body;
        let found = subject.flow.statements_in(body).find(left);
        found.map_or(body, |own| own.span)
    }

    /// The variable that all addresses are made from.
    fn pointer(&self, subject: &Subject<'_>) -> Result<String, Refusal> {
        let mut names = BTreeSet::new();
        for own in self.all.iter().flat_map(|piece| &piece.accesses) {
            let address = address(subject, own.address);
            let name = address.and_then(|own| own.root().name().map(str::to_owned));
            let range = || Reason::Range(subject.line(own.address));
            names.insert(name.ok_or_else(|| subject.refuse(own.address, range()))?);
        }
        let mut all = names.iter();
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one.clone()),
            _ => {
                let all: Vec<String> = names.into_iter().collect();
                Err(subject.refuse(subject.function.body, Reason::Objects(all.join(", "))))
            }
        }
    }

    /// Every access lies in what the pointer points to, and its arguments may stand in a window.
    fn ranges(&mut self, subject: &Subject<'_>, pointer: &str) -> Result<(), Refusal> {
        let all = std::mem::take(&mut self.all);
        for own in all.iter().flat_map(|piece| &piece.accesses) {
            if !lies_within(subject, own, pointer) {
                let address = subject.line(own.address);
                return Err(subject.refuse(own.address, Reason::Range(address)));
            }
            match own.direction {
                Direction::Write => may_stand(subject, own.value)?,
                Direction::Read => self.keeps |= may_be_filled(subject, own.value)?,
            }
            may_stand(subject, own.address)?;
        }
        self.all = all;
        let whole = format!("sizeof(*{pointer})");
        for (place, asked) in &self.checked {
            let inner = match &asked.term {
                Term::Unary(_, inner) => inner,
                _ => asked,
            };
            if subject.checks(inner, pointer, &whole) != Some(true) {
                return Err(subject.refuse(*place, Reason::AccessOk(format!("*{pointer}"))));
            }
        }
        Ok(())
    }

    /// What becomes of the variable that kept a fault.
    fn whole(mut self, subject: &Subject<'_>, pointer: String) -> Result<Pieces, Refusal> {
        let (mut zeros, mut kept) = (Vec::new(), Vec::new());
        let mut names = self.kept.iter();
        let (first, more) = (names.next().cloned(), names.next().cloned());
        if let Some(more) = more {
            return Err(subject.refuse(subject.function.body, Reason::ResultUsed(more)));
        }
        if let Some(name) = first {
            self.only(subject, &name)?;
            match self.declaration(subject, &name)? {
                Some(place) => {
                    self.gone.push(place);
                    zeros.append(&mut self.returned);
                }
                // It is 0 all the time.
                None => kept.append(&mut self.returned),
            }
        }
        let gone = self.gone.iter().map(|place| line_of(subject, *place));
        let gone = gone.collect::<Option<Vec<_>>>();
        let gone = gone.ok_or_else(|| subject.refuse(subject.function.body, Reason::Statement))?;
        Ok(Pieces {
            all: self.all,
            gone,
            zeros,
            kept,
            pointer,
            stops: self.stops,
            keeps: self.keeps,
        })
    }

    /// The declaration of the variable alone, which goes; none where it is declared with others.
    ///
    /// # Errors
    /// When it is not 0 from the beginning, and stays.
    fn declaration(&self, subject: &Subject<'_>, name: &str) -> Result<Option<Span>, Refusal> {
        let refuse = |place| subject.refuse(place, Reason::Carried(name.to_owned()));
        let local = subject
            .flow
            .local(name)
            .filter(|own| own.plain && !own.lasting);
        let local = local.ok_or_else(|| refuse(subject.function.body))?;
        let mut all = subject.flow.statements_in(subject.function.body);
        let own = all.find(|own| {
            own.kind == StatementKind::Declaration && own.span.contains(local.declared)
        });
        let own = own.ok_or_else(|| refuse(local.declared))?;
        let words = subject.tokens(own.span).into_iter();
        let words: Vec<String> = words.map(|token| subject.at(token.span)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_zero = |part: &[&str]| match part {
            [own, "=", "0", behind] => *own == name && [",", ";"].contains(behind),
            _ => false,
        };
        match words.as_slice() {
            [_, alone, ";"] | [_, alone, "=", "0", ";"] if *alone == name => Ok(Some(own.span)),
            // It is 0 all the time, since nothing else gives it a value.
            words if words.windows(4).any(is_zero) => Ok(None),
            _ => Err(refuse(own.span)),
        }
    }

    /// Nothing else looks at the variable.
    fn only(&self, subject: &Subject<'_>, name: &str) -> Result<(), Refusal> {
        let declared = subject.flow.local(name).map(|own| own.declared);
        let known = |place: Span| {
            let own = self.all.iter().any(|piece| piece.span.contains(place));
            let gone = self.gone.iter().any(|gone| gone.contains(place));
            let returned = self.returned.contains(&place);
            own || gone || returned || declared.is_some_and(|own| own.contains(place))
        };
        let body = subject.tokens(subject.function.body).into_iter();
        let mut own = body.filter(|token| {
            token.kind == TokenKind::Word && token.span.of(subject.text) == name.as_bytes()
        });
        match own.find(|token| !known(token.span)) {
            Some(other) => Err(subject.refuse(other.span, Reason::ResultUsed(name.to_owned()))),
            None => Ok(()),
        }
    }
}

/// The accesses that the operator joins; none where something else is among them.
///
/// # Errors
/// When a macro around an access is among them.
fn accesses(
    subject: &Subject<'_>,
    whole: &Expression,
    by: &str,
) -> Result<Option<Vec<Own>>, Refusal> {
    let mut found = Vec::new();
    for own in whole.joined(by) {
        let call = own.call();
        let known = call.and_then(|(name, _)| subject.vocabulary.access(name.as_bytes()));
        let (Some((name, arguments)), Some(known)) = (call, known) else {
            return Ok(None);
        };
        if known.wrapper {
            return Err(subject.refuse(own.span, Reason::Wrapped(name.to_owned())));
        }
        let at = |index: usize| arguments.get(index).map(|argument| argument.span);
        let Some((value, address)) = at(known.value).zip(known.address.and_then(at)) else {
            return Ok(None);
        };
        found.push(Own {
            direction: known.direction,
            value,
            address,
            name: name.to_owned(),
            checks: known.range_check,
        });
    }
    Ok(Some(found))
}

/// Whether an `if` only returns -EFAULT.
fn exit(subject: &Subject<'_>, own: &Statement) -> bool {
    let value = returned(subject, own);
    value.is_some_and(|value| is_fault(&value))
}

/// Whether an `if` that asks for a variable only returns it, or -EFAULT.
fn is_test(subject: &Subject<'_>, own: &Statement, name: &str) -> bool {
    let asked = own.expression.and_then(|at| subject.expression(at));
    let asks = asked.is_some_and(|asked| asked.name() == Some(name));
    let value = returned(subject, own).filter(|_| asks);
    value.is_some_and(|value| value.name() == Some(name) || is_fault(&value))
}

/// What an `if` without `else` returns, if it does nothing else.
fn returned(subject: &Subject<'_>, own: &Statement) -> Option<Expression> {
    let [mut only] = subject.flow.inside(own.span).collect::<Vec<_>>()[..] else {
        return None;
    };
    if only.kind == StatementKind::Block {
        let [inner] = subject.flow.inside(only.span).collect::<Vec<_>>()[..] else {
            return None;
        };
        only = inner;
    }
    let returns = only.kind == StatementKind::Return;
    subject.expression(only.expression.filter(|_| returns)?)
}

/// Whether a statement stands right in the function's braces.
fn is_at_top(subject: &Subject<'_>, own: &Statement) -> bool {
    let mut top = subject.flow.inside(subject.function.body);
    top.any(|other| other.span == own.span)
}

/// Whether a statement may become several.
fn is_in_block(subject: &Subject<'_>, own: &Statement) -> bool {
    let holder = subject.flow.holder(own).map(|holder| holder.kind);
    is_at_top(subject, own) || matches!(holder, Some(StatementKind::Block | StatementKind::Case))
}

/// The address of an access, made from what a local pointer has the value of from its
/// declaration on.
fn address(subject: &Subject<'_>, place: Span) -> Option<Expression> {
    let own = subject.expression(place)?;
    let root = own.root();
    let name = root.name()?;
    let local = subject.flow.local(name);
    let Some(local) = local.filter(|local| local.initialised && !local.lasting) else {
        return Some(own);
    };
    let value = subject.flow.only_value(name).map(|at| subject.at(at));
    let front = subject.at(Span::new(place.start, root.span.start));
    let behind = subject.at(Span::new(root.span.end, place.end));
    let whole = value.map(|value| format!("{front}({value}){behind}"));
    let whole = whole.filter(|_| local.declared.end <= place.start);
    whole.map_or(Some(own), |whole| subject.written(&whole))
}

/// Whether an access is to a member of the object, or to all of it: an index is a constant
/// of an array that has so many, but where a check elsewhere had to cover it until now.
fn lies_within(subject: &Subject<'_>, own: &Own, pointer: &str) -> bool {
    let address = address(subject, own.address);
    let Some((address, object)) = address.zip(subject.written(pointer)) else {
        return false;
    };
    if address == object || is_cast_within(subject, &address, &object, pointer) {
        return true;
    }
    let Some(path) = path_to(&address, &object) else {
        return false;
    };
    if path.iter().all(|step| step.index.is_none()) || !own.checks {
        return true;
    }
    let of = pointee(subject, pointer);
    let of = of.map(|name| subject.styled.types.outline(&name));
    matches!(of, Some(Ok(of)) if of.at(&numbered(subject, &path)).is_ok())
}

/// Whether an address is that of the object as another type, which is no larger.
fn is_cast_within(
    subject: &Subject<'_>,
    address: &Expression,
    object: &Expression,
    pointer: &str,
) -> bool {
    let Term::Cast(to, inner) = &address.term else {
        return false;
    };
    let size = |of: &str| match subject.styled.types.layout(of) {
        Ok(of) => Some(of.size),
        Err(_) => subject.styled.types.scalar(of),
    };
    let whole = plain_pointee(subject, pointer).and_then(|of| size(&of));
    let part = size(&to.base).filter(|_| to.pointers == 1);
    let fits = part.zip(whole).is_some_and(|(part, whole)| part <= whole);
    **inner == *object && fits
}

/// The first name that is called in an expression.
fn called(own: &Expression) -> Option<String> {
    let found = std::cell::OnceCell::new();
    own.any(&|part| match part.call() {
        Some((name, _)) => found.set(name.to_owned()).is_ok(),
        None => false,
    });
    found.into_inner()
}

/// Whether somebody sees what a read fills in a window that is left at a fault: what only the
/// function sees is gone then; elsewhere `get_user()` had made it zero.
///
/// # Errors
/// When that is not allowed, or the place may not be filled in a window.
fn may_be_filled(subject: &Subject<'_>, place: Span) -> Result<bool, Refusal> {
    if !subject.calls.none_in(subject.flow, place) {
        return Err(subject.refuse(place, Reason::Call(subject.line(place))));
    }
    let flow = subject.flow;
    let own = flow.filled(place).is_some_and(|filled| {
        let local = flow.local(flow.name_of(filled));
        local.is_some_and(|local| !local.lasting) && !flow.is_behind(filled)
    });
    if !own && !subject.no_zero_on_fault {
        let variable = subject.line(place);
        return Err(subject.refuse(place, Reason::ReadAfterFault(variable)));
    }
    subject.stays(place).map(|()| !own)
}

/// Whether an argument may be evaluated in a window.
pub(super) fn may_stand(subject: &Subject<'_>, place: Span) -> Result<(), Refusal> {
    let own = subject.expression(place);
    let acts = own.as_ref().is_none_or(|own| {
        own.any(&|part| matches!(part.term, Term::Assignment(..) | Term::Step(_)))
    });
    if acts {
        return Err(subject.refuse(place, Reason::SideEffect));
    }
    if !subject.calls.none_in(subject.flow, place) {
        let name = own.as_ref().and_then(called);
        return Err(subject.refuse(
            place,
            Reason::Call(name.unwrap_or_else(|| subject.line(place))),
        ));
    }
    subject.stays(place)
}

/// All of a statement with its line, and an empty line before it where another is behind it;
/// none where the line holds something else.
fn line_of(subject: &Subject<'_>, place: Span) -> Option<Span> {
    let text = subject.text;
    let start = subject.line_start(place.start);
    let front = text.get(start..place.start)?;
    let behind = text.get(place.end..)?;
    let end = place.end + behind.iter().position(|byte| *byte == b'\n')? + 1;
    let rest = text.get(place.end..end)?;
    let alone = front.trim_ascii().is_empty() && rest.trim_ascii().is_empty();
    let first = text.get(..start)?.ends_with(b"{\n");
    let apart = first || text.get(..start)?.ends_with(b"\n\n");
    let blank = text.get(end..)?.starts_with(b"\n") && apart;
    alone.then(|| Span::new(start, end + usize::from(blank)))
}
