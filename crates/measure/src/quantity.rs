//! What is counted: a row for each quantity. Whatever adds counts up, compares them,
//! writes or shows them walks these rows.

use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

use serde::ser::{Serialize, SerializeMap, Serializer};
use tollgate_gates::Meaning;

/// Declares the quantities and their table, in the order in which they are shown.
macro_rules! quantities {
    ($( $(#[$doc:meta])* $quantity:ident, $name:literal, $key:literal, $group:ident, $show:ident, $of:expr; )*) => {
        /// What is counted of a workload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Quantity { $( $(#[$doc])* $quantity, )* }

        const ROWS: &[Row] = &[
            $( Row { quantity: Quantity::$quantity, name: $name, key: $key, group: Group::$group,
                     show: Show::$show, of: $of }, )*
        ];
    };
}

/// One quantity. Its unit is an executed instruction; counts of functions, guests and
/// phases add up, and where repetitions do not agree each quantity is its own median.
#[derive(Debug)]
struct Row {
    quantity: Quantity,
    name: &'static str,
    key: &'static str,
    group: Group,
    show: Show,
    of: Of,
}

/// Quantities that people are shown together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Instructions of any kind.
    Instructions,
    /// What opens, closes and guards the way to user memory.
    Gate,
    /// What moves the registers of the FPU, and the protection keys with them.
    Registers,
}

/// When a quantity is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    /// With every workload.
    Always,
    /// Where there is any of it.
    Some,
}

/// What counts as one.
#[derive(Debug)]
enum Of {
    /// Every instruction of user space.
    User,
    /// Every instruction of the kernel.
    Every,
    /// Those of the kernel whose bytes mean this.
    Means(Meaning),
}

quantities! {
    /// Instructions executed in the kernel.
    Kernel, "kernel instructions", "kernel", Instructions, Always, Of::Every;
    /// Instructions executed in user space.
    User, "user instructions", "user", Instructions, Always, Of::User;
    /// Windows opened (`stac` on x86-64).
    Opens, "opens", "opens", Gate, Always, Of::Means(Meaning::Open);
    /// Windows closed (`clac` on x86-64).
    Closes, "closes", "closes", Gate, Always, Of::Means(Meaning::Close);
    /// Writes of a register that opens or closes by its value (`mtspr AMR` on
    /// ppc64le), which are no part of the opens and closes.
    Writes, "gate writes", "writes", Gate, Some, Of::Means(Meaning::Write);
    /// Speculation fences (`lfence` on x86-64).
    Fences, "fences", "fences", Gate, Always, Of::Means(Meaning::Fence);
    /// XSAVE, XSAVEOPT, XSAVEC, XSAVES.
    Xsave, "XSAVE", "xsave", Registers, Some, Of::Means(Meaning::Xsave);
    /// XRSTOR, XRSTORS.
    Xrstor, "XRSTOR", "xrstor", Registers, Some, Of::Means(Meaning::Xrstor);
    /// FXSAVE.
    Fxsave, "FXSAVE", "fxsave", Registers, Some, Of::Means(Meaning::Fxsave);
    /// FXRSTOR.
    Fxrstor, "FXRSTOR", "fxrstor", Registers, Some, Of::Means(Meaning::Fxrstor);
    /// WRPKRU.
    Wrpkru, "WRPKRU", "wrpkru", Registers, Some, Of::Means(Meaning::Wrpkru);
    /// RDPKRU.
    Rdpkru, "RDPKRU", "rdpkru", Registers, Some, Of::Means(Meaning::Rdpkru);
}

/// How many there are.
const COUNT: usize = ROWS.len();
/// What the JSON of counts calls the kernel's instructions, and the quantities of
/// the registers together.
const INSTRUCTIONS: &str = "instructions";
const FPU: &str = "fpu";

impl Quantity {
    /// All of them, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        ROWS.iter().map(|row| row.quantity)
    }

    /// What the kernel does, instructions first.
    pub fn of_kernel() -> impl Iterator<Item = Self> + Clone {
        Self::all().filter(|quantity| !matches!(quantity.row().of, Of::User))
    }

    /// Those that are shown together.
    pub fn of_group(group: Group) -> impl Iterator<Item = Self> + Clone {
        Self::all().filter(move |quantity| quantity.group() == group)
    }

    /// Its name, in the plural: `kernel instructions`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its name for programs: `kernel`.
    #[must_use]
    pub fn key(self) -> &'static str {
        self.row().key
    }

    /// With which others it is shown.
    #[must_use]
    pub fn group(self) -> Group {
        self.row().group
    }

    /// Whether it is shown also where there is none of it.
    #[must_use]
    pub fn is_always_shown(self) -> bool {
        self.row().show == Show::Always
    }

    /// The rows are in the order of the variants, both are made of one list.
    #[expect(
        clippy::indexing_slicing,
        reason = "each variant has the row of its number"
    )]
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// What was executed in the kernel, by quantity: exact counts of one phase, not
/// divided by the number of operations. In JSON an object; what is not always shown is
/// left out where there is none, that of the registers together.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; COUNT]);

impl<const N: usize> From<[(Quantity, u64); N]> for Counts {
    fn from(counts: [(Quantity, u64); N]) -> Self {
        let all = counts.into_iter();
        all.fold(Self::default(), |sum, (quantity, count)| {
            sum.with(quantity, count)
        })
    }
}

impl Counts {
    /// How much of a quantity; of that of user space nothing.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "there is a place for each variant")]
    pub fn get(&self, quantity: Quantity) -> u64 {
        self.0[quantity as usize]
    }

    /// The same counts with another of one quantity.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "there is a place for each variant")]
    pub fn with(mut self, quantity: Quantity, count: u64) -> Self {
        self.0[quantity as usize] = count;
        self
    }

    /// Instructions of any kind.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.get(Quantity::Kernel)
    }

    /// What an instruction that was executed `count` times adds.
    #[must_use]
    pub(crate) fn of(meaning: Meaning, count: u64) -> Self {
        let one = |counts: Self, row: &Row| match row.of {
            Of::Every => counts.with(row.quantity, count),
            Of::Means(known) if known == meaning => counts.with(row.quantity, count),
            Of::User | Of::Means(_) => counts,
        };
        ROWS.iter().fold(Self::default(), one)
    }

    /// The median of each quantity by itself: a repetition of median instructions
    /// may be the one that loads registers most often.
    #[must_use]
    pub(crate) fn medians(all: &[Self]) -> Self {
        let median = |quantity| {
            let mut counts: Vec<u64> = all.iter().map(|one| one.get(quantity)).collect();
            counts.sort_unstable();
            let middle = counts.len().saturating_sub(1) / 2;
            counts.get(middle).copied().unwrap_or_default()
        };
        Quantity::all().fold(Self::default(), |counts, quantity| {
            counts.with(quantity, median(quantity))
        })
    }

    /// Whether there is any of a group.
    #[must_use]
    pub fn any_of(&self, group: Group) -> bool {
        Quantity::of_group(group).any(|quantity| self.get(quantity) > 0)
    }
}

/// Stops at the largest number instead of wrapping; the counts of a phase that
/// was read from a file add up to less than 2^63.
impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(more);
        }
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Self::default();
        all.for_each(|counts| sum += counts);
        sum
    }
}

/// What there is, by name.
impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some = Quantity::all().filter(|quantity| self.get(*quantity) > 0);
        let some = some.map(|quantity| (quantity, self.get(quantity)));
        f.debug_map().entries(some).finish()
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for quantity in Quantity::of_kernel() {
            let count = self.get(quantity);
            let is_shown = quantity.is_always_shown() || count > 0;
            if is_shown && quantity.group() != Group::Registers {
                let key = match quantity {
                    Quantity::Kernel => INSTRUCTIONS,
                    other => other.key(),
                };
                map.serialize_entry(key, &count)?;
            }
        }
        if self.any_of(Group::Registers) {
            map.serialize_entry(FPU, &Registers(self))?;
        }
        map.end()
    }
}

/// All quantities of the registers.
struct Registers<'a>(&'a Counts);

impl Serialize for Registers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = Quantity::of_group(Group::Registers);
        serializer.collect_map(all.map(|quantity| (quantity.key(), self.0.get(quantity))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_a_quantity_is_its_own() {
        for (row, quantity) in ROWS.iter().zip(Quantity::all()) {
            assert_eq!(row.quantity, quantity);
            assert_eq!(quantity.name(), row.name);
        }
        let mut keys: Vec<&str> = Quantity::all().map(Quantity::key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), COUNT);
    }

    #[test]
    fn an_instruction_counts_as_what_it_means_and_as_one() {
        let counts = Counts::of(Meaning::Fence, 7);
        assert_eq!(
            (counts.instructions(), counts.get(Quantity::Fences)),
            (7, 7)
        );
        assert_eq!(
            Counts::of(Meaning::Other, 3),
            Counts::default().with(Quantity::Kernel, 3)
        );
        let sum: Counts = [counts, Counts::of(Meaning::Xsave, 2)].into_iter().sum();
        let json = serde_json::to_value(sum).ok();
        let wanted = serde_json::json!({ "instructions": 9, "opens": 0, "closes": 0, "fences": 7,
            "fpu": { "xsave": 2, "xrstor": 0, "fxsave": 0, "fxrstor": 0, "wrpkru": 0, "rdpkru": 0 } });
        assert_eq!(json, Some(wanted));
    }

    #[test]
    fn each_quantity_has_its_own_median() {
        let one = |kernel, opens| {
            Counts::default()
                .with(Quantity::Kernel, kernel)
                .with(Quantity::Opens, opens)
        };
        assert_eq!(
            Counts::medians(&[one(1, 9), one(2, 1), one(3, 5)]),
            one(2, 5)
        );
    }
}
