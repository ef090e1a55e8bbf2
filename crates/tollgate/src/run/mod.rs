//! Benchmarks on the machine that tollgate runs on: jobs, operations, rounds.

mod jobs;
mod rounds;
mod stand;

use anyhow::bail;
use tollgate_lab::cache;
use tollgate_report::timing as render;

use crate::cmd::run::Args;
use crate::exit::Exit;
use crate::folders;
use crate::progress::Steps;
use crate::term::Term;
use rounds::Session;
use stand::Stand;

/// Compiles the guest, chooses operations, times, and prints what came of it.
///
/// # Errors
/// A sentence, when nothing could be measured.
pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    if let Some(path) = &args.json {
        folders::check_file("--json", path)?;
    }
    let jobs = jobs::choose(args)?;
    let steps = Steps::new(term);
    let stand = Stand::open(args)?;
    let mut session = Session::start(&stand, jobs, &steps)?;
    session.choose_operations(&steps)?;
    let timings = session.time(&steps)?;
    drop(steps);
    if let (Some(path), false) = (&args.json, timings.timings.is_empty()) {
        cache::write_file(path, render::json(&timings, 0)?.as_bytes())?;
    }
    if timings.timings.is_empty() {
        let reasons = timings.not_run.iter();
        let reasons: Vec<String> = reasons
            .map(|s| format!("  {}: {}", s.job, s.reason))
            .collect();
        bail!("nothing could be measured:\n{}", reasons.join("\n"));
    }
    term.result(&render::text(&timings, term.color_stdout()))?;
    Ok(Exit::Clean)
}
