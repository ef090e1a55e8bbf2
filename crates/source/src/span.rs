//! Where something is in a file: bytes for programs, lines for people.

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;

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
        let own = self.of(text);
        match std::str::from_utf8(own) {
            Ok(own) => own.to_owned(),
            Err(_) => String::from_utf8_lossy(own).into_owned(),
        }
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

/// So many bytes are looked through for line ends when a position is asked for.
const STRIDE: usize = 4096;

/// The lines of a file, to turn bytes into positions. Most files have thousands
/// of lines and are asked about a few: the ends are counted, not kept.
#[derive(Clone, Debug)]
pub struct LineIndex<'t> {
    text: &'t [u8],
    /// How many lines end before each stride.
    before: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    /// Counts the line ends of `text` once.
    #[must_use]
    pub fn new(text: &'t [u8]) -> Self {
        let count = |ends: &mut usize, stride: &[u8]| {
            let before = *ends;
            *ends += memchr::memchr_iter(b'\n', stride).count();
            Some(before)
        };
        Self {
            text,
            before: text.chunks(STRIDE).scan(0, count).collect(),
        }
    }

    /// The position of a byte.
    #[must_use]
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let stride = (byte / STRIDE).min(self.before.len().saturating_sub(1));
        let near = self.text.get(stride * STRIDE..byte).unwrap_or_default();
        let ends = memchr::memchr_iter(b'\n', near).count();
        let line = self.before.get(stride).unwrap_or(&0) + ends + 1;
        Position {
            line: saturate(line),
            column: saturate(byte - self.line_start(byte) + 1),
        }
    }

    /// The byte at which the line that holds `byte` begins.
    #[must_use]
    pub fn line_start(&self, byte: usize) -> usize {
        let before = self.text.get(..byte).unwrap_or(self.text);
        memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)
    }
}

fn saturate(number: usize) -> u32 {
    answer::fits::<u32, _>(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{LineIndex, Position};

    #[test]
    fn positions_are_those_of_a_count_from_the_start() {
        // Lines of all lengths, over several strides.
        let text: Vec<u8> = (0..150usize)
            .flat_map(|length| [vec![b'x'; length], vec![b'\n']].concat())
            .collect();
        let lines = LineIndex::new(&text);
        let (mut line, mut column) = (1, 1);
        for (byte, value) in text.iter().enumerate() {
            assert_eq!(lines.position(byte), Position { line, column }, "{byte}");
            assert_eq!(lines.line_start(byte), byte + 1 - column as usize);
            (line, column) = match value {
                b'\n' => (line + 1, 1),
                _ => (line, column + 1),
            };
        }
        assert_eq!(lines.position(text.len()), Position { line, column });
        assert_eq!(lines.position(usize::MAX), Position { line, column });
        let none = LineIndex::new(b"");
        assert_eq!(none.position(7), Position { line: 1, column: 1 });
    }
}
