//! `tollgate compare`: what changed from one profile, or from several boots, to
//! another.

use std::path::PathBuf;

use anyhow::bail;
use tollgate_measure::{Boots, Floor, Timings};
use tollgate_profile::{
    Comparison, Group, Kinds, MARKED, Measure, Point, Profile, Reading, Told, point_series,
};
use tollgate_report::shares::{
    Pair, ReadFile, boots_document, boots_json, compare_document, compare_json, profile_document,
    profile_json,
};

use crate::exit::Exit;
use crate::given::{self, Given, Holds};
use crate::output::{Asked, Documents, Form, Output};
use crate::progress::Meter;
use crate::term::Term;

/// Flags of `tollgate compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "tollgate compare [OPTIONS] BEFORE... -- AFTER...\n       tollgate compare [OPTIONS] BEFORE AFTER\n       tollgate compare [OPTIONS] FILE")]
pub(crate) struct Args {
    /// Profiles, or the JSON of tollgate run, of the kernel before; one file with
    /// several profiles is compared with itself; FILE:LINE is the profile there
    #[arg(required = true, value_name = "BEFORE")]
    before: Vec<PathBuf>,
    /// Of the kernel after
    #[arg(last = true, value_name = "AFTER")]
    after: Vec<PathBuf>,
    /// Symbols to look at together: 'user access=__put_user*,_copy_*_user'; the kinds
    /// of the boundary, and the rows that a text points at, where none is given
    #[arg(long, value_name = "NAME=PATTERN,..")]
    group: Vec<Group>,
    /// How far both ends of an interval may lie from 0 to be called equal: percent of
    /// a time (5 where none is given), points of a share (1)
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    floor: Option<Floor>,
    /// Exit with 1 only where something grew, or is slower, by more than that: percent
    /// of a time, points of a share; the near end of the interval decides
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    fail_above: Option<Floor>,
    /// Names for the kernel's addresses of a perf.data
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    /// How many symbols are listed, those that differ most first
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    #[command(flatten)]
    output: Asked<Documents>,
}

impl Args {
    fn output(&self) -> Output {
        self.output.output()
    }
}

const EXAMPLES: &str = "\
Says what changed, and whether that can be told from noise (docs/profile.md).

Examples:
  tollgate compare before.txt after.txt         two texts of perf report
  tollgate compare mail.txt                     all profiles of one mail
  tollgate compare mail.txt:12 mail.txt:31      those at these lines
  tollgate compare A1.json A2.json A3.json A4.json A5.json -- B1.json ...
                                                tollgate run of five boots each

Exit codes: 0 nothing grew or got slower, 1 something did, 2 cannot be told.";

/// The points of shares that are called equal where nobody says otherwise.
const POINTS: f64 = 1.0;

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let given = args.before.iter().chain(&args.after);
    args.output().check(given.map(PathBuf::as_path))?;
    let files = args.before.len() + args.after.len();
    let meter = Meter::new(term, "read", "files", Some(files));
    let read = |path: &PathBuf| {
        let given = given::read(path, args.kallsyms.as_deref());
        meter.advance(1);
        given
    };
    let mut before: Vec<Given> = args
        .before
        .iter()
        .map(read)
        .collect::<anyhow::Result<_>>()?;
    let mut after: Vec<Given> = args.after.iter().map(read).collect::<anyhow::Result<_>>()?;
    if after.is_empty() {
        match before.len() {
            1 => {}
            2 => after.extend(before.pop()),
            many => bail!(
                "{many} files, and none of them is said to be after: put -- before the first of the other kernel"
            ),
        }
    }
    let timed = |given: &Given| matches!(given.holds, Holds::Timings(_));
    let all = || before.iter().chain(&after);
    match (all().any(timed), all().all(timed)) {
        (true, true) => boots(args, &before, &after, term),
        (true, false) => {
            let name = |is_timed: bool| {
                all()
                    .find(|given| timed(given) == is_timed)
                    .map(|given| given.name.to_string())
                    .unwrap_or_default()
            };
            bail!(
                "{} holds times of tollgate run and {} shares of a profile: they cannot be compared",
                name(true),
                name(false)
            )
        }
        (false, _) => profiles(args, &before, &after, term),
    }
}

fn boots(args: &Args, before: &[Given], after: &[Given], term: &Term) -> anyhow::Result<Exit> {
    let timings = |side: &[Given]| -> Vec<Timings> {
        let all = side.iter().filter_map(|given| match &given.holds {
            Holds::Timings(timings) => Some((**timings).clone()),
            Holds::Reading(_) => None,
        });
        all.collect()
    };
    if after.is_empty() {
        bail!(
            "one run alone has nothing to be compared with: give those of the other kernel behind --"
        );
    }
    if !args.group.is_empty() {
        bail!("--group is of symbols, and times have none");
    }
    let fail_above = args.fail_above.map(Floor::percent);
    let found = Boots::new(
        &timings(before),
        &timings(after),
        args.floor.unwrap_or(Floor::STANDARD),
    );
    let code = found.exit_code(fail_above);
    args.output().write(term, |form| {
        Ok(match form {
            Form::Json => boots_json(&found, code)?.into(),
            _ => boots_document(&found, fail_above).into(),
        })
    })?;
    exit(code)
}

fn exit(code: u8) -> anyhow::Result<Exit> {
    match code {
        2 => bail!("it cannot be told; the report above says why"),
        code => Exit::from_code(code),
    }
}

fn reading(given: &Given) -> anyhow::Result<&Reading> {
    match &given.holds {
        Holds::Reading(reading) => Ok(reading),
        Holds::Timings(_) => bail!("{} holds times of tollgate run", given.name),
    }
}

fn profiles(args: &Args, before: &[Given], after: &[Given], term: &Term) -> anyhow::Result<Exit> {
    let mut has_profiles = false;
    for given in before.iter().chain(after) {
        has_profiles |= !reading(given)?.profiles.is_empty();
    }
    if !has_profiles {
        return others(args, before, after, term);
    }
    let pairs = match (before, after) {
        ([one], []) => within(args, one)?,
        ([old], [new]) if is_counted(old)? && is_counted(new)? => counted(args, old, new)?,
        _ => vec![sides(args, before, after)?],
    };
    let code = code(&pairs, args.fail_above.map(Floor::percent));
    let ranked = is_ranked(args, &pairs);
    args.output().write(term, |form| {
        Ok(match form {
            Form::Json => compare_json(&pairs, code)?.into(),
            _ => compare_document(&pairs, args.rows, ranked).into(),
        })
    })?;
    exit(code)
}

/// Whether the first group is one that somebody chose: the user, or the text.
fn is_ranked(args: &Args, pairs: &[Pair]) -> bool {
    let first = pairs
        .first()
        .and_then(|pair| pair.comparison.groups.first());
    !args.group.is_empty() || first.is_some_and(|group| group.name == MARKED)
}

/// The words for one of the profiles.
fn words(given: &Given, profile: &Profile) -> String {
    let line = match profile.place.first {
        0 => String::new(),
        first => format!(":{first}"),
    };
    let title = profile
        .title
        .as_ref()
        .map_or(String::new(), |title| format!(" ({title})"));
    format!("{}{line}{title}", given.name)
}

/// The words for one of the profiles of the only file.
fn line_words(profile: &Profile) -> String {
    match (profile.place.first, &profile.title) {
        (0, Some(title)) => title.clone(),
        (0, None) => profile.measure.words(),
        (first, None) => format!("line {first}"),
        (first, Some(title)) => format!("line {first}: {title}"),
    }
}

/// With the rows that the text points at in any of `all`, so that all pairs of one
/// text have the same groups.
fn compared(
    args: &Args,
    before: &[&Profile],
    after: &[&Profile],
    all: &[&Profile],
) -> anyhow::Result<Comparison> {
    let mut groups = args.group.clone();
    let kinds = Kinds::builtin()?;
    if groups.is_empty() {
        groups.extend(Group::marked(all));
        let counted = |one: &&Profile| one.measure == Measure::Instructions;
        groups.extend(
            all.first()
                .filter(|one| counted(one))
                .map(|_| Group::everything()),
        );
        groups.extend(Group::kinds(&kinds));
        groups.extend(Group::debugging(&kinds));
    }
    let floor = args.floor.map_or(POINTS, Floor::percent);
    Ok(Comparison::new(before, after, &groups, &kinds, floor)?)
}

/// Two sides of one profile or more each.
fn sides(args: &Args, before: &[Given], after: &[Given]) -> anyhow::Result<Pair> {
    let of = |side: &[Given]| -> anyhow::Result<Vec<Profile>> {
        side.iter()
            .map(|given| given.one(reading(given)?))
            .collect()
    };
    let (old, new) = (of(before)?, of(after)?);
    let names = |side: &[Given], all: &[Profile]| {
        let words: Vec<String> = side
            .iter()
            .zip(all)
            .map(|(given, profile)| words(given, profile))
            .collect();
        words.join(", ")
    };
    let (old_refs, new_refs): (Vec<&Profile>, Vec<&Profile>) =
        (old.iter().collect(), new.iter().collect());
    let all: Vec<&Profile> = old.iter().chain(&new).collect();
    Ok(Pair {
        before: names(before, &old),
        after: names(after, &new),
        comparison: compared(args, &old_refs, &new_refs, &all)?,
    })
}

/// The profiles of one text: each with each, of more than four each with the first.
fn within(args: &Args, given: &Given) -> anyhow::Result<Vec<Pair>> {
    const ALL_PAIRS: usize = 4;
    let all = &reading(given)?.profiles;
    if let [one] = all.as_slice() {
        bail!(
            "{} holds one profile alone{}: there is nothing to compare it with",
            given.name,
            match one.place.first {
                0 => String::new(),
                line => format!(", at line {line}"),
            }
        );
    }
    let mut pairs = Vec::new();
    // Of counts only those of one workload say anything of each other.
    let alike = |one: &Profile, other: &Profile| match (workload(one), workload(other)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    for (at, before) in all.iter().enumerate() {
        let firsts = all.len() <= ALL_PAIRS || at == 0;
        let firsts = firsts || workload(before).is_some();
        let others = all.iter().skip(at + 1).filter(|_| firsts);
        for after in others.filter(|after| alike(before, after)) {
            pairs.push((before, after));
        }
    }
    let every: Vec<&Profile> = all.iter().collect();
    let pair = |(before, after): (&Profile, &Profile)| {
        Ok(Pair {
            before: line_words(before),
            after: line_words(after),
            comparison: compared(args, &[before], &[after], &every)?,
        })
    };
    if pairs.is_empty() {
        bail!("{} has no two images with one workload", given.name);
    }
    pairs.into_iter().map(pair).collect()
}

/// `epoll_wait events=1` of `A base, epoll_wait events=1`, where it was counted.
fn workload(profile: &Profile) -> Option<&str> {
    let counted = profile.form == tollgate_profile::Form::Prove;
    let (_, workload) = profile
        .title
        .as_ref()
        .filter(|_| counted)?
        .split_once(", ")?;
    Some(workload)
}

fn is_counted(given: &Given) -> anyhow::Result<bool> {
    let form = tollgate_profile::Form::Prove;
    Ok(given.line.is_none() && reading(given)?.profiles.iter().all(|one| one.form == form))
}

/// Two results of prove: image by image and workload by workload.
fn counted(args: &Args, before: &Given, after: &Given) -> anyhow::Result<Vec<Pair>> {
    let (old, new) = (&reading(before)?.profiles, &reading(after)?.profiles);
    let mut pairs = Vec::new();
    for one in old {
        if let Some(other) = new.iter().find(|other| other.title == one.title) {
            pairs.push(Pair {
                before: words(before, one),
                after: words(after, other),
                comparison: compared(args, &[one], &[other], &[one, other])?,
            });
        }
    }
    if pairs.is_empty() {
        bail!(
            "{} and {} have no image with a workload in common",
            before.name,
            after.name
        );
    }
    Ok(pairs)
}

/// 1 where a group grew beyond the limit, else 2 where it cannot be told of one, else 0.
fn code(pairs: &[Pair], fail_above: Option<f64>) -> u8 {
    let groups = || pairs.iter().flat_map(|pair| &pair.comparison.groups);
    let limit = fail_above.unwrap_or(0.0);
    let grew = |change: &&tollgate_profile::ShareChange| {
        let near = change
            .interval
            .map_or(change.difference(), |found| found.low);
        change.told == Told::Grew && (near > limit || fail_above.is_none())
    };
    let open = |change: &&tollgate_profile::ShareChange| {
        matches!(change.told, Told::Cannot | Told::NotShown)
    };
    match () {
        () if groups().any(|change| grew(&change)) => 1,
        () if groups().next().is_none() || groups().any(|change| open(&change)) => 2,
        () => 0,
    }
}

/// Files without profiles: repeated measurements, a file a kernel where there are
/// several; tables of times.
fn others(args: &Args, before: &[Given], after: &[Given], term: &Term) -> anyhow::Result<Exit> {
    if !args.group.is_empty() {
        bail!("--group is of symbols, and no file has any");
    }
    let all: Vec<&Given> = before.iter().chain(after).collect();
    let mut joined = Reading::default();
    for given in &all {
        let read = reading(given)?;
        let file = |point: &Point| Point {
            heading: match (all.len(), point.heading.as_str()) {
                (1, heading) => heading.to_owned(),
                (_, "") => given.name.to_string(),
                (_, heading) => format!("{} {heading}", given.name),
            },
            ..point.clone()
        };
        joined.points.extend(read.points.iter().map(file));
        joined.times.extend(read.times.iter().cloned());
        joined.annotations.extend(read.annotations.iter().cloned());
    }
    if joined.points.is_empty() && joined.times.is_empty() {
        bail!(
            "annotated lines are parts of their own function: they cannot be compared from one kernel to another; tollgate profile shows them"
        );
    }
    let series = point_series(&joined.points);
    let told = series
        .iter()
        .flat_map(|one| &one.changes)
        .all(|change| change.chance <= 0.05);
    let slower = series
        .iter()
        .flat_map(|one| &one.changes)
        .any(|change| change.chance <= 0.05 && change.difference > 0.0);
    let code = match (slower, told && !series.is_empty()) {
        (true, _) => 1,
        (false, true) => 0,
        (false, false) => 2,
    };
    let Some(first) = all.first() else {
        bail!("no file is named");
    };
    let files = [ReadFile {
        name: &first.name,
        reading: &joined,
        boundaries: Vec::new(),
        gates: Vec::new(),
        series,
        explained: Vec::new(),
    }];
    args.output().write(term, |form| {
        Ok(match form {
            Form::Json => profile_json(&files)?.into(),
            _ => profile_document(&files, &[], args.rows).into(),
        })
    })?;
    exit(code)
}
