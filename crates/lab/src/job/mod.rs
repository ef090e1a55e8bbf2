//! Jobs: work that stands whole in one file, so that any machine with the tree can
//! do it. The robot's cells are jobs, and so are the kernels and the boots of a proof;
//! further kinds are further variants of [`Work`]. What came of one is an [`Answer`].
//!
//! A job's builds run in a [`sandbox`]: the tree and the prepared build folder below
//! file systems of their own, so that neither is ever written to, whatever runs.

mod answer;
mod asked;
mod content;
mod elsewhere;
mod guest;
mod kernel;
mod prepare;
mod result;
pub mod sandbox;
mod script;
mod work;

use std::path::PathBuf;

use crate::cache::Cache;
use crate::process::Runner;
use crate::sealed;
use crate::tree;

pub use answer::{ALIVE, Alive, Answer, Came};
pub use asked::{CellJob, Error, FileChange, VERSION};
pub use content::Content;
pub use elsewhere::image;
pub use guest::{BootJob, Input};
pub use kernel::{Edit, ImageJob};
pub use prepare::Prepared;
pub use result::{CellResult, ObjectResult, Outcome};
pub use script::is_plain;
pub use work::{Job, Work};

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
            false => prepared.build(self, jobs, cache, runner)?,
        };
        let scratch = cache.scratch()?;
        let made = script::run(self, jobs, &prepared.build, scratch.path(), runner)?;
        let result = result::read(self, &made, &prepared)?;
        result.keep(&place)?;
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
        let jobs = std::thread::available_parallelism();
        let jobs = match jobs {
            Ok(jobs) => jobs.get(),
            Err(_) => 1,
        };
        Prepared::of(self, runner)?.build(self, jobs, cache, runner)
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
