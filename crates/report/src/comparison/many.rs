//! Several variants on a terminal of 80 columns: each against the base, and
//! against each other.

use tollgate_measure::{Comparison, Measured, Net, NotRun, Per, Proof, Quantity, Ratio, Row};

use super::claims;
use super::facts::{self, Fact, Tone};
use super::terminal::{self, INDENT, Paint, counted, lines, section, table};
use super::text::{WIDTH, clean, labelled, plural, short, shorten, signed, wrap};

/// Images in one table, the base among them.
const COLUMNS: usize = 5;
/// Images in one table by function, which has two columns for each.
const FUNCTION_COLUMNS: usize = 3;
/// The longest name in a table by function, in columns.
const FUNCTION: usize = 26;
/// The columns of a workload's name where there are many others.
const NAME: usize = 26;
/// Functions shown of a workload.
const FUNCTIONS: usize = 16;

/// The result of one run of `prove` as text of at most 80 columns, with ANSI
/// colours if asked. One variant is shown in full; of several, tables with a
/// column for each. The verdicts are last. Ends with a newline.
#[must_use]
pub fn proof_terminal(proof: &Proof, color: bool) -> String {
    let paint = Paint(color);
    let missing = not_run(&proof.not_run, &paint);
    let claims = claims::text(proof).map(|body| section("Beside the claims", &body, &paint));
    match proof.comparisons.as_slice() {
        [] => missing.unwrap_or_default(),
        [one] => terminal::with(one, claims, missing, color),
        [first, ..] => {
            let mut parts = vec![head(proof, first, &paint)];
            parts.extend(tables(proof, first, &paint));
            parts.extend(claims);
            parts.push(section("Checks", &checks(proof, &paint), &paint));
            parts.push(section("Measured on", &setting(proof, first), &paint));
            parts.push(terminal::limits(&paint));
            parts.extend(missing);
            parts.push(verdicts(proof, &paint));
            parts.join("\n")
        }
    }
}

fn head(proof: &Proof, first: &Comparison, paint: &Paint) -> String {
    let base = format!("{} = {}", first.before.letter, first.before.variant);
    let variants = proof
        .comparisons
        .iter()
        .map(|one| format!("{} = {}", one.after.letter, one.after.variant));
    let all: Vec<String> = std::iter::once(base).chain(variants).collect();
    let title = wrap(&format!("{}: {}", proof.subject, all.join(", ")), WIDTH).join("\n");
    let find = facts::find(first).map(|find| wrap(&find, WIDTH).join("\n") + "\n");
    format!("{}\n{}", paint.bold(&title), find.unwrap_or_default())
}

fn tables(proof: &Proof, first: &Comparison, paint: &Paint) -> Vec<String> {
    let rows = proof.rows();
    if rows.is_empty() {
        return Vec::new();
    }
    let title = format!("Kernel instructions ({})", counted(first));
    let mut parts = vec![
        section(&title, &kernel(&rows, proof), paint),
        section("Against A", &against(proof), paint),
        section("Passages of the gate", &gate(&rows, proof), paint),
    ];
    parts.extend(nets(proof, paint));
    let headline = proof.headline();
    let headline = rows
        .iter()
        .find(|row| Some(&row.comparison.workload) == headline);
    if let Some(row) = headline {
        parts.push(functions(row, paint));
        parts.push(section(
            "Variants with each other",
            &pairs(proof, row),
            paint,
        ));
    }
    parts
}

/// The letters of all images, in groups that fit a table; the base is in each.
fn groups(proof: &Proof, most: usize) -> Vec<Vec<char>> {
    let base = proof
        .comparisons
        .iter()
        .map(|one| one.before.letter)
        .take(1);
    let base: Vec<char> = base.collect();
    let letters: Vec<char> = proof
        .comparisons
        .iter()
        .map(|one| one.after.letter)
        .collect();
    letters
        .chunks(most.saturating_sub(1).max(1))
        .map(|chunk| [&base, chunk].concat())
        .collect()
}

/// The table in the widest groups of images whose lines fit, two at the least.
fn fitting(most: usize, table: impl Fn(usize) -> String) -> String {
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= WIDTH);
    let fitting = (3..=most).rev().map(&table).find(fits);
    fitting.unwrap_or_else(|| table(2))
}

fn header(left: &[&str], letters: &[char]) -> Vec<String> {
    let letters = letters.iter().map(char::to_string);
    left.iter()
        .map(|word| (*word).to_owned())
        .chain(letters)
        .collect()
}

fn strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// The figure of a letter, empty where that image did not count the workload.
fn cell(figures: &[(char, Ratio)], letter: char, show: impl Fn(Ratio) -> String) -> String {
    let found = figures.iter().find(|(known, _)| *known == letter);
    found.map(|(_, ratio)| show(*ratio)).unwrap_or_default()
}

fn kernel(rows: &[Row<'_>], proof: &Proof) -> String {
    let group = |letters: Vec<char>| {
        let mut table = table(&strs(&header(&["", "per"], &letters)), 2);
        for row in rows {
            for (index, per) in facts::divisions(row.comparison).into_iter().enumerate() {
                let figures = row.figures(per, |measured| measured.kernel.instructions);
                let label = if index == 0 { name(row) } else { String::new() };
                let start = [label, row.comparison.per_name(per).to_owned()];
                let cells = letters
                    .iter()
                    .map(|letter| cell(&figures, *letter, |ratio| ratio.decimal(2)));
                table.add_row(start.into_iter().chain(cells));
            }
        }
        lines(&table)
    };
    fitting(COLUMNS, |most| {
        let groups: Vec<String> = groups(proof, most).into_iter().map(group).collect();
        groups.join("\n")
    })
}

fn name(row: &Row<'_>) -> String {
    terminal::name(row.comparison, NAME)
}

/// The differences that each variant makes, per unit.
fn against(proof: &Proof) -> String {
    let group = |comparisons: &[Comparison]| {
        let mut head = vec![String::new(), "per".to_owned()];
        for one in comparisons {
            head.push(format!("{} - {}", one.after.letter, one.before.letter));
            head.push(String::new());
        }
        let mut table = table(&strs(&head), 2);
        for row in proof.rows() {
            let per = row.comparison.per_name(Per::Unit).to_owned();
            let mut cells = vec![name(&row), per];
            for one in comparisons {
                cells.extend(difference(one, &row));
            }
            table.add_row(cells);
        }
        lines(&table)
    };
    fitting(COLUMNS - 1, |most| {
        let chunks = proof.comparisons.chunks(most - 1);
        chunks.map(group).collect::<Vec<_>>().join("\n")
    })
}

fn difference(comparison: &Comparison, row: &Row<'_>) -> [String; 2] {
    let wanted = &row.comparison.workload;
    let found = comparison
        .workloads
        .iter()
        .find(|one| one.workload == *wanted);
    found.map_or_else(Default::default, |one| {
        let figure = one.kernel(Per::Unit);
        [
            signed(figure.difference(), 2),
            facts::signed_percent(figure),
        ]
    })
}

/// Opens, closes and fences of each image; what nobody did is left out, and
/// opens and closes are one line where they are the same.
fn gate(rows: &[Row<'_>], proof: &Proof) -> String {
    let group = |letters: Vec<char>| {
        let mut table = table(&strs(&header(&["", "per", ""], &letters)), 3);
        for row in rows {
            let per = row.comparison.per_name(Per::Unit);
            for (index, (what, figures)) in passages(row).into_iter().enumerate() {
                let first = index == 0;
                let start = [
                    if first { name(row) } else { String::new() },
                    if first { per.to_owned() } else { String::new() },
                    what.to_owned(),
                ];
                let cells = letters.iter().map(|letter| cell(&figures, *letter, short));
                table.add_row(start.into_iter().chain(cells));
            }
        }
        lines(&table)
    };
    fitting(COLUMNS, |most| {
        let groups: Vec<String> = groups(proof, most).into_iter().map(group).collect();
        groups.join("\n")
    })
}

/// What is left of a benchmark without the call around it, on each image.
fn nets(proof: &Proof, paint: &Paint) -> Option<String> {
    let first = proof.comparisons.first()?;
    let group = |letters: Vec<char>| {
        let mut table = table(&strs(&header(&["", "per"], &letters)), 2);
        for net in first.nets() {
            let figures = net_figures(proof, net);
            let per = net.row.per_name(Per::Unit).to_owned();
            let cells = letters
                .iter()
                .map(|letter| cell(&figures, *letter, |ratio| ratio.decimal(2)));
            let start = [terminal::net_name(net, NAME), per];
            table.add_row(start.into_iter().chain(cells));
        }
        lines(&table)
    };
    first.nets().next()?;
    let body = fitting(COLUMNS, |most| {
        let groups: Vec<String> = groups(proof, most).into_iter().map(group).collect();
        groups.join("\n")
    });
    Some(section("Less the call alone", &body, paint))
}

/// A figure of every image that counted both.
fn net_figures(proof: &Proof, net: Net<'_>) -> Vec<(char, Ratio)> {
    let mut figures: Vec<(char, Ratio)> = Vec::new();
    for comparison in &proof.comparisons {
        let same = |found: &Net<'_>| found.row.workload == net.row.workload;
        let Some(found) = comparison.nets().find(same) else {
            continue;
        };
        if figures.is_empty() {
            figures.push((comparison.before.letter, found.kernel().before));
        }
        figures.push((comparison.after.letter, found.kernel().after));
    }
    figures
}

type Line = (&'static str, Vec<(char, Ratio)>);

fn passages(row: &Row<'_>) -> Vec<Line> {
    let of = |quantity| row.figures(Per::Unit, |measured: &Measured| measured.count(quantity));
    let (opens, closes) = (of(Quantity::Opens), of(Quantity::Closes));
    let mut all: Vec<Line> = if opens == closes {
        vec![("opens, closes", opens)]
    } else {
        vec![("opens", opens), ("closes", closes)]
    };
    all.push(("fences", of(Quantity::Fences)));
    let others = std::iter::once(Quantity::Writes).chain(Quantity::OF_FPU);
    all.extend(others.map(|quantity| (quantity.name(), of(quantity))));
    all.extend(row.comparison.context_bytes.map(|size| {
        let moved = row.figures(Per::Unit, |measured| measured.context_moved(size));
        ("bytes, derived", moved)
    }));
    let nothing = |line: &Line| line.1.iter().all(|(_, ratio)| ratio.is_zero());
    let some: Vec<Line> = all.iter().filter(|line| !nothing(line)).cloned().collect();
    if some.is_empty() {
        all.truncate(1);
        return all;
    }
    some
}

/// Each image's instructions by function and their share in the whole, those
/// first that differ most.
fn functions(row: &Row<'_>, paint: &Paint) -> String {
    let names = function_names(row);
    let letters: Vec<char> = row.columns.iter().map(|(letter, _)| *letter).collect();
    let (base, rest) = letters.split_at(1.min(letters.len()));
    let group = |chunk: &[char]| function_table(row, &names, &[base, chunk].concat());
    let tables = fitting(FUNCTION_COLUMNS, |most| {
        let groups: Vec<String> = rest.chunks(most - 1).map(group).collect();
        groups.join("\n")
    });
    let title = format!(
        "Kernel instructions by function, {} per {}",
        row.comparison.workload,
        row.comparison.per_name(Per::Unit)
    );
    section(&shorten(&title, WIDTH), &tables, paint)
}

fn function_names(row: &Row<'_>) -> Vec<String> {
    let mut all: Vec<String> = row
        .columns
        .iter()
        .flat_map(|(_, measured)| measured.functions.keys().cloned())
        .collect();
    all.sort();
    all.dedup();
    let of = |name: &String| -> Vec<u64> {
        let columns = row.columns.iter();
        columns
            .map(|(_, measured)| instructions(measured, name))
            .collect()
    };
    // Stable: equals stay in the order of names.
    all.sort_by_key(|name| {
        let counts = of(name);
        let (most, fewest) = (counts.iter().max(), counts.iter().min());
        let spread = most.unwrap_or(&0) - fewest.unwrap_or(&0);
        std::cmp::Reverse((spread, counts.first().copied().unwrap_or(0)))
    });
    all.truncate(FUNCTIONS);
    all
}

fn instructions(measured: &Measured, function: &str) -> u64 {
    measured
        .functions
        .get(function)
        .map_or(0, |counts| counts.instructions)
}

fn function_table(row: &Row<'_>, names: &[String], letters: &[char]) -> String {
    let mut head = vec![String::new()];
    for letter in letters {
        head.extend([letter.to_string(), "share".to_owned()]);
    }
    let mut table = table(&strs(&head), 1);
    for name in names {
        let figures = row.figures(Per::Unit, |measured| instructions(measured, name));
        let mut cells = vec![shorten(name, FUNCTION)];
        for letter in letters {
            cells.push(cell(&figures, *letter, |ratio| ratio.decimal(2)));
            cells.push(share(row, name, *letter));
        }
        table.add_row(cells);
    }
    lines(&table)
}

fn share(row: &Row<'_>, name: &str, letter: char) -> String {
    let found = row.columns.iter().find(|(known, _)| *known == letter);
    let part = |measured: &Measured| {
        Ratio::new(instructions(measured, name), measured.kernel.instructions)
    };
    found
        .map(|(_, measured)| facts::percent(part(measured)))
        .unwrap_or_default()
}

/// The order of all images in the headline's workload, then a line a pair.
fn pairs(proof: &Proof, row: &Row<'_>) -> String {
    let mut figures = row.figures(Per::Unit, |measured| measured.kernel.instructions);
    figures.sort_by(|a, b| a.1.value().total_cmp(&b.1.value()));
    let places = |ratio: &Ratio| ratio.decimal(2);
    let order: Vec<String> = figures
        .iter()
        .map(|(letter, ratio)| format!("{letter} {}", places(ratio)))
        .collect();
    let order = format!(
        "{} per {}, fewest first: {}",
        row.comparison.workload,
        row.comparison.per_name(Per::Unit),
        order.join(", ")
    );
    let mut out = labelled("Order", &order, INDENT, WIDTH);
    for pair in &proof.pairs {
        let label = format!("{} against {}", pair.after.letter, pair.before.letter);
        out += &labelled(&label, &pair_words(pair), INDENT, WIDTH);
    }
    out
}

fn pair_words(pair: &Comparison) -> String {
    let count = pair.workloads.len();
    let differ = pair.workloads.iter().filter(|row| row.differs()).count();
    let behaviour = match pair.behaviour.differences.len() {
        0 => "the same behaviour".to_owned(),
        differences => format!("{} of behaviour", plural(differences, "difference")),
    };
    let counts = match pair.headline().filter(|row| row.differs()) {
        None => format!("the same counts in {}", plural(count, "workload")),
        Some(row) => {
            let figure = row.kernel(Per::Unit);
            format!(
                "{} per {} in {} ({}); {differ} of {} differ",
                signed(figure.difference(), 2),
                row.per_name(Per::Unit),
                row.workload,
                facts::signed_percent(figure),
                plural(count, "workload")
            )
        }
    };
    format!("{counts}; {behaviour}")
}

/// The checks of all comparisons; what several say in the same words is one
/// line, with the letters of those that do not agree with the rest.
fn checks(proof: &Proof, paint: &Paint) -> String {
    let mut all: Vec<(Fact, Vec<char>)> = Vec::new();
    for comparison in &proof.comparisons {
        for fact in facts::checks(comparison) {
            let letter = comparison.after.letter;
            let known = all
                .iter_mut()
                .find(|(known, _)| known.label == fact.label && known.text == fact.text);
            match known {
                Some((_, letters)) => letters.push(letter),
                None => all.push((fact, vec![letter])),
            }
        }
    }
    let everybody = proof.comparisons.len();
    all.into_iter()
        .map(|(fact, letters)| check(&fact, &letters, letters.len() == everybody, paint))
        .collect()
}

fn check(fact: &Fact, letters: &[char], all: bool, paint: &Paint) -> String {
    let letters: Vec<String> = letters.iter().map(char::to_string).collect();
    let text = match all {
        true => fact.text.clone(),
        false => format!("{}: {}", letters.join(", "), fact.text),
    };
    let line = labelled(fact.label, &text, INDENT, WIDTH);
    let (label, rest) = line
        .split_at_checked(fact.label.len())
        .unwrap_or((&line, ""));
    format!("{}{rest}", paint.tone(fact.tone, label))
}

fn setting(proof: &Proof, first: &Comparison) -> String {
    let common = facts::setting(first).into_iter();
    // The base, then all variants, then what they share.
    let (images, rest): (Vec<_>, Vec<_>) =
        common.partition(|(label, _)| label.chars().count() == 1);
    let later = proof.comparisons.iter().skip(1);
    let later = later.filter_map(|one| facts::setting(one).into_iter().nth(1));
    images
        .into_iter()
        .chain(later)
        .chain(rest)
        .map(|(label, text)| labelled(&label, &text, INDENT, WIDTH))
        .collect()
}

fn not_run(variants: &[NotRun], paint: &Paint) -> Option<String> {
    let line = |variant: &NotRun| {
        let tone = if variant.failed {
            Tone::Bad
        } else {
            Tone::Plain
        };
        // The words of a compiler keep their lines.
        let mut reason = variant.reason.lines();
        let first = format!("{}: {}", variant.variant, reason.next().unwrap_or_default());
        let first = paint.tone(tone, &wrap(&first, WIDTH).join("\n"));
        let rest: String = reason
            .map(|line| format!("{}\n", shorten(line, WIDTH)))
            .collect();
        format!("{first}\n{rest}")
    };
    let body: String = variants.iter().map(line).collect();
    (!variants.is_empty()).then(|| section("Not run", &body, paint))
}

fn verdicts(proof: &Proof, paint: &Paint) -> String {
    let one = |comparison: &Comparison| {
        let name = format!(
            "{} = {}",
            comparison.after.letter,
            clean(&comparison.after.variant)
        );
        let name = wrap(&name, WIDTH).join("\n");
        format!(
            "{}: {}",
            paint.bold(&name),
            terminal::verdict(comparison, paint)
        )
    };
    let all: Vec<String> = proof.comparisons.iter().map(one).collect();
    all.join("\n")
}
