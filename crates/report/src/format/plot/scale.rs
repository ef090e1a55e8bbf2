//! Where values stand on the axes of a plot, and which of them are marked.

use tollgate_measure::Plot;

use crate::text::grouped;

/// Steps of a linear axis, at most.
const STEPS: f64 = 5.0;
/// From which ratio of the largest to the smallest an axis may be logarithmic.
const LOGARITHMIC: f64 = 8.0;
/// Powers of ten that a logarithmic axis marks, at most.
const DECADES: usize = 7;
/// From where on, and below where, a mark is written with an exponent: it would
/// not fit beside the axis.
const WRITTEN_OUT: std::ops::Range<f64> = 1e-4..1e8;

/// How much of a logarithmic axis lies below its least value, where 0 is shown too.
const ZERO: f64 = 0.12;

/// One axis: what it begins and ends with.
pub(super) struct Axis {
    least: f64,
    most: f64,
    pub(super) logarithmic: bool,
    /// Whether 0 stands below the least value of a logarithmic axis.
    zero: bool,
}

/// Both axes of a plot.
pub(super) struct Scales {
    pub(super) x: Axis,
    pub(super) y: Axis,
}

impl Scales {
    /// The axes of a plot that stands beside others: those over one parameter have
    /// axes of one kind, so that a slope means the same in each. They are logarithmic
    /// where the parameter grows by factors and any of the counts does: what grows in
    /// proportion is then a straight line. A count of 0 stands below them.
    pub(super) fn beside(plot: &Plot, all: &[Plot]) -> Self {
        let like = || all.iter().filter(|one| one.parameter == plot.parameter);
        let far = like().any(|one| Range::of_x(one).factor() >= LOGARITHMIC)
            && like().all(|one| Range::of_x(one).least >= 1.0);
        let wide = like().any(|one| Range::above_zero(one).factor() >= LOGARITHMIC);
        let (x, y) = (Range::of_x(plot), Range::of(ys(plot)));
        let above = Range::above_zero(plot);
        Self {
            x: Axis {
                least: x.least,
                most: x.most,
                logarithmic: far,
                zero: false,
            },
            y: if far && wide && above.most > 0.0 {
                Axis::of_factors(&above, y.least <= 0.0)
            } else {
                Axis::from_zero(y.most)
            },
        }
    }
}

fn ys(plot: &Plot) -> impl Iterator<Item = f64> {
    let points = plot.lines.iter().flat_map(|line| &line.points);
    points.map(|point| point.y.value())
}

/// The least and the most of some values.
struct Range {
    least: f64,
    most: f64,
}

impl Range {
    fn of_x(plot: &Plot) -> Self {
        let points = plot.lines.iter().flat_map(|line| &line.points);
        Self::of(points.map(|point| float(point.x)))
    }

    fn above_zero(plot: &Plot) -> Self {
        Self::of(ys(plot).filter(|y| *y > 0.0))
    }

    /// Of no values: 0 to 0.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let widened = |range: Option<Self>, value: f64| {
            let range = range.unwrap_or(Self {
                least: value,
                most: value,
            });
            Some(Self {
                least: range.least.min(value),
                most: range.most.max(value),
            })
        };
        values.fold(None, widened).unwrap_or(Self {
            least: 0.0,
            most: 0.0,
        })
    }

    /// How many times the least the most is.
    fn factor(&self) -> f64 {
        if self.least > 0.0 {
            self.most / self.least
        } else {
            1.0
        }
    }
}

impl Axis {
    fn from_zero(highest: f64) -> Self {
        // Nothing but zeros still needs an axis.
        let highest = if highest > 0.0 { highest } else { 1.0 };
        Self {
            least: 0.0,
            most: (highest / step(highest)).ceil() * step(highest),
            logarithmic: false,
            zero: false,
        }
    }

    fn of_factors(range: &Range, zero: bool) -> Self {
        let all = round_numbers(range.least / 10.0, range.most * 10.0);
        let below = all.iter().rev().find(|one| **one <= range.least);
        let above = all.iter().find(|one| **one >= range.most);
        Self {
            least: below.copied().unwrap_or(range.least),
            most: above.copied().unwrap_or(range.most),
            logarithmic: true,
            zero,
        }
    }

    /// Where `value` is between the axis's begin, 0, and its end, 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let (from, to, at) = if self.logarithmic {
            (self.least.ln(), self.most.ln(), value.ln())
        } else {
            (self.least, self.most, value)
        };
        let share = if to > from {
            ((at - from) / (to - from)).clamp(0.0, 1.0)
        } else {
            0.5
        };
        match self.zero {
            true if value <= 0.0 => 0.0,
            true => ZERO + (1.0 - ZERO) * share,
            false => share,
        }
    }

    /// Round numbers to mark, rising.
    pub(super) fn marks(&self) -> Vec<f64> {
        if self.logarithmic {
            let zero = self.zero.then_some(0.0);
            return zero.into_iter().chain(self.marks_of_factors()).collect();
        }
        let step = step(self.most);
        let mut marks = Vec::new();
        let mut at = 0.0;
        while at * step <= self.most * 1.000_001 {
            marks.push(at * step);
            at += 1.0;
        }
        marks
    }

    /// The powers of ten, and where these are few, what is between them.
    fn marks_of_factors(&self) -> Vec<f64> {
        let all = round_numbers(self.least, self.most);
        let power = |one: &f64| (one.log10() - one.log10().round()).abs() < 1e-6;
        let powers: Vec<f64> = all.iter().copied().filter(power).collect();
        if powers.len() < 3 {
            return all;
        }
        let every = powers.len().div_ceil(DECADES);
        powers.into_iter().step_by(every).collect()
    }
}

/// 1, 2 and 5 by every power of ten, between `from` and `to`, which are positive.
fn round_numbers(from: f64, to: f64) -> Vec<f64> {
    let mut all = Vec::new();
    let mut power = 10_f64.powf(from.log10().floor());
    while power <= to * 1.000_001 {
        all.extend([1.0, 2.0, 5.0].map(|one| one * power));
        power *= 10.0;
    }
    all.retain(|one| (from * 0.999_999..=to * 1.000_001).contains(one));
    all
}

/// The distance of two marks: 1, 2 or 5 by a power of ten, so that there are at
/// most [`STEPS`] up to `highest`.
fn step(highest: f64) -> f64 {
    let least = (highest / STEPS).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|one| one * power);
    let found = steps.into_iter().find(|step| *step >= least * 0.999_999);
    found.unwrap_or(10.0 * power)
}

#[expect(clippy::cast_precision_loss, reason = "a place on a drawing")]
pub(super) fn float(value: i64) -> f64 {
    value as f64
}

/// A mark as it is written: its thousands apart.
pub(super) fn written(value: f64) -> String {
    if value != 0.0 && !WRITTEN_OUT.contains(&value) {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    grouped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(
            [step(127.8), step(9_558_993.0), step(0.9)],
            [50.0, 2e6, 0.2]
        );
        assert_eq!(
            Axis::from_zero(127.8).marks(),
            [0.0, 50.0, 100.0, 150.0],
            "the last is at the top"
        );
        let factors = |least, most| Axis::of_factors(&Range { least, most }, false).marks();
        assert_eq!(factors(1.9, 128.0), [1.0, 10.0, 100.0]);
        assert_eq!(factors(19.0, 159.0), [10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(factors(541.0, 126_370.0), [1e3, 1e4, 1e5]);
        assert!(factors(1e-19, 1e19).len() <= DECADES);
    }

    #[test]
    fn marks_are_short() {
        let marks = [0.0, 0.4, 0.1 * 3.0, 200.0, 9_558_993.0, 2e9, 1.5e19, 1e-7];
        assert_eq!(
            marks.map(written),
            [
                "0",
                "0.4",
                "0.3",
                "200",
                "9,558,993",
                "2e9",
                "1.5e19",
                "1e-7"
            ]
        );
    }
}
