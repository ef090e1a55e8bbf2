//! Where the members of a type lie, by the rules that gcc has for the ABIs of
//! Linux.

use super::machine::Machine;

/// Why a type, or a constant, is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// No definition.
    #[error("the definition of {0} was not found in the file or the headers that it includes")]
    Missing(String),
    /// A definition that is only there under options that are not chosen.
    #[error("{0} is defined only under options that are not set")]
    Absent(String),
    /// A definition that may be in a file which could not be read.
    #[error("the definition of {0} was not found: {1}")]
    Unread(String, String),
    /// A definition that is not understood.
    #[error("{0} is not known: {1:?} in its definition is not understood")]
    Unclear(String, String),
    /// No such member.
    #[error("{0} has no member {1}")]
    Member(String, String),
    /// An answer that differs between configurations.
    #[error("{0} depends on {options}", options = .1.join(", "))]
    Depends(String, Vec<String>),
    /// No declaration of the pointer.
    #[error("what {0} points to is not known")]
    Pointee(String),
}

impl LayoutError {
    /// What is missing, in as few words as name it.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Missing(name) | Self::Absent(name) | Self::Unread(name, _) => name.clone(),
            Self::Unclear(name, word) => format!("{word} in {name}"),
            Self::Member(name, member) => format!("the member {member} of {name}"),
            Self::Depends(_, options) => match options.as_slice() {
                [first, _, _, _, ..] => format!("{first} and other options"),
                few => few.join(", "),
            },
            Self::Pointee(name) => format!("what {name} points to"),
        }
    }

    /// The name that has no definition, and whether it has one under other options.
    pub(super) fn lacking(&self) -> Option<(&str, bool)> {
        match self {
            Self::Missing(name) => Some((name, false)),
            Self::Absent(name) => Some((name, true)),
            _ => None,
        }
    }
}

/// A type on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its size in bytes.
    pub size: u64,
    /// Its alignment inside a structure, in bytes.
    pub align: u64,
    /// What it is made of.
    pub shape: Shape,
    /// How it is written, `struct s`; nothing if it has no name.
    pub name: String,
}

/// What a type is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Scalar {
        /// Whether it may be negative.
        signed: bool,
        /// Whether it counts: a truth and an enumeration are a few values with names.
        counts: bool,
    },
    /// A pointer.
    Pointer {
        /// The type that it points to, as it is written; empty if that has no name.
        to: String,
        /// Whether it is declared to point to user memory: `__user`.
        user: bool,
    },
    /// Members one behind the other.
    Struct(Vec<Member>),
    /// Members in the same place.
    Union(Vec<Member>),
    /// That many of one type.
    Array(Box<Type>, u64),
    /// A type whose definition was not found; its size is a guess.
    Opaque,
}

/// A member of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name; empty for an anonymous structure or union.
    pub name: String,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Of a bit-field: its first bit behind that byte, and how many it has.
    pub bits: Option<(u64, u64)>,
    /// Its type.
    pub of: Type,
}

/// What some members of a type leave uncovered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncovered {
    /// The members of which no bit is covered, the outermost of each, by path.
    pub members: Vec<String>,
    /// Bits that are not covered: the first and the one behind the last, in order.
    pub gaps: Vec<(u64, u64)>,
}

impl Type {
    /// A type without members.
    pub(super) fn plain(size: u64, align: u64, shape: Shape, name: String) -> Self {
        Self {
            size,
            align,
            shape,
            name,
        }
    }

    /// The members, its own and those of anonymous members, with their offsets.
    #[must_use]
    pub fn members(&self) -> Vec<(u64, &Member)> {
        let (Shape::Struct(own) | Shape::Union(own)) = &self.shape else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for member in own {
            if member.name.is_empty() {
                let inner = member.of.members().into_iter();
                found.extend(inner.map(|(at, inner)| (member.offset + at, inner)));
            } else {
                found.push((member.offset, member));
            }
        }
        found
    }

    /// The offset and the type of `a.b[2].c`.
    ///
    /// # Errors
    /// When there is no such member.
    pub fn at(&self, path: &str) -> Result<(u64, &Self), LayoutError> {
        let mut found = (0, self);
        for part in path.split('.') {
            let mut indices = part.split('[');
            let name = indices.next().unwrap_or_default().trim();
            let missing = || LayoutError::Member(found.1.name.clone(), part.to_owned());
            let members = found.1.members();
            let (at, member) = members
                .into_iter()
                .find(|(_, member)| member.name == name)
                .ok_or_else(missing)?;
            let mut next = (found.0 + at, &member.of);
            for index in indices {
                let number: u64 = index.trim_end_matches(']').parse().map_err(|_| missing())?;
                let Shape::Array(element, count) = &next.1.shape else {
                    return Err(missing());
                };
                if number >= *count {
                    return Err(missing());
                }
                next = (next.0 + number * element.size, element);
            }
            found = next;
        }
        Ok(found)
    }

    /// The first bit of `a.b`, and the one behind its last.
    fn range(&self, path: &str) -> Result<(u64, u64), LayoutError> {
        let (outer, name) = path.rsplit_once('.').unwrap_or(("", path));
        let (at, of) = if outer.is_empty() {
            (0, self)
        } else {
            self.at(outer)?
        };
        let mut members = of.members().into_iter();
        let found = members.find(|(_, member)| member.name == name);
        let missing = || LayoutError::Member(of.name.clone(), name.to_owned());
        let (own, member) = found.ok_or_else(missing)?;
        let (first, last) = member.range();
        let moved = (at + own - member.offset) * 8;
        Ok((first + moved, last + moved))
    }

    /// What of it is covered neither by its first bytes nor by the members at those
    /// paths.
    ///
    /// # Errors
    /// When there is no such member.
    pub fn uncovered<'p>(
        &self,
        front: u64,
        paths: impl Iterator<Item = &'p str>,
    ) -> Result<Uncovered, LayoutError> {
        let mut covered = paths
            .map(|path| self.range(path))
            .collect::<Result<Vec<_>, _>>()?;
        covered.push((0, front.min(self.size) * 8));
        covered.sort_unstable();
        let mut gaps = Vec::new();
        let mut end = 0;
        for (from, to) in covered.into_iter().chain([(self.size * 8, self.size * 8)]) {
            if from > end {
                gaps.push((end, from));
            }
            end = end.max(to);
        }
        let mut members = Vec::new();
        self.untouched(0, "", &gaps, &mut members);
        Ok(Uncovered { members, gaps })
    }

    /// Members, the outermost first, of which no bit is covered.
    fn untouched(&self, base: u64, prefix: &str, gaps: &[(u64, u64)], out: &mut Vec<String>) {
        for (at, member) in self.members() {
            let moved = base + (at - member.offset) * 8;
            let (from, to) = (member.range().0 + moved, member.range().1 + moved);
            let path = format!("{prefix}{}", member.name);
            if from < to && gaps.iter().any(|gap| gap.0 <= from && to <= gap.1) {
                out.push(path);
            } else if matches!(member.of.shape, Shape::Struct(_)) {
                member.of.untouched(from, &format!("{path}."), gaps, out);
            }
        }
    }

    /// Whether a member of it, at any depth, has bits before or behind it that
    /// are no member's.
    #[must_use]
    pub fn has_holes(&self) -> bool {
        match &self.shape {
            Shape::Scalar { .. } | Shape::Pointer { .. } => false,
            // Nothing is known of it.
            Shape::Opaque => true,
            Shape::Array(of, _) => of.has_holes(),
            // The smaller members of a union leave bytes of the larger.
            Shape::Union(_) => true,
            Shape::Struct(members) => {
                let mut end = 0;
                let gap = members.iter().any(|member| {
                    let (from, to) = member.range();
                    let gap = from != end || member.of.has_holes();
                    end = to;
                    gap
                });
                gap || end != self.size * 8
            }
        }
    }

    /// That many of it, one behind the other.
    pub(super) fn times(self, count: u64) -> Option<Self> {
        let size = self.size.checked_mul(count)?;
        let (base, dimensions) = match self.name.find('[') {
            Some(at) if !self.name.contains("(*") => self.name.split_at(at),
            _ => (self.name.as_str(), ""),
        };
        let named = !base.is_empty() && !base.contains("(*");
        let name = named.then(|| format!("{} [{count}]{dimensions}", base.trim_end()));
        Some(Self {
            name: name.unwrap_or_default(),
            align: self.align,
            shape: Shape::Array(Box::new(self), count),
            size,
        })
    }
}

/// What a pointer to a type of that name is called.
pub(super) fn pointer_to(name: &str) -> String {
    match name.find('[') {
        None if !name.is_empty() => format!("{name} *"),
        Some(at) if !name.contains("(*") => {
            let (base, dimensions) = name.split_at(at);
            format!("{base}(*){dimensions}")
        }
        _ => String::new(),
    }
}

impl Member {
    /// Its first bit and the one behind its last, from where the structure begins.
    #[must_use]
    pub fn range(&self) -> (u64, u64) {
        let (first, width) = self.bits.unwrap_or((0, self.of.size * 8));
        let start = self.offset * 8 + first;
        (start, start + width)
    }
}

/// What attributes say of a type or a member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    pub(super) packed: bool,
    /// The alignment that is asked for; 0 if none is.
    pub(super) align: u64,
}

/// A member before it has a place.
pub(super) struct Unplaced {
    pub(super) name: String,
    pub(super) of: Type,
    /// How many bits it has, if it is a bit-field.
    pub(super) width: Option<u64>,
    pub(super) attributes: Attributes,
    /// Whether it is a member: bit-fields without a name only take room.
    pub(super) counts: bool,
}

/// How the members of one structure are placed.
pub(super) struct Placing<'m> {
    pub(super) machine: &'m Machine,
    pub(super) union: bool,
    pub(super) attributes: Attributes,
    /// The limit of `#pragma pack`, in bytes.
    pub(super) pack: Option<u64>,
}

impl Placing<'_> {
    /// The structure; none if its size has no number.
    pub(super) fn place(&self, unplaced: Vec<Unplaced>, name: String) -> Option<Type> {
        let (mut end, mut size, mut align) = (0u64, 0u64, 1u64);
        let mut members = Vec::new();
        for member in unplaced {
            let natural = self.alignment(&member);
            let raises = member.counts || self.machine.unnamed;
            align = align.max(if raises { natural } else { 1 });
            let from = if self.union { 0 } else { end };
            let (start, width) = match member.width {
                Some(width) => (self.bit(from, width, natural, &member)?, width),
                None => (
                    up(from, natural.checked_mul(8)?)?,
                    member.of.size.checked_mul(8)?,
                ),
            };
            end = start.checked_add(width)?;
            size = size.max(end);
            if member.counts {
                members.push(member.placed(start));
            }
        }
        let align = align.max(self.attributes.align);
        Some(Type {
            size: up(size.div_ceil(8), align)?,
            align,
            shape: match self.union {
                true => Shape::Union(members),
                false => Shape::Struct(members),
            },
            name,
        })
    }

    /// The alignment of a member, in bytes.
    fn alignment(&self, member: &Unplaced) -> u64 {
        let packed = self.attributes.packed || member.attributes.packed;
        let natural = if packed { 1 } else { member.of.align };
        let asked = natural.max(member.attributes.align).max(1);
        asked.min(self.pack.unwrap_or(asked))
    }

    /// The first bit of a bit-field: it may not span more units of its type's
    /// alignment than its type does (gcc, stor-layout.cc, place_field()).
    fn bit(&self, from: u64, width: u64, natural: u64, member: &Unplaced) -> Option<u64> {
        let unit = natural.checked_mul(8)?;
        let packed = self.attributes.packed || member.attributes.packed;
        match width {
            0 => up(from, member.of.align.checked_mul(8)?),
            _ if packed || self.pack.is_some() => Some(from),
            _ => {
                let spans = (from % unit).checked_add(width)?.div_ceil(unit);
                let excess = spans > (member.of.size * 8) / unit;
                if excess { up(from, unit) } else { Some(from) }
            }
        }
    }
}

impl Unplaced {
    /// The type of the member of that name, if this is it or holds it; none of a bit-field, of
    /// which the type alone does not say what it holds.
    pub(super) fn named(self, name: &str) -> Option<Type> {
        if self.name == name {
            return self.width.is_none().then_some(self.of);
        }
        let members = self.of.members();
        let mut own = members.iter().filter(|(_, own)| own.name == name);
        if own.any(|(_, own)| own.bits.is_some()) {
            return None;
        }
        let held = self.name.is_empty() && self.width.is_none();
        match self.of.at(name) {
            Ok((_, inner)) if held => Some(inner.clone()),
            _ => None,
        }
    }

    fn placed(self, start: u64) -> Member {
        Member {
            offset: start / 8,
            bits: self.width.map(|width| (start % 8, width)),
            name: self.name,
            of: self.of,
        }
    }
}

/// The next multiple.
fn up(value: u64, of: u64) -> Option<u64> {
    value.checked_next_multiple_of(of)
}
