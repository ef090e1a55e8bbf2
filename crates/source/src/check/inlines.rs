//! What inline functions and macros of a tree's headers call: a call of one that
//! leaves no call may stand in an open window.

use std::collections::{BTreeMap, BTreeSet};

use crate::lex::{Token, TokenKind, tokens};
use crate::split::bodies;
use crate::vocabulary::Vocabulary;
use crate::wrappers::definition;

use super::tokens::calls;
use super::words::{CheckWords, Permission};

/// One definition of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Definition {
    /// Whether it is a macro or an inline function.
    inline: bool,
    /// What it calls.
    calls: Vec<String>,
}

/// Definitions of some names, as far as they were looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inlines {
    known: BTreeMap<String, Vec<Definition>>,
}

impl Inlines {
    /// The definitions that a file has of some names.
    #[must_use]
    pub fn of(text: &[u8], names: &BTreeSet<String>, vocabulary: &Vocabulary) -> Self {
        let mut found = Self::default();
        let all = tokens(text, 0);
        for body in bodies(text, &all, vocabulary) {
            if names.contains(&body.name) {
                let header = header(&all, body.header.start, body.tokens.start);
                let inside = all.get(body.tokens).unwrap_or_default();
                found.add(
                    text,
                    body.name,
                    header.iter().any(|t| says_inline(text, t)),
                    inside,
                );
            }
        }
        for name in declared(text, &all, names) {
            // Whoever builds it without the inline function calls another file's.
            found.add(text, name, false, &[]);
        }
        for line in all.iter().filter(|t| t.kind == TokenKind::Directive) {
            if let Some((name, rest)) = definition(text, line.span) {
                let name = name.text(text);
                if names.contains(&name) {
                    found.add_macro(text, name, &rest);
                }
            }
        }
        found
    }

    /// A macro that is another name is a call of that; `#define name name` only says
    /// that there is one.
    fn add_macro(&mut self, text: &[u8], name: String, inside: &[Token]) {
        match inside {
            [only] if only.kind == TokenKind::Word => {
                let other = only.span.text(text);
                if other != name {
                    let calls = vec![other];
                    let all = self.known.entry(name).or_default();
                    all.push(Definition {
                        inline: true,
                        calls,
                    });
                }
            }
            _ => self.add(text, name, true, inside),
        }
    }

    fn add(&mut self, text: &[u8], name: String, inline: bool, inside: &[Token]) {
        let mut calls: Vec<String> = calls(text, inside, |word| !is_keyword(word))
            .into_iter()
            .map(|call| call.name.text(text))
            .collect();
        calls.sort_unstable();
        calls.dedup();
        let all = self.known.entry(name).or_default();
        all.push(Definition { inline, calls });
    }

    /// Takes over what another file defines.
    pub fn merge(&mut self, other: Self) {
        for (name, definitions) in other.known {
            self.known.entry(name).or_default().extend(definitions);
        }
    }

    /// What inline definitions call and nobody has looked for yet.
    #[must_use]
    pub fn wanted(&self, words: &CheckWords) -> BTreeSet<String> {
        let inline = self.known.values().flatten().filter(|own| own.inline);
        let called = inline.flat_map(|own| &own.calls);
        let new = |name: &&String| {
            !self.known.contains_key(*name) && words.permission(name) == Permission::Unknown
        };
        called.filter(new).cloned().collect()
    }

    /// The names of which every definition is inline and leaves no call that a window
    /// forbids.
    #[must_use]
    pub fn without_calls(&self, words: &CheckWords) -> BTreeSet<String> {
        let mut found: BTreeSet<String> = BTreeSet::new();
        loop {
            let none = |call: &String| match words.permission(call) {
                Permission::Allowed => true,
                Permission::Forbidden(_) => false,
                // By its name a macro, of a header that is not among those.
                Permission::Unknown if !self.known.contains_key(call) => {
                    !call.bytes().any(|byte| byte.is_ascii_lowercase())
                }
                Permission::Unknown => found.contains(call) && !words.touches(call),
            };
            let settled = |own: &Definition| own.inline && own.calls.iter().all(none);
            let all = self.known.iter();
            let new = all.filter(|(name, all)| !found.contains(*name) && all.iter().all(settled));
            let new: Vec<String> = new.map(|(name, _)| name.clone()).collect();
            if new.is_empty() {
                return found;
            }
            found.extend(new);
        }
    }
}

/// Which of some names a file declares as functions that are not inline: `int f(int a);`. A
/// header has such beside the inline functions that stand for them where an option is off.
fn declared(text: &[u8], all: &[Token], names: &BTreeSet<String>) -> BTreeSet<String> {
    let places = calls(text, all, |word| names.contains(word)).into_iter();
    let is_prototype = |at: usize, close: usize| {
        let front = all.iter().take(at).rev();
        let front = front.take_while(|own| own.kind == TokenKind::Word || own.is(b'*'));
        let mut before = front.peekable();
        let typed = before.peek().is_some();
        let other = |own: &Token| says_inline(text, own) || begins_statement(own.span.of(text));
        let ends = all.get(close + 1).is_some_and(|own| own.is(b';'));
        typed && ends && !before.any(other)
    };
    let declared = places.filter(|own| is_prototype(own.at, own.close));
    declared.map(|own| own.name.text(text)).collect()
}

/// Words that stand before a call, not before the name of what is declared.
fn begins_statement(word: &[u8]) -> bool {
    matches!(word, b"return" | b"else" | b"do" | b"case" | b"goto")
}

/// The tokens of a header, with those of the lines before it that belong to it.
pub(super) fn header(all: &[Token], start: usize, end: usize) -> &[Token] {
    let from = all.partition_point(|token| token.span.start < start);
    let front = all.get(..from).unwrap_or_default().iter().rev();
    let own = front.take_while(|token| token.kind == TokenKind::Word || token.is(b'*'));
    all.get(from - own.count()..end).unwrap_or_default()
}

/// Whether a word of a header says that the function is inline (include/linux/compiler_types.h,
/// include/linux/compiler-gcc.h, include/linux/kprobes.h).
pub(super) fn says_inline(text: &[u8], token: &Token) -> bool {
    matches!(
        token.span.of(text),
        b"inline"
            | b"__inline"
            | b"__inline__"
            | b"__always_inline"
            | b"nokprobe_inline"
            | b"__no_kasan_or_inline"
            | b"__no_sanitize_or_inline"
            | b"__no_kcsan_or_inline"
    )
}

/// Words before a parenthesis that call nothing.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "for"
            | "while"
            | "switch"
            | "return"
            | "sizeof"
            | "typeof"
            | "__typeof__"
            | "offsetof"
            | "_Generic"
            | "defined"
            | "__attribute__"
            | "asm"
            | "__asm__"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none(header: &str, names: &[&str]) -> Vec<String> {
        let vocabulary = Vocabulary::builtin().unwrap();
        let words = CheckWords::builtin().unwrap();
        let (mut all, mut names): (_, BTreeSet<String>) = (
            Inlines::default(),
            names.iter().map(|name| (*name).to_owned()).collect(),
        );
        while !names.is_empty() {
            all.merge(Inlines::of(header.as_bytes(), &names, &vocabulary));
            let wanted = all.wanted(&words);
            names = wanted.difference(&names).cloned().collect();
        }
        all.without_calls(&words).into_iter().collect()
    }

    #[test]
    fn what_calls_nothing_leaves_no_call() {
        let header = "static inline bool is_wide(struct task *t)\n{\n\treturn t->a & WIDE;\n}\n\
                      #define set_it set_it\n\
                      static __always_inline void set_it(int *p)\n{\n\tif (is_wide(t))\n\t\t*p = flag(t);\n}\n\
                      #define flag(t) ((t)->flags)\n";
        assert_eq!(none(header, &["set_it"]), ["flag", "is_wide", "set_it"]);
        let generic = "#define offset(r) _Generic((r), one_t: (r).reg, other_t: (r).reg)\n";
        assert_eq!(none(generic, &["offset"]), ["offset"]);
    }

    #[test]
    fn what_calls_or_is_no_inline_function_does() {
        let header = "static inline int locked(int *p)\n{\n\treturn work(p);\n}\n\
                      int outside(int *p)\n{\n\treturn *p;\n}\n\
                      static inline int sleeps(void)\n{\n\tmight_sleep();\n\treturn 0;\n}\n\
                      static inline int opens(int __user *p)\n{\n\treturn get_user(a, p);\n}\n\
                      #define same same\n\
                      static inline int one(int *p)\n{\n\treturn other(p);\n}\n\
                      static inline int other(int *p)\n{\n\treturn one(p);\n}\n";
        let names = [
            "locked", "outside", "sleeps", "opens", "same", "one", "nowhere",
        ];
        assert_eq!(none(header, &names), [] as [&str; 0]);
        // One configuration's is a call of another file's, another one's not.
        let stub = "#ifdef CONFIG_F\nint f(int a);\n#else\nstatic inline int f(int a)\n{\n\treturn a;\n}\n#endif\n";
        assert_eq!(none(stub, &["f"]), [] as [&str; 0]);
        let ahead = "static inline int f(int a);\nstatic inline int f(int a)\n{\n\treturn a;\n}\n\
                     static inline int g(int a)\n{\n\tif (!a)\n\t\treturn f(a);\n\telse\n\t\tf(a);\n\treturn 0;\n}\n";
        assert_eq!(none(ahead, &["f", "g"]), ["f", "g"]);
        // One architecture's may be a call, another one's not.
        let both = "static inline int f(int a)\n{\n\treturn a;\n}\n#ifdef OTHER\nint f(int a)\n{\n\treturn a;\n}\n#endif\n";
        assert_eq!(none(both, &["f"]), [] as [&str; 0]);
    }
}
