//! The `#if`s of a C file: lines that are compiled together, and when.

use tollgate_source::{LineIndex, TokenKind, tokens};

use crate::condition::Condition;

/// Lines between the same two directives, without what other `#if`s among them take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// When these lines reach the compiler, all `#if`s around them counted.
    pub condition: Condition,
    /// The directive that begins it, as it stands there; empty at the top.
    pub begins: String,
    /// The line of that directive, from 1; 0 at the top.
    pub line: u32,
}

/// What a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Nothing that a compiler reads: white space and comments.
    Blank,
    /// A directive that has no text of its own: `#if`, `#include`.
    Directive,
    /// A `#define` or its continuation.
    Define,
    /// Anything else.
    Code,
}

/// The lines of a file by group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    groups: Vec<Group>,
    /// For each line its kind and its group.
    lines: Vec<(LineKind, usize)>,
}

/// An `#if` that is open.
struct Open {
    /// The group around it.
    outer: usize,
    /// The sides before.
    before: Vec<Condition>,
}

impl Groups {
    /// Reads a C file.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let index = LineIndex::new(text);
        let count = text.iter().filter(|byte| **byte == b'\n').count() + 1;
        let mut read = Self {
            groups: vec![Group {
                condition: Condition::Yes,
                begins: String::new(),
                line: 0,
            }],
            lines: vec![(LineKind::Blank, 0); count],
        };
        let mut open: Vec<Open> = Vec::new();
        let mut now = 0;
        let mut next_line = 0;
        for token in tokens(text, 0) {
            let first = index.position(token.span.start).line as usize - 1;
            let last = index.position(token.span.end.saturating_sub(1)).line as usize - 1;
            read.lines
                .iter_mut()
                .take(first + 1)
                .skip(next_line)
                .for_each(|line| line.1 = now);
            let mut kind = match token.kind {
                TokenKind::Comment => LineKind::Blank,
                TokenKind::Directive => LineKind::Directive,
                _ => LineKind::Code,
            };
            if token.kind == TokenKind::Directive {
                let words = text
                    .get(token.span.start..token.span.end)
                    .unwrap_or_default();
                let words = joined(words);
                let (name, rest) = split(&words);
                if name == "define" {
                    kind = LineKind::Define;
                }
                now = read.directive(name, rest, first as u32 + 1, now, &mut open);
            }
            for line in read.lines.iter_mut().take(last + 1).skip(first) {
                line.1 = now;
                if kind != LineKind::Blank {
                    line.0 = kind;
                }
            }
            next_line = last + 1;
        }
        read.lines
            .iter_mut()
            .skip(next_line)
            .for_each(|line| line.1 = now);
        read
    }

    /// Takes a directive, and gives the group that it begins or goes on.
    fn directive(
        &mut self,
        name: &str,
        rest: &str,
        line: u32,
        now: usize,
        open: &mut Vec<Open>,
    ) -> usize {
        let own = match name {
            "if" | "elif" => Condition::of_directive(rest),
            "ifdef" | "elifdef" => Condition::defined(rest.trim()),
            "ifndef" | "elifndef" => Condition::defined(rest.trim()).negated(),
            "else" => Condition::Yes,
            "endif" => return open.pop().map_or(0, |one| one.outer),
            _ => return now,
        };
        if name.starts_with("if") {
            open.push(Open {
                outer: now,
                before: Vec::new(),
            });
        }
        let Some(one) = open.last_mut() else {
            return now;
        };
        let outer = self
            .groups
            .get(one.outer)
            .map_or(Condition::Yes, |g| g.condition.clone());
        let before = one.before.iter().cloned().map(Condition::negated);
        let condition = before.fold(outer, Condition::and).and(own.clone());
        one.before.push(own);
        self.groups.push(Group {
            condition,
            begins: format!("#{name} {}", rest.trim()).trim_end().to_owned(),
            line,
        });
        self.groups.len() - 1
    }

    /// What a line holds, from 1.
    #[must_use]
    pub fn kind(&self, line: u32) -> LineKind {
        self.at(line).map_or(LineKind::Blank, |(kind, _)| kind)
    }

    /// The number of the group of a line, from 1.
    #[must_use]
    pub fn number(&self, line: u32) -> usize {
        self.at(line).map_or(0, |(_, group)| group)
    }

    /// A group by its number.
    #[must_use]
    pub fn group(&self, number: usize) -> Option<&Group> {
        self.groups.get(number)
    }

    /// The lines of a group that a compiler or its preprocessor reads.
    pub fn lines_of(&self, number: usize) -> impl Iterator<Item = u32> {
        let numbered = (1_u32..).zip(&self.lines);
        let own =
            numbered.filter(move |(_, (kind, group))| *group == number && *kind != LineKind::Blank);
        own.map(|(line, _)| line)
    }

    fn at(&self, line: u32) -> Option<(LineKind, usize)> {
        self.lines.get((line as usize).checked_sub(1)?).copied()
    }
}

/// A directive on one line.
fn joined(words: &[u8]) -> String {
    String::from_utf8_lossy(words)
        .replace("\\\r\n", " ")
        .replace("\\\n", " ")
}

/// `# ifdef X` → `ifdef`, `X`.
fn split(words: &str) -> (&str, &str) {
    let words = words.trim_start().trim_start_matches('#').trim_start();
    let end = words
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(words.len());
    let (name, rest) = words.split_at(end);
    let rest = rest
        .find("/*")
        .map_or(rest, |at| rest.get(..at).unwrap_or(rest));
    (name, rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &[u8] = b"\
int a; /* one
two */
#ifdef CONFIG_A
int b;
#if defined(CONFIG_B) && \\
	!CONFIG_C
int c;
#else
#define D \\
	1
#endif
int e;
#endif

int f;
";

    #[test]
    fn lines_belong_to_groups() {
        let read = Groups::of(TEXT);
        let when = |line: u32| read.group(read.number(line)).unwrap().condition.to_string();
        assert_eq!(when(1), "always");
        assert_eq!(when(4), "CONFIG_A");
        assert_eq!(when(7), "CONFIG_A && CONFIG_B && !CONFIG_C");
        assert_eq!(when(9), "CONFIG_A && !(CONFIG_B && !CONFIG_C)");
        assert_eq!(
            (when(12), when(15)),
            ("CONFIG_A".to_owned(), "always".to_owned())
        );
        assert_eq!(read.kind(2), LineKind::Blank);
        assert_eq!(
            (read.kind(9), read.kind(10)),
            (LineKind::Define, LineKind::Define)
        );
        assert_eq!(
            (read.kind(3), read.kind(14)),
            (LineKind::Directive, LineKind::Blank)
        );
        assert_eq!(read.lines_of(read.number(7)).collect::<Vec<_>>(), [5, 6, 7]);
        assert_eq!(read.group(read.number(7)).unwrap().line, 5);
    }

    proptest! {
        #[test]
        fn any_text_has_groups(text in "((#if |#else|#endif|#define |/\\*|\\*/)?[a-z()\"\\\\ ]{0,8}\n?){0,20}") {
            let read = Groups::of(text.as_bytes());
            for line in 0..30 {
                prop_assert!(read.group(read.number(line)).is_some());
            }
        }
    }
}
