//! Medians and how far they can be trusted: the percentile bootstrap (Efron,
//! "Bootstrap methods: another look at the jackknife", 1979). It assumes nothing
//! of how times are distributed, which is never a bell.
//!
//! The random numbers are SplitMix64 (Steele, Lea, Flood: "Fast splittable
//! pseudorandom number generators", 2014) from one seed: the same repetitions
//! give the same interval everywhere.

use serde::{Deserialize, Serialize};

/// Where the random numbers of every interval begin: "tollgate" in ASCII.
pub const SEED: u64 = 0x746f_6c6c_6761_7465;
/// How often repetitions are drawn anew for one interval.
pub const RESAMPLES: usize = 10_000;
/// The part of the drawn medians that lies inside an interval, in percent.
pub const CONFIDENCE_PERCENT: u32 = 95;

/// A median, or a difference of two, with its 95 % interval. Timed, in
/// nanoseconds an operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The median, or the difference of two.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// Whether it is a difference that may be none: its interval includes 0.
    #[must_use]
    pub fn includes_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The smallest difference that could have been seen: one from which the
    /// farther end of the interval would not have reached 0.
    #[must_use]
    pub fn could_see(&self) -> f64 {
        (self.high - self.value).max(self.value - self.low)
    }
}

/// The middle of `values`, the mean of the two in the middle of an even number;
/// none of none.
#[must_use]
pub(super) fn median(values: &[f64]) -> Option<f64> {
    middle(&mut values.to_vec())
}

/// The repetitions of a workload, and of another that is subtracted from it and
/// took turns with it: repetition N of both is drawn together, so that a drift of
/// the machine, which met both, widens nothing.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    values: Vec<f64>,
    less: Option<Vec<f64>>,
}

impl Turns {
    pub(super) fn new(values: Vec<f64>, less: Option<Vec<f64>>) -> Self {
        Self { values, less }
    }

    /// Repetitions.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The median, less that of the other.
    pub(super) fn value(&self) -> Option<f64> {
        let value = median(&self.values)?;
        match &self.less {
            Some(less) => Some(value - median(less)?),
            None => Some(value),
        }
    }

    /// The same of turns drawn anew. Where the numbers of repetitions differ, the
    /// turns that both had are drawn.
    pub(super) fn resampled(&self, dice: &mut Dice, drawn: &mut Drawn) -> Option<f64> {
        drawn.0.clear();
        drawn.1.clear();
        let common = self.less.as_ref().map_or(usize::MAX, Vec::len);
        let turns = self.values.len().min(common);
        for _ in 0..turns {
            let turn = dice.below(turns);
            drawn.0.extend(self.values.get(turn));
            drawn
                .1
                .extend(self.less.as_ref().and_then(|less| less.get(turn)));
        }
        let value = middle(&mut drawn.0)?;
        match &self.less {
            Some(_) => Some(value - middle(&mut drawn.1)?),
            None => Some(value),
        }
    }
}

/// Room for the values that are drawn, and for those that are subtracted.
#[derive(Default)]
pub(super) struct Drawn(Vec<f64>, Vec<f64>);

/// The value of `turns` with its interval; none where there is none.
pub(super) fn of_turns(turns: &Turns) -> Option<Estimate> {
    let (mut dice, mut drawn) = (Dice(SEED), Drawn::default());
    estimate(turns.value()?, || turns.resampled(&mut dice, &mut drawn))
}

/// The value of `a` less that of `b`, two runs that did not take turns.
pub(super) fn of_runs(a: &Turns, b: &Turns) -> Option<Estimate> {
    let (mut dice, mut drawn) = (Dice(SEED), Drawn::default());
    let draw = || Some(a.resampled(&mut dice, &mut drawn)? - b.resampled(&mut dice, &mut drawn)?);
    estimate(a.value()? - b.value()?, draw)
}

/// The interval that holds [`CONFIDENCE_PERCENT`] of what `draw` gives, as many
/// below it as above.
fn estimate(value: f64, draw: impl FnMut() -> Option<f64>) -> Option<Estimate> {
    estimate_of(value, RESAMPLES, draw)
}

/// The same of so many draws.
pub(super) fn estimate_of(
    value: f64,
    resamples: usize,
    mut draw: impl FnMut() -> Option<f64>,
) -> Option<Estimate> {
    let mut drawn: Vec<f64> = (0..resamples).map_while(|_| draw()).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let outside = drawn.len() * (100 - CONFIDENCE_PERCENT as usize) / 200;
    let low = *drawn.get(outside)?;
    let high = *drawn.get(drawn.len().checked_sub(outside + 1)?)?;
    Some(Estimate { value, low, high })
}

/// The median, for which the values are put out of order.
fn middle(values: &mut [f64]) -> Option<f64> {
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    let odd = values.len() % 2 == 1;
    let (below, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let upper = *upper;
    if odd {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

/// SplitMix64.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; of the 2^64 values the last few are favoured by less
    /// than one in 2^50 for any number of repetitions that a run can have.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let scaled = u128::from(self.next()) * (end as u128);
        (scaled >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of_median(values: &[f64]) -> Option<Estimate> {
        of_turns(&Turns::new(values.to_vec(), None))
    }

    fn apart(a: &[f64], b: &[f64]) -> Option<Estimate> {
        let alone = |values: &[f64]| Turns::new(values.to_vec(), None);
        of_runs(&alone(a), &alone(b))
    }

    #[test]
    fn the_random_numbers_are_splitmix64() {
        // The first three from seed 1234567, as its authors' program gives them.
        let mut dice = Dice(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| dice.next()).collect();
        let known = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, known);
    }

    #[test]
    fn the_middle_is_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[]), None);
        assert_eq!(of_median(&[]), None);
        assert_eq!(apart(&[1.0], &[]), None);
        let uneven = Turns::new(vec![5.0, 7.0], Some(vec![1.0]));
        assert_eq!(of_turns(&uneven).map(|found| found.low), Some(4.0));
    }

    /// 30 values of a line; the ends of the interval of its median are known from
    /// order statistics: about the 10th and the 21st (binomial, n = 30, p = 1/2).
    #[test]
    fn as_many_lie_below_an_interval_as_above() {
        let mut values = (0..400).map(f64::from);
        let found = estimate_of(200.0, 400, || values.next()).unwrap();
        // 2.5 % of 400 on each side.
        assert_eq!((found.low, found.high), (10.0, 389.0));
    }

    #[test]
    fn the_interval_is_that_of_order_statistics() {
        let values: Vec<f64> = (1..=30).map(f64::from).collect();
        let found = of_median(&values).unwrap();
        assert_eq!(found.value, 15.5);
        assert!((9.5..=11.5).contains(&found.low), "{found:?}");
        assert!((19.5..=21.5).contains(&found.high), "{found:?}");
        assert_eq!(of_median(&values), Some(found), "the seed decides");
    }

    /// Of many samples of noise about nothing, about 95 in 100 intervals hold it.
    #[test]
    fn an_interval_holds_the_truth_as_often_as_it_says() {
        let mut dice = Dice(1);
        let mut noise = || dice.next() as f64 / u64::MAX as f64 - 0.5;
        let trial = |_| {
            let values: Vec<f64> = (0..30).map(|_| noise()).collect();
            of_median(&values).unwrap().includes_zero()
        };
        let held = (0..40).map(trial).filter(|held| *held).count();
        assert!((35..=39).contains(&held), "{held} of 40");
    }

    /// A drift that met both does not hide a difference of what took turns.
    #[test]
    fn turns_take_the_drift_out() {
        let drift = |n: u32| f64::from(n) * 10.0;
        let a: Vec<f64> = (0..30).map(|n| drift(n) + 3.0).collect();
        let b: Vec<f64> = (0..30).map(drift).collect();
        let in_turns = of_turns(&Turns::new(a.clone(), Some(b.clone()))).unwrap();
        assert_eq!((in_turns.low, in_turns.high), (3.0, 3.0));
        let apart = apart(&a, &b).unwrap();
        assert!(apart.includes_zero(), "{apart:?}");
        assert!(apart.could_see() > 3.0, "{apart:?}");
    }

    #[test]
    fn what_could_have_been_seen_is_the_farther_end() {
        let found = Estimate {
            value: 1.0,
            low: -2.0,
            high: 3.0,
        };
        assert!(found.includes_zero());
        assert_eq!(found.could_see(), 3.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn an_interval_lies_within_the_values(values in prop::collection::vec(0.0..1e12f64, 1..40)) {
            let found = of_median(&values).unwrap();
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            prop_assert!(least <= found.low && found.low <= found.value);
            prop_assert!(found.value <= found.high && found.high <= most);
        }
    }
}
