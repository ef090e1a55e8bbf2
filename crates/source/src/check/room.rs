//! How many bytes there are where an address leads.

use crate::expression::{Expression, Term};
use crate::flow::Local;
use crate::span::Span;
use crate::types::Shape;

use super::allocation::Allocation;
use super::context::FunctionContext;
use super::space;

/// Memory of a known size.
pub(crate) struct Room {
    /// What has it.
    pub(crate) of: String,
    /// How many bytes.
    pub(crate) size: u64,
}

/// What lies where an address leads that is none of a variable on the stack: what a caller has,
/// whose type leaves its end not open, a member, an array of the file's, or what the function
/// allocates by a constant.
pub(crate) fn room(function: &FunctionContext<'_>, address: &Expression, at: Span) -> Option<Room> {
    let file = function.file;
    if let Some(name) = address.name() {
        let local = function.local_at(name, address.span);
        let given = local.is_none() && function.is_parameter(name);
        if given && function.graph.takes_a_value(name) {
            return None;
        }
        return match (local, given) {
            (Some(_), _) => Allocation::of(function, name, at)?
                .bytes(function)
                .map(|size| Room {
                    of: format!("what {name} leads to"),
                    size,
                }),
            (None, true) => size_at(function, address).map(|size| Room {
                of: format!("what {name} leads to"),
                size,
            }),
            (None, false) => space::array_bytes(function, address).map(|size| Room {
                of: name.to_owned(),
                size,
            }),
        };
    }
    size_of_place(function, address).map(|size| Room {
        of: file.plain(address.span),
        size,
    })
}

/// The bytes of the place that an address is that of: a member or an array of more than one
/// element, or a structure that ends.
fn size_of_place(function: &FunctionContext<'_>, address: &Expression) -> Option<u64> {
    let place = match &address.term {
        Term::Address(place) => match &place.term {
            // The front of an array.
            Term::Element { array, index } if index.is_zero() => array,
            _ => place,
        },
        _ => address,
    };
    if place.name().is_some() {
        return space::array_bytes(function, place);
    }
    matches!(place.term, Term::Member { .. }).then_some(())?;
    let of = space::type_of(function, place)?;
    match &of.shape {
        Shape::Array(_, 0 | 1) => None,
        Shape::Array(..) => Some(of.size),
        Shape::Struct(_) => size_at(function, address),
        _ => None,
    }
}

/// The bytes of what an address leads to: a variable of the function, or a structure whose
/// size its last member does not leave open.
pub(crate) fn size_at(function: &FunctionContext<'_>, address: &Expression) -> Option<u64> {
    if let Some(object) = Object::of(function, address).filter(|own| !own.is_pointer) {
        return object.size;
    }
    let behind = address.behind();
    let of = space::type_of(function, &behind)?;
    let (Shape::Struct(members) | Shape::Union(members)) = &of.shape else {
        return None;
    };
    let last = members.last()?;
    let open = matches!(last.of.shape, Shape::Array(_, 0 | 1) | Shape::Opaque);
    (!open).then_some(of.size)
}

/// A variable of the function that lies on its stack.
pub(crate) struct Object<'f> {
    /// Its name.
    pub(crate) name: &'f str,
    /// Where it is declared: a parameter in the header.
    pub(crate) declared: Span,
    /// Its bytes; none where they hang on the configuration.
    pub(crate) size: Option<u64>,
    /// Whether it is a pointer, and no object of its own.
    pub(crate) is_pointer: bool,
}

impl<'f> Object<'f> {
    /// The one whose address an expression is: `&x`, `&x.member`, `array`, `array + n`.
    pub(crate) fn of(function: &'f FunctionContext<'_>, address: &Expression) -> Option<Self> {
        match &address.term {
            Term::Address(place) => Self::holding(function, place),
            Term::Binary(left, operator, _) if operator == "+" => Self::of(function, left),
            Term::Name(name) => {
                let local = function.local_at(name, address.span)?;
                Self::array(function, local).or_else(|| Self::led_to(function, local))
            }
            _ => None,
        }
    }

    /// The one that a pointer leads to from its only value on: `p = &x`.
    fn led_to(function: &'f FunctionContext<'_>, local: &Local) -> Option<Self> {
        let pointer = !local.plain && !local.array && !local.lasting;
        let value = function.graph.only_value(&local.name).filter(|_| pointer)?;
        match &function.expression(value)?.uncast().1.term {
            Term::Address(place) => Self::holding(function, place).filter(|own| !own.is_pointer),
            _ => None,
        }
    }

    /// The one that a place lies in.
    fn holding(function: &'f FunctionContext<'_>, place: &Expression) -> Option<Self> {
        match &place.term {
            Term::Member {
                holder,
                arrow: false,
                ..
            } => Self::holding(function, holder).filter(|own| !own.is_pointer),
            Term::Element { array, .. } => Self::of(function, array),
            Term::Name(name) => match function.local_at(name, place.span) {
                Some(local) if local.array => Self::array(function, local),
                Some(local) => Self::plain(function, place, local.declared, &local.name),
                None => {
                    let name = function.parameter(name)?;
                    Self::plain(function, place, function.body.header, name)
                }
            },
            _ => None,
        }
    }

    fn plain(
        function: &FunctionContext<'_>,
        place: &Expression,
        declared: Span,
        name: &'f str,
    ) -> Option<Self> {
        let of = space::type_of(function, place);
        let is_plain = || {
            function
                .local_at(name, place.span)
                .is_some_and(|own| own.plain)
        };
        let is_pointer = match &of {
            Some(of) => matches!(of.shape, Shape::Pointer { .. }),
            None if is_plain() => false,
            None => return None,
        };
        Some(Self {
            name,
            declared,
            size: of.map(|of| of.size),
            is_pointer,
        })
    }

    /// An array, whose dimensions are written behind its name.
    fn array(function: &FunctionContext<'_>, local: &'f Local) -> Option<Self> {
        let size = space::array(function, local)?;
        Some(Self {
            name: &local.name,
            declared: local.declared,
            size: Some(size),
            is_pointer: false,
        })
    }
}

/// What leads to memory of an unknown size: a member of something that a pointer leads to,
/// or a pointer of the function's that takes what another function gives; or an array of the file's.
pub(crate) fn memory<'e>(
    function: &FunctionContext<'_>,
    value: &'e Expression,
) -> Option<&'e Expression> {
    match &value.term {
        Term::Member { .. } => {
            let followed = space::followed(value).is_some() || is_of_the_file(function, value);
            followed.then_some(value)
        }
        Term::Address(place) => memory(function, place),
        Term::Element { array, .. } => memory(function, array),
        Term::Binary(left, operator, _) if operator == "+" => memory(function, left),
        // What a caller has of a type whose end is not open.
        Term::Name(name) if function.is_parameter(name) => {
            let kept = !function.graph.takes_a_value(name);
            size_at(function, value).filter(|_| kept).map(|_| value)
        }
        Term::Name(name) => {
            let Some(local) = function.local_at(name, value.span) else {
                // The file's own.
                return is_of_the_file(function, value).then_some(value);
            };
            let values = function.graph.assignments();
            let values = values.filter(|(own, _)| own == name);
            let mut values = values.map(|(_, value)| {
                let value = function.expression(value);
                value.is_some_and(|own| match &own.uncast().1.term {
                    Term::Call(..) => true,
                    Term::Member { .. } => memory(function, own.uncast().1).is_some(),
                    _ => false,
                })
            });
            let given = values.next() == Some(true) && values.all(|given| given);
            (given && !local.plain && !local.array).then_some(value)
        }
        _ => None,
    }
}

/// Whether a place is the file's own, or another's that it knows.
fn is_of_the_file(function: &FunctionContext<'_>, place: &Expression) -> bool {
    let root = place.root().name();
    root.is_some_and(|root| {
        function.local_at(root, place.span).is_none() && !function.is_parameter(root)
    })
}
