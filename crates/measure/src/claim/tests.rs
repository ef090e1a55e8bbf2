#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use super::*;
use crate::boot::BootResult;
use crate::commands::Commands;
use crate::compare::tests::{compare as comparison, epoll, run};

fn claim(variants: &[(&str, f64)], more_is_better: bool) -> Claim {
    let named = |(name, figure): &(&str, f64)| ((*name).to_owned(), *figure);
    Claim {
        text: "what was said".into(),
        source: "a list".into(),
        figures: Some(ClaimedFigures {
            of: "throughput, base 100".into(),
            more_is_better,
            workload: epoll(64),
            net: false,
            groups: Vec::new(),
            within: None,
            base: 100.0,
            variants: variants.iter().map(named).collect(),
        }),
    }
}

/// The base takes 83,066 instructions for ten calls of 64 events.
fn proof(variants: &[(&str, u64)]) -> Proof {
    let base = run(5540, 83_066);
    let one = |index: usize, name: &str, run: &BootResult| {
        let mut one = comparison(&base, None, run);
        one.after.variant = name.into();
        one.after.letter = ['B', 'C', 'D'][index];
        one
    };
    let comparisons = variants
        .iter()
        .enumerate()
        .map(|(index, (name, many))| one(index, name, &run(5540, *many)));
    Proof {
        subject: "epoll".into(),
        comparisons: comparisons.collect(),
        pairs: Vec::new(),
        not_run: Vec::new(),
        claims: Vec::new(),
        commands: Commands::default(),
    }
}

fn counted(check: ClaimCheck) -> ClaimCounts {
    match check.here {
        ClaimHere::Counted(counts) => counts,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_throughput_that_grows_is_a_kernel_that_is_cheaper() {
    let claim = claim(&[("window", 101.0), ("masked", 95.0)], true);
    let counts = counted(claim.beside(&proof(&[("window", 73_386), ("masked", 74_000)])));
    let agrees: Vec<_> = counts.rows.iter().map(|row| row.agrees).collect();
    assert_eq!(agrees, [None, Some(true), Some(false)]);
    let order = counts.order.unwrap();
    assert_eq!(
        (order.claimed.as_str(), order.here.as_str()),
        ("BAC", "BCA")
    );
    assert!(!order.agrees());
    assert_eq!(counts.rows[0].here().decimal(3), "129.791");
}

#[test]
fn a_time_that_grows_is_a_kernel_that_is_dearer() {
    let claim = claim(&[("window", 84.5), ("slow", 120.0)], false);
    let counts = counted(claim.beside(&proof(&[("window", 73_386), ("slow", 90_000)])));
    assert!(counts.rows.iter().all(|row| row.agrees != Some(false)));
    let order = counts.order.unwrap();
    assert_eq!(
        (order.claimed.as_str(), order.here.as_str()),
        ("BAC", "BAC")
    );
}

#[test]
fn the_same_count_agrees_with_no_gain_only() {
    let same = |claimed| {
        counted(claim(&[("window", claimed)], true).beside(&proof(&[("window", 83_066)])))
    };
    assert_eq!(same(100.0).rows[1].agrees, Some(true));
    assert_eq!(same(101.0).rows[1].agrees, Some(false));
    assert!(same(101.0).order.is_none());
}

#[test]
fn medians_that_touch_tell_nothing() {
    let mut proof = proof(&[("window", 73_386)]);
    let after = &mut proof.comparisons[0].workloads[1].after;
    after.repetitions.identical = 1;
    after.repetitions.most = 90_000;
    let counts = counted(claim(&[("window", 101.0)], true).beside(&proof));
    assert_eq!(counts.rows[1].agrees, None);
}

/// Ten calls of 64 events spend 2,560 instructions in fput() whatever the rest
/// takes: its share grows when the rest shrinks.
#[test]
fn the_share_of_functions_is_what_stands_beside_a_share() {
    let mut claim = claim(&[("window", 120.0)], false);
    let group = |name: &str, symbol: &str| FunctionGroup {
        name: name.into(),
        functions: vec![symbol.into()],
    };
    claim.figures.as_mut().unwrap().groups = vec![group("put", "fpu*"), group("none", "fpu")];
    let counts = counted(claim.beside(&proof(&[("window", 73_386)])));
    let (base, window) = (&counts.rows[0], &counts.rows[1]);
    assert_eq!(
        (base.groups.as_slice(), window.groups.as_slice()),
        (&[2560, 0][..], &[2560, 0][..])
    );
    assert_eq!(base.here(), Ratio::new(2560, 83_066));
    assert_eq!(window.agrees, Some(true));
}

#[test]
fn what_did_not_run_is_named() {
    let proof = proof(&[("window", 73_386)]);
    let other = claim(&[("masked", 97.0)], true).beside(&proof);
    assert_eq!(other.here, ClaimHere::NoVariant);
    let mut tcp = claim(&[("window", 101.0)], true);
    tcp.figures.as_mut().unwrap().workload = epoll(1024);
    let not_counted = ClaimHere::NotCounted {
        workload: epoll(1024),
    };
    assert_eq!(tcp.beside(&proof).here, not_counted);
    let words = Claim {
        figures: None,
        ..claim(&[], true)
    };
    assert_eq!(words.beside(&proof).here, ClaimHere::NoFigures);
}

/// A claim of the base alone stands beside the base, whatever else ran, and is a share
/// of the functions that it names.
#[test]
fn a_share_of_the_base_alone_has_one_row() {
    let mut claim = claim(&[], false);
    let group = |name: &str, functions: &[&str]| FunctionGroup {
        name: name.into(),
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
    };
    let figures = claim.figures.as_mut().unwrap();
    figures.groups = vec![group("put", &["fpu*"])];
    let of_all = counted(claim.clone().beside(&proof(&[("window", 73_386)])));
    claim.figures.as_mut().unwrap().within = Some(group("within", &["fpu*", "nothing"]));
    let within = counted(claim.beside(&proof(&[("window", 73_386)])));
    assert_eq!((within.rows.len(), within.order), (1, None));
    let [row, all] = [&within.rows[0], &of_all.rows[0]];
    assert_eq!((row.agrees, row.groups.clone()), (None, all.groups.clone()));
    assert_eq!(row.whole, row.groups[0], "all of what it is within");
    assert_eq!(all.whole, all.instructions);
    assert!((row.here().value() - 1.0).abs() < 1e-9);
}

/// What is subtracted is taken off a unit, however many of each were counted.
#[test]
fn a_net_claim_stands_beside_the_difference() {
    let proof = proof(&[("window", 73_386)]);
    let rows = proof.rows();
    let [second, first] = [&rows[0], &rows[1]];
    let of = Of {
        row: second,
        less: Some(first),
    };
    let (net, units) = of.taken('A').unwrap();
    let one = |row: &Row<'_>| {
        let (taken, units) = taken(row, 'A').unwrap();
        Ratio::new(taken, units).value()
    };
    let wanted = one(second) - one(first);
    assert!((Ratio::new(net, units).value() - wanted).abs() < 1e-9);
    let gross = Of {
        row: second,
        less: None,
    };
    assert_eq!(gross.taken('A'), taken(second, 'A'));
    assert_eq!(of.taken('Z'), None);
}
