//! Cases: what is measured, in which variants, and what must not move.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::assets;

/// Why a case cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no case of that name.
    #[error("no case is called {name}; there are: {}", .known.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// Its manifest is not one.
    #[error("cases/{name}/case.toml: {reason}")]
    Manifest {
        /// The case.
        name: String,
        /// What is wrong, with the line.
        reason: String,
    },
}

/// A case, as `cases/NAME/case.toml` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is.
    #[serde(rename = "case")]
    pub about: About,
    /// The variants that it compares with the base.
    #[serde(rename = "variant", default)]
    pub variants: Vec<VariantPlan>,
    /// What runs in the guest.
    #[serde(rename = "benchmark", default)]
    pub benchmarks: Vec<Benchmark>,
    /// What must behave the same.
    #[serde(rename = "sweep", default)]
    pub sweeps: Vec<Sweep>,
}

/// What a case is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Its name.
    pub name: String,
    /// One line on what it shows.
    pub summary: String,
    /// `FILE:FUNCTION` that the fix is for.
    pub target: String,
    /// The configuration fragment.
    pub config: String,
    /// What others have claimed of the change, with where they measured it.
    pub claim: String,
}

/// How a variant comes about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantPlan {
    /// Its name in the results.
    pub name: String,
    /// The style of the fix that makes it.
    pub style: String,
}

/// A benchmark of the guest with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// Its name in the guest.
    pub name: String,
    /// Its parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// What a call handles many of, and which parameter says how many.
    pub unit: Option<Unit>,
    /// Whether the change cannot reach it, so that it must not move.
    #[serde(default)]
    pub control: bool,
    /// Operations in a repetition.
    pub ops: u64,
    /// Repetitions after the warm-up.
    pub reps: u32,
}

/// What a call handles many of.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// One of them: `event`.
    pub name: String,
    /// The parameter that says how many there are in a call.
    pub parameter: String,
}

/// A behaviour sweep of the guest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Its name in the guest.
    pub name: String,
}

impl Case {
    /// One of the cases that come along.
    ///
    /// # Errors
    /// When there is none of that name or its manifest is wrong.
    pub fn named(name: &str) -> Result<Self, Error> {
        let text = assets::text(&assets::CASES, &format!("{name}/case.toml")).ok_or_else(|| {
            Error::Unknown {
                name: name.to_owned(),
                known: Self::names(),
            }
        })?;
        Self::parse(name, text)
    }

    fn parse(name: &str, text: &str) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Manifest {
            name: name.to_owned(),
            reason,
        };
        let case: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let stray = case.benchmarks.iter().find_map(Benchmark::stray_unit);
        match stray {
            Some(parameter) => Err(wrong(format!(
                "a unit names the parameter {parameter}, which the benchmark does not have"
            ))),
            None => Ok(case),
        }
    }

    /// The names of the cases that come along.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let folders = assets::CASES.dirs();
        folders.filter_map(|dir| dir.path().to_str()).collect()
    }

    /// The guest's plan: a line for each benchmark and sweep.
    #[must_use]
    pub fn plan(&self) -> String {
        let benchmarks = self.benchmarks.iter().map(Benchmark::plan_line);
        let sweeps = self
            .sweeps
            .iter()
            .map(|sweep| format!("sweep {}\n", sweep.name));
        benchmarks.chain(sweeps).collect()
    }
}

impl Benchmark {
    fn plan_line(&self) -> String {
        let parameters: String = self
            .parameters
            .iter()
            .map(|(name, value)| format!(" {name}={value}"))
            .collect();
        format!(
            "bench {}{parameters} ops={} reps={}\n",
            self.name, self.ops, self.reps
        )
    }

    fn stray_unit(&self) -> Option<&str> {
        let parameter = &self.unit.as_ref()?.parameter;
        (!self.parameters.contains_key(parameter)).then_some(parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Fragment;

    #[test]
    fn every_case_that_comes_along_is_whole() {
        for name in Case::names() {
            let case = Case::named(name).unwrap();
            assert_eq!(case.about.name, name);
            Fragment::named(&case.about.config).unwrap();
            assert!(
                case.benchmarks.iter().any(|benchmark| benchmark.control),
                "{name}"
            );
            assert!(case.about.target.contains(':'), "{name}");
        }
    }

    #[test]
    fn the_plan_is_what_the_guest_reads() {
        insta::assert_snapshot!(Case::named("epoll").unwrap().plan());
    }

    #[test]
    fn a_wrong_manifest_is_a_sentence_with_its_line() {
        let error = Case::parse("x", "[case]\nname = 1\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("cases/x/case.toml: TOML parse error at line 2"),
            "{error}"
        );
    }

    #[test]
    fn a_unit_of_no_parameter_is_refused() {
        let text = "[case]\nname='x'\nsummary='s'\ntarget='a:b'\nconfig='c'\nclaim='n'\n\
                    [[benchmark]]\nname='b'\nops=1\nreps=1\nunit={name='event', parameter='n'}\n";
        let error = Case::parse("x", text).unwrap_err().to_string();
        assert!(error.contains("the parameter n"), "{error}");
    }
}
