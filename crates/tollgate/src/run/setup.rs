//! What a timed run needs of this machine: the cache, the compiler, the guest's
//! program for an ABI, a CPU.

use std::path::{Path, PathBuf};

use anyhow::bail;
use tollgate_lab::cache::Cache;
use tollgate_lab::case::Station;
use tollgate_lab::machine::Machine;
use tollgate_lab::native::Native;
use tollgate_lab::process::Runner;
use tollgate_lab::program::Program;
use tollgate_lab::toolchain::Compiler;
use tollgate_lab::{guest, host};
use tollgate_measure::Results;

use super::jobs::this_machine;
use super::request::{Cpu, Request};
use crate::folders;
use crate::signals;
use crate::term::Term;

/// Everything that the rounds share.
pub(crate) struct Setup<'a> {
    pub(crate) request: &'a Request,
    pub(crate) cache: Cache,
    pub(crate) runner: Runner,
    pub(crate) compiler: Compiler,
    pub(crate) cpu: Option<usize>,
    /// The user's, where there is one.
    pub(crate) program: Option<Program>,
    machine: Machine,
}

impl<'a> Setup<'a> {
    pub(crate) fn open(request: &'a Request, term: &Term) -> anyhow::Result<Self> {
        let machine = this_machine()?;
        let cpu = cpu(request.cpu)?;
        let program = match request.program.split_first() {
            Some((path, words)) => Some(Program::read(Path::new(path), words, &machine.name)?),
            None => None,
        };
        let cache = folders::open_cache(&folders::cache(request.cache.as_deref())?, term)?;
        let runner = Runner::new(signals::obeyed(), Some(cache.lock_handle()?));
        let compiler = Compiler::find(&request.cc, &runner)?;
        Ok(Self {
            request,
            cache,
            runner,
            compiler,
            cpu,
            program,
            machine,
        })
    }

    /// The guest's program for an ABI, or why there is none here.
    pub(crate) fn guest(&self, abi: Option<&String>) -> anyhow::Result<Result<PathBuf, String>> {
        let station = Station {
            abi: abi.cloned(),
            cpu: None,
        };
        let mut flags = self.machine.station(&station)?.flags;
        flags.push(guest::TIMED.to_owned());
        match guest::compile(&self.cache, &self.compiler, &flags, &self.runner) {
            Ok(program) => Ok(Ok(program)),
            Err(error @ guest::Error::NoSuchAbi { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs a plan; the inner error is why this machine runs no such program.
    pub(crate) fn run(&self, guest: &Guest, plan: &str) -> anyhow::Result<Result<Results, String>> {
        let scratch = self.cache.scratch()?;
        if let Some(program) = self.program.as_ref().filter(|_| guest.abi.is_none()) {
            program.install(scratch.path())?;
        }
        let native = Native {
            guest: &guest.program,
            cpu: self.cpu,
            limit: self.request.timeout,
        };
        let error = match native.run(plan, scratch.path(), &self.runner) {
            Ok(console) => return Ok(Ok(Results::parse(&console)?)),
            Err(error) => error,
        };
        match (&guest.abi, error.foreign()) {
            (Some(abi), Some(reason)) => Ok(Err(format!(
                "this machine runs no {abi} programs: {reason}"
            ))),
            _ => Err(error.into()),
        }
    }
}

/// The CPU that everything stays on.
fn cpu(wanted: Option<Cpu>) -> anyhow::Result<Option<usize>> {
    let allowed = host::allowed_cpus();
    match wanted {
        Some(Cpu::Any) => Ok(None),
        Some(Cpu::Number(number)) if allowed.as_ref().is_none_or(|cpus| cpus.has(number)) => {
            Ok(Some(number))
        }
        Some(Cpu::Number(number)) => bail!(
            "--cpu {number}: this process may run on {}",
            allowed.map(|cpus| cpus.to_string()).unwrap_or_default()
        ),
        None => Ok(allowed.and_then(|cpus| cpus.last())),
    }
}

/// The guest's program for an ABI.
pub(crate) struct Guest {
    pub(crate) abi: Option<String>,
    pub(crate) program: PathBuf,
}
