//! `tollgate robot`: every edited line compiled somewhere, and what of a compiler's
//! words is new.

mod atlas;
mod build;
mod checks;
mod context;
mod judge;
mod links;
mod listing;
mod nowhere;
mod objects;
mod options;
mod plan;
mod renamed;
mod seat;
mod selects;
mod series;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use tollgate_arch::Architectures;
use tollgate_lab::assets;
use tollgate_lab::cache::{self, Cache};
use tollgate_lab::git::is_range;
use tollgate_lab::job::{self, sandbox};
use tollgate_lab::process::Runner;
use tollgate_lab::remembered;
use tollgate_lab::slurm::Queue;
use tollgate_lab::tree::Manifest;
use tollgate_robot::{Cell, Cells, Limits, Report};

use crate::progress::Steps;
use crate::term::Term;
use crate::{door, folders, signals};
use tollgate_lab::tree::Tree;

use context::Robot;
pub(crate) use context::{Asked, Delegated};

/// The cells of the table, or those of it that are named.
///
/// # Errors
/// When one that is named is not there.
pub(crate) fn cells(named: &[String]) -> anyhow::Result<Cells> {
    let text = assets::own(&assets::DATA, "robot/cells.toml")?;
    let mut cells = Cells::parse(text, Architectures::built_in()?)?;
    let known = |name: &String| cells.cells.iter().any(|cell| cell.name == *name);
    if let Some(unknown) = named.iter().find(|name| !known(name)) {
        let all: Vec<&str> = cells.cells.iter().map(|cell| cell.name.as_str()).collect();
        anyhow::bail!("there is no cell {unknown}; there are {}", all.join(", "));
    }
    cells
        .cells
        .retain(|cell| named.is_empty() || named.contains(&cell.name));
    Ok(cells)
}

/// Judges every patch.
///
/// # Errors
/// When nothing could be told at all.
pub(crate) fn run(asked: &Asked, term: &Term) -> anyhow::Result<Report> {
    let Cells { limits, mut cells } = cells(&asked.cells)?;
    let (count, seed) = asked.random;
    let plain: Vec<Cell> = cells.clone();
    for number in 0..count {
        let at = (number as usize) % plain.len().max(1);
        cells.extend(plain.get(at).map(|cell| cell.random(seed + number)));
    }
    let tree = Tree::open(&asked.tree).map_err(|error| no_ground(asked, error.into()))?;
    let (cache, runner) = room(&tree, asked.cache.as_deref(), &limits, term)?;
    let source = series::find(asked, &tree, &cache, &runner)?;
    let steps = Steps::new(term);
    let manifest = steps.step(
        "read the tree",
        || remembered::manifest(tree.root(), &cache, runner.interrupt()),
        |read| format!("{} files", read.entries().len()),
    )?;
    let series = series::read(source, &tree, &manifest, &cache, &runner)?;
    crate::patch::note_superseded(&series.superseded, term);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(asked.jobs.max(1))
        .build();
    let note = |line: &str| term.note(line);
    let queue = asked.site.as_ref();
    let queue = queue.map(|site| Queue::new(site, &runner, &note));
    let queue = queue.transpose()?;
    let robot = Robot {
        asked,
        tree: &tree,
        tree_id: manifest.id(),
        queue: queue.as_ref(),
        cells,
        limits,
        cache: &cache,
        runner: &runner,
        pool: pool.context("no threads could be started")?,
    };
    robot.judge(&series, &manifest, &steps)
}

/// Why there is no tree, and no patch either where its file is missing.
fn no_ground(asked: &Asked, error: anyhow::Error) -> anyhow::Error {
    let words = asked.patches.to_string_lossy();
    match asked.piped.is_some() || Path::new(&asked.patches).exists() || is_range(&words) {
        true => error,
        false => error.context(format!(
            "there is no file {}, and no tree in whose history a commit could have that name",
            tollgate_source::plain(&words)
        )),
    }
}

impl Robot<'_> {
    fn judge(
        &self,
        series: &series::Series,
        manifest: &Manifest,
        steps: &Steps<'_>,
    ) -> anyhow::Result<Report> {
        let mut report = Report {
            asked: self.asked.patches.to_string_lossy().into_owned(),
            base: format!("Linux {}", self.tree.version()),
            tree: tollgate_source::shown(&self.asked.tree),
            flags: self.flags(),
            patches: Vec::new(),
            cells: Vec::new(),
        };
        let mut atlas = steps.step(
            "read Kbuild, Kconfig, includes",
            || atlas::Atlas::read(self, manifest),
            |_| String::new(),
        )?;
        for patch in &series.patches {
            let judged = self.patch(series, patch, &mut atlas, &mut report, steps)?;
            report.patches.push(judged);
        }
        Ok(report)
    }
}

/// What came of a cell that was to be prepared: its folder, or why there is none.
pub(crate) type Readied = (String, Result<PathBuf, String>);

/// Brings every cell to where it can build: for `--prepare`. The tree is only read.
///
/// # Errors
/// When the cache or the tree cannot be used.
pub(crate) fn prepare(asked: &Asked, term: &Term) -> anyhow::Result<Vec<Readied>> {
    let Cells { limits, cells } = cells(&asked.cells)?;
    let tree = Tree::open(&asked.tree)?;
    let (cache, runner) = room(&tree, asked.cache.as_deref(), &limits, term)?;
    let steps = Steps::new(term);
    let manifest = remembered::manifest(tree.root(), &cache, runner.interrupt())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let robot = Robot {
        asked,
        tree: &tree,
        tree_id: manifest.id(),
        queue: None,
        cells: Vec::new(),
        limits,
        cache: &cache,
        runner: &runner,
        pool,
    };
    let mut said = Vec::new();
    for cell in &cells {
        let job = robot.job(cell);
        let made = steps.step(
            &format!("prepare {}", cell.name),
            || match job.prepare(&cache, &runner) {
                Ok(prepared) => Ok(Ok(prepared.build)),
                Err(error) if robot.given_up(&error) => Err(error),
                Err(error) => Ok(Err(error.to_string())),
            },
            |made: &Result<_, String>| match made {
                Ok(_) => String::new(),
                Err(_) => "not to be had".to_owned(),
            },
        )?;
        said.push((cell.name.clone(), made));
    }
    Ok(said)
}

/// How often it is looked whether a cache is free.
const PATIENCE: Duration = Duration::from_millis(200);

/// The cache, once no other tollgate is at work in it: robots are started side by side,
/// one for each mail.
fn opened(place: &Path, term: &Term) -> Result<Cache, cache::Error> {
    let mut said = false;
    loop {
        match Cache::open(place) {
            Err(cache::Error::Busy { path, holder }) => {
                if !said {
                    term.note(&format!(
                        "waiting for process {holder}, which is at work in the cache {}",
                        tollgate_source::shown(&path)
                    ));
                }
                said = true;
                std::thread::sleep(PATIENCE);
            }
            other => return other,
        }
    }
}

/// The cache and who runs programs, where the machine allows what is to be run and the
/// cache is none of the user's folders.
fn room(
    tree: &Tree,
    cache: Option<&Path>,
    limits: &Limits,
    term: &Term,
) -> anyhow::Result<(Cache, Runner)> {
    let place = folders::cache(cache)?;
    door::refuse_unbuildable(&place)?;
    door::refuse_inside(tree.root(), "the cache", &place)?;
    let cache = opened(&place, term)?;
    door::refuse_own(tree.root(), cache.root())?;
    let runner = Runner::new(signals::obeyed(), Some(cache.lock_handle()?));
    sandbox::probe(cache.scratch()?.path(), limits, &runner)?;
    Ok((cache, runner))
}

/// Does the job of a file and gives what came of it.
///
/// # Errors
/// When it is none, or could not be done.
pub(crate) fn run_job(
    path: &Path,
    tree: Option<&Path>,
    cache: Option<&Path>,
    term: &Term,
) -> anyhow::Result<job::CellResult> {
    let job = job::Job::read(path)?;
    let job::Work::Cell(mut job) = job.work;
    if let Some(tree) = tree {
        job.tree = tree.to_owned();
    }
    let tree = Tree::open(&job.tree)?;
    job.tree = tree.root().to_owned();
    let (cache, runner) = room(&tree, cache, &job.limits, term)?;
    let steps = Steps::new(term);
    let manifest = remembered::manifest(tree.root(), &cache, runner.interrupt())?;
    if manifest.id() != job.tree_id {
        let tree = job.tree.clone();
        return Err(job::Error::OtherTree { tree }.into());
    }
    let name = format!("build in {}", job.cell.name);
    Ok(steps.step(
        &name,
        || job.run(folders::processors(), &cache, &runner),
        |_| String::new(),
    )?)
}
