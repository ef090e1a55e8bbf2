//! `tollgate fix`: write the patch that makes a function open the gate once.

use std::path::PathBuf;

use tollgate_rewrite::{Request, Style, Target};

use crate::exit::Exit;
use crate::patch::{self, Author};
use crate::term::Term;
use crate::tree::Tree;

/// Flags of `tollgate fix`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree; it is only read
    tree: PathBuf,
    /// The function, such as include/linux/eventpoll.h:epoll_put_uevent
    #[arg(value_name = "FILE:FUNCTION")]
    target: Target,
    /// How the window is written
    #[arg(long, default_value_t)]
    style: Style,
    /// Add the trailer `Assisted-by: tollgate`
    #[arg(long)]
    assisted_by: bool,
    /// Allow accesses that go on after a fault to stop at the first; the
    /// message of the patch says so
    #[arg(long)]
    stop_at_first_fault: bool,
}

/// The trailer that `--assisted-by` adds.
const ASSISTED_BY: &str = "Assisted-by: tollgate";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let tree = Tree::open(&args.tree)?;
    let request = Request {
        style: args.style,
        prefix: patch::prefix(tree.root(), &args.target.path),
        figures: Vec::new(),
        stop_at_first_fault: args.stop_at_first_fault,
    };
    let patched = tollgate_rewrite::fix(&|path: &str| tree.read(path), &args.target, &request)?;
    for refusal in &patched.refused {
        term.note(&format!("{}:{}: left as it is: {}", patched.path, refusal.line, refusal.reason));
    }
    let trailers: Vec<String> = args.assisted_by.then(|| ASSISTED_BY.to_owned()).into_iter().collect();
    term.result(&patch::mail(&patched, &Author::configured(tree.root()), &trailers)?)?;
    Ok(Exit::Clean)
}
