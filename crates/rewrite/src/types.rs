//! What a structure of user memory is made of: members, offsets, holes.
//!
//! Read from definitions in C text, not from a compiler: what is not understood
//! is an error, never a guess. Sizes differ between architectures, so that a
//! layout is of one [`Model`].

use tollgate_source::Vocabulary;

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
#[derive(Clone, Debug)]
pub(crate) struct Types<'v> {
    /// What needs no definition.
    pub(crate) vocabulary: &'v Vocabulary,
    /// The file and its headers, nearest first.
    texts: Vec<Vec<u8>>,
}

impl<'v> Types<'v> {
    /// The definitions in those texts.
    pub(crate) fn new(vocabulary: &'v Vocabulary, texts: Vec<Vec<u8>>) -> Self {
        Self { vocabulary, texts }
    }

    /// The bytes of a plain type that has as many on every architecture.
    pub(crate) fn everywhere(&self, name: &str) -> Option<u64> {
        let mut sizes = MODELS
            .iter()
            .map(|model| self.vocabulary.scalar(name, model.long));
        let first = sizes.next()??;
        sizes.all(|size| size == Some(first)).then_some(first)
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
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::sync::LazyLock;

    use super::*;

    fn types(text: &str) -> Types<'static> {
        static WORDS: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::builtin().unwrap());
        Types::new(&WORDS, vec![text.as_bytes().to_vec()])
    }

    const SYNC: &str = "typedef int __bitwise state_t;\n#define LEN 64\n\
        struct status { state_t state; s32 pad1; /* hole */ u32 hw_ptr; } __packed;\n\
        struct sync {\n\tu32 flags;\n\tunion {\n\t\tstruct status status;\n\t\tunsigned char reserved[LEN];\n\t} s;\n\
        \tstruct { __u64 a, *b; char c; } c;\n} __attribute__((packed));\n";

    /// What the compiler is asked to confirm of a type: its size, and where the
    /// members are.
    fn claims(name: &str, of: &Type) -> String {
        let size = format!("_Static_assert(sizeof({name}) == {}, \"size\");\n", of.size);
        let members = of.members().into_iter().map(|(at, member)| {
            let own = &member.name;
            format!("_Static_assert(__builtin_offsetof({name}, {own}) == {at}, \"{own}\");\n")
        });
        size + &members.collect::<String>()
    }

    const TYPEDEFS: &str = "typedef signed char s8; typedef unsigned char u8; typedef short s16; typedef unsigned short u16;\n\
        typedef int s32; typedef unsigned u32; typedef long long s64; typedef unsigned long long u64; typedef u64 __u64;\n\
        typedef __SIZE_TYPE__ size_t;\n#define __packed __attribute__((packed))\n#define __aligned(n) __attribute__((aligned(n)))\n#define __bitwise\n#define __user\n";

    const MORE: &str = "struct a { u8 a; u64 b; u16 c[3]; void __user *d, **e; size_t f; };\n\
        struct b { u8 a; struct a b[2]; union { u64 c; u8 d[3]; }; struct { u8 e; u32 f; } __packed g; };\n\
        struct c { u8 a; u64 b __attribute__((aligned(8))); unsigned long c; const unsigned char *d; enum { X } *p; };\n\
        struct d { u8 a; u64 b; } __attribute__((aligned(32)));\nunion e { struct d a; u8 b[40]; };\n\
        struct f { long long a; signed char b; unsigned int c, d[2][3]; } __attribute__((packed, aligned(4)));\n\
        struct g { u8 a; };\nstruct h { struct g a[3]; u16 b; u8 c[]; };\n";

    /// gcc confirms every layout, for 64-bit and for x86-32.
    #[test]
    fn a_layout_is_that_of_the_compiler() {
        let text = format!("{SYNC}{MORE}");
        let types = types(&text);
        let names =
            ["sync", "status", "a", "b", "d", "g", "h"].map(|name| format!("struct {name}"));
        let names: Vec<String> = names.into_iter().chain(["union e".to_owned()]).collect();
        for (model, flag) in [(MODELS[0], "-m64"), (MODELS[2], "-m32")] {
            let claims: String = names
                .iter()
                .map(|name| claims(name, &types.layout(name, model).unwrap()))
                .collect();
            let source = format!("{TYPEDEFS}{text}{claims}");
            let mut gcc = Command::new("gcc")
                .args([flag, "-fsyntax-only", "-x", "c", "-"])
                .stdin(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            gcc.stdin
                .take()
                .unwrap()
                .write_all(source.as_bytes())
                .unwrap();
            let said = gcc.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&said.stderr);
            assert!(said.status.success(), "{flag}: {errors}");
        }
    }

    #[test]
    fn members_are_found_by_their_path() {
        let types = types(SYNC);
        let wide = types.layout("const struct sync __user", MODELS[0]).unwrap();
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
