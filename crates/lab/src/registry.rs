//! The guest's benchmarks by name: what they run with when nobody says more,
//! and which files of a kernel they exercise. `data/bench.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;
use tollgate_source::TreePath;

use crate::assets;
use crate::case::{Benchmark, Sweep, Unit};

/// Why there is no benchmark.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none of that name.
    #[error("no benchmark is called {name}; there are: {}", .known.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The table is wrong.
    #[error("data/bench.toml: {0}")]
    Wrong(String),
}

/// All benchmarks of the guest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// One entry a benchmark.
    #[serde(rename = "bench")]
    pub entries: Vec<Entry>,
}

/// A benchmark of the guest and what it runs with by default.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name in the guest.
    pub name: String,
    /// What it does, in one line.
    pub summary: String,
    /// Its parameters by default.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// What an operation is or handles many of.
    pub unit: Option<Unit>,
    /// The benchmark that does all but the thing itself: `signal_null` of
    /// `signal_catch`, as lat_sig defines a signal's cost.
    pub less: Option<String>,
    /// Operations in a repetition.
    pub ops: u64,
    /// Repetitions after the warm-up.
    pub reps: u32,
    /// The files of a kernel tree whose code it runs; one that ends in `/` is
    /// a folder.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether it is a control: a path that next to no patch reaches.
    #[serde(default)]
    pub control: bool,
    /// The guest's sweep of the same path, if it has one.
    pub sweep: Option<String>,
}

impl Registry {
    /// The table that comes along.
    ///
    /// # Errors
    /// When it is wrong.
    pub fn built_in() -> Result<Self, Error> {
        let text = assets::text(&assets::DATA, "bench.toml").unwrap_or_default();
        toml::from_str(text).map_err(|error| Error::Wrong(error.to_string()))
    }

    /// The benchmark of that name.
    ///
    /// # Errors
    /// When there is none, with the names that there are.
    pub fn named(&self, name: &str) -> Result<&Entry, Error> {
        let entry = self.entries.iter().find(|entry| entry.name == name);
        entry.ok_or_else(|| Error::Unknown {
            name: name.to_owned(),
            known: self.names(),
        })
    }

    /// What `name` stands for: the benchmark of that name, or the family whose
    /// names begin with it and an underscore, `signal` for `signal_catch` and
    /// the like.
    ///
    /// # Errors
    /// When there is neither, with the names that there are.
    pub fn family(&self, name: &str) -> Result<Vec<&Entry>, Error> {
        let start = format!("{name}_");
        let entries = self.entries.iter();
        let family: Vec<&Entry> = entries.filter(|e| e.name.starts_with(&start)).collect();
        match (self.named(name), family.is_empty()) {
            (Ok(entry), _) => Ok(vec![entry]),
            (Err(_), false) => Ok(family),
            (Err(error), true) => Err(error),
        }
    }

    /// The names of all benchmarks.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let names = self.entries.iter().map(|entry| entry.name.clone());
        names.collect()
    }

    /// The benchmarks that run code of one of `files`, and are no controls.
    #[must_use]
    pub fn exercising(&self, files: &[TreePath]) -> Vec<&Entry> {
        let meets = |entry: &&Entry| files.iter().any(|file| entry.exercises(file));
        let entries = self.entries.iter().filter(|entry| !entry.control);
        entries.filter(meets).collect()
    }

    /// The controls.
    pub fn controls(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.control)
    }
}

impl Entry {
    fn exercises(&self, file: &TreePath) -> bool {
        self.files
            .iter()
            .any(|known| match known.strip_suffix('/') {
                Some(folder) => file.as_path().starts_with(folder),
                None => *file == known.as_str(),
            })
    }

    /// As a job of a case.
    #[must_use]
    pub fn benchmark(&self) -> Benchmark {
        Benchmark {
            name: self.name.clone(),
            parameters: self.parameters.clone(),
            unit: self.unit.clone(),
            less: None,
            control: self.control,
            on_demand: false,
            ops: self.ops,
            reps: self.reps,
            abi: None,
            cpu: None,
        }
    }

    /// Its sweep as a job of a case.
    #[must_use]
    pub fn sweep_job(&self) -> Option<Sweep> {
        self.sweep.as_ref().map(|name| Sweep {
            name: name.clone(),
            parameters: BTreeMap::new(),
            abi: None,
            cpu: None,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use std::collections::BTreeSet;

    use super::*;

    /// The names that the guest's own table has, of `bench` or `sweep`.
    fn of_the_guest(kind: &str) -> BTreeSet<String> {
        let start = format!("const struct {kind} {kind}_");
        let mut names = BTreeSet::new();
        for (path, bytes) in assets::files(&assets::GUEST) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            if !path.ends_with(".c") || !text.contains(&start) {
                continue;
            }
            for part in text.split(&start).skip(1) {
                let name = part.split(".name = \"").nth(1);
                let name = name.and_then(|rest| rest.split('"').next());
                names.extend(name.filter(|_| !part.starts_with('*')).map(str::to_owned));
            }
        }
        names
    }

    #[test]
    fn every_benchmark_of_the_guest_has_an_entry_and_no_other() {
        let registry = Registry::built_in().unwrap();
        let names: BTreeSet<String> = registry.names().into_iter().collect();
        assert_eq!(names.len(), registry.entries.len(), "a name is there twice");
        assert_eq!(names, of_the_guest("bench"));
        let sweeps = of_the_guest("sweep");
        for entry in &registry.entries {
            assert_eq!(entry.control, entry.files.is_empty(), "{}", entry.name);
            assert!(
                entry.less.iter().all(|less| names.contains(less)),
                "{}",
                entry.name
            );
            assert!(
                entry
                    .sweep
                    .as_ref()
                    .is_none_or(|name| sweeps.contains(name)),
                "{}",
                entry.name
            );
        }
        assert!(registry.controls().count() > 0);
    }

    #[test]
    fn a_family_is_the_names_that_begin_alike() {
        let registry = Registry::built_in().unwrap();
        let names = |name: &str| -> Vec<String> {
            let entries = registry.family(name).unwrap().into_iter();
            entries.map(|entry| entry.name.clone()).collect()
        };
        let signals = names("signal");
        assert!(signals.len() > 2 && signals.contains(&"signal_catch".to_owned()));
        assert!(!signals.contains(&"sigaltstack".to_owned()));
        assert_eq!(
            names("sync_ptr"),
            ["sync_ptr"],
            "a whole name is one benchmark"
        );
        assert_eq!(names("poll"), ["poll"]);
        assert!(registry.family("sig").is_err() && registry.family("").is_err());
    }

    #[test]
    fn a_patch_finds_what_runs_its_files() {
        let registry = Registry::built_in().unwrap();
        let found = |file: &str| -> Vec<String> {
            let entries = registry.exercising(&[TreePath::within(file)]).into_iter();
            entries.map(|entry| entry.name.clone()).collect()
        };
        assert!(found("fs/eventpoll.c").contains(&"epoll_wait".to_owned()));
        assert_eq!(found("drivers/nowhere.c"), Vec::<String>::new());
        let error = registry.named("nosuch").unwrap_err().to_string();
        assert!(
            error.contains("there are: ") && error.contains("getppid"),
            "{error}"
        );
    }
}
