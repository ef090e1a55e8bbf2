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
use crate::output::{Form, Output};
use crate::progress::Meter;
use crate::term::Term;

/// Everything that the command line says of it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The files of the kernel before.
    pub(crate) before: Vec<PathBuf>,
    /// Those of the kernel after.
    pub(crate) after: Vec<PathBuf>,
    /// Symbols to look at together.
    pub(crate) group: Vec<Group>,
    /// How far both ends of an interval may lie from 0 to be called equal.
    pub(crate) floor: Option<Floor>,
    /// Growth up to that does not fail.
    pub(crate) fail_above: Option<Floor>,
    /// Names for the kernel's addresses.
    pub(crate) kallsyms: Option<PathBuf>,
    /// How many symbols are listed.
    pub(crate) rows: usize,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
}

/// The points of shares that are called equal where nobody says otherwise.
const POINTS: f64 = 1.0;

pub(crate) fn run(asked: &Request, term: &Term) -> anyhow::Result<Exit> {
    let given = asked.before.iter().chain(&asked.after);
    asked.output.check(given.map(PathBuf::as_path))?;
    let files = asked.before.len() + asked.after.len();
    let meter = Meter::new(term, "read", "files", Some(files));
    let read = |path: &PathBuf| {
        let given = given::read(path, asked.kallsyms.as_deref());
        meter.advance(1);
        given
    };
    let mut before: Vec<Given> = asked
        .before
        .iter()
        .map(read)
        .collect::<anyhow::Result<_>>()?;
    let mut after: Vec<Given> = asked
        .after
        .iter()
        .map(read)
        .collect::<anyhow::Result<_>>()?;
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
    let times = all().find(|given| timed(given));
    let shares = all().find(|given| !timed(given));
    match (times, shares) {
        (Some(times), Some(shares)) => bail!(
            "{} holds times of tollgate run and {} shares of a profile: they cannot be compared",
            times.name,
            shares.name
        ),
        (Some(_), None) => boots(asked, &before, &after, term),
        (None, _) => profiles(asked, &before, &after, term),
    }
}

fn boots(asked: &Request, before: &[Given], after: &[Given], term: &Term) -> anyhow::Result<Exit> {
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
    if !asked.group.is_empty() {
        bail!("--group is of symbols, and times have none");
    }
    let fail_above = asked.fail_above.map(Floor::percent);
    let found = Boots::new(
        &timings(before),
        &timings(after),
        asked.floor.unwrap_or(Floor::STANDARD),
    );
    let code = found.exit_code(fail_above);
    asked.output.write(term, |form| {
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

fn profiles(
    asked: &Request,
    before: &[Given],
    after: &[Given],
    term: &Term,
) -> anyhow::Result<Exit> {
    let mut has_profiles = false;
    for given in before.iter().chain(after) {
        has_profiles |= !reading(given)?.profiles.is_empty();
    }
    if !has_profiles {
        return others(asked, before, after, term);
    }
    let pairs = match (before, after) {
        ([one], []) => within(asked, one)?,
        ([old], [new]) if is_counted(old)? && is_counted(new)? => counted(asked, old, new)?,
        _ => vec![sides(asked, before, after)?],
    };
    let code = code(&pairs, asked.fail_above.map(Floor::percent));
    let ranked = is_ranked(asked, &pairs);
    asked.output.write(term, |form| {
        Ok(match form {
            Form::Json => compare_json(&pairs, code)?.into(),
            _ => compare_document(&pairs, asked.rows, ranked).into(),
        })
    })?;
    exit(code)
}

/// Whether the first group is one that somebody chose: the user, or the text.
fn is_ranked(asked: &Request, pairs: &[Pair]) -> bool {
    let first = pairs
        .first()
        .and_then(|pair| pair.comparison.groups.first());
    !asked.group.is_empty() || first.is_some_and(|group| group.name == MARKED)
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
    asked: &Request,
    before: &[&Profile],
    after: &[&Profile],
    all: &[&Profile],
) -> anyhow::Result<Comparison> {
    let mut groups = asked.group.clone();
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
    let floor = asked.floor.map_or(POINTS, Floor::percent);
    Ok(Comparison::new(before, after, &groups, &kinds, floor)?)
}

/// Two sides of one profile or more each.
fn sides(asked: &Request, before: &[Given], after: &[Given]) -> anyhow::Result<Pair> {
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
        comparison: compared(asked, &old_refs, &new_refs, &all)?,
    })
}

/// The profiles of one text: each with each, of more than four each with the first.
fn within(asked: &Request, given: &Given) -> anyhow::Result<Vec<Pair>> {
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
            comparison: compared(asked, &[before], &[after], &every)?,
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
fn counted(asked: &Request, before: &Given, after: &Given) -> anyhow::Result<Vec<Pair>> {
    let (old, new) = (&reading(before)?.profiles, &reading(after)?.profiles);
    let mut pairs = Vec::new();
    for one in old {
        if let Some(other) = new.iter().find(|other| other.title == one.title) {
            pairs.push(Pair {
                before: words(before, one),
                after: words(after, other),
                comparison: compared(asked, &[one], &[other], &[one, other])?,
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
fn others(asked: &Request, before: &[Given], after: &[Given], term: &Term) -> anyhow::Result<Exit> {
    if !asked.group.is_empty() {
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
    asked.output.write(term, |form| {
        Ok(match form {
            Form::Json => profile_json(&files)?.into(),
            _ => profile_document(&files, &[], asked.rows).into(),
        })
    })?;
    exit(code)
}
