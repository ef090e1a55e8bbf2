//! An earlier result, read again only as far as to tell what it decided.

use std::collections::BTreeSet;

use serde::Deserialize;
use tollgate_measure::{Proof, Series, Verdict};

/// The part of a document that `prove` or `prove --series` wrote.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    comparisons: Vec<Against>,
    #[serde(default)]
    points: Vec<Point>,
}

#[derive(Deserialize)]
struct Against {
    verdict: Verdict,
    after: Name,
}

#[derive(Deserialize)]
struct Name {
    variant: String,
}

#[derive(Deserialize)]
struct Point {
    number: usize,
    verdict: Option<Verdict>,
}

/// What a document gives a verdict of: the variants of a proof, the points of a
/// series. Nothing where it is no such document.
#[must_use]
pub fn decided_in(document: &[u8]) -> BTreeSet<String> {
    let Ok(document) = serde_json::from_slice::<Document>(document) else {
        return BTreeSet::new();
    };
    let variants = document.comparisons.into_iter();
    let variants = variants.filter(|one| decides(one.verdict));
    let points = document.points.into_iter();
    let points = points.filter(|point| point.verdict.is_some_and(decides));
    variants
        .map(|one| one.after.variant)
        .chain(points.map(|point| point_name(point.number)))
        .collect()
}

/// The variants that a proof gives a verdict of.
#[must_use]
pub fn decided(proof: &Proof) -> BTreeSet<String> {
    let comparisons = proof.comparisons.iter();
    let decided = comparisons.filter(|one| decides(one.verdict));
    decided.map(|one| one.after.variant.clone()).collect()
}

/// The points that a series gives a verdict of.
#[must_use]
pub fn series_decided(series: &Series) -> BTreeSet<String> {
    let points = series.points.iter().skip(1).zip(&series.comparisons);
    let decided = points.filter(|(_, comparison)| decides(comparison.verdict));
    decided.map(|(point, _)| point_name(point.number)).collect()
}

fn point_name(number: usize) -> String {
    format!("point {number}")
}

fn decides(verdict: Verdict) -> bool {
    verdict.exit_code() < 2
}

#[cfg(test)]
mod tests {
    use super::super::json;
    use super::super::tests::{alone, everything, unsteady};
    use super::*;

    #[test]
    fn what_a_document_decided_is_read_as_it_was() {
        let proof = everything();
        let found = decided_in(json(&proof).unwrap().as_bytes());
        assert!(!found.is_empty());
        assert_eq!(found, decided(&proof));
        assert!(decided(&proof).len() < proof.comparisons.len());
        let unsteady = json(&alone(unsteady())).unwrap();
        assert_eq!(decided_in(unsteady.as_bytes()), BTreeSet::new());
        for other in [&b""[..], b"{}", b"[1]", b"{\"comparisons\": 3}", b"\xff"] {
            assert_eq!(decided_in(other), BTreeSet::new());
        }
    }
}
