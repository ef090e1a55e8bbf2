//! `tollgate gates`: flags in, exit code out.

use std::path::PathBuf;

use crate::exit::Exit;
use crate::gates::{self, Request};
use crate::output::{Asked, Documents};
use crate::term::Term;

/// Flags of `tollgate gates`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "tollgate gates [OPTIONS] <OBJECT>... [FUNCTION]"
)]
pub(crate) struct Args {
    /// Object files (.o, .ko, .a, vmlinux, also as .xz, .zst and .gz; bzImage,
    /// /proc/kcore, a kernel's core), or `-` for standard input; a last word that is
    /// no file is the function to list
    #[arg(required = true, value_name = "OBJECT")]
    objects: Vec<PathBuf>,
    /// Compare with this object: what a change did to each function
    #[arg(long, value_name = "OTHER", conflicts_with = "find")]
    against: Option<PathBuf>,
    /// List only the functions that open the gate again with nothing but
    /// straight code between
    #[arg(long)]
    find: bool,
    #[command(flatten)]
    output: Asked<Documents>,
}

const EXAMPLES: &str = "\
Reads x86-64, i386, powerpc, arm64, arm and riscv. Of x86 it shows what the
running kernel has: stac, clac and lfence are patched in at boot.

Examples:
  tollgate gates vmlinux                        every function that crosses
  tollgate gates fs/eventpoll.o do_epoll_wait   one, its windows in the margin
  tollgate gates /boot/vmlinuz-6.12.1           the kernel that a bzImage holds
  tollgate gates /proc/kcore __put_user_4       as the running kernel has it
  tollgate gates --find vmlinux                 who opens twice?
  tollgate gates old.o --against new.o          what did the change do?

Exit codes: 0 clean, 1 a rule is broken, a function opens twice (--find) or
pays more than before (--against), 2 could not tell.";

impl Args {
    fn request(self) -> Request {
        Request {
            objects: self.objects,
            against: self.against,
            find: self.find,
            output: self.output.output(),
        }
    }
}

pub(crate) fn run(args: Args, term: &Term) -> anyhow::Result<Exit> {
    gates::run(&args.request(), term)
}
