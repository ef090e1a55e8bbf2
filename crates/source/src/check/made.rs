//! Where a function of the file has a user's address from.

use crate::expression::{Expression, Term};
use crate::types::Shape;

use super::context::FunctionContext;
use super::space;

/// Where the kernel keeps a program's registers (arch/*/include/asm/ptrace.h).
const REGISTERS: &str = "struct pt_regs";

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
    let values: Option<Vec<Expression>> = values.collect();
    let own = |value: &Expression| (!value.is_null()).then(|| source(function, value));
    let all: Option<Vec<Made>> = values?.iter().filter_map(own).collect();
    all?.into_iter().next()
}

fn source(function: &FunctionContext<'_>, value: &Expression) -> Option<Made> {
    let (_, inner) = value.uncast();
    match &inner.term {
        Term::Name(name) => Some(Made::Of(name.clone())),
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
                _ => None,
            }
        }
    }
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
