//! The rounds of a timed run: what each guest is told in a round, and what its answer
//! means for the next one. Nothing runs here.

use std::collections::BTreeMap;

use tollgate_measure::{
    Host, Point, Repetition, Results, Rounds, Skip, Timing, Timings, Workload, middle_of_each,
    together,
};

use crate::case::BenchmarkPlan;
use crate::program::Program;

/// What the name of a workload is given that runs beside itself.
const PARALLEL: &str = "parallel";

/// What a program that was compiled to be counted lacks.
const NO_TIME: &str = "it says no time: compile it with -DTOLLGATE_TIMED";

/// A benchmark of a round.
#[derive(Clone, Debug)]
pub struct Job {
    /// What runs; its repetitions are those of one round.
    pub benchmark: BenchmarkPlan,
    /// What an operation is.
    pub per: String,
    /// Whether it is a phase of a program of the user's, which has no line of its
    /// own in the plan.
    pub own: bool,
}

impl Job {
    /// A phase that a program of the user's printed.
    pub fn own(phase: &Repetition) -> Self {
        Self {
            benchmark: BenchmarkPlan {
                name: phase.workload.benchmark.clone(),
                parameters: BTreeMap::new(),
                unit: None,
                less: None,
                control: false,
                on_demand: false,
                ops: phase.operations,
                reps: 1,
                abi: None,
                cpu: None,
            },
            per: "op".to_owned(),
            own: true,
        }
    }
}

/// The jobs of a run as its rounds go on: what cannot be run falls out and is named.
#[derive(Debug)]
pub struct Schedule<'a> {
    jobs: Vec<Job>,
    not_run: Vec<Skip>,
    points: Vec<Point>,
    /// Rounds so far.
    turn: usize,
    /// The user's, until it fails.
    program: Option<&'a Program>,
}

impl<'a> Schedule<'a> {
    /// Of some jobs and perhaps a program of the user's, before the first round.
    #[must_use]
    pub fn new(jobs: Vec<Job>, program: Option<&'a Program>) -> Self {
        Self {
            jobs,
            not_run: Vec::new(),
            points: Vec::new(),
            turn: 0,
            program,
        }
    }

    /// What can be run as far as that is known.
    #[must_use]
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// What the guests said of points in their code.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Hands out what cannot be run, and why.
    pub fn take_not_run(&mut self) -> Vec<Skip> {
        std::mem::take(&mut self.not_run)
    }

    /// The ABIs of which a guest is needed, each once; a program of the user's is of the
    /// machine's own.
    #[must_use]
    pub fn abis(&self) -> Vec<Option<String>> {
        let mut abis: Vec<Option<String>> = self.program.iter().map(|_| None).collect();
        for job in &self.jobs {
            if !abis.contains(&job.benchmark.abi) {
                abis.push(job.benchmark.abi.clone());
            }
        }
        abis
    }

    /// Takes all benchmarks of an ABI out.
    pub fn give_up(&mut self, abi: &Option<String>, reason: &str) {
        let (gone, kept): (Vec<Job>, Vec<Job>) = std::mem::take(&mut self.jobs)
            .into_iter()
            .partition(|job| job.benchmark.abi == *abi);
        self.jobs = kept;
        let gone = gone.iter().map(|job| not_run(&job.benchmark, reason));
        self.not_run.extend(gone);
    }

    /// Begins the next round.
    #[must_use]
    pub fn begin(&mut self) -> Timings {
        self.turn += 1;
        self.empty()
    }

    /// What the guest of an ABI is told in this round; the first of all asks as well what
    /// the machine's contexts are.
    #[must_use]
    pub fn plan(&self, abi: Option<&str>, first: bool) -> String {
        let jobs = self.jobs.iter().filter(|job| !job.own);
        let jobs = jobs.map(|job| &job.benchmark);
        let jobs = jobs.filter(|benchmark| benchmark.abi.as_deref() == abi);
        let program = self.program.filter(|_| abi.is_none());
        let lines = jobs.map(BenchmarkPlan::plan_line);
        let mut lines: Vec<String> = lines.chain(program.map(Program::plan_line)).collect();
        Rounds::take_turns(&mut lines, self.turn);
        let sweep = first.then(|| "sweep fpu_context\n".to_owned());
        sweep.into_iter().chain(lines).collect()
    }

    /// Gives each job as many operations, at most so many, as a repetition needs to take
    /// long enough, by what the last round took.
    pub fn choose_operations(&mut self, times: &[Timing], most: u64) {
        let jobs = self.jobs.iter_mut().zip(times);
        for (job, timing) in jobs.filter(|(job, _)| !job.own) {
            // One that was not timed stays as it is.
            if let Some(time) = timing.nanoseconds.last() {
                job.benchmark.ops = Rounds::operations(job.benchmark.ops, *time, most);
            }
        }
    }

    /// Takes what the guest of an ABI printed into a round.
    pub fn take(&mut self, round: &mut Timings, results: Results, abi: Option<&str>) {
        let results = results.of_guest(abi);
        self.points.extend(results.points);
        self.note(&results.skips, &results.errors, abi);
        let (own, ours): (Vec<_>, Vec<_>) = results
            .repetitions
            .into_values()
            .partition(|one| one.workload.benchmark.contains('/'));
        let last = |one: &Repetition| {
            let mut jobs = self.jobs.iter().map(|job| &job.benchmark);
            jobs.any(|job| job.reps == one.number && job.workload() == one.workload)
        };
        round.add(ours.into_iter().filter(last));
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

    /// Ends a round: what has no time of it falls out.
    pub fn end(&mut self, round: &mut Timings) {
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
            .partition(|job| keep.contains(&job.benchmark.workload()));
        self.jobs = kept;
        for job in gone {
            let name = job.benchmark.workload().to_string();
            if self.not_run.iter().all(|skip| skip.job != name) {
                self.not_run
                    .push(not_run(&job.benchmark, "the guest said nothing of it"));
            }
        }
    }

    /// The benchmarks that were timed alone; a program of the user's runs alone only.
    #[must_use]
    pub fn timed_alone(&self, all: &Timings) -> Vec<Serial> {
        let jobs = self.jobs.iter().filter(|job| !job.own);
        let serial = jobs.filter_map(|job| {
            let (wanted, mut timings) = (job.benchmark.workload(), all.timings.iter());
            Some(Serial {
                benchmark: job.benchmark.clone(),
                timing: timings.find(|timing| timing.workload == wanted)?.clone(),
            })
        });
        serial.collect()
    }

    /// Every job without a repetition.
    #[must_use]
    pub fn empty(&self) -> Timings {
        Timings {
            host: Host::default(),
            rounds: Rounds::default(),
            timings: self.jobs.iter().map(|job| self.timing(job)).collect(),
            not_run: Vec::new(),
        }
    }

    fn timing(&self, job: &Job) -> Timing {
        Timing {
            workload: job.benchmark.workload(),
            per: job.per.clone(),
            less: self.less(job).map(BenchmarkPlan::workload),
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

/// A benchmark that ran by itself and is to run beside itself.
#[derive(Clone, Debug)]
pub struct Serial {
    /// What ran.
    pub benchmark: BenchmarkPlan,
    /// How long it took alone.
    pub timing: Timing,
}

/// Repetitions that each of several processes makes, one after the other. That in the
/// middle counts: they do not start at one moment, and all are at work then.
const TOGETHER: u32 = 5;

impl Serial {
    /// What each of several processes is told to do.
    #[must_use]
    pub fn plan_together(&self) -> String {
        let plan = BenchmarkPlan {
            reps: TOGETHER,
            ..self.benchmark.clone()
        };
        plan.plan_line()
    }

    /// What that took, from what each of them printed, in nanoseconds.
    ///
    /// # Errors
    /// Why one of them has no time.
    pub fn time_together(processes: &[Results]) -> Result<u64, String> {
        together(processes, TOGETHER.div_ceil(2))
    }

    /// Without a time, with so many processes among the parameters, in the order of
    /// their names.
    #[must_use]
    pub fn in_parallel(&self, processes: usize) -> Timing {
        let mut timing = Timing {
            nanoseconds: Vec::new(),
            less: None,
            ..self.timing.clone()
        };
        let parameters = &mut timing.workload.parameters;
        parameters.push((PARALLEL.to_owned(), processes as i64));
        parameters.sort();
        timing
    }
}

fn not_run(benchmark: &BenchmarkPlan, reason: &str) -> Skip {
    Skip {
        job: benchmark.workload().to_string(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(workload: Workload, nanoseconds: Vec<u64>) -> Timing {
        Timing {
            workload,
            per: "op".to_owned(),
            less: None,
            operations: 10,
            nanoseconds,
        }
    }

    fn job(name: &str, own: bool) -> (Job, Workload) {
        let workload = Workload {
            benchmark: name.to_owned(),
            parameters: Vec::new(),
            abi: None,
            cpu: None,
        };
        let mut job = Job::own(&Repetition {
            workload: workload.clone(),
            operations: 10,
            number: 1,
            nanoseconds: Some(1),
            tallies: std::collections::BTreeMap::new(),
        });
        job.own = own;
        (job, workload)
    }

    /// What warms up is of the same process and has a time, too.
    #[test]
    fn only_the_repetition_behind_the_warm_up_counts() {
        let (mut one, workload) = job("a", false);
        one.benchmark.reps = 3;
        let mut schedule = Schedule::new(vec![one], None);
        let mut round = schedule.begin();
        let mut results = Results::default();
        for number in 0..=3 {
            let repetition = Repetition {
                workload: workload.clone(),
                operations: 10,
                number,
                nanoseconds: Some(u64::from(number) * 100),
                tallies: BTreeMap::new(),
            };
            results.repetitions.insert(u64::from(number), repetition);
        }
        schedule.take(&mut round, results, None);
        schedule.end(&mut round);
        assert_eq!(round.timings[0].nanoseconds, [300]);
    }

    /// A job without a time was given as many operations as may be.
    #[test]
    fn only_what_was_timed_is_given_other_operations() {
        let (jobs, workloads): (Vec<Job>, Vec<Workload>) =
            [("a", false), ("b", false), ("c", true)]
                .map(|(name, own)| job(name, own))
                .into_iter()
                .unzip();
        let times = [vec![5, 10_000], vec![], vec![10_000]];
        let times: Vec<Timing> = workloads
            .into_iter()
            .zip(times)
            .map(|(of, times)| timing(of, times))
            .collect();
        let mut schedule = Schedule::new(jobs, None);
        schedule.choose_operations(&times, 1_000_000);
        let operations: Vec<u64> = schedule
            .jobs()
            .iter()
            .map(|job| job.benchmark.ops)
            .collect();
        assert_eq!(operations, [2_000, 10, 10]);
    }
}
