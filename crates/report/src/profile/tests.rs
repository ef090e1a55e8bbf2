#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use tollgate_measure::Quantity;
use tollgate_profile::{Profile, Reading, Space};

use super::*;
use crate::comparison::several;

/// A proof in which the first workload has these functions and instructions of
/// user space on both images, and no other workload is left.
fn with_functions(functions: &BTreeMap<String, u64>, user: u64) -> Proof {
    static ONE: LazyLock<Proof> = LazyLock::new(|| {
        let mut proof = several();
        proof.comparisons.truncate(1);
        proof.comparisons[0].workloads.truncate(1);
        proof
    });
    let mut proof = ONE.clone();
    let comparison = proof.comparisons.first_mut().unwrap();
    let row = comparison.workloads.first_mut().unwrap();
    for measured in [&mut row.before, &mut row.after] {
        let zero = measured.functions.values().next().copied().unwrap();
        let counts =
            |(name, count): (&String, &u64)| (name.clone(), zero.with(Quantity::Kernel, *count));
        measured.functions = functions.iter().map(counts).collect();
        measured.user = user;
    }
    proof
}

/// What each form should hold by function, of both images: name as `rename`
/// makes it, whether it is the kernel's, and instructions.
fn expected(
    functions: &BTreeMap<String, u64>,
    user: u64,
    rename: impl Fn(&str) -> String,
) -> BTreeMap<(String, bool), u64> {
    let mut all = BTreeMap::new();
    let kernel = functions.iter().map(|(name, count)| {
        let name = if name.is_empty() {
            UNKNOWN_FUNCTION
        } else {
            name
        };
        (rename(name), true, *count)
    });
    let user = std::iter::once((rename(USER), false, user));
    for (name, kernel, count) in kernel.chain(user).filter(|(_, _, count)| *count > 0) {
        *all.entry((name, kernel)).or_insert(0) += 2 * count;
    }
    all
}

fn underlined(name: &str) -> String {
    let bad = |c: char| c.is_whitespace() || c.is_control();
    name.replace(bad, "_").replace(';', ",")
}

/// The counts of a profile whose parts add up to `total`.
fn counts(profile: &Profile, total: u64) -> BTreeMap<(String, bool), u64> {
    let rows = profile.rows.iter();
    rows.map(|share| {
        let count = (share.percent / 100.0 * total as f64).round() as u64;
        ((share.symbol.clone(), share.space == Space::Kernel), count)
    })
    .collect()
}

/// Image, workload, function and count of each line of the folded form.
fn folded_lines(text: &str) -> Vec<([&str; 3], u64)> {
    text.lines().map(folded_line).collect()
}

fn folded_line(line: &str) -> ([&str; 3], u64) {
    let (stack, count) = line.rsplit_once(' ').unwrap();
    assert!(count.bytes().all(|b| b.is_ascii_digit()), "{line}");
    let frames: Vec<&str> = stack.split(';').collect();
    assert!(frames.iter().all(|frame| !frame.is_empty()), "{line}");
    (frames.try_into().unwrap(), count.parse().unwrap())
}

/// The document, after it was held to its schema and to what a schema cannot say.
fn checked_speedscope(proof: &Proof) -> serde_json::Value {
    let text = profile(proof, ProfileFormat::Speedscope).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let schema = include_str!("../../../../schema/speedscope.schema.json");
        jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
    });
    let faults: Vec<String> = SCHEMA.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
    let frames = value["shared"]["frames"].as_array().unwrap().len() as u64;
    for profile in value["profiles"].as_array().unwrap() {
        let samples = profile["samples"].as_array().unwrap();
        let weights = profile["weights"].as_array().unwrap();
        assert_eq!(samples.len(), weights.len());
        assert!(samples.iter().all(|one| one[0].as_u64().unwrap() < frames));
        let sum: u64 = weights.iter().map(|one| one.as_u64().unwrap()).sum();
        assert_eq!(profile["endValue"].as_u64().unwrap(), sum);
    }
    value
}

/// Instructions by name, over all profiles of a document.
fn by_name(value: &serde_json::Value) -> BTreeMap<String, u64> {
    let frames = value["shared"]["frames"].as_array().unwrap();
    let mut all = BTreeMap::new();
    for profile in value["profiles"].as_array().unwrap() {
        let samples = profile["samples"].as_array().unwrap();
        for (sample, weight) in samples.iter().zip(profile["weights"].as_array().unwrap()) {
            let index = usize::try_from(sample[0].as_u64().unwrap()).unwrap();
            let name = frames[index]["name"].as_str().unwrap().to_owned();
            *all.entry(name).or_insert(0) += weight.as_u64().unwrap();
        }
    }
    all
}

/// Names as kernels have them, and hostile ones.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z_][a-z0-9_]{0,20}(\\.(isra|part|constprop|cold))?(\\.[0-9])?",
        1 => "\\PC{0,8}",
        1 => any::<String>(),
        1 => prop::sample::select(vec![
            "", " ", "a b", "a;b", "a\nb", "a\u{2003}b", "\u{85}", "1.5:", "50.0%", "[k]", "[unknown]",
            "[user space]", "[user_space]", "f+0x10", "f+0x10/0x20", "(x)", "12 x:", ">", "{", "x:\t",
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    /// User space was read back as a symbol of the kernel; a name that ends as an
    /// offset does lost its end, and one with another space than ASCII's was cut.
    #[test]
    fn what_perf_script_is_written_is_read_back(
        functions in prop::collection::btree_map(name(), 0_u64..1 << 32, 0..12),
        user in 1_u64..1 << 32,
    ) {
        let text = profile(&with_functions(&functions, user), ProfileFormat::PerfScript).unwrap();
        let wanted = expected(&functions, user, underlined);
        let read = Reading::of_text(&text).unwrap().ranking().unwrap();
        prop_assert_eq!(read.measure.words(), "samples of instructions");
        prop_assert_eq!(counts(&read, wanted.values().sum()), wanted);
    }

    #[test]
    fn folded_stacks_are_frames_and_a_count(
        functions in prop::collection::btree_map(name(), 0_u64..1 << 32, 0..12),
        user in 0_u64..1 << 32,
    ) {
        let text = profile(&with_functions(&functions, user), ProfileFormat::Folded).unwrap();
        let plain = |name: &str| name.replace(char::is_control, " ").replace(';', ",");
        let mut found = BTreeMap::new();
        for ([image, workload, function], count) in folded_lines(&text) {
            prop_assert!(["A base", "B window"].contains(&image));
            prop_assert_eq!(workload, "epoll_wait events=1");
            *found.entry(function.to_owned()).or_insert(0) += count;
        }
        let mut wanted = BTreeMap::new();
        for ((name, _), count) in expected(&functions, user, plain) {
            *wanted.entry(name).or_insert(0) += count;
        }
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn speedscope_holds_every_count(
        functions in prop::collection::btree_map(name(), 0_u64..1 << 32, 0..12),
        user in 0_u64..1 << 32,
    ) {
        let found = by_name(&checked_speedscope(&with_functions(&functions, user)));
        let mut wanted = BTreeMap::new();
        for ((name, _), count) in expected(&functions, user, str::to_owned) {
            *wanted.entry(name).or_insert(0) += count;
        }
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn the_folded_form_adds_up_to_the_whole() {
    let proof = several();
    let text = profile(&proof, ProfileFormat::Folded).unwrap();
    let row = &proof.comparisons[0].workloads[2];
    let wanted = row.after.kernel.instructions() + row.after.user;
    let lines = folded_lines(&text).into_iter();
    let of_row = lines.filter(|(frames, _)| frames[..2] == ["B window", "epoll_wait events=64"]);
    assert_eq!(of_row.map(|(_, count)| count).sum::<u64>(), wanted);
    assert!(text.contains(";[user space] "), "{text}");
}

#[test]
fn the_text_of_perf_script_has_a_record_a_function() {
    let text = profile(&several(), ProfileFormat::PerfScript).unwrap();
    let first: String = text
        .lines()
        .take(6)
        .map(|line| format!("{line}\n"))
        .collect();
    insta::assert_snapshot!(first);
    assert!(text.lines().all(|line| !line.contains('\x1b')));
}

/// What `stackcollapse-perf.pl` and speedscope take from the text of perf script:
/// they split at empty lines, keep the records of the first one's event and skip
/// others. User space had an event of its own, so it was skipped.
#[test]
fn all_records_have_one_event() {
    let proof = several();
    let text = profile(&proof, ProfileFormat::PerfScript).unwrap();
    let records: Vec<&str> = text.split_terminator("\n\n").collect();
    let functions: usize = stacks(&proof)
        .iter()
        .map(|stack| stack.functions.len())
        .sum();
    assert_eq!(records.len(), functions);
    for record in records {
        let (head, frame) = record.split_once('\n').unwrap();
        let mut words = head.split_whitespace();
        let command = words.next().unwrap();
        assert!(command.chars().all(|c| c == '_' || c.is_alphanumeric()));
        assert_eq!(words.next().unwrap().parse(), Ok(1), "a process");
        assert!(head.ends_with(" instructions: "), "{head}");
        let (place, object) = frame.rsplit_once(" (").unwrap();
        assert!(matches!(object, "[kernel.kallsyms])" | "[unknown])"));
        assert!(
            place.starts_with('\t') && place.ends_with("+0x0"),
            "{frame}"
        );
    }
}

#[test]
fn speedscope_gets_a_profile_an_image_and_workload() {
    let proof = several();
    let value = checked_speedscope(&proof);
    let profiles = value["profiles"].as_array().unwrap();
    let columns: usize = proof.rows().iter().map(|row| row.columns.len()).sum();
    assert_eq!(profiles.len(), columns);
    assert_eq!(profiles[0]["name"], "A base, epoll_wait events=1");
}

#[test]
fn the_ending_chooses_the_form() {
    assert_eq!(
        ProfileFormat::of_ending("folded"),
        Some(ProfileFormat::Folded)
    );
    assert_eq!(ProfileFormat::of_ending("svg"), None);
}
