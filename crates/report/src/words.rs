//! What a comparison comes to, in sentences.

use std::cmp::Ordering;

use tollgate_measure::{
    Comparison, Figure, Note, Per, Quantity, Series, Side, Verdict, WorkloadComparison,
};

use crate::document::Tone;
use crate::text::{plural, short, signed};

/// What exact counts under QEMU TCG do not tell; printed with every comparison.
/// That some processors serialise on stac and clac is what the kernel's own
/// mails report of AMD Zen up to 4.
pub(crate) const LIMITS: &[&str] = &[
    "These are counts of instructions, not time. QEMU TCG models no \
     cache, no pipeline and no branch prediction.",
    "Opening, closing and fencing count as one instruction each. What they cost \
     on a processor is not in the figures; some serialise on them.",
    "Each iteration of a rep movs counts as an instruction; hardware does not \
     retire them one by one.",
];

/// An image as people are shown it: as much of its key as git shows of a hash in the
/// kernel's mails. The folder of the cache begins with it; JSON has all of it.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// Two or three words.
pub(crate) fn title(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Gain => "gain",
        Verdict::NoDifference => "no difference",
        Verdict::Regression => "regression",
        Verdict::Mixed => "mixed",
        Verdict::BehaviourDiffers => "behaviour differs",
        Verdict::ControlMoved => "control moved",
        Verdict::NotReproducible => "not reproducible",
        Verdict::Incomplete => "incomplete",
    }
}

/// Whether it is good news.
pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Gain => Tone::Good,
        Verdict::NoDifference => Tone::Plain,
        Verdict::Regression | Verdict::BehaviourDiffers => Tone::Bad,
        Verdict::Mixed | Verdict::ControlMoved | Verdict::NotReproducible | Verdict::Incomplete => {
            Tone::Doubt
        }
    }
}

/// The verdict in a sentence or two.
pub(crate) fn statement(comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::Gain => one_way(comparison, "cheaper", Ordering::Less, "takes more"),
        Verdict::Regression => one_way(comparison, "dearer", Ordering::Greater, "takes fewer"),
        Verdict::Mixed => mixed(comparison),
        Verdict::NoDifference => no_difference(comparison),
        Verdict::BehaviourDiffers => behaviour_differs(comparison),
        Verdict::ControlMoved => control_moved(comparison),
        Verdict::NotReproducible => not_reproducible(comparison),
        Verdict::Incomplete => incomplete(comparison),
    }
}

fn one_way(comparison: &Comparison, word: &str, way: Ordering, other_way: &str) -> String {
    let moved = comparison.most_moved(way);
    let price = moved.map_or_else(String::new, |row| price(row, way));
    format!(
        "{} is {word}: {}{price}; no workload {other_way}{}.",
        comparison.after.letter,
        moved.map(change).unwrap_or_default(),
        held(comparison)
    )
}

/// What the instructions of a workload were bought with, in words.
fn price(row: &WorkloadComparison, way: Ordering) -> String {
    let all = against(row, way).into_iter();
    all.map(|words| format!(", though {words}")).collect()
}

/// The quantities that went the other way than the instructions: a window may be
/// bought with a fence. Of another program that is no price.
fn against(row: &WorkloadComparison, way: Ordering) -> Vec<String> {
    if row.whole {
        return Vec::new();
    }
    let words = |quantity: Quantity| {
        let figure = row.figure(Per::Unit, quantity);
        let went = figure.difference().numerator.cmp(&0);
        (went == way.reverse()).then(|| {
            let new = if figure.before.is_zero() { "new " } else { "" };
            let fewer = if went.is_lt() { "fewer " } else { "" };
            format!(
                "with {new}{fewer}{} ({} -> {} per {})",
                quantity.name(),
                short(figure.before),
                short(figure.after),
                row.per_name(Per::Unit)
            )
        })
    };
    Quantity::of_kernel().skip(1).filter_map(words).collect()
}

fn mixed(comparison: &Comparison) -> String {
    let moved = |way| comparison.most_moved(way).map(change).unwrap_or_default();
    format!(
        "{} is cheaper in one and dearer in another: {}, but {}{}.",
        comparison.after.letter,
        moved(Ordering::Less),
        moved(Ordering::Greater),
        held(comparison)
    )
}

fn no_difference(comparison: &Comparison) -> String {
    let exact = comparison.subjects().all(WorkloadComparison::exact);
    let (a, b) = (comparison.before.letter, comparison.after.letter);
    let what = comparison.subjects().next();
    let what = what.map_or(Quantity::Kernel.name(), WorkloadComparison::decisive_name);
    let how = if exact {
        format!("exactly as many {what} in {b} as in {a}")
    } else {
        format!("as many {what} in {b} as in {a}, as far as medians tell")
    };
    let all = match comparison.subjects().count() {
        1 => "The workload takes".to_owned(),
        count => format!("All {count} workloads take"),
    };
    format!("{all} {how}{}.", held(comparison))
}

/// What stayed the same, to close a sentence.
fn held(comparison: &Comparison) -> String {
    let control = match comparison.controls().count() {
        0 => "",
        1 => ", the control did not move",
        _ => ", the controls did not move",
    };
    let points = match comparison.behaviour.points {
        0 => String::new(),
        points => format!(", behaviour is the same at {}", plural(points, "point")),
    };
    format!("{control}{points}")
}

/// What differs, and the counts all the same: they are of kernels that do not do the
/// same.
fn behaviour_differs(comparison: &Comparison) -> String {
    let differences = &comparison.behaviour.differences;
    let first = differences
        .first()
        .map(|point| format!("{} {}", point.sweep, point.name));
    let counts = match comparison.headline() {
        None => String::new(),
        Some(row) if row.moved().is_eq() => " The counts are the same.".to_owned(),
        Some(row) => format!(" Beside that, {}{}.", change(row), price(row, row.moved())),
    };
    format!(
        "{} and {} treat {} of {} differently, the first is {}.{counts}",
        comparison.before.letter,
        comparison.after.letter,
        differences.len(),
        plural(comparison.behaviour.points, "input"),
        first.unwrap_or_default(),
    )
}

fn control_moved(comparison: &Comparison) -> String {
    let moved = comparison.moved_controls().next();
    format!(
        "No verdict: the control moved ({}), so more than the patch differs between {} and {}.",
        moved.map(any_change).unwrap_or_default(),
        comparison.before.letter,
        comparison.after.letter
    )
}

fn not_reproducible(comparison: &Comparison) -> String {
    let repeat = comparison.repeat.as_ref();
    let moved = repeat.and_then(|repeat| repeat.moved.first());
    let what = match moved {
        Some(row) => format!(
            "{} took {} kernel and {} user instructions, then {} and {}",
            row.workload,
            row.first.get(Quantity::Kernel),
            row.first_user,
            row.second.get(Quantity::Kernel),
            row.second_user
        ),
        None => {
            let points = repeat.map_or(0, |repeat| repeat.behaviour.differences.len());
            format!("{} of behaviour changed", plural(points, "point"))
        }
    };
    let a = comparison.before.letter;
    format!("No verdict: {a} run twice is not the same as itself ({what}).")
}

fn incomplete(comparison: &Comparison) -> String {
    let note_of = comparison.notes.iter().find(|note| note.incomplete());
    let words = note_of.map_or_else(|| "no workload was counted on both images".to_owned(), note);
    format!("No verdict, data is missing: {words}.")
}

/// `epoll_wait events=64 takes 15.1 fewer kernel instructions per event
/// (129.8 -> 114.7, -11.7 %)`.
fn change(row: &WorkloadComparison) -> String {
    change_of(row, row.decisive_name(), row.decisive(Per::Unit))
}

/// The same of whatever moved: a control may keep its instructions and lose a
/// fence.
fn any_change(row: &WorkloadComparison) -> String {
    let mut figures =
        Quantity::of_kernel().map(|quantity| (quantity, row.figure(Per::Unit, quantity)));
    let moved = figures.find(|(_, figure)| !figure.difference().is_zero());
    moved.map_or_else(
        || change(row),
        |(quantity, figure)| change_of(row, quantity.name(), figure),
    )
}

fn change_of(row: &WorkloadComparison, what: &str, figure: Figure) -> String {
    let difference = figure.difference();
    let places = difference.visible_places(1);
    let more = if difference.numerator < 0 {
        "fewer"
    } else {
        "more"
    };
    let percent = figure
        .signed_percent(1)
        .map(|percent| format!(", {percent}"));
    let label = if row.exact() { "" } else { ", medians" };
    format!(
        "{} takes {} {more} {} per {} ({} -> {}{}{label})",
        row.workload,
        difference.abs().decimal(places),
        what,
        row.per_name(Per::Unit),
        figure.before.decimal(places),
        figure.after.decimal(places),
        percent.unwrap_or_default(),
    )
}

/// What a reader has to know beside the figures, as a sentence without its end.
pub(crate) fn note(note: &Note) -> String {
    match note {
        Note::Skipped { side: at, skip } => {
            format!("{}: skipped {}: {}", side(*at), skip.job, skip.reason)
        }
        Note::Failed { side: at, text } => format!("{}: failed: {text}", side(*at)),
        Note::Missing { side: at, workload } => format!("{}: {workload} has no counts", side(*at)),
        Note::Unplanned { side: at, workload } => {
            format!("{}: {workload} ran unasked and is not compared", side(*at))
        }
        Note::Differing { side: at, boots } => format!(
            "{}: {} gave other counts than the two whose counts are shown",
            side(*at),
            plural(*boots, "more boot")
        ),
        Note::NoUnit {
            workload,
            parameter,
        } => {
            format!("{workload}: no parameter `{parameter}` of 1 or more; figures are per call")
        }
        Note::UserMoved {
            workload,
            before,
            after,
        } => format!(
            "{workload}: the benchmark itself executed {before} instructions in A, {after} in B"
        ),
        Note::NoControl => "no control: nothing was measured that must not move".to_owned(),
        Note::NotRepeated => "A was not run a second time: not shown to be reproducible".to_owned(),
        Note::NoPoints => "behaviour was not compared: no sweep gave a point".to_owned(),
    }
}

fn side(side: Side) -> String {
    match side {
        Side::Image(letter) => letter.to_string(),
        Side::Again(letter) => format!("the second run of {letter}"),
    }
}

/// What came of a series: the patch that made the middle worse than both ends, and
/// how the last point stands to the first.
pub(crate) fn series(series: &Series) -> String {
    let peak = series.peak().map(|peak| {
        format!(
            "{} is dearer in the middle than at both ends: patch {} \"{}\" made it {} kernel \
             instructions per {} ({}, {} against the base). ",
            peak.row.workload,
            peak.point.number,
            peak.point.title,
            peak.figure.after.decimal(2),
            peak.row.per(),
            signed(peak.figure.difference(), 2),
            peak.figure.signed_percent(1).unwrap_or_default(),
        )
    });
    let end = series.deciding().map_or_else(
        || "There is nothing to compare with the first point.".to_owned(),
        |(point, comparison)| {
            format!(
                "Point {} against the first: {}",
                point.number,
                statement(comparison)
            )
        },
    );
    format!("{}{end}", peak.unwrap_or_default())
}
