//! How lines of kernel C are laid out: tabs of eight, 80 columns where it can be.

/// Columns that a line should keep to: Documentation/process/coding-style.rst.
const PREFERRED: usize = 80;

/// Columns beyond which scripts/checkpatch.pl warns.
const LONGEST: usize = 100;

/// The columns that text like this keeps to: its own, between 80 and 100.
pub(crate) fn widest(text: &str) -> usize {
    text.lines()
        .map(width)
        .max()
        .unwrap_or(0)
        .clamp(PREFERRED, LONGEST)
}

/// The width of a text whose tabs end at multiples of eight.
pub(crate) fn width(text: &str) -> usize {
    text.chars().fold(0, |column, c| {
        if c == '\t' {
            (column / 8 + 1) * 8
        } else {
            column + 1
        }
    })
}

/// `head(a, b, c)tail`, broken after a comma and aligned to the parenthesis
/// where the line is too long for one.
pub(crate) fn call(
    columns: usize,
    indent: &str,
    head: &str,
    arguments: &[&str],
    tail: &str,
) -> String {
    let opening = format!("{indent}{head}(");
    let flat = format!("{opening}{}{tail}", arguments.join(", "));
    if width(&flat) <= columns {
        return flat;
    }
    let broken = filled(columns, &opening, arguments, tail);
    let helps = broken.lines().all(|line| width(line) <= columns) || width(&flat) > LONGEST;
    if helps { broken } else { flat }
}

fn filled(columns: usize, opening: &str, arguments: &[&str], tail: &str) -> String {
    let margin = aligned(width(opening));
    let mut out = String::new();
    let mut line = opening.to_owned();
    for (at, argument) in arguments.iter().enumerate() {
        let end = if at + 1 == arguments.len() { tail } else { "," };
        let piece = format!("{argument}{end}");
        let first = line == opening || line == margin;
        let gap = if first { "" } else { " " };
        if !first && width(&line) + 1 + width(&piece) > columns {
            out.push_str(&line);
            out.push('\n');
            line = format!("{margin}{piece}");
        } else {
            line = format!("{line}{gap}{piece}");
        }
    }
    out + &line
}

fn aligned(column: usize) -> String {
    "\t".repeat(column / 8) + &" ".repeat(column % 8)
}

/// Words of a text, one blank between two; strings keep theirs.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |all, line| {
        let tight = all.ends_with(['(', '[', '.', '>'])
            || line.starts_with([')', ']', '.', ','])
            || line.starts_with("->");
        if tight { all + line } else { all + " " + line }
    })
}

/// `text` with the indentation of its lines moved from `from` to `to`.
pub(crate) fn reindent(text: &str, from: &str, to: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix(from) {
        Some(rest) if !line.trim().is_empty() => format!("{to}{rest}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A paragraph of words in lines of at most `columns`.
pub(crate) fn wrapped(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}
