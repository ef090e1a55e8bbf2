//! `tollgate compare`: flags in, exit code out.

use std::path::PathBuf;

use tollgate_measure::Floor;
use tollgate_profile::Group;

use crate::compare::{self, Request};
use crate::exit::Exit;
use crate::output::{Asked, Documents};
use crate::term::Term;

/// Flags of `tollgate compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "tollgate compare [OPTIONS] BEFORE... -- AFTER...\n       tollgate compare [OPTIONS] BEFORE AFTER\n       tollgate compare [OPTIONS] FILE")]
pub(crate) struct Args {
    /// Profiles, or the JSON of tollgate run, of the kernel before; one file with
    /// several profiles is compared with itself; FILE:LINE is the profile there
    #[arg(required = true, value_name = "BEFORE")]
    before: Vec<PathBuf>,
    /// Of the kernel after
    #[arg(last = true, value_name = "AFTER")]
    after: Vec<PathBuf>,
    /// Symbols to look at together: 'user access=__put_user*,_copy_*_user'; the kinds
    /// of the boundary, and the rows that a text points at, where none is given
    #[arg(long, value_name = "NAME=PATTERN,..")]
    group: Vec<Group>,
    /// How far both ends of an interval may lie from 0 to be called equal: percent of
    /// a time (5 where none is given), points of a share (1)
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    floor: Option<Floor>,
    /// Exit with 1 only where something grew, or is slower, by more than that: percent
    /// of a time, points of a share; the near end of the interval decides
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    fail_above: Option<Floor>,
    /// Names for the kernel's addresses of a perf.data
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    /// How many symbols are listed, those that differ most first
    #[arg(long, value_name = "N", default_value_t = 10)]
    rows: usize,
    #[command(flatten)]
    output: Asked<Documents>,
}

const EXAMPLES: &str = "\
Says what changed, and whether that can be told from noise (docs/profile.md).

Examples:
  tollgate compare before.txt after.txt         two texts of perf report
  tollgate compare mail.txt                     all profiles of one mail
  tollgate compare mail.txt:12 mail.txt:31      those at these lines
  tollgate compare A1.json A2.json A3.json A4.json A5.json -- B1.json ...
                                                tollgate run of five boots each

Exit codes: 0 nothing grew or got slower, 1 something did, 2 cannot be told.";

impl Args {
    fn request(self) -> Request {
        Request {
            before: self.before,
            after: self.after,
            group: self.group,
            floor: self.floor,
            fail_above: self.fail_above,
            kallsyms: self.kallsyms,
            rows: self.rows,
            output: self.output.output(),
        }
    }
}

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    compare::run(&args.request(), term)
}
