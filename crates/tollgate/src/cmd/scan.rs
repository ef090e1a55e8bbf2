//! `tollgate scan`: find functions that open the gate more than once.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use rayon::prelude::*;
use tollgate_source::{Access, Analyser, GrammarError, Missed, MissedPart, Scan, Vocabulary};

use crate::exit::Exit;
use crate::term::Term;
use crate::tree::Tree;

/// Flags of `tollgate scan`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree
    tree: PathBuf,
    /// Only these files, relative to the tree; - reads a list from standard
    /// input, one a line
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Only files that differ from that revision of the tree's git history
    #[arg(long, value_name = "REV", conflicts_with = "files")]
    changed_since: Option<String>,
    /// Only generic code and these architectures, such as x86,powerpc,arm64
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    arch: Vec<String>,
    /// Most windows saved first, instead of by file and line
    #[arg(long)]
    rank: bool,
    /// How to write the findings
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// List each file and each access that was not analysed, with the reason
    #[arg(short, long)]
    verbose: bool,
}

/// How to write findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One line a function, as compilers write it
    #[default]
    Text,
    /// schema/scan.schema.json
    Json,
    /// SARIF 2.1.0
    Sarif,
}

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let tree = Tree::open(&args.tree)?;
    let mut scan = match selection(args, &tree)? {
        Some(files) => scan_files(&tree, &sources_among(files))?,
        None => scan(&tree)?,
    };
    if !args.arch.is_empty() {
        known_architectures(&tree, &args.arch)?;
        scan.keep_architectures(&args.arch);
    }
    if args.rank {
        scan.rank();
    }
    let text = match args.format {
        Format::Text => tollgate_report::findings_text(&scan, args.verbose),
        Format::Json => tollgate_report::findings_json(&scan, &args.tree.display().to_string()),
        Format::Sarif => tollgate_report::findings_sarif(&scan),
    };
    term.result(&text)?;
    match (scan.findings.is_empty(), unread(&scan)) {
        (false, _) => Ok(Exit::Findings),
        (true, None) => Ok(Exit::Clean),
        (true, Some(missed)) => anyhow::bail!("nothing was found, but {missed}"),
    }
}

/// The first file that was not read: a scan that lacks one cannot say "clean".
fn unread(scan: &Scan) -> Option<&Missed> {
    let file = |missed: &&Missed| matches!(missed.what, MissedPart::File(_));
    scan.missed.iter().find(file)
}

/// A name that is no folder of arch/ would leave everything out.
fn known_architectures(tree: &Tree, names: &[String]) -> anyhow::Result<()> {
    match names
        .iter()
        .find(|name| !tree.root().join("arch").join(name).is_dir())
    {
        Some(name) => anyhow::bail!(
            "this tree has no architecture {name}; its folder arch/ names those that it has"
        ),
        None => Ok(()),
    }
}

/// The files that were asked for, if not all of them were.
fn selection(args: &Args, tree: &Tree) -> anyhow::Result<Option<Vec<String>>> {
    if let Some(revision) = &args.changed_since {
        return changed(tree, revision).map(Some);
    }
    match args.files.as_slice() {
        [] => Ok(None),
        [dash] if dash == "-" => {
            let lines: io::Result<Vec<String>> = io::stdin().lines().collect();
            let lines = lines.context("the list of files on standard input could not be read")?;
            Ok(Some(
                lines
                    .into_iter()
                    .filter(|line| !line.trim().is_empty())
                    .collect(),
            ))
        }
        files => Ok(Some(files.to_vec())),
    }
}

/// The files that differ from a revision, by git.
fn changed(tree: &Tree, revision: &str) -> anyhow::Result<Vec<String>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(tree.root())
        .args([
            "diff",
            "--name-only",
            "-z",
            "--relative",
            "--diff-filter=d",
            "--end-of-options",
            revision,
            "--",
        ])
        .output()
        .context("git could not be started; it knows which files changed")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it gave no reason");
        anyhow::bail!("the files that changed since {revision} are not known: git says: {first}");
    }
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

/// C files, each once, in order.
fn sources_among(mut files: Vec<String>) -> Vec<String> {
    files
        .iter_mut()
        .for_each(|file| *file = file.trim().trim_start_matches("./").to_owned());
    files.retain(|file| file.ends_with(".c") || file.ends_with(".h"));
    files.sort_unstable();
    files.dedup();
    files
}

/// Everything that a tree holds.
pub(crate) fn scan(tree: &Tree) -> anyhow::Result<Scan> {
    let sources = tree.sources();
    let mut scan = scan_files(tree, &sources.paths)?;
    for error in &sources.unread {
        scan.miss(error, "the folder could not be listed".to_owned());
    }
    scan.sort();
    Ok(scan)
}

/// What some files hold. They are read, analysed and dropped one by one on each
/// processor, so the tree is never in memory.
fn scan_files(tree: &Tree, paths: &[String]) -> anyhow::Result<Scan> {
    let vocabulary = Vocabulary::builtin()?;
    let (headers, sources): (Vec<&String>, Vec<&String>) =
        paths.iter().partition(|path| path.ends_with(".h"));
    let (mut all, wrappers) = scan_with(tree, &headers, &vocabulary);
    all.merge(scan_with(tree, &sources, &vocabulary.with(wrappers)).0);
    all.sort();
    Ok(all)
}

/// What some files hold, and the macros around accesses that others may use.
fn scan_with(tree: &Tree, paths: &[&String], vocabulary: &Vocabulary) -> (Scan, Vec<Access>) {
    let parts: Vec<(Scan, Vec<Access>)> = paths
        .par_chunks(64)
        .map_init(
            || Analyser::new(vocabulary),
            |analyser, paths| part(tree, analyser, paths),
        )
        .collect();
    let (mut all, mut wrappers) = (Scan::default(), Vec::new());
    for (part, found) in parts {
        all.merge(part);
        wrappers.extend(found);
    }
    (all, wrappers)
}

fn part(
    tree: &Tree,
    analyser: &mut Result<Analyser<'_>, GrammarError>,
    paths: &[&String],
) -> (Scan, Vec<Access>) {
    let (mut scan, mut wrappers) = (Scan::default(), Vec::new());
    for path in paths {
        match (tree.read(path), analyser.as_mut()) {
            (Ok(text), Ok(analyser)) => {
                let mut report = analyser.analyse(&text);
                wrappers.extend(report.wrappers.drain(..).filter(Access::is_known_by_name));
                scan.add(path, report);
            }
            (Err(error), _) => scan.miss(path, error.to_string()),
            (_, Err(error)) => scan.miss(path, error.to_string()),
        }
    }
    (scan, wrappers)
}
