//! A program that a case brings along and runs in the guest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tollgate_measure::Workload;

use super::{Station, VariantPlan};

/// A program of the case's folder, compiled and linked with libraries of this
/// machine; it runs in the guest beside the benchmarks.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProgramPlan {
    /// What results call it.
    pub name: String,
    /// Its source: a C file of the case's folder, or `OTHER-CASE/FILE`.
    pub source: String,
    /// What it is linked with, as the linker calls it: `asound`.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// The packages of this machine that have these libraries, to be named where
    /// it does not compile.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Headers of the case that it includes, and what stands in front of libraries.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Shared libraries of the case's folder, compiled for the guest.
    #[serde(default, rename = "library")]
    pub compiled: Vec<LibraryPlan>,
    /// A source package of the distribution that is built for the guest.
    pub package: Option<PackagePlan>,
    /// Files of packages of this machine that the guest holds.
    #[serde(default)]
    pub system: Vec<SystemPlan>,
    /// Files of the case that the guest holds.
    #[serde(default, rename = "file")]
    pub files: Vec<GuestFilePlan>,
    /// Its first arguments, the same in every variant.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Those behind them on the base.
    #[serde(default)]
    pub mode: Vec<String>,
    /// Whether each word of the mode is run in a boot of its own: what one row leaves
    /// behind is then no part of the next.
    #[serde(default)]
    pub apart: bool,
    /// What it is compiled with (`-D`) on the base.
    #[serde(default)]
    pub defines: Vec<String>,
    /// What an operation is, `second`, by phase.
    #[serde(default)]
    pub units: BTreeMap<String, String>,
    /// The ABI that it is compiled for; none is the kernel's own.
    pub abi: Option<String>,
    /// The profile of the CPU that it runs on; none is the standard one.
    pub cpu: Option<String>,
}

/// A file of the case that the guest holds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GuestFilePlan {
    /// The file in the case's folder, or `OTHER-CASE/FILE`.
    pub from: String,
    /// Its path in the guest, without the first slash.
    pub to: String,
}

/// A shared library that the guest holds.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryPlan {
    /// Its source: a C file of the case's folder, or `OTHER-CASE/FILE`.
    pub source: String,
    /// Its path in the guest, without the first slash.
    pub to: String,
}

/// A source package, and how it is built: in a folder that holds its `source`, into
/// `build`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PackagePlan {
    /// The source package, as the distribution calls it.
    pub name: String,
    /// The command that prepares the build; it runs once.
    pub configure: Vec<String>,
    /// The command that builds.
    pub make: Vec<String>,
    /// The packages of this machine that it needs to be built.
    #[serde(default)]
    pub packages: Vec<String>,
    /// What the guest holds of it: `from` is below the folder of the build.
    #[serde(rename = "file")]
    pub files: Vec<GuestFilePlan>,
    /// The patch of a variant: a file of the case's folder.
    #[serde(skip)]
    pub patch: Option<String>,
}

/// Files of a package of this machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SystemPlan {
    /// The package.
    pub package: String,
    /// Its files, without the first slash; where the guest has them as well.
    pub files: Vec<String>,
}

impl ProgramPlan {
    /// The guest that it runs in.
    #[must_use]
    pub fn station(&self) -> Station {
        Station {
            abi: self.abi.clone(),
            cpu: self.cpu.clone(),
        }
    }

    /// What figures call a phase of it.
    #[must_use]
    pub fn workload(&self, phase: &str) -> Workload {
        Workload {
            benchmark: format!("{}/{phase}", self.name),
            parameters: Vec::new(),
            abi: self.abi.clone(),
            cpu: self.cpu.clone(),
        }
    }

    /// The same with what a variant says instead of the base.
    #[must_use]
    pub fn of(&self, variant: &VariantPlan) -> Self {
        let mut own = self.clone();
        own.mode = variant.mode.clone().unwrap_or(own.mode);
        own.defines = variant.defines.clone().unwrap_or(own.defines);
        if let Some(package) = &mut own.package {
            package.patch.clone_from(&variant.source_patch);
        }
        own
    }
}
