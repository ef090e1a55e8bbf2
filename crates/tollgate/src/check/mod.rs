//! What `tollgate check` reads: a tree, files, standard input, or a change.

pub(crate) mod change;
pub(crate) mod input;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tollgate_lab::check::{Asked, Note, Records, is_tree};
use tollgate_source::check::{Checks, Confidence, FileSkipped, Severity, rule, rules};
use tollgate_source::{Name, shown};

use input::Answer;

use crate::door;
use crate::exit::Exit;
use crate::folders;
use crate::output::{Form, Output};
use crate::progress::Meter;
use crate::term::Term;

/// Everything that the command line says of it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// A tree, files of it, or standard input.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether a NUL ends each name of a list on standard input.
    pub(crate) null: bool,
    /// A change: a file, a revision or a range.
    pub(crate) patch: Option<OsString>,
    /// What a build of the tree printed, as a file.
    pub(crate) log: Option<PathBuf>,
    /// Only these rules.
    pub(crate) rule: Vec<String>,
    /// Only findings at least that bad.
    pub(crate) min_severity: Severity,
    /// Only findings at least that sure.
    pub(crate) confidence: Confidence,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
    /// Whether all that was not checked is listed.
    pub(crate) verbose: bool,
    /// The cache.
    pub(crate) cache: Option<PathBuf>,
    /// Whether every file is looked at, whatever is remembered of a tree.
    pub(crate) fresh: bool,
}

pub(crate) fn run(asked: &Request, term: &Term) -> anyhow::Result<Exit> {
    known_rules(&asked.rule)?;
    let output = &asked.output;
    let patch = asked.patch.as_deref().map(Path::new);
    let paths = asked.paths.iter().map(PathBuf::as_path);
    output.check(paths.clone().chain(patch).chain(asked.log.as_deref()))?;
    let here = asked.paths.is_empty().then_some(Path::new("."));
    for folder in paths.chain(here).filter(|path| path.is_dir()) {
        output.refuse_inside(folder)?;
    }
    one_standard_input(asked)?;
    let log = asked.log.as_deref().map(read_log).transpose()?;
    let log = log.as_deref();
    let meter = match &asked.patch {
        Some(_) => Meter::of(term, "check"),
        None => Meter::new(term, "check", "files", Some(0)),
    };
    let Answer { mut checks, named } = match &asked.patch {
        Some(patch) => change::check(&asked.paths, patch, log, term)?,
        None => {
            let records = records(asked, term)?;
            let note = |note: Note| term.note(&change::said(&note));
            let heard = Asked {
                meter: &meter,
                log,
                records: records.as_ref(),
                notes: &note,
            };
            input::check(&asked.paths, asked.null, heard)?
        }
    };
    drop(meter);
    checks.keep(asked.min_severity, asked.confidence, &asked.rule);
    let tree = first_named(&asked.paths);
    output.write(term, |form| {
        Ok(match form {
            Form::Json => tollgate_report::checks::checks_json(&checks, &tree)?.into(),
            Form::Sarif => tollgate_report::checks::checks_sarif(&checks).into(),
            _ => tollgate_report::checks::checks_document(&checks, &tree, asked.verbose).into(),
        })
    })?;
    if asked.patch.is_none() && checks.files == 0 && checks.skipped.is_empty() {
        term.note("no C file is named: nothing was checked");
    }
    verdict(&checks, &named)
}

/// What is remembered of trees, where a whole one is checked; nothing where there is no
/// place for it, which is said.
fn records(asked: &Request, term: &Term) -> anyhow::Result<Option<Records>> {
    let tree = match asked.paths.as_slice() {
        [] => Path::new("."),
        [only] => only,
        _ => return Ok(None),
    };
    if !is_tree(tree) {
        return Ok(None);
    }
    let place = folders::cache(asked.cache.as_deref());
    let outside = place.and_then(|place| {
        door::refuse_inside(tree, "the cache", &place)?;
        Ok(place)
    });
    let place = match outside {
        Ok(place) => place,
        Err(error) => {
            term.note(&format!("nothing of the tree is remembered: {error:#}"));
            return Ok(None);
        }
    };
    let records = Records::of(&place).context("this program's file is not known")?;
    Ok(Some(match asked.fresh {
        true => records.anew(),
        false => records,
    }))
}

/// Standard input is one thing.
fn one_standard_input(asked: &Request) -> anyhow::Result<()> {
    let dash = Some(Path::new("-"));
    let listed = asked.paths.iter().any(|path| Some(path.as_path()) == dash);
    let patch = asked.patch.as_deref().map(Path::new) == dash;
    let both = asked.log.as_deref() == dash && (listed || patch);
    anyhow::ensure!(
        !both,
        "standard input cannot be the log and something else: name a file for one of them"
    );
    Ok(())
}

/// What a build printed; `-` is standard input.
fn read_log(path: &Path) -> anyhow::Result<Vec<u8>> {
    let read = match path == Path::new("-") {
        true => tollgate_lab::input::limited(std::io::stdin()),
        false => tollgate_lab::input::given(path),
    };
    read.with_context(|| format!("the log {} could not be read", shown(path)))
}

fn known_rules(names: &[String]) -> anyhow::Result<()> {
    let Some(unknown) = names.iter().find(|name| rule(name).is_none()) else {
        return Ok(());
    };
    let all: Vec<&str> = rules().iter().map(|info| info.name).collect();
    bail!("there is no rule {unknown}; there are {}", all.join(", "))
}

/// What was checked, as the user named it.
fn first_named(paths: &[PathBuf]) -> Name {
    paths
        .first()
        .map_or(".".into(), |path| path.as_path().into())
}

/// Of a file that the user named an answer is owed; elsewhere what could not be
/// checked is counted. Where nothing at all was read, nothing can be told.
fn verdict(checks: &Checks, named: &HashSet<Name>) -> anyhow::Result<Exit> {
    let mut skipped = checks.skipped.iter();
    let owed = skipped.find(|(path, _)| checks.files == 0 || named.contains(path));
    match owed {
        Some((path, FileSkipped::File(reason))) => bail!("{path} was not checked: {reason}"),
        Some((path, FileSkipped::Function(skipped))) => bail!(
            "{path}:{}: {} was {}: {}",
            skipped.position.line,
            skipped.function,
            skipped.reason.extent(),
            skipped.reason.words()
        ),
        None if checks.violations.is_empty() => Ok(Exit::Clean),
        None => Ok(Exit::Findings),
    }
}
