//! Runs that go on in the background: begun, looked at, collected, cancelled. What there
//! is to know of one lies in its folder in the shared one.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tollgate_defect::answer;
use tollgate_lab::cache;
use tollgate_lab::input;
use tollgate_lab::process::{Interrupt, Runner};
use tollgate_lab::slurm::{self, Record, RunFolder, Site};
use tollgate_source::shown;

use crate::exit::Exit;
use crate::progress::Meter;
use crate::signals;
use crate::term::Term;

/// Names the folder of the run to the process that is its own.
const RUN: &str = "TOLLGATE_RUN";
/// What the flag is called.
const FLAG: &str = "--detach";

/// Files of a run's folder.
const ASKED: &str = "run.json";
const INPUT: &str = "in";
const OUTPUT: &str = "out";
const SAID: &str = "err";
const STATUS: &str = "status";

/// Whatever goes wrong at once is said by the command that begins the run.
const AT_ONCE: Duration = Duration::from_secs(2);
/// How often a run is looked at.
const TICK: Duration = Duration::from_millis(200);
/// How long one that is cancelled may take to end.
const ENDS: Duration = Duration::from_secs(30);

/// What of `sh` begins a run: it tells what the program ended with, whoever is gone.
const KEEPER: &str = "trap : HUP INT TERM
folder=$1 work=$2
shift 2
cd \"$work\" && \"$@\" <\"$folder/in\" >\"$folder/out\" 2>\"$folder/err\"
echo $? >\"$folder/status.new\" && mv -f \"$folder/status.new\" \"$folder/status\"";

/// What was asked, as the folder of a run has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Asked {
    version: u32,
    /// The program and its words.
    words: Vec<Vec<u8>>,
    /// The folder that it was begun in.
    folder: PathBuf,
    /// The machine, and the process that keeps the run there.
    machine: String,
    process: i32,
}

/// The folder of the run whose process this is.
pub(crate) fn folder() -> Option<PathBuf> {
    env::var_os(RUN).map(PathBuf::from)
}

/// Begins the same command without the flag, in a session of its own, and prints where
/// its folder is. `piped` is what stood on standard input.
///
/// # Errors
/// When it cannot be begun, or ended at once.
pub(crate) fn begin(site: &Site, reads_input: bool, term: &Term) -> anyhow::Result<Exit> {
    slurm::probe(&Runner::new(signals::obeyed(), None))?;
    let run = RunFolder::lasting(&site.shared)?;
    let folder = run.path();
    let mut piped = Vec::new();
    if reads_input {
        let read = std::io::stdin().read_to_end(&mut piped);
        read.context("standard input could not be read")?;
    }
    cache::write_file(&folder.join(INPUT), &piped)?;
    let program = env::current_exe().context("this program's file is not known")?;
    let words: Vec<OsString> = std::iter::once(program.into())
        .chain(without_flag(env::args_os().skip(1)))
        .collect();
    let here = env::current_dir().context("the current folder is not known")?;
    let process = start(folder, &here, &words)?;
    let asked = Asked {
        version: 1,
        words: words.into_iter().map(OsString::into_vec).collect(),
        folder: here,
        machine: machine()?,
        process,
    };
    cache::write_json(&folder.join(ASKED), &asked)?;
    let begun = Instant::now();
    while begun.elapsed() < AT_ONCE {
        if ended(folder)?.is_some() {
            return hand_over(folder, term);
        }
        std::thread::sleep(TICK);
    }
    term.result(&format!("{}\n", shown(folder)))?;
    let name = shown(folder);
    term.note(&format!(
        "it goes on in the background: tollgate job status {name}, tollgate job collect {name}"
    ));
    Ok(Exit::Clean)
}

/// The words without the flag; what stands behind `--` is another program's.
fn without_flag(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut own = true;
    let keep = |word: &OsString| {
        own &= word != "--";
        !own || word != FLAG
    };
    words.filter(keep).collect()
}

fn start(folder: &Path, work: &Path, words: &[OsString]) -> anyhow::Result<i32> {
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", KEEPER, "sh"]);
    command.arg(folder).arg(work).args(words);
    command.env(RUN, folder).current_dir("/");
    let null = Stdio::null;
    command.stdin(null()).stdout(null()).stderr(null());
    let child = command.spawn().context("setsid could not be started")?;
    answer::fits(child.id()).context("a process has no number")
}

fn machine() -> anyhow::Result<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    Ok(name
        .context("this machine's name is not known")?
        .trim()
        .to_owned())
}

/// What the run ended with, once it has.
fn ended(folder: &Path) -> anyhow::Result<Option<u8>> {
    let text = cache::read_if_there(&folder.join(STATUS))?;
    Ok(text.and_then(|text| answer::number(String::from_utf8_lossy(&text).trim())))
}

/// What is asked of a folder that is none of a run.
fn asked(folder: &Path) -> anyhow::Result<Asked> {
    let read = cache::read_json::<Asked>(&folder.join(ASKED))?;
    read.with_context(|| {
        format!(
            "{} is no folder of a run: tollgate robot or prove with --engine slurm --detach prints one",
            shown(folder)
        )
    })
}

/// Whether the process that keeps the run is there: only its own machine can tell.
fn is_kept(folder: &Path, asked: &Asked) -> anyhow::Result<bool> {
    let here = machine()?;
    anyhow::ensure!(
        asked.machine == here,
        "the run was begun on {}, and this is {here}: only there can it be told whether it goes on",
        tollgate_source::plain(&asked.machine)
    );
    let environment = format!("/proc/{}/environ", asked.process);
    let held = match fs::read(&environment) {
        Ok(held) => held,
        Err(error) if input::is_absent(&error) => return Ok(false),
        // It ended while it was read.
        Err(error) if error.raw_os_error() == Some(3) => return Ok(false),
        Err(error) => {
            return Err(error).with_context(|| format!("{environment} could not be read"));
        }
    };
    let mut own = format!("{RUN}=").into_bytes();
    own.extend_from_slice(folder.as_os_str().as_bytes());
    Ok(held.split(|byte| *byte == 0).any(|one| one == own))
}

/// Says how a run stands. 0 where it has ended, 1 where it goes on.
///
/// # Errors
/// When nobody knows.
pub(crate) fn status(folder: &Path, term: &Term) -> anyhow::Result<Exit> {
    let folder = &resolved(folder)?;
    let asked = asked(folder)?;
    let (words, exit) = match ended(folder)? {
        Some(status) => (format!("ended with {status}"), Exit::Clean),
        None if is_kept(folder, &asked)? => (goes_on(folder)?, Exit::Findings),
        None => anyhow::bail!(
            "the process of the run is gone, and it has not ended: tollgate job collect {} goes on with it",
            shown(folder)
        ),
    };
    term.result(&format!("{words}\n"))?;
    Ok(exit)
}

fn goes_on(folder: &Path) -> anyhow::Result<String> {
    Ok(match Record::read(folder)? {
        None => "goes on: nothing is handed over yet".to_owned(),
        Some(Record {
            answered,
            total,
            line,
            ..
        }) => format!("goes on: {answered} of {total} jobs answered, {line}"),
    })
}

/// Waits for a run, and ends as it did, with what it said. One whose process is gone is
/// taken up here, by one of those that wait for it.
///
/// # Errors
/// When it is none, or somebody stops waiting.
pub(crate) fn collect(folder: &Path, term: &Term) -> anyhow::Result<Exit> {
    let folder = &resolved(folder)?;
    let mut asked = asked(folder)?;
    let interrupt = signals::obeyed();
    let meter = Meter::of(term, "waiting for the run");
    while ended(folder)?.is_none() {
        interrupt.check()?;
        if !is_kept(folder, &asked)? && ended(folder)?.is_none() {
            asked = match is_ours(folder, asked.process)? {
                true => taken_up(folder, asked, term)?,
                // Whoever has it writes down which process keeps it now.
                false => self::asked(folder)?,
            };
        }
        std::thread::sleep(TICK);
    }
    drop(meter);
    hand_over(folder, term)
}

fn taken_up(folder: &Path, asked: Asked, term: &Term) -> anyhow::Result<Asked> {
    term.note("the process of the run is gone: it is taken up here");
    let words = asked.words.iter().cloned();
    let words: Vec<OsString> = words.map(OsString::from_vec).collect();
    let process = start(folder, &asked.folder, &words)?;
    let taken = Asked { process, ..asked };
    cache::write_json(&folder.join(ASKED), &taken)?;
    Ok(taken)
}

/// Whether a run is this process's to take up whose own is gone: that of one alone of
/// those that wait. Its number stands in a file that is there at once or not at all, which
/// holds over NFS (link(2)); the next is made only once that process is gone as well.
fn is_ours(folder: &Path, gone: i32) -> anyhow::Result<bool> {
    let mut turns = 0_u32..;
    let place = loop {
        let turn = turns.next().context("a run was taken up without end")?;
        let place = folder.join(format!("taken-{gone}-{turn}"));
        match cache::read_if_there(&place)? {
            None => break place,
            Some(taker) if is_running(&taker) => return Ok(false),
            Some(_) => {}
        }
    };
    let unwritten = || format!("{} could not be written", shown(&place));
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(unwritten)?;
    write!(file, "{}", std::process::id()).with_context(unwritten)?;
    match file.persist_noclobber(&place) {
        Ok(_) => Ok(true),
        Err(other) if other.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(other) => Err(other.error).with_context(unwritten),
    }
}

fn is_running(process: &[u8]) -> bool {
    let name = String::from_utf8_lossy(process);
    Path::new("/proc").join(&*name).is_dir()
}

/// What a run said, and its exit code.
fn hand_over(folder: &Path, term: &Term) -> anyhow::Result<Exit> {
    let status = ended(folder)?.context("the run has not ended")?;
    term.raw(&cache::read_file(&folder.join(OUTPUT))?)?;
    let said = cache::read_file(&folder.join(SAID))?;
    term.verdict(String::from_utf8_lossy(&said).trim_end());
    match status {
        0 => Ok(Exit::Clean),
        1 => Ok(Exit::Findings),
        // It has said why.
        status => std::process::exit(status.into()),
    }
}

/// Ends a run, and what it has queued.
///
/// # Errors
/// When it is none, or does not end.
pub(crate) fn cancel(folder: &Path, term: &Term) -> anyhow::Result<Exit> {
    let folder = &resolved(folder)?;
    let asked = asked(folder)?;
    if let Some(status) = ended(folder)? {
        term.note(&format!("the run has ended with {status} already"));
        return Ok(Exit::Clean);
    }
    if is_kept(folder, &asked)? {
        let group = Pid::from_raw(asked.process).context("a process has no number")?;
        kill_process_group(group, Signal::TERM).context("the run could not be asked to stop")?;
        let begun = Instant::now();
        while ended(folder)?.is_none() {
            anyhow::ensure!(begun.elapsed() < ENDS, "the run does not end");
            std::thread::sleep(TICK);
        }
    }
    // What a process left that is gone.
    let runner = Runner::new(Interrupt::default(), None);
    for name in RunFolder::of(folder).handed_over()? {
        let mut command = Command::new("scancel");
        runner.output(command.args(["--name", &name]))?;
    }
    if ended(folder)?.is_none() {
        cache::write_file(&folder.join(STATUS), b"143\n")?;
        for name in [OUTPUT, SAID] {
            File::options()
                .create(true)
                .append(true)
                .open(folder.join(name))
                .with_context(|| format!("{} could not be written", shown(folder)))?;
        }
    }
    Ok(Exit::Clean)
}

/// As its own process has the folder.
fn resolved(folder: &Path) -> anyhow::Result<PathBuf> {
    let found = std::path::absolute(folder);
    found.with_context(|| format!("there is no folder {}", shown(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_those_that_wait_takes_a_run_up() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, gone) = (dir.path(), 7);
        let takers: Vec<bool> = std::thread::scope(|scope| {
            let one = || scope.spawn(|| is_ours(folder, gone).unwrap());
            let all: Vec<_> = std::iter::repeat_with(one).take(8).collect();
            all.into_iter().map(|own| own.join().unwrap()).collect()
        });
        assert_eq!(takers.iter().filter(|own| **own).count(), 1, "{takers:?}");
        // The one that had it died before it began; then its process did.
        let mut dead = Command::new("true").spawn().unwrap();
        dead.wait().unwrap();
        fs::write(folder.join("taken-7-0"), dead.id().to_string()).unwrap();
        assert_eq!(
            [gone, gone].map(|of| is_ours(folder, of).unwrap()),
            [true, false]
        );
        assert!(is_ours(folder, 8).unwrap());
    }

    #[test]
    fn what_is_another_programs_keeps_its_words() {
        let words = |all: &[&str]| -> Vec<OsString> { all.iter().map(Into::into).collect() };
        let given = words(&["prove", "--detach", "x", "--", "./p", "--detach"]);
        let kept = without_flag(given.into_iter());
        assert_eq!(kept, words(&["prove", "x", "--", "./p", "--detach"]));
    }
}
