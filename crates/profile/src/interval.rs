//! What chance does to shares of samples.

use serde::Serialize;

/// A value with the interval that holds it at the confidence that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// As it was seen.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether it may be nothing.
    #[must_use]
    pub fn includes_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// A share of `samples`, both in percent: Wilson's interval (1927).
#[must_use]
pub fn share(percent: f64, samples: u64, level: Level) -> Interval {
    let (p, n) = ((percent / 100.0).clamp(0.0, 1.0), (samples as f64).max(1.0));
    let z = level.deviations;
    let (square, divisor) = (z * z, 1.0 + z * z / n);
    let middle = (p + square / (2.0 * n)) / divisor;
    let half = z / divisor * (p * (1.0 - p) / n + square / (4.0 * n * n)).sqrt();
    Interval {
        value: percent,
        low: 100.0 * (middle - half).max(0.0),
        high: 100.0 * (middle + half).min(1.0),
    }
}

/// The difference of two shares of samples that were taken apart, in points:
/// Newcombe's interval of two of Wilson's (1998, method 10). It holds what chance
/// does to samples of two runs that are alike, not what makes runs differ.
#[must_use]
pub fn difference(before: (f64, u64), after: (f64, u64), level: Level) -> Interval {
    let old = share(before.0, before.1, level);
    let new = share(after.0, after.1, level);
    let value = new.value - old.value;
    let low = ((new.value - new.low).powi(2) + (old.high - old.value).powi(2)).sqrt();
    let high = ((new.high - new.value).powi(2) + (old.value - old.low).powi(2)).sqrt();
    Interval {
        value,
        low: value - low,
        high: value + high,
    }
}

/// How many samples each of two profiles would have to have for these shares to
/// differ beyond chance; none where they are the same.
#[must_use]
pub fn needed(before: f64, after: f64, level: Level) -> Option<u64> {
    let apart = (after - before) / 100.0;
    let spread = |percent: f64| percent / 100.0 * (1.0 - percent / 100.0);
    if apart == 0.0 {
        return None;
    }
    let z = level.deviations;
    let samples = z * z * (spread(before) + spread(after)) / (apart * apart);
    Some(samples.ceil().max(1.0) as u64)
}

/// The difference of two means of shares, each of a profile of its own, in points:
/// Welch's interval (1947). None with fewer than two a side.
#[must_use]
pub(crate) fn means(before: &[f64], after: &[f64], level: Level) -> Option<Interval> {
    let (old, old_error) = mean(before)?;
    let (new, new_error) = mean(after)?;
    let value = new - old;
    let error = old_error + new_error;
    if error == 0.0 {
        return Some(Interval {
            value,
            low: value,
            high: value,
        });
    }
    let part = |error: f64, count: usize| error * error / (count as f64 - 1.0);
    let freedom = error * error / (part(old_error, before.len()) + part(new_error, after.len()));
    let half = t_quantile(1.0 - level.alpha / 2.0, freedom) * error.sqrt();
    Some(Interval {
        value,
        low: value - half,
        high: value + half,
    })
}

/// The mean and the square of its error.
fn mean(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, squares / (count - 1.0) / count))
}

/// How often an interval may miss, and what that is in deviations of a bell: worked
/// out once for many intervals.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// 0.05 for intervals of 95 %.
    alpha: f64,
    deviations: f64,
}

impl Level {
    /// Of a part of all intervals, above 0 and below 1.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        Self {
            alpha,
            deviations: normal_quantile(1.0 - alpha / 2.0),
        }
    }

    /// 95 %, for so many intervals together (Bonferroni).
    #[must_use]
    pub fn of(intervals: usize) -> Self {
        Self::new(0.05 / intervals.max(1) as f64)
    }
}

/// Below which value so much of a normal distribution lies: its own distribution
/// function, halved again and again.
fn normal_quantile(part: f64) -> f64 {
    let density = |t: f64| (-t * t / 2.0).exp() / std::f64::consts::TAU.sqrt();
    bisect(part, 10.0, |x| integral(x, density))
}

/// The same of Student's distribution, which is one of angles: t is the root of the
/// freedom times the tangent, and the density a power of the cosine.
fn t_quantile(part: f64, freedom: f64) -> f64 {
    use std::f64::consts::FRAC_PI_2;
    let density = |angle: f64| angle.cos().max(0.0).powf(freedom - 1.0);
    let half = integral(FRAC_PI_2, density);
    let angle = bisect(part, FRAC_PI_2, |x| 0.5 * integral(x, density) / half);
    freedom.sqrt() * angle.tan()
}

/// Where `above(x)`, what lies between 0 and x, reaches `part - 1/2`; below `end`.
fn bisect(part: f64, end: f64, above: impl Fn(f64) -> f64) -> f64 {
    let wanted = part - 0.5;
    let (mut low, mut high) = (0.0, end);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if above(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// From 0 to `end`, by Simpson's rule.
fn integral(end: f64, of: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 400;
    let width = end / f64::from(STEPS);
    let inner: f64 = (1..STEPS)
        .map(|n| of(f64::from(n) * width) * if n % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    (of(0.0) + inner + of(end)) * width / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64, within: f64) {
        assert!((found - wanted).abs() < within, "{found} {wanted}");
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        near(normal_quantile(0.975), 1.959_964, 1e-5);
        near(normal_quantile(0.999_5), 3.290_527, 1e-4);
        near(t_quantile(0.975, 4.0), 2.776_445, 2e-3);
        near(t_quantile(0.975, 30.0), 2.042_272, 1e-3);
        near(t_quantile(0.975, 1.0), 12.706_2, 1e-3);
        near(t_quantile(0.999_995, 2.0), 316.225, 0.01);
    }

    #[test]
    fn intervals_are_those_of_their_authors() {
        // Newcombe 1998, 56/70 against 48/80: 0.0524 to 0.3339.
        let found = difference((60.0, 80), (80.0, 70), Level::of(1));
        near(found.low, 5.24, 0.01);
        near(found.high, 33.39, 0.01);
        // Wilson, 0 of 10: 0 to 27.75 %.
        near(share(0.0, 10, Level::of(1)).high, 27.75, 0.01);
        assert_eq!(needed(10.0, 10.0, Level::of(1)), None);
        let samples = needed(10.0, 12.0, Level::of(1)).unwrap();
        assert!(
            !difference((10.0, samples + 200), (12.0, samples + 200), Level::of(1)).includes_zero()
        );
    }

    #[test]
    fn means_of_profiles_have_the_spread_between_them() {
        let apart = means(&[10.0, 10.1, 9.9], &[12.0, 12.1, 11.9], Level::of(1)).unwrap();
        near(apart.value, 2.0, 1e-9);
        assert!(!apart.includes_zero());
        assert!(
            means(&[10.0, 14.0, 6.0], &[12.0, 16.0, 8.0], Level::of(1))
                .unwrap()
                .includes_zero()
        );
        assert_eq!(means(&[1.0], &[1.0, 2.0], Level::of(1)), None);
    }
}
