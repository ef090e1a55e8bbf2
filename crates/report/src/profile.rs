//! The counts by function in the forms that profile viewers read. No call
//! stacks are recorded: each function stands alone under its image and workload.

use serde_json::json;
use tollgate_measure::{Measured, Proof};

/// A form of profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileFormat {
    /// The text of `perf script`: a record a function, its instructions as the
    /// period.
    PerfScript,
    /// Folded stacks, `image;workload;function count`, for flame graphs.
    Folded,
    /// The JSON of speedscope (<https://www.speedscope.app/file-format-schema.json>).
    Speedscope,
}

impl ProfileFormat {
    /// The form that the ending of a file's name asks for: `perf` or `txt`,
    /// `folded`, `json`.
    #[must_use]
    pub fn of_ending(ending: &str) -> Option<Self> {
        match ending {
            "perf" | "txt" => Some(Self::PerfScript),
            "folded" => Some(Self::Folded),
            "json" => Some(Self::Speedscope),
            _ => None,
        }
    }
}

/// The kernel's functions and user space on every image, in instructions of all
/// operations of a repetition. Ends with a newline.
#[must_use]
pub fn profile(proof: &Proof, format: ProfileFormat) -> String {
    let stacks = stacks(proof);
    match format {
        ProfileFormat::PerfScript => stacks.iter().map(perf_script).collect(),
        ProfileFormat::Folded => stacks.iter().map(folded).collect(),
        ProfileFormat::Speedscope => speedscope(proof, &stacks),
    }
}

/// What one workload executed on one image.
struct Stack {
    image: String,
    workload: String,
    /// Function and instructions, the most first.
    functions: Vec<(String, u64)>,
}

/// The frame of all instructions of user space.
const USER: &str = "[user space]";

fn stacks(proof: &Proof) -> Vec<Stack> {
    let mut stacks = Vec::new();
    for row in proof.rows() {
        for (letter, measured) in &row.columns {
            stacks.push(Stack {
                image: image(proof, *letter),
                workload: row.comparison.workload.to_string(),
                functions: functions(measured),
            });
        }
    }
    stacks
}

fn image(proof: &Proof, letter: char) -> String {
    let images = proof
        .comparisons
        .iter()
        .flat_map(|one| [&one.before, &one.after]);
    let mut found = images.filter(|image| image.letter == letter);
    found.next().map_or_else(
        || letter.to_string(),
        |image| format!("{letter} {}", image.variant),
    )
}

fn functions(measured: &Measured) -> Vec<(String, u64)> {
    let kernel = measured.functions.iter();
    let kernel = kernel.map(|(name, counts)| (name.clone(), counts.instructions));
    let user = std::iter::once((USER.to_owned(), measured.user));
    let mut all: Vec<(String, u64)> = kernel.chain(user).filter(|(_, count)| *count > 0).collect();
    // Stable: equals stay in the order of names.
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all
}

/// A frame of a folded stack holds no `;` and no line break.
fn frame(text: &str) -> String {
    let plain = |c: char| match c {
        ';' => ',',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().map(plain).collect()
}

fn folded(stack: &Stack) -> String {
    let (image, workload) = (frame(&stack.image), frame(&stack.workload));
    let line =
        |(name, count): &(String, u64)| format!("{image};{workload};{} {count}\n", frame(name));
    stack.functions.iter().map(line).collect()
}

/// perf-script(1): command, process, time, period and event; the frame; an empty
/// line. The command is one word. Addresses are not kept: 0.
fn perf_script(stack: &Stack) -> String {
    let words = format!("{}_{}", stack.image, stack.workload);
    let command: String = words
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    let record = |(name, count): &(String, u64)| {
        let (space, object) = match name.as_str() {
            USER => ("u", "[user]"),
            _ => ("k", "[kernel.kallsyms]"),
        };
        let name = frame(name).replace(' ', "_");
        format!(
            "{command} 1 [000] 0.000000: {count} instructions:{space}: \n\t\
             {:16x} {name} ({object})\n\n",
            0
        )
    };
    stack.functions.iter().map(record).collect()
}

fn speedscope(proof: &Proof, stacks: &[Stack]) -> String {
    let mut names: Vec<&str> = stacks
        .iter()
        .flat_map(|stack| stack.functions.iter().map(|(name, _)| name.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    let frames: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    let one = |stack: &Stack| {
        let index = |name: &String| names.binary_search(&name.as_str()).unwrap_or_default();
        let samples: Vec<[usize; 1]> = stack.functions.iter().map(|(n, _)| [index(n)]).collect();
        let weights: Vec<u64> = stack.functions.iter().map(|(_, count)| *count).collect();
        json!({
            "type": "sampled",
            "name": format!("{}, {}", stack.image, stack.workload),
            "unit": "none",
            "startValue": 0,
            "endValue": weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight)),
            "samples": samples,
            "weights": weights,
        })
    };
    let document = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": format!("tollgate prove {}: instructions", proof.subject),
        "exporter": "tollgate",
        "shared": { "frames": frames },
        "profiles": stacks.iter().map(one).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;
    use crate::comparison::several;

    /// What one workload took in the second image, by the folded form.
    fn total(text: &str, start: &str) -> u64 {
        let lines = text.lines().filter(|line| line.starts_with(start));
        lines
            .map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
            .sum()
    }

    #[test]
    fn the_folded_form_adds_up_to_the_whole() {
        let proof = several();
        let text = profile(&proof, ProfileFormat::Folded);
        let row = &proof.comparisons[0].workloads[2];
        let wanted = row.after.kernel.instructions + row.after.user;
        assert_eq!(total(&text, "B window;epoll_wait events=64;"), wanted);
        assert!(text.contains(";[user space] "), "{text}");
    }

    #[test]
    fn the_text_of_perf_script_has_a_record_a_function() {
        let text = profile(&several(), ProfileFormat::PerfScript);
        let first: String = text
            .lines()
            .take(6)
            .map(|line| format!("{line}\n"))
            .collect();
        insta::assert_snapshot!(first);
        assert!(text.lines().all(|line| !line.contains('\x1b')));
    }

    #[test]
    fn speedscope_gets_a_profile_an_image_and_workload() {
        let proof = several();
        let text = profile(&proof, ProfileFormat::Speedscope);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let profiles = value["profiles"].as_array().unwrap();
        let columns: usize = proof.rows().iter().map(|row| row.columns.len()).sum();
        assert_eq!(profiles.len(), columns);
        let frames = value["shared"]["frames"].as_array().unwrap().len();
        for profile in profiles {
            let samples = profile["samples"].as_array().unwrap();
            assert_eq!(samples.len(), profile["weights"].as_array().unwrap().len());
            let known = |sample: &serde_json::Value| sample[0].as_u64().unwrap() < frames as u64;
            assert!(samples.iter().all(known));
        }
    }

    #[test]
    fn the_ending_chooses_the_form() {
        assert_eq!(
            ProfileFormat::of_ending("folded"),
            Some(ProfileFormat::Folded)
        );
        assert_eq!(ProfileFormat::of_ending("svg"), None);
    }
}
