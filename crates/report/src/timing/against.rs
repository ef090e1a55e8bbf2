//! Times beside those of an earlier run, on a terminal.

use tollgate_measure::{Against, Change, TimeChange, Timings, Workload};

use super::text::{NAME, figure};
use crate::comparison::terminal::{Paint, lines, section, table};
use crate::comparison::text::{WIDTH, labelled, wrap};

/// What the figures of two runs do not tell.
const NOT_IN_TURNS: &str = "The two runs did not take turns. What drifted between them, and where code \
                            and data lie since each boot, is in the differences and not in their \
                            intervals: boot each kernel twice.";

pub(super) fn text(against: &Against, after: &Timings, paint: &Paint) -> String {
    let mut table = table(&["", "before", "now", "difference", "95 % from", "to"], 1);
    for change in &against.changes {
        let found = change.difference;
        let figures = [
            change.before,
            change.after,
            found.value,
            found.low,
            found.high,
        ];
        let row = wrap(&name(change), NAME - 2).join("\n");
        table.add_row(std::iter::once(row).chain(figures.map(figure)));
    }
    let sentences = against
        .changes
        .iter()
        .map(sentence)
        .chain(notes(against, after));
    let sentences: String = sentences
        .map(|text| labelled("", &text, 2, WIDTH))
        .collect();
    let body = format!("{}{sentences}", lines(&table));
    section("Against the earlier run, ns per operation", &body, paint)
}

/// What came of it, last.
pub(super) fn verdict(against: &Against, paint: &Paint) -> String {
    let slower: Vec<String> = against.slower().map(name).collect();
    let text = match (slower.as_slice(), against.changes.as_slice()) {
        (_, []) => "NOTHING TO COMPARE: the runs have no benchmark in common".to_owned(),
        ([], _) => "NO REGRESSION: nothing is slower beyond its interval".to_owned(),
        (slower, _) => format!(
            "REGRESSION: slower beyond the interval: {}",
            slower.join("; ")
        ),
    };
    wrap(&text, WIDTH)
        .iter()
        .map(|line| paint.bold(line) + "\n")
        .collect()
}

fn name(change: &TimeChange) -> String {
    match &change.less {
        Some(less) => format!("{} less {less}", change.workload),
        None => change.workload.to_string(),
    }
}

fn sentence(change: &TimeChange) -> String {
    let found = change.difference;
    let amount = |nanoseconds: f64| match change.percent(nanoseconds) {
        Some(percent) => format!("{} ns ({percent:.1} %)", figure(nanoseconds)),
        None => format!("{} ns", figure(nanoseconds)),
    };
    let what = match change.change() {
        Change::Slower => format!("slower by {}", amount(found.value)),
        Change::Faster => format!("faster by {}", amount(-found.value)),
        Change::NotSeen => format!(
            "no difference seen; from {} up one could have been",
            amount(found.could_see())
        ),
    };
    format!("{}: {what}", name(change))
}

fn notes(against: &Against, after: &Timings) -> Vec<String> {
    let (old, new) = (&against.host.kernel, &after.host.kernel);
    let boots = match against.same_boot {
        Some(true) => "one boot of one kernel",
        Some(false) => "another boot",
        None => "a boot that cannot be told from this one",
    };
    let mut notes = vec![format!("Before: Linux {old}; now: Linux {new}; {boots}.")];
    notes.extend(
        against
            .unlike
            .iter()
            .map(|text| format!("Not the same: {text}.")),
    );
    notes.extend(only("Measured only before", &against.only_before));
    notes.extend(only("Measured only now", &against.only_after));
    notes.push(format!(
        "By chance alone about one in 40 of these comparisons, of which there are {}, shows a \
         regression.",
        against.changes.len()
    ));
    notes.push(NOT_IN_TURNS.to_owned());
    notes
}

fn only(what: &str, workloads: &[Workload]) -> Option<String> {
    let names: Vec<String> = workloads.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| format!("{what}: {}.", names.join(", ")))
}
