//! `tollgate fix`: flags in, patches out.

use std::ffi::OsString;
use std::path::PathBuf;

use tollgate_rewrite::Style;

use crate::exit::Exit;
use crate::fix::{self, Per, Request};
use crate::output::{Asked, Documents};
use crate::term::Term;

/// Flags of `tollgate fix`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree; it is only read
    tree: PathBuf,
    /// The function, such as include/linux/eventpoll.h:epoll_put_uevent; none
    /// or several with --output
    #[arg(value_name = "FILE:FUNCTION", required_unless_present = "output")]
    targets: Vec<OsString>,
    /// Write a series of patches into this folder; without FILE:FUNCTION for
    /// every function that the scan finds
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What a patch of a series holds
    #[arg(long, value_enum, default_value_t, requires = "output")]
    per: PerName,
    /// Compile each touched object before and after (x86_64, allmodconfig) in a
    /// private copy of the tree, and say what the compiler and objtool say anew:
    /// 1 for a new warning, 2 for what this configuration does not build
    #[arg(long)]
    check: bool,
    /// Where --check keeps its copy and its build [default: ~/.cache/tollgate]
    #[arg(long, value_name = "DIR", requires = "check")]
    cache: Option<PathBuf>,
    /// How user memory is accessed after the fix. window: one begin, unsafe
    /// accesses, one label. masked: the same, with a masked pointer where the
    /// architecture can. scoped: a block that closes by itself. struct-copy: one
    /// copy for adjacent members of a structure. size-switch: constant accesses
    /// for the --sizes of a copy whose size is known at run time
    #[arg(long, default_value_t)]
    style: Style,
    /// Put the figures of this result into the message: what `prove --json` has
    /// written of the same patch, here or on another machine. Without it those that
    /// prove has left in the cache
    #[arg(long, value_name = "RESULT", conflicts_with = "output")]
    with_figures: Option<PathBuf>,
    /// The sizes in bytes for the style size-switch, such as 4,8,16
    #[arg(long, value_name = "BYTES", value_delimiter = ',')]
    sizes: Vec<u32>,
    /// Allow the style struct-copy to write zeros to members that the function
    /// leaves alone, or to read them; the message of the patch names them
    #[arg(long)]
    touch_all_members: bool,
    /// Add the trailer `Assisted-by: tollgate`
    #[arg(long)]
    assisted_by: bool,
    /// Allow accesses that go on after a fault to stop at the first; the
    /// message of the patch says so
    #[arg(long)]
    stop_at_first_fault: bool,
    /// Allow a window in place of an access_ok() to stay open over the rounds of a
    /// loop, however many there are; the message of the patch says so
    #[arg(long)]
    open_over_rounds: bool,
    /// Leave what a read fills as it was on a fault, where only others than the function
    /// may look; the message of the patch says so
    #[arg(long)]
    no_zero_on_fault: bool,
    /// Make a static function one that needs an open window, and open one around it and
    /// what stands beside it in each caller of its file; style window alone
    #[arg(long, requires = "targets")]
    into_callers: bool,
    #[command(flatten)]
    shown: Asked<Documents>,
}

/// What one patch of a series holds.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum PerName {
    /// One function
    #[default]
    Function,
    /// All functions of one file
    File,
}

impl From<PerName> for Per {
    fn from(name: PerName) -> Self {
        match name {
            PerName::Function => Self::Function,
            PerName::File => Self::File,
        }
    }
}

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    let request = Request {
        shown: args.shown.output(),
        tree: args.tree,
        targets: args.targets,
        output: args.output,
        per: args.per.into(),
        check: args.check,
        cache: args.cache,
        with_figures: args.with_figures,
        style: args.style,
        sizes: args.sizes,
        touch_all_members: args.touch_all_members,
        assisted_by: args.assisted_by,
        stop_at_first_fault: args.stop_at_first_fault,
        open_over_rounds: args.open_over_rounds,
        no_zero_on_fault: args.no_zero_on_fault,
        into_callers: args.into_callers,
    };
    fix::run(&request, term)
}
