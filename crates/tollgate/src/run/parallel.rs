//! The same benchmark in several processes at once, each on a CPU of its own.

use std::thread;

use anyhow::anyhow;
use tollgate_lab::host;
use tollgate_lab::native::Native;
use tollgate_lab::rounds::Serial;
use tollgate_measure::{Results, Skip, Timing, Timings};

use super::setup::{Guest, Setup};
use crate::progress::Steps;

/// Times every benchmark with so many processes at once, as many rounds as it was timed
/// alone; adds what came of it, and why it could not be.
///
/// # Errors
/// When a process cannot be run, or the user asked to stop.
pub(crate) fn add(
    setup: &Setup<'_>,
    guests: &[Guest],
    serial: &[Serial],
    all: &mut Timings,
    steps: &Steps<'_>,
) -> anyhow::Result<()> {
    // Of a machine with more, those that are asked for are enough.
    const MOST: usize = 4096;
    let allowed = host::allowed_cpus();
    let cpus: Vec<usize> = allowed
        .iter()
        .flat_map(|cpus| cpus.numbers())
        .take(MOST)
        .collect();
    let mut known = Vec::new();
    for count in setup
        .request
        .parallel
        .iter()
        .copied()
        .filter(|count| *count > 1)
    {
        if known.contains(&count) {
            continue;
        }
        known.push(count);
        let chosen = cpus.get(..count);
        let what = format!("time {} benchmarks, {count} at once", serial.len());
        let Some(chosen) = chosen else {
            all.not_run
                .extend(serial.iter().map(|one| too_few(one, count, cpus.len())));
            continue;
        };
        let work = || {
            for one in serial {
                let timed = timed(setup, guests, one, chosen)?;
                match timed {
                    Ok(timing) => all.timings.push(timing),
                    Err(skip) => all.not_run.push(skip),
                }
            }
            Ok::<_, anyhow::Error>(())
        };
        steps.step(&what, work, |()| format!("on the CPUs {chosen:?}"))?;
    }
    Ok(())
}

fn too_few(serial: &Serial, count: usize, cpus: usize) -> Skip {
    Skip {
        job: serial.in_parallel(count).workload.to_string(),
        reason: format!("it takes {count} CPUs, and this process may run on {cpus}"),
    }
}

fn timed(
    setup: &Setup<'_>,
    guests: &[Guest],
    serial: &Serial,
    cpus: &[usize],
) -> anyhow::Result<Result<Timing, Skip>> {
    let mut timing = serial.in_parallel(cpus.len());
    let abi = &serial.benchmark.abi;
    let guest = guests.iter().find(|guest| guest.abi == *abi);
    let guest = guest.ok_or_else(|| anyhow!("no program of the ABI of {}", timing.workload))?;
    let plan = serial.plan_together();
    for _ in 0..setup.request.reps {
        match once(setup, guest, &plan, cpus)? {
            Ok(time) => timing.nanoseconds.push(time),
            Err(reason) => {
                return Ok(Err(Skip {
                    job: timing.workload.to_string(),
                    reason,
                }));
            }
        }
    }
    Ok(Ok(timing))
}

/// What the benchmark took in so many processes.
fn once(
    setup: &Setup<'_>,
    guest: &Guest,
    plan: &str,
    cpus: &[usize],
) -> anyhow::Result<Result<u64, String>> {
    let consoles: Vec<anyhow::Result<Results>> = thread::scope(|scope| {
        let start = |cpu: &usize| {
            let cpu = *cpu;
            scope.spawn(move || process(setup, guest, plan, cpu))
        };
        let running: Vec<_> = cpus.iter().map(start).collect();
        let joined = running.into_iter().map(|one| match one.join() {
            Ok(results) => results,
            Err(_) => Err(anyhow!("a thread that waits for a process ended early")),
        });
        joined.collect()
    });
    let results: anyhow::Result<Vec<Results>> = consoles.into_iter().collect();
    Ok(Serial::time_together(&results?))
}

fn process(setup: &Setup<'_>, guest: &Guest, plan: &str, cpu: usize) -> anyhow::Result<Results> {
    let scratch = setup.cache.scratch()?;
    let native = Native {
        guest: &guest.program,
        cpu: Some(cpu),
        limit: setup.request.timeout,
    };
    let console = native.run(plan, scratch.path(), &setup.runner)?;
    Ok(Results::parse(&console)?)
}
