//! What a tree offers to open a window with, read from its own
//! `include/linux/uaccess.h`: two trees of one version may differ.

use tollgate_source::{TokenKind, tokens};

/// The header that declares the calls of a window on every architecture.
pub const UACCESS: &str = "include/linux/uaccess.h";

/// The calls of a window that a tree has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// `user_access_begin(ptr, len)`, with the range check inside.
    pub both: bool,
    /// `user_read_access_begin` and its end.
    pub read: bool,
    /// `user_write_access_begin` and its end.
    pub write: bool,
    /// `can_do_masked_user_access` and `masked_user_access_begin`.
    pub masked: bool,
    /// `masked_user_read_access_begin` and `masked_user_write_access_begin`: a
    /// masked begin for each of the ends.
    pub masked_ways: bool,
    /// `scoped_user_read_access` and its kin.
    pub scoped: bool,
    /// `scoped_user_rw_access`.
    pub scoped_both: bool,
    /// Whether the scoped forms take a pointer to const: the first ones kept it
    /// in a `void __user *`.
    pub scoped_const: bool,
    /// `unsafe_get_user` goes through a label of its own, so that it may leave
    /// the scope: an asm goto may not.
    pub local_labels: bool,
    /// `copy_from_user` and `copy_to_user`.
    pub copies: bool,
    /// `unsafe_copy_to_user`.
    pub unsafe_copies: bool,
}

impl Offers {
    /// Reads them off the bytes of [`UACCESS`].
    #[must_use]
    pub fn read(header: &[u8]) -> Self {
        let defines: Vec<&[u8]> = defines(header).collect();
        let has = |name: &[u8]| {
            defines
                .iter()
                .any(|define| define.strip_prefix(name).is_some_and(|rest| !is_word(rest)))
        };
        let scoped = has(b"scoped_user_read_access") && has(b"scoped_user_write_access");
        Self {
            both: defines.iter().any(|define| takes_a_length(define)),
            read: has(b"user_read_access_begin") && has(b"user_read_access_end"),
            write: has(b"user_write_access_begin") && has(b"user_write_access_end"),
            masked: has(b"can_do_masked_user_access") && has(b"masked_user_access_begin"),
            masked_ways: has(b"masked_user_read_access_begin")
                && has(b"masked_user_write_access_begin"),
            scoped,
            scoped_both: has(b"scoped_user_rw_access"),
            scoped_const: scoped && !defines.iter().any(|define| keeps_no_const(define)),
            local_labels: mentions(header, b"arch_unsafe_get_user"),
            unsafe_copies: has(b"unsafe_copy_to_user"),
            copies: mentions(header, b"copy_from_user") && mentions(header, b"copy_to_user"),
        }
    }

    /// The middle of the name of the begin that fits: `_read`, `_write`, or
    /// nothing for the one that opens both ways.
    pub(crate) fn way(self, reads: usize, writes: usize) -> Option<&'static str> {
        match (reads, writes) {
            (_, 0) if self.read => Some("_read"),
            (0, _) if self.write => Some("_write"),
            _ => self.both.then_some(""),
        }
    }
}

/// What stands behind each `#define` of a header.
pub(crate) fn defines(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = tokens(header, 0)
        .into_iter()
        .filter(|token| token.kind == TokenKind::Directive);
    lines.filter_map(move |line| {
        let line = line.span.of(header).strip_prefix(b"#")?.trim_ascii_start();
        line.strip_prefix(b"define").map(<[u8]>::trim_ascii_start)
    })
}

/// Whether the header has the word outside comments.
fn mentions(header: &[u8], word: &[u8]) -> bool {
    let all = tokens(header, 0);
    let within = |line: &[u8]| line.windows(word.len()).any(|part| part == word);
    all.iter().any(|token| match token.kind {
        TokenKind::Word => token.span.of(header) == word,
        TokenKind::Directive => within(token.span.of(header)),
        _ => false,
    })
}

/// Whether a macro keeps a user pointer in a `void __user *` of its own.
fn keeps_no_const(define: &[u8]) -> bool {
    let all = tokens(define, 0);
    let code: Vec<&[u8]> = all
        .iter()
        .filter(|token| token.is_code())
        .map(|token| token.span.of(define))
        .collect();
    let declares = |words: &[&[u8]]| matches!(words, [b"(", b"void", b"__user", b"*", _, b"="]);
    code.windows(6).any(declares)
}

fn is_word(rest: &[u8]) -> bool {
    rest.first()
        .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

/// Before 5.0 the call had no arguments and checked nothing.
fn takes_a_length(define: &[u8]) -> bool {
    let arguments = define.strip_prefix(b"user_access_begin(");
    arguments.is_some_and(|rest| rest.iter().take_while(|b| **b != b')').any(|b| *b == b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_6_12_offers_windows() {
        let header = b"#ifndef user_access_begin\n#define user_access_begin(ptr,len) access_ok(ptr, len)\n#endif\n\
            #define user_write_access_begin user_access_begin\n#define user_write_access_end user_access_end\n";
        let offers = Offers::read(header);
        assert_eq!(
            offers,
            Offers {
                both: true,
                write: true,
                ..Offers::default()
            }
        );
        assert_eq!(
            offers.way(1, 0),
            Some(""),
            "there is no read window, so the one for both ways serves"
        );
        assert_eq!(offers.way(0, 2), Some("_write"));
    }

    #[test]
    fn a_scope_takes_const_where_its_own_pointer_is_none_to_void() {
        let taken = |own: &str| {
            let scope = format!(
                "#define scoped_user_read_access(p, l) \\\n\tfor ({own} = begin(p, l); ok; )\n#define scoped_user_write_access(p, l) x\n"
            );
            Offers::read(scope.as_bytes()).scoped_const
        };
        assert!(!taken("void __user *_tmpptr"));
        assert!(!taken("void  __user\t* mine"));
        assert!(taken("auto _tmpptr"));
        assert!(taken("const void __user *_tmpptr"));
        assert!(taken("/* (void __user *_tmpptr = */ auto own"));
    }

    #[test]
    fn a_begin_without_a_range_is_none() {
        let header = b"#define user_access_begin() do { } while (0)\n// #define user_access_begin(ptr, len)\n";
        assert_eq!(Offers::read(header), Offers::default());
        assert_eq!(Offers::default().way(0, 2), None);
    }
}
