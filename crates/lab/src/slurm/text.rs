//! What sbatch is handed, and what squeue says.

use std::path::Path;

use super::Site;

/// What squeue is asked for, in the order of [`tasks`].
pub const COLUMNS: &str = "ArrayTaskID:|,State:|,exit_code:|,Reason:|,NodeList:|";

/// What the script ends with where the shared folder does not take an answer.
const UNWRITTEN: u32 = 98;

/// The script of an array: task N does `N.json` of `folder`. What a task makes has the
/// names of its job and of how often that was begun, until it is whole.
#[must_use]
pub fn script(site: &Site, name: &str, folder: &Path, tasks: usize, tree: &Path) -> String {
    let mut head = format!(
        "#!/bin/sh\n#SBATCH --job-name={name}\n#SBATCH --array=0-{}",
        tasks.saturating_sub(1)
    );
    if let Some(at_once) = site.at_once {
        head += &format!("%{at_once}");
    }
    head += "\n#SBATCH --output=/dev/null\n#SBATCH --requeue\n";
    let options = [
        ("partition", site.partition.clone()),
        ("account", site.account.clone()),
        ("time", site.minutes.map(|one| one.to_string())),
        ("mem", site.memory_mib.map(|one| format!("{one}M"))),
        ("cpus-per-task", site.processors.map(|one| one.to_string())),
    ];
    for (option, value) in options {
        if let Some(value) = value {
            head += &format!("#SBATCH --{option}={value}\n");
        }
    }
    head + &format!(
        "\
cd {} || exit {UNWRITTEN}
n=$SLURM_ARRAY_TASK_ID
mine=$n.$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}
cell=$(cat \"$n.cell\") || exit {UNWRITTEN}
{} --quiet job run \"$n.json\" --tree {} \\
	--cache {}/\"$(id -u)/$cell\" >\"$mine.out\" 2>\"$mine.said\"
status=$?
echo \"$status\" >\"$mine.status\" || exit {UNWRITTEN}
mv -f \"$mine.said\" \"$n.said\" && mv -f \"$mine.out\" \"$n.out\" &&
	mv -f \"$mine.status\" \"$n.status\" || exit {UNWRITTEN}
",
        quoted(folder),
        quoted(&site.program),
        quoted(tree),
        quoted(&site.node_cache),
    )
}

/// A name as a shell takes it.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

/// The number that `sbatch --parsable` gives an array: `12` or, of one cluster of
/// several, `12;name`.
#[must_use]
pub fn number(said: &str) -> Option<u64> {
    let line = said.lines().next()?.trim();
    tollgate_defect::answer::number(line.split(';').next()?)
}

/// A task of an array, as squeue has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its number in the array.
    pub index: usize,
    /// How it stands.
    pub state: State,
    /// The nodes that have it.
    pub nodes: String,
}

/// How a task stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It will run; why it does not yet.
    Waiting(String),
    /// It runs.
    Running,
    /// It ended by itself with success.
    Completed,
    /// It has ended without an answer that counts.
    Lost(Lost),
    /// A state that this does not know.
    Unknown(String),
}

/// Why a task that ended has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Its node does not answer any more, or did not start.
    Node,
    /// It made way for another.
    Preempted,
    /// It was killed.
    Killed,
    /// It ended by itself and said that it failed.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// It took more time than it may.
    Time,
    /// It took more memory than it may.
    Memory,
    /// The shared folder did not take its answer.
    Unwritten,
    /// The queue does not know it any more.
    Gone,
}

impl Lost {
    /// Whether the same could end otherwise when it is done again.
    #[must_use]
    pub fn again(self) -> bool {
        match self {
            Self::Node | Self::Preempted | Self::Killed | Self::Gone => true,
            Self::Failed | Self::Cancelled | Self::Time | Self::Memory | Self::Unwritten => false,
        }
    }

    /// The words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Node => "its node was lost",
            Self::Preempted => "it had to make way for another job",
            Self::Killed => "it was killed",
            Self::Failed => "its script failed",
            Self::Cancelled => "somebody cancelled it",
            Self::Time => "it took more time than the cluster gives it (minutes)",
            Self::Memory => "it took more memory than the cluster gives it (memory_mib)",
            Self::Unwritten => "the shared folder did not take its answer: is it full?",
            Self::Gone => "the queue does not know it any more, and it left no answer",
        }
    }
}

/// The tasks that squeue names with [`COLUMNS`]; lines that are none are left out.
#[must_use]
pub fn tasks(said: &str) -> Vec<Task> {
    said.lines().filter_map(task).collect()
}

fn task(line: &str) -> Option<Task> {
    let mut words = line.split('|').map(str::trim);
    let index = tollgate_defect::answer::number(words.next()?)?;
    let (state, code, reason) = (words.next()?, words.next()?, words.next()?);
    Some(Task {
        index,
        state: State::of(state, tollgate_defect::answer::number(code), reason),
        nodes: words.next()?.to_owned(),
    })
}

impl State {
    /// By Slurm's word for it (squeue(1), JOB STATE CODES) and what wait(2) gave.
    fn of(word: &str, code: Option<u32>, reason: &str) -> Self {
        match word {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" => {
                Self::Waiting(reason.to_owned())
            }
            "RUNNING" | "COMPLETING" | "CONFIGURING" | "SIGNALING" | "STAGE_OUT" | "STOPPED"
            | "SUSPENDED" | "RESIZING" => Self::Running,
            "COMPLETED" => Self::Completed,
            "NODE_FAIL" | "BOOT_FAIL" => Self::Lost(Lost::Node),
            "PREEMPTED" | "REVOKED" => Self::Lost(Lost::Preempted),
            "CANCELLED" => Self::Lost(Lost::Cancelled),
            "TIMEOUT" | "DEADLINE" => Self::Lost(Lost::Time),
            "OUT_OF_MEMORY" => Self::Lost(Lost::Memory),
            "FAILED" => Self::Lost(ended(code)),
            other => Self::Unknown(other.to_owned()),
        }
    }
}

/// Of a task that failed: wait(2) has a signal below, what it ended with above.
fn ended(code: Option<u32>) -> Lost {
    match code {
        Some(code) if code & 0x7f != 0 || code >> 8 > 128 => Lost::Killed,
        Some(code) if code >> 8 == UNWRITTEN => Lost::Unwritten,
        _ => Lost::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(more: &str) -> Site {
        let text =
            format!("shared = '/s'\nnode_cache = '/var/t'\nprogram = '/usr/bin/tollgate'\n{more}");
        Site::parse(&text).unwrap()
    }

    #[test]
    fn the_script_of_an_array() {
        let all = "partition = 'p'\naccount = 'a'\nminutes = 90\nmemory_mib = 9000\nprocessors = 4\nat_once = 2\n";
        let text = script(
            &site(all),
            "t",
            Path::new("/s/it's"),
            3,
            Path::new("/linux"),
        );
        insta::assert_snapshot!(text);
        let least = script(&site(""), "t", Path::new("/s"), 1, Path::new("/linux"));
        assert!(least.contains("--array=0-0\n"), "{least}");
        assert!(!least.contains("--mem"), "{least}");
    }

    #[test]
    fn the_number_of_an_array() {
        assert_eq!(number("12\n"), Some(12));
        assert_eq!(number("12;cluster\n"), Some(12));
        assert_eq!(number("sbatch: error: no\n"), None);
        assert_eq!(number(""), None);
    }

    /// What squeue of Slurm 22.05 said of an array whose task 2 ended with 98.
    const SAID: &str = "3|COMPLETED|0|None|n4|\n2|FAILED|25088|NonZeroExitCode|n3|\n";

    #[test]
    fn tasks_are_read_as_squeue_has_them() {
        let read = tasks(SAID);
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].index, &read[0].state), (3, &State::Completed));
        assert_eq!(read[1].state, State::Lost(Lost::Unwritten));
        assert_eq!(read[1].nodes, "n3");
        assert!(tasks("N/A|PENDING|0|x||\n|||\nslurm: error\n").is_empty());
    }

    #[test]
    fn each_end_is_named_and_only_accidents_are_done_again() {
        let of = |word: &str, code: u32| match State::of(word, Some(code), "") {
            State::Lost(lost) => (lost, lost.again()),
            other => panic!("{word}: {other:?}"),
        };
        assert_eq!(of("NODE_FAIL", 0), (Lost::Node, true));
        assert_eq!(of("FAILED", 9), (Lost::Killed, true));
        assert_eq!(of("FAILED", 137 << 8), (Lost::Killed, true));
        assert_eq!(of("FAILED", 1 << 8), (Lost::Failed, false));
        assert_eq!(of("TIMEOUT", 0), (Lost::Time, false));
        assert_eq!(of("OUT_OF_MEMORY", 0), (Lost::Memory, false));
        assert_eq!(of("CANCELLED", 0), (Lost::Cancelled, false));
        let known = State::of("NEW_WORD", None, "");
        assert_eq!(known, State::Unknown("NEW_WORD".to_owned()));
    }
}
