//! Where work is done: on this machine, or on the nodes of a cluster.

use std::path::PathBuf;

use tollgate_lab::process::Runner;
use tollgate_lab::slurm::{self, Queue, Site};
use tollgate_source::shown;

use crate::detached;
use crate::progress::Steps;

/// Flags of the commands that have engines.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Flags {
    /// Where the work is done: on this machine, or on the nodes of a Slurm cluster
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t)]
    engine: Engine,
    /// What the cluster is (docs/cluster.md)
    #[arg(long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// In the place of what that file says: partition=debug, minutes=30; may be
    /// repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    slurm: Vec<(String, String)>,
    /// Go on in the background, and print the folder that tollgate job status and
    /// collect take
    #[arg(long)]
    pub(crate) detach: bool,
}

/// What does the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Engine {
    /// This machine
    #[default]
    Local,
    /// The nodes of a Slurm cluster
    Slurm,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("{text} is not KEY=VALUE, such as partition=debug")),
    }
}

impl Flags {
    /// Whether nodes of a cluster do the work.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.engine == Engine::Slurm
    }

    /// The cluster; none where this machine does the work.
    ///
    /// # Errors
    /// When what is said of it cannot be used, or is said of this machine.
    pub(crate) fn site(&self) -> anyhow::Result<Option<Site>> {
        if self.is_elsewhere() {
            return Ok(Some(Site::read(self.cluster.as_deref(), &self.slurm)?));
        }
        let idle = match (&self.cluster, self.slurm.first(), self.detach) {
            (Some(path), _, _) => format!("--cluster {}", shown(path)),
            (None, Some((key, value)), _) => format!("--slurm {key}={value}"),
            (None, None, true) => "--detach".to_owned(),
            (None, None, false) => return Ok(None),
        };
        anyhow::bail!(
            "{}: this machine does the work; say --engine slurm, or leave it out",
            tollgate_source::plain(&idle)
        )
    }
}

/// The queue of a cluster, in the folder of the run where this process is a detached
/// one.
///
/// # Errors
/// When Slurm's programs are not there, or the shared folder cannot be used.
pub(crate) fn queue(
    site: Option<&Site>,
    runner: &Runner,
    steps: &Steps<'_>,
) -> anyhow::Result<Option<Queue>> {
    let Some(site) = site else { return Ok(None) };
    slurm::probe(runner)?;
    let folder = detached::folder();
    let interrupt = runner.interrupt().clone();
    let queue = Queue::new(site.clone(), interrupt, steps.teller(), folder.as_deref())?;
    Ok(Some(queue))
}
