use tollgate_measure::{ImageName, Quantity};

use super::*;
use crate::comparison::fixture::{Boot, compare};
use crate::comparison::series_json;
use crate::format::{Look, html, terminal};

fn series_terminal(series: &Series) -> String {
    let look = Look {
        color: false,
        width: 80,
    };
    terminal(&series_document(series), look)
}

fn series_html(series: &Series) -> Result<String, tollgate_defect::Defect> {
    html(&series_document(series))
}

fn point(number: usize, title: &str) -> SeriesPoint {
    SeriesPoint {
        number,
        title: title.into(),
        patch: match number {
            0 => String::new(),
            _ => format!("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-{number} < \u{202e}\n+&{number}\n"),
        },
        image: ImageName {
            letter: '0',
            variant: number.to_string(),
            id: format!("{number}{number}{number}"),
        },
    }
}

/// The window opened twice in the middle; a hostile subject; one count missing.
fn series() -> Series {
    let base = Boot::window();
    let mut worse = compare(&base, &base, &Boot::base());
    let mut end = compare(&base, &base, &Boot::window());
    for comparison in [&mut worse, &mut end] {
        let before = &mut comparison.workloads[1].before;
        before.kernel = before.kernel.with(Quantity::Xsave, 400);
    }
    end.workloads.remove(0);
    Series {
        points: vec![
            point(0, "the tree before the series"),
            point(
                1,
                "epoll: Write the entry \u{1b}[31mwith\u{202e} two windows, as it always was",
            ),
            point(2, "epoll: Open the window once"),
        ],
        comparisons: vec![worse, end],
        commands: tollgate_measure::Commands {
            words: ["tollgate", "prove", "epoll", "--series"]
                .map(Into::into)
                .to_vec(),
            ..Default::default()
        },
    }
}

#[test]
fn a_series_on_a_terminal() {
    let text = series_terminal(&series());
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
    insta::assert_snapshot!(text);
}

/// The middle patch leaves another byte at one input and lacks one, which the last takes back
/// in part.
fn behaving_otherwise() -> Series {
    let base = Boot::base();
    let with = |bytes: &str, kernel: bool| {
        let mut boot = Boot::base();
        let outcome = format!("ret=1 errno=0 bytes={bytes}");
        boot.points.insert("end/17".into(), outcome);
        if !kernel {
            boot.points.remove("kernel");
        }
        compare(&base, &base, &boot)
    };
    Series {
        comparisons: vec![
            with("..x8,01000000,..x8", false),
            with("..x8,01000000,..x8", true),
        ],
        ..series()
    }
}

#[test]
fn a_patch_that_behaves_otherwise_is_said_to() {
    let series = behaving_otherwise();
    let of = |at: usize| {
        let all = series.differences(at).into_iter();
        all.map(|one| one.name).collect::<Vec<_>>()
    };
    assert_eq!(of(0), [""; 0]);
    assert_eq!(of(1), ["end/17", "kernel"]);
    assert_eq!(of(2), ["kernel"]);
    let back = series.differences(2).remove(0);
    assert!(back.before.is_none() && back.after.is_some());
    let text = series_terminal(&series);
    assert!(
        text.contains("behaves otherwise for 2 inputs") && !text.contains(": nothing"),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&series_json(&series).unwrap()).unwrap();
    assert_eq!(json["points"][2]["differences"][0]["name"], "kernel");
    let fields = &json["points"][1]["layouts"][0]["buffer"]["fields"];
    assert_eq!(fields[1]["name"], "data");
    assert!(json["points"][0].get("layouts").is_none());
    let schema = include_str!("../../../../../schema/series.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    assert!(jsonschema::is_valid(&schema, &json));
    insta::assert_snapshot!(text);
}

#[test]
fn a_series_as_a_page() {
    let page = series_html(&series()).unwrap();
    assert!(!page.contains(['\u{1b}', '\u{202e}']) && !page.contains("<script"));
    // The style is that of every page.
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, body) = rest.split_once("</style>").unwrap();
    insta::assert_snapshot!(format!("{head}{body}"));
    let mut one = series();
    one.comparisons.clear();
    one.points.truncate(1);
    assert!(series_html(&one).unwrap().contains("nothing to compare"));
}

#[test]
fn the_json_follows_its_schema() {
    let schema = include_str!("../../../../../schema/series.schema.json");
    let schema = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut one = series();
    one.comparisons.clear();
    one.points.truncate(1);
    for series in [series(), one] {
        let mut document: serde_json::Value =
            serde_json::from_str(&series_json(&series).unwrap()).unwrap();
        let errors: Vec<_> = schema
            .iter_errors(&document)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        document["points"][0]["number"] = (-1).into();
        assert!(!schema.is_valid(&document));
    }
    let document: serde_json::Value =
        serde_json::from_str(&series_json(&series()).unwrap()).unwrap();
    assert!(document["workloads"][0]["figures"][2].is_null());
}
