//! What runs in the guest: the case's benchmarks or those of a patch, as the
//! command line chooses and sweeps them.

use anyhow::bail;
use tollgate_lab::case::{About, BenchmarkPlan, Case};
use tollgate_lab::registry::{Entry, Registry};
use tollgate_source::TreePath;

use super::request::{Param, Request};

/// The case that was named, or one without jobs for a patch of the user's.
///
/// # Errors
/// When neither a case nor a patch is given, or a name is unknown.
pub(crate) fn start(request: &Request) -> anyhow::Result<Case> {
    let registry = Registry::built_in()?;
    let case = match (&request.case, request.patch.first()) {
        (Some(name), _) => fitting(name, &request.arch)?,
        (None, Some(patch)) => nameless(&super::variant::stem(patch)),
        (None, None) if !request.against.is_empty() => nameless("programs"),
        (None, None) if request.series.is_some() => bail!(
            "--series measures the workloads of a case, point by point: name one ({})",
            Case::names().join(", ")
        ),
        (None, None) => bail!(
            "nothing to compare: name a case ({}), or give a patch with --patch FILE",
            Case::names().join(", ")
        ),
    };
    check_params(&request.param, &registry)?;
    for name in &request.bench {
        if case.benchmarks.iter().all(|known| known.name != *name) {
            registry.named(name)?;
        }
    }
    Ok(case)
}

fn fitting(name: &str, arch: &str) -> anyhow::Result<Case> {
    let case = Case::named(name)?;
    case.fits(arch)?;
    Ok(case)
}

fn nameless(subject: &str) -> Case {
    Case {
        about: About {
            name: subject.to_owned(),
            summary: String::new(),
            targets: Vec::new(),
            config: "minimal".to_owned(),
            options: Vec::new(),
            patch: None,
            architectures: Vec::new(),
            default: Vec::new(),
        },
        claims: Vec::new(),
        variants: Vec::new(),
        landed: Vec::new(),
        program: None,
        benchmarks: Vec::new(),
        sweeps: Vec::new(),
    }
}

/// Fills in the jobs: those that were named, else the case's, else those that
/// run code of the files that the patches change.
///
/// # Errors
/// When there is none to choose, or no benchmark has a parameter that was given.
pub(crate) fn choose(request: &Request, case: &mut Case, files: &[TreePath]) -> anyhow::Result<()> {
    let registry = Registry::built_in()?;
    if !request.program.is_empty() && request.bench.is_empty() {
        beside_program(case, &registry, files);
    } else if !request.bench.is_empty() {
        named(&request.bench, case, &registry)?;
    } else if case.benchmarks.is_empty() {
        of_patch(case, &registry, files)?;
    } else if !request
        .variant
        .iter()
        .any(|name| name == super::variant::ALL)
    {
        case.benchmarks.retain(|benchmark| !benchmark.on_demand);
    }
    case.benchmarks = sweep(&case.benchmarks, &request.param, &registry)?;
    Ok(())
}

/// Controls and sweeps: a program of the user's stands for the benchmarks.
fn beside_program(case: &mut Case, registry: &Registry, files: &[TreePath]) {
    if case.benchmarks.is_empty() {
        let sweeps = registry.exercising(files);
        case.sweeps
            .extend(sweeps.into_iter().filter_map(Entry::sweep_job));
    }
    case.benchmarks.retain(|benchmark| benchmark.control);
    control(case, registry);
}

/// Those that were named, the case's where it has them. Controls stay, and so do
/// all sweeps: a faster kernel that behaves otherwise is no gain, whatever is timed.
fn named(names: &[String], case: &mut Case, registry: &Registry) -> anyhow::Result<()> {
    let own = std::mem::take(&mut case.benchmarks);
    for name in names {
        let mut of_case: Vec<BenchmarkPlan> =
            own.iter().filter(|b| b.name == *name).cloned().collect();
        if of_case.is_empty() {
            add(case, registry.named(name)?);
        }
        case.benchmarks.append(&mut of_case);
    }
    let controls = own.into_iter().filter(|benchmark| benchmark.control);
    let controls: Vec<BenchmarkPlan> = controls
        .filter(|control| !names.contains(&control.name))
        .collect();
    case.benchmarks.extend(controls);
    control(case, registry);
    Ok(())
}

fn of_patch(case: &mut Case, registry: &Registry, files: &[TreePath]) -> anyhow::Result<()> {
    let found = registry.exercising(files);
    if found.is_empty() {
        let files: Vec<String> = files.iter().map(TreePath::to_string).collect();
        bail!(
            "no benchmark is known to run code of {}; choose with --bench among: {}",
            files.join(", "),
            registry.names().join(", ")
        );
    }
    found.into_iter().for_each(|entry| add(case, entry));
    control(case, registry);
    Ok(())
}

/// A benchmark with its sweep.
fn add(case: &mut Case, entry: &Entry) {
    case.benchmarks.push(entry.benchmark());
    let known = |name: &str| case.sweeps.iter().any(|sweep| sweep.name == name);
    if let Some(sweep) = entry.sweep_job().filter(|sweep| !known(&sweep.name)) {
        case.sweeps.push(sweep);
    }
}

/// Something that must not move, where nothing is chosen yet. A benchmark that
/// was asked for by name is itself no control.
fn control(case: &mut Case, registry: &Registry) {
    if case.benchmarks.iter().any(|benchmark| benchmark.control) {
        return;
    }
    let controls = registry.controls().map(Entry::benchmark);
    case.benchmarks.extend(controls);
}

/// Each benchmark that has the parameters, once for each combination of their
/// values.
///
/// # Errors
/// When none of them has one of the parameters, or a guest does not take what came
/// of it.
pub(crate) fn sweep(
    benchmarks: &[BenchmarkPlan],
    params: &[Param],
    registry: &Registry,
) -> anyhow::Result<Vec<BenchmarkPlan>> {
    let mut all = benchmarks.to_vec();
    for param in &merged(params) {
        let has = |benchmark: &BenchmarkPlan| has(benchmark, &param.key, registry);
        if !all.iter().any(has) {
            bail!(
                "no benchmark of this run has a parameter {}; they are: {}",
                param.key,
                described(&all, registry)
            );
        }
        all = all
            .iter()
            .flat_map(|benchmark| values(benchmark, param, registry))
            .collect();
    }
    if !params.is_empty() {
        once(&mut all);
    }
    for benchmark in &all {
        registry.check(benchmark)?;
    }
    Ok(all)
}

/// Checks parameters before it is known which benchmarks run.
///
/// # Errors
/// When no benchmark at all has one, or none of those that have it takes a value.
pub(crate) fn check_params(params: &[Param], registry: &Registry) -> anyhow::Result<()> {
    for param in params {
        let entries = registry.entries.iter().map(Entry::benchmark);
        let having: Vec<BenchmarkPlan> = entries
            .filter(|benchmark| has(benchmark, &param.key, registry))
            .collect();
        if having.is_empty() {
            let all: Vec<BenchmarkPlan> = registry.entries.iter().map(Entry::benchmark).collect();
            bail!(
                "no benchmark has a parameter {}; they are: {}",
                param.key,
                described(&all, registry)
            );
        }
        for value in &param.values {
            let with =
                |benchmark: &BenchmarkPlan| registry.check(&set(benchmark, &param.key, *value));
            let mut tried = having.iter().map(with);
            if !tried.clone().any(|taken| taken.is_ok()) {
                tried.next().transpose()?;
            }
        }
    }
    Ok(())
}

/// The values of a parameter that is given several times are all meant.
fn merged(params: &[Param]) -> Vec<Param> {
    let mut all: Vec<Param> = Vec::new();
    for param in params {
        match all.iter_mut().find(|known| known.key == param.key) {
            Some(known) => known.values.extend(&param.values),
            None => all.push(param.clone()),
        }
    }
    all
}

fn has(benchmark: &BenchmarkPlan, key: &str, registry: &Registry) -> bool {
    registry.parameter(&benchmark.name, key).is_some()
}

fn values(benchmark: &BenchmarkPlan, param: &Param, registry: &Registry) -> Vec<BenchmarkPlan> {
    if !has(benchmark, &param.key, registry) {
        return vec![benchmark.clone()];
    }
    let values = param.values.iter();
    values
        .map(|value| set(benchmark, &param.key, *value))
        .collect()
}

fn set(benchmark: &BenchmarkPlan, key: &str, value: i64) -> BenchmarkPlan {
    let mut changed = benchmark.clone();
    changed.parameters.insert(key.to_owned(), value);
    changed
}

/// A case lists a benchmark with several values; swept, they are the same jobs.
/// The one with the fewest operations stays: it fits the largest value.
fn once(benchmarks: &mut Vec<BenchmarkPlan>) {
    let same = |a: &BenchmarkPlan, b: &BenchmarkPlan| {
        a.name == b.name && a.parameters == b.parameters && a.station() == b.station()
    };
    let mut kept: Vec<BenchmarkPlan> = Vec::new();
    for benchmark in benchmarks.drain(..) {
        match kept.iter_mut().find(|known| same(known, &benchmark)) {
            Some(known) => known.ops = known.ops.min(benchmark.ops),
            None => kept.push(benchmark),
        }
    }
    *benchmarks = kept;
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark without an entry has no parameters that could be named"
)]
fn described(benchmarks: &[BenchmarkPlan], registry: &Registry) -> String {
    let one = |benchmark: &BenchmarkPlan| {
        let entry = registry.named(&benchmark.name).ok();
        let parameters = entry.into_iter().flat_map(|entry| &entry.parameters);
        let keys: Vec<&str> = parameters.map(|known| known.name.as_str()).collect();
        match keys.as_slice() {
            [] => format!("{} (none)", benchmark.name),
            keys => format!("{} ({})", benchmark.name, keys.join(", ")),
        }
    };
    let mut all: Vec<String> = benchmarks.iter().map(one).collect();
    all.dedup();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it expects")]

    use super::*;

    fn lines(benchmarks: &[BenchmarkPlan]) -> Vec<String> {
        let line = |b: &BenchmarkPlan| format!("{} {:?} {}", b.name, b.parameters, b.ops);
        benchmarks.iter().map(line).collect()
    }

    fn param(key: &str, values: &[i64]) -> Param {
        Param {
            key: key.into(),
            values: values.to_vec(),
        }
    }

    fn registry() -> Registry {
        Registry::built_in().unwrap()
    }

    #[test]
    fn a_value_that_no_guest_takes_is_a_sentence_before_anything_is_known() {
        let said = |params: &[Param]| {
            let error = check_params(params, &registry()).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            said(&[param("events", &[1, 999_999_999])]),
            "epoll_wait does not take events=999999999: it takes events=1 to 4096"
        );
        assert!(said(&[param("nosuch", &[1])]).contains("no benchmark has a parameter nosuch"));
        // pipe_bulk takes it, alg_sha256 does not.
        check_params(&[param("kib", &[16_384])], &registry()).unwrap();
        let hash = registry().named("alg_sha256").unwrap().benchmark();
        let error = sweep(&[hash], &[param("kib", &[16_384])], &registry()).unwrap_err();
        assert!(
            error.to_string().contains("it takes kib=2 to 64"),
            "{error}"
        );
    }

    #[test]
    fn a_parameter_that_is_given_twice_has_all_its_values() {
        let poll = registry().named("poll").unwrap().benchmark();
        let params = [param("fds", &[1]), param("fds", &[2, 1])];
        let swept = sweep(&[poll], &params, &registry()).unwrap();
        assert_eq!(
            lines(&swept),
            ["poll {\"fds\": 1} 64", "poll {\"fds\": 2} 64"]
        );
    }

    #[test]
    fn a_parameter_that_jobs_do_not_name_can_be_asked_for() {
        let bulk = registry().named("pipe_bulk").unwrap().benchmark();
        let swept = sweep(&[bulk], &[param("look", &[64])], &registry()).unwrap();
        assert_eq!(
            lines(&swept),
            ["pipe_bulk {\"kib\": 4096, \"look\": 64} 10"]
        );
    }

    #[test]
    fn a_parameter_is_swept_over_what_has_it() {
        let case = Case::named("epoll").unwrap();
        let waits: Vec<BenchmarkPlan> = case
            .benchmarks
            .into_iter()
            .filter(|b| b.name == "epoll_wait" || b.control)
            .filter(|b| b.abi.is_none() && b.cpu.is_none())
            .collect();
        let of_wait = waits.iter().filter(|b| b.name == "epoll_wait");
        let fewest = of_wait.map(|b| b.ops).min().unwrap();
        let swept = sweep(&waits, &[param("events", &[2, 1024])], &registry()).unwrap();
        let lines = lines(&swept);
        assert!(
            lines.contains(&format!("epoll_wait {{\"events\": 2}} {fewest}")),
            "{lines:?}"
        );
        assert_eq!(lines.iter().filter(|line| line.contains("1024")).count(), 1);
        assert!(lines.iter().any(|line| line.starts_with("getppid")));
    }

    #[test]
    fn a_parameter_that_nothing_has_is_a_sentence() {
        let case = Case::named("epoll").unwrap();
        let error = sweep(&case.benchmarks, &[param("nosuch", &[1])], &registry()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("no benchmark of this run has a parameter nosuch")
        );
    }

    #[test]
    fn choosing_benchmarks_of_a_case_leaves_its_sweeps() {
        let registry = Registry::built_in().unwrap();
        let mut case = Case::named("fpu-defer").unwrap();
        let of = |case: &Case| case.sweeps.len();
        let all = of(&case);
        named(&["signal_catch".to_owned()], &mut case, &registry).unwrap();
        assert!(all > 0 && of(&case) == all, "{} of {all}", of(&case));
    }

    #[test]
    fn a_patch_finds_its_benchmark_and_a_control() {
        let registry = Registry::built_in().unwrap();
        let mut case = nameless("x");
        of_patch(&mut case, &registry, &[TreePath::within("fs/eventpoll.c")]).unwrap();
        let names: Vec<&str> = case.benchmarks.iter().map(|b| b.name.as_str()).collect();
        assert!(
            names.contains(&"epoll_wait") && names.contains(&"getppid"),
            "{names:?}"
        );
        assert!(case.sweeps.iter().any(|sweep| sweep.name == "epoll_wait"));
        let error =
            of_patch(&mut nameless("x"), &registry, &[TreePath::within("a.c")]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("run code of a.c; choose with --bench"),
            "{error}"
        );
    }
}
