//! Machines: how a guest of an architecture is started.

use serde::Deserialize;

use crate::assets;

/// Why there is no machine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No file describes it.
    #[error("tollgate has no machine for the architecture {0}")]
    Unknown(String),
    /// The file that describes it is wrong.
    #[error("data/machine/{name}.toml: {reason}")]
    Wrong {
        /// The architecture.
        name: String,
        /// What is wrong, with the line.
        reason: String,
    },
}

/// A machine that QEMU plays, from `data/machine/ARCH.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Machine {
    /// The architecture, which also names its opcodes in `data/arch`.
    pub name: String,
    /// The program.
    pub qemu: String,
    /// Kbuild's name for the architecture.
    pub kbuild_arch: String,
    /// The lowest address of the kernel, hexadecimal.
    pub kernel_start: String,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// The CPU model.
    pub cpu: String,
    argument: Vec<Argument>,
    append: Vec<Append>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    words: Vec<String>,
    #[expect(
        dead_code,
        reason = "read by people; its presence is checked by the parser"
    )]
    reason: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Append {
    words: String,
    #[expect(
        dead_code,
        reason = "read by people; its presence is checked by the parser"
    )]
    reason: String,
}

impl Machine {
    /// The machine of an architecture.
    ///
    /// # Errors
    /// When there is none, or its file is wrong.
    pub fn named(name: &str) -> Result<Self, Error> {
        let text = assets::text(&assets::DATA, &format!("machine/{name}.toml"))
            .ok_or_else(|| Error::Unknown(name.to_owned()))?;
        toml::from_str(text).map_err(|error| Error::Wrong {
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }

    /// The kernel's command line.
    #[must_use]
    pub fn command_line(&self) -> String {
        let parts: Vec<&str> = self
            .append
            .iter()
            .map(|append| append.words.as_str())
            .collect();
        parts.join(" ")
    }

    /// QEMU's arguments, without the kernel, the initramfs and the plugin.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let memory = format!("{}M", self.memory_mib);
        let own = ["-cpu", &self.cpu, "-m", &memory].map(str::to_owned);
        let listed = self
            .argument
            .iter()
            .flat_map(|argument| argument.words.iter().cloned());
        listed.chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_of_x86_64_is_the_measured_one() {
        let machine = Machine::named("x86_64").unwrap();
        let line = format!(
            "{}\n{}",
            machine.arguments().join(" "),
            machine.command_line()
        );
        insta::assert_snapshot!(line);
    }

    #[test]
    fn an_unknown_architecture_is_a_sentence() {
        let error = Machine::named("vax").unwrap_err().to_string();
        assert_eq!(error, "tollgate has no machine for the architecture vax");
    }
}
