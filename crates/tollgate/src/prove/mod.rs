//! The whole pipeline, from a tree to a verdict.

mod booth;
mod lab;
mod results;
mod variant;

use tollgate_measure::{Booted, Comparison, Setting};

use crate::cmd::prove::Args;
use crate::exit::Exit;
use crate::progress::Steps;
use crate::term::Term;
use booth::Booth;
use lab::Bench;
use variant::Candidate;

/// Finds, fixes, builds, boots, counts, compares, and says what came of it.
///
/// # Errors
/// A sentence, when any step could not be done.
pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    results::check(args)?;
    let steps = Steps::new(term);
    let bench = Bench::open(args, &steps)?;
    let candidate = variant::candidate(args, &bench, &steps)?;
    let comparison = compare(&bench, &candidate, &steps)?;
    drop(steps);
    let written = results::write(args, &bench, candidate, &comparison)?;
    let text = tollgate_report::comparison::terminal(&comparison, term.color_stdout());
    term.result(&format!("{text}\n{written}"))?;
    Exit::from_code(comparison.verdict.exit_code())
}

fn compare(
    bench: &Bench<'_>,
    candidate: &Candidate,
    steps: &Steps<'_>,
) -> anyhow::Result<Comparison> {
    let base = bench.image(&variant::base(), "build kernel A", steps)?;
    let changed = bench.image(&candidate.variant, "build kernel B", steps)?;
    let booth = Booth::open(bench, steps)?;
    let before = booth.count(&base, "boot and count A", steps)?;
    let again = booth.count(&base, "boot and count A again", steps)?;
    let after = booth.count(&changed, "boot and count B", steps)?;
    let setting = setting(bench, candidate);
    Ok(Comparison::new(
        setting,
        &bench.benchmarks(),
        Booted {
            image: base.name(),
            run: &before,
        },
        Some(&again),
        Booted {
            image: changed.name(),
            run: &after,
        },
    ))
}

fn setting(bench: &Bench<'_>, candidate: &Candidate) -> Setting {
    Setting {
        subject: bench.case.about.name.clone(),
        tollgate: env!("CARGO_PKG_VERSION").to_owned(),
        tree: bench.tree.version().to_owned(),
        arch: bench.machine.name.clone(),
        compiler: bench.compiler.version.clone(),
        config: bench.fragment.name.clone(),
        qemu: bench.qemu.version.clone(),
        plugin_api: bench.qemu.plugin_api,
        cpu: bench.machine.cpu.clone(),
        command_line: bench.machine.command_line(),
        find: candidate.fixes.first().and_then(|fixed| fixed.find.clone()),
        patch: candidate.patch.clone(),
    }
}
