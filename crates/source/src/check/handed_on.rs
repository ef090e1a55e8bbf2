//! Where what a function of the file gives goes: to the functions that call it, and to theirs.

use std::cell::OnceCell;

use tree_sitter::Node;

use crate::expression::{Expression, Term};
use crate::split::Body;

use super::callee::look_into_body;
use super::carried::{carried, given, given_back, returning, takes_errors};
use super::context::FunctionContext;
use super::fate::{gives_errors, is_error};
use super::known::Told;
use super::result_test::tested;

/// So many callers of callers are asked.
const STEPS: usize = 3;

/// How a function hands on what another one gave it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// `return f();`
    AtOnce,
    /// By a variable, too.
    Kept,
}

/// The function of the file that hands on what another one gave it to who takes it for an error
/// number, as it gives such itself.
pub(crate) fn to_errors<'s>(function: &FunctionContext<'s>, way: Way) -> Option<&'s Body> {
    let (file, body) = (function.file, function.body);
    let mut callers = file.callers(body);
    callers.find(|caller| {
        let hands = ask(function, caller, |own| {
            let errors = |places: &[usize]| gives_errors(own) || give_errors(own, places);
            let mut handed = handed(own, &body.name, way);
            handed.any(|places| file.answers_a_program(caller) || errors(&places))
        });
        hands && is_taken_for_error(function, caller, STEPS)
    })
}

/// Whether what a function of the file gives goes to who takes it for an error number: it
/// can be called from elsewhere, or a caller in the file hands it on and is such itself.
pub(crate) fn goes_on(function: &FunctionContext<'_>) -> bool {
    is_taken_for_error(function, function.body, STEPS)
}

fn is_taken_for_error(function: &FunctionContext<'_>, body: &Body, steps: usize) -> bool {
    let file = function.file;
    let by_caller = |caller: &Body| {
        let asks = ask(function, caller, |own| is_asked(own, &body.name));
        let hands = || {
            ask(function, caller, |own| {
                handed(own, &body.name, Way::Kept).next().is_some()
            })
        };
        asks || steps > 0 && hands() && is_taken_for_error(function, caller, steps - 1)
    };
    let is_static = file.is_declared(body, b"static");
    !is_static || file.is_kept(body) || file.callers(body).any(by_caller)
}

/// What is said of a function of the file; no of one that is not understood.
fn ask(
    function: &FunctionContext<'_>,
    body: &Body,
    what: impl FnOnce(&FunctionContext<'_>) -> bool,
) -> bool {
    look_into_body(function, body, |own| what(own).then_some(())).is_some()
}

/// The variables by which a function gives what one of that name gave it, for each call that it
/// hands on; none where it is returned at once.
fn handed<'s>(
    function: &'s FunctionContext<'_>,
    name: &'s str,
    way: Way,
) -> impl Iterator<Item = Vec<usize>> {
    calls(function, name).filter_map(move |call| match way {
        Way::AtOnce => returning(function, call).map(|_| Vec::new()),
        Way::Kept => {
            let near = || given_back(function, call).map(|_| Vec::new());
            carried(function, call).map(|own| own.places).or_else(near)
        }
    })
}

/// Whether a function gives error numbers, or one of some variables takes them.
fn give_errors(function: &FunctionContext<'_>, places: &[usize]) -> bool {
    let mut returns = function.graph.statements.iter().filter_map(given);
    let tells = |own: &Expression| is_error(own) || is_told_from_number(own);
    returns.any(|given| function.expression(given).is_some_and(|own| tells(&own)))
        || places.iter().any(|place| takes_errors(function, *place))
}

/// `ret ? ret : count`: who is given either tells them apart by their signs.
fn is_told_from_number(own: &Expression) -> bool {
    let Term::Choice(asked, yes, no) = &own.uncast().1.term else {
        return false;
    };
    let yes = yes.as_deref().unwrap_or(asked).uncast().1;
    let number = matches!(no.uncast().1.term, Term::Name(_) | Term::Member { .. });
    yes.name().is_some() && asked.any(&|part| part == yes) && number
}

/// Whether a function asks what one of that name gave it for less than 0.
fn is_asked(function: &FunctionContext<'_>, name: &str) -> bool {
    let tests = OnceCell::new();
    calls(function, name).any(|call| tested(function, (call, Told::Left), &tests).is_some())
}

fn calls<'t>(function: &'t FunctionContext<'_>, name: &'t str) -> impl Iterator<Item = Node<'t>> {
    let calls = function.calls.iter().copied();
    calls.filter(move |call| function.callee(*call) == Some(name))
}
