//! A guest's life under QEMU: started, counted, ended; whatever happens, an
//! answer.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;
use tollgate_source::shown;

use crate::cache;
use crate::console::{self, Trouble};
use crate::job::Content;
use crate::machine::{Equipment, Machine};
use crate::own_cpu::OwnCpu;
use crate::process::{self, Runner};
use crate::toolchain::Qemu;

/// Why a boot gave no counts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// QEMU could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(process::Error),
    /// The guest did not end.
    #[error("the kernel of {image} did not end within {limit} and was stopped{}. {console}\n\nWhere it needs more time, give it: --timeout SECONDS", in_job(.job.as_deref()))]
    Hung {
        /// The image's name.
        image: String,
        /// The limit.
        limit: Limit,
        /// The job that had begun and did not end, where one had.
        job: Option<String>,
        /// What its console has.
        console: Box<Console>,
    },
    /// The guest writes without end.
    #[error("the console of {image} grew past {} MiB, which no guest needs, and the guest was stopped{}. {console}", CONSOLE >> 20, in_job(.job.as_deref()))]
    Endless {
        /// The image's name.
        image: String,
        /// The job that had begun and did not end, where one had.
        job: Option<String>,
        /// What its console has.
        console: Box<Console>,
    },
    /// The plugin wrote more than it can have to say.
    #[error(
        "the counts of {image} are {bytes} bytes long, and no run has more than {MOST_COUNTS}: the guest began phases without end"
    )]
    Counts {
        /// The image's name.
        image: String,
        /// How long they are.
        bytes: u64,
    },
    /// The kernel found that it is broken.
    #[error("the kernel of {image} {}: {title}. {console}", .outcome.words())]
    Broke {
        /// The image's name.
        image: String,
        /// Whether it went on.
        outcome: Outcome,
        /// What it said.
        title: String,
        /// What its console has.
        console: Box<Console>,
    },
    /// QEMU ended before the guest had done its work.
    #[error(
        "the guest of {image} ended before its work was done{} (QEMU: {status}). {console}", in_job(.job.as_deref())
    )]
    Died {
        /// The image's name.
        image: String,
        /// How QEMU ended.
        status: ExitStatus,
        /// The job that had begun and did not end, where one had.
        job: Option<String>,
        /// What its console has.
        console: Box<Console>,
    },
    /// A file that belongs to the boot cannot be read or written.
    #[error("could not use {}: {source}", shown(.path))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The longest console that is kept, in bytes.
pub(crate) const CONSOLE: u64 = 64 << 20;
/// The longest counts that are read, in bytes.
const MOST_COUNTS: u64 = 512 << 20;

/// ` in bench poll`
pub(crate) fn in_job(job: Option<&str>) -> String {
    job.map_or_else(String::new, |job| format!(" in {job}"))
}

/// Whether a kernel that is broken went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It panicked.
    Panicked,
    /// It went on, to whatever end.
    WentOn,
}

impl Outcome {
    fn words(self) -> &'static str {
        match self {
            Self::Panicked => "panicked",
            Self::WentOn => "broke, and nothing that it counted is used",
        }
    }
}

/// The part of a console that tells, and where the whole of it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Console {
    /// Whether the lines are the last, or what the kernel said when it broke.
    last: bool,
    lines: String,
    /// The file, or why there is none.
    whole: Result<PathBuf, String>,
}

impl fmt::Display for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.last {
            true => "The last lines of its console",
            false => "Its console says",
        };
        write!(f, "{what}:\n\n{}\n\n", self.lines)?;
        match &self.whole {
            Ok(path) => write!(f, "The whole console is {}", shown(path)),
            Err(reason) => write!(f, "The whole console could not be kept: {reason}"),
        }
    }
}

/// How long a guest may take, in time of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The limit.
    pub time: Duration,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Given,
    First,
    After(Duration),
}

impl Limit {
    /// Of a first boot, of which nothing is known.
    pub const FIRST: Duration = Duration::from_secs(300);
    /// Of a later one: so many times what the first took. The counts of two images
    /// are some per cent apart, and other work on the host may take most of it.
    pub const FACTOR: u32 = 10;
    /// The shortest, where a first boot was over in no time.
    pub const LEAST: Duration = Duration::from_secs(10);

    /// The one that the user wants.
    #[must_use]
    pub fn given(time: Duration) -> Self {
        let reason = Reason::Given;
        Self { time, reason }
    }

    /// What follows from how long the first boot took, where there was one.
    #[must_use]
    pub fn after(first: Option<Duration>) -> Self {
        match first {
            None => Self {
                time: Self::FIRST,
                reason: Reason::First,
            },
            Some(took) => Self {
                time: Self::LEAST.max(took.saturating_mul(Self::FACTOR)),
                reason: Reason::After(took),
            },
        }
    }
}

/// `61 s (10 times what the first boot of A took, 6.1 s)`
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.time.as_secs())?;
        match self.reason {
            Reason::Given | Reason::First => Ok(()),
            Reason::After(took) => write!(
                f,
                " ({} times what the first boot of A took, {:.1} s, and at least {} s)",
                Self::FACTOR,
                took.as_secs_f64(),
                Self::LEAST.as_secs()
            ),
        }
    }
}

/// What a boot is made of.
#[derive(Clone, Debug)]
pub struct Boot<'a> {
    /// The image's name in messages, `base`.
    pub image: &'a str,
    /// The kernel in the form that QEMU loads.
    pub kernel: &'a Path,
    /// The archive that holds init.
    pub initramfs: &'a Path,
    /// The counting plugin.
    pub plugin: &'a Path,
    /// The machine.
    pub machine: &'a Machine,
    /// The CPU, and what the kernel is told.
    pub equipment: &'a Equipment,
    /// The emulator.
    pub qemu: &'a Qemu,
    /// How long the guest may take, in time of the host.
    pub limit: Limit,
    /// What the guest works off.
    pub plan: &'a str,
    /// Where the console stays of a boot that failed.
    pub kept: &'a Path,
}

/// What a boot left: the two texts that `tollgate-measure` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The guest's console.
    pub console: Vec<u8>,
    /// The plugin's counts.
    pub counts: Vec<u8>,
}

/// Where the counts are in the folder of a boot.
pub const COUNTS: &str = "counts.txt";

/// What a boot left behind, whatever ended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    ended: Ended,
    console: Content,
    counts: Option<Content>,
    /// So many bytes of counts, where that is more than there may be.
    excess: Option<u64>,
    milliseconds: u64,
}

/// How QEMU ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ended {
    /// By itself, with this, as wait(2) has it.
    Status(i32),
    /// It ran longer than it may, and was stopped.
    TimedOut,
    /// Its console had no end, and it was stopped.
    Endless,
}

impl Left {
    /// How long it ran.
    #[must_use]
    pub fn took(&self) -> Duration {
        Duration::from_millis(self.milliseconds)
    }
}

/// Runs QEMU in a folder to its end or to the limit.
///
/// # Errors
/// When it cannot be run, or what it left cannot be read.
pub fn run(
    command: &mut Command,
    limit: Duration,
    folder: &Path,
    runner: &Runner,
) -> Result<Left, Error> {
    let console = folder.join("console.txt");
    let _own_cpu = OwnCpu::take();
    let begun = Instant::now();
    let limit = Some(limit);
    let ended = match runner.logged_up_to(CONSOLE, command, &console, limit, &mut |_| {}) {
        Ok(status) => Ended::Status(status.into_raw()),
        Err(process::Error::TimedOut { .. }) => Ended::TimedOut,
        Err(process::Error::Endless { .. }) => Ended::Endless,
        Err(other) => return Err(Error::Process(other)),
    };
    let milliseconds = begun.elapsed().as_millis();
    let counts = folder.join(COUNTS);
    let (counts, excess) = held(&counts)?;
    Ok(Left {
        ended,
        console: Content::of(&read(&console)?),
        counts,
        excess,
        milliseconds: answer::fits(milliseconds).unwrap_or(u64::MAX),
    })
}

/// The counts, where there are any and not too many; else how many bytes there are.
fn held(place: &Path) -> Result<(Option<Content>, Option<u64>), Error> {
    match fs::metadata(place) {
        Ok(about) if about.len() > MOST_COUNTS => Ok((None, Some(about.len()))),
        Ok(_) => Ok((Some(Content::of(&read(place)?)), None)),
        Err(error) if crate::input::is_absent(&error) => Ok((None, None)),
        Err(source) => Err(Error::File {
            path: place.to_owned(),
            source,
        }),
    }
}

impl Boot<'_> {
    /// Boots, waits for the end, and reads what was left in `folder`; with how long it
    /// took.
    ///
    /// # Errors
    /// With the last lines of the console when the guest panicked, hung or
    /// died.
    pub fn run(&self, folder: &Path, runner: &Runner) -> Result<(Record, Duration), Error> {
        let mut command = Command::new(&self.qemu.command);
        command.args(self.words(&folder.join(COUNTS)));
        let left = run(&mut command, self.limit.time, folder, runner)?;
        let took = left.took();
        Ok((self.read(left)?, took))
    }

    /// What was counted, of what a boot left.
    ///
    /// # Errors
    /// As [`Boot::run`].
    pub fn read(&self, left: Left) -> Result<Record, Error> {
        let text = left.console.bytes();
        match left.ended {
            Ended::TimedOut => return Err(self.hung(text)),
            Ended::Endless => return Err(self.endless(text)),
            Ended::Status(status) => self.judge(ExitStatus::from_raw(status), text)?,
        }
        if let Some(bytes) = left.excess {
            let image = self.image.to_owned();
            return Err(Error::Counts { image, bytes });
        }
        let counts = left.counts.ok_or_else(|| Error::File {
            path: COUNTS.into(),
            source: std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "No such file: QEMU ended, and its plugin had written none",
            ),
        })?;
        Ok(Record {
            console: left.console.into_bytes(),
            counts: counts.into_bytes(),
        })
    }

    /// The arguments of QEMU, with where the counts go.
    pub(crate) fn words(&self, counts: &Path) -> Vec<OsString> {
        let mut plugin = option_path(self.plugin);
        plugin.push(",out=");
        plugin.push(option_path(counts));
        plugin.push(format!(",kernel={}", self.machine.kernel_start));
        let machine = self.machine.arguments(self.equipment);
        let mut words: Vec<OsString> = machine.into_iter().map(OsString::from).collect();
        words.extend(["-kernel".into(), self.kernel.into()]);
        words.extend(["-initrd".into(), self.initramfs.into()]);
        let append = self.equipment.command_line(self.machine);
        words.extend(["-append".into(), append.into(), "-plugin".into(), plugin]);
        words
    }

    fn endless(&self, text: &[u8]) -> Error {
        Error::Endless {
            image: self.image.to_owned(),
            job: console::unfinished(self.plan, text),
            console: self.console(text, console::trouble(text).as_ref()),
        }
    }

    fn hung(&self, text: &[u8]) -> Error {
        Error::Hung {
            image: self.image.to_owned(),
            limit: self.limit,
            job: console::unfinished(self.plan, text),
            console: self.console(text, console::trouble(text).as_ref()),
        }
    }

    fn judge(&self, status: ExitStatus, text: &[u8]) -> Result<(), Error> {
        let image = self.image.to_owned();
        if let Some(trouble) = console::trouble(text) {
            return Err(Error::Broke {
                image,
                outcome: match trouble.panicked {
                    true => Outcome::Panicked,
                    false => Outcome::WentOn,
                },
                console: self.console(text, Some(&trouble)),
                title: trouble.title,
            });
        }
        if !status.success() || !contains(text, b"@tg done") {
            return Err(Error::Died {
                image,
                status,
                job: console::unfinished(self.plan, text),
                console: self.console(text, None),
            });
        }
        Ok(())
    }

    /// What is shown of a console, which is kept.
    fn console(&self, text: &[u8], trouble: Option<&Trouble>) -> Box<Console> {
        let folder = self.kept.parent().unwrap_or(self.kept);
        let kept = cache::make_folder(folder).and_then(|()| cache::write_file(self.kept, text));
        let lines = trouble.map(|trouble| trouble.excerpt.clone());
        Box::new(Console {
            last: lines.is_none(),
            lines: lines.unwrap_or_else(|| console::last_words(text)),
            whole: match kept {
                Ok(()) => Ok(self.kept.to_owned()),
                Err(error) => Err(error.to_string()),
            },
        })
    }
}

/// A path inside a QEMU option: a comma in it is doubled (qemu(1), "-drive").
fn option_path(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes().iter();
    let doubled = bytes.flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b',')));
    OsString::from_vec(doubled.collect())
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

pub(crate) fn contains(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_in_a_path_does_not_end_the_option() {
        assert_eq!(option_path(Path::new("/a,b/c")), "/a,,b/c");
    }

    #[test]
    fn the_limit_follows_from_the_first_boot() {
        let seconds = |limit: Limit| limit.time.as_secs();
        assert_eq!(seconds(Limit::after(None)), 300);
        assert_eq!(seconds(Limit::after(Some(Duration::from_secs(6)))), 60);
        assert_eq!(seconds(Limit::after(Some(Duration::from_millis(50)))), 10);
        assert_eq!(seconds(Limit::given(Duration::from_secs(7))), 7);
        let words = Limit::after(Some(Duration::from_millis(6100))).to_string();
        assert_eq!(
            words,
            "61 s (10 times what the first boot of A took, 6.1 s, and at least 10 s)"
        );
    }
}
