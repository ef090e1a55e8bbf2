//! What a proof works with, opened in the order in which things are refused: flags
//! first, then files, then programs, then the tree.

use std::sync::Arc;

use anyhow::Context;
use tollgate_lab::cache::Cache;
use tollgate_lab::case::{Case, case_file};
use tollgate_lab::kconfig;
use tollgate_lab::machine::Machine;
use tollgate_lab::patch::{self, Patch};
use tollgate_lab::process::Runner;
use tollgate_lab::remembered::Memory;
use tollgate_lab::tree::{Change, Tree};

use super::request::Request;
use super::setup::{Asked, Setup, Tools, case_program, fitted, open_tree, read_program};
use super::{jobs, landed, results, variant};
use crate::patch::note_superseded;
use crate::progress::Steps;
use crate::{cluster, door, folders, signals};

/// Checks everything that can be checked before the first long step; `also` checks
/// what is only known with the case.
///
/// # Errors
/// A sentence, when anything is not as it has to be.
pub(super) fn open<'a>(
    request: &'a Request,
    also: impl FnOnce(&Case) -> anyhow::Result<()>,
    steps: &Steps<'_>,
) -> anyhow::Result<Setup<'a>> {
    results::check(request)?;
    anyhow::ensure!(
        request.site.is_none() || request.tree.is_some(),
        "--engine slurm: name the tree with --tree, where the nodes see it"
    );
    let case = jobs::start(request)?;
    variant::check(request, &case)?;
    variant::are_there(request)?;
    also(&case)?;
    let config = Asked::of(request, &case)?;
    let machine = Machine::named(&request.arch)?;
    let program = read_program(request, &case, &machine)?;
    let place = folders::cache(request.cache.as_deref())?;
    door::refuse_unbuildable(&place)?;
    if let Some(tree) = &request.tree {
        door::refuse_inside(tree, "the cache", &place)?;
    }
    let cache = folders::open_cache(&place, steps.term())?;
    let runner = Runner::new(signals::obeyed(), Some(cache.lock_handle()?));
    let queue = cluster::queue(request.site.as_ref(), &runner, steps)?;
    let patches = variant::patches(request, &cache, &runner)?;
    for patch in &patches {
        note_superseded(&patch.superseded, steps.term());
    }
    let tools = Tools::find(request, &machine, &cache, &runner);
    let tools = match machine.advice() {
        Some(advice) => tools.context(advice)?,
        None => tools?,
    };
    let own = (&tools.guest_compiler, &cache, &runner);
    let program = match &case.program {
        Some(plan) => Some(steps.step(
            "build the program (base)",
            || case_program(&case, plan, &machine, own),
            |program| program.made_of(),
        )?),
        None => program.map(Arc::new),
    };
    let tree = open_tree(request, &cache, &runner, steps)?;
    let kconfig = kconfig::read(tree.root(), &machine.kbuild.source)?;
    let (fragment, adjusted) = fitted(config, &case, &kconfig, &tree)?;
    let landed = match landed::is_looked_for(request) {
        true => landed::find(&case, &tree, &cache, &runner, steps)?,
        false => None,
    };
    let over = over(&case, &tree, &cache, &runner)?;
    let memory = Arc::new(Memory::of(tree.root(), &cache));
    Ok(Setup {
        request,
        over,
        memory,
        landed,
        cache,
        runner,
        case,
        fragment,
        kconfig,
        adjusted,
        machine,
        compiler: tools.compiler,
        other_compilers: tools.other_compilers,
        guest_compiler: tools.guest_compiler,
        qemu: tools.qemu,
        tree,
        program,
        patches,
        queue,
    })
}

/// What the case lays over the tree for every image.
///
/// # Errors
/// With the hunk when its patch does not apply to this tree.
fn over(case: &Case, tree: &Tree, cache: &Cache, runner: &Runner) -> anyhow::Result<Change> {
    let name = &case.about.name;
    let file = case.about.patch.as_ref();
    let Some((file, text)) = file.and_then(|file| Some((file, case_file(name, file)?))) else {
        return Ok(Change::default());
    };
    let shown = format!("cases/{name}/{file}");
    let patch = Patch::plain(shown.as_ref(), text.into());
    Ok(patch::apply(&patch, tree, cache, runner)?.change)
}
