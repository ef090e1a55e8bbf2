//! What a result says, before it has a form: sections of facts, tables, text and
//! plots, as plain data. Whatever makes a result into a document knows no format, and
//! a format (`format/`) knows no result.
//!
//! All text is ASCII where tollgate words it, with `->` for what became of a figure
//! and `-` for a minus; text of a tree, a guest or a user is in it as it came, and
//! each format makes it harmless.

use serde::Serialize;
use tollgate_measure::{Plot, Ratio};

use crate::text::signed;

/// A result.
#[derive(Debug, Default, Serialize)]
pub struct Document {
    /// What it is of: the case's name, or the patch's.
    pub title: String,
    /// The same in a title bar: with what came of it.
    pub short: String,
    /// What is compared, and where it was found; a line each.
    pub about: Vec<String>,
    /// The day of the result, `2026-11-22`; none where nobody asked the clock.
    pub date: Option<String>,
    /// Which formats begin with the above: what programs read line by line does not.
    pub head: Extent,
    /// What came of it, for each that was compared.
    pub verdicts: Vec<Verdict>,
    /// What could not be compared.
    pub not_run: Vec<Verdict>,
    /// Everything that stands behind it.
    pub sections: Vec<Section>,
}

/// What came of one comparison.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verdict {
    /// What it is of, `B = window`, where there is more than one.
    pub of: Option<String>,
    /// The section that has more of it.
    pub anchor: Option<String>,
    /// Two or three words.
    pub word: String,
    /// Whether that is good.
    pub tone: Tone,
    /// The same in a sentence.
    pub statement: String,
    /// The figure that says most, and what it is of.
    pub headline: Option<(String, String)>,
    /// What belongs to the sentence, a line each.
    pub details: Vec<String>,
}

/// Whether something supports the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// It does.
    Good,
    /// It speaks against them, or against the change.
    Bad,
    /// It leaves them open.
    Doubt,
    /// It only says something.
    #[default]
    Plain,
}

/// How much a format shows of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// In every format.
    #[default]
    All,
    /// Where the reader sees it pass: a terminal, a mail.
    Brief,
    /// Where the reader leafs through it: a page, a document.
    Full,
}

/// A part under a heading.
#[derive(Debug, Default, Serialize)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// What verdicts point to.
    pub anchor: Option<String>,
    /// Which formats have it.
    pub extent: Extent,
    /// What it holds, in order.
    pub blocks: Vec<Block>,
    /// The parts behind that.
    pub sections: Vec<Section>,
}

/// A piece of a section.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "of")]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// Paragraphs that stand beside each other.
    List(Vec<String>),
    /// Labels with a text each.
    Facts(Vec<Fact>),
    /// A table.
    Table(Table),
    /// Curves.
    Plots(Plots),
    /// A patch, line by line.
    Patch(String),
    /// Lines that programs read as well: never wrapped, nor cut.
    Lines(Vec<String>),
    /// Commands for a shell, as they are: never wrapped.
    Script(Script),
    /// Places of a source, with its lines.
    Snippets(Vec<Snippet>),
    /// A verdict that the head of the document has, too.
    Verdict(Verdict),
    /// What may be shut where a format can: a title, whether it is open, the pieces.
    Fold(String, bool, Vec<Block>),
}

/// Commands for a shell.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Script {
    /// For whoever has the files that they read: a terminal.
    pub brief: Vec<String>,
    /// With these files: whatever leaves this machine.
    pub whole: Vec<String>,
}

/// What is to say of places in a source, with its lines.
#[derive(Clone, Debug, Default)]
pub struct Snippet {
    /// What it is, in a line.
    pub title: String,
    /// How bad that is.
    pub tone: Tone,
    /// The name of the rule that says so.
    pub id: Option<String>,
    /// The lines, file by file.
    pub sources: Vec<Source>,
    /// Why, and what helps.
    pub notes: Vec<Remark>,
}

/// A sentence below the lines of a source.
#[derive(Clone, Debug)]
pub enum Remark {
    /// Why it is so.
    Note(String),
    /// What to do.
    Help(String),
}

/// Lines of a file.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The file.
    pub path: String,
    /// Its text from that line on, or a part of it.
    pub text: String,
    /// The number of the first line, from 1.
    pub line: usize,
    /// Whether all lines are shown; those near marks where not.
    pub whole: bool,
    /// The places.
    pub marks: Vec<Mark>,
}

/// A place in a text.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its bytes, at the borders of characters.
    pub span: std::ops::Range<usize>,
    /// What is there; may be empty.
    pub label: String,
    /// Whether it is the place itself, and not one that belongs to it.
    pub primary: bool,
}

/// A label and what is said of it.
#[derive(Clone, Debug, Serialize)]
pub struct Fact {
    /// One or two words.
    pub label: String,
    /// What there is to say.
    pub text: String,
    /// Whether it supports the figures.
    pub tone: Tone,
}

/// Curves with a sentence that they share.
#[derive(Clone, Debug)]
pub struct Plots {
    /// The sentence.
    pub note: &'static str,
    /// The curves; those of level lines are only named.
    pub plots: Vec<Plot>,
}

/// Rows and columns.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for each column.
    pub rows: Vec<Row>,
    /// What stands below it.
    pub note: Option<String>,
    /// What the bars of the rows are, where they have any.
    pub bars: Option<String>,
}

/// A column.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its head; may be empty.
    pub head: String,
    /// What it holds.
    pub kind: Kind,
    /// Columns of one group stay together where a table is wider than its place;
    /// those of group 0 are in each part.
    pub group: usize,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A name whose end matters as much as its start: put on several lines.
    Name,
    /// The name of a function, or a title: cut where it is long.
    Symbol,
    /// The same, whole: a long one has a line of its own.
    Whole,
    /// A word.
    Word,
    /// A figure, or two with an arrow.
    Number,
}

/// A row.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// One for each column.
    pub cells: Vec<Cell>,
    /// Whether it says more of what the row above names.
    pub again: bool,
    /// What is drawn beside it.
    pub bar: Option<Bar>,
}

/// A bar: from where to where, as parts of the whole width.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// The left end, 0 to 1.
    pub from: f64,
    /// The right end, 0 to 1.
    pub to: f64,
    /// Which way the figure went.
    pub way: Way,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// Which way a figure went.
    pub way: Option<Way>,
    /// What has to be known of it: `control`, `median`.
    pub tags: Vec<&'static str>,
}

/// Which way a figure went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// There is less of it.
    Fewer,
    /// As much.
    Same,
    /// More.
    More,
}

impl Section {
    /// A part of every format.
    pub(crate) fn new(title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            title: title.into(),
            blocks,
            ..Self::default()
        }
    }

    /// The same where a format shows so much.
    pub(crate) fn only(self, extent: Extent) -> Self {
        Self { extent, ..self }
    }
}

impl Fact {
    /// A fact that only says something.
    pub(crate) fn plain(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            tone: Tone::Plain,
        }
    }

    /// A check and how it ended.
    pub(crate) fn check(label: &str, good: bool, text: String) -> Self {
        Self {
            label: label.to_owned(),
            text,
            tone: if good { Tone::Good } else { Tone::Bad },
        }
    }
}

impl Table {
    /// A table of columns that stay together: head and what each holds.
    pub(crate) fn new(columns: &[(&str, Kind)]) -> Self {
        let mut table = Self::default();
        for (head, kind) in columns {
            table.column(*head, *kind, 0);
        }
        table
    }

    /// One whose first column is in each part, and the others wherever they fit.
    pub(crate) fn apart(columns: &[(&str, Kind)]) -> Self {
        let mut table = Self::default();
        for (group, (head, kind)) in columns.iter().enumerate() {
            table.column(*head, *kind, group);
        }
        table
    }

    pub(crate) fn column(&mut self, head: impl Into<String>, kind: Kind, group: usize) {
        self.columns.push(Column {
            head: head.into(),
            kind,
            group,
        });
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(Row {
            cells: cells.into_iter().collect(),
            ..Row::default()
        });
    }

    /// A row that says more of the one above.
    pub(crate) fn further(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.row(cells);
        if let Some(row) = self.rows.last_mut() {
            row.again = true;
        }
    }

    pub(crate) fn noted(self, note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..self
        }
    }

    /// How many groups beside the columns that are in each part.
    pub(crate) fn groups(&self) -> usize {
        let groups = self.columns.iter().map(|column| column.group);
        groups.max().unwrap_or_default()
    }

    /// The parts of at most `most` groups that it is split into.
    pub(crate) fn split(&self, most: usize) -> Vec<Self> {
        if self.groups() <= most {
            return vec![self.clone()];
        }
        let starts = (1..=self.groups()).step_by(most.max(1));
        starts
            .map(|start| self.part(start..start + most.max(1)))
            .collect()
    }

    /// The same with each column a group, but for those that say what a row is: for a
    /// place that is narrower than one group.
    pub(crate) fn loosened(&self) -> Self {
        let words = self.columns.iter();
        let words = words.take_while(|column| column.kind != Kind::Number);
        // Of a table of words alone the first says what a row is.
        let keys = match words.count() {
            all if all == self.columns.len() => 1,
            some => some.max(1),
        };
        let mut loose = self.clone();
        for (at, column) in loose.columns.iter_mut().enumerate() {
            column.group = (at + 1).saturating_sub(keys);
        }
        loose
    }

    fn part(&self, groups: std::ops::Range<usize>) -> Self {
        let kept = |column: &Column| column.group == 0 || groups.contains(&column.group);
        let row = |row: &Row| {
            let cells = row.cells.iter().zip(&self.columns);
            let cells = cells.filter(|(_, column)| kept(column));
            Row {
                cells: cells.map(|(cell, _)| cell.clone()).collect(),
                ..row.clone()
            }
        };
        let columns = self.columns.iter().filter(|column| kept(column));
        Self {
            columns: columns.cloned().collect(),
            rows: self.rows.iter().map(row).collect(),
            note: None,
            bars: self.bars.clone(),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Cell {
    /// A difference with its sign.
    pub(crate) fn difference(ratio: Ratio) -> Self {
        Self::from(signed(ratio, 2)).going(Way::of(ratio))
    }

    pub(crate) fn going(self, way: Way) -> Self {
        Self {
            way: Some(way),
            ..self
        }
    }

    pub(crate) fn tagged(mut self, tag: &'static str, is: bool) -> Self {
        if is {
            self.tags.push(tag);
        }
        self
    }
}

impl Way {
    pub(crate) fn of(difference: Ratio) -> Self {
        match difference.numerator.signum() {
            -1 => Self::Fewer,
            0 => Self::Same,
            _ => Self::More,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_split_between_groups_and_keeps_its_keys() {
        let mut table = Table::new(&[("name", Kind::Name)]);
        for (letter, group) in [("B", 1), ("b", 1), ("C", 2), ("c", 2), ("D", 3), ("d", 3)] {
            table.column(letter, Kind::Number, group);
        }
        table.row(["x", "1", "2", "3", "4", "5", "6"].map(Cell::from));
        let heads = |table: &Table| -> Vec<String> {
            let columns = table.columns.iter();
            columns.map(|column| column.head.clone()).collect()
        };
        let parts = table.split(2);
        assert_eq!(parts.len(), 2);
        assert_eq!(heads(&parts[0]), ["name", "B", "b", "C", "c"]);
        assert_eq!(heads(&parts[1]), ["name", "D", "d"]);
        assert_eq!(parts[1].rows[0].cells[2].text, "6");
        assert_eq!(table.split(3).len(), 1);
        assert_eq!(table.split(0).len(), 3);
    }
}
