//! `tollgate check`: flags in, exit code out.

use std::ffi::OsString;
use std::path::PathBuf;

use tollgate_source::check::{Confidence, Severity};

use crate::check::{self, Request};
use crate::exit::Exit;
use crate::output::{Asked, Rules};
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
    /// The list on standard input has a NUL behind each name, as `git diff -z` and
    /// `find -print0` write it; where this is not given the list itself says so
    #[arg(short = 'z', long = "null")]
    null: bool,
    /// Only what a change adds: a diff, a mail or an mbox with several (- for
    /// standard input); or a commit of the tree's git history, or a range A..B or
    /// A...B of it, whatever is checked out (docs/changes.md)
    #[arg(long, value_name = "FILE|REV|A..B")]
    patch: Option<OsString>,
    /// What a build of the tree printed (`make W=1 C=1 2>FILE`; - for standard input): what
    /// gcc, clang, sparse and objtool say there of functions that access user memory,
    /// with --patch of those that it touches, are findings, too
    #[arg(long, value_name = "FILE")]
    compiler_log: Option<PathBuf>,
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
    /// Look at every file of a tree, and not only at what has changed since it was last
    /// checked whole
    #[arg(long)]
    fresh: bool,
    /// Where what was said of a tree is remembered [default: ~/.cache/tollgate]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
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

impl Args {
    fn request(self) -> Request {
        Request {
            paths: self.paths,
            null: self.null,
            patch: self.patch,
            log: self.compiler_log,
            rule: self.rule,
            min_severity: self.min_severity.into(),
            confidence: self.confidence.into(),
            output: self.output.output(),
            verbose: self.verbose,
            cache: self.cache,
            fresh: self.fresh,
        }
    }
}

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    check::run(&args.request(), term)
}
