//! What a site's cluster is: one file for all who use it (`docs/cluster.md`).

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tollgate_defect::answer;
use toml::{Table, Value};

use super::Error;
use crate::input;

/// Tasks of an array where nobody says: Slurm's own `MaxArraySize` is 1001, and the
/// first is number 0.
const ARRAY: usize = 1000;

/// What Slurm puts the name of the node in place of (sbatch(1), filename pattern).
const NODE: &str = "%N";

/// What the file says. What it does not name is as the site has it by default.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// A folder that this machine and every node see under the same name.
    pub shared: PathBuf,
    /// A folder on each node's own disk, where it keeps what it prepared; `%N` in it is
    /// the name of the node.
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
    /// Further options of sbatch, `--qos=low`.
    #[serde(default)]
    pub options: Vec<String>,
}

fn array() -> usize {
    ARRAY
}

impl Site {
    /// Reads the file of a cluster, where there is one; `given` stands in the place of
    /// what it says.
    ///
    /// # Errors
    /// When it cannot be read, or what there is cannot be used.
    pub fn read(path: Option<&Path>, given: &[(String, String)]) -> Result<Self, Error> {
        let text = match path {
            None if given.is_empty() => return Err(Error::NoSite),
            None => String::new(),
            Some(path) => {
                let bytes = input::given(path).map_err(|source| Error::Unread {
                    path: path.to_owned(),
                    source,
                })?;
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        Self::parse(&text, given).map_err(|reason| Error::Site {
            path: path.map(Path::to_owned),
            reason,
        })
    }

    /// What a file says with what is given beside it, or what is wrong with that.
    ///
    /// # Errors
    /// With a sentence.
    pub fn parse(text: &str, given: &[(String, String)]) -> Result<Self, String> {
        let table: Result<Table, toml::de::Error> = toml::from_str(text);
        let mut table = table.map_err(|error| error.to_string().trim_end().to_owned())?;
        for (key, value) in given {
            table.insert(key.clone(), value_of(key, value));
        }
        let site: Result<Self, toml::de::Error> = table.try_into();
        let site = site.map_err(|error| with_line(text, error.message()))?;
        site.check().map(|()| site)
    }

    fn check(&self) -> Result<(), String> {
        let places = [
            ("shared", &self.shared),
            ("node_cache", &self.node_cache),
            ("program", &self.program),
        ];
        for (name, place) in places {
            if !place.is_absolute() {
                return Err(format!(
                    "{name} has to begin with /, so that it means the same on every node"
                ));
            }
        }
        for (name, word) in [("partition", &self.partition), ("account", &self.account)] {
            if word.as_deref().is_some_and(|word| !is_word(word)) {
                return Err(format!("{name} has to be one word of letters and digits"));
            }
        }
        if let Some(wrong) = self.options.iter().find(|option| !is_option(option)) {
            return Err(format!(
                "options has {wrong:?}: each has to be one option of sbatch, --NAME or --NAME=VALUE"
            ));
        }
        match self.array {
            0 => Err("array has to be 1 at least: so many tasks has one array".to_owned()),
            _ => Ok(()),
        }
    }

    /// The folder of a node, as its shell takes it.
    pub(super) fn room(&self) -> String {
        let room = quoted(&self.node_cache);
        room.replace(NODE, "'\"$SLURMD_NODENAME\"'")
    }
}

/// A name as a shell takes it.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

/// Keys whose values are text, whatever that is: a partition may be called 2026.
const TEXT: [&str; 5] = ["shared", "node_cache", "program", "partition", "account"];

/// The value of a key as it is given in a word; options are set apart by blanks.
fn value_of(key: &str, word: &str) -> Value {
    let text = |word: &str| Value::String(word.to_owned());
    if key == "options" {
        return Value::Array(word.split_whitespace().map(text).collect());
    }
    match answer::number(word).filter(|_| !TEXT.contains(&key)) {
        Some(number) => Value::Integer(number),
        None => text(word),
    }
}

/// What is wrong, with the line of the file where it is the file's.
fn with_line(text: &str, wrong: &str) -> String {
    if wrong.starts_with("missing field") {
        return format!("{wrong} (docs/cluster.md has what has to be in it)");
    }
    match toml::from_str::<Site>(text) {
        Err(error) if error.message() == wrong => error.to_string().trim_end().to_owned(),
        Ok(_) | Err(_) => format!("{wrong} (in what --slurm says)"),
    }
}

/// Whether a line of `#SBATCH` takes it as it is.
fn is_word(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-,".contains(c);
    !word.is_empty() && word.chars().all(plain)
}

fn is_option(option: &str) -> bool {
    let plain = |c: char| c.is_ascii_graphic() && !"'\"\\#`$".contains(c);
    option.starts_with("--") && option.len() > 2 && option.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "shared = '/s'\nnode_cache = '/var/tmp/t'\nprogram = '/usr/bin/tollgate'\n";

    fn given(words: &[(&str, &str)]) -> Vec<(String, String)> {
        let pair = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        words.iter().map(pair).collect()
    }

    #[test]
    fn what_is_not_named_is_the_sites_own() {
        let site = Site::parse(LEAST, &[]).unwrap();
        assert_eq!(
            (site.array, site.minutes, site.partition),
            (1000, None, None)
        );
    }

    #[test]
    fn what_is_given_stands_in_the_files_place() {
        let file = format!("{LEAST}partition = 'build'\nminutes = 90\n");
        let site = Site::parse(&file, &given(&[("partition", "debug"), ("array", "7")])).unwrap();
        assert_eq!(site.partition.as_deref(), Some("debug"));
        assert_eq!((site.minutes, site.array), (Some(90), 7));
        let given_words = [("partition", "2026"), ("options", "--qos=low --nice")];
        let site = Site::parse(LEAST, &given(&given_words)).unwrap();
        assert_eq!(site.partition.as_deref(), Some("2026"));
        assert_eq!(site.options, ["--qos=low", "--nice"]);
        let all = [("shared", "/s"), ("node_cache", "/c"), ("program", "/p")];
        assert_eq!(
            Site::parse("", &given(&all)).unwrap().program,
            Path::new("/p")
        );
        let lacks = Site::parse("", &given(&all[..2])).unwrap_err();
        assert!(lacks.contains("program"), "{lacks}");
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        let with = |line: &str| Site::parse(&format!("{LEAST}{line}\n"), &[]).unwrap_err();
        assert!(with("array = 0").contains("array has to be 1 at least"));
        assert!(with("account = 'a\\nb'").contains("one word"));
        assert!(with("partition = ''").contains("one word"));
        let unknown = with("walltime = 3");
        assert!(
            unknown.contains("line 4") && unknown.contains("unknown field `walltime`"),
            "{unknown}"
        );
        assert!(with("minutes = 'long'").contains("line 4"));
        let word = Site::parse(LEAST, &given(&[("minutes", "long")])).unwrap_err();
        assert!(
            word.contains("invalid type") && !word.contains("line"),
            "{word}"
        );
        let nothing = Site::read(None, &[]).unwrap_err().to_string();
        assert!(nothing.contains("--cluster FILE"), "{nothing}");
        assert!(with("options = ['qos']").contains("one option of sbatch"));
        assert!(with("options = ['--wrap=a b']").contains("one option of sbatch"));
        let here = LEAST.replace("'/s'", "'s'");
        assert!(
            Site::parse(&here, &[])
                .unwrap_err()
                .contains("begin with /")
        );
    }

    #[test]
    fn a_node_has_its_name_in_its_folder() {
        let site = Site::parse(&LEAST.replace("/var/tmp/t", "/scratch/%N/t"), &[]).unwrap();
        assert_eq!(site.room(), "'/scratch/'\"$SLURMD_NODENAME\"'/t'");
    }
}
