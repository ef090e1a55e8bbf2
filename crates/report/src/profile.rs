//! The counts by function in the forms that profile viewers read. No call
//! stacks are recorded: each function stands alone under its image and workload.

use serde_json::json;
use tollgate_defect::{Defect, OrDefect as _};
use tollgate_measure::{Measured, Proof, UNKNOWN_FUNCTION};

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
///
/// # Errors
/// None that input can cause.
pub fn profile(proof: &Proof, format: ProfileFormat) -> Result<String, Defect> {
    let stacks = stacks(proof);
    match format {
        ProfileFormat::PerfScript => Ok(stacks.iter().map(perf_script).collect()),
        ProfileFormat::Folded => Ok(stacks.iter().map(folded).collect()),
        ProfileFormat::Speedscope => speedscope(proof, &stacks),
    }
}

/// What one workload executed on one image.
struct Stack {
    image: String,
    workload: String,
    /// Those that executed anything, the most first.
    functions: Vec<Function>,
}

/// A function of the kernel, or all of user space.
struct Function {
    name: String,
    user: bool,
    instructions: u64,
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

fn functions(measured: &Measured) -> Vec<Function> {
    let kernel = measured.functions.iter().map(|(name, counts)| Function {
        name: match name.as_str() {
            "" => UNKNOWN_FUNCTION.to_owned(),
            name => name.to_owned(),
        },
        user: false,
        instructions: counts.instructions(),
    });
    let user = std::iter::once(Function {
        name: USER.to_owned(),
        user: true,
        instructions: measured.user,
    });
    let mut all: Vec<_> = kernel.chain(user).collect();
    all.retain(|function| function.instructions > 0);
    // Stable: equals stay in the order of names.
    all.sort_by_key(|function| std::cmp::Reverse(function.instructions));
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
    let line = |function: &Function| {
        let (name, count) = (frame(&function.name), function.instructions);
        format!("{image};{workload};{name} {count}\n")
    };
    stack.functions.iter().map(line).collect()
}

/// perf-script(1): command, process, time, period and event; the frame; an empty
/// line. The command is one word. Addresses are not kept: 0, and no offset into
/// the function. The event is one for all, as readers keep that of the first
/// record and skip others.
fn perf_script(stack: &Stack) -> String {
    let words = format!("{}_{}", stack.image, stack.workload);
    let command: String = words
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    let record = |function: &Function| {
        // What perf writes where it knows of no file.
        let object = match function.user {
            true => "[unknown]",
            false => "[kernel.kallsyms]",
        };
        let (name, count) = (symbol(&function.name), function.instructions);
        format!(
            "{command} 1 [000] 0.000000: {count} instructions: \n\t\
             {:16x} {name}+0x0 ({object})\n\n",
            0
        )
    };
    stack.functions.iter().map(record).collect()
}

/// One word, as a symbol is.
fn symbol(name: &str) -> String {
    let one = |c: char| if c.is_whitespace() { '_' } else { c };
    frame(name).chars().map(one).collect()
}

fn speedscope(proof: &Proof, stacks: &[Stack]) -> Result<String, Defect> {
    let mut names: Vec<&str> = stacks
        .iter()
        .flat_map(|stack| stack.functions.iter().map(|one| one.name.as_str()))
        .collect();
    names.sort_unstable();
    names.dedup();
    let frames: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    let one = |stack: &Stack| {
        let index = |one: &Function| names.binary_search(&one.name.as_str()).map(|at| [at]);
        let samples: Result<Vec<[usize; 1]>, usize> = stack.functions.iter().map(index).collect();
        let samples = samples.or_defect("a function of a profile has no frame")?;
        let weights: Vec<u64> = stack.functions.iter().map(|one| one.instructions).collect();
        Ok(json!({
            "type": "sampled",
            "name": format!("{}, {}", stack.image, stack.workload),
            "unit": "none",
            "startValue": 0,
            "endValue": weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight)),
            "samples": samples,
            "weights": weights,
        }))
    };
    let profiles: Result<Vec<_>, Defect> = stacks.iter().map(one).collect();
    let profiles = profiles?;
    let document = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": format!("tollgate prove {}: instructions", proof.subject),
        "exporter": "tollgate",
        "shared": { "frames": frames },
        "profiles": profiles,
    });
    Ok(format!("{document:#}\n"))
}

#[cfg(test)]
mod tests;
