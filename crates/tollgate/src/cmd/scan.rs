//! `tollgate scan`: find functions that open the gate more than once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tollgate_lab::git::{Repository, is_range};
use tollgate_lab::process::Runner;
use tollgate_lab::sources;
use tollgate_lab::tree::Tree;
use tollgate_profile::{Kinds, Profile};
use tollgate_report::View;
use tollgate_source::{Kind, Name, Scan, TreePath, shown};

use crate::choice::Choice;
use crate::door::Door;
use crate::exit::Exit;
use crate::given::{self, Holds};

use crate::output::{Asked, Findings, Form, Output};
use crate::progress::Meter;
use crate::signals;
use crate::term::Term;

/// Flags of `tollgate scan`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree
    tree: PathBuf,
    /// Only these files, relative to the tree; - reads a list from standard
    /// input, one a line
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only files that differ from that revision of the tree's git history
    #[arg(long, value_name = "REV", conflicts_with = "files")]
    changed_since: Option<String>,
    /// What to report, or all; the summary counts the rest
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',',
          default_values_t = KindName::DEFAULT)]
    kind: Vec<KindName>,
    /// Only generic code and these architectures, or all [default: those where
    /// a window saves something, by the tree's headers; all for files by name]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    arch: Vec<String>,
    /// Most windows saved on the hottest paths first, instead of by file and
    /// line, with the reason
    #[arg(long)]
    rank: bool,
    /// Rank by a profile instead: anything that tollgate profile reads
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Only the first N lines, of what --rank or --profile puts first; JSON and SARIF
    /// have all
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    output: Asked<Findings>,
    /// List each file and each access that was not analysed, with the reason
    #[arg(short, long)]
    verbose: bool,
}

/// What to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KindName {
    /// Adjacent accesses that one window can serve
    Run,
    /// Copies of a constant size of at most 64 bytes
    SmallCopy,
    /// Copies on an ioctl path whose size is only known when they happen
    RuntimeSizeCopy,
    /// Accesses next to a small copy of the same object
    CopyNeighbour,
    /// Accesses and small copies next to a window on the same object
    WindowNeighbour,
    /// Accesses in each round of a loop
    LoopAccess,
    /// Accesses next to another of the same object, one of them under a condition
    /// or in a loop
    ConditionalNeighbour,
    /// The same of different objects, which one window cannot serve
    OtherObject,
    /// All of them
    All,
}

impl KindName {
    const DEFAULT: [Self; 5] = [
        Self::Run,
        Self::CopyNeighbour,
        Self::WindowNeighbour,
        Self::LoopAccess,
        Self::ConditionalNeighbour,
    ];

    fn kinds(self) -> Vec<Kind> {
        match self {
            Self::Run => vec![Kind::Run],
            Self::SmallCopy => vec![Kind::SmallCopy],
            Self::RuntimeSizeCopy => vec![Kind::RuntimeSizeCopy],
            Self::CopyNeighbour => vec![Kind::CopyNeighbour],
            Self::WindowNeighbour => vec![Kind::WindowNeighbour],
            Self::LoopAccess => vec![Kind::LoopAccess],
            Self::ConditionalNeighbour => vec![Kind::ConditionalNeighbour],
            Self::OtherObject => vec![Kind::OtherObject],
            Self::All => Kind::ALL.to_vec(),
        }
    }
}

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let output = args.output.output();
    output.check(args.profile.as_deref())?;
    output.refuse_inside(&args.tree)?;
    let tree = Tree::open(&args.tree)?;
    let choice = choice(args, &tree, term)?;
    let architectures = architectures(args, &tree, choice.is_some())?;
    let profile = args.profile.as_deref().map(profile).transpose()?;
    let named = choice.as_ref().map(|choice| choice.named.clone());
    let total = choice.as_ref().map_or(0, |choice| choice.files.paths.len());
    let meter = Meter::new(term, "scan", "files", Some(total));
    let mut scan = match choice {
        Some(choice) => sources::scan_files(&tree, choice.files, &meter)?,
        None => sources::scan(&tree, &meter)?,
    };
    if profile.is_some() {
        sources::with_callers(&tree, &mut scan, &meter)?;
    }
    drop(meter);
    if let Some(wanted) = architectures {
        scan.keep_architectures(&wanted);
    }
    let kinds: BTreeSet<Kind> = args.kind.iter().flat_map(|kind| kind.kinds()).collect();
    let mut view = View::new(&scan, kinds);
    view.verbose = args.verbose;
    view.ranked = args.rank;
    view.top = args.top;
    if let Some(profile) = &profile {
        view.rank_by(profile, &Kinds::builtin()?);
    }
    show(&output, args, &tree, &view, term)?;
    if scan.files == 0 && scan.missed.is_empty() {
        term.note("no C file is named: nothing was analysed");
    }
    // Without a choice no file was named.
    verdict(&scan, &named.unwrap_or_else(BTreeSet::new), view.is_empty())
}

fn show(
    output: &Output,
    args: &Args,
    tree: &Tree,
    view: &View<'_>,
    term: &Term,
) -> anyhow::Result<()> {
    let name = Name::from(args.tree.as_path());
    output.write(term, |form| {
        Ok(match form {
            Form::Source => {
                let mut read = |path: &TreePath| match tree.source(path) {
                    Ok(text) => Some(text),
                    Err(error) => {
                        term.note(&format!("{path} is shown without its lines: {error}"));
                        None
                    }
                };
                tollgate_report::findings_in_source(view, &name, &mut read).into()
            }
            Form::Json => tollgate_report::findings_json(view, &name)?.into(),
            Form::Sarif => {
                let mut read = |path: &TreePath| lines_of(tree, path);
                tollgate_report::findings_sarif(view, &mut read)?.into()
            }
            Form::Text | Form::Document(_) => {
                tollgate_report::findings_document(view, &name).into()
            }
        })
    })
}

/// What columns are counted in.
#[expect(
    clippy::disallowed_methods,
    reason = "where a file went meanwhile, the place is its line"
)]
fn lines_of(tree: &Tree, path: &TreePath) -> Option<Vec<u8>> {
    tree.source(path).ok()
}

/// Of a file that the user named an answer is owed; elsewhere what could not be
/// analysed is counted. Where nothing at all was read, nothing can be told.
fn verdict(scan: &Scan, named: &BTreeSet<TreePath>, clean: bool) -> anyhow::Result<Exit> {
    let nothing = scan.files == 0;
    let mut missed = scan.missed.iter().filter(|missed| missed.is_owed());
    match missed.find(|missed| nothing || named.contains(&missed.path)) {
        Some(missed) => anyhow::bail!("{missed}"),
        None if clean => Ok(Exit::Clean),
        None => Ok(Exit::Findings),
    }
}

/// The architectures to keep, if not all of them are wanted.
fn architectures(args: &Args, tree: &Tree, chosen: bool) -> anyhow::Result<Option<Vec<String>>> {
    if args.arch.iter().any(|name| name == "all") {
        return Ok(None);
    }
    if !args.arch.is_empty() {
        known_architectures(tree, &args.arch)?;
        return Ok(Some(args.arch.clone()));
    }
    // Who names a file wants to know about it.
    let named = chosen && args.changed_since.is_none();
    Ok(Some(sources::with_windows(tree)?).filter(|found| !named && !found.is_empty()))
}

fn profile(path: &Path) -> anyhow::Result<Profile> {
    let is_none = || format!("{} is no profile", shown(path));
    match given::read(path, None)?.holds {
        Holds::Reading(reading) => reading.ranking().with_context(is_none),
        Holds::Timings(_) => Err(anyhow::anyhow!(
            "it holds times of tollgate run, which name no symbol"
        ))
        .with_context(is_none),
    }
}

/// A name that is no folder of arch/ would leave everything out.
fn known_architectures(tree: &Tree, names: &[String]) -> anyhow::Result<()> {
    let known = tree.architectures()?;
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => anyhow::bail!(
            "this tree has no architecture {name}; it has {}",
            known.join(", ")
        ),
        None => Ok(()),
    }
}

/// The files that were asked for, if not all of them were.
fn choice(args: &Args, tree: &Tree, term: &Term) -> anyhow::Result<Option<Choice>> {
    let door = Door::of(&args.tree)?;
    if let Some(revision) = &args.changed_since {
        let names = changed(tree, revision, term)?;
        let names = names.iter().map(|path| path.as_bytes());
        return Ok(Some(Choice::listed(&door, names)?));
    }
    match args.files.as_slice() {
        [] => Ok(None),
        [dash] if dash == Path::new("-") => Ok(Some(Choice::of_input(&door)?)),
        files => Choice::named(&door, files),
    }
}

/// The files that differ from a revision, those that are gone among them, by git.
fn changed(tree: &Tree, revision: &str, term: &Term) -> anyhow::Result<BTreeSet<TreePath>> {
    if is_range(revision) {
        anyhow::bail!(
            "--changed-since takes the one revision that the tree as it is differs from, not \
             the range {revision}; tollgate check --patch {revision} has what a range adds"
        );
    }
    let runner = Runner::new(signals::interrupt().clone(), None);
    let since = Repository::around(tree.root(), &runner)
        .and_then(|repository| repository.since(&repository.commit(revision)?))
        .with_context(|| format!("the files that changed since {revision} are not known"))?;
    let untracked = since.untracked.iter().filter(|path| path.is_c()).count();
    if untracked > 0 {
        let files = match untracked {
            1 => "1 C file".to_owned(),
            _ => format!("{untracked} C files"),
        };
        term.note(&format!(
            "not among them: {files} that git does not track (git add)"
        ));
    }
    Ok(since.changed.into_iter().chain(since.deleted).collect())
}
