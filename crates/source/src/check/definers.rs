//! Which headers of a tree may define a name: noted while they are read to be learned
//! from, so that few of them are read again for what is called.

use std::collections::BTreeSet;

use memchr::memmem;

use crate::path::TreePath;
use crate::search::Hashed;
use crate::types::words::{name_at, name_before};

/// Bits of a filter for each name, at least: of a thousand names that a header has not, at most
/// three seem to be in it. Some thirty are looked for at once, so that a filter of half of that
/// would have every second header read again.
const BITS: usize = 16;

/// So many of them each name sets, one or two less where they meet.
const SET: u64 = 4;

/// The headers of a tree that any file may include, each with the names that it may define.
#[derive(Clone, Debug, Default)]
pub struct Definers(Vec<(TreePath, Names)>);

impl Definers {
    /// Adds a file by its path from the top of the tree, if it is such a header.
    pub fn add(&mut self, path: &TreePath, text: &[u8]) {
        if is_for_any(path, 0) {
            self.0.push((path.clone(), Names::of(text)));
        }
    }

    /// Takes over those of another part of the tree.
    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The headers that may define any of some names, or declare it.
    pub(super) fn of(&self, names: &BTreeSet<String>) -> Vec<TreePath> {
        let names = names.iter().map(|name| Hashed::of(name.as_bytes()));
        let names: Vec<Hashed> = names.collect();
        let may = |own: &&(TreePath, Names)| names.iter().any(|name| own.1.may_hold(*name));
        self.0.iter().filter(may).map(|own| own.0.clone()).collect()
    }
}

/// Whether any file of a kernel may include a file, by its path from some folders above the
/// kernel's top: the headers of include and of the architectures.
pub(super) fn is_for_any(path: &TreePath, above: usize) -> bool {
    let mut parts = path.parts().skip(above);
    let place = match parts.next() {
        Some(b"include") => true,
        Some(b"arch") => parts.nth(1) == Some(b"include"),
        _ => false,
    };
    place && path.is_header()
}

/// The names that a text may define: a few bits for each, as many words as are a power
/// of two; none where it is not known what it defines.
#[derive(Clone, Debug)]
struct Names(Option<Box<[u64]>>);

impl Names {
    fn of(text: &[u8]) -> Self {
        let found: Option<Vec<&[u8]>> = before_parentheses(text).chain(macros(text)).collect();
        Self(found.map(|found| {
            let length = (found.len() * BITS).div_ceil(64).next_power_of_two();
            let mut bits = vec![0_u64; length].into_boxed_slice();
            for (at, bit) in found.iter().flat_map(|own| places(Hashed::of(own), length)) {
                bits.get_mut(at).into_iter().for_each(|own| *own |= bit);
            }
            bits
        }))
    }

    fn may_hold(&self, name: Hashed) -> bool {
        let Some(bits) = &self.0 else {
            return true;
        };
        let set = |(at, bit): (usize, u64)| bits.get(at).is_some_and(|own| own & bit != 0);
        places(name, bits.len()).all(set)
    }
}

/// Where the bits of a name are: which word, and the bit in it.
fn places(name: Hashed, length: usize) -> impl Iterator<Item = (usize, u64)> {
    let first = name.bits();
    let step = first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 | 1;
    let place = move |own: u64| ((own >> 6) as usize & (length - 1), 1 << (own & 63));
    (0..SET).map(move |at| place(first.wrapping_add(at.wrapping_mul(step))))
}

/// The words before parentheses, as a function has that is defined or declared; none for
/// one that a comment stands behind.
fn before_parentheses(text: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    memchr::memchr_iter(b'(', text).map(|at| {
        let front = trimmed(text.get(..at)?);
        (!front.ends_with(b"*/")).then(|| name_before(front))
    })
}

/// What `#define` gives a meaning; none where a comment stands before it.
fn macros(text: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    const DEFINE: &[u8] = b"define";
    memmem::find_iter(text, DEFINE).map(|at| {
        let rest = text.get(at + DEFINE.len()..)?;
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        let comment = rest.get(blanks..).is_some_and(|own| own.starts_with(b"/"));
        (!comment).then(|| name_at(rest, blanks))
    })
}

/// A text without what may stand between a name and its parenthesis.
fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [front @ .., last] = text
        && is_blank(*last)
    {
        text = front;
    }
    text
}

/// A line may go on behind a backslash.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[(&str, &str)], names: &[&str]) -> Vec<String> {
        let mut all = Definers::default();
        for (path, text) in texts {
            let mut part = Definers::default();
            part.add(&TreePath::new(path.as_bytes()).unwrap(), text.as_bytes());
            all.merge(part);
        }
        let names = names.iter().map(|&own| own.to_owned()).collect();
        let found = all.of(&names).into_iter();
        found.map(|path| path.to_string()).collect()
    }

    #[test]
    fn each_way_to_define_a_name_is_noted() {
        for text in [
            "static inline int f(int a)\n{\n\treturn a;\n}\n",
            "int f (int a);\n",
            "int f\\\n\t(int a);\n",
            "int f /* of that */ (int a);\n",
            "#define f(a) (a)\n",
            "#\tdefine f g\n",
            "#define \\\n\tf g\n",
            "# define /* that */ f g\n",
        ] {
            let path = "include/linux/f.h";
            assert_eq!(of(&[(path, text)], &["g", "f"]), [path], "{text}");
        }
    }

    #[test]
    fn few_others_are() {
        let all: String = (0..1000)
            .map(|at| format!("int own_{at}(void);\n"))
            .collect();
        let path = "include/linux/f.h";
        let held = |name: &str| !of(&[(path, &all)], &[name]).is_empty();
        assert!((0..1000).all(|at| held(&format!("own_{at}"))));
        let others = (0..1000).filter(|at| held(&format!("other_{at}")));
        assert!(others.count() < 5);
        assert_eq!(of(&[(path, "")], &["f"]), [""; 0]);
    }

    #[test]
    fn only_what_any_file_may_include_is_asked() {
        let paths = [
            "include/linux/f.h",
            "include/f.h",
            "arch/riscv/include/asm/f.h",
            "arch/riscv/kernel/f.h",
            "drivers/include/f.h",
            "include/linux/f.c",
            "f.h",
        ];
        let texts = paths.map(|path| (path, "int f(int a);\n"));
        assert_eq!(of(&texts, &["f"]), paths[..3]);
    }
}
