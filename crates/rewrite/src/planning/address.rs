//! Where an address comes from: the variables that gave it, and the members on the way.

use std::collections::BTreeSet;

use tollgate_source::{Expression, Flow, Term, Vocabulary};

/// An address as one of the expressions that it comes from has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// What it begins at: `p`, `args.ptr`.
    pub(crate) root: Expression,
    /// What a cast or another variable says that the root points to; none where it is what
    /// the root's own declaration says.
    pub(crate) of: Option<String>,
    /// The members from there on; none where it may be anywhere behind the root.
    pub(crate) path: Option<Vec<String>>,
    /// Whether it is cast to another type behind a member, and may go on behind that.
    pub(crate) open: bool,
}

impl Address {
    /// An expression as it is.
    pub(crate) fn root(root: &Expression) -> Self {
        Self {
            root: root.clone(),
            of: None,
            path: Some(Vec::new()),
            open: false,
        }
    }

    /// A member of it.
    pub(crate) fn member(mut self, field: &str) -> Self {
        if let Some(path) = &mut self.path {
            path.push(field.to_owned());
        }
        self
    }

    /// Anywhere behind the same root.
    fn anywhere(mut self) -> Self {
        self.path = None;
        self
    }

    /// As it is where it takes another type; none is that of `void *`.
    fn cast(mut self, to: Option<&str>) -> Self {
        match &self.path {
            Some(path) if path.is_empty() => self.of = to.map(str::to_owned).or(self.of),
            _ => self.open = true,
        }
        self
    }
}

/// A function whose variables addresses come from.
pub(crate) struct Scope<'s> {
    /// The bytes of the file.
    pub(crate) text: &'s [u8],
    /// What its words mean.
    pub(crate) vocabulary: &'s Vocabulary,
    /// What the function does.
    pub(crate) flow: &'s Flow,
}

impl Scope<'_> {
    /// Every address that an expression may be, by what gave it in the function: what is
    /// handed on in a structure counts as behind that.
    pub(crate) fn addresses(&self, own: &Expression) -> Vec<Address> {
        self.followed(own, &mut BTreeSet::new())
    }

    fn followed(&self, own: &Expression, seen: &mut BTreeSet<String>) -> Vec<Address> {
        match &own.term {
            Term::Name(name) => self.variable(own, name, seen),
            Term::Cast(to, inner) => {
                let plain = to.pointers == 1 && to.base != "void";
                let inner = self.followed(inner, seen).into_iter();
                inner
                    .map(|from| match plain {
                        true => from.cast(Some(&to.base)),
                        false => from,
                    })
                    .collect()
            }
            Term::Address(place) => self.place(place, seen),
            Term::Member { .. } | Term::Element { .. } | Term::Behind(_) => {
                let holder = self.place(own, seen).into_iter();
                std::iter::once(Address::root(own)).chain(holder).collect()
            }
            Term::Binary(left, operator, right) if operator == "+" || operator == "-" => {
                let number = |side: &Expression| {
                    matches!(
                        side.term,
                        Term::Number(_) | Term::SizeOf(_) | Term::SizeOfType(_)
                    )
                };
                let base = if number(left) { right } else { left };
                let base = self.followed(base, seen).into_iter();
                base.map(Address::anywhere).collect()
            }
            Term::Step(inner) => {
                let inner = self.followed(inner, seen).into_iter();
                inner.map(Address::anywhere).collect()
            }
            Term::Assignment(_, _, value) => self.followed(value, seen),
            Term::Choice(asked, one, other) => {
                let sides = [one.as_ref().unwrap_or(asked), other];
                let sides = sides.into_iter();
                sides.flat_map(|side| self.followed(side, seen)).collect()
            }
            Term::Call(_, arguments) => self.given(own, arguments, seen),
            Term::Number(_)
            | Term::Unary(..)
            | Term::Binary(..)
            | Term::SizeOf(_)
            | Term::SizeOfType(_)
            | Term::Other(_) => Vec::new(),
        }
    }

    /// A variable, and what it is given anywhere in the function.
    fn variable(&self, own: &Expression, name: &str, seen: &mut BTreeSet<String>) -> Vec<Address> {
        let mut found = vec![Address::root(own)];
        if !seen.insert(name.to_owned()) {
            return found;
        }
        let local = self.flow.local(name).map(|own| own.base_type.as_str());
        let of = local.filter(|of| *of != "void");
        let given = self.flow.assignments().filter(|(to, _)| *to == name);
        for (_, value) in given {
            let value = Expression::read(self.text, value, self.vocabulary);
            let from = value.map(|value| self.followed(&value, seen));
            found.extend(from.into_iter().flatten().map(|from| match from.path {
                Some(ref path) if path.is_empty() && from.of.is_none() => from.cast(of),
                _ => from,
            }));
        }
        found
    }

    /// `compat_ptr(a)` is `a`; what another call gives may be anywhere behind what it is
    /// given.
    fn given(
        &self,
        own: &Expression,
        arguments: &[Expression],
        seen: &mut BTreeSet<String>,
    ) -> Vec<Address> {
        let known = own.call().is_some_and(|(name, _)| {
            let name = name.as_bytes();
            self.vocabulary.is_pure(name) || self.vocabulary.is_transparent(name)
        });
        if let ([only], true) = (arguments, known) {
            return self.followed(only, seen);
        }
        let from = arguments.iter().flat_map(|one| self.followed(one, seen));
        let from: Vec<Address> = from.map(Address::anywhere).collect();
        std::iter::once(Address::root(own)).chain(from).collect()
    }

    /// The address of a place.
    fn place(&self, place: &Expression, seen: &mut BTreeSet<String>) -> Vec<Address> {
        match &place.term {
            Term::Member {
                holder,
                arrow,
                field,
            } => {
                let holder = match arrow {
                    true => self.followed(holder, seen),
                    false => self.place(holder, seen),
                };
                holder.into_iter().map(|own| own.member(field)).collect()
            }
            // Which element it is does not matter: all of the array does.
            Term::Element { array, .. } => match &array.term {
                Term::Member { .. } => self.place(array, seen),
                _ => {
                    let array = self.followed(array, seen).into_iter();
                    array.map(Address::anywhere).collect()
                }
            },
            Term::Behind(pointer) => self.followed(pointer, seen),
            _ => self.followed(place, seen),
        }
    }
}
