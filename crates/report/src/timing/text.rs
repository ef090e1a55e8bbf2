//! Times on a terminal of 80 columns.

use tollgate_measure::{
    Against, CONFIDENCE_PERCENT, Estimate, Host, NetTime, RESAMPLES, SEED, TIME_LIMITS, Timing,
    Timings,
};

use super::against;
use crate::fixed::{INDENT, Paint, lines, section, table};
use crate::text::{WIDTH, labelled, plural, wrap};

/// The columns of a workload's name.
pub(super) const NAME: usize = 27;

/// The times as text of at most 80 columns, beside those of an earlier run where
/// there is one, with ANSI colours if asked. Ends with a newline.
#[must_use]
pub fn text(timings: &Timings, against: Option<&Against>, color: bool) -> String {
    let paint = Paint(color);
    let title = "Timed on this machine, ns per operation";
    let mut parts = vec![section(title, &rows(timings), &paint)];
    parts.extend(nets(timings, &paint));
    parts.push(section("Measured on", &setting(timings), &paint));
    parts.push(section(
        "What the figures do not tell",
        &limits(timings),
        &paint,
    ));
    parts.extend(not_run(timings, &paint));
    parts.extend(against.map(|against| against::text(against, timings, &paint)));
    parts.push(summary(timings, &paint));
    parts.extend(against.map(|against| against::verdict(against, &paint)));
    parts.join("\n")
}

fn rows(timings: &Timings) -> String {
    let mut table = table(&["", "median", "95 % from", "to", "fastest", "slowest"], 1);
    for row in &timings.timings {
        let (Some(found), Some((least, most))) = (row.estimate(), row.range()) else {
            continue;
        };
        let name = wrap(&row.workload.to_string(), NAME).join("\n");
        let figures = [found.value, found.low, found.high, least, most].map(figure);
        table.add_row(std::iter::once(name).chain(figures));
    }
    lines(&table)
}

/// What is left of a benchmark without the call around it, and a sentence for
/// each difference that was not seen.
fn nets(timings: &Timings, paint: &Paint) -> Option<String> {
    let mut table = table(&["", "difference", "95 % from", "to"], 1);
    let mut unseen = String::new();
    for net in timings.nets() {
        let name = wrap(&net_name(&net), NAME + 20).join("\n");
        let Estimate { value, low, high } = net.estimate;
        table.add_row([name, figure(value), figure(low), figure(high)]);
        if net.estimate.includes_zero() {
            let sentence = format!("{}: {}", net_name(&net), not_seen(&net.estimate));
            unseen.push_str(&(wrap(&sentence, WIDTH).join("\n") + "\n"));
        }
    }
    let body = format!("{}{unseen}", lines(&table));
    (!table.is_empty()).then(|| section("Less the call alone", &body, paint))
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

/// Nanoseconds with as many decimals as a clock that counts them can mean over a
/// repetition: none from 10,000 up.
pub(super) fn figure(nanoseconds: f64) -> String {
    match nanoseconds.abs() {
        size if size < 100.0 => format!("{nanoseconds:.2}"),
        size if size < 10_000.0 => format!("{nanoseconds:.1}"),
        _ => format!("{nanoseconds:.0}"),
    }
}

fn setting(timings: &Timings) -> String {
    let host = &timings.host;
    let facts = [
        ("CPU", host.cpu.clone()),
        ("Flags", flags(host)),
        ("Machine", machine(host)),
        ("Registers", contexts(host)),
        ("Kernel", format!("{}, {}", host.kernel, host.arch)),
        ("Load", load(host)),
        ("Benchmarks", benchmarks(host)),
        ("Repetitions", repetitions(timings)),
        ("Operations", operations(timings)),
        ("Interval", interval()),
    ];
    let facts = facts.iter().filter(|(_, text)| !text.is_empty());
    facts
        .map(|(label, text)| labelled(label, text, INDENT, WIDTH))
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
    let governor = match &host.governor {
        Some(governor) => format!("frequency governor {governor}"),
        None => "frequency governor cannot be read".to_owned(),
    };
    format!("{kind}, {}, {pinned}, {governor}", plural(host.cpus, "CPU"))
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
    format!(
        "{} of each in turns (A B C, B C A, ...), each in a process of its own after \
         one that is not counted",
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

fn limits(timings: &Timings) -> String {
    let limits = TIME_LIMITS.iter().map(|limit| (*limit).to_owned());
    let net = "A difference of medians is of what took turns; its interval draws the \
               repetitions of a round together.";
    let net = timings.nets().next().map(|_| net.to_owned());
    limits
        .chain(net)
        .map(|text| wrap(&text, WIDTH).join("\n") + "\n")
        .collect()
}

fn not_run(timings: &Timings, paint: &Paint) -> Option<String> {
    let skips = timings.not_run.iter();
    let lines: String = skips
        .map(|skip| labelled("", &format!("{}: {}", skip.job, skip.reason), 2, WIDTH))
        .collect();
    (!lines.is_empty()).then(|| section("Not run", &lines, paint))
}

fn summary(timings: &Timings, paint: &Paint) -> String {
    let timed = plural(timings.timings.len(), "benchmark");
    let line = format!("{timed} timed, {} not run", timings.not_run.len());
    paint.bold(&line) + "\n"
}
