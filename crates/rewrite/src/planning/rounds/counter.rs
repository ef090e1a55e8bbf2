//! `for (i = 0; i < n; i++)`: what counts the rounds.

use tollgate_source::{EffectKind, Expression, Loop, Span, Term, Token};

use crate::planning::rounds::value::{constant, is_natural};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// What counts the rounds of a loop, one up in each.
pub(crate) struct Counter {
    /// The variable.
    pub(crate) name: String,
    /// What it begins with.
    pub(crate) first: u64,
    /// How that is written.
    pub(crate) written: String,
    /// What it is compared with.
    pub(crate) limit: Expression,
    /// Whether a round happens where it is equal to that.
    pub(crate) inclusive: bool,
    /// The pointers that the head of the loop moves on with it.
    pub(crate) along: Vec<String>,
}

/// The counter of a loop whose head says how many rounds there are.
pub(crate) fn of(subject: &Subject<'_>, own: &Loop) -> Result<Counter, Refusal> {
    read(subject, own).ok_or_else(|| subject.refuse(own.span, Reason::Rounds))
}

fn read(subject: &Subject<'_>, own: &Loop) -> Option<Counter> {
    let asked = subject.expression(own.condition?)?;
    let Term::Binary(left, operator, limit) = &asked.term else {
        return None;
    };
    let inclusive = match operator.as_str() {
        "<" => false,
        "<=" => true,
        // It comes to a limit that is not below where it begins.
        "!=" => false,
        _ => return None,
    };
    let name = left.name()?.to_owned();
    let (first, written) = begin(subject, own.begin?, &name)?;
    let passes = operator == "!=" && (first > 0 || !is_natural(subject, limit));
    if passes {
        return None;
    }
    let mut along = stepped(subject, own.update?)?;
    along.iter().position(|other| *other == name)?;
    along.retain(|other| *other != name);
    let counts = subject.flow.is_private(&name) && !is_set(subject, own.body, &name);
    (counts && holds_a_page(subject, &name)).then(|| Counter {
        name,
        first,
        written,
        limit: (**limit).clone(),
        inclusive,
        along,
    })
}

/// Whether something in a place gives a variable another value.
pub(super) fn is_set(subject: &Subject<'_>, place: Span, name: &str) -> bool {
    let flow = subject.flow;
    let mut effects = flow.effects_in(place);
    effects.any(|e| e.kind != EffectKind::Read && flow.is_whole(e) && flow.name_of(e) == name)
}

/// A variable of fewer than 16 bits may come round before a limit that is larger.
fn holds_a_page(subject: &Subject<'_>, name: &str) -> bool {
    let local = subject.flow.local(name).filter(|local| local.plain);
    let size = local.and_then(|local| subject.styled.types.scalar(&local.base_type));
    size.is_some_and(|bytes| bytes > 1)
}

/// `i = 0` or `int i = 0;`: the value, and how it is written.
fn begin(subject: &Subject<'_>, place: Span, name: &str) -> Option<(u64, String)> {
    let code: Vec<Token> = subject
        .tokens(place)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let sign = code.iter().position(|token| token.is(b'='))?;
    let left = code.get(sign.checked_sub(1)?)?;
    let rest = code.get(sign + 1..)?;
    let last = rest.iter().rposition(|token| !token.is(b';'))?;
    let value = rest.first()?.span.join(rest.get(last)?.span);
    let single = !rest.iter().any(|token| token.is(b','));
    let own = subject.at(left.span) == name && single;
    let text = subject.line(value);
    let number = constant(subject, &subject.expression(value)?)?;
    own.then_some((number, text))
}

/// The variables that `i++, p++` moves on, all by one.
fn stepped(subject: &Subject<'_>, place: Span) -> Option<Vec<String>> {
    let code: Vec<Token> = subject
        .tokens(place)
        .into_iter()
        .filter(Token::is_code)
        .collect();
    let parts = code.split(|token| token.is(b','));
    parts.map(|part| moved_on(subject, part)).collect()
}

/// `i` of `i++`, `++i`, `i += 1`.
fn moved_on(subject: &Subject<'_>, part: &[Token]) -> Option<String> {
    let place = part.first()?.span.join(part.last()?.span);
    is_step(subject, &subject.expression(place)?)
}

/// The variable that an expression moves on by one.
pub(super) fn is_step(subject: &Subject<'_>, own: &Expression) -> Option<String> {
    match &own.term {
        Term::Step(of) => {
            let up = subject.tokens(own.span).iter().any(|token| token.is(b'+'));
            of.name().filter(|_| up).map(str::to_owned)
        }
        Term::Assignment(left, operator, right) if operator == "+=" => {
            let one = matches!(&right.term, Term::Number(text) if text == "1");
            left.name().filter(|_| one).map(str::to_owned)
        }
        _ => None,
    }
}
