//! What follows from a comparison, and the sentence that says so.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::comparison::{Comparison, Figure, Per, WorkloadComparison};
use crate::measured::Quantity;

/// What follows from a comparison. Only the kernel's instructions per call
/// decide between the first four.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Fewer in at least one workload, more in none.
    Gain,
    /// The same in every workload.
    NoDifference,
    /// More in at least one workload, fewer in none.
    Regression,
    /// More in some, fewer in others.
    Mixed,
    /// A and B do different things with the same input.
    BehaviourDiffers,
    /// A control is not the same in A and B: more differs than the patch.
    ControlMoved,
    /// A is not the same as A: the counts cannot be relied on.
    NotReproducible,
    /// Data that was asked for is not there.
    Incomplete,
}

impl Verdict {
    /// What follows from a comparison, whatever its `verdict` field says.
    ///
    /// What A and B do differently outweighs every count, unless A itself does
    /// it differently each time, or points are only missing and a failure
    /// explains that.
    #[must_use]
    pub fn of(comparison: &Comparison) -> Self {
        let incomplete = comparison.notes.iter().any(|note| note.incomplete());
        let repeat = comparison.repeat.as_ref();
        let differences = &comparison.behaviour.differences;
        let on_both = differences
            .iter()
            .any(|point| point.before.is_some() && point.after.is_some());
        if repeat.is_some_and(|repeat| !repeat.behaviour.differences.is_empty()) {
            Self::NotReproducible
        } else if on_both || (!differences.is_empty() && !incomplete) {
            Self::BehaviourDiffers
        } else if incomplete || comparison.subjects().next().is_none() {
            Self::Incomplete
        } else if repeat.is_some_and(|repeat| !repeat.moved.is_empty()) {
            Self::NotReproducible
        } else if comparison.moved_controls().next().is_some() {
            Self::ControlMoved
        } else {
            Self::of_counts(comparison)
        }
    }

    fn of_counts(comparison: &Comparison) -> Self {
        let moved = |way| comparison.subjects().any(|row| row.moved() == way);
        match (moved(Ordering::Less), moved(Ordering::Greater)) {
            (false, false) => Self::NoDifference,
            (true, false) => Self::Gain,
            (false, true) => Self::Regression,
            (true, true) => Self::Mixed,
        }
    }

    /// The exit code: 0 a gain or no difference, 1 a regression, a mixed result
    /// or another behaviour, 2 could not tell.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Gain | Self::NoDifference => 0,
            Self::Regression | Self::Mixed | Self::BehaviourDiffers => 1,
            Self::ControlMoved | Self::NotReproducible | Self::Incomplete => 2,
        }
    }

    /// Two or three words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Gain => "gain",
            Self::NoDifference => "no difference",
            Self::Regression => "regression",
            Self::Mixed => "mixed",
            Self::BehaviourDiffers => "behaviour differs",
            Self::ControlMoved => "control moved",
            Self::NotReproducible => "not reproducible",
            Self::Incomplete => "incomplete",
        }
    }
}

impl WorkloadComparison {
    /// Whether image B takes more or fewer kernel instructions a call.
    #[must_use]
    pub fn moved(&self) -> Ordering {
        self.before.moved_to(&self.after)
    }

    /// Whether anything that is counted in the kernel differs.
    #[must_use]
    pub fn differs(&self) -> bool {
        let of = |quantity: &Quantity| !self.figure(Per::Call, *quantity).difference().is_zero();
        self.moved().is_ne() || (self.exact() && Quantity::OF_KERNEL.iter().any(of))
    }
}

impl Comparison {
    /// The workloads that the patch is about: those that are no controls.
    pub fn subjects(&self) -> impl Iterator<Item = &WorkloadComparison> {
        self.workloads.iter().filter(|row| !row.control)
    }

    /// The controls.
    pub fn controls(&self) -> impl Iterator<Item = &WorkloadComparison> {
        self.workloads.iter().filter(|row| row.control)
    }

    /// The controls that are not the same in A and B.
    pub fn moved_controls(&self) -> impl Iterator<Item = &WorkloadComparison> {
        self.controls().filter(|row| row.differs())
    }

    /// The subject that changed most for its size, the first of equals: the one
    /// to show first.
    #[must_use]
    pub fn headline(&self) -> Option<&WorkloadComparison> {
        most_changed(self.subjects())
    }

    /// The verdict in one sentence.
    #[must_use]
    pub fn statement(&self) -> String {
        match self.verdict {
            Verdict::Gain => self.one_way("cheaper", Ordering::Less, "takes more"),
            Verdict::Regression => self.one_way("dearer", Ordering::Greater, "takes fewer"),
            Verdict::Mixed => self.mixed(),
            Verdict::NoDifference => self.no_difference(),
            Verdict::BehaviourDiffers => self.behaviour_differs(),
            Verdict::ControlMoved => self.control_moved(),
            Verdict::NotReproducible => self.not_reproducible(),
            Verdict::Incomplete => self.incomplete(),
        }
    }

    fn one_way(&self, word: &str, way: Ordering, other_way: &str) -> String {
        let moved = most_changed(self.subjects().filter(|row| row.moved() == way));
        let moved = moved.map(change).unwrap_or_default();
        format!(
            "{} is {word}: {moved}; no workload {other_way}{}.",
            self.after.letter,
            self.held()
        )
    }

    fn mixed(&self) -> String {
        let moved =
            |way| most_changed(self.subjects().filter(|row| row.moved() == way)).map(change);
        let cheaper = moved(Ordering::Less).unwrap_or_default();
        let dearer = moved(Ordering::Greater).unwrap_or_default();
        format!(
            "{} is cheaper in one and dearer in another: {cheaper}, but {dearer}{}.",
            self.after.letter,
            self.held()
        )
    }

    fn no_difference(&self) -> String {
        let exact = self.subjects().all(WorkloadComparison::exact);
        let (a, b) = (self.before.letter, self.after.letter);
        let how = if exact {
            format!("exactly as many kernel instructions in {b} as in {a}")
        } else {
            format!("as many kernel instructions in {b} as in {a}, as far as medians tell")
        };
        let count = self.subjects().count();
        let all = match count {
            1 => "The workload takes".to_owned(),
            count => format!("All {count} workloads take"),
        };
        format!("{all} {how}{}.", self.held())
    }

    /// What stayed the same, to close a sentence.
    fn held(&self) -> String {
        let control = match self.controls().count() {
            0 => "",
            1 => ", the control did not move",
            _ => ", the controls did not move",
        };
        let points = match self.behaviour.points {
            0 => String::new(),
            points => format!(", behaviour is the same at {}", plural(points, "point")),
        };
        format!("{control}{points}")
    }

    fn behaviour_differs(&self) -> String {
        let differences = &self.behaviour.differences;
        let first = differences
            .first()
            .map(|point| format!("{} {}", point.sweep, point.name));
        format!(
            "{} and {} treat {} of {} differently, the first is {}.",
            self.before.letter,
            self.after.letter,
            differences.len(),
            plural(self.behaviour.points, "input"),
            first.unwrap_or_default(),
        )
    }

    fn control_moved(&self) -> String {
        let moved = self
            .moved_controls()
            .next()
            .map(any_change)
            .unwrap_or_default();
        format!(
            "No verdict: the control moved ({moved}), so more than the patch differs between {} and {}.",
            self.before.letter, self.after.letter
        )
    }

    fn not_reproducible(&self) -> String {
        let repeat = self.repeat.as_ref();
        let moved = repeat.and_then(|repeat| repeat.moved.first());
        let what = match moved {
            Some(row) => format!(
                "{} took {} kernel and {} user instructions, then {} and {}",
                row.workload,
                row.first.instructions,
                row.first_user,
                row.second.instructions,
                row.second_user
            ),
            None => {
                let points = repeat.map_or(0, |repeat| repeat.behaviour.differences.len());
                format!("{} of behaviour changed", plural(points, "point"))
            }
        };
        let a = self.before.letter;
        format!("No verdict: {a} run twice is not the same as itself ({what}).")
    }

    fn incomplete(&self) -> String {
        let note = self
            .notes
            .iter()
            .find(|note| note.incomplete())
            .map(ToString::to_string);
        let note = note.unwrap_or_else(|| "no workload was counted on both images".to_owned());
        format!("No verdict, data is missing: {note}.")
    }
}

fn most_changed<'a>(
    rows: impl Iterator<Item = &'a WorkloadComparison>,
) -> Option<&'a WorkloadComparison> {
    let by_change = |row: &&WorkloadComparison| {
        let figure = row.kernel(Per::Call);
        let change = figure.difference().value() / figure.before.value().max(1.0);
        change.abs()
    };
    let mut rows: Vec<_> = rows.collect();
    // Stable: of equals the first of the plan.
    rows.sort_by(|a, b| by_change(b).total_cmp(&by_change(a)));
    rows.first().copied()
}

/// `epoll_wait events=64 takes 15.1 fewer kernel instructions per event
/// (129.8 -> 114.7, -11.7 %)`.
fn change(row: &WorkloadComparison) -> String {
    change_of(row, Quantity::Kernel, row.kernel(Per::Unit))
}

/// The same of whatever moved: a control may keep its instructions and lose a
/// fence.
fn any_change(row: &WorkloadComparison) -> String {
    let figures = Quantity::OF_KERNEL.map(|quantity| (quantity, row.figure(Per::Unit, quantity)));
    let moved = figures
        .into_iter()
        .find(|(_, figure)| !figure.difference().is_zero());
    moved.map_or_else(
        || change(row),
        |(quantity, figure)| change_of(row, quantity, figure),
    )
}

fn change_of(row: &WorkloadComparison, quantity: Quantity, figure: Figure) -> String {
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
        quantity.name(),
        row.per_name(Per::Unit),
        figure.before.decimal(places),
        figure.after.decimal(places),
        percent.unwrap_or_default(),
    )
}

/// `1 point`, `2 points`.
fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

#[cfg(test)]
mod tests;
