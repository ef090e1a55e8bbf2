//! Times beside those of an earlier run.

use tollgate_measure::{
    Against, Estimate, Fact, Host, TimeChange, TimeFinding, Timings, Unlike, Workload,
};

use crate::document::{Block, Cell, Kind, Section, Table, Tone, Verdict};
use crate::text::{nanoseconds as figure, plural};

/// What the figures of two runs do not tell.
const NOT_IN_TURNS: &str = "The two runs did not take turns. What drifted between them, and where code \
                            and data lie since each boot, is in the differences and not in their \
                            intervals: boot each kernel twice.";

pub(super) fn section(against: &Against, after: &Timings) -> Section {
    let mut table = Table::apart(&[
        ("", Kind::Name),
        ("before", Kind::Number),
        ("now", Kind::Number),
        ("difference", Kind::Number),
        ("95 % from", Kind::Number),
        ("to", Kind::Number),
    ]);
    for change in &against.changes {
        let Estimate { value, low, high } = change.difference;
        let figures = [change.before, change.after, value, low, high].map(figure);
        let row = std::iter::once(name(change)).chain(figures);
        table.row(row.map(Cell::from));
    }
    let sentences = against.changes.iter().map(sentence);
    let mut blocks = Vec::new();
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
        blocks.push(Block::List(sentences.collect()));
    }
    blocks.push(Block::List(notes(against, after)));
    Section::new("Against the earlier run, ns per operation", blocks)
}

/// What came of it.
pub(super) fn verdict(against: &Against) -> Verdict {
    let slower: Vec<String> = against.slower().map(name).collect();
    let floor = against.floor;
    let within = match against.that(TimeFinding::WithinFloor).count() {
        0 => String::new(),
        within => format!("; {} within it", plural(within, "difference")),
    };
    let (word, tone, statement) = match (slower.as_slice(), against.changes.as_slice()) {
        (_, []) => (
            "nothing to compare",
            Tone::Doubt,
            "The runs have no benchmark in common.".to_owned(),
        ),
        ([], _) => (
            "no regression",
            Tone::Good,
            format!("Nothing is slower beyond its interval and the floor of {floor} %{within}."),
        ),
        (slower, _) => (
            "regression",
            Tone::Bad,
            format!(
                "Slower beyond the interval and the floor of {floor} %: {}.",
                slower.join("; ")
            ),
        ),
    };
    Verdict {
        word: word.to_owned(),
        tone,
        statement,
        ..Verdict::default()
    }
}

fn name(change: &TimeChange) -> String {
    match &change.less {
        Some(less) => format!("{} less {less}", change.workload),
        None => change.workload.to_string(),
    }
}

fn sentence(change: &TimeChange) -> String {
    let found = change.difference;
    let amount = |nanoseconds| amount(change, nanoseconds);
    let what = match change.change() {
        TimeFinding::Slower => format!("slower by {}", amount(found.value)),
        TimeFinding::Faster => format!("faster by {}", amount(-found.value)),
        TimeFinding::WithinFloor => within_floor(change),
        TimeFinding::NotSeen => format!(
            "no difference seen; from {} up one could have been",
            amount(found.could_see())
        ),
    };
    format!("{}: {what}", name(change))
}

/// Nanoseconds, and what part of the earlier time they are.
fn amount(change: &TimeChange, nanoseconds: f64) -> String {
    match change.percent(nanoseconds) {
        Some(percent) => format!("{} ns ({percent:.1} %)", figure(nanoseconds)),
        None => format!("{} ns", figure(nanoseconds)),
    }
}

fn within_floor(change: &TimeChange) -> String {
    let Estimate { value, low, high } = change.difference;
    let (what, near) = match value < 0.0 {
        true => ("faster", -high),
        false => ("slower", low),
    };
    format!(
        "{what} by {}, within the floor: the near end of the interval is {} ns, the floor {} ns",
        amount(change, value.abs()),
        figure(near),
        figure(change.floor),
    )
}

/// What a difference had to pass, where any was compared.
fn floor(against: &Against) -> Option<String> {
    let percent = against.floor;
    let any = against.changes.first();
    any.map(|_| {
        format!(
            "Floor: {percent} % of the earlier time of the benchmark; a difference counts where \
             all of its interval lies beyond it (--floor)."
        )
    })
}

/// What a floor cannot cover.
fn busy(before: &Host, after: &Host) -> Option<String> {
    let when = match (before.busy(), after.busy()) {
        (false, false) => return None,
        (true, false) => "Before, other work",
        (false, true) => "Now, other work",
        (true, true) => "In both runs other work",
    };
    Some(format!(
        "{when} wanted the CPUs: two runs of one kernel may then lie farther apart than any floor; \
         run both again on an idle machine before you believe a difference."
    ))
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
            .map(|one| format!("Not the same: {}.", unlike(one))),
    );
    notes.extend(only("Measured only before", &against.only_before));
    notes.extend(only("Measured only now", &against.only_after));
    notes.extend(floor(against));
    notes.extend(busy(&against.host, &after.host));
    notes.push(format!(
        "By chance alone about one in 40 of these intervals, of which there are {}, lies \
         above 0 where nothing is slower.",
        against.changes.len()
    ));
    notes.push(NOT_IN_TURNS.to_owned());
    notes
}

fn only(what: &str, workloads: &[Workload]) -> Option<String> {
    let names: Vec<String> = workloads.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| format!("{what}: {}.", names.join(", ")))
}

/// `compiler: gcc 12 before, gcc 13 now`.
pub(super) fn unlike(unlike: &Unlike) -> String {
    let (what, before, after) = (fact(unlike.fact), &unlike.before, &unlike.after);
    format!("{what}: {before} before, {after} now")
}

/// A fact of a machine, in words.
pub(crate) fn fact(fact: Fact) -> &'static str {
    match fact {
        Fact::Cpu => "CPU",
        Fact::Flags => "CPU flags",
        Fact::Cpus => "number of CPUs",
        Fact::Pinned => "CPU that it stayed on",
        Fact::Governor => "frequency governor",
        Fact::Frequency => "range of frequencies",
        Fact::Turbo => "turbo",
        Fact::Smt => "SMT",
        Fact::Isolated => "isolated CPUs",
        Fact::Context => "bytes of FPU context",
        Fact::Arch => "architecture",
        Fact::Compiler => "compiler",
        Fact::Tollgate => "tollgate",
    }
}
