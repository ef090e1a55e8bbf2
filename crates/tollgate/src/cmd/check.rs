//! `tollgate check`: every window closed on every path, in source.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use tollgate_source::Name;
use tollgate_source::check::{Checks, Confidence, FileSkipped, Severity, rule, rules};

use crate::check::input::Answer;
use crate::check::{change, input};
use crate::exit::Exit;
use crate::output::{Asked, Form, Rules};
use crate::progress::Meter;
use crate::term::Term;

/// Flags of `tollgate check`.
#[derive(Debug, clap::Args)]
#[command(after_help = RULES_HELP)]
pub(crate) struct Args {
    /// A kernel tree or a folder (here: the current one), with files relative to
    /// it or without; or only files; or - for C source on standard input. Behind
    /// a tree, - reads a list of files from standard input, one a line
    #[arg(value_name = "TREE|FILE|-")]
    paths: Vec<PathBuf>,
    /// Only what a change adds: a diff, a mail or an mbox with several (- for
    /// standard input); or a commit of the tree's git history, or a range A..B or
    /// A...B of it, whatever is checked out (docs/changes.md)
    #[arg(long, value_name = "FILE|REV|A..B")]
    patch: Option<OsString>,
    /// Only these rules; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    rule: Vec<String>,
    /// Only findings at least that bad: note, warning or error
    #[arg(long, value_enum, default_value = "note", hide_possible_values = true)]
    min_severity: Least,
    /// Only findings at least that sure: low, medium or high
    #[arg(
        long,
        value_enum,
        default_value = "medium",
        hide_possible_values = true
    )]
    confidence: Sure,
    #[command(flatten)]
    output: Asked<Rules>,
    /// List each file and each function that was not checked, with the reason
    #[arg(short, long)]
    verbose: bool,
}

const RULES_HELP: &str = "\
docs/rules/ has a page for each rule. A comment allows one place, with a reason:
    // tollgate: allow RULE reason
on the line, alone above it, or above a function for all of it.";

/// `--min-severity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Least {
    Note,
    Warning,
    Error,
}

/// `--confidence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sure {
    Low,
    Medium,
    High,
}

impl From<Least> for Severity {
    fn from(least: Least) -> Self {
        match least {
            Least::Note => Self::Note,
            Least::Warning => Self::Warning,
            Least::Error => Self::Error,
        }
    }
}

impl From<Sure> for Confidence {
    fn from(sure: Sure) -> Self {
        match sure {
            Sure::Low => Self::Low,
            Sure::Medium => Self::Medium,
            Sure::High => Self::High,
        }
    }
}

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    known_rules(&args.rule)?;
    let output = args.output.output();
    let patch = args.patch.as_deref().map(Path::new);
    let paths = args.paths.iter().map(PathBuf::as_path);
    output.check(paths.clone().chain(patch))?;
    let here = args.paths.is_empty().then_some(Path::new("."));
    for folder in paths.chain(here).filter(|path| path.is_dir()) {
        output.refuse_inside(folder)?;
    }
    let meter = match &args.patch {
        Some(_) => Meter::of(term, "check"),
        None => Meter::new(term, "check", "files", Some(0)),
    };
    let Answer { mut checks, named } = match &args.patch {
        Some(patch) => change::check(&args.paths, patch, term)?,
        None => input::check(&args.paths, &meter)?,
    };
    drop(meter);
    checks.keep(args.min_severity.into(), args.confidence.into(), &args.rule);
    let tree = asked(&args.paths);
    output.write(term, |form| {
        Ok(match form {
            Form::Json => tollgate_report::checks::checks_json(&checks, &tree)?.into(),
            Form::Sarif => tollgate_report::checks::checks_sarif(&checks).into(),
            _ => tollgate_report::checks::checks_document(&checks, &tree, args.verbose).into(),
        })
    })?;
    if args.patch.is_none() && checks.files == 0 && checks.skipped.is_empty() {
        term.note("no C file is named: nothing was checked");
    }
    verdict(&checks, &named)
}

fn known_rules(names: &[String]) -> anyhow::Result<()> {
    let Some(unknown) = names.iter().find(|name| rule(name).is_none()) else {
        return Ok(());
    };
    let all: Vec<&str> = rules().iter().map(|info| info.name).collect();
    bail!("there is no rule {unknown}; there are {}", all.join(", "))
}

/// What was checked, as the user named it.
fn asked(paths: &[PathBuf]) -> Name {
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
            "{path}:{}: {} was not checked: {}",
            skipped.position.line,
            skipped.function,
            skipped.reason.words()
        ),
        None if checks.violations.is_empty() => Ok(Exit::Clean),
        None => Ok(Exit::Findings),
    }
}
