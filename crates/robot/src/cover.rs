//! The smallest choice of configurations that compiles every edited line in each
//! value of the axes.

use std::collections::BTreeSet;

/// Something that has to be compiled: a group of edited lines with one value of one
/// axis, by number.
pub type Need = usize;

/// What building one thing would give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What it would compile.
    pub needs: BTreeSet<Need>,
    /// What it costs, in any unit.
    pub cost: u32,
}

/// The numbers of the choices to take, in the order in which they were taken: always
/// the one that compiles most of what is missing, for its cost. All that any choice
/// compiles is compiled by those.
#[must_use]
pub fn cover(choices: &[Choice]) -> Vec<usize> {
    let mut missing: BTreeSet<Need> = choices.iter().flat_map(|one| one.needs.clone()).collect();
    let mut taken = Vec::new();
    while !missing.is_empty() {
        let gain = |one: &Choice| one.needs.intersection(&missing).count() as u64;
        // Earlier ones first where they are alike: data lists the plain ones first.
        let worth = |one: &Choice| (gain(one) * 1000) / u64::from(one.cost.max(1));
        let best = choices
            .iter()
            .enumerate()
            .rev()
            .max_by_key(|(_, one)| worth(one));
        let Some((number, one)) = best.filter(|(_, one)| gain(one) > 0) else {
            break;
        };
        missing.retain(|need| !one.needs.contains(need));
        taken.push(number);
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn choice(needs: &[usize], cost: u32) -> Choice {
        Choice {
            needs: needs.iter().copied().collect(),
            cost,
        }
    }

    #[test]
    fn one_that_compiles_all_is_enough() {
        let all = [choice(&[1], 1), choice(&[2], 1), choice(&[1, 2, 3], 1)];
        assert_eq!(cover(&all), [2]);
        assert_eq!(cover(&[choice(&[1], 1), choice(&[1], 1)]), [0]);
        assert_eq!(cover(&[]), Vec::<usize>::new());
    }

    proptest! {
        #[test]
        fn everything_is_covered(all in prop::collection::vec((prop::collection::btree_set(0_usize..12, 0..6), 1_u32..9), 0..9)) {
            let all: Vec<Choice> = all.into_iter().map(|(needs, cost)| Choice { needs, cost }).collect();
            let wanted: BTreeSet<usize> = all.iter().flat_map(|one| one.needs.clone()).collect();
            let got: BTreeSet<usize> = cover(&all).iter().flat_map(|at| all[*at].needs.clone()).collect();
            prop_assert_eq!(wanted, got);
        }
    }
}
