//! What is looked for beside compilers and emulators: `data/doctor.toml`.

use serde::Deserialize;
use tollgate_lab::assets;

/// All of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Needs {
    #[serde(rename = "emulator")]
    pub(super) emulators: Vec<Emulator>,
    #[serde(rename = "tool")]
    pub(super) tools: Vec<Tool>,
    #[serde(rename = "header")]
    pub(super) headers: Vec<Header>,
}

/// An emulator, and the package that has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Emulator {
    pub(super) command: String,
    pub(super) package: String,
}

/// A program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tool {
    pub(super) command: String,
    pub(super) package: String,
    pub(super) jobs: Vec<String>,
    pub(super) reason: String,
}

/// A header and its library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) link: String,
    pub(super) package: String,
    pub(super) jobs: Vec<String>,
    pub(super) reason: String,
}

/// Reads it.
///
/// # Errors
/// When it is not what it should be, which only a change of it can cause.
pub(super) fn needs() -> anyhow::Result<Needs> {
    let text = assets::own(&assets::DATA, "doctor.toml")?;
    toml::from_str(text).map_err(|error| anyhow::anyhow!("data/doctor.toml: {error}"))
}
