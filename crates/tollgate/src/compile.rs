//! `tollgate fix --check`: each touched object compiled before and after, and
//! what the compiler and objtool say compared.

use std::path::Path;
use std::sync::Arc;

use tollgate_arch::Architectures;
use tollgate_defect::OrDefect as _;
use tollgate_lab::config::Fragment;
use tollgate_lab::objects::{Objects, Setting};
use tollgate_lab::patched::{self, Verdict};
use tollgate_lab::process::Runner;
use tollgate_lab::remembered::Memory;
use tollgate_rewrite::Patched;

use crate::progress::Steps;
use crate::signals;
use crate::{door, folders};
use tollgate_lab::tree::Tree;

/// Checks each patch; the verdicts are in the order of the patches.
///
/// # Errors
/// When the tree cannot be built at all.
pub(crate) fn all(
    tree: &Tree,
    patches: &[Patched],
    cache: Option<&Path>,
    steps: &Steps<'_>,
) -> anyhow::Result<Vec<Verdict>> {
    let place = folders::cache(cache)?;
    door::refuse_unbuildable(&place)?;
    door::refuse_inside(tree.root(), "the cache", &place)?;
    let cache = folders::open_cache(&place, steps.term())?;
    door::refuse_own(tree.root(), cache.root())?;
    let runner = Runner::new(signals::obeyed(), Some(cache.lock_handle()?));
    let memory = Arc::new(Memory::of(tree.root(), &cache));
    let manifest = steps.step(
        "read the tree",
        || memory.manifest(tree.root(), runner.interrupt()),
        |_| String::new(),
    )?;
    let compiled = Architectures::built_in()?.compiled();
    let (architecture, target, fragment) =
        compiled.or_defect("no architecture names the objects of `fix --check`")?;
    let fragment = Fragment::named(fragment)?;
    let jobs = folders::processors();
    let root = cache.root().join("objects").join(tollgate_lab::tree::hash(
        tree.root().as_os_str().as_encoded_bytes(),
    ));
    if root.is_dir() {
        cache.used(&root)?;
    }
    let setting = Setting {
        tree,
        manifest: &manifest,
        memory: &memory,
        arch: &target.kbuild,
        fragment: &fragment,
        runner: &runner,
        jobs,
    };
    let objects = steps.step(
        "configure (allmodconfig)",
        || Objects::open(root, setting),
        |_| String::new(),
    )?;
    let verdict = |(number, one): (usize, &Patched)| {
        steps.step(
            &format!("check {number} of {}: {}", patches.len(), one.function),
            || Ok(patched::verdict(tree, &objects, architecture, one)?),
            |_| String::new(),
        )
    };
    (1..).zip(patches).map(verdict).collect()
}
