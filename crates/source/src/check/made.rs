//! Where a function of the file has a user's address from.

use std::rc::Rc;

use crate::expression::{Expression, Term};
use crate::flow::{Action, StatementKind};
use crate::types::Shape;

use super::callee::look_into_first_side;
use super::context::FunctionContext;
use super::space;

/// Where the kernel keeps a program's registers (arch/*/include/asm/ptrace.h).
const REGISTERS: &str = "struct pt_regs";

/// So many variables are followed, one from the other.
const STEPS: usize = 3;

/// What a pointer of a function is made of.
pub(crate) enum Made {
    /// Another variable of the function.
    Of(String),
    /// A number that is no variable of the function.
    Here {
        /// In words.
        what: String,
        /// The variable that the number lies in, or behind.
        base: Option<String>,
    },
}

/// What a variable that is no parameter is made of wherever it is given a value; none where
/// one of these is not known, or is what somebody else may have checked.
pub(crate) fn made(function: &FunctionContext<'_>, name: &str) -> Option<Made> {
    let local = function
        .graph
        .local(name)
        .filter(|own| !own.array && !own.lasting)?;
    let values = function
        .graph
        .assignments()
        .filter(|(own, _)| *own == local.name);
    let values = values.map(|(_, place)| function.expression(place));
    let values: Option<Vec<Rc<Expression>>> = values.collect();
    let own = |value: &Rc<Expression>| (!value.is_null()).then(|| source(function, value));
    let all: Option<Vec<Made>> = values?.iter().filter_map(own).collect();
    all?.into_iter().next()
}

fn source(function: &FunctionContext<'_>, value: &Expression) -> Option<Made> {
    let (_, inner) = value.uncast();
    match &inner.term {
        Term::Name(name) => Some(Made::Of(name.clone())),
        // A frame in front of, or behind, the one that a register leads to.
        Term::Binary(left, sign, step) if is_step(sign, step) => source(function, left),
        Term::Member { .. } | Term::Element { .. } if matches!(value.term, Term::Cast(..)) => {
            // Who has put a pointer there may have checked it.
            let of = space::type_of(function, inner)?;
            let number = matches!(of.shape, Shape::Scalar { .. });
            (number && !is_fetched(function, value, inner)).then(|| here(function, inner))
        }
        _ => {
            let (name, given) = inner.call()?;
            match given.first().map(|own| own.uncast().1) {
                Some(number) if function.file.words.addresses_any(name) => {
                    Some(match number.name() {
                        Some(name) => Made::Of(name.to_owned()),
                        None => here(function, number),
                    })
                }
                _ => look_into_first_side(function, name, given_of_number).map(|()| Made::Here {
                    what: format!("what {name}() gives"),
                    base: None,
                }),
            }
        }
    }
}

/// Whether a function makes of a number what it gives, wherever it gives an address, and checks
/// no range.
fn given_of_number(function: &FunctionContext<'_>) -> Option<()> {
    let statements = function.graph.statements.iter();
    let returns = statements.filter(|own| own.kind == StatementKind::Return);
    let given: Option<Vec<Rc<Expression>>> = returns
        .map(|own| function.expression(own.expression?))
        .collect();
    // Some give an address at which nothing can be where the frame has no room.
    let given = given?.into_iter().filter(|own| !is_nowhere(own));
    let mut given = given.peekable();
    given.peek()?;
    let made = given.all(|own| is_of_number(function, &own, STEPS));
    (made && !checks_ranges(function)).then_some(())
}

/// Whether a sum moves an address on, by a number alone.
fn is_step(sign: &str, step: &Expression) -> bool {
    matches!(sign, "+" | "-") && matches!(step.term, Term::Number(_))
}

/// Whether an address is a number that is written out: `NULL`, `(void __user *)(-1UL)`.
fn is_nowhere(own: &Expression) -> bool {
    let inner = own.uncast().1;
    let of = match &inner.term {
        Term::Unary(_, of) => of.uncast().1,
        _ => inner,
    };
    inner.is_null() || matches!(of.term, Term::Number(_))
}

/// Whether an address is made of a number: `(void __user *)(sp - size)`, or a variable that takes
/// such alone.
fn is_of_number(function: &FunctionContext<'_>, own: &Expression, steps: usize) -> bool {
    match &own.term {
        Term::Cast(to, number) if to.pointers > 0 => {
            let computed = matches!(number.uncast().1.term, Term::Binary(..) | Term::Name(_));
            // What the kernel keeps has been looked at when it was put there.
            let address = number.any(&|part| {
                let kept = matches!(part.term, Term::Member { arrow: true, .. });
                kept || space::is_users(function, part)
            });
            computed && !address && number.call().is_none()
        }
        Term::Name(name) if steps > 0 && function.graph.local(name).is_some() => {
            let values = function.graph.assignments();
            let values = values.filter(|(own, _)| own == name);
            let mut values = values
                .map(|(_, place)| function.expression(place))
                .peekable();
            let taken = values.peek().is_some();
            taken
                && values.all(|value| {
                    value.is_some_and(|value| is_of_number(function, &value, steps - 1))
                })
        }
        _ => false,
    }
}

/// Whether a function checks a range, or opens a window, which does.
pub(crate) fn checks_ranges(function: &FunctionContext<'_>) -> bool {
    let words = function.file.words;
    let mut nodes = function.graph.nodes.iter();
    let mut calls = function.calls.iter();
    nodes.any(|own| matches!(own.action, Action::Begin(_)))
        || calls.any(|own| words.checks_range(function.called(*own)))
}

fn here(function: &FunctionContext<'_>, number: &Expression) -> Made {
    Made::Here {
        what: function.file.plain(number.span),
        base: number.root().name().map(str::to_owned),
    }
}

/// Whether a register is taken for the address of a number, and not of a frame: that of the
/// instruction, from where the processor has fetched it for the program, is such a one.
fn is_fetched(function: &FunctionContext<'_>, cast: &Expression, register: &Expression) -> bool {
    let Term::Cast(to, _) = &cast.term else {
        return false;
    };
    let base = space::followed(register).and_then(|base| space::type_of(function, base));
    let saved = base.is_some_and(|own| match own.shape {
        Shape::Pointer { to, .. } => to == REGISTERS,
        _ => false,
    });
    let frame = || {
        let of = function.file.layout(&to.base);
        of.is_some_and(|own| matches!(own.shape, Shape::Struct(_)))
    };
    saved && !frame()
}
