//! What a machine can do and what it cannot, with what mends it.

use serde::Serialize;
use tollgate_defect::Defect;

use crate::document::{Block, Document, Extent, Fact, Section, Tone, Verdict};
use crate::json::to_json;

/// The version of the JSON form; it grows when a reader would break.
pub const DOCTOR_VERSION: u32 = 1;

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is: `QEMU`.
    pub name: String,
    /// Whether it is as it should be.
    pub good: bool,
    /// What was found, a line.
    pub found: String,
    /// What cannot be done without it; empty where it only helps.
    pub jobs: Vec<String>,
    /// What mends it, one line; none where nothing has to be, or nobody can say.
    pub mend: Option<String>,
}

/// A setting that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingLine {
    /// Its name in the file.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Where it is from.
    pub from: String,
}

/// All that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// tollgate's own version.
    pub tollgate: String,
    /// The commands, each with whether it can run here.
    pub can: Vec<Job>,
    /// What was looked at.
    pub checks: Vec<Check>,
    /// What is set.
    pub settings: Vec<SettingLine>,
}

/// A command, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Job {
    /// Its name, `prove`.
    pub name: String,
    /// Whether all that it needs is here.
    pub can: bool,
    /// Whether it is what tollgate is for: without it the whole cannot be told well.
    pub main: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    version: u32,
    kind: &'static str,
    #[serde(flatten)]
    of: &'a Diagnosis,
}

impl Diagnosis {
    /// Whether the main job can run.
    #[must_use]
    pub fn is_fit(&self) -> bool {
        self.can.iter().all(|job| job.can || !job.main)
    }
}

/// A JSON document that ends with a newline.
///
/// # Errors
/// None that input can cause.
pub fn doctor_json(diagnosis: &Diagnosis) -> Result<String, Defect> {
    to_json(&Json {
        version: DOCTOR_VERSION,
        kind: "doctor",
        of: diagnosis,
    })
}

/// What was found, what mends it, and what can be done.
#[must_use]
pub fn doctor_document(diagnosis: &Diagnosis) -> Document {
    let checks = &diagnosis.checks;
    let found = checks.iter().map(|check| {
        let text = match check.good {
            true => check.found.clone(),
            false => format!("{}{}", check.found, without(check)),
        };
        Fact {
            label: check.name.clone(),
            text,
            tone: tone(check),
        }
    });
    let mut sections = vec![Section::new("Found", vec![Block::Facts(found.collect())])];
    let mends = checks.iter().filter(|check| !check.good);
    let mends = mends.filter_map(|check| Some(Fact::plain(&check.name, check.mend.clone()?)));
    let mends: Vec<Fact> = mends.collect();
    if !mends.is_empty() {
        sections.push(Section::new("What mends it", vec![Block::Facts(mends)]));
    }
    if !diagnosis.settings.is_empty() {
        let settings = diagnosis.settings.iter();
        let settings =
            settings.map(|one| Fact::plain(&one.key, format!("{} ({})", one.value, one.from)));
        sections.push(Section::new(
            "Settings",
            vec![Block::Facts(settings.collect())],
        ));
    }
    let jobs = |can: bool| {
        let jobs = diagnosis.can.iter().filter(|job| job.can == can);
        let names: Vec<&str> = jobs.map(|job| job.name.as_str()).collect();
        let label = if can { "can run" } else { "cannot run" };
        (!names.is_empty()).then(|| Fact::check(label, can, names.join("; ")))
    };
    let can = [true, false].into_iter().filter_map(jobs).collect();
    sections.push(Section::new("What can run here", vec![Block::Facts(can)]));
    Document {
        title: format!("tollgate {} on this machine", diagnosis.tollgate),
        short: "doctor".to_owned(),
        head: Extent::Full,
        verdicts: vec![verdict(diagnosis)],
        sections,
        ..Document::default()
    }
}

fn without(check: &Check) -> String {
    match check.jobs.as_slice() {
        [] => String::new(),
        jobs => format!("; needed by {}", jobs.join(", ")),
    }
}

fn tone(check: &Check) -> Tone {
    match (check.good, check.jobs.is_empty()) {
        (true, _) => Tone::Good,
        (false, true) => Tone::Plain,
        (false, false) => Tone::Bad,
    }
}

fn verdict(diagnosis: &Diagnosis) -> Verdict {
    let lacking = |main: bool| {
        let jobs = diagnosis
            .can
            .iter()
            .filter(|job| !job.can && job.main == main);
        jobs.map(|job| job.name.as_str()).collect::<Vec<_>>()
    };
    let (main, others) = (lacking(true), lacking(false));
    let (word, tone, statement) = match (main.as_slice(), others.as_slice()) {
        ([], []) => ("FIT", Tone::Good, "everything can run here.".to_owned()),
        ([], others) => (
            "FIT",
            Tone::Good,
            format!("prove can run here; what cannot: {}.", others.join("; ")),
        ),
        (main, others) => {
            let all: Vec<&str> = main.iter().chain(others).copied().collect();
            (
                "NOT FIT",
                Tone::Bad,
                format!("cannot run here: {}.", all.join(", ")),
            )
        }
    };
    Verdict {
        word: word.to_owned(),
        tone,
        statement,
        ..Verdict::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what it expects")]
mod tests {
    use super::*;

    fn check(name: &str, good: bool, jobs: &[&str], mend: Option<&str>) -> Check {
        Check {
            name: name.into(),
            good,
            found: if good {
                "7.2.22, plugin API 1"
            } else {
                "is missing"
            }
            .into(),
            jobs: jobs.iter().map(|job| (*job).to_owned()).collect(),
            mend: mend.map(Into::into),
        }
    }

    fn diagnosis(can_prove: bool) -> Diagnosis {
        let job = |name: &str, can, main| Job {
            name: name.into(),
            can,
            main,
        };
        Diagnosis {
            tollgate: "0.1.0".into(),
            can: vec![job("prove", can_prove, true), job("robot", false, false)],
            checks: vec![
                check(
                    "QEMU",
                    can_prove,
                    &["prove"],
                    Some("apt-get install qemu-system-x86"),
                ),
                check(
                    "namespaces",
                    false,
                    &["robot"],
                    Some("sysctl kernel.unprivileged_userns_clone=1"),
                ),
                check("ccache", false, &[], None),
            ],
            settings: vec![SettingLine {
                key: "tree".into(),
                value: "/home/you/linux".into(),
                from: "/home/you/tollgate.toml:4".into(),
            }],
        }
    }

    #[test]
    fn what_is_lacking_is_told_with_what_mends_it() {
        for can_prove in [true, false] {
            let document = doctor_document(&diagnosis(can_prove));
            crate::format::tests::holds(&document);
            insta::assert_snapshot!(crate::format::tests::text(&document));
        }
        assert!(diagnosis(true).is_fit() && !diagnosis(false).is_fit());
    }

    #[test]
    fn the_document_follows_its_schema() {
        let schema = include_str!("../../../schema/doctor.schema.json");
        let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let json = doctor_json(&diagnosis(true)).unwrap();
        assert!(
            schema.is_valid(&serde_json::from_str(&json).unwrap()),
            "{json}"
        );
    }
}
