//! Text in lines of a fixed width: what a terminal and a mail have in common.

use comfy_table::{CellAlignment, ContentArrangement};

use crate::document::{Block, Cell, Column, Extent, Fact, Kind, Section, Table, Tone, Verdict};
use crate::text::{clean, clean_lines, labelled, shorten, wrap, wrap_paths};

/// How far the text behind a label is indented.
pub(crate) const INDENT: usize = 13;
/// The widths of a name that are tried where a table of 80 columns is to fit, widest
/// first; those of the second list only where nothing of the first does.
const NAMES: [usize; 5] = [46, 38, 30, 26, 22];
const NARROW: [usize; 3] = [18, 12, 8];
/// Prose in longer lines is hard to read, however wide the terminal is.
const PROSE: usize = 100;

/// ANSI styles, or none.
#[derive(Clone, Copy)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    fn with(self, code: &str, text: &str) -> String {
        if self.0 {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// The label of a fact.
    fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Good => self.with("32", text),
            Tone::Bad => self.with("31", text),
            Tone::Doubt => self.with("33", text),
            Tone::Plain => text.to_owned(),
        }
    }

    fn word(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "1;32",
            Tone::Bad => "1;31",
            Tone::Doubt => "1;33",
            Tone::Plain => "1",
        };
        self.with(code, text)
    }
}

/// How lines are written.
#[derive(Clone, Copy)]
pub(crate) struct Lines {
    pub(crate) paint: Paint,
    /// The most columns of a line.
    pub(crate) width: usize,
    /// Whether it leaves this machine: no program reads its lines, so that they are
    /// wrapped, and its commands have their files with them.
    pub(crate) leaves: bool,
}

impl Lines {
    /// The sections of a brief form, a blank line between any two.
    pub(crate) fn sections(self, sections: &[Section]) -> Vec<String> {
        let shown = sections
            .iter()
            .filter(|section| section.extent != Extent::Full);
        shown.flat_map(|section| self.section(section)).collect()
    }

    fn section(self, section: &Section) -> Vec<String> {
        let blocks: Vec<String> = section
            .blocks
            .iter()
            .map(|block| self.block(block))
            .collect();
        let own = format!("{}{}", self.title(&section.title), blocks.join("\n"));
        let below = self.sections(&section.sections);
        std::iter::once(own).chain(below).collect()
    }

    /// A heading, with its line end; nothing where there is none.
    fn title(self, title: &str) -> String {
        let lines = wrap_paths(title, self.width);
        let bold = lines.iter().map(|line| self.paint.bold(line) + "\n");
        bold.collect()
    }

    fn block(self, block: &Block) -> String {
        match block {
            Block::Text(text) => self.wrapped(text),
            Block::List(all) => all.iter().map(|text| self.item(text)).collect(),
            Block::Facts(facts) => facts.iter().map(|fact| self.fact(fact)).collect(),
            Block::Table(table) => self.table(table),
            Block::Plots(plots) => {
                let tables = plots.tables();
                let one = |(title, table): &(String, Table)| {
                    format!("{}{}", self.wrapped(title), self.table(table))
                };
                tables.iter().map(one).collect::<Vec<_>>().join("\n")
            }
            Block::Patch(text) => text.lines().map(|line| clean(line) + "\n").collect(),
            Block::Lines(all) => all.iter().map(|line| self.line(line)).collect(),
            Block::Script(script) => {
                let lines = match self.leaves {
                    true => &script.whole,
                    false => &script.brief,
                };
                lines.iter().map(|line| clean_lines(line) + "\n").collect()
            }
            Block::Snippets(all) => {
                let width = Some(self.prose());
                let all = all.iter().map(|one| one.text(self.paint.0, width));
                all.collect::<Vec<_>>().join("\n")
            }
            Block::Verdict(verdict) => self.verdict(verdict),
            Block::Fold(title, _, blocks) => {
                let blocks: Vec<String> = blocks.iter().map(|block| self.block(block)).collect();
                format!("{}{}", self.wrapped(title), blocks.join("\n"))
            }
        }
    }

    /// A paragraph, with its line end.
    pub(crate) fn wrapped(self, text: &str) -> String {
        wrap(text, self.prose()).join("\n") + "\n"
    }

    /// A paragraph of several: what follows its first line is indented.
    fn item(self, text: &str) -> String {
        wrap(text, self.prose().saturating_sub(2)).join("\n  ") + "\n"
    }

    /// A line that programs read as well.
    fn line(self, line: &str) -> String {
        match self.leaves {
            true => wrap_paths(line, self.width.saturating_sub(2)).join("\n  ") + "\n",
            false => line_of(line),
        }
    }

    fn prose(self) -> usize {
        self.width.min(PROSE)
    }

    fn fact(self, fact: &Fact) -> String {
        let indent = INDENT.max(fact.label.chars().count() + 1);
        let text = labelled(&clean(&fact.label), &fact.text, indent, self.prose());
        let (label, rest) = text
            .split_at_checked(fact.label.len())
            .unwrap_or((&text, ""));
        format!("{}{rest}", self.paint.tone(fact.tone, label))
    }

    /// What came of a comparison: the word, the sentence, what belongs to it.
    pub(crate) fn verdict(self, verdict: &Verdict) -> String {
        let of = verdict.of.iter().map(|of| {
            let of = wrap(of, self.width).join("\n");
            format!("{}: ", self.paint.bold(&of))
        });
        let word = self.paint.word(verdict.tone, &verdict.word.to_uppercase());
        let details = verdict.details.iter();
        let details: String = details
            .map(|line| labelled("", line, 2, self.prose()))
            .collect();
        let statement = self.wrapped(&verdict.statement);
        format!("{}{word}\n{statement}{details}", of.collect::<String>())
    }

    /// What was not run, and why; a compiler's words keep their lines.
    pub(crate) fn not_run(self, all: &[Verdict]) -> Option<String> {
        let one = |verdict: &Verdict| {
            let of = verdict.of.as_deref().unwrap_or_default();
            let first = wrap(&format!("{of}: {}", verdict.statement), self.width).join("\n");
            let first = self.paint.tone(verdict.tone, &first);
            let rest = verdict.details.iter();
            let rest: String = rest.map(|line| shorten(line, self.width) + "\n").collect();
            format!("{first}\n{rest}")
        };
        let body: String = all.iter().map(one).collect();
        (!all.is_empty()).then(|| section("Not run", &body, &self.paint))
    }

    /// A table, in as few parts as the width allows.
    pub(crate) fn table(self, table: &Table) -> String {
        let note = table.note.iter().map(|note| self.wrapped(note));
        format!("{}{}", self.parts(table), note.collect::<String>())
    }

    fn parts(self, table: &Table) -> String {
        let loose = table.loosened();
        let fitting = |table| Some((table, self.fitting(table)?));
        let found = fitting(table).or_else(|| fitting(&loose));
        let (table, (most, name)) = found.unwrap_or((&loose, (1, 8)));
        let parts = table.split(most);
        let parts: Vec<String> = parts.iter().map(|part| plain(part, name)).collect();
        parts.join("\n")
    }

    /// How many groups fit beside each other, and with names how wide; none where the
    /// lines are too narrow for one.
    fn fitting(self, table: &Table) -> Option<(usize, usize)> {
        let more = (self.width.saturating_sub(80)) * 3 / 8;
        let wide = NAMES.map(|name| name + more);
        let all = [&wide[..], &NAMES, &NARROW];
        let best = |names: &&[usize]| {
            let tries = names
                .iter()
                .filter_map(|name| Some((self.most(table, *name)?, *name)));
            // Of equals the first: the widest names.
            tries.rev().max_by_key(|(most, _)| *most)
        };
        all.iter().find_map(best)
    }

    /// How many groups fit beside each other with names so wide.
    fn most(self, table: &Table, name: usize) -> Option<usize> {
        let fits = |most: &usize| {
            let parts = table.split(*most);
            parts.iter().all(|part| {
                // A long name alone on its line is whole, whatever the width.
                let names = part.columns.iter().any(|column| column.kind == Kind::Whole);
                let text = plain(part, name);
                let mut lines = text.lines();
                lines.all(|line| line.chars().count() <= self.width || names && !line.contains(' '))
            })
        };
        (1..=table.groups().max(1)).rev().find(fits)
    }
}

/// The same as it is.
fn line_of(line: &str) -> String {
    tollgate_source::plain(line).replace('\n', "\\n") + "\n"
}

/// Stands for a name that has a line of its own.
const OWN_LINE: char = '\u{e000}';

/// A table without rules.
fn plain(table: &Table, name: usize) -> String {
    let heads: Vec<&str> = table
        .columns
        .iter()
        .map(|column| column.head.as_str())
        .collect();
    let mut out = self::table(&heads, 0);
    for (column, about) in out.column_iter_mut().zip(&table.columns) {
        column.set_cell_alignment(match about.kind {
            Kind::Number => CellAlignment::Right,
            Kind::Name | Kind::Symbol | Kind::Whole | Kind::Word => CellAlignment::Left,
        });
    }
    let mut long = Vec::new();
    for row in &table.rows {
        let cells = row.cells.iter().zip(&table.columns);
        let mut worded = |(cell, column): (&Cell, &Column)| {
            let text = worded(cell, column.kind, name);
            match column.kind == Kind::Whole && text.chars().count() > name {
                true => {
                    long.push(text);
                    OWN_LINE.to_string()
                }
                false => text,
            }
        };
        out.add_row(cells.map(&mut worded).collect::<Vec<_>>());
    }
    with_own_lines(&lines(&out), long)
}

/// Long names above the rest of their rows.
fn with_own_lines(text: &str, long: Vec<String>) -> String {
    let mut long = long.into_iter();
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        match line.strip_prefix(OWN_LINE) {
            Some(rest) => {
                let name = long.next().unwrap_or_default();
                out.push_str(&format!("{name}\n {rest}\n"));
            }
            None => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

fn worded(cell: &Cell, kind: Kind, name: usize) -> String {
    let tags: String = cell.tags.iter().map(|tag| format!(" ({tag})")).collect();
    let text = format!("{}{tags}", cell.text);
    match kind {
        Kind::Name => wrap(&text, name).join("\n"),
        Kind::Symbol => shorten(&text, name),
        // The mark of a long name is none of a name's own.
        Kind::Whole => clean(&text).replace(OWN_LINE, "?"),
        Kind::Word | Kind::Number => clean(&text),
    }
}

/// A part with its heading.
pub(crate) fn section(title: &str, body: &str, paint: &Paint) -> String {
    format!("{}\n{body}", paint.bold(title))
}

/// A table without rules, the first `left` columns aligned left.
pub(crate) fn table(header: &[&str], left: usize) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::TableStyle::new())
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().copied());
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if index < left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        });
    }
    table
}

/// Its lines, without blanks at their ends.
pub(crate) fn lines(table: &comfy_table::Table) -> String {
    table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(width: usize) -> Lines {
        Lines {
            paint: Paint(false),
            width,
            leaves: false,
        }
    }

    #[test]
    fn a_wide_terminal_takes_a_table_in_one_piece() {
        let mut table = Table::new(&[("", Kind::Name)]);
        for group in 1..=9 {
            table.column(format!("variant {group}"), Kind::Number, group);
        }
        table.row((0..10).map(|cell| Cell::from(format!("{cell}00000.00"))));
        let parts = |width| of(width).table(&table).matches("variant 1\n").count();
        let heads = |width: usize| of(width).table(&table).matches("variant").count();
        assert_eq!(parts(80) + parts(120), 0);
        assert_eq!(heads(200), 9);
        assert_eq!(of(200).table(&table).lines().count(), 2);
        assert!(of(80).table(&table).lines().count() > 4);
        let fits = |text: String| text.lines().all(|line| line.chars().count() <= 72);
        assert!(fits(of(72).table(&table)));
    }

    /// The names of functions were cut to five letters, and the lines were too long.
    #[test]
    fn a_narrow_terminal_takes_columns_that_stay_together_apart() {
        let kinds = ["A", "share", "B", "share", "B - A"].map(|head| (head, Kind::Number));
        let table = |first: &str, kind: Kind| {
            let mut table = Table::new(&[&[(first, kind)][..], &kinds].concat());
            for name in ["__put_user_nocheck_4", "__put_user_nocheck_8"] {
                let cells = [name, "129.53", "100.0 %", "114.41", "100.0 %", "-15.13"];
                table.row(cells.map(Cell::from));
            }
            of(40).table(&table)
        };
        for text in [
            table("function", Kind::Symbol),
            table("workload", Kind::Name),
        ] {
            assert!(text.lines().all(|line| line.len() <= 40), "{text}");
            assert!(text.matches("__put_user_nocheck_8").count() > 1, "{text}");
            assert_eq!(text.matches("-15.13").count(), 2, "{text}");
        }
    }
}
