//! `tollgate fix`: write the patch that makes a function open the gate once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tollgate_rewrite::{FixError, Patched, Request, Style, Target};

use crate::exit::Exit;
use crate::patch::{self, Author};
use crate::term::Term;
use crate::tree::Tree;
use crate::{figures, folders};

/// Flags of `tollgate fix`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a Linux kernel source tree; it is only read
    tree: PathBuf,
    /// The function, such as include/linux/eventpoll.h:epoll_put_uevent; none
    /// or several with --output
    #[arg(value_name = "FILE:FUNCTION", required_unless_present = "output")]
    targets: Vec<Target>,
    /// Write a series of patches into this folder, one a function; without
    /// FILE:FUNCTION for every function that the scan finds
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How user memory is accessed after the fix. window: one begin, unsafe
    /// accesses, one label. masked: the same, with a masked pointer where the
    /// architecture can. scoped: a block that closes by itself. struct-copy: one
    /// copy for adjacent members of a structure. size-switch: constant accesses
    /// for the --sizes of a copy whose size is known at run time
    #[arg(long, default_value_t)]
    style: Style,
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
}

/// The trailer that `--assisted-by` adds.
const ASSISTED_BY: &str = "Assisted-by: tollgate";

pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    let tree = Tree::open(&args.tree)?;
    match (&args.output, args.targets.as_slice()) {
        (Some(folder), targets) => series(args, &tree, targets, folder, term),
        (None, [target]) => single(args, &tree, target, term),
        (None, _) => {
            anyhow::bail!("several patches are a series: say with --output DIR where it goes")
        }
    }
}

fn request(args: &Args, tree: &Tree, target: &Target) -> Request {
    Request {
        style: args.style,
        prefix: patch::prefix(tree.root(), &target.path),
        figures: Vec::new(),
        stop_at_first_fault: args.stop_at_first_fault,
        touch_all_members: args.touch_all_members,
        sizes: args.sizes.clone(),
    }
}

fn trailers(args: &Args) -> Vec<String> {
    args.assisted_by
        .then(|| ASSISTED_BY.to_owned())
        .into_iter()
        .collect()
}

fn single(args: &Args, tree: &Tree, target: &Target, term: &Term) -> anyhow::Result<Exit> {
    let patched = fix(tree, target, request(args, tree, target))?;
    for refusal in &patched.refused {
        term.note(&format!(
            "{}:{}: left as it is: {}",
            patched.path, refusal.line, refusal.reason
        ));
    }
    term.result(&patch::mail(
        &patched,
        &Author::configured(tree.root()),
        &trailers(args),
    )?)?;
    Ok(Exit::Clean)
}

/// A patch for each function that can have one, and the reason for each other.
fn series(
    args: &Args,
    tree: &Tree,
    targets: &[Target],
    folder: &Path,
    term: &Term,
) -> anyhow::Result<Exit> {
    let targets = if targets.is_empty() {
        every_finding(tree)?
    } else {
        targets.to_vec()
    };
    let mut changed: HashMap<String, Vec<u8>> = HashMap::new();
    let (mut patches, mut left) = (Vec::new(), Vec::new());
    for target in &targets {
        // A later patch to a file builds on the earlier ones.
        let read = |path: &str| {
            changed
                .get(path)
                .map_or_else(|| tree.read(path), |text| Ok(text.clone()))
        };
        match tollgate_rewrite::fix(&read, target, &request(args, tree, target)) {
            Ok(patched) => {
                changed.insert(patched.path.clone(), patched.rewritten.clone());
                patches.push(patched);
            }
            Err(error) => left.push(
                unpatched(tree, target, &request(args, tree, target))
                    .unwrap_or(error)
                    .to_string(),
            ),
        }
    }
    if patches.is_empty() {
        anyhow::bail!("no function could be rewritten: {}", left.join("; "));
    }
    let names = patch::series(
        &patches,
        &Author::configured(tree.root()),
        &trailers(args),
        folder,
    )?;
    term.result(&table(&patches, &names, &left))?;
    Ok(Exit::Clean)
}

/// Why the function is left as it is, with the lines of the tree as it stands.
fn unpatched(tree: &Tree, target: &Target, request: &Request) -> Option<FixError> {
    tollgate_rewrite::fix(&|path: &str| tree.read(path), target, request).err()
}

fn every_finding(tree: &Tree) -> anyhow::Result<Vec<Target>> {
    let findings = super::scan::scan(tree)?.findings.into_iter();
    Ok(findings
        .map(|finding| Target {
            path: finding.path,
            function: finding.function.name,
        })
        .collect())
}

fn table(patches: &[Patched], names: &[String], left: &[String]) -> String {
    let mut out = names.join("\n") + "\n";
    for patched in patches {
        let (before, after) = (patched.windows_before, patched.windows_after);
        out += &format!(
            "{}: {}: rewritten, {before} windows before, {after} after\n",
            patched.path, patched.function
        );
        for refusal in &patched.refused {
            out += &format!(
                "{}:{}: a run is left as it is: {}\n",
                patched.path, refusal.line, refusal.reason
            );
        }
    }
    left.iter().for_each(|reason| out += &format!("{reason}\n"));
    out + &format!(
        "{} functions rewritten, {} left as they are\n",
        patches.len(),
        left.len()
    )
}

/// The fix, with what a proof on this machine has measured of the same change.
fn fix(tree: &Tree, target: &Target, request: Request) -> anyhow::Result<Patched> {
    let read = |path: &str| tree.read(path);
    let patched = tollgate_rewrite::fix(&read, target, &request)?;
    let figures = folders::cache(None)
        .map(|cache| figures::find(&cache, &patched))
        .unwrap_or_default();
    if figures.is_empty() {
        return Ok(patched);
    }
    Ok(tollgate_rewrite::fix(
        &read,
        target,
        &Request { figures, ..request },
    )?)
}
