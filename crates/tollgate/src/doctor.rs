//! `tollgate doctor`: what this machine can do, what it cannot, and what mends that.

mod probes;
mod table;

use std::path::PathBuf;

use tollgate_lab::machine::Machine;
use tollgate_report::doctor::{self as render, Check, Diagnosis, Job, SettingLine};
use tollgate_source::shown;

use crate::exit::Exit;
use crate::output::{Form, Output};
use crate::progress::Meter;
use crate::settings::{KEYS, Settings};
use crate::term::Term;

/// Everything that the command line says of it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The kernel tree; Debian's linux-source where none is given.
    pub(crate) tree: Option<PathBuf>,
    /// Where images and results are kept.
    pub(crate) cache: Option<PathBuf>,
    /// The compiler of the kernels.
    pub(crate) compiler: Option<String>,
    /// The emulator.
    pub(crate) qemu: Option<String>,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
}

/// The job that tollgate is for.
pub(crate) const MAIN: &str = "prove";

/// What needs nothing but the program itself.
const ALWAYS: &str = "scan, check, fix, gates, profile, compare, cases";

/// Looks at everything and says what was found.
///
/// # Errors
/// When nothing could be looked at; also where the main job cannot run, once that is
/// said.
pub(crate) fn run(request: &Request, settings: &Settings, term: &Term) -> anyhow::Result<Exit> {
    request.output.check([])?;
    let meter = Meter::of(term, "look at this machine");
    let checks = probes::all(request)?;
    drop(meter);
    let diagnosis = Diagnosis {
        tollgate: env!("CARGO_PKG_VERSION").to_owned(),
        can: jobs(&checks),
        checks,
        settings: lines(settings),
    };
    request.output.write(term, |form| {
        Ok(match form {
            Form::Json => render::doctor_json(&diagnosis)?.into(),
            _ => render::doctor_document(&diagnosis).into(),
        })
    })?;
    anyhow::ensure!(
        diagnosis.is_fit(),
        "{MAIN} cannot run on this machine; what mends it stands above"
    );
    Ok(Exit::Clean)
}

/// Each job that something is needed for, in the order in which they come up.
fn jobs(checks: &[Check]) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    for check in checks {
        for name in &check.jobs {
            match jobs.iter_mut().find(|job| job.name == *name) {
                Some(job) => job.can &= check.good,
                None => jobs.push(Job {
                    name: name.clone(),
                    can: check.good,
                    main: name == MAIN,
                }),
            }
        }
    }
    for job in &mut jobs {
        job.can &= checks
            .iter()
            .all(|check| check.good || !stops(check, &job.name));
    }
    jobs.push(Job {
        name: ALWAYS.to_owned(),
        can: true,
        main: false,
    });
    jobs
}

/// Whether a part of a job lacks what all of the job needs: `prove --patch` does not run
/// where `prove` does not. Another architecture has an emulator and a compiler of its own.
fn stops(check: &Check, job: &str) -> bool {
    let is_part = |whole: &str| {
        let rest = job.strip_prefix(whole);
        rest.is_some_and(|rest| rest.starts_with([' ', ',']))
    };
    let mut machines = Machine::names().into_iter();
    let is_of_other = machines.any(|name| job == probes::job_of(name))
        && probes::USUAL.contains(&check.name.as_str());
    !is_of_other && check.jobs.iter().any(|whole| is_part(whole))
}

fn lines(settings: &Settings) -> Vec<SettingLine> {
    let set = KEYS.iter().filter_map(|key| settings.of(key.name));
    set.map(|setting| SettingLine {
        key: setting.key.to_owned(),
        value: shown(std::path::Path::new(&setting.value)).to_string(),
        from: setting.origin.to_string(),
    })
    .collect()
}
