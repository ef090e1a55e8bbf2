//! Variables of which the code asks whether they are negative, and which cannot be.

use crate::expression::{Expression, Term};
use crate::span::Span;
use crate::types::Shape;

use super::context::FunctionContext;
use super::known::Told;
use super::space;

/// An error number that is lost in a variable without a sign.
pub(crate) struct Lost {
    /// The call that gives it.
    pub(crate) name: String,
    /// Whether that is known to give one where it faults; any other may, since it is asked.
    pub(crate) faults: bool,
    /// Where the variable takes it.
    pub(crate) taken: Span,
    /// The test that never holds, or always does.
    pub(crate) test: Span,
    /// The variable.
    pub(crate) variable: String,
}

/// What the function asks for less than 0 of variables without a sign that take what a call
/// gives.
pub(crate) fn lost(function: &FunctionContext<'_>) -> Vec<Lost> {
    let tests = function.graph.comparisons.iter();
    tests.filter_map(|test| of_test(function, *test)).collect()
}

fn of_test(function: &FunctionContext<'_>, test: Span) -> Option<Lost> {
    let own = function.expression(test)?;
    let Term::Binary(left, operator, right) = &own.term else {
        return None;
    };
    let asked = matches!(operator.as_str(), "<" | ">=") && right.is_zero();
    let name = left.name().filter(|_| asked)?;
    let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
    let (callee, taken) = values.find_map(|(_, place)| {
        let value = function.expression(place)?;
        let (callee, _) = value.uncast().1.call()?;
        // What that never is, is told of the call itself.
        let told = function.told(callee) == Some(Told::Length);
        (!told).then(|| (callee.to_owned(), place))
    })?;
    // Last what takes longest: types are looked for in the headers.
    is_unsigned(function, left).then(|| Lost {
        faults: may_fail(function, &callee),
        name: callee,
        taken,
        test,
        variable: name.to_owned(),
    })
}

/// Whether a call gives an error number where it faults.
fn may_fail(function: &FunctionContext<'_>, name: &str) -> bool {
    let words = function.file.words;
    let reads = words.cuts(name).is_some() || words.gives_length(name);
    // What gives 0 for a fault gives nothing that is negative.
    reads && !words.results().gives_zero_for_a_fault(name)
        || function.told(name) == Some(Told::Error)
}

fn is_unsigned(function: &FunctionContext<'_>, variable: &Expression) -> bool {
    let of = space::type_of(function, variable);
    of.is_some_and(|of| matches!(of.shape, Shape::Scalar { signed: false, .. }))
}
