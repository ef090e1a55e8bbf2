//! `tollgate profile`: what a profile pays at the boundary.

use std::path::PathBuf;

use tollgate_profile::{Boundary, Candidate, Kinds, explain, gate_shares, point_series};
use tollgate_report::shares::{ReadFile, profile_json, profile_text};
use tollgate_report::timing;

use crate::candidates;
use crate::exit::Exit;
use crate::given::{self, Given, Holds};
use crate::output::{Form, Output, forms};
use crate::place::{Place, parser};
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
    /// How to write the result
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = forms(&["text", "json"]))]
    format: Form,
    /// Where to write the JSON, too; - is standard output, and what is for people
    /// then goes to standard error
    #[arg(long, value_name = "FILE", value_parser = parser())]
    json: Option<Place>,
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
    let output = Output::new(args.format, args.json.as_ref());
    output.check(args.files.iter().map(PathBuf::as_path))?;
    args.tree
        .iter()
        .try_for_each(|tree| output.refuse_inside(tree))?;
    let kinds = Kinds::builtin()?;
    let read = |path: &PathBuf| given::read(path, args.kallsyms.as_deref());
    let all: Vec<Given> = args.files.iter().map(read).collect::<anyhow::Result<_>>()?;
    let candidates = match &args.tree {
        Some(tree) => Some(candidates::of(tree, term)?),
        None => None,
    };
    let color = term.color_stdout();
    let mut timed = String::new();
    let mut files = Vec::new();
    for given in &all {
        match &given.holds {
            Holds::Reading(_) => files.extend(file(given, &kinds, candidates.as_deref())),
            Holds::Timings(timings) if args.format == Form::Text && args.json.is_none() => {
                timed.push_str(&format!("{}\n", given.name));
                timed.push_str(&timing::text(timings, None, color));
            }
            Holds::Timings(_) => anyhow::bail!(
                "{} is the JSON of tollgate run already, which has no symbols: leave out --format and --json",
                given.name
            ),
        }
    }
    output.write(term, |form, look| {
        Ok(match form {
            Form::Json => profile_json(&files)?,
            _ => format!("{}{timed}", profile_text(&files, args.rows, look.color)),
        })
    })?;
    Ok(Exit::Clean)
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
