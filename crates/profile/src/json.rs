//! What `tollgate prove --json` writes: instructions by function, exactly.

use serde::Deserialize;

use crate::profile::{Form, Measure, Profile, Row, Space};

#[derive(Deserialize)]
struct Document {
    kind: Option<String>,
    #[serde(default)]
    comparisons: Vec<Comparison>,
}

#[derive(Deserialize)]
struct Comparison {
    before: Option<JsonImage>,
    after: Option<JsonImage>,
    #[serde(default)]
    workloads: Vec<Workload>,
}

#[derive(Deserialize)]
struct JsonImage {
    letter: String,
    variant: String,
}

#[derive(Deserialize)]
struct Workload {
    #[serde(default)]
    benchmark: String,
    #[serde(default)]
    parameters: std::collections::BTreeMap<String, i64>,
    #[serde(default)]
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    before: Option<Counts>,
    after: Option<Counts>,
    #[serde(default)]
    before_share: f64,
    #[serde(default)]
    after_share: f64,
}

#[derive(Deserialize)]
struct Counts {
    instructions: u64,
}

/// A profile for each image and workload; each image once.
///
/// # Errors
/// In words, when it is no such document.
pub(crate) fn prove(text: &str) -> Result<Vec<Profile>, String> {
    let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut found: Vec<Profile> = Vec::new();
    for comparison in &document.comparisons {
        for workload in &comparison.workloads {
            for after in [false, true] {
                let image = if after {
                    &comparison.after
                } else {
                    &comparison.before
                };
                let profile = profile(workload, image.as_ref(), after);
                let known = |one: &Profile| one.title == profile.title;
                let has_after = !after || workload.functions.iter().any(|one| one.after.is_some());
                if !profile.rows.is_empty() && has_after && !found.iter().any(known) {
                    found.push(profile);
                }
            }
        }
    }
    match (found.is_empty(), document.kind.as_deref()) {
        (false, _) => Ok(found),
        (true, Some("prove")) => Err("no workload of it has counts by function".to_owned()),
        (true, Some(kind)) => Err(format!(
            "it is a document of `{kind}`, which holds no counts by function"
        )),
        (true, None) => Err("it holds no counts by function".to_owned()),
    }
}

fn profile(workload: &Workload, image: Option<&JsonImage>, after: bool) -> Profile {
    let mut profile = Profile::new(Form::Prove, Measure::Instructions);
    let row = |function: &Function| {
        let (counts, share) = match after {
            true => (&function.after, function.after_share),
            false => (&function.before, function.before_share),
        };
        Row {
            symbol: function.name.clone(),
            object: String::new(),
            space: Space::Kernel,
            percent: 100.0 * share,
            with_callees: None,
            count: counts.as_ref().map(|counts| counts.instructions),
            marked: false,
            inlined: Vec::new(),
            line: 0,
        }
    };
    let is_share = |row: &Row| (0.0..=100.5).contains(&row.percent) && row.percent > 0.0;
    profile.rows = workload
        .functions
        .iter()
        .map(row)
        .filter(is_share)
        .collect();
    let mut words = vec![workload.benchmark.clone()];
    words.extend(
        workload
            .parameters
            .iter()
            .map(|(name, value)| format!("{name}={value}")),
    );
    let image = image.map_or_else(
        || if after { "after" } else { "before" }.to_owned(),
        |image| format!("{} {}", image.letter, image.variant),
    );
    profile.title = Some(format!("{image}, {}", words.join(" ")));
    profile.settle();
    // The kernel's functions are all there is of it.
    profile.partial = false;
    profile
}
