//! `tollgate scan`: find functions that open the gate more than once.

use std::path::PathBuf;

use rayon::prelude::*;
use tollgate_source::{Analyser, GrammarError, Scan, Vocabulary};

use crate::exit::Exit;
use crate::term::Term;
use crate::tree::Tree;

/// Flags of `tollgate scan`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree
    tree: PathBuf,
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
}

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let tree = Tree::open(&args.tree)?;
    let scan = scan(&tree)?;
    let text = match args.format {
        Format::Text => tollgate_report::findings_text(&scan, args.verbose),
        Format::Json => tollgate_report::findings_json(&scan, &args.tree.display().to_string()),
    };
    term.result(&text)?;
    Ok(if scan.findings.is_empty() { Exit::Clean } else { Exit::Findings })
}

/// Everything that a tree holds. Files are read, analysed and dropped one by
/// one on each processor, so the tree is never in memory.
pub(crate) fn scan(tree: &Tree) -> anyhow::Result<Scan> {
    let vocabulary = Vocabulary::builtin()?;
    let sources = tree.sources();
    let parts: Result<Vec<Scan>, GrammarError> =
        sources.paths.par_chunks(64).map_init(|| Analyser::new(&vocabulary), |analyser, paths| part(tree, analyser, paths)).collect();
    let mut all = Scan::default();
    parts?.into_iter().for_each(|part| all.merge(part));
    sources.unread.iter().for_each(|error| all.miss(error, "the folder could not be listed".to_owned()));
    all.sort();
    Ok(all)
}

fn part(tree: &Tree, analyser: &mut Result<Analyser<'_>, GrammarError>, paths: &[String]) -> Result<Scan, GrammarError> {
    let mut scan = Scan::default();
    let Ok(analyser) = analyser else {
        return Ok(scan);
    };
    for path in paths {
        match tree.read(path) {
            Ok(text) => scan.add(path, analyser.analyse(&text)),
            Err(error) => scan.miss(path, error.to_string()),
        }
    }
    Ok(scan)
}
