//! An exact fraction, and its decimals without a detour through floats.

use tollgate_defect::answer;

/// Something counted, by the number of things it was counted over:
/// instructions by operation, a difference by the whole. Exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// What was counted; negative in a difference.
    pub numerator: i128,
    /// What it was counted over; at least 1.
    pub denominator: u64,
}

impl Ratio {
    /// `numerator` over `denominator`; a denominator of 0 counts as 1.
    #[must_use]
    pub fn new(numerator: impl Into<i128>, denominator: u64) -> Self {
        Self {
            numerator: numerator.into(),
            denominator: denominator.max(1),
        }
    }

    /// Whether it is 0.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// `self - other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        if self.denominator == other.denominator {
            return Self::new(
                self.numerator.saturating_sub(other.numerator),
                self.denominator,
            );
        }
        let ours = self.numerator.saturating_mul(other.denominator.into());
        let theirs = other.numerator.saturating_mul(self.denominator.into());
        let denominator = self.denominator.saturating_mul(other.denominator);
        Self::new(ours.saturating_sub(theirs), denominator)
    }

    /// The nearest float, for programs that read JSON.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rounding is what is asked for")]
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// With `places` decimals (at most 18), rounded half away from zero, a `-`
    /// in front of negative ones that do not round to 0.
    #[must_use]
    pub fn decimal(self, places: u32) -> String {
        let places = places.min(18);
        let scale = 10_u128.pow(places);
        let denominator = u128::from(self.denominator);
        let scaled = self.numerator.unsigned_abs().saturating_mul(scale);
        let rounded = scaled.saturating_add(denominator / 2) / denominator;
        let sign = if self.numerator < 0 && rounded > 0 {
            "-"
        } else {
            ""
        };
        match places {
            0 => format!("{sign}{rounded}"),
            _ => {
                let (whole, part) = (rounded / scale, rounded % scale);
                format!("{sign}{whole}.{part:0width$}", width = places as usize)
            }
        }
    }

    /// Its size without its sign.
    #[must_use]
    pub fn abs(self) -> Self {
        Self {
            numerator: self.numerator.saturating_abs(),
            ..self
        }
    }

    /// With `fewest` decimals, or as many more (up to 6) as it takes not to
    /// show a difference as 0.
    #[must_use]
    pub fn visible_places(self, fewest: u32) -> u32 {
        let zero = |text: &str| text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let visible = |places: &u32| self.is_zero() || !zero(&self.abs().decimal(*places));
        (fewest..6).find(visible).unwrap_or(6)
    }

    /// `self` as hundredths of `whole` with `places` decimals; none of a whole
    /// that is 0.
    #[must_use]
    pub fn percent_of(self, whole: Self, places: u32) -> Option<String> {
        // The two denominators cancel where they are the same, as they are for
        // a part and its whole; else the fraction is brought to one of them.
        let numerator = self.numerator.saturating_mul(whole.denominator.into());
        let denominator = whole.numerator.saturating_mul(self.denominator.into());
        let (numerator, denominator) = reduce(numerator, denominator);
        let denominator = answer::fits::<u64, _>(denominator).filter(|d| *d > 0)?;
        Some(Self::new(numerator.saturating_mul(100), denominator).decimal(places))
    }
}

fn reduce(numerator: i128, denominator: i128) -> (i128, i128) {
    let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    let divisor = answer::fits::<i128, _>(a.max(1)).unwrap_or(1);
    (numerator / divisor, denominator / divisor)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_rounded_from_the_exact_fraction() {
        assert_eq!(Ratio::new(8_306_600, 64_000).decimal(3), "129.791");
        assert_eq!(Ratio::new(1, 8).decimal(2), "0.13");
        assert_eq!(Ratio::new(-1, 8).decimal(2), "-0.13");
        assert_eq!(Ratio::new(-1, 8).decimal(0), "0");
        assert_eq!(Ratio::new(2, 3).decimal(0), "1");
        assert_eq!(Ratio::new(7, 0).decimal(1), "7.0");
    }

    #[test]
    fn fractions_of_different_denominators_are_subtracted() {
        assert_eq!(
            Ratio::new(1, 2).minus(Ratio::new(1, 3)).decimal(4),
            "0.1667"
        );
        assert!(Ratio::new(2, 4).minus(Ratio::new(1, 2)).is_zero());
    }

    #[test]
    fn a_share_of_nothing_is_none() {
        let whole = Ratio::new(8, 1);
        assert_eq!(
            Ratio::new(1, 1).percent_of(whole, 1).as_deref(),
            Some("12.5")
        );
        assert_eq!(
            Ratio::new(-3, 2).percent_of(whole, 2).as_deref(),
            Some("-18.75")
        );
        assert_eq!(Ratio::new(1, 1).percent_of(Ratio::new(0, 5), 1), None);
    }

    #[test]
    fn a_small_difference_is_not_rounded_away() {
        assert_eq!(Ratio::new(-1, 640).visible_places(1), 3);
        assert_eq!(Ratio::new(0, 640).visible_places(1), 1);
        assert_eq!(Ratio::new(-15, 1).visible_places(2), 2);
        assert_eq!(Ratio::new(1, u64::MAX).visible_places(1), 6);
    }

    proptest! {
        #[test]
        fn nothing_panics(a: i128, b: u64, c: i128, d: u64, places: u32) {
            let (one, other) = (Ratio::new(a, b), Ratio::new(c, d));
            let _ = one.minus(other).decimal(places);
            let _ = one.percent_of(other, places);
            let _ = (one.value(), one.abs(), one.visible_places(places));
        }
    }
}
