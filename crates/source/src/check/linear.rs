//! Sizes that are a number of elements and some bytes more: `sizeof(*p) + n * sizeof(p->all[0])`.

use tollgate_defect::answer;

use crate::expression::{Expression, Term};

use super::context::FunctionContext;
use super::space;

/// So often a size may be a variable that takes another one.
const STEPS: usize = 3;

/// `number * each + more` bytes.
#[derive(Clone, Debug)]
pub(crate) struct Linear {
    pub(crate) number: Expression,
    pub(crate) each: u64,
    pub(crate) more: u64,
}

impl Linear {
    /// What a size is made of; none where it is a constant, or anything else.
    pub(crate) fn of(function: &FunctionContext<'_>, size: &Expression) -> Option<Self> {
        Self::within(function, size, STEPS)
    }

    /// A number of elements of so many bytes each.
    pub(crate) fn product(number: &Expression, each: u64) -> Self {
        let number = number.uncast().1.clone();
        Self {
            number,
            each,
            more: 0,
        }
    }

    fn within(function: &FunctionContext<'_>, size: &Expression, steps: usize) -> Option<Self> {
        let size = size.uncast().1;
        let left = steps.checked_sub(1)?;
        let own = |one: &Expression| Self::within(function, one, left);
        match &size.term {
            Term::Binary(one, operator, by) if operator == "<<" => {
                let bits = answer::fits(space::bytes(function, by.uncast().1)?)?;
                own(one)?.times(1_u64.checked_shl(bits)?)
            }
            Term::Binary(one, operator, other) => {
                let sides = [(one, other), (other, one)];
                let mut known = sides.into_iter().filter_map(|(one, other)| {
                    let bytes = space::bytes(function, other.uncast().1)?;
                    Some((own(one)?, bytes))
                });
                let (own, bytes) = known.next()?;
                match operator.as_str() {
                    "*" => own.times(bytes),
                    "+" => own.plus(bytes),
                    _ => None,
                }
            }
            Term::Name(name) => {
                let value = || function.expression(function.graph.only_value(name)?);
                let value = value().filter(|own| is_sum(own));
                let own = value.and_then(|value| own(&value));
                own.or_else(|| Some(Self::product(size, 1)))
            }
            Term::Member { .. } => Some(Self::product(size, 1)),
            Term::Call(..) => {
                let (name, given) = size.call()?;
                let at = function.file.words.elements(name)?;
                let [one, other] = given else { return None };
                let (number, each) = if at == 0 { (one, other) } else { (other, one) };
                own(number)?.times(space::bytes(function, each.uncast().1)?)
            }
            _ => None,
        }
    }

    /// So many times as much.
    pub(crate) fn times(self, by: u64) -> Option<Self> {
        let (each, more) = (self.each.checked_mul(by)?, self.more.checked_mul(by)?);
        Some(Self { each, more, ..self })
    }

    fn plus(self, bytes: u64) -> Option<Self> {
        let more = self.more.checked_add(bytes)?;
        Some(Self { more, ..self })
    }

    /// Whether it is more than another one of the same number, whatever that is but 0.
    pub(crate) fn is_more_than(&self, other: &Self) -> bool {
        let same = self.number == other.number;
        let (more, less) = (self.each > other.each, self.each < other.each);
        same && (more && self.more >= other.more || !less && self.more > other.more)
    }
}

/// Whether it is a sum or a product, or a call that makes one.
fn is_sum(value: &Expression) -> bool {
    let value = value.uncast().1;
    let made = matches!(&value.term, Term::Binary(_, operator, _) if matches!(operator.as_str(), "+" | "*" | "<<"));
    made || matches!(value.term, Term::Call(..))
}
