//! `tollgate profile`: what a profile pays at the boundary.

use std::path::PathBuf;

use tollgate_measure::Timings;
use tollgate_profile::{Boundary, Candidate, Kinds, explain, gate_shares, point_series};
use tollgate_report::shares::{ReadFile, profile_document, profile_json};
use tollgate_source::Name;

use crate::candidates;
use crate::exit::Exit;
use crate::given::{self, Given, Holds};
use crate::output::{Asked, Documents, Form};
use crate::progress::Meter;
use crate::term::Term;

/// Flags of `tollgate profile`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What perf report, top, annotate or script print, also out of a mail,
    /// perf.data, folded stacks, lat_sig's output, tables of times, the JSON of
    /// prove and run; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The kernel tree whose findings are to explain it, ranked by what they could
    /// save at most
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Names for the kernel's addresses of a perf.data: /proc/kallsyms of the boot
    /// that was recorded, read as root; this machine's own where none is given
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    /// How many of the largest symbols of each profile are listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    #[command(flatten)]
    output: Asked<Documents>,
}

const EXAMPLES: &str = "\
Which part of a profile is paid at the user/kernel boundary: helpers of user
access, copies, entry and exit, FPU, signal frames, faults (docs/profile.md).

Examples:
  perf record -g ./server && perf script | tollgate profile -
  tollgate profile perf.data --tree ~/linux   which findings explain it?
  tollgate profile mail.txt                   the tables that a mail holds

Exit codes: 0 it was read, 2 it was not.";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let output = args.output.output();
    output.check(args.files.iter().map(PathBuf::as_path))?;
    args.tree
        .iter()
        .try_for_each(|tree| output.refuse_inside(tree))?;
    let kinds = Kinds::builtin()?;
    let meter = Meter::new(term, "read", "files", Some(args.files.len()));
    let read = |path: &PathBuf| {
        let given = given::read(path, args.kallsyms.as_deref());
        meter.advance(1);
        given
    };
    let all: Vec<Given> = args.files.iter().map(read).collect::<anyhow::Result<_>>()?;
    drop(meter);
    let candidates = match &args.tree {
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
            _ => profile_document(&files, &timed, args.rows).into(),
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
