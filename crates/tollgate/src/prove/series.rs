//! A series measured point by point: a build for each state of the tree, and
//! every later point against the first.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use tollgate_defect::{OrDefect as _, answer};

use anyhow::{Context, bail};
use tollgate_lab::case::Case;
use tollgate_lab::git;
use tollgate_lab::image::Variant;
use tollgate_lab::input;
use tollgate_lab::process::Runner;
use tollgate_lab::series::{self, State};
use tollgate_lab::tree::Manifest;
use tollgate_lab::{assets, cache};
use tollgate_measure::{Benchmark, BootResult, Booted, Commands, Comparison, Series, SeriesPoint};
use tollgate_report::comparison as render;
use tollgate_report::format::html;
use tollgate_source::shown;

use super::guests::Guests;
use super::question::{Asked, Question};
use super::request::Request;
use super::results::{Shown, Written};
use super::setup::{self, Named, Setup, Wanted};
use super::store::{DOCUMENT, PAGE, Store};
use super::variant::Candidate;
use super::{jobs, opening, repeat, results, variant};
use crate::exit::Exit;
use crate::patch::note_superseded;
use crate::progress::Steps;
use crate::signals;
use crate::term::Term;

/// The series that a case brings along.
const OWN: &str = "series.mbox";

/// Checks what can be known of a series before anything is read.
///
/// # Errors
/// When there is no such file, and no range, or the case has no series of its own.
pub(crate) fn check(request: &Request, case: &Case) -> anyhow::Result<()> {
    let over = case.about.patch.as_ref();
    if let (Some(_), Some(file)) = (&request.series, over) {
        bail!(
            "--series: the case {name} lays cases/{name}/{file} over every kernel, and a series is \
             of the tree as it is",
            name = case.about.name
        );
    }
    match request.series.as_deref() {
        Some(wanted) if wanted.is_empty() => own_text(case).map(drop),
        Some(wanted) => named(request, wanted),
        None => Ok(()),
    }
}

/// A mailbox is there, or the tree's history knows the revisions.
fn named(request: &Request, wanted: &OsStr) -> anyhow::Result<()> {
    let runner = Runner::new(signals::interrupt().clone(), None);
    let is_range = match (&request.tree, wanted.to_str()) {
        (Some(tree), Some(wanted)) => git::asked(wanted, tree, &runner)?.is_some(),
        _ => false,
    };
    if is_range {
        return Ok(());
    }
    let path = Path::new(wanted);
    let text = wanted.to_str().filter(|text| git::is_range(text));
    if let Some(wanted) = text.filter(|_| !path.exists()) {
        bail!("--series {wanted}: the history of which tree? Name it with --tree");
    }
    if input::is_stream(path) {
        return Ok(());
    }
    let opened = input::open(path).map(drop);
    opened.with_context(|| format!("could not read the patch {}", shown(path)))
}

/// Builds, boots and counts every point of `wanted`, and says which patch changed
/// what.
///
/// # Errors
/// A sentence, when any step could not be done or nothing can be told.
pub(crate) fn run(request: &Request, wanted: &OsStr, term: &Term) -> anyhow::Result<Exit> {
    let steps = Steps::new(term);
    let check = |case: &_| check(request, case);
    let mut setup = opening::open(request, check, &steps)?;
    let range = match wanted.to_str() {
        None | Some("") => None,
        Some(wanted) => git::asked(wanted, setup.tree.root(), &setup.runner)?,
    };
    // What makes a commit of the tree as it is follows from what that holds.
    let manifest = range.is_some().then(|| setup.read(&steps)).transpose()?;
    let read = || match (&range, &manifest) {
        (Some((repository, range)), Some(now)) => Ok(series::range(range, repository, now)?),
        _ => mailed(wanted, &setup, term),
    };
    let how = |states: &Vec<State>| format!("{} patches", states.len().saturating_sub(1));
    let states = steps.step("read the series", read, how)?;
    let states = choose(states, &request.points)?;
    // What the patches touch, and not what differs from the tree as it is.
    let touched = states.iter().flat_map(|state| &state.touched);
    jobs::choose(
        request,
        &mut setup.case,
        &touched.cloned().collect::<Vec<_>>(),
    )?;
    let is_mailbox = range.is_none() && !wanted.is_empty();
    let mailbox = is_mailbox.then(|| repeat::mailbox(Path::new(wanted)));
    let range = range.as_ref().map(|(_, range)| range);
    let commands = repeat::series(&setup, range, mailbox.transpose()?.flatten().as_deref());
    let (question, series) = measure(&setup, &states, manifest, &steps)?;
    let series = Series { commands, ..series };
    drop(steps);
    let written = write(request, &setup, &question, &series, term)?;
    let shown = Shown {
        document: results::dated(render::series_document(&series)),
        json: render::series_json(&series)?,
        written,
    };
    shown.show(request, term)?;
    Exit::from_code(series.exit_code())
}

fn mailed(wanted: &OsStr, setup: &Setup<'_>, term: &Term) -> anyhow::Result<Vec<State>> {
    if wanted.is_empty() {
        return own(setup);
    }
    let (path, tree) = (Path::new(wanted), &setup.tree);
    let (states, superseded) = series::mailbox(path, tree, &setup.cache, &setup.runner)?;
    note_superseded(&superseded, term);
    Ok(states)
}

fn own(setup: &Setup<'_>) -> anyhow::Result<Vec<State>> {
    let text = own_text(&setup.case)?;
    let scratch = setup.cache.scratch()?;
    let path = scratch.path().join(OWN);
    cache::write_file(&path, text.as_bytes())?;
    Ok(series::mailbox(&path, &setup.tree, &setup.cache, &setup.runner)?.0)
}

fn own_text(case: &Case) -> anyhow::Result<&'static str> {
    let name = &case.about.name;
    let text = assets::text(&assets::CASES, &format!("{name}/{OWN}"));
    text.with_context(|| {
        format!("the case {name} has no series of its own; give a mailbox or a range A..B")
    })
}

/// The points that were asked for, in the order of the series.
fn choose(states: Vec<State>, points: &[usize]) -> anyhow::Result<Vec<State>> {
    let last = states.len().saturating_sub(1);
    if let Some(point) = points.iter().find(|point| **point > last) {
        bail!("--points {point}: the series has the points 0 to {last}");
    }
    let wanted = |number: usize| points.is_empty() || points.contains(&number);
    let chosen = series::chosen(states, wanted);
    if chosen.len() < 2 {
        bail!("--points: one point is compared with nothing; give two or more of 0 to {last}");
    }
    Ok(chosen)
}

/// What is known of a point once it was booted.
struct Measured {
    named: Named,
    run: BootResult,
}

fn measure(
    setup: &Setup<'_>,
    states: &[State],
    manifest: Option<Manifest>,
    steps: &Steps<'_>,
) -> anyhow::Result<(Question, Series)> {
    let guests = Guests::open(setup, steps)?;
    let manifest = manifest.map_or_else(|| setup.read(steps), Ok)?;
    let asked = states.iter().map(|state| {
        let variant = variant_of(state);
        let content = Some(setup.key(&manifest, &variant, None));
        let name = format!("{}: {}", variant.name, state.title);
        Asked { name, content }
    });
    let question = Question::new("series", setup, asked.collect(), &guests);
    let images = images(setup, states, &manifest, steps)?;
    let runs = runs(&guests, &images, steps)?;
    let measured: Vec<Measured> = images
        .into_iter()
        .zip(runs)
        .map(|(named, run)| Measured { named, run })
        .collect();
    let base = measured.first().context("the series has no point")?;
    let again = guests.count(&base.named, "boot and count again", steps)?;
    let benchmarks = setup.benchmarks(&base.run)?;
    let comparisons = measured.iter().skip(1);
    let comparisons = comparisons.map(|one| compare(setup, &benchmarks, [base, one], &again));
    let comparisons: anyhow::Result<_> = comparisons.collect();
    let series = Series {
        points: states.iter().zip(&measured).map(point).collect(),
        comparisons: comparisons?,
        commands: Commands::default(),
    };
    Ok((question, series))
}

fn images(
    setup: &Setup<'_>,
    states: &[State],
    manifest: &Manifest,
    steps: &Steps<'_>,
) -> anyhow::Result<Vec<Named>> {
    let variants: Vec<Variant> = states.iter().map(variant_of).collect();
    let wanted = |(state, variant)| Wanted {
        letter: letter(state),
        is_base: letter(state) == setup::BASE,
        variant,
        program: None,
        compiler: None,
    };
    let wanted: Vec<Wanted<'_>> = states.iter().zip(&variants).map(wanted).collect();
    setup
        .images(manifest, &wanted, steps)?
        .into_iter()
        .collect()
}

/// What was counted of each image; what is the same twice is booted once. The first
/// says how long the others may take.
fn runs(
    guests: &Guests<'_>,
    images: &[Named],
    steps: &Steps<'_>,
) -> anyhow::Result<Vec<BootResult>> {
    let mut once: BTreeMap<&str, &Named> = BTreeMap::new();
    for named in images {
        once.entry(&named.image.key).or_insert(named);
    }
    let first = images.first().context("the series has no point")?;
    once.remove(first.image.key.as_str());
    let mut known = BTreeMap::new();
    let what = "boot and count";
    known.insert(first.image.key.as_str(), guests.count(first, what, steps)?);
    let in_order = images.iter().filter(|named| {
        let kept = once.get(named.image.key.as_str());
        kept.is_some_and(|kept| std::ptr::eq(*kept, *named))
    });
    let others: Vec<(&Named, String)> = in_order.map(|named| (named, what.to_owned())).collect();
    for ((named, _), run) in others.iter().zip(guests.counts(&others, steps)?) {
        known.insert(named.image.key.as_str(), run?);
    }
    let of = |named: &Named| known.get(named.image.key.as_str()).cloned();
    let all: Option<Vec<BootResult>> = images.iter().map(of).collect();
    Ok(all.or_defect("a point was not booted")?)
}

fn variant_of(state: &State) -> Variant {
    Variant {
        name: format!("point {}", state.number),
        change: state.change.clone(),
        config: Vec::new(),
    }
}

/// What the steps call a point, in one character.
fn letter(state: &State) -> char {
    let digit = answer::fits(state.number % 36);
    digit
        .and_then(|digit| char::from_digit(digit, 36))
        .unwrap_or('?')
}

fn point((state, measured): (&State, &Measured)) -> SeriesPoint {
    SeriesPoint {
        number: state.number,
        title: state.title.clone(),
        patch: String::from_utf8_lossy(&state.diff).into_owned(),
        image: measured.named.name(),
    }
}

fn compare(
    setup: &Setup<'_>,
    benchmarks: &[Benchmark],
    [base, one]: [&Measured; 2],
    again: &BootResult,
) -> anyhow::Result<Comparison> {
    let candidate = Candidate {
        compiler: None,
        program: None,
        variant: variant::base(setup),
        fixes: Vec::new(),
        patch: Vec::new(),
    };
    Ok(Comparison::new(
        variant::setting(setup, &candidate, &one.named.image)?,
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
    ))
}

/// Writes page and JSON, and returns the lines that say where they are.
fn write(
    request: &Request,
    setup: &Setup<'_>,
    question: &Question,
    series: &Series,
    term: &Term,
) -> anyhow::Result<String> {
    let store = Store::open(&setup.cache, question, &render::series_decided(series))?;
    let page = html(&results::dated(render::series_document(series)))?;
    let document = render::series_json(series)?;
    store.put(PAGE, &page)?;
    store.put(DOCUMENT, &document)?;
    let mut written = Written(store.keep()?);
    written.page(request.html.as_ref(), &store, &page, term)?;
    written.document(request.output.json.as_ref(), &store, &document, term)?;
    Ok(written.0)
}
