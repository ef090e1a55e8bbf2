//! `tollgate scan`: find functions that open the gate more than once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tollgate_lab::git::{Repository, is_range};
use tollgate_lab::process::Runner;
use tollgate_lab::sources::{self, Sizes};
use tollgate_lab::tree::Tree;
use tollgate_profile::{Kinds, Profile};
use tollgate_report::View;
use tollgate_source::{Kind, Name, Scan, TreePath, shown};

use crate::choice::Choice;
use crate::door::Door;
use crate::exit::Exit;
use crate::given::{self, Holds};

use crate::output::{Form, Output};
use crate::progress::Meter;
use crate::signals;
use crate::term::Term;

/// Everything that the command line says of it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The tree.
    pub(crate) tree: PathBuf,
    /// Only these files, or a list on standard input.
    pub(crate) files: Vec<PathBuf>,
    /// Whether a NUL ends each name of a list on standard input.
    pub(crate) null: bool,
    /// Only files that differ from that revision.
    pub(crate) changed_since: Option<String>,
    /// What to report.
    pub(crate) kinds: BTreeSet<Kind>,
    /// Only these architectures; by the headers where none is named.
    pub(crate) arch: Vec<String>,
    /// Whether the hottest come first.
    pub(crate) rank: bool,
    /// A profile to rank by.
    pub(crate) profile: Option<PathBuf>,
    /// Only so many lines.
    pub(crate) top: Option<usize>,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
    /// Whether all that was not analysed is listed.
    pub(crate) verbose: bool,
}

pub(crate) fn run(asked: &Request, term: &Term) -> anyhow::Result<Exit> {
    let output = &asked.output;
    output.check(asked.profile.as_deref())?;
    output.refuse_inside(&asked.tree)?;
    let tree = Tree::open(&asked.tree)?;
    let choice = choice(asked, &tree, term)?;
    let architectures = architectures(asked, &tree, choice.is_some())?;
    let profile = asked.profile.as_deref().map(profile).transpose()?;
    let named = choice.as_ref().map(|choice| choice.named.clone());
    let total = choice.as_ref().map_or(0, |choice| choice.files.paths.len());
    let meter = Meter::new(term, "scan", "files", Some(total));
    let sizes = match asked.kinds.contains(&Kind::SmallCopy) {
        true => Sizes::All,
        false => Sizes::OfNeighbours,
    };
    let mut scan = match choice {
        Some(choice) => sources::scan_files(&tree, choice.files, sizes, &meter)?,
        None => sources::scan(&tree, sizes, &meter)?,
    };
    if profile.is_some() {
        sources::with_callers(&tree, &mut scan, &meter)?;
    }
    drop(meter);
    if let Some(wanted) = architectures {
        scan.keep_architectures(&wanted);
    }
    let mut view = View::new(&scan, asked.kinds.clone());
    view.verbose = asked.verbose;
    view.ranked = asked.rank;
    view.top = asked.top;
    if let Some(profile) = &profile {
        view.rank_by(profile, &Kinds::builtin()?);
    }
    show(asked, &tree, &view, term)?;
    if scan.files == 0 && scan.missed.is_empty() {
        term.note("no C file is named: nothing was analysed");
    }
    // Without a choice no file was named.
    verdict(&scan, &named.unwrap_or_else(BTreeSet::new), view.is_empty())
}

fn show(asked: &Request, tree: &Tree, view: &View<'_>, term: &Term) -> anyhow::Result<()> {
    let name = Name::from(asked.tree.as_path());
    asked.output.write(term, |form| {
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
            Form::Text | Form::Document(_) | Form::Ktap => {
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
fn architectures(
    asked: &Request,
    tree: &Tree,
    chosen: bool,
) -> anyhow::Result<Option<Vec<String>>> {
    if asked.arch.iter().any(|name| name == "all") {
        return Ok(None);
    }
    if !asked.arch.is_empty() {
        known_architectures(tree, &asked.arch)?;
        return Ok(Some(asked.arch.clone()));
    }
    // Who names a file wants to know about it.
    let named = chosen && asked.changed_since.is_none();
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
fn choice(asked: &Request, tree: &Tree, term: &Term) -> anyhow::Result<Option<Choice>> {
    let door = Door::of(&asked.tree)?;
    if let Some(revision) = &asked.changed_since {
        let names = changed(tree, revision, term)?;
        let names = names.iter().map(|path| path.as_bytes());
        return Ok(Some(Choice::listed(&door, names)?));
    }
    match asked.files.as_slice() {
        [] => Ok(None),
        [dash] if dash == Path::new("-") => Ok(Some(Choice::of_input(&door, asked.null)?)),
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
