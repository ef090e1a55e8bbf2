//! How many rounds there are at most: a constant, or a variable that a test before the
//! loop or its own type bounds.

use tollgate_source::{Expression, Loop, Span, StatementKind, Term};

use crate::planning::rounds::counter::{Counter, is_set};
use crate::planning::rounds::value::{constant, narrow, scalar};
use crate::refusal::{Reason, Refusal};
use crate::subject::Subject;

/// The limit of a loop's counter.
pub(crate) struct Bound {
    /// As it is written.
    text: String,
    /// The variable that it is, if it is no constant.
    variable: Option<String>,
    /// Its largest value.
    most: u64,
    /// Whether it is surely larger than the first value of the counter.
    positive: bool,
    /// Whether it may be negative.
    signed: bool,
}

impl Bound {
    /// How many rounds there are at most.
    pub(crate) fn most_rounds(&self, counter: &Counter) -> u64 {
        let end = self.most.saturating_add(counter.inclusive.into());
        end.saturating_sub(counter.first)
    }

    /// Whether it is always the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.variable.is_none()
    }

    /// How many rounds there are, as C that can be multiplied.
    pub(crate) fn rounds(&self, counter: &Counter) -> String {
        let more = if counter.inclusive { " + 1" } else { "" };
        if self.variable.is_none() && tollgate_defect::answer::number::<u64>(&self.text).is_some() {
            return self.most_rounds(counter).to_string();
        }
        match (counter.first, more) {
            (0, "") => self.text.clone(),
            (0, more) => format!("({}{more})", self.text),
            (_, more) => format!("({}{more} - {})", self.text, counter.written),
        }
    }

    /// What has to be asked so that there is a round at all.
    pub(crate) fn asked(&self, counter: &Counter) -> Option<String> {
        let Self { text, signed, .. } = self;
        match (self.positive, counter.first, counter.inclusive) {
            (true, ..) => None,
            (false, 0, false) if !signed => Some(text.clone()),
            (false, _, inclusive) => {
                let than = if inclusive { ">=" } else { ">" };
                Some(format!("{text} {than} {}", counter.written))
            }
        }
    }
}

/// The limit, if the rounds are bounded.
pub(crate) fn of(subject: &Subject<'_>, own: &Loop, counter: &Counter) -> Result<Bound, Refusal> {
    let limit = &counter.limit;
    let text = subject.line(limit.span);
    if let Some(most) = constant(subject, limit) {
        return Ok(Bound {
            positive: most.saturating_add(counter.inclusive.into()) > counter.first,
            text,
            most,
            variable: None,
            signed: false,
        });
    }
    let unknown = || subject.refuse(own.span, Reason::Unbounded(text.clone()));
    let name = limit.name().ok_or_else(unknown)?;
    let flow = subject.flow;
    if !flow.is_private(name) || is_set(subject, own.span, name) {
        return Err(subject.refuse(own.span, Reason::Moving(text)));
    }
    let of = scalar(subject, name).ok_or_else(unknown)?;
    let unsigned = subject.styled.types.is_unsigned(&of);
    let facts = Facts::of(subject, own, name, unsigned);
    let most = facts
        .most
        .or_else(|| narrow(subject, &of))
        .ok_or_else(unknown)?;
    Ok(Bound {
        text: text.clone(),
        variable: Some(name.to_owned()),
        most,
        positive: facts.positive && counter.first == 0,
        signed: !unsigned,
    })
}

/// What tests before the loop say of a variable that nothing sets in between.
#[derive(Default)]
struct Facts {
    most: Option<u64>,
    positive: bool,
}

impl Facts {
    fn of(subject: &Subject<'_>, own: &Loop, name: &str, unsigned: bool) -> Self {
        let flow = subject.flow;
        let mut facts = Self::default();
        for asked in flow.statements_in(subject.function.body) {
            let Some(condition) = asked.expression.filter(|_| asked.kind == StatementKind::If)
            else {
                continue;
            };
            let Some(condition) = subject.expression(condition) else {
                continue;
            };
            if leaves_before(subject, own, asked.span, name) {
                for operand in condition.joined("||") {
                    facts.note(subject, operand, name, unsigned);
                }
            }
        }
        facts
    }

    /// What holds where this did not.
    fn note(&mut self, subject: &Subject<'_>, own: &Expression, name: &str, unsigned: bool) {
        match &own.term {
            Term::Unary(operator, inner) if operator == "!" => {
                self.positive |= unsigned && inner.name() == Some(name);
            }
            Term::Binary(left, operator, right) => {
                let (side, limit, operator) = match (left.name(), right.name()) {
                    (Some(own), _) if own == name => (true, right, operator.as_str()),
                    (_, Some(own)) if own == name => (true, left, turned(operator)),
                    _ => (false, right, ""),
                };
                if let Some(limit) = constant(subject, limit).filter(|_| side) {
                    self.compared(operator, limit, unsigned);
                }
            }
            _ => {}
        }
    }

    fn compared(&mut self, operator: &str, limit: u64, unsigned: bool) {
        let most = match operator {
            ">" => Some(limit),
            ">=" => limit.checked_sub(1),
            _ => None,
        };
        self.most = [self.most, most].into_iter().flatten().min();
        self.positive |= match (operator, limit) {
            ("<", limit) => limit > 0,
            ("<=", _) => true,
            ("==", 0) => unsigned,
            _ => false,
        };
    }
}

/// `n > 3` for `3 < n`.
fn turned(operator: &str) -> &str {
    match operator {
        "<" => ">",
        "<=" => ">=",
        ">" => "<",
        ">=" => "<=",
        other => other,
    }
}

/// Whether an `if` stands on every way to the loop, leaves where it holds, and nothing
/// sets the variable from there on.
fn leaves_before(subject: &Subject<'_>, own: &Loop, asked: Span, name: &str) -> bool {
    let flow = subject.flow;
    let Some(statement) = flow
        .statement(asked)
        .filter(|_| asked.end <= own.span.start)
    else {
        return false;
    };
    let Some(holder) = flow.holder(statement) else {
        return false;
    };
    let mut inside = flow.inside(asked);
    let leaves = inside.next().is_some_and(|then| flow.leaves(then)) && inside.next().is_none();
    let mut later = flow.inside(holder.span);
    let behind = later.find(|later| later.span.contains(own.span));
    let Some(behind) = behind.filter(|_| holder.kind == StatementKind::Block) else {
        return false;
    };
    let between = Span::new(asked.end, behind.span.end);
    let entered = flow.labels.iter().any(|(_, at)| between.contains(*at));
    leaves && !entered && !is_set(subject, between, name)
}
