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
use tollgate_lab::job::{self, Came, CellJob, Job, Work, sandbox};
use tollgate_lab::process::Runner;
use tollgate_lab::remembered;
use tollgate_lab::tree::Manifest;
use tollgate_robot::{Cell, Cells, Limits, Report};

use crate::progress::Steps;
use crate::term::Term;
use crate::{cluster, door, folders, signals};
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
    let steps = Steps::new(term);
    // What is wrong with a cluster is said before the tree is read.
    let queue = cluster::queue(asked.site.as_ref(), &runner, &steps)?;
    let source = series::find(asked, &tree, &cache, &runner)?;
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

/// What a machine that does a job has for it.
pub(crate) struct Machine<'a> {
    /// The tree, where it lies elsewhere than the job says.
    pub(crate) tree: Option<&'a Path>,
    pub(crate) cache: Option<&'a Path>,
    /// Where a node keeps the caches of all its users.
    pub(crate) room: Option<&'a Path>,
    /// Compilers at a time.
    pub(crate) jobs: usize,
}

/// Does a job and gives what came of it.
///
/// # Errors
/// When it could not be done.
pub(crate) fn run_job(job: Job, machine: &Machine<'_>, term: &Term) -> anyhow::Result<Came> {
    let name = job.work.room();
    let steps = Steps::new(term);
    Ok(match job.work {
        Work::Boot(job) => {
            let runner = Runner::new(signals::obeyed(), None);
            let booted = || job.run(&runner).map(Box::new);
            Came::Boot(steps.step(&job.what, booted, |_| String::new())?)
        }
        Work::Cell(mut job) => {
            let place = machine.place(name.as_deref())?;
            let tree = machine.tree.unwrap_or(&job.tree);
            let tree = Tree::open(tree).map_err(job::Error::Tree)?;
            job.tree = tree.root().to_owned();
            let (cache, runner) = room(&tree, place.as_deref(), &job.limits, term)?;
            Came::Cell(Box::new(cell(
                &job,
                machine.jobs,
                &steps,
                (&cache, &runner),
            )?))
        }
        Work::Image(mut job) => {
            let place = folders::cache(machine.place(name.as_deref())?.as_deref())?;
            job.tree = machine.tree.map_or(job.tree, Path::to_owned);
            door::refuse_unbuildable(&place)?;
            door::refuse_inside(&job.tree, "the cache", &place)?;
            let cache = opened(&place, term)?;
            let runner = Runner::new(signals::obeyed(), Some(cache.lock_handle()?));
            let built = || job.run(machine.jobs, &cache, &runner).map(Box::new);
            let what = format!("build kernel {}", job.name);
            Came::Image(steps.step(&what, built, |_| String::new())?)
        }
    })
}

fn cell(
    job: &CellJob,
    jobs: usize,
    steps: &Steps<'_>,
    (cache, runner): (&Cache, &Runner),
) -> anyhow::Result<job::CellResult> {
    let manifest = remembered::manifest(&job.tree, cache, runner.interrupt())?;
    if manifest.id() != job.tree_id {
        let tree = job.tree.clone();
        return Err(job::Error::OtherTree { tree }.into());
    }
    let name = format!("build in {}", job.cell.name);
    Ok(steps.step(&name, || job.run(jobs, cache, runner), |_| String::new())?)
}

/// How many jobs of one kind a node keeps prepared folders for.
const SLOTS: usize = 32;

impl Machine<'_> {
    /// The cache of a kind of job: the first that nobody uses where a node has several.
    fn place(&self, name: Option<&str>) -> anyhow::Result<Option<PathBuf>> {
        let (Some(room), Some(name)) = (self.room, name) else {
            return Ok(self.cache.map(Path::to_owned));
        };
        let own = own_room(room)?;
        for slot in 0..SLOTS {
            let place = own.join(format!("{name}.{slot}"));
            match Cache::open(&place) {
                Err(cache::Error::Busy { .. }) => {}
                Ok(_) => return Ok(Some(place)),
                Err(error) => return Err(job::Error::Cache(error).into()),
            }
        }
        Ok(Some(own.join(format!("{name}.0"))))
    }
}

/// The folder of this user in one that all users of a node may write to.
fn own_room(room: &Path) -> anyhow::Result<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
    let unusable = |source: std::io::Error| {
        job::Error::Cache(cache::Error::Write {
            path: room.to_owned(),
            source,
        })
    };
    if !room.is_dir() {
        cache::make_folder(room).map_err(job::Error::Cache)?;
        let all = std::fs::Permissions::from_mode(0o1777);
        std::fs::set_permissions(room, all).map_err(unusable)?;
    }
    let user = rustix::process::geteuid().as_raw();
    let own = room.join(user.to_string());
    match std::fs::DirBuilder::new().mode(0o700).create(&own) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(unusable(error).into());
        }
        Ok(()) | Err(_) => {}
    }
    let about = std::fs::symlink_metadata(&own).map_err(unusable)?;
    anyhow::ensure!(
        about.is_dir() && about.uid() == user,
        "{} belongs to another user: what is built there could be anything",
        tollgate_source::shown(&own)
    );
    Ok(own)
}
