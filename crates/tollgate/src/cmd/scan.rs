//! `tollgate scan`: flags in, exit code out.

use std::path::PathBuf;

use tollgate_source::Kind;

use crate::exit::Exit;
use crate::output::{Asked, Findings};
use crate::scan::{self, Request};
use crate::term::Term;

/// Flags of `tollgate scan`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree
    tree: PathBuf,
    /// Only these files, relative to the tree; - reads a list from standard
    /// input, one a line
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The list on standard input has a NUL behind each name, as `git diff -z` and
    /// `find -print0` write it; where this is not given the list itself says so
    #[arg(short = 'z', long = "null")]
    null: bool,
    /// Only files that differ from that revision of the tree's git history
    #[arg(long, value_name = "REV", conflicts_with = "files")]
    changed_since: Option<String>,
    /// What to report, or all; the summary counts the rest
    #[arg(long, value_name = "KIND", value_enum, value_delimiter = ',',
          default_values_t = KindName::DEFAULT)]
    kind: Vec<KindName>,
    /// Only generic code and these architectures, or all [default: those where
    /// a window saves something, by the tree's headers; all for files by name]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    arch: Vec<String>,
    /// Most windows saved on the hottest paths first, instead of by file and
    /// line, with the reason
    #[arg(long)]
    rank: bool,
    /// Rank by a profile instead: anything that tollgate profile reads
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Only the first N lines, of what --rank or --profile puts first; JSON and SARIF
    /// have all
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    output: Asked<Findings>,
    /// List each file and each access that was not analysed, with the reason
    #[arg(short, long)]
    verbose: bool,
}

/// What to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KindName {
    /// Adjacent accesses that one window can serve
    Run,
    /// Copies of a constant size of at most 64 bytes
    SmallCopy,
    /// Copies on an ioctl path whose size is only known when they happen
    RuntimeSizeCopy,
    /// Accesses next to a small copy of the same object
    CopyNeighbour,
    /// Accesses and small copies next to a window on the same object
    WindowNeighbour,
    /// Accesses in each round of a loop
    LoopAccess,
    /// Accesses next to another of the same object, one of them under a condition
    /// or in a loop
    ConditionalNeighbour,
    /// The same of different objects, which one window cannot serve
    OtherObject,
    /// All of them
    All,
}

impl KindName {
    const DEFAULT: [Self; 5] = [
        Self::Run,
        Self::CopyNeighbour,
        Self::WindowNeighbour,
        Self::LoopAccess,
        Self::ConditionalNeighbour,
    ];

    fn kinds(self) -> Vec<Kind> {
        match self {
            Self::Run => vec![Kind::Run],
            Self::SmallCopy => vec![Kind::SmallCopy],
            Self::RuntimeSizeCopy => vec![Kind::RuntimeSizeCopy],
            Self::CopyNeighbour => vec![Kind::CopyNeighbour],
            Self::WindowNeighbour => vec![Kind::WindowNeighbour],
            Self::LoopAccess => vec![Kind::LoopAccess],
            Self::ConditionalNeighbour => vec![Kind::ConditionalNeighbour],
            Self::OtherObject => vec![Kind::OtherObject],
            Self::All => Kind::ALL.to_vec(),
        }
    }
}

impl Args {
    fn request(self) -> Request {
        Request {
            tree: self.tree,
            files: self.files,
            null: self.null,
            changed_since: self.changed_since,
            kinds: self.kind.iter().flat_map(|kind| kind.kinds()).collect(),
            arch: self.arch,
            rank: self.rank,
            profile: self.profile,
            top: self.top,
            output: self.output.output(),
            verbose: self.verbose,
        }
    }
}

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    scan::run(&args.request(), term)
}
