//! What a site's cluster is: one file for all who use it (`docs/cluster.md`).

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Error;
use crate::input;

/// Tasks of an array where the file does not say: Slurm's own `MaxArraySize` is 1001,
/// and the first is number 0.
const ARRAY: usize = 1000;

/// What the file says. What it does not name is as the site has it by default.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// A folder that this machine and every node see under the same name.
    pub shared: PathBuf,
    /// A folder on each node's own disk, where it keeps what it prepared.
    pub node_cache: PathBuf,
    /// The program `tollgate`, as nodes see it.
    pub program: PathBuf,
    /// `--partition` of sbatch.
    pub partition: Option<String>,
    /// `--account` of sbatch.
    pub account: Option<String>,
    /// Minutes for a task, `--time` of sbatch.
    pub minutes: Option<u32>,
    /// MiB for a task, `--mem` of sbatch.
    pub memory_mib: Option<u64>,
    /// Processors of a task, `--cpus-per-task` of sbatch.
    pub processors: Option<u32>,
    /// Tasks of one array.
    #[serde(default = "array")]
    pub array: usize,
    /// Tasks of one array that may run at a time.
    pub at_once: Option<u32>,
}

fn array() -> usize {
    ARRAY
}

impl Site {
    /// Reads the file of a cluster.
    ///
    /// # Errors
    /// When it cannot be read, or says what cannot be used.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = input::given(path).map_err(|source| Error::Unread {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&String::from_utf8_lossy(&bytes)).map_err(|reason| Error::Site {
            path: path.to_owned(),
            reason,
        })
    }

    /// What a file says, or what is wrong with it.
    ///
    /// # Errors
    /// With a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let site: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        let places = [
            ("shared", &site.shared),
            ("node_cache", &site.node_cache),
            ("program", &site.program),
        ];
        for (name, place) in places {
            if !place.is_absolute() {
                return Err(format!(
                    "{name} has to begin with /, so that it means the same on every node"
                ));
            }
        }
        for (name, word) in [("partition", &site.partition), ("account", &site.account)] {
            if word.as_deref().is_some_and(|word| !is_word(word)) {
                return Err(format!("{name} has to be one word of letters and digits"));
            }
        }
        match site.array {
            0 => Err("array has to be 1 at least: so many tasks has one array".to_owned()),
            _ => Ok(site),
        }
    }
}

/// Whether a line of `#SBATCH` takes it as it is.
fn is_word(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-,".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "shared = '/s'\nnode_cache = '/var/tmp/t'\nprogram = '/usr/bin/tollgate'\n";

    #[test]
    fn what_is_not_named_is_the_sites_own() {
        let site = Site::parse(LEAST).unwrap();
        assert_eq!(
            (site.array, site.minutes, site.partition),
            (1000, None, None)
        );
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let with = |line: &str| Site::parse(&format!("{LEAST}{line}\n")).unwrap_err();
        assert!(with("array = 0").contains("array has to be 1 at least"));
        assert!(with("account = 'a\\nb'").contains("one word"));
        assert!(with("partition = ''").contains("one word"));
        assert!(with("walltime = 3").contains("walltime"));
        let here = LEAST.replace("'/s'", "'s'");
        assert!(Site::parse(&here).unwrap_err().contains("begin with /"));
    }
}
