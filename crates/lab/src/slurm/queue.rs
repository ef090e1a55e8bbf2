//! The queue: jobs that wait are handed over as one array, and looked after until each
//! has its answer or a reason why there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tollgate_defect::{Defect, OrDefect as _};

use super::array::{self, Array, Known, Left};
use super::run::{Record, RunFolder};
use super::text::{self, Lost, State, Task};
use super::{Error, Site, Store};
use crate::cache;
use crate::job::{Answer, Came, Work};
use crate::process::{self, Interrupt, Runner};

/// How often a job is begun.
const TRIES: usize = 3;
/// How often who waits looks.
const TICK: Duration = Duration::from_millis(100);
/// How often Slurm is asked while things change.
const ASKED: Duration = Duration::from_secs(1);
/// How often it is asked where nothing has changed for long: sites mind a squeue(1) in
/// a loop, which the controller answers to each user in turn.
const SELDOM: Duration = Duration::from_secs(15);
/// The part of the time without a change that is waited until it is asked again.
const PATIENCE: u32 = 20;
/// How long the controller or the shared folder may be away.
const AWAY: Duration = Duration::from_secs(600);
/// How long what was cancelled may take to end.
const ENDS: Duration = Duration::from_secs(10);

/// Hears what the queue does, from any thread.
pub trait Told: Send + Sync {
    /// Something happened that people should know of.
    fn event(&self, words: &str);
    /// How the queue stands now; each line takes the place of the one before.
    fn line(&self, words: &str);
}

/// Hands jobs to Slurm and waits for them.
pub struct Queue {
    site: Site,
    store: Store,
    runner: Runner,
    run: RunFolder,
    told: Arc<dyn Told>,
    state: Mutex<Held>,
}

/// What all who wait share.
#[derive(Default)]
struct Held {
    jobs: Vec<Ticket>,
    arrays: Vec<Array>,
    /// What was handed over, and nobody knows whether Slurm has it.
    doubt: Option<Array>,
    made: usize,
    asked: Option<Instant>,
    /// When a job came or was answered last.
    changed: Option<Instant>,
    away: BTreeMap<Part, Instant>,
    record: Record,
}

/// What may be away for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Controller,
    /// Slurm takes no more jobs of this user.
    Submission,
    /// The shared folder gives nothing.
    Reading,
    /// The shared folder takes nothing.
    Writing,
}

impl Part {
    fn words(self) -> &'static str {
        match self {
            Self::Controller => "Slurm's controller answers again",
            Self::Submission => "Slurm takes jobs again",
            Self::Reading => "the shared folder can be read again",
            Self::Writing => "the shared folder can be written to again",
        }
    }
}

/// A job of the queue.
struct Ticket {
    work: Work,
    /// Whether somebody waits for it.
    claimed: bool,
    tries: Vec<String>,
    shunned: BTreeSet<String>,
    answer: Option<Result<Came, Error>>,
    sent: bool,
}

impl Ticket {
    fn new(work: Work, claimed: bool) -> Self {
        Self {
            work,
            claimed,
            tries: Vec::new(),
            shunned: BTreeSet::new(),
            answer: None,
            sent: !claimed,
        }
    }
}

/// What the tasks are, by array and number.
type Tasks = BTreeMap<(u64, usize), Task>;

impl Queue {
    /// A queue in a run's folder; `told` hears what people should know. Arrays that an
    /// earlier process of the run left are taken over.
    ///
    /// # Errors
    /// When the shared folder cannot be used.
    pub fn new(
        site: Site,
        interrupt: Interrupt,
        told: Arc<dyn Told>,
        run: Option<&Path>,
    ) -> Result<Self, Error> {
        let run = match run {
            Some(folder) => RunFolder::of(folder),
            None => RunFolder::new(&site.shared)?,
        };
        let mut held = Held::default();
        for known in run.arrays()? {
            let works = array::laid_out(&known.folder)?;
            let first = held.jobs.len();
            held.jobs
                .extend(works.into_iter().map(|work| Ticket::new(work, false)));
            let numbers: Vec<usize> = (first..held.jobs.len()).collect();
            held.arrays.push(Array::new(known, &numbers));
        }
        held.made = run.made()?;
        Ok(Self {
            store: Store::new(&site.shared),
            runner: Runner::new(interrupt, None),
            site,
            run,
            told,
            state: Mutex::new(held),
        })
    }

    /// What all runs of the cluster share.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Says what people should know.
    pub fn event(&self, words: &str) {
        self.told.event(words);
    }

    /// What is done to the shared folder, again and again while that is full or away.
    ///
    /// # Errors
    /// What was said last, after ten minutes; and when the user asks to stop.
    pub fn patiently<T>(
        &self,
        mut done: impl FnMut() -> Result<T, cache::Error>,
    ) -> Result<T, Error> {
        loop {
            match done() {
                Ok(value) => {
                    self.back(&mut self.held(), Part::Writing);
                    return Ok(value);
                }
                Err(error) => self.hiccup(&mut self.held(), Part::Writing, error.into())?,
            }
            self.runner.interrupt().check()?;
            std::thread::sleep(ASKED);
        }
    }

    /// What a node has put into the shared folder, as soon as it is seen here: NFS keeps
    /// what it knows of a folder for a while. None where it never is.
    ///
    /// # Errors
    /// The first that is met; and when the user asks to stop.
    pub fn arrived<T, E: From<process::Error>>(
        &self,
        mut look: impl FnMut() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let begun = Instant::now();
        loop {
            let there = look()?;
            if there.is_some() || begun.elapsed() > array::ARRIVES {
                return Ok(there);
            }
            self.runner.interrupt().check()?;
            std::thread::sleep(ASKED);
        }
    }

    /// Has a job done on some node.
    ///
    /// # Errors
    /// Why there is no answer, each try named.
    pub fn run(&self, work: &Work) -> Result<Came, Error> {
        let number = self.held().number(work);
        loop {
            std::thread::sleep(TICK);
            self.runner.interrupt().check()?;
            let mut held = self.held();
            // What is asked for at about the same time becomes one array.
            if held.is_time() {
                let looked = self.look(&mut held);
                held.asked = Some(Instant::now());
                looked?;
            }
            let ticket = held.jobs.get_mut(number);
            if let Some(answer) = ticket.and_then(|ticket| ticket.answer.take()) {
                return answer;
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, held: &mut Held) -> Result<(), Error> {
        let tasks = self.tasks(held)?;
        let mut arrays = std::mem::take(&mut held.arrays);
        let looked = arrays
            .iter_mut()
            .try_for_each(|array| self.ask(array, tasks.as_ref(), held));
        arrays.retain(|array| !array.open.is_empty());
        held.arrays = arrays;
        looked?;
        self.send(held)?;
        self.tell(held, tasks.as_ref())
    }

    /// What squeue says of all arrays; none where the controller is away.
    fn tasks(&self, held: &mut Held) -> Result<Option<Tasks>, Error> {
        let numbers = held.arrays.iter().filter_map(|array| array.known.number);
        let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
        if numbers.is_empty() {
            return Ok(Some(Tasks::new()));
        }
        let mut command = Command::new("squeue");
        command.args(["-h", "-r", "-t", "all", "-j", &numbers.join(",")]);
        command.args(["-O", text::COLUMNS]);
        let said = self.slurm(held, &mut command)?;
        Ok(said.map(|said| {
            let tasks = text::tasks(&said).into_iter();
            tasks.map(|task| ((task.array, task.index), task)).collect()
        }))
    }

    /// Takes in what came of the tasks of an array.
    fn ask(&self, array: &mut Array, tasks: Option<&Tasks>, held: &mut Held) -> Result<(), Error> {
        let of = |array: &Array, index: usize| {
            let number = array.known.number?;
            tasks?.get(&(number, index))
        };
        for (index, ticket) in array.open.clone() {
            let task = of(array, index);
            if task
                .is_some_and(|task| matches!(task.state, State::Waiting(_)) && task.restarts == 0)
            {
                continue;
            }
            let left = match array::left(&array.known.folder, index) {
                Ok(left) => left,
                Err(error) => return self.hiccup(held, Part::Reading, error.into()),
            };
            let lost = match left {
                Left::Answer(answer) if held.is_asked(ticket, &answer)? => {
                    array.open.remove(&index);
                    self.settle(held, ticket, answer.came, &answer.node);
                    continue;
                }
                Left::Answer(_) | Left::Garbled => Some(Lost::Garbled),
                Left::Nothing if tasks.is_none() => None,
                Left::Nothing => array.lost(index, task),
            };
            if let Some(lost) = lost {
                let log = match array.log(index) {
                    Ok(log) => log,
                    Err(error) => return self.hiccup(held, Part::Reading, error.into()),
                };
                array.open.remove(&index);
                if lost.is_queued() {
                    self.cancel_task(array, index);
                }
                let nodes = task.map_or("", |task| task.nodes.as_str());
                self.lost(held, ticket, (lost, nodes), &log);
            }
        }
        self.back(held, Part::Reading);
        Ok(())
    }

    /// Gives a job its answer, or sends it again where a node had an accident.
    fn settle(&self, held: &mut Held, number: usize, came: Came, node: &str) {
        held.changed = Some(Instant::now());
        let Some(ticket) = held.jobs.get_mut(number) else {
            return;
        };
        ticket.answer = match came {
            Came::Failed { words, accident } if accident => {
                ticket.shunned.insert(node.to_owned());
                return self.tried(ticket, &words, node, true);
            }
            Came::Failed { words, .. } => Some(Err(Error::Said(words))),
            came => Some(Ok(came)),
        };
    }

    /// What becomes of a job whose task gives no answer.
    fn lost(&self, held: &mut Held, number: usize, (lost, nodes): (Lost, &str), log: &str) {
        held.changed = Some(Instant::now());
        let lost = lost.by_log(log);
        let Some(ticket) = held.jobs.get_mut(number) else {
            return;
        };
        if lost.shuns() && !nodes.is_empty() {
            ticket.shunned.insert(nodes.to_owned());
        }
        let words = match lost {
            Lost::Failed | Lost::NoProgram | Lost::Refused | Lost::Unwritten => {
                format!("{}{}", lost.words(), array::last_words(log))
            }
            lost => lost.words().to_owned(),
        };
        self.tried(ticket, &words, nodes, lost.again());
    }

    fn tried(&self, ticket: &mut Ticket, words: &str, nodes: &str, again: bool) {
        let what = ticket.work.what();
        let at = match nodes {
            "" => String::new(),
            nodes => format!(" ({})", tollgate_source::plain(nodes)),
        };
        ticket.tries.push(format!("{words}{at}"));
        if again && ticket.tries.len() < TRIES {
            self.told
                .event(&format!("{what}: {words}{at}; it is done again"));
            ticket.sent = false;
            return;
        }
        let reason = ticket.tries.join("; then ");
        ticket.answer = Some(Err(Error::NoAnswer { what, reason }));
    }

    /// Hands over what waits. A controller that is away is waited for.
    fn send(&self, held: &mut Held) -> Result<(), Error> {
        if held.doubt.is_some() && !self.resolve(held)? {
            return Ok(());
        }
        let waits = |(number, ticket): (usize, &Ticket)| {
            let waits = ticket.claimed && !ticket.sent && ticket.answer.is_none();
            waits.then(|| (number, ticket.shunned.clone()))
        };
        let waiting: Vec<_> = held.jobs.iter().enumerate().filter_map(waits).collect();
        for (shunned, some) in array::groups(waiting.into_iter(), self.site.array) {
            let array = match self.laid_out(held, &shunned, &some) {
                Ok(array) => array,
                Err(error) => return self.hiccup(held, Part::Writing, error),
            };
            self.back(held, Part::Writing);
            for number in &some {
                if let Some(ticket) = held.jobs.get_mut(*number) {
                    ticket.sent = true;
                }
            }
            held.doubt = Some(array);
            self.remember(held)?;
            if !self.submit(held)? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn laid_out(
        &self,
        held: &mut Held,
        shunned: &BTreeSet<String>,
        some: &[usize],
    ) -> Result<Array, Error> {
        let name = format!("{}.{}", self.run.name(), held.made);
        let folder = self.run.path().join(format!("array-{}", held.made));
        // One that was begun and not handed over has half of the jobs.
        cache::remove_folder(&folder)?;
        cache::make_folder(&folder)?;
        let works = some.iter().filter_map(|number| held.jobs.get(*number));
        array::lay_out(&folder, works.map(|ticket| &ticket.work))?;
        let script = text::Script {
            site: &self.site,
            name: &name,
            folder: &folder,
            tasks: some.len(),
            shunned,
        };
        cache::write_file(&folder.join("script"), script.text().as_bytes())?;
        held.made += 1;
        let known = Known {
            number: None,
            name,
            folder,
        };
        Ok(Array::new(known, some))
    }

    /// Hands over the array in doubt; whether it is clear now what became of it.
    fn submit(&self, held: &mut Held) -> Result<bool, Error> {
        let known = held.doubt.as_ref().map(|array| array.known.clone());
        let known = known.or_defect("no array is to be handed over")?;
        let mut command = Command::new("sbatch");
        command.arg("--parsable").arg("--chdir").arg(&known.folder);
        // What Slurm itself says of the end of a task stands in its log alone.
        command.arg("--output").arg(known.folder.join("%a.log"));
        command.arg(known.folder.join("script"));
        match self.runner.output(&mut command) {
            Ok(said) => {
                self.back(held, Part::Controller);
                self.back(held, Part::Submission);
                let said = String::from_utf8_lossy(&said);
                match text::number(&said) {
                    Some(number) => self.has(held, number)?,
                    None => self.refused(held, &format!("sbatch said {:?}", said.trim()))?,
                }
                Ok(true)
            }
            Err(error) => self.not_taken(held, error),
        }
    }

    /// As [`Queue::submit`], of an sbatch that failed.
    fn not_taken(&self, held: &mut Held, error: process::Error) -> Result<bool, Error> {
        let process::Error::Failed { message, .. } = &error else {
            return Err(error.into());
        };
        let part = match text::wait_for(message) {
            Some(text::Wait::Controller) => Part::Controller,
            Some(text::Wait::Limit) => Part::Submission,
            None => {
                self.back(held, Part::Controller);
                return self.refused(held, message).map(|()| true);
            }
        };
        self.hiccup(held, part, error.into()).map(|()| false)
    }

    /// Whether Slurm took what was handed over when its answer was lost; where it did
    /// not, it is handed over again.
    fn resolve(&self, held: &mut Held) -> Result<bool, Error> {
        let name = held.doubt.as_ref().map(|array| array.known.name.clone());
        let name = name.or_defect("no array is in doubt")?;
        let mut command = Command::new("squeue");
        command.args(["-h", "-t", "all", "-O", "ArrayJobID:|", "--name", &name]);
        let Some(said) = self.slurm(held, &mut command)? else {
            return Ok(false);
        };
        match said
            .lines()
            .find_map(|line| text::number(line.trim_end_matches('|')))
        {
            Some(number) => self.has(held, number).map(|()| true),
            None => self.submit(held),
        }
    }

    fn has(&self, held: &mut Held, number: u64) -> Result<(), Error> {
        if let Some(mut array) = held.doubt.take() {
            array.known.number = Some(number);
            held.arrays.push(array);
        }
        self.remember(held)
    }

    /// Slurm does not take an array. Where nodes were shunned, that may be why.
    fn refused(&self, held: &mut Held, message: &str) -> Result<(), Error> {
        let array = held.doubt.take();
        let numbers: Vec<usize> = array
            .iter()
            .flat_map(|all| all.open.values().copied())
            .collect();
        let lines = message
            .lines()
            .map(|line| line.trim().replace("sbatch: error: ", ""));
        let reason = lines.collect::<Vec<_>>().join("; ");
        for number in numbers {
            let Some(ticket) = held.jobs.get_mut(number) else {
                continue;
            };
            if !ticket.shunned.is_empty() {
                ticket.shunned.clear();
                ticket.sent = false;
                continue;
            }
            ticket.answer = Some(Err(Error::Refused {
                what: ticket.work.what(),
                reason: tollgate_source::plain(&reason).into_owned(),
            }));
        }
        self.remember(held)
    }

    /// What a program of Slurm's says; none where the controller is away, for a while.
    fn slurm(&self, held: &mut Held, command: &mut Command) -> Result<Option<String>, Error> {
        let error = match self.runner.output(command) {
            Ok(said) => {
                self.back(held, Part::Controller);
                return Ok(Some(String::from_utf8_lossy(&said).into_owned()));
            }
            Err(error) => error,
        };
        match &error {
            // Of a single array that it has forgotten.
            process::Error::Failed { message, .. } if message.contains("Invalid job id") => {
                Ok(Some(String::new()))
            }
            process::Error::Failed { message, .. } if text::wait_for(message).is_some() => {
                let waits = self.hiccup(held, Part::Controller, error.into());
                waits.map(|()| None)
            }
            _ => Err(error.into()),
        }
    }

    fn back(&self, held: &mut Held, part: Part) {
        if held.away.remove(&part).is_some() {
            self.told.event(part.words());
        }
    }

    /// What may pass is waited for; an error once that has taken too long.
    fn hiccup(&self, held: &mut Held, part: Part, error: Error) -> Result<(), Error> {
        if matches!(error, Error::Process(process::Error::Interrupted)) {
            return Err(error);
        }
        // What of this run's own is at work makes room for what waits.
        let is_own = part == Part::Submission && !held.arrays.is_empty();
        match held.away.get_mut(&part) {
            Some(since) if is_own => *since = Instant::now(),
            Some(since) if since.elapsed() > AWAY => return Err(error),
            Some(_) => {}
            None => {
                held.away.insert(part, Instant::now());
                self.told.event(&format!("{error}; waiting"));
            }
        }
        Ok(())
    }

    /// How many are where.
    fn tell(&self, held: &mut Held, tasks: Option<&Tasks>) -> Result<(), Error> {
        let claimed = held.jobs.iter().filter(|ticket| ticket.claimed);
        let total = claimed.count();
        let open = held.open();
        let line = match tasks {
            None => "Slurm does not answer".to_owned(),
            Some(tasks) => words(tasks, &held.arrays),
        };
        let (answered, line) = (total.saturating_sub(open), format!("{line}, {open} open"));
        self.told
            .line(&format!("{answered} of {total} answered, {line}"));
        held.record.note(answered, total, line);
        match self.run.keep(&mut held.record) {
            Ok(()) => Ok(()),
            Err(error) => self.hiccup(held, Part::Writing, error.into()),
        }
    }

    fn remember(&self, held: &mut Held) -> Result<(), Error> {
        let arrays = held.arrays.iter().chain(&held.doubt);
        let known: Vec<Known> = arrays.map(|array| array.known.clone()).collect();
        match self.run.remember(&known, held.made) {
            Ok(()) => Ok(()),
            Err(error) => self.hiccup(held, Part::Writing, error.into()),
        }
    }

    fn cancel_task(&self, array: &Array, index: usize) {
        if let Some(number) = array.known.number {
            self.scancel(&[&format!("{number}_{index}")]);
        }
    }

    fn scancel(&self, words: &[&str]) {
        // The wish to stop is why; it must not stop this.
        let runner = Runner::new(Interrupt::default(), None);
        let mut command = Command::new("scancel");
        if let Err(error) = runner.output(command.args(words)) {
            let words = words.join(" ");
            self.told
                .event(&format!("scancel {words} could not be done: {error}"));
        }
    }

    /// Waits for tasks that were cancelled: they write to the folder until they end.
    fn wait_for_ends(&self, arrays: &[u64]) {
        let all: Vec<String> = arrays.iter().map(u64::to_string).collect();
        let runner = Runner::new(Interrupt::default(), None);
        let begun = Instant::now();
        while begun.elapsed() < ENDS {
            let mut command = Command::new("squeue");
            match runner.output(command.args(["-h", "-j", &all.join(",")])) {
                Ok(said) if !said.trim_ascii().is_empty() => {}
                Ok(_) | Err(_) => return,
            }
            std::thread::sleep(TICK * 5);
        }
    }
}

impl Held {
    /// The number of a job: of one that an earlier process has handed over where there
    /// is the same.
    fn number(&mut self, work: &Work) -> usize {
        let same = |ticket: &Ticket| !ticket.claimed && ticket.work == *work;
        if let Some(number) = self.jobs.iter().position(same) {
            if let Some(ticket) = self.jobs.get_mut(number) {
                ticket.claimed = true;
            }
            return number;
        }
        self.jobs.push(Ticket::new(work.clone(), true));
        let now = Instant::now();
        self.changed = Some(now);
        if self.asked.is_none_or(|at| at.elapsed() >= ASKED) {
            self.asked = Some(now);
        }
        self.jobs.len() - 1
    }

    /// Whether an answer is one to a job.
    fn is_asked(&self, number: usize, answer: &Answer) -> Result<bool, Defect> {
        let ticket = self.jobs.get(number).or_defect("a task has no job")?;
        answer.is_to(&ticket.work)
    }

    /// Whether Slurm may be asked again: the longer nothing has changed, the more seldom.
    fn is_time(&self) -> bool {
        let unchanged = self.changed.map_or(Duration::ZERO, |at| at.elapsed());
        self.asked.is_none_or(|at| at.elapsed() >= pause(unchanged))
    }

    fn open(&self) -> usize {
        let arrays = self.arrays.iter().chain(&self.doubt);
        let open = arrays.flat_map(|array| array.open.values());
        let claimed = open.filter(|number| self.jobs.get(**number).is_some_and(|one| one.claimed));
        let unsent = |one: &&Ticket| !one.sent && one.answer.is_none();
        claimed.count() + self.jobs.iter().filter(unsent).count()
    }
}

/// How long Slurm is left in peace where nothing has changed for so long.
fn pause(unchanged: Duration) -> Duration {
    (unchanged / PATIENCE).clamp(ASKED, SELDOM)
}

/// `4 run, 13 wait (Resources)`
fn words(tasks: &Tasks, arrays: &[Array]) -> String {
    let (mut run, mut wait) = (0, 0);
    let mut reasons = BTreeSet::new();
    for array in arrays {
        for index in array.open.keys() {
            let task = array
                .known
                .number
                .and_then(|number| tasks.get(&(number, *index)));
            match task.map(|task| &task.state) {
                Some(State::Running) => run += 1,
                Some(State::Waiting(reason)) => {
                    wait += 1;
                    reasons.insert(reason.as_str());
                }
                _ => {}
            }
        }
    }
    let reasons: Vec<&str> = reasons.into_iter().collect();
    let why = match reasons.as_slice() {
        [] => String::new(),
        reasons => format!(" ({})", tollgate_source::plain(&reasons.join(", "))),
    };
    format!("{run} run, {wait} wait{why}")
}

impl Drop for Queue {
    /// What is still queued nobody waits for.
    fn drop(&mut self) {
        let held = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let arrays = std::mem::take(&mut held.arrays);
        let doubt = held.doubt.take();
        let open = arrays.iter().filter(|array| !array.open.is_empty());
        let numbers: Vec<u64> = open.filter_map(|array| array.known.number).collect();
        for number in &numbers {
            self.scancel(&[&number.to_string()]);
        }
        // Slurm may have it without our knowing its number.
        if let Some(array) = doubt {
            self.scancel(&["--name", &array.known.name]);
        }
        if !numbers.is_empty() {
            self.wait_for_ends(&numbers);
        }
    }
}

#[cfg(test)]
mod tests;
