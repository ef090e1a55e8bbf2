//! What came of a job, as the machine that did it hands it back.

use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tollgate_defect::Defect;

use super::asked::Error;
use super::result::CellResult;
use super::work::Work;
use crate::boot::Left;
use crate::image::Image;
use crate::{build, image, space};

/// How often a machine that does a job says that it lives.
pub const ALIVE: Duration = Duration::from_secs(20);

/// The answer to a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// That of the job's format ([`super::VERSION`]).
    pub version: u32,
    /// The machine that gives it.
    pub node: String,
    /// The id of the work that it is to ([`Work::id`]); none where the job file could not
    /// be read.
    pub to: Option<String>,
    /// What came of it.
    pub came: Came,
}

impl Answer {
    /// Whether it is one to that work: a job file that a disk or a hand has changed would
    /// be answered with something else than was asked.
    ///
    /// # Errors
    /// When the work has no id.
    pub fn is_to(&self, work: &Work) -> Result<bool, Defect> {
        Ok(match &self.to {
            Some(id) => *id == work.id()?,
            None => matches!(self.came, Came::Failed { .. }),
        })
    }
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "came", content = "of", rename_all = "kebab-case")]
pub enum Came {
    /// Of a cell.
    Cell(Box<CellResult>),
    /// A kernel, which lies in the store.
    Image(Box<Image>),
    /// What a boot left.
    Boot(Box<Left>),
    /// Why it could not be done.
    #[serde(untagged)]
    Failed {
        /// The sentence.
        words: String,
        /// Whether it is this machine's doing: another one may have more luck.
        accident: bool,
    },
}

impl Came {
    /// Why a job was not done.
    #[must_use]
    pub fn failed(error: &Error, words: String) -> Self {
        Self::Failed {
            words,
            accident: is_accident(error),
        }
    }

    /// That a job was answered with something else than was asked.
    #[must_use]
    pub fn unexpected(&self) -> Defect {
        let what = match self {
            Self::Cell(_) => "a cell",
            Self::Image(_) => "an image",
            Self::Boot(_) => "a boot",
            Self::Failed { .. } => "a failure",
        };
        Defect::new(format!("a job was answered with {what}"))
    }
}

/// Whether the same job may be done on another machine, or on this one later. What a
/// sandbox stopped for what it took would take as much there.
fn is_accident(error: &Error) -> bool {
    match error {
        Error::Process(_) | Error::Cache(_) | Error::Tree(_) | Error::Compiler { .. } => true,
        Error::Sandbox { .. } | Error::Unread { .. } | Error::Elsewhere(_) => true,
        Error::OtherCompiler { .. } | Error::OtherTree { .. } | Error::OtherQemu { .. } => true,
        Error::OtherFile { .. } | Error::Tool(_) => true,
        Error::Image(error) => is_accident_of_image(error),
        Error::Boot(_) => true,
        // Its own disk is full, not what a build may write.
        Error::Died { reason, .. } => reason.contains(space::NO_SPACE),
        Error::Config { .. } | Error::NoJob { .. } | Error::Defect(_) => false,
    }
}

fn is_accident_of_image(error: &image::Error) -> bool {
    use build::Error as Build;
    match error {
        image::Error::Tree(_) | image::Error::Cache(_) | image::Error::Copy(_) => true,
        image::Error::Build(Build::Process(_) | Build::Cache(_)) => true,
        image::Error::Build(Build::Failed { room, .. }) => !room.is_empty(),
        image::Error::Build(_) => false,
    }
}

/// Says that this machine lives for as long as the value does: a file gets another time
/// every [`ALIVE`].
#[derive(Debug)]
pub struct Alive(#[expect(dead_code, reason = "the thread ends with it")] Sender<()>);

impl Alive {
    /// From now on.
    #[must_use]
    pub fn at(place: &Path) -> Self {
        let (sender, ended) = mpsc::channel();
        let place = place.to_owned();
        std::thread::spawn(move || {
            loop {
                // Where it cannot be told, who waits takes this machine for lost.
                match touch(&place) {
                    Ok(()) | Err(_) => {}
                }
                match ended.recv_timeout(ALIVE) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Self(sender)
    }
}

fn touch(place: &Path) -> std::io::Result<()> {
    let file = File::options().create(true).append(true).open(place)?;
    file.set_modified(SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let failed = Came::Failed {
            words: "no".to_owned(),
            accident: false,
        };
        let image = Image {
            key: "k".to_owned(),
            folder: std::path::PathBuf::new(),
            kernel: "6.12".to_owned(),
            compiler: "gcc".to_owned(),
            config: "c".to_owned(),
            vmlinux: "h".to_owned(),
            boots: None,
        };
        for came in [failed, Came::Image(Box::new(image))] {
            let answer = Answer {
                version: super::super::VERSION,
                node: "n1".to_owned(),
                to: None,
                came,
            };
            let text = serde_json::to_string(&answer).unwrap();
            assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
        }
    }

    #[test]
    fn what_the_machine_does_is_no_answer_of_the_job() {
        let full = crate::cache::Error::Write {
            path: "x".into(),
            source: std::io::ErrorKind::StorageFull.into(),
        };
        assert!(is_accident(&Error::Cache(full)));
        let died = |reason: &str| Error::Died {
            what: "the configuration of arm64".to_owned(),
            reason: reason.to_owned(),
        };
        let full = "no room is left on its disk (\"No space left on device\")";
        assert!(is_accident(&died(full)));
        assert!(!is_accident(&died(
            "sh did not end within 1800 s and was stopped"
        )));
        let kconfig = Error::Config {
            cell: "c".to_owned(),
            reason: "r".to_owned(),
        };
        assert!(!is_accident(&kconfig));
    }

    #[test]
    fn who_lives_touches_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("0.alive");
        let alive = Alive::at(&place);
        let begun = std::time::Instant::now();
        while !place.exists() && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(place.exists());
        drop(alive);
    }
}
