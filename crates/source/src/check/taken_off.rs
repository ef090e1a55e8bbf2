//! What is taken off one number of a structure and was held against another one of it.

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::context::FunctionContext;
use super::limit::held_against;

/// Bytes that are copied and then taken off what there are fewer of, perhaps.
pub(crate) struct TakenOff {
    /// How many.
    pub(crate) number: Expression,
    /// What they are taken off.
    pub(crate) from: Expression,
    /// What they were held against.
    pub(crate) bound: Expression,
    /// Where that is done.
    pub(crate) place: Span,
}

/// `if (n > x->other) n = x->other; … x->left -= n;`, where nothing holds the number against
/// what it is taken off.
pub(crate) fn taken_off(function: &FunctionContext<'_>) -> Vec<TakenOff> {
    let mut drained = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        if function.context.operator(node) == b"-=" {
            drained.push((function.expression_of(node), span(node)));
        }
    });
    let all = drained.iter();
    let mut found: Vec<TakenOff> = all
        .filter_map(|(own, place)| of(function, own, *place))
        .collect();
    // Where both become less, one of them goes with the other.
    found.retain(|own| {
        let mut others = drained.iter();
        !others.any(|(other, _)| match &other.term {
            Term::Assignment(from, ..) => *from.uncast().1 == own.bound,
            _ => false,
        })
    });
    found
}

fn of(function: &FunctionContext<'_>, own: &Expression, place: Span) -> Option<TakenOff> {
    let Term::Assignment(from, _, number) = &own.term else {
        return None;
    };
    let (from, number) = (from.uncast().1, number.uncast().1);
    let name = number.name()?;
    let Term::Member { holder, .. } = &from.term else {
        return None;
    };
    let mut copies = function.accesses.iter();
    copies.find(|own| {
        let bytes = own.bytes.as_ref().map(|own| own.uncast().1);
        bytes == Some(number) && own.span.end <= place.start
    })?;
    let bounds = held_against(function, number, place).into_iter();
    let bound = bounds.map(|(own, _)| own).find(|own| {
        let same = matches!(&own.term, Term::Member { holder: of, .. } if of == holder);
        same && own != from
    })?;
    (!is_known(function, name, from)).then(|| TakenOff {
        number: number.clone(),
        from: from.clone(),
        bound,
        place,
    })
}

/// Whether the number is made of what it is taken off, or held against it, or against what is
/// made of it.
fn is_known(function: &FunctionContext<'_>, name: &str, from: &Expression) -> bool {
    let graph = function.graph;
    let made: Vec<&str> = {
        let values = graph.assignments().filter(|(_, value)| {
            let value = function.expression(*value);
            value.is_none_or(|value| value.any(&|part| part == from))
        });
        values.map(|(own, _)| own).collect()
    };
    let about = |own: &Expression| {
        own.any(&|part| part == from || part.name().is_some_and(|own| made.contains(&own)))
    };
    let mut values = graph.assignments().filter(|(own, _)| *own == name);
    let taken = values.any(|(_, value)| function.expression(value).is_none_or(|own| about(&own)));
    let mut comparisons = graph.comparisons.iter();
    let asked = comparisons.any(|place| {
        let own = function.expression(*place);
        own.is_some_and(|own| own.any(&|part| part.name() == Some(name)) && about(&own))
    });
    taken || asked
}
