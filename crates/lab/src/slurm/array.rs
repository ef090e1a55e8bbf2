//! An array of tasks: its folder, and what is known of each task.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use super::Error;
use super::text::{Lost, State, Task};
use crate::cache;
use crate::job::{Answer, Job, VERSION, Work};
use crate::sealed;

/// How long an answer may take from a node to here over the shared folder: NFS keeps
/// what it knows of a folder for up to 60 s (nfs(5), acdirmax).
pub(super) const ARRIVES: Duration = Duration::from_secs(90);
/// How long a task that runs may be silent. Its program touches a file every
/// `crate::job::ALIVE`, and what NFS knows of a file may be 60 s old.
pub(super) const SILENT: Duration = Duration::from_secs(300);
/// How often Slurm may begin a task anew.
pub(super) const RESTARTS: usize = 2;
/// What of a task's log is read and told.
const TAIL: usize = 4096;
const LINES: usize = 3;

/// What names an array beyond the process that made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    /// Slurm's number; none where it is not known whether Slurm has it.
    pub(super) number: Option<u64>,
    /// What Slurm calls it.
    pub(super) name: String,
    pub(super) folder: PathBuf,
}

/// An array that Slurm has, with the tickets of its tasks.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) known: Known,
    /// The tasks that have no answer, and whose they are.
    pub(super) open: BTreeMap<usize, usize>,
    ended: BTreeMap<usize, Instant>,
    heard: BTreeMap<usize, (Option<SystemTime>, Instant)>,
}

impl Array {
    pub(super) fn new(known: Known, tickets: &[usize]) -> Self {
        Self {
            known,
            open: tickets.iter().copied().enumerate().collect(),
            ended: BTreeMap::new(),
            heard: BTreeMap::new(),
        }
    }

    /// Whether a task that squeue has so, or not at all, will not answer any more; an
    /// answer may still be on its way for a while.
    pub(super) fn lost(&mut self, index: usize, task: Option<&Task>) -> Option<Lost> {
        let lost = match task.map(|task| &task.state) {
            _ if task.is_some_and(|task| task.restarts > RESTARTS) => return Some(Lost::Restless),
            Some(State::Running) => {
                self.ended.remove(&index);
                return self.is_silent(index).then_some(Lost::Silent);
            }
            Some(State::Waiting(_) | State::Unknown(_)) => {
                self.ended.remove(&index);
                self.heard.remove(&index);
                return None;
            }
            Some(State::Lost(lost)) => return Some(*lost),
            Some(State::Completed) | None => Lost::Gone,
        };
        let since = *self.ended.entry(index).or_insert_with(Instant::now);
        (since.elapsed() > ARRIVES).then_some(lost)
    }

    /// By this machine's clock alone: whether the file of a task that runs has another
    /// time than before, whatever time that is.
    fn is_silent(&mut self, index: usize) -> bool {
        let place = self.known.folder.join(format!("{index}.alive"));
        let touched = std::fs::metadata(place).and_then(|about| about.modified());
        let touched = tollgate_defect::answer::there(touched.map_err(drop));
        let (last, since) = self
            .heard
            .entry(index)
            .or_insert_with(|| (touched, Instant::now()));
        if *last != touched {
            (*last, *since) = (touched, Instant::now());
        }
        since.elapsed() > SILENT
    }

    /// What came of a task, as its log has it: the last lines.
    pub(super) fn log(&self, index: usize) -> Result<String, cache::Error> {
        let bytes = cache::read_if_there(&self.known.folder.join(format!("{index}.log")))?;
        let bytes = bytes.unwrap_or_else(Vec::new);
        let from = bytes.len().saturating_sub(TAIL);
        Ok(String::from_utf8_lossy(bytes.get(from..).unwrap_or(&[])).into_owned())
    }
}

/// The last lines of a log, as a sentence has them.
pub(super) fn last_words(log: &str) -> String {
    let said = log.lines().map(str::trim).filter(|line| !line.is_empty());
    let all: Vec<&str> = said.collect();
    let last = all.get(all.len().saturating_sub(LINES)..).unwrap_or(&[]);
    match last {
        [] => String::new(),
        last => format!(" (\"{}\")", tollgate_source::plain(&last.join("; "))),
    }
}

/// Writes the jobs of an array.
pub(super) fn lay_out<'w>(
    folder: &Path,
    works: impl Iterator<Item = &'w Work>,
) -> Result<(), cache::Error> {
    for (index, work) in works.enumerate() {
        let whole = Job {
            version: VERSION,
            work: work.clone(),
        };
        cache::write_json(&folder.join(format!("{index}.json")), &whole)?;
    }
    Ok(())
}

/// The jobs of an array that an earlier process laid out.
pub(super) fn laid_out(folder: &Path) -> Result<Vec<Work>, Error> {
    let mut all = Vec::new();
    loop {
        let place = folder.join(format!("{}.json", all.len()));
        match cache::read_json::<Job>(&place)? {
            Some(job) => all.push(job.work),
            None => return Ok(all),
        }
    }
}

/// What a task left behind.
#[derive(Debug, PartialEq)]
pub(super) enum Left {
    Nothing,
    /// It is no answer of this version.
    Garbled,
    Answer(Box<Answer>),
}

/// The answer of a task. Only what is whole has its name.
pub(super) fn left(folder: &Path, index: usize) -> Result<Left, cache::Error> {
    let place = folder.join(format!("{index}.answer"));
    let Some(bytes) = cache::read_if_there(&place)? else {
        return Ok(Left::Nothing);
    };
    let answer = sealed::value::<Answer>(&bytes);
    let answer = answer.filter(|answer| answer.version == VERSION);
    Ok(answer.map_or(Left::Garbled, |answer| Left::Answer(Box::new(answer))))
}

/// Those that wait, in groups that one array can have: of the same shunned nodes, and
/// not too many.
pub(super) fn groups(
    waiting: impl Iterator<Item = (usize, BTreeSet<String>)>,
    most: usize,
) -> Vec<(BTreeSet<String>, Vec<usize>)> {
    let mut all: BTreeMap<BTreeSet<String>, Vec<usize>> = BTreeMap::new();
    for (number, shunned) in waiting {
        all.entry(shunned).or_default().push(number);
    }
    let split = |(shunned, numbers): (BTreeSet<String>, Vec<usize>)| {
        let chunks = numbers.chunks(most.max(1)).map(<[usize]>::to_vec);
        let chunks: Vec<_> = chunks.map(|chunk| (shunned.clone(), chunk)).collect();
        chunks
    };
    all.into_iter().flat_map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Came;

    fn array(folder: &Path) -> Array {
        let known = Known {
            number: Some(1),
            name: "t.0".to_owned(),
            folder: folder.to_owned(),
        };
        Array::new(known, &[4])
    }

    fn task(state: State, restarts: usize) -> Task {
        Task {
            array: 1,
            index: 0,
            state,
            nodes: "n1".to_owned(),
            restarts,
        }
    }

    fn before(long: Duration) -> Instant {
        Instant::now()
            .checked_sub(long + Duration::from_secs(1))
            .unwrap()
    }

    #[test]
    fn an_answer_may_be_on_its_way() {
        let mut array = array(Path::new("/nowhere"));
        assert_eq!(array.lost(0, Some(&task(State::Completed, 0))), None);
        assert_eq!(array.lost(0, None), None);
        array.ended.insert(0, before(ARRIVES));
        assert_eq!(array.lost(0, None), Some(Lost::Gone));
        let waits = task(State::Waiting("BeginTime".to_owned()), 1);
        assert_eq!(array.lost(0, Some(&waits)), None);
        assert!(array.ended.is_empty());
        let lost = task(State::Lost(Lost::Node), 0);
        assert_eq!(array.lost(0, Some(&lost)), Some(Lost::Node));
    }

    #[test]
    fn what_is_begun_again_and_again_is_given_up() {
        let mut array = array(Path::new("/nowhere"));
        let waits = |restarts| task(State::Waiting("BeginTime".to_owned()), restarts);
        assert_eq!(array.lost(0, Some(&waits(RESTARTS))), None);
        let lost = array.lost(0, Some(&waits(RESTARTS + 1)));
        assert_eq!(lost, Some(Lost::Restless));
    }

    #[test]
    fn who_runs_and_says_nothing_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let mut array = array(dir.path());
        let runs = task(State::Running, 0);
        assert_eq!(array.lost(0, Some(&runs)), None);
        array.heard.insert(0, (None, before(SILENT)));
        assert_eq!(array.lost(0, Some(&runs)), Some(Lost::Silent));
        // Its file has a time, whatever that is: it lives.
        std::fs::write(dir.path().join("0.alive"), "").unwrap();
        assert_eq!(array.lost(0, Some(&runs)), None);
        let (touched, _) = array.heard[&0];
        array.heard.insert(0, (touched, before(SILENT)));
        assert_eq!(array.lost(0, Some(&runs)), Some(Lost::Silent));
        // Who waits again is not silent but waits.
        let waits = task(State::Waiting("BeginTime".to_owned()), 1);
        assert_eq!(array.lost(0, Some(&waits)), None);
        assert_eq!(array.lost(0, Some(&runs)), None);
    }

    #[test]
    fn an_answer_counts_once_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(left(dir.path(), 0).unwrap(), Left::Nothing);
        let answer = |version: u32| Answer {
            version,
            node: "n1".to_owned(),
            to: None,
            came: Came::Failed {
                words: "there is no tree".to_owned(),
                accident: true,
            },
        };
        let place = dir.path().join("0.answer");
        sealed::keep(&place, &answer(99)).unwrap();
        assert_eq!(left(dir.path(), 0).unwrap(), Left::Garbled);
        sealed::keep(&place, &answer(VERSION)).unwrap();
        let whole = std::fs::read(&place).unwrap();
        let there = Left::Answer(Box::new(answer(VERSION)));
        assert_eq!(left(dir.path(), 0).unwrap(), there);
        std::fs::write(&place, &whole[..20]).unwrap();
        assert_eq!(left(dir.path(), 0).unwrap(), Left::Garbled);
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 1;
            std::fs::write(&place, other).unwrap();
            assert_eq!(left(dir.path(), 0).unwrap(), Left::Garbled, "{at}");
        }
    }

    #[test]
    fn an_array_has_tasks_that_shun_the_same_nodes() {
        let shuns = |node: &str| BTreeSet::from([node.to_owned()]);
        let none = BTreeSet::new;
        let waiting = [
            (0, none()),
            (1, shuns("n1")),
            (2, none()),
            (3, none()),
            (4, shuns("n1")),
        ];
        let groups = groups(waiting.into_iter(), 2);
        let expected = [
            (none(), vec![0, 2]),
            (none(), vec![3]),
            (shuns("n1"), vec![1, 4]),
        ];
        assert_eq!(groups, expected);
    }

    #[test]
    fn the_last_lines_of_a_log_are_told() {
        assert_eq!(last_words(""), "");
        assert_eq!(last_words("a\n\nb\nc\nd\n"), " (\"b; c; d\")");
    }
}
