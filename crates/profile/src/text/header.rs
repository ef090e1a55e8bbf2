//! The heads of tables: which column is what.

use super::lines::Line;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// A symbol's own part.
    Own,
    /// Its part with what it calls.
    Children,
    /// A percentage of something else: of user space, of guests.
    OtherPart,
    /// A number of samples.
    Samples,
    /// A sum of periods.
    Period,
    /// The name of the task.
    Command,
    /// The image.
    Object,
    /// The symbol, with the mark of where it runs.
    Symbol,
    /// Something that is not used here.
    Other,
}

/// The columns, from left to right, and how many lines the head takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: usize,
}

impl Header {
    pub(crate) fn has(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// The columns of text, without that of the symbol, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = Column> {
        let text =
            |column: &Column| matches!(column, Column::Command | Column::Object | Column::Other);
        self.columns.iter().copied().filter(text)
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = Column> {
        let part =
            |column: &Column| matches!(column, Column::Own | Column::Children | Column::OtherPart);
        self.columns.iter().copied().filter(part)
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = Column> {
        let number = |column: &Column| matches!(column, Column::Samples | Column::Period);
        self.columns.iter().copied().filter(number)
    }
}

/// The head that begins at a line: of one line, or of two where mail has wrapped it.
pub(crate) fn header(lines: &[Line<'_>], at: usize) -> Option<Header> {
    let first = lines.get(at)?;
    let words = words(first);
    let second = lines.get(at + 1).filter(|next| next.depth == first.depth);
    let wrapped = || {
        let more = second?;
        let joined: Vec<&str> = words.iter().copied().chain(self::words(more)).collect();
        Some((columns(&joined)?, 2))
    };
    let single = || Some((columns(&words)?, 1));
    let starts = !words.is_empty() && starts_head(&words);
    // The longer reading first: `Overhead Command Shared` alone would be one, too.
    let found = starts.then(|| wrapped().or_else(single)).flatten()?;
    let (columns, lines) = found;
    complete(&columns).then_some(Header { columns, lines })
}

/// Symbols and something to count them by.
fn complete(columns: &[Column]) -> bool {
    let has = |wanted: &[Column]| columns.iter().any(|column| wanted.contains(column));
    columns.len() >= 2
        && has(&[Column::Own, Column::Children, Column::Samples])
        && has(&[Column::Symbol])
}

fn words<'l>(line: &'l Line<'_>) -> Vec<&'l str> {
    let text = line.text.trim_start();
    let text = text.strip_prefix('#').unwrap_or(text);
    text.split_whitespace().collect()
}

fn starts_head(words: &[&str]) -> bool {
    columns(words.get(..1).unwrap_or_default()).is_some() || columns(words).is_some()
}

/// All words have to be titles of columns (perf-report(1), `--sort` and `-F`).
fn columns(words: &[&str]) -> Option<Vec<Column>> {
    let mut found = Vec::new();
    let mut rest = words.iter().copied().peekable();
    while let Some(word) = rest.next() {
        let column = match word.to_ascii_lowercase().as_str() {
            "overhead" | "self" | "percent" => Column::Own,
            "children" => Column::Children,
            "sys" | "usr" => Column::OtherPart,
            "guest" => {
                rest.next_if(|next| matches!(*next, "sys" | "usr"))?;
                Column::OtherPart
            }
            "samples" => Column::Samples,
            "period" => Column::Period,
            "command" | "comm" | "pid:command" | "tid" => Column::Command,
            "shared" => {
                rest.next_if(|next| is_cut_of_object(next));
                Column::Object
            }
            "dso" | "object" | "module" => Column::Object,
            "symbol" => Column::Symbol,
            "source:line" | "cpu" | "socket" | "type" => Column::Other,
            // `IPC   [IPC Coverage]`, written beside each symbol.
            "ipc" => {
                rest.next_if(|next| *next == "[IPC");
                rest.next_if(|next| *next == "Coverage]");
                Column::Other
            }
            _ => return None,
        };
        found.push(column);
    }
    (!found.is_empty()).then_some(found)
}

/// `Object`, or what perf top has left of it: `Shared O`.
fn is_cut_of_object(word: &str) -> bool {
    !word.is_empty() && "object".starts_with(&word.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    fn read(text: &str) -> Option<(Vec<Column>, usize)> {
        let header = header(&lines(text), 0)?;
        Some((header.columns, header.lines))
    }

    #[test]
    fn a_head_names_its_columns_in_any_order() {
        use Column::{Children, Command, Object, Own, Samples, Symbol};
        let usual = vec![Own, Command, Object, Symbol];
        assert_eq!(
            read("# Overhead  Command  Shared Object  Symbol"),
            Some((usual.clone(), 1))
        );
        assert_eq!(
            read("# Overhead     Command       Shared \nObject                Symbol"),
            Some((usual, 2))
        );
        assert_eq!(
            read("  Overhead  Shared O  Symbol"),
            Some((vec![Own, Object, Symbol], 1))
        );
        assert_eq!(
            read("Symbol  Samples  Children  Self"),
            Some((vec![Symbol, Samples, Children, Own], 1))
        );
    }

    #[test]
    fn prose_is_no_head() {
        for text in [
            "Overhead of the call",
            "symbol",
            "Symbol  Command",
            "",
            "self Samples",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
