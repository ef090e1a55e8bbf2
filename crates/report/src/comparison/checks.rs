//! The checks that stand behind the figures of a comparison, and what they were
//! counted on.

use tollgate_measure::{
    Comparison, Context, ImageName, Measured, Note, Per, Repetitions, Workload, WorkloadComparison,
};

use crate::document::{Fact, Tone};
use crate::text::{plural, short};
use crate::words;

/// The checks that stand behind the figures.
pub(super) fn checks(comparison: &Comparison) -> Vec<Fact> {
    let mut facts: Vec<_> = comparison.controls().map(control).collect();
    facts.extend(repeat(comparison));
    facts.extend(behaviour(comparison));
    facts.extend(sweeps(comparison));
    facts.extend(repetitions(comparison));
    facts.extend(user(comparison));
    facts.extend(comparison.notes.iter().map(note));
    facts
}

/// A note; bad where it makes a verdict impossible.
pub(super) fn note(note: &Note) -> Fact {
    let tone = if note.incomplete() {
        Tone::Bad
    } else {
        Tone::Plain
    };
    Fact {
        tone,
        ..Fact::plain("Note", words::note(note))
    }
}

fn control(row: &WorkloadComparison) -> Fact {
    let figure = row.kernel(Per::Unit);
    let per = row.per_name(Per::Unit);
    let text = match row.differs() {
        false => format!(
            "{} did not move: {} kernel instructions per {per}",
            row.workload,
            short(figure.after)
        ),
        true => format!(
            "{} moved: {} -> {} kernel instructions per {per}",
            row.workload,
            short(figure.before),
            short(figure.after)
        ),
    };
    Fact::check("Control", !row.differs(), text)
}

fn repeat(comparison: &Comparison) -> Option<Fact> {
    let repeat = comparison.repeat.as_ref()?;
    let workloads = plural(repeat.workloads, "workload");
    let points = plural(repeat.behaviour.points, "point");
    let differing = repeat.moved.len() + repeat.behaviour.differences.len();
    let twice = match comparison.setting.kept {
        true => {
            "counts of an earlier run (the same image, guest, plugin, QEMU and machine): \
             run twice then"
        }
        false => "run twice",
    };
    let text = match differing {
        0 => format!("{twice}, 0 differences in {workloads} and {points} of behaviour"),
        _ => format!(
            "{twice}, {} in {workloads} and {points} of behaviour",
            plural(differing, "difference")
        ),
    };
    let base = comparison.before.letter;
    let label = format!("{base} against {base}");
    Some(Fact::check(&label, differing == 0, text))
}

fn behaviour(comparison: &Comparison) -> Option<Fact> {
    let behaviour = &comparison.behaviour;
    let differences = behaviour.differences.len();
    (behaviour.points > 0).then(|| {
        let points = plural(behaviour.points, "faulty or odd input");
        let text = match differences {
            0 => format!("0 differences over {points} (return value, errno, every byte left)"),
            _ => format!("{} over {points}", plural(differences, "difference")),
        };
        Fact::check("Behaviour", differences == 0, text)
    })
}

/// Which sweeps ran, and in which guest.
fn sweeps(comparison: &Comparison) -> Option<Fact> {
    let sweeps = &comparison.behaviour.sweeps;
    let names: Vec<String> = sweeps
        .iter()
        .map(|(sweep, points)| format!("{sweep} {points}"))
        .collect();
    (!names.is_empty()).then(|| Fact::plain("Sweeps", names.join(", ")))
}

/// How far the repetitions agree. A count that is none has its own line; those that agree
/// but for some share the line of their image, for many variants have many of them.
fn repetitions(comparison: &Comparison) -> Vec<Fact> {
    let counts = comparison.workloads.len() * 2;
    let of = |side: fn(&WorkloadComparison) -> &Measured| {
        let rows = comparison.workloads.iter();
        rows.map(move |row| (&row.workload, side(row)))
    };
    let alike = |(_, measured): &(_, &Measured)| {
        measured.repetitions.identical == measured.repetitions.total
    };
    let (before, after) = (of(|row| &row.before), of(|row| &row.after));
    let same = before.clone().chain(after.clone()).filter(alike).count();
    let summary = format!(
        "all identical to the instruction in {same} of {}",
        plural(counts, "count")
    );
    let mut facts = Vec::new();
    facts.extend((counts > 0).then(|| Fact::plain("Repetitions", summary)));
    for (letter, rows) in [
        (comparison.before.letter, before.collect::<Vec<_>>()),
        (comparison.after.letter, after.collect()),
    ] {
        let (exact, none): (Vec<_>, Vec<_>) = rows
            .into_iter()
            .filter(|row| !alike(row))
            .partition(|(_, measured)| measured.repetitions.exact());
        let words = |(workload, measured): &(&Workload, &Measured)| {
            format!("{workload} in {letter}: {}", agreement(measured))
        };
        facts.extend(
            none.iter()
                .map(|row| Fact::check("Repetitions", false, words(row))),
        );
        let exact: Vec<String> = exact.iter().map(words).collect();
        if !exact.is_empty() {
            facts.push(Fact::check("Repetitions", true, exact.join("; ")));
        }
    }
    facts
}

/// `8 of 9 identical, 1 took an interrupt`.
pub(super) fn agreement(measured: &Measured) -> String {
    let Repetitions {
        total,
        identical,
        fewest,
        most,
    } = measured.repetitions;
    let others = total.saturating_sub(identical);
    if !measured.repetitions.exact() {
        return format!(
            "no exact count: {identical} of {total} repetitions share it, so this is the median of {fewest} to {most}"
        );
    }
    match others {
        0 => format!("{identical} of {total} repetitions identical"),
        // An interrupt only adds.
        _ if fewest == measured.kernel.instructions() => {
            format!("{identical} of {total} repetitions identical, {others} took an interrupt")
        }
        _ => format!("{identical} of {total} repetitions identical, the others {fewest} to {most}"),
    }
}

fn user(comparison: &Comparison) -> Option<Fact> {
    let rows = comparison.workloads.iter();
    let same = rows.filter(|row| row.before.user == row.after.user).count();
    let all = comparison.workloads.len();
    let text = format!(
        "the benchmark's own instructions are the same in {same} of {}",
        plural(all, "workload")
    );
    (all > 0).then(|| Fact::plain("User space", text))
}

/// What is behind the letter of an image.
pub(super) fn image(image: &ImageName) -> Fact {
    let text = format!("{}, image {}", image.variant, words::short_id(&image.id));
    Fact::plain(image.letter, text)
}

/// What a reader needs, beside the images, to repeat the measurement.
pub(super) fn setting(comparison: &Comparison) -> Vec<Fact> {
    let setting = &comparison.setting;
    let kernel = format!(
        "Linux {}, {}, config {}",
        setting.tree, setting.arch, setting.config
    );
    let qemu = format!(
        "QEMU {} TCG -icount, -cpu {}, plugin API {}; tollgate {}",
        setting.qemu, setting.cpu, setting.plugin_api, setting.tollgate
    );
    let base = setting.base.iter();
    let base = base.map(|base| Fact::plain("Base", base.as_str()));
    let mut all: Vec<Fact> = base.collect();
    all.extend([
        Fact::plain("Kernel", kernel),
        Fact::plain("Compiler", setting.compiler.as_str()),
        Fact::plain("Machine", qemu),
        Fact::plain("Cmdline", setting.command_line.as_str()),
    ]);
    let adjusted = setting.adjusted.iter();
    all.extend(adjusted.map(|line| Fact::plain("Config", line.as_str())));
    if !setting.packages.is_empty() {
        all.push(Fact::plain("Packages", setting.packages.join(", ")));
    }
    all.extend(contexts(comparison));
    all
}

/// `path:line:column function` of the site that the patch changes.
pub(super) fn find(comparison: &Comparison) -> Option<String> {
    let find = comparison.setting.find.as_ref()?;
    Some(format!(
        "{}:{}:{} {}",
        find.path, find.line, find.column, find.function
    ))
}

/// The contexts of the guests' CPUs, a line each: the whole, its components, and
/// what the CPU model does not have.
fn contexts(comparison: &Comparison) -> Vec<Fact> {
    let one = |context: &Context| {
        let (present, absent): (Vec<_>, Vec<_>) =
            context.components.iter().partition(|(_, size)| **size > 0);
        let sizes: Vec<String> = present
            .iter()
            .map(|(name, size)| format!("{name} {size}"))
            .collect();
        let names: Vec<&str> = absent.iter().map(|(name, _)| name.as_str()).collect();
        let guest = match context.guest.as_str() {
            "" => String::new(),
            guest => format!("{guest}: "),
        };
        let beside = match sizes.is_empty() {
            true => String::new(),
            false => format!(" (beside x87 and SSE {})", sizes.join(", ")),
        };
        let lacks = match names.is_empty() {
            true => String::new(),
            false => format!("; this CPU model has no {}", names.join(", ")),
        };
        let text = format!(
            "{guest}{} bytes as CPUID says{beside}{lacks}",
            context.bytes
        );
        Fact::plain("Registers", text)
    };
    comparison.contexts.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::gain;
    use super::*;

    /// A line for each count that was interrupted was most of a page with many variants.
    #[test]
    fn interrupted_counts_of_an_image_share_a_line() {
        let mut comparison = gain();
        for row in &mut comparison.workloads {
            row.after.repetitions.identical = row.after.repetitions.total - 1;
        }
        let facts = repetitions(&comparison);
        let [summary, of_b] = facts.as_slice() else {
            panic!("{facts:?}");
        };
        let count = comparison.workloads.len();
        assert!(summary.text.contains(&format!("{count} of {}", 2 * count)));
        assert_eq!(of_b.text.matches(" in B: ").count(), count);
        let Some(last) = comparison.workloads.last_mut() else {
            panic!("no workload");
        };
        last.after.repetitions.identical = 1;
        let facts = repetitions(&comparison);
        assert_eq!(facts.len(), 3);
        assert_eq!(facts.iter().filter(|own| own.tone == Tone::Bad).count(), 1);
    }
}
