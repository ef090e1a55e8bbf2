//! Markdown as trackers read it: tables with bars between the cells, `<details>` for
//! what may be shut.

use crate::document::{Block, Cell, Column, Document, Extent, Fact, Kind, Section, Table, Verdict};
use crate::text::clean;

/// What Markdown or the HTML in it would take for its own.
const SPECIAL: &str = "\\`*_{}[]<>#|~&!";

pub(super) fn render(document: &Document) -> String {
    let mut out = format!("# {}\n\n", text(&document.title));
    let about = document.about.iter().chain(&document.date);
    about.for_each(|line| out.push_str(&format!("{}\n\n", text(line))));
    for one in document.verdicts.iter().chain(&document.not_run) {
        out.push_str(&verdict(one));
    }
    sections(&document.sections, 2, &mut out);
    out.trim_end().to_owned() + "\n"
}

fn sections(all: &[Section], level: usize, out: &mut String) {
    for section in all.iter().filter(|one| one.extent != Extent::Brief) {
        if !section.title.is_empty() {
            let rank = "#".repeat(level);
            out.push_str(&format!("{rank} {}\n\n", text(&section.title)));
        }
        section.blocks.iter().for_each(|one| block(one, out));
        sections(&section.sections, (level + 1).min(6), out);
    }
}

fn block(block: &Block, out: &mut String) {
    match block {
        Block::Text(one) => out.push_str(&format!("{}\n\n", text(one))),
        Block::List(all) => list(all.iter().map(|one| text(one)), out),
        Block::Facts(all) => list(all.iter().map(fact), out),
        Block::Table(one) => table(one, out),
        Block::Patch(patch) => fenced("diff", patch, out),
        Block::Lines(all) => fenced("", &all.join("\n"), out),
        Block::Script(one) => fenced("sh", &one.whole.join("\n"), out),
        Block::Snippets(all) => all
            .iter()
            .for_each(|one| fenced("", &one.text(false, None), out)),
        Block::Verdict(one) => out.push_str(&verdict(one)),
        Block::Plots(plots) => {
            for (title, one) in plots.tables() {
                fold(&title, |out| table(&one, out), out);
            }
        }
        Block::Fold(title, _, blocks) => fold(
            title,
            |out| blocks.iter().for_each(|one| self::block(one, out)),
            out,
        ),
    }
}

fn verdict(verdict: &Verdict) -> String {
    let of = verdict.of.iter().map(|of| format!("{}: ", text(of)));
    let mut out = format!(
        "{}**{}**\n\n{}\n\n",
        of.collect::<String>(),
        text(&verdict.word.to_uppercase()),
        text(&verdict.statement)
    );
    if !verdict.details.is_empty() {
        list(verdict.details.iter().map(|one| text(one)), &mut out);
    }
    out
}

fn fact(fact: &Fact) -> String {
    format!("**{}**: {}", text(&fact.label), text(&fact.text))
}

fn list(lines: impl Iterator<Item = String>, out: &mut String) {
    lines.for_each(|line| out.push_str(&format!("- {line}\n")));
    out.push('\n');
}

fn fold(title: &str, body: impl FnOnce(&mut String), out: &mut String) {
    out.push_str(&format!(
        "<details><summary>{}</summary>\n\n",
        escaped(title)
    ));
    body(out);
    out.push_str("</details>\n\n");
}

fn table(table: &Table, out: &mut String) {
    let heads = table.columns.iter().map(|column| text(&column.head));
    out.push_str(&row(heads));
    let rules = table.columns.iter().map(|column| match column.kind {
        Kind::Number => "---:".to_owned(),
        Kind::Name | Kind::Symbol | Kind::Whole | Kind::Word => ":---".to_owned(),
    });
    out.push_str(&row(rules));
    for one in &table.rows {
        let cells = one.cells.iter().zip(&table.columns);
        out.push_str(&row(cells.map(|(cell, column)| worded(cell, column))));
    }
    out.push('\n');
    if let Some(note) = &table.note {
        out.push_str(&format!("{}\n\n", text(note)));
    }
}

fn worded(cell: &Cell, column: &Column) -> String {
    let tags: String = cell.tags.iter().map(|tag| format!(" *{tag}*")).collect();
    let shown = match column.kind {
        Kind::Symbol | Kind::Whole if !cell.text.contains('`') && !cell.text.is_empty() => {
            format!("`{}`", clean(&cell.text).replace('|', "\\|"))
        }
        _ => text(&cell.text),
    };
    format!("{shown}{tags}")
}

fn row(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {} |\n", cells.join(" | "))
}

/// As it is, between fences that are longer than any in it.
fn fenced(language: &str, text: &str, out: &mut String) {
    let ticks = text.lines().map(|line| {
        let line = line.trim_start_matches(['+', '-', ' ', '\t']);
        line.chars().take_while(|c| *c == '`').count()
    });
    let fence = "`".repeat(ticks.max().unwrap_or_default().max(2) + 1);
    out.push_str(&format!("{fence}{language}\n"));
    text.lines()
        .for_each(|line| out.push_str(&(crate::text::clean_lines(line) + "\n")));
    out.push_str(&format!("{fence}\n\n"));
}

/// The same inside a tag, where Markdown is not read.
fn escaped(text: &str) -> String {
    let text = clean(text).replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// Text that stands for itself.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if SPECIAL.contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
