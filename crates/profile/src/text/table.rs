//! Tables of `perf report --stdio` and `perf top`, as they are or as mail wraps and
//! quotes them.

use super::chain;
use super::header::{Column, Header, header};
use super::lines::{Line, chunks, number, percentage, title};
use crate::profile::{Form, Measure, Profile, Row, Samples, Space, space_of};

/// All tables of a text, in order.
pub(crate) fn tables(lines: &[Line<'_>]) -> Vec<Profile> {
    let mut reader = Reader::new(lines);
    let mut at = 0;
    while at < lines.len() {
        at += reader.line(at);
    }
    reader.end();
    reader.done
}

/// How many lines of a text one row can be wrapped over.
const MOST_LINES: usize = 4;

struct Reader<'a, 't> {
    lines: &'a [Line<'t>],
    done: Vec<Profile>,
    open: Option<Open>,
    /// What the lines since the last table have said.
    samples: Samples,
    event: Option<String>,
    header: Option<Header>,
    /// The line that the head, or the comment before it, begins on.
    head_at: Option<usize>,
}

/// A table that is being read.
struct Open {
    profile: Profile,
    depth: usize,
    last: f64,
    blank: bool,
    start: usize,
    /// Rows that had no percentage of their own, only a count.
    without_part: bool,
    elided: bool,
    unread: usize,
}

impl<'a, 't> Reader<'a, 't> {
    fn new(lines: &'a [Line<'t>]) -> Self {
        Self {
            lines,
            done: Vec::new(),
            open: None,
            samples: Samples::Unknown,
            event: None,
            header: None,
            head_at: None,
        }
    }

    /// Reads what begins at a line; gives back how many lines that was.
    fn line(&mut self, at: usize) -> usize {
        let Some(line) = self.lines.get(at) else {
            return 1;
        };
        if self
            .open
            .as_ref()
            .is_some_and(|open| open.depth != line.depth)
            && !line.is_blank()
        {
            self.end();
        }
        if line.is_blank() {
            if let Some(open) = &mut self.open {
                open.blank = true;
            }
            return 1;
        }
        if self.says_samples(at) {
            return 1;
        }
        if let Some(found) = header(self.lines, at) {
            self.end();
            self.head_at.get_or_insert(at);
            let lines = found.lines;
            self.header = Some(found);
            return lines;
        }
        match row(self.lines, at, self.header.as_ref()) {
            Found::Row(cells, lines) => self.row(cells, at, lines),
            Found::Half => {
                if let Some(open) = &mut self.open {
                    open.unread += 1;
                }
                1
            }
            Found::None => self.other(at),
        }
    }

    fn row(&mut self, cells: Cells, at: usize, lines: usize) -> usize {
        let order = cells.with_callees.unwrap_or(cells.percent);
        let rises = |open: &Open| open.blank && order > open.last;
        if self.open.as_ref().is_some_and(rises) {
            // A table without a head of its own has the columns of the one before.
            let header = self.header.clone();
            self.end();
            self.header = header;
        }
        let start = self.head_at.unwrap_or(at);
        let depth = self.lines.get(at).map_or(0, |line| line.depth);
        let measure = Measure::Samples {
            event: self.event.clone(),
        };
        let open = self.open.get_or_insert_with(|| Open {
            profile: Profile::new(Form::Table, measure),
            depth,
            last: f64::INFINITY,
            blank: false,
            start,
            without_part: false,
            elided: false,
            unread: 0,
        });
        open.last = order;
        open.blank = false;
        open.without_part |= !cells.has_part;
        let place = &mut open.profile.place;
        let number = |index: usize| self.lines.get(index).map_or(0, |line| line.number);
        if place.first == 0 {
            place.first = number(at);
        }
        place.last = number(at + lines - 1);
        let row = cells.row(number(at));
        let region = chain::region(self.lines, at + lines);
        let stacks = chain::stacks(&region, &row);
        open.profile.stacks.extend(stacks);
        open.profile.rows.push(row);
        lines + region.len()
    }

    /// A line that is no row: a comment, dots where rows were left out, or prose,
    /// which ends the table.
    fn other(&mut self, at: usize) -> usize {
        let Some(line) = self.lines.get(at) else {
            return 1;
        };
        let text = line.text.trim_start();
        let Some(open) = &mut self.open else {
            let comment = text.starts_with('#');
            let far = self.head_at.is_some_and(|head| at - head > 4);
            if !comment && (far || self.header.is_none()) {
                self.header = None;
                self.head_at = None;
            }
            return 1;
        };
        if let Some(name) = inlined(text) {
            let last = open.profile.rows.last_mut();
            last.into_iter()
                .for_each(|row| row.inlined.push(name.to_owned()));
        }
        let remark = inlined(text).is_some();
        if line.is_ellipsis() {
            open.elided = true;
        } else if !remark && !text.starts_with('#') && !chain::is_drawn(text) {
            self.end();
        }
        1
    }

    /// `# Samples: 34K of event 'cycles:P'`, also as perf top has it; each begins
    /// another report.
    fn says_samples(&mut self, at: usize) -> bool {
        let Some(line) = self.lines.get(at) else {
            return false;
        };
        let Some((_, rest)) = line.text.split_once("Samples: ") else {
            return false;
        };
        let Some((count, rest)) = rest.split_once(" of event") else {
            return false;
        };
        self.end();
        self.samples = counted(count.trim());
        let mut quoted = rest.split(['\'', '‘', '’']);
        self.event = quoted.nth(1).map(|event| event.trim().to_owned());
        self.head_at = Some(at);
        true
    }

    /// Closes the table that is open.
    fn end(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        let mut profile = open.profile;
        profile.samples = std::mem::take(&mut self.samples);
        self.event = None;
        self.header = None;
        self.head_at = None;
        profile.title = title(self.lines, open.start);
        count_rows(&mut profile);
        if open.without_part {
            from_counts(&mut profile);
        }
        if open.elided {
            profile.partial = true;
            profile.elided = true;
            profile.notes.push("its writer left out rows".to_owned());
        }
        if open.unread > 0 {
            let lines = match open.unread {
                1 => "1 line".to_owned(),
                many => format!("{many} lines"),
            };
            profile.notes.push(format!(
                "{lines} between its rows could not be read as rows"
            ));
        }
        profile.settle();
        self.done.push(profile);
    }
}

/// Rows of a column of samples say how many there were at least.
fn count_rows(profile: &mut Profile) {
    let sum: Option<u64> = profile
        .rows
        .iter()
        .map(|row| row.count)
        .try_fold(0_u64, |sum, count| Some(sum.saturating_add(count?)));
    let shown = profile.rows.iter().map(|row| row.percent).sum::<f64>();
    if let (Some(sum), Samples::Unknown, true) = (sum, profile.samples, shown > 99.0) {
        profile.samples = Samples::Exactly(sum);
    }
}

/// Parts of a table that only has a column of samples.
fn from_counts(profile: &mut Profile) {
    let listed: u64 = profile
        .rows
        .iter()
        .filter_map(|row| row.count)
        .fold(0, u64::saturating_add);
    let total = profile.samples.known().unwrap_or(listed).max(listed).max(1);
    if profile.samples == Samples::Unknown {
        profile.samples = Samples::Exactly(listed);
        profile.notes.push(
            "it has samples and no percentages: the parts are of the rows that are listed"
                .to_owned(),
        );
    }
    for row in &mut profile.rows {
        row.percent = row
            .count
            .map_or(row.percent, |count| 100.0 * count as f64 / total as f64);
    }
}

/// perf rounds down by thousands: `34K`, `1M` (tools/perf/util/util.c, convert_unit).
fn counted(text: &str) -> Samples {
    let units = [('K', 1_000_u64), ('M', 1_000_000), ('G', 1_000_000_000)];
    for (letter, times) in units {
        let digits = text.strip_suffix(letter);
        if let Some(count) = digits.and_then(tollgate_defect::answer::number::<u64>) {
            return Samples::AtLeast(count.saturating_mul(times));
        }
    }
    tollgate_defect::answer::number(text).map_or(Samples::Unknown, Samples::Exactly)
}

/// The function that a remark below a row says is part of it: `^- NAME() was inlined`,
/// where rows were left out or alone.
fn inlined(text: &str) -> Option<&str> {
    let (_, remark) = text.split_once('^')?;
    let mut words = remark.split(|c: char| c.is_whitespace() || "-`'>".contains(c));
    let is_name = |word: &&str| {
        let name = word.strip_suffix("()").unwrap_or_default();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_word)
    };
    let says = words.clone().any(|word| word.starts_with("inline"));
    words.find(is_name).filter(|_| says)?.strip_suffix("()")
}

/// What of a row is known.
#[derive(Clone, Debug, Default)]
struct Cells {
    percent: f64,
    has_part: bool,
    with_callees: Option<f64>,
    count: Option<u64>,
    mark: Option<char>,
    symbol: Option<String>,
    object: Option<String>,
    /// Texts that are there, of those that the head names.
    texts: usize,
    parts: usize,
    marked: bool,
}

enum Found {
    /// With how many lines it takes.
    Row(Cells, usize),
    /// A beginning of which the rest is missing.
    Half,
    None,
}

/// The row that begins at a line, whole or wrapped.
fn row(lines: &[Line<'_>], at: usize, header: Option<&Header>) -> Found {
    let Some(line) = lines.get(at) else {
        return Found::None;
    };
    let mut text = unfolded(line.text.trim()).to_owned();
    if !begins_row(&text, header) {
        return Found::None;
    }
    let mut cells = cells(&text, header);
    let mut taken = 1;
    while !is_complete(&cells, header) && taken < MOST_LINES {
        let next = lines
            .get(at + taken)
            .filter(|next| next.depth == line.depth);
        let Some(next) = next.filter(|next| continues(&cells, &next.text, header)) else {
            break;
        };
        let glue = if ends_in_mark(&text) { " " } else { "  " };
        text = format!("{text}{glue}{}", next.text.trim());
        cells = self::cells(&text, header);
        taken += 1;
    }
    cells.marked = line.marked;
    match cells.symbol.is_some() && (cells.has_part || cells.count.is_some()) {
        true => Found::Row(cells, taken),
        false if cells.has_part && cells.mark.is_some() => Found::Half,
        false => Found::None,
    }
}

/// Without the `+` and `-` of rows that a terminal can open.
fn unfolded(text: &str) -> &str {
    let inner = text.strip_prefix(['+', '-']);
    let apart = inner.filter(|inner| inner.starts_with(char::is_whitespace));
    apart.map_or(text, str::trim_start)
}

/// A percentage or the mark of a symbol's place among the words.
fn begins_row(text: &str, header: Option<&Header>) -> bool {
    let mut words = text.split_whitespace();
    let first = words.clone().next().unwrap_or_default();
    if chain::is_drawn(text) || text.starts_with('#') {
        return false;
    }
    match header {
        // Anywhere: the columns may stand in any order.
        Some(head) => {
            words.any(|word| percentage(word).is_some() || mark(word).is_some())
                || !head.has(Column::Own) && number(first).is_some()
        }
        None => percentage(first).is_some() || mark(first).is_some(),
    }
}

/// `[k]` kernel, `[.]` user space, `[g]`, `[u]` guests, `[H]` hypervisor.
fn mark(word: &str) -> Option<char> {
    let inside = word.strip_prefix('[')?.strip_suffix(']')?;
    let mut letters = inside.chars();
    let letter = letters
        .next()
        .filter(|letter| "k.guHGm".contains(*letter))?;
    letters.next().is_none().then_some(letter)
}

fn ends_in_mark(text: &str) -> bool {
    text.split_whitespace()
        .next_back()
        .is_some_and(|word| mark(word).is_some())
}

/// Whether the next line holds what a row still lacks, and not another row.
fn continues(cells: &Cells, next: &str, header: Option<&Header>) -> bool {
    let words: Vec<&str> = next.split_whitespace().collect();
    if words.is_empty()
        || next.trim_start().starts_with(['#', '|'])
        || chain::is_drawn(next.trim_start())
    {
        return false;
    }
    let parts = words
        .iter()
        .filter(|word| percentage(word).is_some())
        .count();
    let marks = words.iter().filter(|word| mark(word).is_some()).count();
    let wanted_parts = header
        .map_or(1, |head| head.parts().count())
        .saturating_sub(cells.parts);
    if parts > wanted_parts || marks > 0 && cells.mark.is_some() {
        return false;
    }
    match (parts, marks, cells.mark, &cells.symbol) {
        // A symbol where the line ended behind its mark.
        (0, 0, Some(_), None) => words.len() <= 4,
        (0, 0, _, _) => words.len() <= 2,
        _ => true,
    }
}

fn is_complete(cells: &Cells, header: Option<&Header>) -> bool {
    let Some(header) = header else {
        return cells.symbol.is_some() && cells.has_part;
    };
    let texts = header
        .texts()
        .filter(|column| *column != Column::Other)
        .count();
    let parts = header
        .parts()
        .filter(|column| *column != Column::OtherPart)
        .count();
    cells.symbol.is_some() && cells.texts >= texts && cells.parts >= parts
}

/// Sorts the pieces of a row into its columns, each by what it looks like: a
/// percentage, a number, the mark with its symbol, other text.
fn cells(text: &str, header: Option<&Header>) -> Cells {
    let mut cells = Cells::default();
    let (rest, symbol) = around_mark(text, &mut cells);
    let mut parts = Vec::new();
    let mut numbers = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for piece in rest.iter().flat_map(|part| chunks(part)) {
        sort(piece, header, &mut parts, &mut numbers, &mut texts);
    }
    cells.symbol = symbol;
    assign_parts(&mut cells, &parts, header);
    assign_texts(&mut cells, texts, header);
    let numbers_at = header.into_iter().flat_map(Header::numbers);
    let samples = numbers_at
        .zip(&numbers)
        .find(|(column, _)| *column == Column::Samples);
    cells.count = samples.map(|(_, count)| *count);
    cells
}

/// Cuts out `[k] symbol`; a symbol ends at two blanks, C++ puts single ones in it.
fn around_mark<'t>(text: &'t str, cells: &mut Cells) -> (Vec<&'t str>, Option<String>) {
    let found = text.split_whitespace().find_map(|word| {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        Some((at, at + word.len(), mark(word)?))
    });
    let Some((start, end, letter)) = found else {
        return (vec![text], None);
    };
    cells.mark = Some(letter);
    let (before, after) = (
        text.get(..start).unwrap_or_default(),
        text.get(end..).unwrap_or_default(),
    );
    let symbol_from = after.len() - after.trim_start().len();
    let named = after.get(symbol_from..).unwrap_or_default();
    // Far away stands the next column and no symbol.
    let length = named.find("  ").or(named.find('\t')).unwrap_or(named.len());
    let symbol = named.get(..length).unwrap_or_default().trim();
    let behind = named.get(length..).unwrap_or_default();
    if symbol.is_empty() || percentage(symbol).is_some() {
        return (vec![before, named], None);
    }
    (vec![before, behind], Some(symbol.to_owned()))
}

fn sort(
    piece: &str,
    header: Option<&Header>,
    parts: &mut Vec<f64>,
    numbers: &mut Vec<u64>,
    texts: &mut Vec<String>,
) {
    let mut words: Vec<&str> = piece.split_whitespace().collect();
    let leading = words
        .iter()
        .take_while(|word| percentage(word).is_some())
        .count();
    parts.extend(words.drain(..leading).filter_map(percentage));
    while let Some(part) = words.last().and_then(|word| percentage(word)) {
        parts.push(part);
        words.pop();
    }
    let counts = header.map_or(0, |head| head.numbers().count());
    let whole = |word: &&str| tollgate_defect::answer::number::<u64>(word);
    while let (true, Some(count)) = (numbers.len() < counts, words.first().and_then(whole)) {
        numbers.push(count);
        words.remove(0);
    }
    match words.as_slice() {
        [] | ["-"] => {}
        words => texts.push(words.join(" ")),
    }
}

fn assign_parts(cells: &mut Cells, parts: &[f64], header: Option<&Header>) {
    let standard = match parts.len() {
        0 | 1 => [Column::Own].as_slice(),
        _ => [Column::Children, Column::Own].as_slice(),
    };
    let columns: Vec<Column> = match header {
        Some(header) if header.parts().count() > 0 => header.parts().collect(),
        _ => standard.to_vec(),
    };
    for (column, part) in columns.iter().zip(parts) {
        match column {
            Column::Own => {
                cells.percent = *part;
                cells.has_part = true;
                cells.parts += 1;
            }
            Column::Children => {
                cells.with_callees = Some(*part);
                cells.parts += 1;
            }
            _ => {}
        }
    }
}

fn assign_texts(cells: &mut Cells, mut texts: Vec<String>, header: Option<&Header>) {
    let Some(header) = header else {
        cells.texts = texts.len();
        // `comm dso`, or the image alone.
        cells.object = if texts.len() > 1 {
            texts.into_iter().nth(1)
        } else {
            texts.into_iter().next()
        };
        return;
    };
    let symbol_is_text = cells.symbol.is_none() && cells.mark.is_none();
    let columns: Vec<Column> = header
        .columns
        .iter()
        .copied()
        .filter(|column| match column {
            Column::Command | Column::Object | Column::Other => true,
            Column::Symbol => symbol_is_text,
            _ => false,
        })
        .collect();
    while texts.len() < columns.len() {
        // Mail may have left one blank where two columns meet.
        let Some(at) = texts.iter().position(|text| text.contains(' ')) else {
            break;
        };
        let Some((first, second)) = texts.get(at).and_then(|text| text.rsplit_once(' ')) else {
            break;
        };
        let (first, second) = (first.to_owned(), second.to_owned());
        texts.splice(at..=at, [first, second]);
    }
    for (column, text) in columns.iter().zip(texts) {
        match column {
            Column::Object => cells.object = Some(text),
            Column::Symbol => {
                cells.symbol = Some(text);
                continue;
            }
            Column::Other => continue,
            _ => {}
        }
        cells.texts += 1;
    }
}

impl Cells {
    fn row(self, line: usize) -> Row {
        let object = self.object.unwrap_or_default();
        let space = match self.mark {
            Some('k' | 'g') => Space::Kernel,
            Some(_) => Space::User,
            None => space_of(&object),
        };
        Row {
            symbol: self.symbol.unwrap_or_default(),
            object,
            space,
            percent: self.percent,
            with_callees: self.with_callees,
            count: self.count,
            marked: self.marked,
            inlined: Vec::new(),
            line,
        }
    }
}
