//! The guest's benchmarks by name: what they run with when nobody says more, what
//! they take, and which files of a kernel they exercise. `data/bench.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;
use tollgate_source::TreePath;

use crate::assets;
use crate::case::{BenchmarkPlan, Sweep, UnitPlan};
use crate::parameter::{Parameter, PlanLimits};

/// Why there is no benchmark.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The table is not there.
    #[error(transparent)]
    Defect(#[from] tollgate_defect::Defect),
    /// There is none of that name.
    #[error("no benchmark is called {name}; there are: {}", .known.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// There is no sweep of that name.
    #[error("no sweep is called {name}; there are: {}", .known.join(", "))]
    UnknownSweep {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A benchmark or a sweep does not take a value.
    #[error("{job} does not take {name}={value}: it takes {takes}")]
    Value {
        /// The benchmark or the sweep.
        job: String,
        /// The parameter.
        name: String,
        /// The value that was asked for.
        value: i64,
        /// The values that it takes.
        takes: String,
    },
    /// A benchmark or a sweep has no such parameter.
    #[error("{job} has no parameter {name}; it has: {}", listed(.known))]
    Parameter {
        /// The benchmark or the sweep.
        job: String,
        /// The name that was asked for.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A plan cannot ask for so many.
    #[error("{job} asks for {what}={number}: a guest takes {takes}")]
    Count {
        /// The benchmark.
        job: String,
        /// `ops` or `reps`.
        what: &'static str,
        /// How many were asked for.
        number: u64,
        /// How many there may be.
        takes: String,
    },
    /// The table is wrong.
    #[error("data/bench.toml: {0}")]
    Wrong(String),
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}

/// All benchmarks and sweeps of the guest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registry {
    /// What a plan can hold.
    pub plan: PlanLimits,
    /// One entry a benchmark.
    #[serde(rename = "bench")]
    pub entries: Vec<Entry>,
    /// One entry a sweep.
    #[serde(rename = "sweep")]
    pub sweeps: Vec<SweepEntry>,
}

/// A sweep of the guest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepEntry {
    /// Its name in the guest.
    pub name: String,
    /// Its parameters, in the guest's order.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
}

/// A benchmark of the guest and what it runs with by default.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name in the guest.
    pub name: String,
    /// What it does, in one line.
    pub summary: String,
    /// Its parameters, in the guest's order.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// What an operation is or handles many of.
    pub unit: Option<UnitPlan>,
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
        let text = assets::own(&assets::DATA, "bench.toml")?;
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

    /// The parameter of a benchmark, where both are known.
    #[must_use]
    pub fn parameter(&self, benchmark: &str, name: &str) -> Option<&Parameter> {
        let entry = self.entries.iter().find(|entry| entry.name == benchmark)?;
        entry.parameters.iter().find(|known| known.name == name)
    }

    /// Checks that a guest takes what a job asks for.
    ///
    /// # Errors
    /// When the benchmark is unknown, has no such parameter, or does not take a
    /// value or a number.
    pub fn check(&self, job: &BenchmarkPlan) -> Result<(), Error> {
        let entry = self.named(&job.name)?;
        values(&job.name, &entry.parameters, &job.parameters)?;
        let counts = [
            ("ops", job.ops, &self.plan.ops),
            ("reps", job.reps.into(), &self.plan.reps),
        ];
        match counts
            .into_iter()
            .find(|(_, count, limits)| !limits.hold(*count))
        {
            None => Ok(()),
            Some((what, number, limits)) => Err(Error::Count {
                job: job.name.clone(),
                what,
                number,
                takes: limits.to_string(),
            }),
        }
    }

    /// The same for a sweep.
    ///
    /// # Errors
    /// As [`Registry::check`].
    pub fn check_sweep(&self, job: &Sweep) -> Result<(), Error> {
        let entry = self.sweeps.iter().find(|entry| entry.name == job.name);
        let entry = entry.ok_or_else(|| Error::UnknownSweep {
            name: job.name.clone(),
            known: self.sweeps.iter().map(|entry| entry.name.clone()).collect(),
        })?;
        let name = format!("the sweep {}", job.name);
        values(&name, &entry.parameters, &job.parameters)
    }

    /// The controls.
    pub fn controls(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.control)
    }
}

fn values(job: &str, known: &[Parameter], wanted: &BTreeMap<String, i64>) -> Result<(), Error> {
    for (name, value) in wanted {
        let parameter = known.iter().find(|known| known.name == *name);
        let parameter = parameter.ok_or_else(|| Error::Parameter {
            job: job.to_owned(),
            name: name.clone(),
            known: known.iter().map(|known| known.name.clone()).collect(),
        })?;
        if !parameter.takes(*value) {
            return Err(Error::Value {
                job: job.to_owned(),
                name: name.clone(),
                value: *value,
                takes: parameter.to_string(),
            });
        }
    }
    Ok(())
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
    pub fn benchmark(&self) -> BenchmarkPlan {
        let named = self.parameters.iter().filter(|known| !known.silent);
        let named = named.map(|known| (known.name.clone(), known.standard));
        BenchmarkPlan {
            name: self.name.clone(),
            parameters: named.collect(),
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
    fn every_benchmark_and_sweep_of_the_guest_has_an_entry_and_no_other() {
        let registry = Registry::built_in().unwrap();
        let names: BTreeSet<String> = registry.names().into_iter().collect();
        assert_eq!(names.len(), registry.entries.len(), "a name is there twice");
        assert_eq!(names, of_the_guest("bench"));
        let sweeps: BTreeSet<String> = registry.sweeps.iter().map(|s| s.name.clone()).collect();
        assert_eq!(sweeps.len(), registry.sweeps.len(), "a name is there twice");
        assert_eq!(sweeps, of_the_guest("sweep"));
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

    /// A table of its own in the guest would be a second opinion.
    #[test]
    fn the_guest_takes_every_parameter_from_the_table() {
        let registry = Registry::built_in().unwrap();
        let names = |kind: &str, name: &str| format!("PARAMS_{kind}_{}", name.to_uppercase());
        let benches = registry.entries.iter().filter(|e| !e.parameters.is_empty());
        let benches = benches.map(|e| names("BENCH", &e.name));
        let sweeps = registry.sweeps.iter().filter(|s| !s.parameters.is_empty());
        let sweeps = sweeps.map(|s| names("SWEEP", &s.name));
        let wanted: BTreeSet<String> = benches.chain(sweeps).collect();
        let mut found = BTreeSet::new();
        for (path, bytes) in assets::files(&assets::GUEST) {
            let text = String::from_utf8_lossy(bytes).into_owned();
            for part in text.split(".params = ").skip(1) {
                let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let name = part.get(..end.unwrap_or(part.len())).unwrap();
                assert!(wanted.contains(name), "{path}: {part:.60}");
                found.insert(name.to_owned());
            }
        }
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_job_names_what_is_not_silent_with_its_standard() {
        let registry = Registry::built_in().unwrap();
        for entry in &registry.entries {
            let job = entry.benchmark();
            for known in &entry.parameters {
                let given = job.parameters.get(&known.name).copied();
                let wanted = (!known.silent).then_some(known.standard);
                assert_eq!(given, wanted, "{}: {}", entry.name, known.name);
            }
            assert_eq!((job.ops, job.reps), (entry.ops, entry.reps));
            assert_eq!((job.name, job.control), (entry.name.clone(), entry.control));
        }
        let silent = |entry: &Entry| entry.parameters.iter().any(|known| known.silent);
        assert!(registry.entries.iter().any(silent));
    }

    #[test]
    fn what_a_guest_does_not_take_is_a_sentence() {
        let registry = Registry::built_in().unwrap();
        let job = |name: &str, key: &str, value: i64| {
            let mut job = registry.named(name).unwrap().benchmark();
            job.parameters.insert(key.to_owned(), value);
            job
        };
        let said = |job: &BenchmarkPlan| registry.check(job).unwrap_err().to_string();
        assert_eq!(
            said(&job("epoll_wait", "events", 4097)),
            "epoll_wait does not take events=4097: it takes events=1 to 4096"
        );
        assert_eq!(
            said(&job("poll", "events", 1)),
            "poll has no parameter events; it has: fds"
        );
        registry.check(&job("sync_ptr", "layout", 136)).unwrap();
        registry.check(&job("pipe_bulk", "look", 64)).unwrap();
        assert!(said(&job("pipe_bulk", "look", 12)).contains("in steps of 8"));
        let mut many = job("poll", "fds", 1);
        many.ops = 0;
        assert!(said(&many).contains("asks for ops=0: a guest takes 1 to 1000000000"));
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
