//! A guest's life under QEMU: started, counted, ended; whatever happens, an
//! answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::machine::Machine;
use crate::process::{self, Runner};
use crate::toolchain::Qemu;

/// Lines of the console that are shown when a guest died.
const LAST_WORDS: usize = 15;

/// Why a boot gave no counts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// QEMU could not be run, or the user asked to stop.
    #[error(transparent)]
    Process(process::Error),
    /// The guest did not end.
    #[error("the kernel of {image} did not end within {} s and was stopped. The last lines of its console:\n\n{last}\n\nA slow host may need more time: --timeout SECONDS", .limit.as_secs())]
    Hung {
        /// The image's name.
        image: String,
        /// The limit.
        limit: Duration,
        /// The end of its console.
        last: String,
    },
    /// The kernel panicked.
    #[error("the kernel of {image} panicked. The last lines of its console:\n\n{last}")]
    Panicked {
        /// The image's name.
        image: String,
        /// The end of its console.
        last: String,
    },
    /// QEMU ended before the guest had done its work.
    #[error(
        "the guest of {image} ended before its work was done (QEMU: {status}). The last lines of its console:\n\n{last}"
    )]
    Died {
        /// The image's name.
        image: String,
        /// How QEMU ended.
        status: ExitStatus,
        /// The end of its console.
        last: String,
    },
    /// A file that belongs to the boot cannot be read or written.
    #[error("could not use {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What a boot is made of.
#[derive(Debug)]
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
    /// QEMU's `-cpu`.
    pub cpu: &'a str,
    /// The number of CPUs, where it is not the machine's own.
    pub cpus: Option<u32>,
    /// The emulator.
    pub qemu: &'a Qemu,
    /// How long the guest may take, in time of the host.
    pub limit: Duration,
}

/// What a boot left: the two texts that `tollgate-measure` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The guest's console.
    pub console: Vec<u8>,
    /// The plugin's counts.
    pub counts: Vec<u8>,
}

impl Boot<'_> {
    /// Boots, waits for the end, and reads what was left in `folder`.
    ///
    /// # Errors
    /// With the last lines of the console when the guest panicked, hung or
    /// died.
    pub fn run(&self, folder: &Path, runner: &Runner) -> Result<Record, Error> {
        let console = folder.join("console.txt");
        let counts = folder.join("counts.txt");
        let mut command = self.command(&counts);
        let ended = runner.logged(&mut command, &console, Some(self.limit), &mut |_| {});
        let text = read(&console)?;
        let status = ended.map_err(|error| self.failed(error, &text))?;
        self.judge(status, &text)?;
        Ok(Record {
            console: text,
            counts: read(&counts)?,
        })
    }

    fn command(&self, counts: &Path) -> Command {
        let plugin = format!(
            "{},out={},kernel={}",
            option_path(self.plugin),
            option_path(counts),
            self.machine.kernel_start
        );
        let mut command = Command::new(&self.qemu.command);
        command
            .args(self.machine.arguments(self.cpu, self.cpus))
            .arg("-kernel")
            .arg(self.kernel)
            .arg("-initrd")
            .arg(self.initramfs)
            .args(["-append", &self.machine.command_line(), "-plugin", &plugin]);
        command
    }

    fn failed(&self, error: process::Error, console: &[u8]) -> Error {
        match error {
            process::Error::TimedOut { limit, .. } => Error::Hung {
                image: self.image.to_owned(),
                limit,
                last: last_words(console),
            },
            other => Error::Process(other),
        }
    }

    fn judge(&self, status: ExitStatus, console: &[u8]) -> Result<(), Error> {
        let image = self.image.to_owned();
        if contains(console, b"Kernel panic - not syncing") {
            return Err(Error::Panicked {
                image,
                last: last_words(console),
            });
        }
        if !status.success() || !contains(console, b"@tg done") {
            return Err(Error::Died {
                image,
                status,
                last: last_words(console),
            });
        }
        Ok(())
    }
}

/// A path inside a QEMU option: a comma in it is doubled (qemu(1), "-drive").
fn option_path(path: &Path) -> String {
    path.to_string_lossy().replace(',', ",,")
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

/// The end of a console, with nothing in it that a terminal would obey.
pub(crate) fn last_words(console: &[u8]) -> String {
    let text = String::from_utf8_lossy(console);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.is_empty() {
        return "  (nothing: the kernel did not reach its console)".to_owned();
    }
    let first = lines.len().saturating_sub(LAST_WORDS);
    let shown = lines
        .iter()
        .skip(first)
        .map(|line| format!("  {}", printable(line)));
    shown.collect::<Vec<_>>().join("\n")
}

fn printable(line: &str) -> String {
    line.chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_few_and_harmless() {
        let console: String = (0..40).map(|n| format!("line {n}\x1b[2J\r\n\n")).collect();
        let last = last_words(console.as_bytes());
        assert_eq!(last.lines().count(), LAST_WORDS);
        assert!(
            last.starts_with("  line 25[2J\n") && last.ends_with("  line 39[2J"),
            "{last}"
        );
    }

    #[test]
    fn a_comma_in_a_path_does_not_end_the_option() {
        assert_eq!(option_path(Path::new("/a,b/c")), "/a,,b/c");
    }

    #[test]
    fn a_silent_console_says_so() {
        assert!(last_words(b"\r\n").contains("did not reach its console"));
    }
}
