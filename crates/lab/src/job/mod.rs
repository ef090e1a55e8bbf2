//! Jobs: work that stands whole in one file, so that any machine with the tree can
//! do it. The robot's cells are jobs; further kinds are further variants of [`Work`].
//!
//! A job's builds run in a [`sandbox`]: the tree and the prepared build folder below
//! file systems of their own, so that neither is ever written to, whatever runs.

mod asked;
mod prepare;
mod result;
pub mod sandbox;
mod script;

use std::path::PathBuf;

use crate::cache::{self, Cache};
use crate::process::Runner;
use crate::sealed;
use crate::slurm::Queue;
use crate::tree;

pub use asked::{CellJob, Content, Error, FileChange, Job, VERSION, Work};
pub use prepare::Prepared;
pub use result::{CellResult, ObjectResult, Outcome};
pub use script::is_plain;

impl CellJob {
    /// Does it with so many compilers at a time, or gives the result of the same job
    /// that was done before.
    ///
    /// # Errors
    /// When it could not be done; what a compiler says is no error.
    pub fn run(&self, jobs: usize, cache: &Cache, runner: &Runner) -> Result<CellResult, Error> {
        let prepared = Prepared::of(self, runner)?;
        let key = self.key(&prepared.compiler.version)?;
        let place = cache
            .root()
            .join("robot/results")
            .join(format!("{key}.json"));
        if let Some(known) = sealed::kept(&place)? {
            return Ok(known);
        }
        // Who only configures needs nothing that objects need.
        let prepared = match self.objects.is_empty() {
            true => prepared.configured(self, cache, runner)?,
            false => prepared.build(self, cache, runner)?,
        };
        let scratch = cache.scratch()?;
        let made = script::run(self, jobs, &prepared.build, scratch.path(), runner)?;
        let result = result::read(self, &made, &prepared)?;
        cache::make_folder(&cache.root().join("robot/results"))?;
        sealed::keep(&place, &result)?;
        Ok(result)
    }

    /// Has it done on another machine, or gives the result of the same job that was done
    /// before; what it gives counts only where the compilers are the same.
    ///
    /// # Errors
    /// When it could not be done, or was done with another compiler.
    pub fn run_on(
        &self,
        queue: &Queue<'_>,
        cache: &Cache,
        runner: &Runner,
    ) -> Result<CellResult, Error> {
        let here = Prepared::of(self, runner)?.compiler.version;
        let folder = cache.root().join("robot/results");
        let place = folder.join(format!("{}.json", self.key(&here)?));
        if let Some(known) = sealed::kept(&place)? {
            return Ok(known);
        }
        let result = queue.run(self)?;
        if result.compiler != here {
            return Err(Error::OtherCompiler {
                cell: self.cell.name.clone(),
                there: result.compiler,
                here,
            });
        }
        cache::make_folder(&folder)?;
        sealed::keep(&place, &result)?;
        Ok(result)
    }

    /// The configuration of the cell on the tree as it is, made where it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn configure(&self, cache: &Cache, runner: &Runner) -> Result<Prepared, Error> {
        Prepared::of(self, runner)?.configured(self, cache, runner)
    }

    /// Brings the cell to where objects can be built, and compiles nothing.
    ///
    /// # Errors
    /// When that cannot be done.
    pub fn prepare(&self, cache: &Cache, runner: &Runner) -> Result<Prepared, Error> {
        Prepared::of(self, runner)?.build(self, cache, runner)
    }

    /// A hash over all that decides the result: not where the tree lies.
    fn key(&self, compiler: &str) -> Result<String, Error> {
        let asked = Self {
            tree: PathBuf::new(),
            ..self.clone()
        };
        let text = serde_json::to_string(&(VERSION, script::WAY, compiler, asked));
        let text = text.map_err(|error| Error::Died {
            what: "the key of a job".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(tree::hash(text.as_bytes()))
    }
}
