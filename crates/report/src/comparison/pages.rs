//! What has to be so of every page.

use super::fixture::gain;
use super::tests::{alone, everything, html, several, unsteady};
use crate::format::tests::{ends_where_it_began, tags};
use tollgate_measure::Proof;

fn pages() -> [String; 3] {
    [alone(gain()), several(), everything()].map(|proof| html(&proof).unwrap())
}

#[test]
fn every_element_ends_inside_the_one_it_began_in() {
    for page in pages() {
        ends_where_it_began(&page);
    }
}

/// The plots of a page of one variant stood above its title.
#[test]
fn the_verdict_stands_first() {
    for page in pages() {
        let title = page.find("<h1").unwrap();
        let verdict = page.find("<section class=\"verdict").unwrap();
        let overview = page.find("<dl class=\"verdicts").unwrap_or(verdict);
        let figure = page.find("<figure").unwrap();
        assert!(title < overview && overview < figure);
    }
}

#[test]
fn one_heading_is_the_page_and_none_skips_a_level() {
    for page in pages() {
        let mut level = 0;
        for (name, opens) in tags(&page) {
            let digit = name
                .strip_prefix('h')
                .and_then(|one| one.parse::<u32>().ok());
            if let Some(next) = digit.filter(|_| opens) {
                assert!(next <= level + 1, "h{level} is followed by h{next}");
                assert!(next > 1 || level == 0, "a second h1");
                level = next;
            }
        }
    }
}

#[test]
fn a_head_of_a_table_says_what_it_is_the_head_of() {
    for page in pages() {
        for head in page
            .split("<th")
            .skip(1)
            .filter(|rest| !rest.starts_with("ead"))
        {
            let (start, rest) = head.split_once('>').unwrap();
            assert!(start.contains("scope=\"col\"") || start.contains("scope=\"row\""));
            let again = rest.starts_with("</th><td");
            assert!(!rest.starts_with("</th>") || again, "a head without words");
        }
    }
}

/// A table that has counts of repetitions that never agreed said so in the
/// sections only.
#[test]
fn medians_are_named_above_the_sections_too() {
    let proof = Proof {
        comparisons: vec![unsteady(), unsteady()],
        ..alone(unsteady())
    };
    let page = html(&proof).unwrap();
    let (overview, section) = page.split_once("<article").unwrap();
    let tag = "<span class=\"tag\">median</span>";
    let (_, table) = overview.split_once("<table>").unwrap();
    assert!(table.contains(tag), "{table}");
    let (_, functions) = section.split_once("by function</h3>").unwrap();
    assert!(functions.contains(", median</summary>"));
    assert!(
        !html(&several())
            .unwrap()
            .split("<article")
            .next()
            .unwrap()
            .contains(tag)
    );
}

/// An image on which a workload has no count left its cell empty.
#[test]
fn what_was_not_counted_is_not_an_empty_cell() {
    let mut proof = several();
    proof.comparisons[1].workloads.remove(1);
    let page = html(&proof).unwrap();
    let (overview, _) = page.split_once("<article").unwrap();
    // Counts by event and by call, the difference, two passages.
    assert_eq!(overview.matches(">not counted</td>").count(), 5);
}
