//! `tollgate profile`: flags in, exit code out.

use std::path::PathBuf;

use crate::exit::Exit;
use crate::output::{Asked, Documents};
use crate::profile::{self, Request};
use crate::term::Term;

/// Flags of `tollgate profile`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What perf report, top, annotate or script print, also out of a mail,
    /// perf.data, folded stacks, lat_sig's output, tables of times, the JSON of
    /// prove and run; - is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The kernel tree whose findings are to explain it, ranked by what they could
    /// save at most
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Names for the kernel's addresses of a perf.data: /proc/kallsyms of the boot
    /// that was recorded, read as root; this machine's own where none is given
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    /// How many of the largest symbols of each profile are listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    #[command(flatten)]
    output: Asked<Documents>,
}

const EXAMPLES: &str = "\
Which part of a profile is paid at the user/kernel boundary: helpers of user
access, copies, entry and exit, FPU, signal frames, faults (docs/profile.md).

Examples:
  perf record -g ./server && perf script | tollgate profile -
  tollgate profile perf.data --tree ~/linux   which findings explain it?
  tollgate profile mail.txt                   the tables that a mail holds

Exit codes: 0 it was read, 2 it was not.";

impl Args {
    fn request(self) -> Request {
        Request {
            files: self.files,
            tree: self.tree,
            kallsyms: self.kallsyms,
            rows: self.rows,
            output: self.output.output(),
        }
    }
}

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    profile::run(&args.request(), term)
}
