//! What sbatch is handed, and what squeue says.

use std::collections::BTreeSet;
use std::path::Path;

use tollgate_defect::answer;

use super::site::{Site, quoted};

/// What squeue is asked for, in the order of [`tasks`].
pub const COLUMNS: &str =
    "ArrayJobID:|,ArrayTaskID:|,State:|,exit_code:|,Reason:|,NodeList:|,RestartCnt:|";

/// What a task ends with where the shared folder does not take its answer.
pub const UNWRITTEN: u8 = 98;

/// What a shell ends with where there is no program, or none that runs (sh(1)).
const NO_PROGRAM: [u32; 2] = [126, 127];

/// An array as its script has it.
pub struct Script<'a> {
    /// The cluster.
    pub site: &'a Site,
    /// What Slurm calls it.
    pub name: &'a str,
    /// The folder of its jobs and answers.
    pub folder: &'a Path,
    /// So many tasks.
    pub tasks: usize,
    /// Nodes that are not to have it.
    pub shunned: &'a BTreeSet<String>,
}

impl Script<'_> {
    /// The text: task N does `N.json` of the folder. What a task makes has the names of
    /// its job and of how often that was begun, until it is whole.
    #[must_use]
    pub fn text(&self) -> String {
        let program = quoted(&self.site.program);
        let room = self.site.room();
        self.head()
            + &format!(
                "\
cd {} || exit {UNWRITTEN}
n=$SLURM_ARRAY_TASK_ID
mine=$n.$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}
{program} --quiet job run \"$n.json\" --room {room} \\
	--jobs \"${{SLURM_CPUS_ON_NODE:-1}}\" --answer \"$mine.answer\" --alive \"$n.alive\"
status=$?
[ -e \"$mine.answer\" ] || exit \"$status\"
mv -f \"$mine.answer\" \"$n.answer\" || exit {UNWRITTEN}
",
                quoted(self.folder),
            )
    }

    fn head(&self) -> String {
        let Self { site, name, .. } = self;
        let mut head = format!(
            "#!/bin/sh\n#SBATCH --job-name={name}\n#SBATCH --array=0-{}",
            self.tasks.saturating_sub(1)
        );
        if let Some(at_once) = site.at_once {
            head += &format!("%{at_once}");
        }
        head += "\n#SBATCH --open-mode=append\n#SBATCH --requeue\n";
        let shunned: Vec<&str> = self.shunned.iter().map(String::as_str).collect();
        let options = [
            ("partition", site.partition.clone()),
            ("account", site.account.clone()),
            ("time", site.minutes.map(|one| one.to_string())),
            ("mem", site.memory_mib.map(|one| format!("{one}M"))),
            ("cpus-per-task", site.processors.map(|one| one.to_string())),
            (
                "exclude",
                Some(shunned.join(",")).filter(|all| !all.is_empty()),
            ),
        ];
        for (option, value) in options {
            if let Some(value) = value {
                head += &format!("#SBATCH --{option}={value}\n");
            }
        }
        for option in &site.options {
            head += &format!("#SBATCH {option}\n");
        }
        head
    }
}

/// The number that `sbatch --parsable` gives an array: `12` or, of one cluster of
/// several, `12;name`.
#[must_use]
pub fn number(said: &str) -> Option<u64> {
    let line = said.lines().next()?.trim();
    answer::number(line.split(';').next()?)
}

/// What another try may have to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The controller is away, or busy.
    Controller,
    /// It takes no more jobs for now: of this user, or at all.
    Limit,
}

/// Whether a program of Slurm's that failed says that another try may be answered.
#[must_use]
pub fn wait_for(said: &str) -> Option<Wait> {
    const AWAY: [&str; 8] = [
        "Unable to contact slurm controller",
        "imed out",
        "Resource temporarily unavailable",
        "Zero Bytes were transmitted",
        "Connection refused",
        "backup controller in standby",
        "authentication error",
        "Failed to access",
    ];
    // Slurm has the second for a job that is too large for its user, too: that is told
    // from a limit that passes only by waiting.
    const LIMITS: [&str; 3] = [
        "SubmitJob",
        "job submit limit",
        "temporarily unable to accept",
    ];
    let says = |signs: &[&str]| signs.iter().any(|sign| said.contains(sign));
    match (says(&LIMITS), says(&AWAY)) {
        (true, _) => Some(Wait::Limit),
        (false, true) => Some(Wait::Controller),
        (false, false) => None,
    }
}

/// A task of an array, as squeue has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The number of its array.
    pub array: u64,
    /// Its number in the array.
    pub index: usize,
    /// How it stands.
    pub state: State,
    /// The nodes that have it.
    pub nodes: String,
    /// How often Slurm has begun it anew.
    pub restarts: usize,
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
    /// Slurm has it as running, and for long it has said nothing.
    Silent,
    /// Slurm could not begin it.
    Launch,
    /// It made way for another.
    Preempted,
    /// It was killed.
    Killed,
    /// It ended by itself and said that it failed.
    Failed,
    /// Its node does not run the program.
    NoProgram,
    /// Somebody cancelled it.
    Cancelled,
    /// It took more time than it may.
    Time,
    /// It took more memory than it may.
    Memory,
    /// No node can have it.
    Refused,
    /// The shared folder did not take its answer.
    Unwritten,
    /// What it answered cannot be read.
    Garbled,
    /// The queue does not know it any more.
    Gone,
    /// Slurm ended it to begin it anew, and has it as failed: it ended by itself first.
    Requeued,
    /// Slurm began it anew again and again.
    Restless,
}

impl Lost {
    /// Whether the same could end otherwise when it is done again.
    #[must_use]
    pub fn again(self) -> bool {
        match self {
            Self::Node | Self::Silent | Self::Launch | Self::Preempted => true,
            Self::Killed | Self::NoProgram | Self::Unwritten | Self::Garbled | Self::Gone => true,
            Self::Requeued => true,
            Self::Failed | Self::Cancelled | Self::Time | Self::Memory => false,
            Self::Refused | Self::Restless => false,
        }
    }

    /// Whether another node may have more luck.
    #[must_use]
    pub fn shuns(self) -> bool {
        matches!(self, Self::Launch | Self::NoProgram)
    }

    /// Whether Slurm may still have it, which is to be ended then.
    #[must_use]
    pub fn is_queued(self) -> bool {
        matches!(
            self,
            Self::Silent | Self::Restless | Self::Launch | Self::Requeued
        )
    }

    /// The words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Node => "its node was lost",
            Self::Silent => "Slurm has it as running, and nothing was heard of it",
            Self::Launch => "Slurm could not begin it",
            Self::Preempted => "it had to make way for another job",
            Self::Killed => "it was killed",
            Self::Failed => "it failed",
            Self::NoProgram => "its node does not run the program that the cluster's file names",
            Self::Cancelled => "somebody cancelled it",
            Self::Time => "it took more time than the cluster gives it (minutes)",
            Self::Memory => "it took more memory than the cluster gives it (memory_mib)",
            Self::Refused => "no node can have it (partition, memory_mib, processors)",
            Self::Unwritten => "the shared folder did not take its answer: is it full?",
            Self::Garbled => "its answer cannot be read, or is one to another job",
            Self::Gone => "the queue does not know it any more, and it left no answer",
            Self::Requeued => "Slurm was to begin it anew",
            Self::Restless => "Slurm began it anew again and again",
        }
    }

    /// The same by what slurmstepd(8) wrote to the log of a task when it ended it: some
    /// sites' Slurm kills for memory without saying so to squeue.
    #[must_use]
    pub fn by_log(self, log: &str) -> Self {
        const SIGNS: [(&str, Lost); 8] = [
            ("xceeded memory limit", Lost::Memory),
            ("xceeded job memory limit", Lost::Memory),
            ("oom-kill event", Lost::Memory),
            ("oom_kill event", Lost::Memory),
            ("DUE TO TIME LIMIT", Lost::Time),
            ("DUE TO PREEMPTION", Lost::Preempted),
            ("DUE TO NODE FAILURE", Lost::Node),
            ("DUE TO JOB REQUEUE", Lost::Requeued),
        ];
        if !matches!(
            self,
            Self::Killed | Self::Failed | Self::Cancelled | Self::Launch | Self::Gone
        ) {
            return self;
        }
        let own = |line: &&str| line.contains("slurmstepd");
        let said = log.lines().filter(own).find_map(|line| {
            let sign = SIGNS.iter().find(|(sign, _)| line.contains(sign))?;
            Some(sign.1)
        });
        said.unwrap_or(self)
    }
}

/// The tasks that squeue names with [`COLUMNS`]; lines that are none are left out.
#[must_use]
pub fn tasks(said: &str) -> Vec<Task> {
    said.lines().filter_map(task).collect()
}

fn task(line: &str) -> Option<Task> {
    let mut words = line.split('|').map(str::trim);
    let (array, index) = (
        answer::number(words.next()?)?,
        answer::number(words.next()?)?,
    );
    let (state, code, reason) = (words.next()?, words.next()?, words.next()?);
    Some(Task {
        array,
        index,
        state: State::of(state, answer::number(code), reason),
        nodes: words.next()?.to_owned(),
        restarts: answer::number(words.next()?)?,
    })
}

impl State {
    /// By Slurm's word for it (squeue(1), JOB STATE CODES) and what wait(2) gave.
    fn of(word: &str, code: Option<u32>, reason: &str) -> Self {
        match word {
            // Nobody will let it go: it failed to begin, and is held for that.
            "PENDING" | "REQUEUE_HOLD" if reason.contains("launch") && reason.contains("held") => {
                Self::Lost(Lost::Launch)
            }
            "SUSPENDED" | "STOPPED" => Self::Waiting("suspended".to_owned()),
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "SPECIAL_EXIT" => {
                Self::Waiting(reason.to_owned())
            }
            "RUNNING" | "COMPLETING" | "CONFIGURING" | "SIGNALING" | "STAGE_OUT" | "RESIZING" => {
                Self::Running
            }
            "COMPLETED" => Self::Completed,
            "NODE_FAIL" | "BOOT_FAIL" => Self::Lost(Lost::Node),
            "PREEMPTED" | "REVOKED" => Self::Lost(Lost::Preempted),
            "CANCELLED" => Self::Lost(Lost::Cancelled),
            "TIMEOUT" | "DEADLINE" => Self::Lost(Lost::Time),
            "OUT_OF_MEMORY" => Self::Lost(Lost::Memory),
            "FAILED" => Self::Lost(ended(code, reason)),
            other => Self::Unknown(other.to_owned()),
        }
    }
}

/// Of a task that failed: wait(2) has a signal below, what it ended with above. Slurm
/// gives SIGKILL the reason of a failed launch, too.
fn ended(code: Option<u32>, reason: &str) -> Lost {
    const SIGKILL: u32 = 9;
    match code {
        _ if reason == "BadConstraints" => Lost::Refused,
        Some(code) if code & 0x7f != SIGKILL && reason == "JobLaunchFailure" => Lost::Launch,
        Some(code) if NO_PROGRAM.contains(&(code >> 8)) => Lost::NoProgram,
        Some(code) if code & 0x7f != 0 || code >> 8 > 128 => Lost::Killed,
        Some(code) if code >> 8 == u32::from(UNWRITTEN) => Lost::Unwritten,
        _ => Lost::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(more: &str) -> Site {
        let text =
            format!("shared = '/s'\nnode_cache = '/var/t'\nprogram = '/usr/bin/tollgate'\n{more}");
        Site::parse(&text, &[]).unwrap()
    }

    fn script(site: &Site, folder: &str, tasks: usize, shunned: &[&str]) -> String {
        let shunned = shunned.iter().map(|one| (*one).to_owned()).collect();
        let script = Script {
            site,
            name: "t",
            folder: Path::new(folder),
            tasks,
            shunned: &shunned,
        };
        script.text()
    }

    #[test]
    fn the_script_of_an_array() {
        let all = "partition = 'p'\naccount = 'a'\nminutes = 90\nmemory_mib = 9000\nprocessors = 4\nat_once = 2\noptions = ['--qos=low']\n";
        insta::assert_snapshot!(script(&site(all), "/s/it's", 3, &["n1", "n3"]));
        let least = script(&site(""), "/s", 1, &[]);
        assert!(least.contains("--array=0-0\n"), "{least}");
        for option in ["--mem", "--exclude", "--qos"] {
            assert!(!least.contains(option), "{least}");
        }
    }

    #[test]
    fn the_number_of_an_array() {
        assert_eq!(number("12\n"), Some(12));
        assert_eq!(number("12;cluster\n"), Some(12));
        assert_eq!(number("sbatch: error: no\n"), None);
        assert_eq!(number(""), None);
    }

    /// What squeue of Slurm 22.05 said of an array whose task 2 ended with 98, and of
    /// one whose node was lost.
    const SAID: &str = "7|3|COMPLETED|0|None|n4|0|\n7|2|FAILED|25088|NonZeroExitCode|n3|0|\n\
        8|0|PENDING|0|BeginTime||1|\n";

    #[test]
    fn tasks_are_read_as_squeue_has_them() {
        let read = tasks(SAID);
        assert_eq!(read.len(), 3);
        assert_eq!((read[0].index, &read[0].state), (3, &State::Completed));
        assert_eq!(read[1].state, State::Lost(Lost::Unwritten));
        assert_eq!((read[1].nodes.as_str(), read[1].array), ("n3", 7));
        assert_eq!(read[2].state, State::Waiting("BeginTime".to_owned()));
        assert_eq!(read[2].restarts, 1);
        assert!(tasks("N/A|N/A|PENDING|0|x||\n|||\nslurm: error\n").is_empty());
    }

    fn of(word: &str, code: u32, reason: &str) -> (Lost, bool) {
        match State::of(word, Some(code), reason) {
            State::Lost(lost) => (lost, lost.again()),
            other => panic!("{word}: {other:?}"),
        }
    }

    #[test]
    fn each_end_is_named_and_only_accidents_are_done_again() {
        assert_eq!(of("NODE_FAIL", 0, ""), (Lost::Node, true));
        assert_eq!(of("FAILED", 9, "JobLaunchFailure"), (Lost::Killed, true));
        assert_eq!(of("FAILED", 4021, "JobLaunchFailure"), (Lost::Launch, true));
        assert_eq!(of("FAILED", 1, "BadConstraints"), (Lost::Refused, false));
        assert_eq!(of("FAILED", 137 << 8, ""), (Lost::Killed, true));
        assert_eq!(of("FAILED", 127 << 8, ""), (Lost::NoProgram, true));
        assert_eq!(of("FAILED", 1 << 8, ""), (Lost::Failed, false));
        assert_eq!(of("TIMEOUT", 0, ""), (Lost::Time, false));
        assert_eq!(of("OUT_OF_MEMORY", 0, ""), (Lost::Memory, false));
        assert_eq!(of("CANCELLED", 0, ""), (Lost::Cancelled, false));
        let held = "launch_failed_requeued_held";
        assert_eq!(of("PENDING", 0, held), (Lost::Launch, true));
        let known = State::of("NEW_WORD", None, "");
        assert_eq!(known, State::Unknown("NEW_WORD".to_owned()));
    }

    /// What slurmstepd of Slurm 22.05 wrote: of a site that measures memory by /proc,
    /// where squeue says FAILED, 9, JobLaunchFailure; and of a time that was over.
    const MEMORY: &str = "\
slurmstepd-n1: error: StepId=1.batch exceeded memory limit (96714752 > 52428800), being killed
slurmstepd-n1: error: Exceeded job memory limit
slurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-24T23:38:57 ***
";
    const TIME: &str = "slurmstepd-n2: error: *** JOB 2 ON n2 CANCELLED AT 2026-11-24T23:40:00 DUE TO TIME LIMIT ***";

    #[test]
    fn the_log_says_what_the_queue_does_not() {
        assert_eq!(Lost::Killed.by_log(MEMORY), Lost::Memory);
        assert_eq!(Lost::Cancelled.by_log(TIME), Lost::Time);
        assert_eq!(Lost::Killed.by_log(""), Lost::Killed);
        let of_a_compiler = "cc1: out of memory: exceeded memory limit";
        assert_eq!(Lost::Killed.by_log(of_a_compiler), Lost::Killed);
        assert_eq!(Lost::Time.by_log(MEMORY), Lost::Time);
        let anew = Lost::Failed.by_log(&TIME.replace("TIME LIMIT", "JOB REQUEUE"));
        assert_eq!((anew, anew.again()), (Lost::Requeued, true));
    }

    #[test]
    fn who_is_away_is_told_from_who_refuses() {
        let of = |words: &str| {
            wait_for(&format!(
                "sbatch: error: Batch job submission failed: {words}"
            ))
        };
        assert_eq!(
            of("Unable to contact slurm controller (connect failure)"),
            Some(Wait::Controller)
        );
        let slow = of("Socket timed out on send/recv operation");
        assert_eq!(slow, Some(Wait::Controller));
        // Slurm 22.05, of a job_submit plugin's ESLURM_ACCOUNTING_POLICY and of
        // MaxJobCount.
        let limits = [
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            "Slurm temporarily unable to accept job, sleeping and retrying",
        ];
        for limit in limits {
            assert_eq!(of(limit), Some(Wait::Limit), "{limit}");
        }
        for refused in [
            "Invalid account or account/partition combination specified",
            "Requested node configuration is not available",
        ] {
            assert_eq!(of(refused), None, "{refused}");
        }
    }
}
