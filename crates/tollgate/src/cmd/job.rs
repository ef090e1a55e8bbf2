//! `tollgate job`: work that stands whole in a file, and runs that go on without their
//! terminal.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_lab::job::{self, Alive, Answer, Came, Job, Outcome};
use tollgate_lab::sealed;
use tollgate_lab::slurm::text::UNWRITTEN;
use tollgate_report::to_json;

use crate::exit::{self, Exit};
use crate::robot;
use crate::term::Term;
use crate::{detached, folders, signals};

/// Flags of `tollgate job`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Do it, and print what came of it as JSON
    Run(Run),
    /// Say how a run stands that was begun with --detach: 0 it has ended, 1 it goes on
    Status(Folder),
    /// Wait for such a run, print what it printed, and end as it did
    Collect(Folder),
    /// End such a run, and what it has queued
    Cancel(Folder),
}

#[derive(Debug, clap::Args)]
struct Folder {
    /// The folder that --detach printed
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

#[derive(Debug, clap::Args)]
struct Run {
    /// The job file, as `tollgate robot --job-files` writes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The tree, where it lies elsewhere than the file says; its content has to be
    /// the same
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Where prepared build folders and results are kept
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Where a node keeps them for all its users: a folder for each user and kind of
    /// job, and another where one is in use
    #[arg(long, value_name = "DIR", conflicts_with = "cache")]
    room: Option<PathBuf>,
    /// Compilers at a time (here: as many as processors)
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Write what came of it here, whatever came, for the machine that asked
    #[arg(long, value_name = "FILE")]
    answer: Option<PathBuf>,
    /// Give this file another time every 20 seconds
    #[arg(long, value_name = "FILE")]
    alive: Option<PathBuf>,
}

/// Of a job: 0 where all is there, 1 where a compiler refused an object, 2 where
/// something was not made.
pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    match &args.what {
        What::Run(run) => job(run, term),
        What::Status(run) => detached::status(&run.folder, term),
        What::Collect(run) => detached::collect(&run.folder, term),
        What::Cancel(run) => detached::cancel(&run.folder, term),
    }
}

fn job(run: &Run, term: &Term) -> anyhow::Result<Exit> {
    let _alive = run.alive.as_deref().map(Alive::at);
    let Some(place) = &run.answer else {
        return printed(&done(Job::read(&run.file)?, run, term)?, term);
    };
    let (to, came) = match Job::read(&run.file) {
        Ok(job) => (Some(job.work.id()?), done(job, run, term)),
        Err(error) => (None, Err(error.into())),
    };
    let came = match came {
        Ok(came) => came,
        Err(error) => failed(error),
    };
    // Whoever is asked to stop has no answer, whatever came of the work: what it began was
    // asked to stop, too. Slurm says why.
    std::thread::sleep(SIGNALLED);
    signals::interrupt().check()?;
    let written = answered(place, to, came);
    if let Err(error) = written {
        term.error(&exit::sentence(&error));
        // Slurm tells whoever asked.
        std::process::exit(UNWRITTEN.into());
    }
    Ok(Exit::Clean)
}

fn done(job: Job, run: &Run, term: &Term) -> anyhow::Result<Came> {
    let asked = robot::Machine {
        tree: run.tree.as_deref(),
        cache: run.cache.as_deref(),
        room: run.room.as_deref(),
        jobs: run.jobs.map_or_else(folders::processors, NonZeroUsize::get),
    };
    robot::run_job(job, &asked, term)
}

/// How long the signal may take to come that has ended what this process began: Slurm
/// signals the processes of a task one after the other.
const SIGNALLED: Duration = Duration::from_millis(200);

fn failed(error: anyhow::Error) -> Came {
    let words = exit::sentence(&error);
    match error.downcast_ref::<job::Error>() {
        Some(known) => Came::failed(known, words),
        // Folders and what a sandbox needs are this machine's.
        None => Came::Failed {
            words,
            accident: true,
        },
    }
}

fn answered(place: &Path, to: Option<String>, came: Came) -> anyhow::Result<()> {
    let node = std::env::var_os("SLURMD_NODENAME");
    let node = node.map_or(String::new(), |node| node.to_string_lossy().into_owned());
    let answer = Answer {
        version: job::VERSION,
        node,
        to,
        came,
    };
    Ok(sealed::keep(place, &answer)?)
}

fn printed(came: &Came, term: &Term) -> anyhow::Result<Exit> {
    let text = match came {
        Came::Cell(result) => to_json(result)?,
        Came::Image(image) => to_json(image)?,
        other => to_json(other)?,
    };
    term.json(&text)?;
    let Came::Cell(result) = came else {
        return Ok(Exit::Clean);
    };
    let mut refused = false;
    for (object, one) in &result.objects {
        match &one.outcome {
            Outcome::Built | Outcome::Preprocessed => {}
            Outcome::Refused => refused = true,
            Outcome::NotMade(why) | Outcome::Died(why) => {
                anyhow::bail!("{object} was not made: {why}")
            }
        }
    }
    Ok(if refused { Exit::Findings } else { Exit::Clean })
}
