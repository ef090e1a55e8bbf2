//! What a structure of user memory is made of: members, offsets, holes.
//!
//! Read from definitions in C text, not from a compiler: what is not understood
//! is an error, never a guess. Sizes differ between architectures, so that a
//! layout is of one [`Model`].

use crate::definition::Reader;
use crate::refusal::LayoutError;

/// The sizes in bytes that differ between architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    /// Of `long` and of a pointer.
    pub(crate) long: u64,
    /// The alignment of an integer of 8 bytes inside a structure.
    pub(crate) wide: u64,
}

/// The models of Linux: 64-bit; 32-bit; x86-32, which aligns 8 bytes to 4.
pub(crate) const MODELS: [Model; 3] = [
    Model { long: 8, wide: 8 },
    Model { long: 4, wide: 8 },
    Model { long: 4, wide: 4 },
];

/// A type in one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    /// Its size in bytes.
    pub(crate) size: u64,
    /// Its alignment in bytes.
    pub(crate) align: u64,
    /// What it is made of.
    pub(crate) shape: Shape,
    /// How a variable of it is declared, `struct s`; nothing if it has no name.
    pub(crate) name: String,
}

/// What a type is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A number or a pointer.
    Scalar,
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
pub(crate) struct Member {
    /// Its name; empty for an anonymous structure or union.
    pub(crate) name: String,
    /// Where it begins, in bytes.
    pub(crate) offset: u64,
    /// Its type.
    pub(crate) of: Type,
}

impl Type {
    /// A number of that size and alignment in bytes.
    pub(crate) fn scalar(size: u64, align: u64) -> Self {
        Self {
            size,
            align,
            shape: Shape::Scalar,
            name: String::new(),
        }
    }

    /// The members, its own and those of anonymous members, with their offsets.
    pub(crate) fn members(&self) -> Vec<(u64, &Member)> {
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
    pub(crate) fn at(&self, path: &str) -> Result<(u64, &Type), LayoutError> {
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
                let number = number(index.trim_end_matches(']')).ok_or_else(missing)?;
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

    /// Whether a member of it, at any depth, has bytes before or behind it that
    /// are no member's.
    pub(crate) fn has_holes(&self) -> bool {
        match &self.shape {
            Shape::Scalar => false,
            // Nothing is known of it.
            Shape::Opaque => true,
            Shape::Array(of, _) => of.has_holes(),
            // The smaller members of a union leave bytes of the larger.
            Shape::Union(_) => true,
            Shape::Struct(members) => {
                let mut end = 0;
                let gap = members.iter().any(|member| {
                    let gap = member.offset != end;
                    end = member.offset + member.of.size;
                    gap || member.of.has_holes()
                });
                gap || end != self.size
            }
        }
    }
}

/// The definitions that a file may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    /// The file and its headers, nearest first.
    texts: Vec<Vec<u8>>,
}

impl Types {
    /// The definitions in those texts.
    pub(crate) fn new(texts: Vec<Vec<u8>>) -> Self {
        Self { texts }
    }

    /// The layout of a type, as it is written in a declaration.
    pub(crate) fn layout(&self, name: &str, model: Model) -> Result<Type, LayoutError> {
        self.read(name, model, false)
    }

    /// The same with types of no known definition left open: for what does not
    /// depend on sizes.
    pub(crate) fn outline(&self, name: &str, model: Model) -> Result<Type, LayoutError> {
        self.read(name, model, true)
    }

    fn read(&self, name: &str, model: Model, open: bool) -> Result<Type, LayoutError> {
        Reader::new(self, model, open).read(name)
    }

    /// The text behind each `before` that is a word of its own, with its place.
    pub(crate) fn behind<'t>(&'t self, before: &'t str) -> impl Iterator<Item = (&'t [u8], usize)> {
        self.texts.iter().flat_map(move |text| {
            places(text, before.as_bytes()).map(move |at| (text.as_slice(), at))
        })
    }

    /// The value of a macro that is a number.
    fn constant(&self, name: &str, depth: u32) -> Option<u64> {
        let mut found = self.behind(name).filter_map(|(text, at)| {
            let before = text.get(..at)?.trim_ascii_end();
            let line = text.get(at + name.len()..)?.split(|b| *b == b'\n').next()?;
            let value = String::from_utf8_lossy(line).into_owned();
            (before.ends_with(b"define") && value.starts_with([' ', '\t'])).then_some(value)
        });
        let value = found.next()?;
        let value = value.split("/*").next()?.trim();
        self.number(value, depth.checked_sub(1)?)
    }

    /// The value of a literal, or of a macro that is one.
    pub(crate) fn number(&self, text: &str, depth: u32) -> Option<u64> {
        let text = text.trim();
        let text = text
            .strip_prefix('(')
            .and_then(|t| t.strip_suffix(')'))
            .unwrap_or(text);
        number(text).or_else(|| {
            let name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
            name.then(|| self.constant(text, depth)).flatten()
        })
    }
}

/// Where the words stand in a text, as words of their own.
fn places<'t>(text: &'t [u8], words: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memchr::memmem::find_iter(text, words).filter(move |at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        !part(before) && !part(text.get(at + words.len()))
    })
}

/// The value of a literal.
fn number(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(text: &str) -> Types {
        Types::new(vec![text.as_bytes().to_vec()])
    }

    const SYNC: &str = "typedef int __bitwise state_t;\n#define LEN 64\n\
        struct status { state_t state; s32 pad1; /* hole */ u32 hw_ptr; } __packed;\n\
        struct sync {\n\tu32 flags;\n\tunion {\n\t\tstruct status status;\n\t\tunsigned char reserved[LEN];\n\t} s;\n\
        \tstruct { __u64 a, *b; char c; } c;\n} __attribute__((packed));\n";

    #[test]
    fn a_layout_is_that_of_the_compiler() {
        let types = types(SYNC);
        let wide = types.layout("struct sync", MODELS[0]).unwrap();
        // As gcc 12 has it on x86-64 and with -m32.
        assert_eq!((wide.size, wide.at("c.c").unwrap().0), (4 + 64 + 24, 84));
        let narrow = types.layout("const struct sync __user", MODELS[2]).unwrap();
        assert_eq!(
            (narrow.size, narrow.at("c.b").unwrap().0),
            (4 + 64 + 16, 76)
        );
        let (at, status) = wide.at("s.status").unwrap();
        assert_eq!((at, status.size, status.has_holes()), (4, 12, false));
        assert!(wide.at("c").unwrap().1.has_holes());
        assert!(wide.at("s.reserved[64]").is_err());
        assert_eq!(wide.at("s.reserved[63]").unwrap().0, 67);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for text in [
            "struct s { int a : 3; };",
            "struct s {\n#ifdef X\n\tint a;\n#endif\n\tint b; };",
            "struct s { struct gone g; };",
            "struct s { int a[N]; };",
            "struct s { MACRO(a, b); };",
            "struct s { int (*f)(int); };",
            "struct s { int a;",
            "struct s { struct s t; };",
            "#define BIG __attribute__((aligned(64)))\nstruct s { int a; } BIG;",
            "struct s;",
        ] {
            let answer = types(text).layout("struct s", MODELS[0]);
            assert!(answer.is_err(), "{text}: {answer:?}");
        }
    }
}
