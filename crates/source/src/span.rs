//! Where something is in a file: bytes for programs, lines for people.

use serde::{Deserialize, Serialize};

/// A range of bytes of the original file, end excluded.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span {
    /// The first byte, counted from 0.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Whether `other` lies wholly inside.
    #[must_use]
    pub fn contains(&self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn join(&self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// These bytes of `text`; empty where the span lies outside it.
    #[must_use]
    pub fn of<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// These bytes of `text` as text; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn text(&self, text: &[u8]) -> String {
        String::from_utf8_lossy(self.of(text)).into_owned()
    }
}

/// A place in a file as editors and compilers name it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// The line, counted from 1.
    pub line: u32,
    /// The column in bytes, counted from 1; a tab is one byte.
    pub column: u32,
}

/// The starts of a file's lines, to turn bytes into positions.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads the line ends of `text` once.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        Self { starts }
    }

    /// The position of a byte.
    #[must_use]
    pub fn position(&self, byte: usize) -> Position {
        let line = self.starts.partition_point(|&start| start <= byte);
        let start = self
            .starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        Position {
            line: saturate(line),
            column: saturate(byte.saturating_sub(start) + 1),
        }
    }

    /// The byte at which the line that holds `byte` begins.
    #[must_use]
    pub fn line_start(&self, byte: usize) -> usize {
        let line = self.starts.partition_point(|&start| start <= byte);
        self.starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0)
    }
}

fn saturate(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
