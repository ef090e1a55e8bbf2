//! The queue: jobs that wait are handed over as one array, and looked after until each
//! has its answer or a reason why there is none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::text::{self, Lost, State, Task};
use super::{Error, Site};
use crate::cache;
use crate::job::{CellJob, CellResult, Job, VERSION, Work};
use crate::process::{self, Interrupt, Runner};

/// How often a job is begun.
const TRIES: usize = 3;
/// How often who waits looks.
const TICK: Duration = Duration::from_millis(200);
/// How often Slurm is asked.
const ASKED: Duration = Duration::from_secs(1);
/// How long an answer may take from a node to here over the shared folder: NFS keeps
/// what it knows of a folder for up to 60 s (nfs(5), acdirmax).
const ARRIVES: Duration = Duration::from_secs(90);
/// How long the controller may be away.
const AWAY: Duration = Duration::from_secs(600);

/// Hands jobs to Slurm and waits for them.
pub struct Queue<'a> {
    site: &'a Site,
    runner: &'a Runner,
    folder: tempfile::TempDir,
    note: &'a (dyn Fn(&str) + Sync),
    state: Mutex<Held>,
}

/// What all who wait share.
#[derive(Default)]
struct Held {
    jobs: BTreeMap<usize, Ticket>,
    arrays: Vec<Array>,
    asked: Option<Instant>,
    away: Option<Instant>,
    said: String,
}

/// A job of the queue.
struct Ticket {
    job: CellJob,
    tries: Vec<String>,
    answer: Option<Result<CellResult, Error>>,
    sent: bool,
}

/// An array that Slurm has, with the tickets of its tasks.
struct Array {
    number: u64,
    folder: PathBuf,
    open: BTreeMap<usize, usize>,
    ended: BTreeMap<usize, Instant>,
}

impl<'a> Queue<'a> {
    /// A queue in a folder of its own below the shared one; `note` gets what people
    /// should see.
    ///
    /// # Errors
    /// When the shared folder takes none.
    pub fn new(
        site: &'a Site,
        runner: &'a Runner,
        note: &'a (dyn Fn(&str) + Sync),
    ) -> Result<Self, Error> {
        cache::make_folder(&site.shared)?;
        let folder = tempfile::Builder::new()
            .prefix("tollgate-")
            .tempdir_in(&site.shared);
        let folder = folder.map_err(|source| cache::Error::Write {
            path: site.shared.clone(),
            source,
        })?;
        Ok(Self {
            site,
            runner,
            folder,
            note,
            state: Mutex::new(Held::default()),
        })
    }

    /// Has a job done on some node.
    ///
    /// # Errors
    /// Why there is no answer, each try named.
    pub fn run(&self, job: &CellJob) -> Result<CellResult, Error> {
        let number = {
            let mut held = self.held();
            let number = held.jobs.len();
            let ticket = Ticket {
                job: job.clone(),
                tries: Vec::new(),
                answer: None,
                sent: false,
            };
            held.jobs.insert(number, ticket);
            // What is asked for at about the same time becomes one array.
            held.asked.get_or_insert_with(Instant::now);
            number
        };
        loop {
            std::thread::sleep(TICK);
            self.runner.interrupt().check()?;
            let mut held = self.held();
            if held.asked.is_none_or(|at| at.elapsed() >= ASKED) {
                self.look(&mut held)?;
                held.asked = Some(Instant::now());
            }
            let ticket = held.jobs.get_mut(&number);
            if let Some(answer) = ticket.and_then(|ticket| ticket.answer.take()) {
                return answer;
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self, held: &mut Held) -> Result<(), Error> {
        let mut arrays = std::mem::take(&mut held.arrays);
        let looked = arrays
            .iter_mut()
            .try_for_each(|array| self.ask(array, held));
        arrays.retain(|array| !array.open.is_empty());
        held.arrays.append(&mut arrays);
        looked?;
        self.send(held)?;
        self.tell(held);
        Ok(())
    }

    /// Hands over what waits. A controller that is away is waited for.
    fn send(&self, held: &mut Held) -> Result<(), Error> {
        let waits = |(number, ticket): (&usize, &Ticket)| {
            (!ticket.sent && ticket.answer.is_none()).then_some(*number)
        };
        let waiting: Vec<usize> = held.jobs.iter().filter_map(waits).collect();
        // Tasks of one array are told of one tree; a robot has no other.
        for some in waiting.chunks(self.site.array) {
            let Some(array) = self.submit(held, some)? else {
                return Ok(());
            };
            held.arrays.push(array);
            for number in some {
                if let Some(ticket) = held.jobs.get_mut(number) {
                    ticket.sent = true;
                }
            }
        }
        Ok(())
    }

    fn submit(&self, held: &mut Held, some: &[usize]) -> Result<Option<Array>, Error> {
        let folder = tempfile::Builder::new()
            .prefix("array-")
            .tempdir_in(self.folder.path());
        let folder = folder.map_err(|source| cache::Error::Write {
            path: self.folder.path().to_owned(),
            source,
        })?;
        let tickets = some.iter().filter_map(|number| held.jobs.get(number));
        for (index, ticket) in tickets.enumerate() {
            lay_out(folder.path(), index, &ticket.job)?;
        }
        let tree = some.first().and_then(|number| held.jobs.get(number));
        let tree = tree.map_or(Path::new(""), |ticket| ticket.job.tree.as_path());
        let script = folder.path().join("script");
        let text = text::script(self.site, "tollgate", folder.path(), some.len(), tree);
        cache::write_file(&script, text.as_bytes())?;
        let mut command = Command::new("sbatch");
        command.arg("--parsable").arg(&script);
        let Some(said) = self.slurm(held, &mut command, false)? else {
            return Ok(None);
        };
        let number = text::number(&said).ok_or_else(|| Error::NoAnswer {
            what: "a job array".to_owned(),
            reason: format!("sbatch gave no number but {:?}", said.trim()),
        })?;
        Ok(Some(Array {
            number,
            folder: folder.keep(),
            open: some.iter().copied().enumerate().collect(),
            ended: BTreeMap::new(),
        }))
    }

    /// What a program of Slurm says; none where the controller is away, for a while.
    /// With `known`, an array that the controller has forgotten is nothing said.
    fn slurm(
        &self,
        held: &mut Held,
        command: &mut Command,
        known: bool,
    ) -> Result<Option<String>, Error> {
        let error = match self.runner.output(command) {
            Ok(said) => {
                if held.away.take().is_some() {
                    (self.note)("Slurm's controller answers again");
                }
                return Ok(Some(String::from_utf8_lossy(&said).into_owned()));
            }
            Err(error) => error,
        };
        let process::Error::Failed { message, .. } = &error else {
            return Err(error.into());
        };
        if known && message.contains("Invalid job id") {
            return Ok(Some(String::new()));
        }
        let signs = [
            "Unable to contact slurm controller",
            "timed out",
            "temporarily unable",
        ];
        let since = *held.away.get_or_insert_with(Instant::now);
        if !signs.iter().any(|sign| message.contains(sign)) || since.elapsed() > AWAY {
            return Err(error.into());
        }
        if since.elapsed() < ASKED {
            (self.note)("Slurm's controller does not answer: waiting for it");
        }
        Ok(None)
    }

    /// Takes in what came of the tasks of an array.
    fn ask(&self, array: &mut Array, held: &mut Held) -> Result<(), Error> {
        for (index, number) in array.open.clone() {
            if let Some(answer) = answered(&array.folder, index)? {
                array.open.remove(&index);
                self.settle(held, number, answer);
            }
        }
        if array.open.is_empty() {
            return Ok(());
        }
        let mut command = Command::new("squeue");
        command.args(["-h", "-r", "-t", "all", "-j"]);
        command
            .arg(array.number.to_string())
            .args(["-O", text::COLUMNS]);
        let Some(said) = self.slurm(held, &mut command, true)? else {
            return Ok(());
        };
        let tasks: BTreeMap<usize, Task> = text::tasks(&said)
            .into_iter()
            .map(|task| (task.index, task))
            .collect();
        for (index, number) in array.open.clone() {
            let Some((lost, nodes)) = array.lost(index, tasks.get(&index)) else {
                continue;
            };
            array.open.remove(&index);
            self.settle(held, number, Answer::Lost(lost, nodes));
        }
        Ok(())
    }

    /// Gives a job its answer, or sends it again.
    fn settle(&self, held: &mut Held, number: usize, answer: Answer) {
        let Some(ticket) = held.jobs.get_mut(&number) else {
            return;
        };
        let what = format!("the cell {}", ticket.job.cell.name);
        let (lost, nodes) = match answer {
            Answer::Result(result) => {
                ticket.answer = Some(Ok(*result));
                return;
            }
            Answer::Said(reason) => {
                ticket.answer = Some(Err(Error::NoAnswer { what, reason }));
                return;
            }
            Answer::Lost(lost, nodes) => (lost, nodes),
        };
        let at = match nodes.as_str() {
            "" => String::new(),
            nodes => format!(" ({})", tollgate_source::plain(nodes)),
        };
        ticket.tries.push(format!("{}{at}", lost.words()));
        if lost.again() && ticket.tries.len() < TRIES {
            (self.note)(&format!("{what}: {}{at}; it is done again", lost.words()));
            ticket.sent = false;
            return;
        }
        let reason = ticket.tries.join("; then ");
        ticket.answer = Some(Err(Error::NoAnswer { what, reason }));
    }

    /// How many are where, when that has changed.
    fn tell(&self, held: &mut Held) {
        let open: usize = held.arrays.iter().map(|array| array.open.len()).sum();
        let line = format!(
            "Slurm: {open} of {} jobs without an answer",
            held.jobs.len()
        );
        if open != 0 && line != held.said {
            (self.note)(&line);
            held.said = line;
        }
    }
}

impl Drop for Queue<'_> {
    /// What is still queued nobody waits for.
    fn drop(&mut self) {
        let held = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let runner = Runner::new(Interrupt::default(), None);
        for array in held.arrays.iter().filter(|array| !array.open.is_empty()) {
            let mut command = Command::new("scancel");
            command.arg(array.number.to_string());
            if let Err(error) = runner.output(&mut command) {
                let number = array.number;
                (self.note)(&format!(
                    "the job array {number} was not cancelled: {error}"
                ));
            }
        }
    }
}

impl Array {
    /// Whether a task that squeue has so, or not at all, will not answer any more; an
    /// answer may still be on its way for a while.
    fn lost(&mut self, index: usize, task: Option<&Task>) -> Option<(Lost, String)> {
        let nodes = task.map_or(String::new(), |task| task.nodes.clone());
        let lost = match task.map(|task| &task.state) {
            Some(State::Waiting(_) | State::Running | State::Unknown(_)) => {
                self.ended.remove(&index);
                return None;
            }
            Some(State::Lost(lost)) => return Some((*lost, nodes)),
            Some(State::Completed) | None => Lost::Gone,
        };
        let since = *self.ended.entry(index).or_insert_with(Instant::now);
        (since.elapsed() > ARRIVES).then_some((lost, nodes))
    }
}

/// What a task left behind.
enum Answer {
    Result(Box<CellResult>),
    /// Why it could not be done.
    Said(String),
    Lost(Lost, String),
}

fn lay_out(folder: &Path, index: usize, job: &CellJob) -> Result<(), Error> {
    let whole = Job {
        version: VERSION,
        work: Work::Cell(Box::new(job.clone())),
    };
    cache::write_json(&folder.join(format!("{index}.json")), &whole)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+".contains(c);
    let cell = job.cell.name.replace(|c| !plain(c), "-");
    cache::write_file(&folder.join(format!("{index}.cell")), cell.as_bytes())?;
    Ok(())
}

/// The answer of a task, once it is whole. A result counts whatever the program ended
/// with: it ends with 2 where an object was not made, which the result says itself.
fn answered(folder: &Path, index: usize) -> Result<Option<Answer>, Error> {
    let place = |ending: &str| folder.join(format!("{index}.{ending}"));
    let Some(status) = cache::read_if_there(&place("status"))? else {
        return Ok(None);
    };
    let out = cache::read_file(&place("out"))?;
    if let Ok(result) = serde_json::from_slice::<CellResult>(&out) {
        return Ok(Some(Answer::Result(Box::new(result))));
    }
    let status = String::from_utf8_lossy(&status).trim().to_owned();
    if tollgate_defect::answer::number(&status).is_some_and(|status: u32| status > 128) {
        return Ok(Some(Answer::Lost(Lost::Killed, String::new())));
    }
    let said = cache::read_file(&place("said"))?;
    let said = String::from_utf8_lossy(&said);
    let said = said.trim().trim_start_matches("tollgate: ");
    Ok(Some(Answer::Said(match said {
        "" => format!("it ended with {status} and said nothing"),
        said => said.to_owned(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array() -> Array {
        Array {
            number: 1,
            folder: PathBuf::new(),
            open: BTreeMap::new(),
            ended: BTreeMap::new(),
        }
    }

    #[test]
    fn an_answer_may_be_on_its_way() {
        let task = |state| Task {
            index: 0,
            state,
            nodes: "n1".to_owned(),
        };
        let mut array = array();
        assert_eq!(array.lost(0, Some(&task(State::Completed))), None);
        assert_eq!(array.lost(0, None), None);
        let long = ARRIVES + Duration::from_secs(1);
        if let Some(since) = Instant::now().checked_sub(long) {
            array.ended.insert(0, since);
            assert_eq!(array.lost(0, None), Some((Lost::Gone, String::new())));
        }
        let waits = task(State::Waiting("BeginTime".to_owned()));
        assert_eq!(array.lost(0, Some(&waits)), None);
        assert!(array.ended.is_empty());
        let lost = array.lost(0, Some(&task(State::Lost(Lost::Node))));
        assert_eq!(lost, Some((Lost::Node, "n1".to_owned())));
    }

    #[test]
    fn an_answer_counts_once_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        put("0.out", "{\"compiler\":");
        put("0.said", "tollgate: there is no tree\n");
        assert!(answered(dir.path(), 0).unwrap().is_none());
        put("0.status", "2\n");
        let Some(Answer::Said(said)) = answered(dir.path(), 0).unwrap() else {
            panic!("half a result is none");
        };
        assert_eq!(said, "there is no tree");
        put("0.status", "137\n");
        let Some(Answer::Lost(lost, _)) = answered(dir.path(), 0).unwrap() else {
            panic!("what was killed has no answer");
        };
        assert_eq!(lost, Lost::Killed);
        let whole =
            "{\"compiler\":\"c\",\"objects\":{},\"make\":\"\",\"configured\":\"\",\"config\":null}";
        put("0.out", whole);
        let answer = answered(dir.path(), 0).unwrap();
        assert!(matches!(answer, Some(Answer::Result(_))));
    }
}
