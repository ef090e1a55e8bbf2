//! What is timed: the benchmarks that the command line names, for each ABI.

use anyhow::{Context, bail};
use tollgate_lab::case::{BenchmarkPlan, Station};
use tollgate_lab::host;
use tollgate_lab::machine::Machine;
use tollgate_lab::registry::{Entry, Registry};
use tollgate_lab::rounds::Job;

use super::request::Request;
use crate::prove::jobs::sweep;

/// What stands for every benchmark.
const ALL: &str = "all";

/// The jobs in the order of a round.
///
/// # Errors
/// When a name is of no benchmark, or none has a parameter that was given.
pub(crate) fn choose(request: &Request) -> anyhow::Result<Vec<Job>> {
    let registry = Registry::built_in()?;
    known_abis(&request.abi)?;
    let entries = match (request.benchmarks.as_slice(), request.program.as_slice()) {
        ([], [_, ..]) => program_alone(request)?,
        (names, _) => named(names, &registry)?,
    };
    let benchmarks: Vec<BenchmarkPlan> = entries
        .iter()
        .map(|entry| one_round(request, entry))
        .collect();
    let benchmarks = sweep(&benchmarks, &request.param, &registry)?;
    let of_abi = |abi: Option<String>| {
        benchmarks.iter().map(move |benchmark| Job {
            per: per(benchmark),
            own: false,
            benchmark: BenchmarkPlan {
                abi: abi.clone(),
                ..benchmark.clone()
            },
        })
    };
    let own = host::architecture()?;
    let jobs: Vec<Job> = abis(&request.abi, own)
        .into_iter()
        .flat_map(of_abi)
        .collect();
    for job in &jobs {
        registry.check(&job.benchmark)?;
    }
    Ok(jobs)
}

/// No benchmark, and no flag that only a benchmark would obey.
fn program_alone(request: &Request) -> anyhow::Result<Vec<&'static Entry>> {
    let idle = [
        ("--ops", request.ops.is_some()),
        ("--param", !request.param.is_empty()),
        ("--abi", !request.abi.is_empty()),
    ];
    match idle.into_iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            bail!("{flag} is for benchmarks, and none is named: the program runs as it is")
        }
        None => Ok(Vec::new()),
    }
}

fn known_abis(names: &[String]) -> anyhow::Result<()> {
    let machine = this_machine()?;
    for name in names {
        machine.station(&Station {
            abi: Some(name.clone()),
            cpu: None,
        })?;
    }
    Ok(())
}

/// The machine that tollgate itself runs on.
///
/// # Errors
/// When no guest can be compiled for it.
pub(crate) fn this_machine() -> anyhow::Result<Machine> {
    let own = host::architecture()?;
    Machine::named(own).context("the benchmarks cannot be compiled for this machine")
}

/// Each entry once, in the order in which they were named.
fn named<'a>(names: &[String], registry: &'a Registry) -> anyhow::Result<Vec<&'a Entry>> {
    if names.is_empty() {
        bail!(
            "nothing to time: name benchmarks, a family (signal), or all; there are:\n{}",
            listed(registry)
        );
    }
    let mut entries: Vec<&Entry> = Vec::new();
    for name in names {
        let found = match name.as_str() {
            ALL => registry.entries.iter().collect(),
            name => registry.family(name)?,
        };
        let new = |entry: &&Entry| entries.iter().all(|known| known.name != entry.name);
        let found: Vec<&Entry> = found.into_iter().filter(new).collect();
        entries.extend(found);
    }
    Ok(entries)
}

fn listed(registry: &Registry) -> String {
    let width = registry.entries.iter().map(|entry| entry.name.len()).max();
    let width = width.unwrap_or_default() + 2;
    let line = |entry: &Entry| format!("  {:width$}{}", entry.name, entry.summary);
    let lines: Vec<String> = registry.entries.iter().map(line).collect();
    lines.join("\n")
}

/// One repetition after as many as warm up, in a process of its own.
fn one_round(request: &Request, entry: &Entry) -> BenchmarkPlan {
    BenchmarkPlan {
        ops: request.ops.unwrap_or(entry.ops),
        reps: request.warmup,
        less: entry.less.clone(),
        ..entry.benchmark()
    }
}

/// `signal`, where an operation is one; `call`, where it handles many.
fn per(benchmark: &BenchmarkPlan) -> String {
    let whole = benchmark
        .unit
        .as_ref()
        .filter(|unit| unit.parameter.is_none());
    whole.map_or_else(|| "call".to_owned(), |unit| unit.name.clone())
}

/// Each once; the machine's own has no name in figures.
fn abis(names: &[String], own: &str) -> Vec<Option<String>> {
    let mut all: Vec<Option<String>> = Vec::new();
    for name in names {
        let abi = Some(name.clone()).filter(|name| name != own);
        if !all.contains(&abi) {
            all.push(abi);
        }
    }
    match all.is_empty() {
        true => vec![None],
        false => all,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;

    fn names(wanted: &[&str]) -> Vec<String> {
        let registry = Registry::built_in().unwrap();
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        let entries = named(&wanted, &registry).unwrap();
        entries.iter().map(|entry| entry.name.clone()).collect()
    }

    #[test]
    fn a_benchmark_that_is_named_twice_runs_once() {
        assert_eq!(names(&["getppid", "getppid"]), ["getppid"]);
        let mixed = names(&["signal_null", "signal"]);
        assert_eq!(
            mixed.iter().filter(|name| *name == "signal_null").count(),
            1
        );
        assert_eq!(mixed.first().unwrap(), "signal_null");
        let registry = Registry::built_in().unwrap();
        assert_eq!(names(&["all"]), registry.names());
    }

    #[test]
    fn without_a_name_they_are_listed() {
        let registry = Registry::built_in().unwrap();
        let error = named(&[], &registry).unwrap_err().to_string();
        assert!(error.contains("\n  getppid "), "{error}");
        let error = named(&["nosuch".to_owned()], &registry)
            .unwrap_err()
            .to_string();
        assert!(error.contains("no benchmark is called nosuch"), "{error}");
    }

    #[test]
    fn the_machine_s_own_abi_has_no_name() {
        let own = "x86_64";
        assert_eq!(abis(&[], own), [None]);
        assert_eq!(
            abis(&["ia32".into(), own.into(), "ia32".into()], own),
            [Some("ia32".into()), None]
        );
    }
}
