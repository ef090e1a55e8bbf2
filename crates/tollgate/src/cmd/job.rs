//! `tollgate job`: work that stands whole in a file.

use std::path::PathBuf;

use tollgate_lab::job::Outcome;

use crate::exit::Exit;
use crate::robot;
use crate::term::Term;

/// Flags of `tollgate job`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Do it, and print what came of it as JSON
    Run(Run),
}

#[derive(Debug, clap::Args)]
struct Run {
    /// The job file, as `tollgate robot --job-files` writes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The tree, where it lies elsewhere than the file says; its content has to be
    /// the same
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Where prepared build folders and results are kept
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

/// 0 where every object is there, 1 where a compiler refused one, 2 where something
/// was not made.
pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let What::Run(run) = &args.what;
    let result = robot::run_job(&run.file, run.tree.as_deref(), run.cache.as_deref(), term)?;
    term.json(&format!("{}\n", serde_json::to_string_pretty(&result)?))?;
    let mut refused = false;
    for (object, one) in &result.objects {
        match &one.outcome {
            Outcome::Built | Outcome::Preprocessed => {}
            Outcome::Refused => refused = true,
            Outcome::NotMade(why) | Outcome::Died(why) => {
                anyhow::bail!("{object} was not made: {why}")
            }
        }
    }
    Ok(if refused { Exit::Findings } else { Exit::Clean })
}
