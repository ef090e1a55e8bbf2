//! Two images compared: plain data, for renderers and programs.

use std::cmp::Reverse;

use serde::Serialize;

use crate::behaviour::Behaviour;
use crate::context::Context;
use crate::measured::Measured;
use crate::quantity::{Counts, Group, Quantity};
use crate::ratio::Ratio;
use crate::results::Skip;
use crate::sample::Workload;
use crate::setting::{ImageName, Setting};
use crate::verdict::Verdict;

/// Image A (the base) against image B (a variant).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// What both share and the counts depend on.
    pub setting: Setting,
    /// Image A.
    pub before: ImageName,
    /// Image B.
    pub after: ImageName,
    /// What follows from the rest.
    pub verdict: Verdict,
    /// The benchmarks that both images ran, in the order of the plan.
    pub workloads: Vec<WorkloadComparison>,
    /// Image A against itself; none when it ran once.
    pub repeat: Option<Repeat>,
    /// What both did with faulty input.
    pub behaviour: Behaviour,
    /// The contexts of the guests' CPUs, where a sweep asked for them.
    pub contexts: Vec<Context>,
    /// What was skipped, failed, is missing or odd: nothing is left out in
    /// silence.
    pub notes: Vec<Note>,
}

/// One benchmark on both images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkloadComparison {
    /// What ran.
    pub workload: Workload,
    /// Whether it is a control, which must not move.
    pub control: bool,
    /// What a call handles several of, and how many; none when there is no
    /// such thing.
    pub unit: Option<UnitCount>,
    /// What is to be subtracted from it; none where nothing is.
    pub less: Option<Workload>,
    /// Whether the instructions of user space decide with the kernel's.
    pub whole: bool,
    /// What a save or a load of all registers moves at most on its CPU, in
    /// bytes; none where no sweep asked for it.
    pub context_bytes: Option<u64>,
    /// On image A.
    pub before: Measured,
    /// On image B.
    pub after: Measured,
    /// By function, the largest difference in instructions first, then by
    /// name. Every function that either image entered.
    pub functions: Vec<FunctionComparison>,
}

/// How many units a call handles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnitCount {
    /// The unit's name, `event`.
    pub name: String,
    /// How many a call handles; at least 1.
    pub per_call: u64,
}

/// One function on both images; zeros where it was not entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionComparison {
    /// The symbol.
    pub name: String,
    /// On image A, of all operations.
    pub before: Counts,
    /// On image B, of all operations.
    pub after: Counts,
}

/// Image A run twice and compared with itself: whether the counts can be
/// reproduced at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repeat {
    /// The workloads that were counted in both runs.
    pub workloads: usize,
    /// Those that did not give the same counts.
    pub moved: Vec<RepeatDifference>,
    /// The points of both runs.
    pub behaviour: Behaviour,
}

/// A workload that gave two counts on one image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RepeatDifference {
    /// What ran.
    pub workload: Workload,
    /// Operations in a repetition.
    pub operations: u64,
    /// The kernel's counts of the first run.
    pub first: Counts,
    /// Those of the second.
    pub second: Counts,
    /// User instructions of the first run.
    pub first_user: u64,
    /// Those of the second.
    pub second_user: u64,
}

/// A run of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The image of that letter.
    Image(char),
    /// The image of that letter the second time.
    Again(char),
}

/// Something the reader has to know beside the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Note {
    /// The guest could not run a job.
    Skipped {
        /// Where.
        side: Side,
        /// The job and the guest's reason.
        skip: Skip,
    },
    /// A job failed in the guest.
    Failed {
        /// Where.
        side: Side,
        /// The guest's words.
        text: String,
    },
    /// A benchmark of the plan has no counts, and was not skipped.
    Missing {
        /// Where.
        side: Side,
        /// Which.
        workload: Workload,
    },
    /// A benchmark ran that the case does not know; it is not compared.
    Unplanned {
        /// Where.
        side: Side,
        /// Which.
        workload: Workload,
    },
    /// Boots gave other counts than the two that agree.
    Differing {
        /// Where.
        side: Side,
        /// How many did.
        boots: usize,
    },
    /// The unit's parameter is absent or below 1, so there are figures a call
    /// only.
    NoUnit {
        /// The benchmark.
        workload: Workload,
        /// The parameter.
        parameter: String,
    },
    /// The benchmark's own instructions differ between the images.
    UserMoved {
        /// The benchmark.
        workload: Workload,
        /// User instructions of image A.
        before: u64,
        /// Those of image B.
        after: u64,
    },
    /// There was no control workload.
    NoControl,
    /// Image A was not run a second time.
    NotRepeated,
    /// No point of behaviour was compared.
    NoPoints,
}

/// By what a count is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// By the operations.
    Call,
    /// By the units that all operations handled; by the operations where there
    /// is no unit.
    Unit,
}

/// A figure on both images, exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// On image A.
    pub before: Ratio,
    /// On image B.
    pub after: Ratio,
}

impl Figure {
    /// After less before.
    #[must_use]
    pub fn difference(self) -> Ratio {
        self.after.minus(self.before)
    }

    /// The difference in hundredths of before with its sign and unit,
    /// `-11.7 %`, with as many decimals from `fewest` up as it takes not to show
    /// it as 0; none when before is 0.
    #[must_use]
    pub fn signed_percent(self, fewest: u32) -> Option<String> {
        let difference = self.difference();
        let percent = |places| difference.abs().percent_of(self.before, places);
        let visible =
            |text: &String| difference.is_zero() || text.contains(|c| matches!(c, '1'..='9'));
        let shown = (fewest..4).find_map(|places| percent(places).filter(visible));
        let text = shown.or_else(|| percent(4))?;
        let sign = match difference.numerator.signum() {
            -1 => "-",
            0 => "",
            _ => "+",
        };
        Some(format!("{sign}{text} %"))
    }
}

impl WorkloadComparison {
    /// A quantity on both images, divided as `per` says.
    #[must_use]
    pub fn figure(&self, per: Per, quantity: Quantity) -> Figure {
        self.figure_of(per, &[quantity])
    }

    /// The sum of some quantities on both images, divided as `per` says.
    #[must_use]
    pub fn figure_of(&self, per: Per, quantities: &[Quantity]) -> Figure {
        let sum = |measured: &Measured| {
            let counts = quantities.iter().map(|quantity| measured.count(*quantity));
            counts.fold(0, u64::saturating_add)
        };
        let one = |measured: &Measured| Ratio::new(sum(measured), self.divisor(per, measured));
        Figure {
            before: one(&self.before),
            after: one(&self.after),
        }
    }

    /// Kernel instructions of a function (of this workload), divided as `per`
    /// says.
    #[must_use]
    pub fn function_figure(&self, per: Per, function: &FunctionComparison) -> Figure {
        let before = Ratio::new(
            function.before.instructions(),
            self.divisor(per, &self.before),
        );
        let after = Ratio::new(
            function.after.instructions(),
            self.divisor(per, &self.after),
        );
        Figure { before, after }
    }

    /// Kernel instructions, divided as `per` says.
    #[must_use]
    pub fn kernel(&self, per: Per) -> Figure {
        self.figure(per, Quantity::Kernel)
    }

    /// The figure that decides, divided as `per` says: kernel instructions, with
    /// those of user space where the program is a part of what is compared.
    #[must_use]
    pub fn decisive(&self, per: Per) -> Figure {
        match self.whole {
            true => self.figure_of(per, &[Quantity::Kernel, Quantity::User]),
            false => self.kernel(per),
        }
    }

    /// The instructions that decide, of all operations on an image.
    #[must_use]
    pub fn deciding_of(&self, measured: &Measured) -> u64 {
        let user = if self.whole { measured.user } else { 0 };
        measured.kernel.instructions().saturating_add(user)
    }

    /// What the figure that decides counts, in words.
    #[must_use]
    pub fn decisive_name(&self) -> &'static str {
        match self.whole {
            true => "instructions of user space and kernel",
            false => Quantity::Kernel.name(),
        }
    }

    /// The name of what `per` divides by: the unit's, or `call`.
    #[must_use]
    pub fn per_name(&self, per: Per) -> &str {
        match (per, &self.unit) {
            (Per::Unit, Some(unit)) => &unit.name,
            _ => "call",
        }
    }

    /// Whether there is any of a quantity on either image.
    #[must_use]
    pub fn has(&self, quantity: Quantity) -> bool {
        self.before.count(quantity) > 0 || self.after.count(quantity) > 0
    }

    /// Whether the registers of the FPU were saved or loaded on either image.
    #[must_use]
    pub fn moves_registers(&self) -> bool {
        self.before.kernel.any_of(Group::Registers) || self.after.kernel.any_of(Group::Registers)
    }

    /// Bytes of registers that the kernel's saves and loads moved at most,
    /// divided as `per` says: derived from their number and the size of the
    /// context, and of the 512 bytes of an FXSAVE (Intel SDM vol. 1, 10.5.1).
    /// None where the size is not known or nothing moved.
    #[must_use]
    pub fn context_moved(&self, per: Per) -> Option<Figure> {
        let size = self.context_bytes.filter(|_| self.moves_registers())?;
        let one = |measured: &Measured| {
            let moved = measured.context_moved(size);
            Ratio::new(moved, self.divisor(per, measured))
        };
        Some(Figure {
            before: one(&self.before),
            after: one(&self.after),
        })
    }

    /// Whether both counts are exact.
    #[must_use]
    pub fn exact(&self) -> bool {
        self.before.repetitions.exact() && self.after.repetitions.exact()
    }

    pub(crate) fn divisor(&self, per: Per, measured: &Measured) -> u64 {
        let units = self
            .unit
            .as_ref()
            .filter(|_| per == Per::Unit)
            .map_or(1, |unit| unit.per_call);
        measured.operations.saturating_mul(units)
    }
}

impl FunctionComparison {
    /// Functions of both, the largest difference in instructions first, then
    /// by name.
    #[must_use]
    pub(crate) fn all(before: &Measured, after: &Measured) -> Vec<Self> {
        let mut names: Vec<_> = before
            .functions
            .keys()
            .chain(after.functions.keys())
            .collect();
        names.sort();
        names.dedup();
        let of = |measured: &Measured, name: &String| measured.functions.get(name).copied();
        let one = |name: &String| Self {
            name: name.clone(),
            before: of(before, name).unwrap_or_default(),
            after: of(after, name).unwrap_or_default(),
        };
        let mut all: Vec<_> = names.into_iter().map(one).collect();
        // Stable: equal differences stay in the order of names.
        all.sort_by_key(|function| Reverse(function.moved()));
        all
    }

    /// By how many instructions it differs, of all operations.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.after
            .instructions()
            .abs_diff(self.before.instructions())
    }
}

impl Note {
    /// What it is about, in the words of the JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Skipped { .. } => "skipped",
            Self::Failed { .. } => "failed",
            Self::Missing { .. } => "missing",
            Self::Unplanned { .. } => "unplanned",
            Self::Differing { .. } => "differing",
            Self::NoUnit { .. } => "no_unit",
            Self::UserMoved { .. } => "user_moved",
            Self::NoControl => "no_control",
            Self::NotRepeated => "not_repeated",
            Self::NoPoints => "no_points",
        }
    }

    /// Whether it makes a verdict impossible: data that was asked for is not
    /// there.
    #[must_use]
    pub fn incomplete(&self) -> bool {
        matches!(self, Self::Failed { .. } | Self::Missing { .. })
    }
}
