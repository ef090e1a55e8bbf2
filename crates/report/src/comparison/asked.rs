//! Programs that are compared: their instructions in all, what they asked of the
//! kernel (system calls by name), and what they counted themselves.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_measure::{Counts, Measured, Per, Proof, Quantity, Ratio, Row};

use super::tables::{by_image, letters, name_of_all, of_letter, percent};
use crate::document::{Cell, Kind, Table};

/// How many functions have their shares shown.
const LARGEST: usize = 16;

const NOTE: &str = "Of a whole phase. System calls are counted in the kernel, where the function of \
    each begins; the rest is what the program says that it counted.";

/// Instructions of user space and kernel of each program that is compared; nothing
/// where there is none.
pub(super) fn instructions(proof: &Proof) -> Option<Table> {
    let letters = letters(proof);
    let head = [
        ("workload", Kind::Name),
        ("instructions", Kind::Name),
        ("per", Kind::Word),
    ];
    let mut table = by_image(&head, &letters);
    let kinds: [(&str, &[Quantity]); 3] = [
        ("user space", &[Quantity::User]),
        ("kernel", &[Quantity::Kernel]),
        ("both", &[Quantity::User, Quantity::Kernel]),
    ];
    for row in proof.rows().iter().filter(|row| row.comparison.whole) {
        for (what, quantities) in kinds {
            let sum = |measured: &Measured| quantities.iter().map(|one| measured.count(*one)).sum();
            let figures = row.figures(Per::Unit, sum);
            let cells = letters.iter();
            let cells = cells.map(|letter| of_letter(&figures, *letter, |ratio| ratio.decimal(0)));
            let per = Cell::from(row.comparison.per_name(Per::Unit));
            table.row(
                [name_of_all(row), what.into(), per]
                    .into_iter()
                    .chain(cells),
            );
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// The functions of the kernel that are largest on any image, as shares of all
/// instructions of the headline, user space among them; nothing where that is no program
/// that is compared.
pub(super) fn shares(proof: &Proof) -> Option<Table> {
    let letters = letters(proof);
    let head = [("workload", Kind::Name), ("function", Kind::Symbol)];
    let mut table = by_image(&head, &letters);
    let headline = proof.headline();
    let is_headline = |row: &&Row<'_>| Some(&row.comparison.workload) == headline;
    let rows = proof.rows();
    for row in rows
        .iter()
        .filter(|row| row.comparison.whole && is_headline(row))
    {
        let share = |name: &str, of: &dyn Fn(&Measured) -> u64| {
            let share = |measured: &Measured| {
                percent(Ratio::new(
                    of(measured),
                    row.comparison.deciding_of(measured),
                ))
            };
            let cell = |letter: &char| {
                let column = row.columns.iter().find(|(known, _)| known == letter);
                Cell::from(column.map_or_else(String::new, |(_, one)| share(one)))
            };
            let cells: Vec<Cell> = letters.iter().map(cell).collect();
            [name_of_all(row), name.into()].into_iter().chain(cells)
        };
        table.row(share("user space", &|measured| measured.user));
        for name in largest(row) {
            table.row(share(name, &|measured| in_function(measured, name)));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn in_function(measured: &Measured, name: &str) -> u64 {
    let counts = measured.functions.get(name);
    // One that was not entered has no share.
    counts.map_or(0, Counts::instructions)
}

/// The functions with the largest share on any image, the largest first.
fn largest<'a>(row: &Row<'a>) -> Vec<&'a str> {
    let functions = row.columns.iter().flat_map(|(_, one)| one.functions.keys());
    let names: BTreeSet<&str> = functions.map(String::as_str).collect();
    let most = |name: &&str| {
        let each = row.columns.iter().map(|(_, one)| {
            let share = Ratio::new(in_function(one, name), row.comparison.deciding_of(one));
            share.value()
        });
        each.fold(0.0, f64::max)
    };
    let mut names: Vec<&str> = names.into_iter().collect();
    // Stable: equals stay in the order of names.
    names.sort_by(|a, b| most(b).total_cmp(&most(a)));
    names.truncate(LARGEST);
    names
}

/// What every program asked that is compared, or counted something; nothing where
/// there is none.
pub(super) fn asked(proof: &Proof) -> Option<Table> {
    let letters = letters(proof);
    let mut table = by_image(&[("workload", Kind::Name), ("asked", Kind::Name)], &letters);
    for row in proof.rows() {
        if row.comparison.whole || has_tallies(&row) {
            add(&mut table, &row, &letters, "", |measured| &measured.tallies);
            add(&mut table, &row, &letters, "()", |measured| {
                &measured.system_calls
            });
        }
    }
    (!table.rows.is_empty()).then(|| table.noted(NOTE))
}

fn has_tallies(row: &Row<'_>) -> bool {
    let mut columns = row.columns.iter();
    columns.any(|(_, measured)| !measured.tallies.is_empty())
}

/// A row for each name that any image counted.
fn add(
    table: &mut Table,
    row: &Row<'_>,
    letters: &[char],
    suffix: &str,
    of: impl Fn(&Measured) -> &BTreeMap<String, u64>,
) {
    let columns = || row.columns.iter().map(|(_, measured)| of(measured));
    let names: BTreeSet<&String> = columns().flat_map(BTreeMap::keys).collect();
    for name in names {
        // In a phase that a name does not stand for nothing was asked by it.
        let count = |measured| of(measured).get(name).copied().unwrap_or(0);
        let counted = |letter: &char| {
            let column = row.columns.iter().find(|(known, _)| known == letter);
            Cell::from(column.map_or_else(String::new, |(_, one)| count(one).to_string()))
        };
        let head = [name_of_all(row), format!("{name}{suffix}").into()];
        table.row(head.into_iter().chain(letters.iter().map(counted)));
    }
}
