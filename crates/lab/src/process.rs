//! Other programs: started in a process group of their own, watched, stopped
//! with everything they started.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tollgate_defect::Defect;
use tollgate_defect::answer;

use rustix::process::{Pid, Signal, kill_process_group};

use tollgate_source::shown;

use crate::space;

/// How often a wait looks whether the user or the clock has ended it.
const TICK: Duration = Duration::from_millis(50);
/// How long a program may clean up after it was asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Lines of a failed program's standard error that are shown.
const SHOWN: usize = 24;

/// Whether the user has asked to stop (Ctrl-C). Shared by everything that
/// waits.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicI32>);

impl Interrupt {
    /// Asks everything that shares this value to stop, because of a signal; the
    /// first that came is kept.
    #[expect(
        clippy::let_underscore_must_use,
        reason = "it fails where an earlier signal is kept"
    )]
    pub fn set(&self, signal: i32) {
        let order = Ordering::SeqCst;
        let _ = self.0.compare_exchange(0, signal, order, order);
    }

    /// Whether it was asked.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.signal().is_some()
    }

    /// The signal that asked.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Turns the wish into an error, for loops that do long work themselves.
    ///
    /// # Errors
    /// [`Error::Interrupted`] when it was asked.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_set() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// Why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be started.
    #[error("could not start {program}: {source}{}", hint(.source))]
    Start {
        /// The program, as it was named.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Its output could not be kept.
    #[error("could not write the log {}: {source}{}", shown(.path), space::hint(.source, .path, space::OR_CACHE))]
    Log {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What it writes could not be read to its end.
    #[error("what {program} wrote could not be read: {source}")]
    Read {
        /// The program, as it was named.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// It could not be waited for.
    #[error("lost track of {program}: {source}")]
    Wait {
        /// The program, as it was named.
        program: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// It ran longer than it may.
    #[error("{program} did not end within {} s and was stopped", .limit.as_secs())]
    TimedOut {
        /// The program, as it was named.
        program: String,
        /// The limit that it passed.
        limit: Duration,
    },
    /// It wrote more than it may.
    #[error("{program} wrote more than {} MiB and was stopped", .most >> 20)]
    Endless {
        /// The program, as it was named.
        program: String,
        /// The most that it may write, in bytes.
        most: u64,
    },
    /// It ended with another status than success.
    #[error("{program} failed ({status}): {message}{room}")]
    Failed {
        /// The program, as it was named.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// The first lines that it wrote on standard error.
        message: String,
        /// The disk that is full, where that is why; else nothing.
        room: String,
    },
    /// The user asked to stop.
    #[error("interrupted; nothing half-written is kept, and the next run goes on from here")]
    Interrupted,
}

/// What stands behind the words about a program that is not there.
pub const ADVICE: &str =
    " (is it installed? tollgate doctor says what is missing, and what installs it)";

fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::NotFound => ADVICE,
        _ => "",
    }
}

/// Starts programs on behalf of one run of tollgate.
#[derive(Debug)]
pub struct Runner {
    interrupt: Interrupt,
    /// Every child gets the cache's lock as its standard input: the lock stays
    /// held for as long as one of them lives, even when tollgate was killed.
    stdin: Option<File>,
}

impl Runner {
    /// A runner whose programs end when `interrupt` is set, and which hold
    /// `lock` for as long as they live.
    #[must_use]
    pub fn new(interrupt: Interrupt, lock: Option<File>) -> Self {
        Self {
            interrupt,
            stdin: lock,
        }
    }

    /// The wish to stop that this runner obeys.
    #[must_use]
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Runs a program to its end and returns what it wrote on standard output.
    ///
    /// # Errors
    /// When it cannot be started, fails, or the user asks to stop.
    pub fn output(&self, command: &mut Command) -> Result<Vec<u8>, Error> {
        let child = self.spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        self.end(child, command)
    }

    /// The same for a program that reads `input` on its standard input.
    ///
    /// # Errors
    /// When it cannot be started, fails, or the user asks to stop.
    pub fn output_of(&self, command: &mut Command, input: &[u8]) -> Result<Vec<u8>, Error> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = spawn(command, put_aside(input))?;
        self.end(child, command)
    }

    /// Starts a program that reads `input` on its standard input, and gives what
    /// it writes on standard output to read while it runs.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn reader(&self, command: &mut Command, input: &[u8]) -> Result<Reader, Error> {
        let program = name_of(command);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut running = spawn(command, put_aside(input))?;
        let stdout = running.child.stdout.take().ok_or_else(|| Error::Wait {
            program,
            source: std::io::Error::other("its standard output is not there"),
        })?;
        Ok(Reader {
            running,
            stdout: BufReader::new(stdout),
            interrupt: self.interrupt.clone(),
        })
    }

    fn end(&self, mut child: Running, command: &Command) -> Result<Vec<u8>, Error> {
        let program = name_of(command);
        let (sender, ended) = mpsc::channel();
        let stdout = drained(child.child.stdout.take(), sender.clone());
        let stderr = drained(child.child.stderr.take(), sender);
        let outcome = self.until(&ended);
        let status = child.conclude(program.clone(), outcome)?;
        let whole = |stream| whole(stream, &program);
        if status.success() {
            return whole(stdout);
        }
        let said = whole(stderr)?;
        let said = String::from_utf8_lossy(&said);
        let folder = command.get_current_dir().unwrap_or(Path::new("."));
        Err(Error::Failed {
            program,
            status,
            message: first_lines(&said, SHOWN),
            room: space::after_failure(&said, &[folder, &std::env::temp_dir()]),
        })
    }

    /// Waits until all senders are gone.
    fn until(&self, ended: &mpsc::Receiver<()>) -> Result<(), Error> {
        loop {
            match ended.recv_timeout(TICK) {
                Err(RecvTimeoutError::Disconnected) => return self.interrupt.check(),
                Ok(()) | Err(RecvTimeoutError::Timeout) => self.interrupt.check()?,
            }
        }
    }

    /// Runs a program, writes both its streams to `log`, and hands every line
    /// to `line` as it comes.
    ///
    /// # Errors
    /// When it cannot be started, runs past `limit`, or the user asks to stop.
    /// A status other than success is no error here: the caller has the log.
    pub fn logged(
        &self,
        command: &mut Command,
        log: &Path,
        limit: Option<Duration>,
        line: &mut dyn FnMut(&str),
    ) -> Result<ExitStatus, Error> {
        self.logged_up_to(u64::MAX, command, log, limit, line)
    }

    /// The same of a program that may write no more than so many bytes.
    ///
    /// # Errors
    /// As of [`Runner::logged`], and when it writes more.
    pub fn logged_up_to(
        &self,
        most: u64,
        command: &mut Command,
        log: &Path,
        limit: Option<Duration>,
        line: &mut dyn FnMut(&str),
    ) -> Result<ExitStatus, Error> {
        let keep = |source| Error::Log {
            path: log.to_owned(),
            source,
        };
        let mut file = File::create(log).map_err(keep)?;
        let program = name_of(command);
        let (reader, writer) = std::io::pipe().map_err(keep)?;
        let both = writer.try_clone().map_err(keep)?;
        let mut child = self.spawn(command.stdout(writer).stderr(both))?;
        // The command keeps the writing ends; only the child may.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let pieces = pieces_of(reader);
        let mut open = OpenLine::default();
        let deadline = limit.map(|limit| (Instant::now() + limit, limit));
        let mut written = 0_u64;
        let outcome = loop {
            match pieces.recv_timeout(TICK) {
                Ok(Err(source)) => {
                    break Err(Error::Read {
                        program: program.clone(),
                        source,
                    });
                }
                Ok(Ok(text)) => {
                    if !within(&mut written, &text, most) {
                        let program = program.clone();
                        break Err(Error::Endless { program, most });
                    }
                    if let Err(source) = file.write_all(&text) {
                        break Err(keep(source));
                    }
                    open.take(&text, line);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    open.end(line);
                    // The signal that asks to stop may have ended the program, too.
                    break self.interrupt.check();
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = self.may_go_on(&program, deadline) {
                break Err(error);
            }
        };
        child.conclude(program, outcome)
    }

    fn may_go_on(&self, program: &str, deadline: Option<(Instant, Duration)>) -> Result<(), Error> {
        self.interrupt.check()?;
        match deadline {
            Some((at, limit)) if Instant::now() >= at => Err(Error::TimedOut {
                program: program.to_owned(),
                limit,
            }),
            _ => Ok(()),
        }
    }

    fn spawn(&self, command: &mut Command) -> Result<Running, Error> {
        let stdin = match &self.stdin {
            Some(lock) => lock.try_clone().map(Stdio::from),
            None => Ok(Stdio::null()),
        };
        spawn(command, stdin)
    }
}

/// A program that reads an input of its own holds no lock: it ends with its input.
fn spawn(command: &mut Command, stdin: std::io::Result<Stdio>) -> Result<Running, Error> {
    let program = name_of(command);
    stdin
        .and_then(|stdin| command.stdin(stdin).process_group(0).spawn())
        .map(Running::new)
        .map_err(|source| Error::Start { program, source })
}

/// A file without a name, at its beginning: a pipe would have to be filled while
/// the program's output is read.
fn put_aside(input: &[u8]) -> std::io::Result<Stdio> {
    let mut file = tempfile::tempfile()?;
    file.write_all(input)?;
    file.rewind()?;
    Ok(Stdio::from(file))
}

/// The standard output of a program that still runs. It is stopped when this is
/// dropped.
#[derive(Debug)]
pub struct Reader {
    running: Running,
    stdout: BufReader<ChildStdout>,
    interrupt: Interrupt,
}

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.stdout.read(into)
    }
}

impl BufRead for Reader {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.interrupt.is_set() {
            return Err(std::io::Error::other(Error::Interrupted));
        }
        self.stdout.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.stdout.consume(amount);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let group = self.running.group.into_iter();
        group.for_each(|group| signal(group, Signal::KILL));
        self.running.reap();
    }
}

/// The groups of all programs that run now.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<Pid>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every program that runs, with what it has started: for a process that
/// ends without waiting for them.
pub fn kill_running() {
    running()
        .iter()
        .for_each(|group| signal(*group, Signal::KILL));
}

/// A program that runs, the leader of its group.
#[derive(Debug)]
struct Running {
    child: Child,
    group: Option<Pid>,
}

impl Running {
    fn new(child: Child) -> Self {
        let group = answer::fits::<i32, _>(child.id()).and_then(Pid::from_raw);
        running().extend(group);
        Self { child, group }
    }

    /// Its status; what failed has it stopped first.
    fn conclude(
        &mut self,
        program: String,
        outcome: Result<(), Error>,
    ) -> Result<ExitStatus, Error> {
        if let Err(error) = outcome {
            self.stop();
            return Err(error);
        }
        self.child
            .wait()
            .map_err(|source| Error::Wait { program, source })
    }

    /// Asks the whole group to stop, so that make removes what it was writing;
    /// what does not obey is killed.
    fn stop(&mut self) {
        let all = |wanted| {
            self.group
                .into_iter()
                .for_each(|group| signal(group, wanted))
        };
        all(Signal::INT);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(TICK),
                Ok(Some(_)) | Err(_) => break,
            }
        }
        all(Signal::KILL);
        self.reap();
    }

    /// Waits for one that was killed.
    #[expect(
        clippy::let_underscore_must_use,
        reason = "its status is of no interest any more, only that it is gone"
    )]
    fn reap(&mut self) {
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        running().retain(|group| Some(*group) != self.group);
    }
}

/// A stream that is read in a thread of its own.
type Drained = JoinHandle<std::io::Result<Vec<u8>>>;

/// Reads a stream to its end in a thread of its own; the sender goes with it.
fn drained(stream: Option<impl Read + Send + 'static>, sender: mpsc::Sender<()>) -> Drained {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stream = stream.ok_or_else(|| std::io::Error::other("it is not there"))?;
        let read = stream.read_to_end(&mut bytes);
        drop(sender);
        read.map(|_| bytes)
    })
}

/// All that came; less than all of it is none.
fn whole(stream: Drained, program: &str) -> Result<Vec<u8>, Error> {
    let read = stream.join().unwrap_or_else(|_| {
        let defect = Defect::new("the thread that reads a program's output ended");
        Err(std::io::Error::other(defect))
    });
    read.map_err(|source| Error::Read {
        program: program.to_owned(),
        source,
    })
}

/// Adds a text to what was written, if that is no more than may be.
fn within(written: &mut u64, text: &[u8], most: u64) -> bool {
    *written = written.saturating_add(text.len() as u64);
    *written <= most
}

/// Sends what comes as it arrives, whether or not a line ends there.
fn pieces_of(reader: impl Read + Send + 'static) -> mpsc::Receiver<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(1024);
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        loop {
            let read = reader.fill_buf().map(<[u8]>::to_vec);
            let length = match &read {
                Ok(piece) if piece.is_empty() => return,
                Ok(piece) => piece.len(),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            reader.consume(length);
            let last = read.is_err();
            let sent = sender.send(read);
            // Nobody waits for the rest of what was stopped.
            if last || sent.is_err() {
                return;
            }
        }
    });
    receiver
}

/// What a line is cut into that is longer, in bytes: a program may write without end
/// and without a newline.
const LONGEST: usize = 1 << 16;

/// The line that has not ended yet.
#[derive(Default)]
struct OpenLine(Vec<u8>);

impl OpenLine {
    /// Hands on each line that ends in what came.
    fn take(&mut self, came: &[u8], line: &mut dyn FnMut(&str)) {
        for piece in came.split_inclusive(|byte| *byte == b'\n') {
            self.0.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.0.len() >= LONGEST {
                self.end(line);
            }
        }
    }

    /// Hands on what there is of the line.
    fn end(&mut self, line: &mut dyn FnMut(&str)) {
        if !self.0.is_empty() {
            line(String::from_utf8_lossy(&self.0).trim_end());
            self.0.clear();
        }
    }
}

#[expect(
    clippy::let_underscore_must_use,
    reason = "a group that has ended already needs no signal"
)]
fn signal(group: Pid, wanted: Signal) {
    let _ = kill_process_group(group, wanted);
}

fn name_of(command: &Command) -> String {
    shown(Path::new(command.get_program()))
}

fn first_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(count)
        .collect();
    if lines.is_empty() {
        "it said nothing".to_owned()
    } else {
        lines.join("\n  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn log() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        (dir, path)
    }

    /// A stream that breaks after its first bytes.
    struct Broken(bool);

    impl Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            match std::mem::replace(&mut self.0, true) {
                true => Err(std::io::Error::other("the disk is gone")),
                false => (&b"half\n"[..]).read(into),
            }
        }
    }

    #[test]
    fn the_first_half_of_an_output_is_not_taken_for_all_of_it() {
        let (sender, _ended) = mpsc::channel();
        let told = whole(drained(Some(Broken(false)), sender), "git").unwrap_err();
        let told = told.to_string();
        assert_eq!(told, "what git wrote could not be read: the disk is gone");
        let lines = pieces_of(Broken(false));
        assert_eq!(lines.recv().unwrap().unwrap(), b"half\n");
        assert!(lines.recv().unwrap().is_err());
        assert!(lines.recv().is_err());
    }

    #[test]
    fn both_streams_reach_the_log_and_the_caller() {
        let (_dir, path) = log();
        let mut seen = Vec::new();
        let status = Runner::new(Interrupt::default(), None)
            .logged(
                &mut shell("echo one; echo two >&2; exit 3"),
                &path,
                None,
                &mut |line| {
                    seen.push(line.to_owned());
                },
            )
            .unwrap();
        assert_eq!(status.code(), Some(3));
        assert_eq!(seen, ["one", "two"]);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "one\ntwo\n");
    }

    /// Whether a process still runs that has `word` in its arguments. One that was
    /// killed has none, even before its parent has waited for it.
    fn alive(word: &str) -> bool {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
            .any(|arguments| String::from_utf8_lossy(&arguments).contains(word))
    }

    #[test]
    fn a_program_past_its_limit_is_stopped_with_its_children() {
        let (dir, path) = log();
        let limit = Some(Duration::from_millis(300));
        let mark = dir.path().display().to_string();
        let script = format!("(sleep 600; echo {mark}) & wait; echo {mark}");
        let error = Runner::new(Interrupt::default(), None)
            .logged(&mut shell(&script), &path, limit, &mut |_| {})
            .unwrap_err();
        assert!(matches!(error, Error::TimedOut { .. }), "{error}");
        let patience = Instant::now() + Duration::from_secs(60);
        while alive(&mark) && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!alive(&mark));
    }

    /// Neither a line nor a log without end fills memory or disk.
    #[test]
    fn half_a_line_of_what_is_stopped_is_kept() {
        let (_dir, path) = log();
        let limit = Some(Duration::from_millis(500));
        let runner = Runner::new(Interrupt::default(), None);
        let mut command = shell("printf half; sleep 600");
        let ended = runner.logged(&mut command, &path, limit, &mut |_| {});
        assert!(matches!(ended, Err(Error::TimedOut { .. })));
        assert_eq!(std::fs::read_to_string(path).unwrap(), "half");
    }

    #[test]
    fn what_is_written_without_end_is_stopped() {
        let (_dir, path) = log();
        let runner = Runner::new(Interrupt::default(), None);
        for script in ["yes", "cat /dev/zero"] {
            let mut longest = 0;
            let mut line = |text: &str| longest = longest.max(text.len());
            let most = 4 << 20;
            let ended = runner.logged_up_to(most, &mut shell(script), &path, None, &mut line);
            let told = ended.unwrap_err().to_string();
            assert_eq!(told, "sh wrote more than 4 MiB and was stopped");
            assert!(std::fs::metadata(&path).unwrap().len() <= most);
            assert!(longest <= 2 * LONGEST, "{longest}");
        }
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let (_dir, path) = log();
        let interrupt = Interrupt::default();
        let other = interrupt.clone();
        let error = Runner::new(interrupt, None)
            .logged(&mut shell("echo up; sleep 60"), &path, None, &mut |_| {
                other.set(2)
            })
            .unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
    }

    #[test]
    fn an_interrupt_ends_a_program_that_is_only_asked() {
        let interrupt = Interrupt::default();
        let other = interrupt.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            other.set(15);
            other.set(2);
        });
        let runner = Runner::new(interrupt, None);
        let error = runner.output(&mut shell("sleep 600")).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
        assert_eq!(runner.interrupt().signal(), Some(15));
    }

    #[test]
    fn what_fills_both_streams_is_read() {
        let script = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2";
        let runner = Runner::new(Interrupt::default(), None);
        assert_eq!(runner.output(&mut shell(script)).unwrap().len(), 300_000);
    }

    #[test]
    fn a_missing_program_says_how_to_get_it() {
        let error = Runner::new(Interrupt::default(), None)
            .output(&mut Command::new("tollgate-no-such-program"))
            .unwrap_err();
        assert!(error.to_string().contains("tollgate doctor"), "{error}");
    }

    #[test]
    fn a_failure_carries_what_the_program_said() {
        let error = Runner::new(Interrupt::default(), None)
            .output(&mut shell("echo 'no such thing' >&2; exit 1"))
            .unwrap_err();
        assert!(error.to_string().contains("no such thing"), "{error}");
    }
}
