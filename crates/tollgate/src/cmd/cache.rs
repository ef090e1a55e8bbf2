//! `tollgate cache`: what is kept, and what of it goes.

use std::path::PathBuf;

use crate::exit::Exit;
use crate::output::{Asked, Documents};
use crate::stored::{self, Bound};
use crate::term::Term;

/// Flags of `tollgate cache`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List what it holds, the least recently used first
    List(Look),
    /// Say what each kind of it takes
    Size(Look),
    /// Remove what was not used for longest, until the rest fits
    Prune(Prune),
}

#[derive(Debug, clap::Args)]
struct Look {
    /// The cache
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    #[command(flatten)]
    output: Asked<Documents>,
}

#[derive(Debug, clap::Args)]
struct Prune {
    /// How much may stay: 20G, 500M, 0; in units of 1024
    #[arg(long, value_name = "SIZE", value_parser = bound)]
    keep: Bound,
    /// Only say what would be removed
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(flatten)]
    look: Look,
}

const HELP: &str = "\
What prune removes is made again when it is asked for. Results, what somebody
uses and what tollgate does not know are never removed (docs/cache.md).
Exit codes of prune: 0 the rest fits, 1 it does not, since none of it may be
removed, 2 could not tell.";

fn bound(text: &str) -> Result<Bound, String> {
    Bound::of(text).ok_or_else(|| format!("{text} is no size such as 20G, 500M or 0"))
}

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    match &args.what {
        What::List(look) => {
            let (cache, output) = (look.cache.as_deref(), look.output.output());
            stored::look(cache, &output, stored::Shown::Entries, term)
        }
        What::Size(look) => {
            let (cache, output) = (look.cache.as_deref(), look.output.output());
            stored::look(cache, &output, stored::Shown::Kinds, term)
        }
        What::Prune(prune) => {
            let look = &prune.look;
            let (cache, output) = (look.cache.as_deref(), look.output.output());
            stored::prune(cache, &output, prune.keep, prune.dry_run, term)
        }
    }
}
