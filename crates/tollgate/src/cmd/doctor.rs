//! `tollgate doctor`: flags in, a diagnosis out.

use std::path::PathBuf;

use crate::doctor::{self, Request};
use crate::exit::Exit;
use crate::output::{Asked, Documents};
use crate::settings::Settings;
use crate::term::Term;

/// Flags of `tollgate doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The kernel tree; Debian's linux-source where none is given
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Where images and results would be kept
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// The compiler of the kernels
    #[arg(long, value_name = "COMMAND")]
    compiler: Option<String>,
    /// The emulator
    #[arg(long, value_name = "COMMAND")]
    qemu: Option<String>,
    #[command(flatten)]
    output: Asked<Documents>,
}

const HELP: &str = "\
Changes nothing: what is tried is tried in a temporary folder.
Exit codes: 0 prove can run here, 2 it cannot, or it could not be told. What
else cannot run is listed, and changes no exit code.";

pub(crate) fn run(args: Args, settings: &Settings, term: &Term) -> anyhow::Result<Exit> {
    let request = Request {
        output: args.output.output(),
        tree: args.tree,
        cache: args.cache,
        compiler: args.compiler,
        qemu: args.qemu,
    };
    doctor::run(&request, settings, term)
}
