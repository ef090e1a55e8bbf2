//! Which bytes of which object an expression is, whatever names, types and pointers it comes to
//! them by.

use std::rc::Rc;

use crate::expression::{Expression, Term};
use crate::flow::{Effect, EffectKind, Write};
use crate::types::Shape;

use super::context::FunctionContext;
use super::space;

/// So many variables may stand between a pointer and the object that it leads to.
const STEPS: usize = 3;

/// A byte of an object: of a variable, or of what lies behind a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lying {
    /// The variable, or what holds the pointer.
    pub(crate) root: Expression,
    /// So many bytes behind its front.
    pub(crate) at: i128,
}

impl Lying {
    fn front(root: &Expression) -> Self {
        Self {
            root: root.clone(),
            at: 0,
        }
    }

    fn moved(self, by: u64) -> Option<Self> {
        let at = self.at.checked_add(i128::from(by))?;
        Some(Self { at, ..self })
    }
}

/// Where a pointer leads to: `p`, `p + 2`, `&p[2]`, `&x.m`, an array.
pub(crate) fn led_to(function: &FunctionContext<'_>, pointer: &Expression) -> Option<Lying> {
    led(function, pointer, STEPS)
}

/// Where a place lies: `x`, `*p`, `p->m`, `x[2]`.
pub(crate) fn lies(function: &FunctionContext<'_>, place: &Expression) -> Option<Lying> {
    lies_by(function, place, STEPS)
}

fn led(function: &FunctionContext<'_>, pointer: &Expression, steps: usize) -> Option<Lying> {
    let own = pointer.uncast().1;
    match &own.term {
        Term::Address(place) => lies_by(function, place, steps),
        Term::Binary(left, operator, by) if operator == "+" => {
            let by = space::bytes(function, by)?;
            let bytes = by.checked_mul(step(function, left)?)?;
            led(function, left, steps)?.moved(bytes)
        }
        Term::Name(name) => {
            let steps = steps.checked_sub(1);
            let value = steps.and_then(|_| only_value(function, own, name));
            let further = value.and_then(|value| led(function, &value, steps?));
            Some(further.unwrap_or_else(|| Lying::front(own)))
        }
        // `compat_ptr(arg)`: the same wherever it stands.
        Term::Call(..) => {
            let (name, _) = own.call()?;
            function
                .file
                .words
                .addresses(name)
                .then(|| Lying::front(own))
        }
        Term::Member { .. } => {
            let of = space::type_of(function, own).map(|of| of.shape);
            match of {
                Some(Shape::Array(..)) => lies_by(function, own, steps),
                _ => Some(Lying::front(own)),
            }
        }
        _ => None,
    }
}

/// What a pointer takes, where nothing else gives it anything but NULL.
fn only_value(
    function: &FunctionContext<'_>,
    pointer: &Expression,
    name: &str,
) -> Option<Rc<Expression>> {
    let graph = function.graph;
    if let Some(value) = graph.only_value(name) {
        return function.expression(value);
    }
    // Others of that name may live in other blocks.
    let local = function.local_at(name, pointer.span)?;
    let is = |own: &Effect| {
        let of = graph.places.as_local(own.place);
        of.and_then(|at| graph.locals.get(at)) == Some(local)
    };
    let writes = graph.effects.iter().filter_map(|own| match &own.kind {
        EffectKind::Write(write) if is(own) => Some(write),
        _ => None,
    });
    let mut found = None;
    for write in writes {
        // `struct props *p;`
        if *write == Write::default() {
            continue;
        }
        let value = function.expression(write.value?)?;
        if !value.uncast().1.is_null() && found.replace(value).is_some() {
            return None;
        }
    }
    // Of what it leads to nothing else is known.
    found.filter(|own| matches!(own.uncast().1.term, Term::Address(_)))
}

/// By how many bytes one more moves an address: a number, and a pointer to nothing known, by one.
fn step(function: &FunctionContext<'_>, address: &Expression) -> Option<u64> {
    let of = space::type_of(function, address).map(|of| of.shape);
    match of {
        Some(Shape::Scalar { .. }) => Some(1),
        Some(Shape::Pointer { to, .. }) if to.trim() == "void" => Some(1),
        _ => space::element(function, address),
    }
}

fn lies_by(function: &FunctionContext<'_>, place: &Expression, steps: usize) -> Option<Lying> {
    match &place.term {
        Term::Name(_) => Some(Lying::front(place)),
        Term::Behind(pointer) => led(function, pointer, steps),
        Term::Member {
            holder,
            arrow,
            field,
        } => {
            let behind = holder.behind();
            let of = space::type_of(function, if *arrow { &behind } else { holder })?;
            let members = of.members().into_iter();
            let mut own = members.filter(|(_, own)| own.name == *field && own.bits.is_none());
            let (at, _) = own.next()?;
            let holder = match arrow {
                true => led(function, holder, steps),
                false => lies_by(function, holder, steps),
            };
            holder?.moved(at)
        }
        Term::Element { array, index } => {
            let index = space::bytes(function, index)?;
            let bytes = index.checked_mul(space::element(function, array)?)?;
            led(function, array, steps)?.moved(bytes)
        }
        _ => None,
    }
}
