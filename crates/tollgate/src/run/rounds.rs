//! The rounds: what can be run here, with how many operations, then each
//! benchmark in turn, again and again, each round beginning with another one.

use tollgate_lab::case::BenchmarkPlan;
use tollgate_lab::host;
use tollgate_lab::program::Program;
use tollgate_lab::registry::Registry;
use tollgate_measure::{
    Point, Repetition, Results, Rounds, Skip, Timing, Timings, Workload, middle_of_each,
};

use super::jobs::Job;
use super::parallel::{self, Serial};
use super::setup::{Guest, Setup};
use crate::progress::Steps;
use crate::prove::setup::workload;

/// What a program that was compiled to be counted lacks.
const NO_TIME: &str = "it says no time: compile it with -DTOLLGATE_TIMED";

/// A run in progress.
pub(crate) struct Session<'a> {
    setup: &'a Setup<'a>,
    guests: Vec<Guest>,
    jobs: Vec<Job>,
    not_run: Vec<Skip>,
    points: Vec<Point>,
    load: String,
    /// Rounds so far.
    turn: usize,
    /// The most operations that a plan can ask for.
    most: u64,
    /// The user's, until it fails.
    program: Option<&'a Program>,
}

impl<'a> Session<'a> {
    /// Compiles a guest for each ABI and finds out what can be run at all.
    pub(crate) fn start(
        setup: &'a Setup<'a>,
        jobs: Vec<Job>,
        steps: &Steps<'_>,
    ) -> anyhow::Result<Self> {
        let mut session = Self {
            setup,
            guests: Vec::new(),
            jobs,
            not_run: Vec::new(),
            points: Vec::new(),
            load: host::loadavg(),
            turn: 0,
            most: Registry::built_in()?.plan.ops.most,
            program: setup.program.as_ref(),
        };
        let how = |(): &()| setup.compiler.version.clone();
        steps.step("compile the benchmarks", || session.compile(), how)?;
        Ok(session)
    }

    fn compile(&mut self) -> anyhow::Result<()> {
        let mut abis: Vec<Option<String>> = self.program.iter().map(|_| None).collect();
        for job in &self.jobs {
            if !abis.contains(&job.benchmark.abi) {
                abis.push(job.benchmark.abi.clone());
            }
        }
        for abi in abis {
            match self.setup.guest(abi.as_ref())? {
                Ok(program) => self.guests.push(Guest { abi, program }),
                Err(reason) => self.give_up(&abi, &reason),
            }
        }
        Ok(())
    }

    /// All benchmarks of an ABI.
    fn give_up(&mut self, abi: &Option<String>, reason: &str) {
        let (gone, kept): (Vec<Job>, Vec<Job>) = std::mem::take(&mut self.jobs)
            .into_iter()
            .partition(|job| job.benchmark.abi == *abi);
        self.jobs = kept;
        self.guests.retain(|guest| guest.abi != *abi);
        let gone = gone.iter().map(|job| not_run(&job.benchmark, reason));
        self.not_run.extend(gone);
    }

    /// Runs each benchmark as a plan would, then as often as a repetition needs
    /// to take long enough; what cannot be run falls out.
    pub(crate) fn choose_operations(&mut self, steps: &Steps<'_>) -> anyhow::Result<()> {
        let what = match self.setup.request.ops {
            Some(_) => "try the benchmarks",
            None => "choose the operations",
        };
        // The first estimate is of few operations and may be far off.
        let passes = if self.setup.request.ops.is_some() {
            1
        } else {
            2
        };
        let how = |left: &usize| format!("{left} can be timed here");
        let work = || {
            for pass in 0..passes {
                let times = self.round(pass == 0)?.timings;
                if self.setup.request.ops.is_none() {
                    self.adjust(&times);
                }
            }
            Ok::<_, anyhow::Error>(self.jobs.len())
        };
        steps.step(what, work, how)?;
        Ok(())
    }

    fn adjust(&mut self, times: &[Timing]) {
        let most = self.most;
        let jobs = self.jobs.iter_mut().zip(times);
        for (job, timing) in jobs.filter(|(job, _)| !job.own) {
            let time = timing.nanoseconds.last().copied().unwrap_or_default();
            job.benchmark.ops = Rounds::operations(job.benchmark.ops, time, most);
        }
    }

    /// Times everything.
    pub(crate) fn time(mut self, steps: &Steps<'_>) -> anyhow::Result<Timings> {
        let repetitions = self.setup.request.reps;
        let what = format!("time {} benchmarks", self.jobs.len());
        let mut all = self.empty();
        let work = || {
            for done in 0..repetitions {
                if self.jobs.is_empty() {
                    break;
                }
                steps.count(done as usize, repetitions as usize, "rounds");
                let round = self.round(false)?;
                all.merge(round);
            }
            Ok::<_, anyhow::Error>(())
        };
        steps.step(&what, work, |()| format!("{repetitions} rounds"))?;
        all.not_run = std::mem::take(&mut self.not_run);
        let beside = self.beside(&all);
        parallel::add(self.setup, &self.guests, &beside, &mut all, steps)?;
        all.rounds = Rounds {
            repetitions,
            chosen_for_microseconds: self
                .setup
                .request
                .ops
                .is_none()
                .then_some(Rounds::LEAST_MICROSECONDS),
        };
        all.host = host::read(self.setup.cpu);
        all.host.set_load(true, &self.load);
        all.host.set_load(false, &host::loadavg());
        all.host.set_contexts(&self.points);
        all.host.compiler.clone_from(&self.setup.compiler.version);
        all.host.tollgate = env!("CARGO_PKG_VERSION").to_owned();
        all.drop_incomplete();
        Ok(all)
    }

    /// The benchmarks that were timed alone; a program of the user's runs alone only.
    fn beside(&self, all: &Timings) -> Vec<Serial> {
        let jobs = self.jobs.iter().filter(|job| !job.own);
        let serial = jobs.filter_map(|job| {
            let wanted = workload(&job.benchmark);
            let timing = all
                .timings
                .iter()
                .find(|timing| timing.workload == wanted)?;
            Some(Serial {
                benchmark: job.benchmark.clone(),
                timing: timing.clone(),
            })
        });
        serial.collect()
    }

    /// Each benchmark once, in turn; those that failed fall out and are named.
    fn round(&mut self, first: bool) -> anyhow::Result<Timings> {
        let mut round = self.empty();
        self.turn += 1;
        for index in 0..self.guests.len() {
            let Some(guest) = self.guests.get(index) else {
                break;
            };
            let plan = self.plan(guest, first);
            match self.setup.run(guest, &plan)? {
                Ok(results) => {
                    let abi = guest.abi.clone();
                    self.take(&mut round, results, abi.as_deref());
                }
                Err(reason) => {
                    let abi = guest.abi.clone();
                    self.give_up(&abi, &reason);
                    return self.round(first);
                }
            }
        }
        self.drop_failed(&mut round);
        Ok(round)
    }

    fn plan(&self, guest: &Guest, first: bool) -> String {
        let jobs = self.jobs.iter().filter(|job| !job.own);
        let jobs = jobs.map(|job| &job.benchmark);
        let jobs = jobs.filter(|benchmark| benchmark.abi == guest.abi);
        let program = self.program.filter(|_| guest.abi.is_none());
        let lines = jobs.map(BenchmarkPlan::plan_line);
        let mut lines: Vec<String> = lines.chain(program.map(Program::plan_line)).collect();
        Rounds::take_turns(&mut lines, self.turn);
        let sweep = first.then(|| "sweep fpu_context\n".to_owned());
        sweep.into_iter().chain(lines).collect()
    }

    fn take(&mut self, round: &mut Timings, results: Results, abi: Option<&str>) {
        let results = results.of_guest(abi);
        self.points.extend(results.points);
        self.note(&results.skips, &results.errors, abi);
        let (own, ours): (Vec<_>, Vec<_>) = results
            .repetitions
            .into_values()
            .partition(|one| one.workload.benchmark.contains('/'));
        round.add(ours.into_iter());
        self.take_own(round, own, &results.errors);
    }

    /// The phases of the user's program; those that it has not printed before
    /// become jobs.
    fn take_own(&mut self, round: &mut Timings, phases: Vec<Repetition>, errors: &[String]) {
        let Some(program) = self.program else { return };
        let start = format!("program {}: ", program.name);
        if let Some(reason) = errors.iter().find_map(|error| error.strip_prefix(&start)) {
            self.program = None;
            self.not_run.push(Skip {
                job: program.line.clone(),
                reason: reason.to_owned(),
            });
            return;
        }
        for phase in middle_of_each(phases) {
            if phase.nanoseconds.is_none() {
                self.program = None;
                self.not_run.push(Skip {
                    job: phase.workload.to_string(),
                    reason: NO_TIME.to_owned(),
                });
                return;
            }
            let known = |timing: &Timing| timing.workload == phase.workload;
            if !round.timings.iter().any(known) {
                let job = Job::own(&phase);
                round.timings.push(self.timing(&job));
                self.jobs.push(job);
            }
            round.add(std::iter::once(phase));
        }
    }

    /// Why a benchmark did not run, in the guest's words.
    fn note(&mut self, skips: &[Skip], errors: &[String], abi: Option<&str>) {
        let mut noted = Vec::new();
        for job in self
            .jobs
            .iter()
            .filter(|job| job.benchmark.abi.as_deref() == abi)
        {
            let name = job.benchmark.job();
            let skipped = skips
                .iter()
                .find(|skip| skip.job == name)
                .map(|skip| skip.reason.as_str());
            let start = format!("{name}: ");
            let failed = || errors.iter().find_map(|error| error.strip_prefix(&start));
            if let Some(reason) = skipped.or_else(failed) {
                noted.push(not_run(&job.benchmark, reason));
            }
        }
        // A round that was begun again has said it before.
        noted.retain(|skip| self.not_run.iter().all(|known| known.job != skip.job));
        self.not_run.extend(noted);
    }

    fn drop_failed(&mut self, round: &mut Timings) {
        let ran = |timing: &Timing| !timing.nanoseconds.is_empty();
        let keep: Vec<Workload> = round
            .timings
            .iter()
            .filter(|timing| ran(timing))
            .map(|timing| timing.workload.clone())
            .collect();
        round.timings.retain(ran);
        let (kept, gone): (Vec<Job>, Vec<Job>) = std::mem::take(&mut self.jobs)
            .into_iter()
            .partition(|job| keep.contains(&workload(&job.benchmark)));
        self.jobs = kept;
        for job in gone {
            let name = workload(&job.benchmark).to_string();
            if self.not_run.iter().all(|skip| skip.job != name) {
                self.not_run
                    .push(not_run(&job.benchmark, "the guest said nothing of it"));
            }
        }
    }

    /// Every job without a repetition.
    fn empty(&self) -> Timings {
        Timings {
            host: tollgate_measure::Host::default(),
            rounds: Rounds::default(),
            timings: self.jobs.iter().map(|job| self.timing(job)).collect(),
            not_run: Vec::new(),
        }
    }

    fn timing(&self, job: &Job) -> Timing {
        Timing {
            workload: workload(&job.benchmark),
            per: job.per.clone(),
            less: self.less(job).map(workload),
            operations: job.benchmark.ops,
            nanoseconds: Vec::new(),
        }
    }

    /// The job that is subtracted from this one: of the same program, with the
    /// same parameters where there is one.
    fn less(&self, job: &Job) -> Option<&BenchmarkPlan> {
        let name = job.benchmark.less.as_ref()?;
        let all = self.jobs.iter().map(|job| &job.benchmark);
        let mut fit = all.filter(|other| other.name == *name && other.abi == job.benchmark.abi);
        let alike = |other: &&BenchmarkPlan| other.parameters == job.benchmark.parameters;
        fit.clone().find(alike).or_else(|| fit.next())
    }
}

fn not_run(benchmark: &BenchmarkPlan, reason: &str) -> Skip {
    Skip {
        job: workload(benchmark).to_string(),
        reason: reason.to_owned(),
    }
}
