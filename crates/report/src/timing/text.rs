//! Times as a document.

use tollgate_measure::{
    Against, CONFIDENCE_PERCENT, Estimate, Host, NetTime, RESAMPLES, SEED, Timing, Timings,
};

use super::against;
use crate::document::{Block, Cell, Document, Extent, Fact, Kind, Section, Table, Tone, Verdict};
use crate::text::{nanoseconds as figure, plural};

/// What figures of time cannot say.
const LIMITS: &[&str] = &[
    "This is time on this machine as it was: other processors, other kernels and \
     other work beside it give other times.",
    "An interval says how well the repetitions of this run agree. What is the same \
     in all of them, where code and data happened to lie in memory, is not in it.",
];

/// The times, beside those of an earlier run where there is one.
#[must_use]
pub fn document(timings: &Timings, against: Option<&Against>) -> Document {
    let mut sections = sections(timings);
    sections.extend(against.map(|against| against::section(against, timings)));
    let verdict = match against {
        Some(against) => against::verdict(against),
        None => timed(timings),
    };
    Document {
        title: "Times on this machine".to_owned(),
        short: format!("times on {}", timings.host.kernel),
        about: vec![format!(
            "Linux {}, {}",
            timings.host.kernel, timings.host.arch
        )],
        head: Extent::Full,
        verdicts: vec![verdict],
        not_run: not_run(timings),
        sections,
        ..Document::default()
    }
}

/// What was timed, and on what.
pub(crate) fn sections(timings: &Timings) -> Vec<Section> {
    let title = "Timed on this machine, ns per operation";
    let mut all = vec![Section::new(title, vec![Block::Table(rows(timings))])];
    all.extend(nets(timings));
    all.push(Section::new(
        "Measured on",
        vec![Block::Facts(setting(timings))],
    ));
    let limits = Block::List(limits(timings));
    all.push(Section::new("What the figures do not tell", vec![limits]));
    all
}

fn rows(timings: &Timings) -> Table {
    let mut table = Table::apart(&[
        ("", Kind::Name),
        ("median", Kind::Number),
        ("95 % from", Kind::Number),
        ("to", Kind::Number),
        ("fastest", Kind::Number),
        ("slowest", Kind::Number),
    ]);
    for row in &timings.timings {
        let (Some(found), Some((least, most))) = (row.estimate(), row.range()) else {
            continue;
        };
        let figures = [found.value, found.low, found.high, least, most].map(figure);
        let name = row.workload.to_string();
        table.row(std::iter::once(name).chain(figures).map(Cell::from));
    }
    table
}

/// What is left of a benchmark without the call around it, and a sentence for
/// each difference that was not seen.
fn nets(timings: &Timings) -> Option<Section> {
    let mut table = Table::apart(&[
        ("", Kind::Name),
        ("difference", Kind::Number),
        ("95 % from", Kind::Number),
        ("to", Kind::Number),
    ]);
    let mut unseen = Vec::new();
    for net in timings.nets() {
        let name = net_name(&net);
        let Estimate { value, low, high } = net.estimate;
        let figures = [value, low, high].map(figure);
        table.row(std::iter::once(name).chain(figures).map(Cell::from));
        if net.estimate.includes_zero() {
            unseen.push(format!("{}: {}", net_name(&net), not_seen(&net.estimate)));
        }
    }
    if table.rows.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Table(table)];
    blocks.extend((!unseen.is_empty()).then_some(Block::List(unseen)));
    Some(Section::new("Less the call alone", blocks))
}

fn net_name(net: &NetTime<'_>) -> String {
    format!("{} less {}", net.row.workload, net.less.workload)
}

fn not_seen(estimate: &Estimate) -> String {
    format!(
        "no difference seen; from {} ns up one could have been",
        figure(estimate.could_see())
    )
}

fn setting(timings: &Timings) -> Vec<Fact> {
    let host = &timings.host;
    let facts = [
        ("CPU", host.cpu.clone()),
        ("Flags", flags(host)),
        ("Machine", machine(host)),
        ("Frequency", frequency(host)),
        ("Company", company(host)),
        ("Registers", contexts(host)),
        ("Kernel", format!("{}, {}", host.kernel, host.arch)),
        ("Load", load(host)),
        ("Benchmarks", benchmarks(host)),
        ("Repetitions", repetitions(timings)),
        ("Operations", operations(timings)),
        ("Interval", interval()),
    ];
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    facts
        .map(|(label, text)| Fact::plain(label, text))
        .collect()
}

fn flags(host: &Host) -> String {
    let none = "none of those that decide what a crossing costs".to_owned();
    match host.features.as_slice() {
        [] => none,
        flags => flags.join(" "),
    }
}

fn machine(host: &Host) -> String {
    let kind = match host.virtual_machine {
        Some(true) => "virtual (the CPU flag hypervisor is set)",
        Some(false) => "no virtual machine (no CPU flag hypervisor)",
        None => "the kernel does not say whether it is virtual",
    };
    let pinned = match host.pinned {
        Some(cpu) => format!("everything on CPU {cpu}"),
        None => "not pinned to a CPU".to_owned(),
    };
    format!("{kind}, {}, {pinned}", plural(host.cpus, "CPU"))
}

/// What the speed of the CPU depends on.
fn frequency(host: &Host) -> String {
    let governor = match &host.governor {
        Some(governor) => format!("governor {governor}"),
        None => "the governor cannot be read".to_owned(),
    };
    let range = match host.pace.khz {
        Some([only, most]) if only == most => format!("fixed at {}", megahertz(only)),
        Some([least, most]) => {
            let (least, most) = (megahertz(least), megahertz(most));
            format!("not fixed: {least} to {most}")
        }
        None => "whether it is fixed cannot be read".to_owned(),
    };
    let turbo = match host.pace.turbo {
        Some(true) => "turbo on",
        Some(false) => "turbo off",
        None => "whether there is a turbo cannot be read",
    };
    let driver = host.pace.driver.iter().map(|name| format!("driver {name}"));
    let all: Vec<String> = [range, governor, turbo.to_owned()]
        .into_iter()
        .chain(driver)
        .collect();
    all.join(", ")
}

fn megahertz(khz: u64) -> String {
    format!("{}.{:03} MHz", khz / 1000, khz % 1000)
}

/// Who else may be at work on the core, and on the CPU.
fn company(host: &Host) -> String {
    let smt = match &host.pace.smt {
        Some(state) => format!("SMT {state}"),
        None => "whether there is SMT cannot be read".to_owned(),
    };
    let siblings = host.pace.siblings.iter();
    let siblings = siblings.map(|list| format!("the core's CPUs {list}"));
    let list = |what: &str, list: &Option<String>| match list.as_deref() {
        Some("") => format!("no CPU is {what}"),
        Some(list) => format!("{what} CPUs {list}"),
        None => format!("which CPUs are {what} cannot be read"),
    };
    let rest = [
        list("isolated", &host.pace.isolated),
        list("without a tick (nohz_full)", &host.pace.tickless),
    ];
    let all: Vec<String> = std::iter::once(smt).chain(siblings).chain(rest).collect();
    all.join(", ")
}

/// The size of the FPU's context, by component.
fn contexts(host: &Host) -> String {
    let one = |context: &tollgate_measure::Context| {
        let parts = context.components.iter().filter(|(_, size)| **size > 0);
        let parts: Vec<String> = parts.map(|(name, size)| format!("{name} {size}")).collect();
        let guest = match context.guest.as_str() {
            "" => String::new(),
            guest => format!(" ({guest})"),
        };
        let of = match parts.as_slice() {
            [] => String::new(),
            parts => format!(", of them {}", parts.join(", ")),
        };
        format!("{} bytes of FPU context by CPUID{guest}{of}", context.bytes)
    };
    let all: Vec<String> = host.contexts.iter().map(one).collect();
    match all.as_slice() {
        [] => "the size of the FPU context is not known here".to_owned(),
        all => all.join("; "),
    }
}

fn load(host: &Host) -> String {
    let number = |load: Option<f64>| load.map_or("unknown".to_owned(), |load| format!("{load:.2}"));
    let [before, after] = host.load.map(number);
    let busy = if host.busy() {
        "; other work wanted the CPUs, which widens every interval"
    } else {
        ""
    };
    format!("{before} before, {after} after (average of a minute){busy}")
}

fn benchmarks(host: &Host) -> String {
    format!("tollgate {}, {}", host.tollgate, host.compiler)
}

fn repetitions(timings: &Timings) -> String {
    let before = match timings.rounds.warmups {
        1 => "one that is not counted".to_owned(),
        many => format!("{many} that are not counted"),
    };
    format!(
        "{} of each in turns (A B C, B C A, ...), each in a process of its own after {before}",
        timings.rounds.repetitions
    )
}

fn operations(timings: &Timings) -> String {
    let least = timings.rounds.chosen_for_microseconds;
    let how = match least {
        Some(least) => format!(
            "in a repetition, chosen so that it takes about {} ms: ",
            least / 1000
        ),
        None => "in a repetition, as asked: ".to_owned(),
    };
    let one = |row: &Timing| format!("{} {}", row.workload, row.operations);
    let all: Vec<String> = timings.timings.iter().map(one).collect();
    let shorter = least.map_or_else(String::new, |least| shorter(timings, least));
    format!("{how}{}{shorter}", all.join(", "))
}

/// Those whose repetitions took less time than was aimed at: a guest takes so many
/// operations and no more, and a program of the user's has its own.
fn shorter(timings: &Timings, microseconds: u64) -> String {
    let median = |row: &Timing| {
        let mut all = row.nanoseconds.clone();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    };
    let short = timings.timings.iter().filter_map(|row| {
        let took = median(row)? / 1000;
        let words = format!("{} {}.{:03} ms", row.workload, took / 1000, took % 1000);
        (took < microseconds).then_some(words)
    });
    let short: Vec<String> = short.collect();
    match short.is_empty() {
        true => String::new(),
        false => format!("; took less: {}", short.join(", ")),
    }
}

fn interval() -> String {
    format!(
        "{CONFIDENCE_PERCENT} %, percentile bootstrap of the median, {RESAMPLES} resamples, seed {SEED:#x}"
    )
}

fn limits(timings: &Timings) -> Vec<String> {
    let limits = LIMITS.iter().map(|limit| (*limit).to_owned());
    let net = "A difference of medians is of what took turns; its interval draws the \
               repetitions of a round together.";
    let net = timings.nets().next().map(|_| net.to_owned());
    limits.chain(net).collect()
}

fn not_run(timings: &Timings) -> Vec<Verdict> {
    let skips = timings.not_run.iter();
    let one = |skip: &tollgate_measure::Skip| Verdict {
        of: Some(skip.job.clone()),
        word: "not run".to_owned(),
        tone: Tone::Doubt,
        statement: skip.reason.clone(),
        ..Verdict::default()
    };
    skips.map(one).collect()
}

/// What came of a run that is compared with none.
fn timed(timings: &Timings) -> Verdict {
    let all = plural(timings.timings.len(), "benchmark");
    Verdict {
        word: "timed".to_owned(),
        statement: format!("{all} timed, {} not run.", timings.not_run.len()),
        ..Verdict::default()
    }
}
