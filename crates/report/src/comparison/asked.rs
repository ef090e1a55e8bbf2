//! Programs that are compared: their instructions in all, what they asked of the
//! kernel (system calls by name), and what they counted themselves.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_measure::{Measured, Per, Proof, Quantity, Row};

use super::tables::{by_image, letters, name_of_all, of_letter};
use crate::document::{Cell, Kind, Table};

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
