//! Benchmarks on the machine that tollgate runs on: jobs, operations, rounds.

mod jobs;
mod parallel;
pub(crate) mod request;
mod rounds;
mod setup;

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use tollgate_lab::input;
use tollgate_measure::{Against, Timings};
use tollgate_report::timing as render;

use tollgate_source::shown;

use crate::exit::Exit;
use crate::output::Form;
use crate::place;
use crate::progress::Steps;
use crate::term::Term;
use request::Request;
use rounds::Session;
use setup::Setup;

/// Compiles the guest, chooses operations, times, and prints what came of it.
///
/// # Errors
/// A sentence, when nothing could be measured.
pub(crate) fn run(request: &Request, term: &Term) -> anyhow::Result<Exit> {
    check_places(request)?;
    let earlier = request.against.as_deref().map(earlier).transpose()?;
    let jobs = jobs::choose(request)?;
    let steps = Steps::new(term);
    let setup = Setup::open(request, term)?;
    let timings = time(&setup, jobs, &steps).map_err(|error| stopped(&setup, error))?;
    drop(steps);
    measured(&timings)?;
    let against = earlier.map(|earlier| Against::new(&earlier, &timings, request.floor));
    let code = against.as_ref().map_or(0, exit_code);
    let document = render::json(&timings, against.as_ref(), code)?;
    let kept = match &request.output.json {
        Some(place) => place.set_aside(&document, render::timed_in)?,
        None => None,
    };
    let written = request.output.write(term, |form| {
        Ok(match form {
            Form::Json => document.clone().into(),
            _ => render::document(&timings, against.as_ref()).into(),
        })
    });
    if let Some(kept) = kept {
        let kept = tollgate_source::shown(&kept);
        term.note(&format!(
            "the earlier run has times that this one lacks: it is {kept} now"
        ));
    }
    written?;
    match code {
        2 => bail!("the earlier run has none of these benchmarks: there is nothing to compare"),
        code => Exit::from_code(code),
    }
}

fn time(
    setup: &Setup<'_>,
    jobs: Vec<tollgate_lab::rounds::Job>,
    steps: &Steps<'_>,
) -> anyhow::Result<Timings> {
    let mut session = Session::start(setup, jobs, steps)?;
    session.choose_operations(steps)?;
    session.time(steps)
}

/// Times of half the rounds are no times, unlike half a series of images.
fn stopped(setup: &Setup<'_>, error: anyhow::Error) -> anyhow::Error {
    match setup.runner.interrupt().is_set() {
        true => anyhow!("interrupted; of the rounds so far nothing is kept: run it again"),
        false => error,
    }
}

fn check_places(request: &Request) -> anyhow::Result<()> {
    let earlier = request.against.as_deref().map(|path| ("--against", path));
    let program = request.program.first();
    let program = program.map(|path| ("the program", Path::new(path)));
    let inputs: Vec<_> = earlier.into_iter().chain(program).collect();
    place::check(&request.output.places(), &inputs)
}

/// An earlier run's times.
fn earlier(path: &Path) -> anyhow::Result<Timings> {
    let bytes = input::given(path).with_context(|| format!("could not read {}", shown(path)))?;
    render::read(&bytes).with_context(|| format!("--against {} cannot be used", shown(path)))
}

/// Says why, where nothing was.
fn measured(timings: &Timings) -> anyhow::Result<()> {
    if !timings.timings.is_empty() {
        return Ok(());
    }
    let reasons = timings.not_run.iter();
    let reasons: Vec<String> = reasons
        .map(|skip| format!("  {}: {}", skip.job, skip.reason))
        .collect();
    bail!("nothing could be measured:\n{}", reasons.join("\n"))
}

fn exit_code(against: &Against) -> u8 {
    match (against.changes.is_empty(), against.slower().next()) {
        (true, _) => 2,
        (false, Some(_)) => 1,
        (false, None) => 0,
    }
}
