//! A program that a case brings along and runs in the guest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// Files of the case that the guest holds.
    #[serde(default, rename = "file")]
    pub files: Vec<GuestFilePlan>,
    /// Its first arguments, the same in every variant.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Those behind them on the base.
    #[serde(default)]
    pub mode: Vec<String>,
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

impl ProgramPlan {
    /// The guest that it runs in.
    #[must_use]
    pub fn station(&self) -> Station {
        Station {
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
        own
    }
}
