//! Positions of a program in a file that are set to how much was copied, where the copy began behind the
//! front already.

use crate::expression::{Expression, Term};
use crate::site::span;
use crate::span::Span;

use super::accesses::Access;
use super::context::FunctionContext;

/// A position that is set so.
pub(crate) struct PositionSet {
    /// Where it is.
    pub(crate) set: Span,
    /// The position.
    pub(crate) position: Span,
    /// How much it was that was copied.
    pub(crate) by: Span,
    /// The copy that begins there.
    pub(crate) copy: Span,
}

/// `n = copy_to_iter(data + iocb->ki_pos, size, to); iocb->ki_pos = n;`
pub(crate) fn position_set(
    function: &FunctionContext<'_>,
    pointer: Option<&str>,
) -> Option<PositionSet> {
    let mut sets = Vec::new();
    function.each_of(&["assignment_expression"], |node| {
        match &function.expression_of(node).term {
            Term::Assignment(place, operator, by)
                if operator == "=" && is_position(place, pointer) =>
            {
                sets.push((span(node), (**place).clone(), by.uncast().1.clone()));
            }
            _ => {}
        }
    });
    // Most functions set none.
    if sets.is_empty() {
        return None;
    }
    let shown = function.shown();
    let copies = || function.accesses.iter().chain(&shown);
    sets.iter().find_map(|(set, place, by)| {
        let copy = copies().find(|copy| {
            copy.span.end <= set.start
                && is_how_much(function, copy, by)
                && begins_there(function, copy, place)
        })?;
        Some(PositionSet {
            set: *set,
            position: place.span,
            by: by.span,
            copy: copy.span,
        })
    })
}

/// Whether a place is where a program stands in a file: `*ppos`, `iocb->ki_pos`, `file->f_pos`.
fn is_position(place: &Expression, pointer: Option<&str>) -> bool {
    match &place.term {
        Term::Behind(inner) => pointer.is_some() && inner.name() == pointer,
        Term::Member { field, .. } => matches!(field.as_str(), "ki_pos" | "f_pos"),
        _ => false,
    }
}

/// Whether a variable has how many bytes a copy was of, or what it gave.
fn is_how_much(function: &FunctionContext<'_>, copy: &Access<'_>, by: &Expression) -> bool {
    let asked = copy.bytes.as_ref().map(|own| own.uncast().1);
    by.name().is_some() && (asked == Some(by) || function.taker(copy.node).as_ref() == Some(by))
}

/// Whether the kernel's side of a copy is a place behind a front that the position says.
fn begins_there(function: &FunctionContext<'_>, copy: &Access<'_>, place: &Expression) -> bool {
    let value = function.expression_of(copy.value_node);
    let holds = |name: &str| {
        let mut values = function.graph.assignments().filter(|(own, _)| *own == name);
        values.any(|(_, value)| {
            let value = function.expression(value);
            value.is_some_and(|own| own.uncast().1 == place)
        })
    };
    value.any(&|part| part == place || part.name().is_some_and(holds))
}
