//! A series measured point by point: a build for each state of the tree, and
//! every later point against the first.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tollgate_lab::image::Variant;
use tollgate_lab::series::{self, State};
use tollgate_lab::{assets, cache};
use tollgate_measure::{Benchmark, Booted, Comparison, Run, Series, SeriesPoint};
use tollgate_report::comparison as render;

use super::booth::Booth;
use super::lab::{Bench, Named};
use super::variant::Candidate;
use super::{jobs, results, setting};
use crate::cmd::prove::Args;
use crate::exit::Exit;
use crate::progress::Steps;
use crate::term::Term;

/// The series that a case brings along.
const OWN: &str = "series.mbox";

/// Where in the cache results are kept.
const RESULTS: &str = "results";

/// Builds, boots and counts every point of `wanted`, and says which patch changed
/// what.
///
/// # Errors
/// A sentence, when any step could not be done or nothing can be told.
pub(crate) fn run(args: &Args, wanted: &str, term: &Term) -> anyhow::Result<Exit> {
    results::check(args)?;
    let steps = Steps::new(term);
    let mut bench = Bench::open(args, &steps)?;
    let states = steps.step(
        "read the series",
        || states(wanted, &bench),
        |states| format!("{} patches", states.len().saturating_sub(1)),
    )?;
    let states = choose(states, &args.points)?;
    let files = states.iter().flat_map(|state| state.change.files.keys());
    jobs::choose(args, &mut bench.case, &files.cloned().collect::<Vec<_>>())?;
    let series = measure(&bench, &states, &steps)?;
    drop(steps);
    let written = write(args, &bench, &series)?;
    let text = render::series_terminal(&series);
    term.result(&format!("{text}\n{written}"))?;
    Exit::from_code(series.exit_code())
}

fn states(wanted: &str, bench: &Bench<'_>) -> anyhow::Result<Vec<State>> {
    let (tree, cache, runner) = (&bench.tree, &bench.cache, &bench.runner);
    let path = Path::new(wanted);
    if wanted.is_empty() {
        return own(bench);
    }
    if !path.exists() && wanted.contains("..") {
        return Ok(series::range(wanted, tree, runner)?);
    }
    Ok(series::mailbox(path, tree, cache, runner)?)
}

fn own(bench: &Bench<'_>) -> anyhow::Result<Vec<State>> {
    let case = &bench.case.about.name;
    let text = assets::text(&assets::CASES, &format!("{case}/{OWN}"));
    let Some(text) = text else {
        bail!("the case {case} has no series of its own; give a mailbox or a range A..B");
    };
    let scratch = bench.cache.scratch()?;
    let path = scratch.path().join(OWN);
    cache::write_file(&path, text.as_bytes())?;
    Ok(series::mailbox(
        &path,
        &bench.tree,
        &bench.cache,
        &bench.runner,
    )?)
}

/// The points that were asked for, in the order of the series.
fn choose(states: Vec<State>, points: &[usize]) -> anyhow::Result<Vec<State>> {
    let last = states.len().saturating_sub(1);
    if let Some(point) = points.iter().find(|point| **point > last) {
        bail!("--points {point}: the series has the points 0 to {last}");
    }
    let wanted = |state: &State| points.is_empty() || points.contains(&state.number);
    let chosen: Vec<State> = states.into_iter().filter(wanted).collect();
    if chosen.len() < 2 {
        bail!("--points: one point is compared with nothing; give two or more of 0 to {last}");
    }
    Ok(chosen)
}

/// What is known of a point once it was booted.
struct Measured {
    named: Named,
    run: Run,
}

fn measure(bench: &Bench<'_>, states: &[State], steps: &Steps<'_>) -> anyhow::Result<Series> {
    let build = |state: &State| {
        let variant = Variant {
            name: format!("point {}", state.number),
            change: state.change.clone(),
            config: Vec::new(),
        };
        bench.image(&variant, letter(state), steps)
    };
    let images: Vec<Named> = states.iter().map(build).collect::<anyhow::Result<_>>()?;
    let booth = Booth::open(bench, steps)?;
    let mut measured: Vec<Measured> = Vec::new();
    let mut known: BTreeMap<String, Run> = BTreeMap::new();
    for named in images {
        let run = match known.get(&named.image.key) {
            Some(run) => run.clone(),
            None => booth.count(&named, "boot and count", steps)?,
        };
        known.insert(named.image.key.clone(), run.clone());
        measured.push(Measured { named, run });
    }
    let base = measured.first().context("the series has no point")?;
    let again = booth.count(&base.named, "boot and count again", steps)?;
    let benchmarks = bench.benchmarks(&base.run)?;
    let comparisons = measured.iter().skip(1);
    Ok(Series {
        points: states.iter().zip(&measured).map(point).collect(),
        comparisons: comparisons
            .map(|one| compare(bench, &benchmarks, [base, one], &again))
            .collect(),
    })
}

/// What the steps call a point, in one character.
fn letter(state: &State) -> char {
    let number = u32::try_from(state.number % 36).unwrap_or_default();
    char::from_digit(number, 36).unwrap_or('?')
}

fn point((state, measured): (&State, &Measured)) -> SeriesPoint {
    SeriesPoint {
        number: state.number,
        title: state.title.clone(),
        image: measured.named.name(),
    }
}

fn compare(
    bench: &Bench<'_>,
    benchmarks: &[Benchmark],
    [base, one]: [&Measured; 2],
    again: &Run,
) -> Comparison {
    let candidate = Candidate {
        variant: super::variant::base(),
        fixes: Vec::new(),
        patch: Vec::new(),
    };
    Comparison::new(
        setting(bench, &candidate),
        benchmarks,
        Booted {
            image: base.named.name(),
            run: &base.run,
        },
        Some(again),
        Booted {
            image: one.named.name(),
            run: &one.run,
        },
    )
}

/// Writes page and JSON, and returns the lines that say where they are.
fn write(args: &Args, bench: &Bench<'_>, series: &Series) -> anyhow::Result<String> {
    let own = own_place(bench, series);
    let page = args.html.clone();
    let page = page.unwrap_or_else(|| own.with_extension("html"));
    let json = args.json.clone().unwrap_or(own);
    if args.html.is_none() || args.json.is_none() {
        cache::make_folder(&bench.cache.root().join(RESULTS))?;
    }
    cache::write_result(&page, render::series_html(series)?.as_bytes())?;
    cache::write_result(&json, render::series_json(series)?.as_bytes())?;
    Ok(format!(
        "Page:   {}\nJSON:   {}\n",
        page.display(),
        json.display()
    ))
}

/// Where the JSON goes unless a file is given: one for the same images of a case.
fn own_place(bench: &Bench<'_>, series: &Series) -> PathBuf {
    let short = |point: &SeriesPoint| point.image.id.chars().take(8).collect::<String>();
    let ids: Vec<String> = series.points.iter().map(short).collect();
    let ends = [ids.first(), ids.last()].map(|id| id.cloned().unwrap_or_default());
    let name = format!("{}-series-{}", bench.case.about.name, ends.join("-"));
    bench.cache.root().join(RESULTS).join(name + ".json")
}
