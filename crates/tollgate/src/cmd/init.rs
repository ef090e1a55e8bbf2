//! `tollgate init`: flags in, a file out.

use std::path::PathBuf;

use crate::exit::Exit;
use crate::init;
use crate::term::Term;

/// Flags of `tollgate init`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The folder that the settings are for
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

const HELP: &str = "\
The file sets nothing: each setting stands in it as a comment, with what holds
without it. One that is there is never written over (docs/configuration.md).";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    init::run(&args.folder, term)
}
