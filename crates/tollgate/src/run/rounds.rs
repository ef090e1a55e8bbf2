//! The rounds: what can be run here, with how many operations, then each
//! benchmark in turn, again and again, each round beginning with another one.

use tollgate_lab::host;
use tollgate_lab::registry::Registry;
use tollgate_lab::rounds::{Job, Schedule};
use tollgate_measure::{Rounds, Timings};

use super::parallel;
use super::setup::{Guest, Setup};
use crate::progress::Steps;

/// A run in progress.
pub(crate) struct Session<'a> {
    setup: &'a Setup<'a>,
    guests: Vec<Guest>,
    schedule: Schedule<'a>,
    load: String,
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
            schedule: Schedule::new(jobs, setup.program.as_ref()),
            load: host::loadavg(),
        };
        let how = |(): &()| setup.compiler.version.clone();
        steps.step("compile the benchmarks", || session.compile(), how)?;
        Ok(session)
    }

    fn compile(&mut self) -> anyhow::Result<()> {
        for abi in self.schedule.abis() {
            match self.setup.guest(abi.as_ref())? {
                Ok(program) => self.guests.push(Guest { abi, program }),
                Err(reason) => self.schedule.give_up(&abi, &reason),
            }
        }
        Ok(())
    }

    /// Runs each benchmark as a plan would, then as often as a repetition needs
    /// to take long enough; what cannot be run falls out.
    pub(crate) fn choose_operations(&mut self, steps: &Steps<'_>) -> anyhow::Result<()> {
        let most = Registry::built_in()?.plan.ops.most;
        // The first estimate is of few operations and may be far off.
        let (what, passes) = match self.setup.request.ops {
            Some(_) => ("try the benchmarks", 1),
            None => ("choose the operations", 2),
        };
        let how = |left: &usize| format!("{left} can be timed here");
        let work = || {
            for pass in 0..passes {
                let times = self.round(pass == 0)?.timings;
                if self.setup.request.ops.is_none() {
                    self.schedule.choose_operations(&times, most);
                }
            }
            Ok::<_, anyhow::Error>(self.schedule.jobs().len())
        };
        steps.step(what, work, how)?;
        Ok(())
    }

    /// Times everything.
    pub(crate) fn time(mut self, steps: &Steps<'_>) -> anyhow::Result<Timings> {
        let repetitions = self.setup.request.reps;
        let what = match self.schedule.jobs().len() {
            1 => "time 1 benchmark".to_owned(),
            many => format!("time {many} benchmarks"),
        };
        let mut all = self.schedule.empty();
        let work = || {
            for done in 0..repetitions {
                if self.schedule.jobs().is_empty() {
                    break;
                }
                steps.count(done as usize, repetitions as usize, "rounds");
                let round = self.round(false)?;
                all.merge(round);
            }
            Ok::<_, anyhow::Error>(())
        };
        steps.step(&what, work, |()| format!("{repetitions} rounds"))?;
        all.not_run = self.schedule.take_not_run();
        let beside = self.schedule.timed_alone(&all);
        parallel::add(self.setup, &self.guests, &beside, &mut all, steps)?;
        let request = self.setup.request;
        let chosen = request.ops.is_none();
        all.rounds = Rounds {
            repetitions,
            warmups: request.warmup,
            chosen_for_microseconds: chosen.then_some(Rounds::LEAST_MICROSECONDS),
        };
        all.host = host::read(self.setup.cpu);
        all.host.set_load(true, &self.load);
        all.host.set_load(false, &host::loadavg());
        all.host.set_contexts(self.schedule.points());
        all.host.compiler.clone_from(&self.setup.compiler.version);
        all.host.tollgate = env!("CARGO_PKG_VERSION").to_owned();
        all.drop_incomplete();
        Ok(all)
    }

    /// Each benchmark once, in turn; those that failed fall out and are named.
    fn round(&mut self, first: bool) -> anyhow::Result<Timings> {
        let mut round = self.schedule.begin();
        for index in 0..self.guests.len() {
            let Some(guest) = self.guests.get(index) else {
                break;
            };
            let abi = guest.abi.clone();
            let plan = self.schedule.plan(abi.as_deref(), first);
            match self.setup.run(guest, &plan)? {
                Ok(results) => self.schedule.take(&mut round, results, abi.as_deref()),
                Err(reason) => {
                    self.guests.retain(|guest| guest.abi != abi);
                    self.schedule.give_up(&abi, &reason);
                    return self.round(first);
                }
            }
        }
        self.schedule.end(&mut round);
        Ok(round)
    }
}
