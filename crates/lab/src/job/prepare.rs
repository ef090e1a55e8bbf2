//! The prepared build folders: kept by what decides them, made once.

use std::path::{Path, PathBuf};

use tollgate_robot::Config;

use super::asked::{CellJob, Error, death};
use super::script;
use crate::cache::{self, Cache};
use crate::process::Runner;
use crate::products::Products;
use crate::sums;
use crate::toolchain::{self, Compiler};
use crate::tree;

/// Another way to prepare makes another key.
const PREPARED: &str = "1";

/// A build folder in which objects can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The compiler, and what it calls itself.
    pub compiler: Compiler,
    /// The folder: what is in it depends on how far it was brought.
    pub build: PathBuf,
    /// Its configuration; empty before it was made.
    pub config: Config,
    key: String,
}

impl Prepared {
    /// What the folder of a job's cell would be called.
    pub(super) fn of(job: &CellJob, runner: &Runner) -> Result<Self, Error> {
        let compiler = Compiler::find(&job.cell.compiler, runner);
        let compiler = compiler.map_err(|source| match source {
            toolchain::Error::Process(crate::process::Error::Interrupted) => {
                Error::Process(crate::process::Error::Interrupted)
            }
            source => Error::Compiler {
                cell: job.cell.name.clone(),
                packages: job.cell.packages.join(", "),
                source: Box::new(source),
            },
        })?;
        let parts = [
            PREPARED,
            &job.tree_id,
            &compiler.version,
            &script::configuration(job),
            &job.cell.overlay(),
        ];
        let key = tree::hash(parts.join("\0").as_bytes());
        Ok(Self {
            compiler,
            build: PathBuf::new(),
            config: Config::default(),
            key,
        })
    }

    fn place(&self, kind: &str) -> PathBuf {
        Path::new("robot")
            .join(kind)
            .join(self.key.get(..24).unwrap_or(&self.key))
    }

    /// The same with the configuration, made where it is missing.
    pub(super) fn configured(
        mut self,
        job: &CellJob,
        cache: &Cache,
        runner: &Runner,
    ) -> Result<Self, Error> {
        let name = self.place("configured");
        let inner = format!(
            "{} >&2 || exit 0\ncp /tmp/build/.config /tmp/out/config\n",
            script::configuration(job)
        );
        let what = format!("the configuration of {}", job.cell.name);
        self.build = install(&name, job, None, inner, &what, cache, runner)?;
        let text = cache::read_file(&self.build.join(".config"))?;
        self.config = Config::parse(&String::from_utf8_lossy(&text));
        let lacks = self.config.lacks(&job.cell.fragment);
        if lacks.is_empty() {
            return Ok(self);
        }
        Err(Error::Config {
            cell: job.cell.name.clone(),
            reason: format!("Kconfig does not take {}", lacks.join(", ")),
        })
    }

    /// Makes what every object needs where it is missing, with so many compilers.
    pub(super) fn build(
        self,
        job: &CellJob,
        jobs: usize,
        cache: &Cache,
        runner: &Runner,
    ) -> Result<Self, Error> {
        let mut made = self.configured(job, cache, runner)?;
        let name = made.place("prepared");
        let inner = format!(
            "{} -j{jobs} modules_prepare >&2 || exit 0\ncp /tmp/build/.config /tmp/out/config\n",
            script::make(job)
        );
        let what = format!("the preparation of {}", job.cell.name);
        let lower = made.build.clone();
        made.build = install(&name, job, Some(&lower), inner, &what, cache, runner)?;
        Ok(made)
    }
}

/// The folder of that name, made by commands in a sandbox where it is not there.
fn install(
    name: &Path,
    job: &CellJob,
    lower: Option<&Path>,
    inner: String,
    what: &str,
    cache: &Cache,
    runner: &Runner,
) -> Result<PathBuf, Error> {
    let target = cache.root().join(name);
    if let Some(whole) = cache.installed(name)? {
        // make would not see that a patch's files are younger than what was prepared
        // before a clock went back.
        let products = Products::new(whole.clone(), PathBuf::new());
        if !products.are_of_the_future()? {
            return Ok(whole);
        }
        cache.remove_installed(name)?;
    }
    let scratch = cache.scratch()?;
    let inside = script::Inside {
        job,
        lower,
        inner,
        changed: false,
        keep: true,
        what,
    };
    let made = inside.run(scratch.path(), runner)?;
    if !made.out.join("config").is_file() {
        let reason = match death(&made.said) {
            Some(reason) => reason,
            None => crate::build::first_error(&made.said),
        };
        return Err(Error::Died {
            what: what.to_owned(),
            reason,
        });
    }
    sums::take(&made.build)?;
    cache::make_folder(target.parent().unwrap_or(cache.root()))?;
    cache::move_file(&made.build, &target)?;
    Ok(target)
}
