use super::*;
use crate::sample::Workload;

/// Repetitions of one workload with these many kernel instructions, numbered
/// from 0.
fn samples(instructions: &[u64]) -> Vec<Sample> {
    let sample = |(number, instructions): (u32, &u64)| {
        let kernel = Counts::from([(Quantity::Kernel, *instructions)]);
        Sample {
            workload: Workload {
                benchmark: "b".into(),
                parameters: Vec::new(),
                ..Workload::default()
            },
            repetition: number,
            operations: 10,
            user: 7,
            kernel,
            functions: [("f".to_owned(), kernel)].into(),
            system_calls: BTreeMap::new(),
            tallies: BTreeMap::new(),
        }
    };
    (0..).zip(instructions).map(sample).collect()
}

/// The count, and whether it is exact, of how many, how many alike.
fn of(instructions: &[u64]) -> (u64, bool, usize, usize) {
    let Measured {
        kernel,
        repetitions,
        ..
    } = Measured::of(&samples(instructions)).unwrap();
    (
        kernel.instructions(),
        repetitions.exact(),
        repetitions.total,
        repetitions.identical,
    )
}

#[test]
fn the_warm_up_does_not_count() {
    assert_eq!(of(&[5000, 1000, 1000, 1000]), (1000, true, 3, 3));
    assert_eq!(Measured::of(&samples(&[5000])), None);
    assert_eq!(Measured::of(&[]), None);
}

#[test]
fn an_interrupt_in_one_repetition_is_passed_over() {
    assert_eq!(of(&[0, 1000, 1000, 1900, 1000]), (1000, true, 4, 3));
    let repetitions = Measured::of(&samples(&[0, 1000, 1900, 1000]))
        .unwrap()
        .repetitions;
    assert_eq!((repetitions.fewest, repetitions.most), (1000, 1900));
}

#[test]
fn each_count_has_its_own_median() {
    let mut all = samples(&[0, 1000, 1100, 1200]);
    for (sample, loads) in all.iter_mut().zip([0, 5, 9, 1]) {
        let kernel = sample.kernel.with(Quantity::Xrstor, loads);
        sample.kernel = kernel.with(Quantity::Opens, loads * 2);
    }
    let measured = Measured::of(&all).unwrap();
    assert_eq!(measured.count(Quantity::Kernel), 1100);
    assert_eq!(measured.count(Quantity::Xrstor), 5);
    assert_eq!(measured.count(Quantity::Opens), 10);
}

#[test]
fn of_two_common_counts_the_smaller_is_taken() {
    assert_eq!(of(&[0, 1900, 1900, 1000, 1000]), (1000, true, 4, 2));
}

#[test]
fn without_agreement_it_is_a_median_and_says_so() {
    assert_eq!(of(&[0, 5, 1, 4, 2, 3]), (3, false, 5, 1));
    assert_eq!(of(&[0, 1, 2]), (1, false, 2, 1));
    assert_eq!(of(&[0, 9, 9, 1, 2, 3]), (3, false, 5, 1));
}

#[test]
fn equal_totals_of_different_functions_are_not_the_same_count() {
    let mut samples = samples(&[0, 10, 10, 10]);
    let kernel = samples[1].kernel;
    samples[1].functions = [("g".to_owned(), kernel)].into();
    assert_eq!(Measured::of(&samples).unwrap().repetitions.identical, 2);
}

#[test]
fn one_repetition_is_what_it_is() {
    assert_eq!(of(&[0, 12]), (12, true, 1, 1));
}

#[test]
fn exact_counts_move_by_one_and_medians_only_out_of_their_range() {
    let measured = |counts: &[u64]| Measured::of(&samples(counts)).unwrap();
    let exact = measured(&[0, 100, 100]);
    assert_eq!(exact.moved_to(&measured(&[0, 101, 101])), Ordering::Greater);
    assert_eq!(exact.moved_to(&measured(&[0, 99, 99])), Ordering::Less);
    assert_eq!(exact.moved_to(&exact), Ordering::Equal);
    let median = measured(&[0, 90, 95, 99]);
    assert_eq!(
        median.moved_to(&measured(&[0, 99, 105, 110])),
        Ordering::Equal
    );
    assert_eq!(
        median.moved_to(&measured(&[0, 100, 105, 110])),
        Ordering::Greater
    );
    assert_eq!(median.moved_to(&measured(&[0, 80, 85, 89])), Ordering::Less);
}
