//! `tollgate profile`: what a profile pays at the boundary.

use std::path::PathBuf;

use tollgate_measure::Timings;
use tollgate_profile::{Boundary, Candidate, Kinds, explain, gate_shares, point_series};
use tollgate_report::shares::{ReadFile, profile_document, profile_json};
use tollgate_source::Name;

use crate::candidates;
use crate::exit::Exit;
use crate::given::{self, Given, Holds};
use crate::output::{Form, Output};
use crate::progress::Meter;
use crate::term::Term;

/// Everything that the command line says of it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The files.
    pub(crate) files: Vec<PathBuf>,
    /// The tree whose findings explain them.
    pub(crate) tree: Option<PathBuf>,
    /// Names for the kernel's addresses.
    pub(crate) kallsyms: Option<PathBuf>,
    /// How many of the largest symbols are listed.
    pub(crate) rows: usize,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
}

pub(crate) fn run(asked: &Request, term: &Term) -> anyhow::Result<Exit> {
    let output = &asked.output;
    output.check(asked.files.iter().map(PathBuf::as_path))?;
    asked
        .tree
        .iter()
        .try_for_each(|tree| output.refuse_inside(tree))?;
    let kinds = Kinds::builtin()?;
    let meter = Meter::new(term, "read", "files", Some(asked.files.len()));
    let read = |path: &PathBuf| {
        let given = given::read(path, asked.kallsyms.as_deref());
        meter.advance(1);
        given
    };
    let all: Vec<Given> = asked
        .files
        .iter()
        .map(read)
        .collect::<anyhow::Result<_>>()?;
    drop(meter);
    let candidates = match &asked.tree {
        Some(tree) => Some(candidates::of(tree, term)?),
        None => None,
    };
    let files: Vec<ReadFile<'_>> = all
        .iter()
        .filter_map(|given| file(given, &kinds, candidates.as_deref()))
        .collect();
    let timed: Vec<(&Name, &Timings)> = all.iter().filter_map(timed).collect();
    if let Some((name, _)) = timed.first().filter(|_| output.has_json()) {
        anyhow::bail!(
            "{name} is the JSON of tollgate run already, which has no symbols: leave out --format json and --json"
        );
    }
    output.write(term, |form| {
        Ok(match form {
            Form::Json => profile_json(&files)?.into(),
            _ => profile_document(&files, &timed, asked.rows).into(),
        })
    })?;
    Ok(Exit::Clean)
}

fn timed(given: &Given) -> Option<(&Name, &Timings)> {
    match &given.holds {
        Holds::Timings(timings) => Some((&given.name, timings)),
        Holds::Reading(_) => None,
    }
}

fn file<'a>(
    given: &'a Given,
    kinds: &Kinds,
    candidates: Option<&[Candidate]>,
) -> Option<ReadFile<'a>> {
    let Holds::Reading(reading) = &given.holds else {
        return None;
    };
    let profiles = reading.profiles.iter();
    let explained = candidates.map(|all| {
        profiles
            .clone()
            .map(|one| explain(one, kinds, all))
            .collect()
    });
    Some(ReadFile {
        name: &given.name,
        reading,
        boundaries: profiles.map(|one| Boundary::of(one, kinds)).collect(),
        gates: gate_shares(&reading.annotations, &reading.profiles, kinds),
        series: point_series(&reading.points),
        explained: explained.unwrap_or_default(),
    })
}
