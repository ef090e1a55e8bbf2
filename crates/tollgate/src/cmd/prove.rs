//! `tollgate prove`: flags in, verdict out.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use tollgate_lab::case::Case;

use crate::exit::Exit;
use crate::prove;
use crate::term::Term;

/// Flags of `tollgate prove`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The case to prove
    #[arg(value_parser = PossibleValuesParser::new(Case::names()))]
    pub(crate) case: String,
    /// The kernel tree; Debian's linux-source-6.12 where none is given
    #[arg(long, value_name = "DIR")]
    pub(crate) tree: Option<PathBuf>,
    /// The profile of the configuration: minimal, distro
    #[arg(long, value_name = "PROFILE")]
    pub(crate) config: Option<String>,
    /// Your own patch instead of the one that `tollgate fix` writes
    #[arg(long, value_name = "FILE")]
    pub(crate) patch: Option<PathBuf>,
    /// Where to write the JSON (schema/prove.schema.json)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Where to write the page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Where images and results are kept
    #[arg(long, value_name = "DIR", env = "TOLLGATE_CACHE")]
    pub(crate) cache: Option<PathBuf>,
    /// The compiler of the kernels
    #[arg(long, value_name = "COMMAND", default_value = "gcc")]
    pub(crate) cc: String,
    /// The emulator
    #[arg(long, value_name = "COMMAND")]
    pub(crate) qemu: Option<String>,
    /// Compiler runs at a time; the number of CPUs where none is given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// How long a guest may run, in seconds of this machine's time
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub(crate) timeout: Duration,
}

fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<u32>() {
        Ok(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds.into())),
        _ => Err(format!("{text} is no number of seconds from 1 up")),
    }
}

const EXAMPLES: &str = "\
Builds the kernel twice, without and with the patch, boots both under QEMU,
counts every instruction of the benchmarks, and compares. The counts are exact
and the same on every machine; they are not time.

Examples:
  tollgate prove epoll                    the case, on Debian's kernel source
  tollgate prove epoll --tree ~/linux     on your tree, which is only read
  tollgate prove epoll --patch my.patch   your own way to do it

Exit codes: 0 a gain or no difference, 1 a regression or other behaviour,
2 could not tell.";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    prove::run(args, term)
}
