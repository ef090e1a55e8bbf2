//! Cases: what is measured, in which variants, and what must not move.
//! `docs/cases.md` describes the manifest, `schema/case.schema.json` its form.

mod check;
mod files;
mod landed;
mod program;
mod taken;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use tollgate_measure::Workload;

pub use files::case_file;
pub use landed::{Landed, LandedPlan};
pub use program::{GuestFilePlan, LibraryPlan, PackagePlan, ProgramPlan, SystemPlan};

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
    /// It is about other architectures.
    #[error("the case {name} is about {}, and cannot be proved on {wanted}", .about.join(" and "))]
    Architecture {
        /// The case.
        name: String,
        /// The architecture that was asked for.
        wanted: String,
        /// Those of the case.
        about: Vec<String>,
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
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is.
    #[serde(rename = "case")]
    pub about: About,
    /// What others have claimed of the change.
    #[serde(rename = "claim", default)]
    pub claims: Vec<ClaimPlan>,
    /// The variants that it compares with the base; the first is the one that
    /// is proved where none is named.
    #[serde(rename = "variant", default)]
    pub variants: Vec<VariantPlan>,
    /// Its changes that have landed, each as it was merged.
    #[serde(default)]
    pub landed: Vec<LandedPlan>,
    /// A program that runs in the guest as well, of which variants are modes or
    /// builds.
    pub program: Option<ProgramPlan>,
    /// What runs in the guest.
    #[serde(rename = "benchmark", default)]
    pub benchmarks: Vec<BenchmarkPlan>,
    /// What must behave the same.
    #[serde(rename = "sweep", default)]
    pub sweeps: Vec<Sweep>,
}

/// What a case is.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// Its name.
    pub name: String,
    /// One line on what it shows.
    pub summary: String,
    /// The functions that `fix` rewrites for its variants, `FILE:FUNCTION`.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The profile of the configuration: `minimal` is the fragment
    /// `data/config/ARCH-minimal.config`.
    #[serde(default = "minimal")]
    pub config: String,
    /// Lines of a `.config` that every image of the case has beside the
    /// fragment's.
    #[serde(default)]
    pub options: Vec<String>,
    /// A patch that every image of the case has over the tree, for what the machine
    /// lacks: a file of the case's folder. Its variants are then programs.
    pub patch: Option<String>,
    /// The architectures that it is about, where not all.
    #[serde(default)]
    pub architectures: Vec<String>,
    /// The variants that are proved where none is named; without any the first.
    #[serde(default)]
    pub default: Vec<String>,
}

fn minimal() -> String {
    "minimal".to_owned()
}

/// What somebody claimed of a change, to stand beside the counts.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimPlan {
    /// The claim with what it was measured on.
    pub text: String,
    /// Where it was said: subject, list, date.
    pub source: String,
    /// Its figures, to stand beside the counts of a workload.
    pub figures: Option<Figures>,
}

/// The figures of a claim.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Figures {
    /// What they are of, with the unit.
    pub of: String,
    /// Whether the larger figure is the cheaper kernel, as of a throughput.
    #[serde(default)]
    pub more_is_better: bool,
    /// The benchmark that comes closest to theirs.
    pub benchmark: String,
    /// Its parameters, as the case lists them.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// The ABI of its program; absent: the kernel's own.
    pub abi: Option<String>,
    /// Whether the figures are of it less the benchmark that the case subtracts.
    #[serde(default)]
    pub net: bool,
    /// Groups of functions whose share in the workload stands beside the
    /// figures; without any it is the whole workload.
    #[serde(default)]
    pub functions: BTreeMap<String, Vec<String>>,
    /// The functions that the groups are a share of; without any all instructions.
    #[serde(default)]
    pub within: Vec<String>,
    /// The figure of the base.
    pub base: f64,
    /// Those of the variants by name; none where the claim is of the base alone.
    #[serde(default)]
    pub variants: BTreeMap<String, f64>,
}

/// How a variant comes about: another kernel, by a `style` of `fix` or by a `patch`,
/// another configuration of the base's, or another program, by its `mode`, by `defines`
/// or by a `source-patch`, or both.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VariantPlan {
    /// Its name in the results.
    pub name: String,
    /// Why the case has it.
    pub reason: String,
    /// The style of the fix that makes it.
    pub style: Option<String>,
    /// The functions that `fix` rewrites, where they are not the case's.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The sizes in bytes that the style `size-switch` turns into cases.
    #[serde(default)]
    pub sizes: Vec<u32>,
    /// Whether accesses that go on after a fault may stop at the first.
    #[serde(default)]
    pub stop_at_first_fault: bool,
    /// Whether a copy of a structure may touch members that the function leaves
    /// alone.
    #[serde(default)]
    pub touch_all_members: bool,
    /// The patch that makes it: a file of the case's folder, or
    /// `OTHER-CASE/FILE`.
    pub patch: Option<String>,
    /// The program's last arguments, in the place of the base's.
    pub mode: Option<Vec<String>>,
    /// Phases of the base's program that this one lacks by its nature.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// What the program is compiled with (`-D`), in the place of the base's.
    pub defines: Option<Vec<String>>,
    /// The patch to the source package that the program is built from: a file of the
    /// case's folder.
    pub source_patch: Option<String>,
    /// Lines of a `.config` that this variant has beside the fragment's.
    #[serde(default)]
    pub config: Vec<String>,
    /// The architectures that its patch compiles on, where not all.
    #[serde(default)]
    pub architectures: Vec<String>,
}

/// The guest that a job runs in. Each combination is a boot of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Station {
    /// The ABI of the guest's program; none is the kernel's own.
    pub abi: Option<String>,
    /// The profile of the CPU; none is the machine's standard one.
    pub cpu: Option<String>,
}

/// A benchmark of the guest with its parameters.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BenchmarkPlan {
    /// Its name in the guest.
    pub name: String,
    /// Its parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// What an operation is or handles many of.
    pub unit: Option<UnitPlan>,
    /// The case's benchmark of the same guest that does all but the thing
    /// itself, to be subtracted: `signal_null` of `signal_catch`.
    pub less: Option<String>,
    /// Whether the change cannot reach it, so that it must not move.
    #[serde(default)]
    pub control: bool,
    /// Whether it runs only when every variant is proved, or when it is named.
    #[serde(default)]
    pub on_demand: bool,
    /// Operations in a repetition.
    pub ops: u64,
    /// Repetitions after the warm-up.
    pub reps: u32,
    /// The ABI of the program that runs it; none is the kernel's own.
    pub abi: Option<String>,
    /// The profile of the CPU that it runs on; none is the standard one.
    pub cpu: Option<String>,
}

/// What a call is, or handles many of.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UnitPlan {
    /// One of them: `event`, `transaction`.
    pub name: String,
    /// The parameter that says how many there are in an operation; none where
    /// an operation is one.
    pub parameter: Option<String>,
}

/// A behaviour sweep of the guest.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Its name in the guest.
    pub name: String,
    /// Its parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// The ABI of the program that runs it; none is the kernel's own.
    pub abi: Option<String>,
    /// The profile of the CPU that it runs on; none is the standard one.
    pub cpu: Option<String>,
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
        let table: toml::Table = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let case: Result<Self, toml::de::Error> = match taken::written_out(name, &table) {
            Err(reason) => return Err(wrong(reason)),
            Ok(Some(whole)) => whole.try_into(),
            // Of the text, so that an error has its line.
            Ok(None) => toml::from_str(text),
        };
        let case = case.map_err(|error| wrong(error.to_string()))?;
        match case.fault() {
            Some(fault) => Err(wrong(fault)),
            None => Ok(case),
        }
    }

    /// Checks that it can be proved on an architecture.
    ///
    /// # Errors
    /// [`Error::Architecture`] when it is about others.
    pub fn fits(&self, arch: &str) -> Result<(), Error> {
        let about = &self.about.architectures;
        if is_of(about, arch) {
            return Ok(());
        }
        Err(Error::Architecture {
            name: self.about.name.clone(),
            wanted: arch.to_owned(),
            about: about.clone(),
        })
    }

    /// The names of the cases that come along.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        let folders = assets::CASES.dirs();
        folders.filter_map(|dir| dir.path().to_str()).collect()
    }

    /// The guests that the jobs need, the machine's own first.
    #[must_use]
    pub fn stations(&self) -> BTreeSet<Station> {
        let benchmarks = self.benchmarks.iter().map(BenchmarkPlan::station);
        let program = self.program.iter().map(ProgramPlan::station);
        benchmarks
            .chain(self.sweeps.iter().map(Sweep::station))
            .chain(program)
            .collect()
    }

    /// The benchmarks that `benchmark` names to be subtracted from it; one in a
    /// manifest that was checked.
    pub fn to_subtract<'a>(
        &'a self,
        benchmark: &'a BenchmarkPlan,
    ) -> impl Iterator<Item = &'a BenchmarkPlan> {
        let station = benchmark.station();
        self.benchmarks.iter().filter(move |other| {
            Some(&other.name) == benchmark.less.as_ref() && other.station() == station
        })
    }

    /// The plan of one guest: a line for each benchmark and sweep that runs in
    /// it.
    #[must_use]
    pub fn plan(&self, station: &Station) -> String {
        let benchmarks = self.benchmarks.iter();
        let benchmarks = benchmarks.filter(|benchmark| benchmark.station() == *station);
        let sweeps = self.sweeps.iter();
        let sweeps = sweeps.filter(|sweep| sweep.station() == *station);
        benchmarks
            .map(BenchmarkPlan::plan_line)
            .chain(sweeps.map(Sweep::plan_line))
            .collect()
    }
}

/// Whether a list of architectures, of which none means all, has this one.
fn is_of(architectures: &[String], arch: &str) -> bool {
    architectures.is_empty() || architectures.iter().any(|known| known == arch)
}

impl Case {
    /// The case's program, where a workload of that name is a phase of it.
    #[must_use]
    pub fn phase_of(&self, workload: &str) -> Option<&ProgramPlan> {
        let (program, _) = workload.split_once('/')?;
        self.program.as_ref().filter(|own| own.name == program)
    }

    /// The variants that are proved where none is named.
    #[must_use]
    pub fn usual(&self) -> Vec<&VariantPlan> {
        let named = |plan: &&VariantPlan| self.about.default.contains(&plan.name);
        match self.about.default.as_slice() {
            [] => self.variants.iter().take(1).collect(),
            _ => self.variants.iter().filter(named).collect(),
        }
    }
}

impl VariantPlan {
    /// Whether it is another kernel than the base's.
    #[must_use]
    pub fn changes_kernel(&self) -> bool {
        self.style.is_some() || self.patch.is_some()
    }

    /// Whether it is another program than the base's.
    #[must_use]
    pub fn changes_program(&self) -> bool {
        self.mode.is_some() || self.defines.is_some() || self.source_patch.is_some()
    }

    /// Whether it can be built on an architecture.
    #[must_use]
    pub fn is_for(&self, arch: &str) -> bool {
        is_of(&self.architectures, arch)
    }

    /// The text of the patch that makes it, where one does.
    #[must_use]
    pub fn patch_text(&self, case: &str) -> Option<&'static str> {
        case_file(case, self.patch.as_deref()?)
    }
}

impl BenchmarkPlan {
    /// The guest that it runs in.
    #[must_use]
    pub fn station(&self) -> Station {
        Station {
            abi: self.abi.clone(),
            cpu: self.cpu.clone(),
        }
    }

    /// What figures call it.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let parameters = self.parameters.iter();
        Workload {
            benchmark: self.name.clone(),
            parameters: parameters
                .map(|(name, value)| (name.clone(), *value))
                .collect(),
            abi: self.abi.clone(),
            cpu: self.cpu.clone(),
        }
    }

    /// What the plan and the guest call it: `bench epoll_wait events=64`.
    #[must_use]
    pub fn job(&self) -> String {
        format!("bench {}{}", self.name, parameters(&self.parameters))
    }

    /// Its line of the plan.
    #[must_use]
    pub fn plan_line(&self) -> String {
        format!("{} ops={} reps={}\n", self.job(), self.ops, self.reps)
    }
}

impl Sweep {
    /// The guest that it runs in.
    #[must_use]
    pub fn station(&self) -> Station {
        Station {
            abi: self.abi.clone(),
            cpu: self.cpu.clone(),
        }
    }

    /// What the plan and the guest call it: `sweep epoll_wait events=4`.
    #[must_use]
    pub fn job(&self) -> String {
        format!("sweep {}{}", self.name, parameters(&self.parameters))
    }

    fn plan_line(&self) -> String {
        format!("{}\n", self.job())
    }
}

fn parameters(parameters: &BTreeMap<String, i64>) -> String {
    parameters
        .iter()
        .map(|(name, value)| format!(" {name}={value}"))
        .collect()
}

#[cfg(test)]
mod tests;
