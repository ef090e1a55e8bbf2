use proptest::prelude::*;

use super::*;

fn point(name: &str, ret: i64) -> Point {
    let outcome = Outcome {
        ret,
        errno: 0,
        bytes: "00".to_owned(),
    };
    Point {
        sweep: "s".to_owned(),
        name: name.to_owned(),
        outcome,
    }
}

#[test]
fn the_same_points_in_another_order_do_not_differ() {
    let points = [point("end/1", 1), point("end/2", 0)];
    let behaviour = Behaviour::compare(&points, &[points[1].clone(), points[0].clone()]);
    assert_eq!(
        behaviour,
        Behaviour {
            points: 2,
            differences: Vec::new(),
            sweeps: [("s".to_owned(), 2)].into(),
            layouts: Vec::new(),
        }
    );
}

#[test]
fn differences_come_smallest_input_first_and_show_both_outcomes() {
    let before = [
        point("end/17", 1),
        point("end/9", 1),
        point("gone", 1),
        point("same", 3),
    ];
    let after = [
        point("end/17", 0),
        point("end/9", 0),
        point("new", 1),
        point("same", 3),
    ];
    let behaviour = Behaviour::compare(&before, &after);
    assert_eq!(behaviour.points, 5);
    let rets = |outcome: &Option<Outcome>| outcome.as_ref().map(|outcome| outcome.ret);
    let seen = behaviour.differences.iter();
    let seen: Vec<_> = seen
        .map(|d| (d.name.as_str(), rets(&d.before), rets(&d.after)))
        .collect();
    assert_eq!(
        seen,
        [
            ("end/9", Some(1), Some(0)),
            ("end/17", Some(1), Some(0)),
            ("gone", Some(1), None),
            ("new", None, Some(1)),
        ]
    );
}

#[test]
fn every_part_of_an_outcome_counts() {
    let base = point("p", 0);
    let edits: [fn(&mut Outcome); 3] = [
        |o| o.ret = -1,
        |o| o.errno = 14,
        |o| o.bytes.push_str(",..x4"),
    ];
    for edit in edits {
        let mut other = base.clone();
        edit(&mut other.outcome);
        assert_eq!(
            Behaviour::compare(std::slice::from_ref(&base), &[other])
                .differences
                .len(),
            1
        );
    }
}

#[test]
fn the_layouts_of_what_differs_are_kept() {
    let layout = |prefix: &str| Layout::parse(&format!("s {prefix} front=0 behind=0 size=1"));
    let all = [layout("-"), layout("b/"), layout("c/")].map(Option::unwrap);
    let before = [point("end/1", 1), point("b/end/1", 1), point("c/end/1", 1)];
    let after = [point("end/1", 0), point("b/end/1", 0), point("c/end/1", 1)];
    let behaviour = Behaviour::compare(&before, &after).laid_out(&[&all[..], &all].concat());
    let kept = behaviour.layouts.iter().map(|one| one.prefix.as_str());
    assert_eq!(kept.collect::<Vec<_>>(), ["b/", ""]);
    let text = serde_json::to_string(&behaviour).unwrap();
    assert_eq!(serde_json::from_str::<Behaviour>(&text).unwrap(), behaviour);
}

/// What was saved before layouts were told.
#[test]
fn a_saved_behaviour_without_layouts_is_read() {
    let behaviour = Behaviour::compare(&[point("end/1", 1)], &[point("end/1", 0)]);
    let text = serde_json::to_string(&behaviour).unwrap();
    assert!(!text.contains("layouts"), "{text}");
    assert_eq!(serde_json::from_str::<Behaviour>(&text).unwrap(), behaviour);
}

proptest! {
    #[test]
    fn the_order_of_names_is_total(a in ".{0,8}[0-9]{0,30}", b in "[a-z]{0,2}[0-9]{0,3}/[0-9]{0,3}", c in "\\PC{0,8}") {
        prop_assert_eq!(natural(&a, &b), natural(&b, &a).reverse());
        prop_assert_eq!(natural(&a, &a), Ordering::Equal);
        if natural(&a, &b).is_le() && natural(&b, &c).is_le() {
            prop_assert!(natural(&a, &c).is_le());
        }
    }
}
