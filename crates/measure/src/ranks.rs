//! Tests by ranks, exact for the few values that boots and mails have: how often
//! chance alone puts values so far apart (Mann and Whitney 1947), or so much in
//! order (Mann 1945, Kendall).

/// How often two samples of one distribution lie at least as far apart as these, in
/// either direction: the two-sided p of the rank-sum test over all ways to deal the
/// values to two sides. Equal values share their ranks. 1 where a side is empty.
#[must_use]
pub fn rank_sum(a: &[f64], b: &[f64]) -> f64 {
    let doubled = doubled_ranks(a, b);
    let (first, _) = doubled.split_at(a.len());
    let all = doubled.len();
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let observed: usize = first.iter().sum();
    // The mean of the sum, doubled again so that it is whole.
    let mean = a.len() * (all + 1);
    let off = observed.abs_diff(mean);
    if all > MOST_EXACT {
        return by_normal(&doubled, a.len(), off as f64);
    }
    let ways = ways(&doubled, a.len());
    let total: f64 = ways.iter().sum();
    let far = (0..)
        .zip(&ways)
        .filter(|(sum, _): &(usize, _)| sum.abs_diff(mean) >= off);
    (far.map(|(_, ways)| ways).sum::<f64>() / total).min(1.0)
}

/// The smallest p that two sides of these sizes can give: all of one above all of
/// the other.
#[must_use]
pub fn smallest_p(a: usize, b: usize) -> f64 {
    let pairs = (1..=a)
        .zip(b + 1..)
        .map(|(low, high)| high as f64 / low as f64);
    (2.0 / pairs.product::<f64>()).min(1.0)
}

/// Values above which the sums are not counted one by one.
const MOST_EXACT: usize = 60;

/// Twice the rank of each value among all, `a` first: whole also where two share one.
fn doubled_ranks(a: &[f64], b: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let rank = |value: &f64| {
        let below = all.iter().filter(|other| *other < value).count();
        let same = all.iter().filter(|other| *other == value).count();
        2 * below + same + 1
    };
    all.iter().map(rank).collect()
}

/// By sum: in how many ways `take` of the ranks add up to it.
fn ways(ranks: &[usize], take: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; take + 1];
    if let Some(none) = ways.first_mut().and_then(|sums| sums.first_mut()) {
        *none = 1.0;
    }
    for rank in ranks {
        for taken in (1..=take).rev() {
            let (fewer, more) = ways.split_at_mut(taken);
            let (Some(fewer), Some(more)) = (fewer.last(), more.first_mut()) else {
                continue;
            };
            for (sum, count) in fewer.iter().enumerate() {
                if let Some(found) = more.get_mut(sum + rank) {
                    *found += count;
                }
            }
        }
    }
    ways.pop().unwrap_or_default()
}

/// For many values the sum is normal, with the variance that its ties leave.
fn by_normal(doubled: &[usize], take: usize, off: f64) -> f64 {
    let all = doubled.len() as f64;
    let mean = doubled.iter().sum::<usize>() as f64 / all;
    let spread: f64 = doubled
        .iter()
        .map(|rank| (*rank as f64 - mean).powi(2))
        .sum();
    let taken = take as f64;
    let variance = taken * (all - taken) * spread / (all * (all - 1.0));
    if variance <= 0.0 {
        return 1.0;
    }
    two_sided(off / variance.sqrt())
}

/// How often chance alone orders values as much as these stand in order, rising or
/// falling: the two-sided p of Kendall's sum over all orders. 1 for fewer than two.
#[must_use]
pub fn drift(values: &[f64]) -> f64 {
    let score = score(values);
    let all = values.len();
    if all < 2 {
        return 1.0;
    }
    if all > MOST_EXACT {
        let count = all as f64;
        let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
        return two_sided(score.unsigned_abs() as f64 / variance.sqrt());
    }
    let inversions = inversions(all);
    let pairs = (all * (all - 1) / 2) as i64;
    let total: f64 = inversions.iter().sum();
    let far = (0_i64..)
        .zip(&inversions)
        .filter(|(swapped, _)| (pairs - 2 * swapped).abs() >= score.abs());
    (far.map(|(_, orders)| orders).sum::<f64>() / total).min(1.0)
}

/// Pairs that rise, less those that fall.
fn score(values: &[f64]) -> i64 {
    let mut score = 0;
    for (at, first) in values.iter().enumerate() {
        for second in values.iter().skip(at + 1) {
            score += i64::from(second > first) - i64::from(second < first);
        }
    }
    score
}

/// By number of inversions: how many orders of `count` values have so many.
fn inversions(count: usize) -> Vec<f64> {
    let mut orders = vec![1.0];
    for next in 1..count {
        let mut more = vec![0.0; orders.len() + next];
        for (at, known) in orders.iter().enumerate() {
            for swapped in more.iter_mut().skip(at).take(next + 1) {
                *swapped += known;
            }
        }
        orders = more;
    }
    orders
}

/// The part of a normal distribution that lies at least so many deviations from its
/// middle (the complementary error function of Numerical Recipes, 6.2: 1.2e-7).
fn two_sided(deviations: f64) -> f64 {
    let x = deviations.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let terms = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let sum = terms.iter().rev().fold(0.0, |sum, term| sum * t + term);
    (t * (-x * x + sum).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
    }

    #[test]
    fn sides_that_lie_apart_do_so_by_chance_as_often_as_can_be_counted() {
        near(rank_sum(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.1);
        near(smallest_p(3, 3), 0.1);
        near(
            rank_sum(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]),
            2.0 / 252.0,
        );
        near(smallest_p(5, 5), 2.0 / 252.0);
        near(rank_sum(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        // U = 4 of 3 and 4: a table of Mann and Whitney has 0.314 one-sided.
        near(
            rank_sum(&[1.0, 4.0, 5.0], &[2.0, 3.0, 6.0, 7.0]),
            0.628_571_428,
        );
        near(rank_sum(&[], &[1.0]), 1.0);
    }

    #[test]
    fn many_values_are_normal() {
        let a: Vec<f64> = (0..60).map(f64::from).collect();
        let b: Vec<f64> = (0..60).map(|n| f64::from(n) + 0.5).collect();
        assert!(rank_sum(&a, &b) > 0.8);
        let far: Vec<f64> = (0..60).map(|n| f64::from(n) + 20.0).collect();
        assert!(rank_sum(&a, &far) < 1e-4);
        near(two_sided(1.959_964), 0.05);
    }

    #[test]
    fn values_in_order_are_so_by_chance_as_often_as_can_be_counted() {
        near(drift(&[1.0, 2.0, 3.0, 4.0, 5.0]), 2.0 / 120.0);
        near(drift(&[5.0, 4.0, 3.0, 2.0, 1.0]), 2.0 / 120.0);
        assert!(drift(&[3.0, 1.0, 4.0, 2.0, 5.0]) > 0.2);
        near(drift(&[1.0]), 1.0);
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(drift(&rising) < 1e-9);
    }
}
