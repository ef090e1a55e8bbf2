//! What the boots of a base left, kept: the same image, guest, plugin, QEMU and machine
//! count the same each time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tollgate_defect::answer;
use tollgate_lab::boot::Record;
use tollgate_lab::cache::{self, Cache};
use tollgate_lab::tree;

use super::side_by_side::locked;

/// Part of every key: raise it when what is kept, or how a guest is booted, changes.
const VERSION: u32 = 2;
/// Where in the cache they are.
const COUNTS: &str = "counts";
const CONSOLE: &str = "console";
const COUNTED: &str = "counts";
const ABOUT: &str = "boot.json";

/// What is kept of a boot beside what it left.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    /// How long it took, in time of the host.
    milliseconds: u64,
}

/// A boot of a base.
#[derive(Clone, Debug)]
pub(super) struct Booted {
    /// What it left.
    pub(super) record: Record,
    /// How long it took, in time of the host.
    pub(super) took: Duration,
}

/// All that decides what a boot counts.
#[derive(Debug, Serialize)]
pub(super) struct Key<'a> {
    pub(super) version: u32,
    /// The key of the image.
    pub(super) image: &'a str,
    /// The hash of what its guest starts with: init, plan, program.
    pub(super) guest: String,
    /// The hash of the plugin.
    pub(super) plugin: &'a str,
    /// The hash of the emulator's program.
    pub(super) qemu: &'a str,
    /// Its arguments.
    pub(super) arguments: Vec<String>,
    /// The kernel's command line.
    pub(super) command_line: String,
}

impl Key<'_> {
    pub(super) const VERSION: u32 = VERSION;

    /// As the name of a folder.
    ///
    /// # Errors
    /// None that input can cause.
    pub(super) fn name(&self) -> serde_json::Result<String> {
        Ok(tree::hash(&serde_json::to_vec(self)?))
    }
}

/// Records of boots, those of this run and those in the cache.
pub(super) struct Kept<'a> {
    cache: &'a Cache,
    /// What the first boot of each key left in this run.
    first: Mutex<BTreeMap<String, Booted>>,
}

impl<'a> Kept<'a> {
    pub(super) fn of(cache: &'a Cache) -> Self {
        Self {
            cache,
            first: Mutex::default(),
        }
    }

    /// Notes what a boot left.
    pub(super) fn note(&self, key: String, booted: &Booted) {
        locked(&self.first)
            .entry(key)
            .or_insert_with(|| booted.clone());
    }

    /// What an earlier run kept, where it still is what was kept.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub(super) fn find(&self, key: &str) -> Result<Option<Booted>, cache::Error> {
        let Some(folder) = self.cache.installed(&place(key))? else {
            return Ok(None);
        };
        let Some(About { milliseconds }) = cache::read_json(&folder.join(ABOUT))? else {
            return Ok(None);
        };
        let record = Record {
            console: cache::read_file(&folder.join(CONSOLE))?,
            counts: cache::read_file(&folder.join(COUNTED))?,
        };
        let took = Duration::from_millis(milliseconds);
        Ok(Some(Booted { record, took }))
    }

    /// Keeps what was noted, in the place of what was kept before, once a second boot has
    /// counted the same.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub(super) fn keep(&self) -> Result<(), cache::Error> {
        for (key, booted) in std::mem::take(&mut *locked(&self.first)) {
            let Booted { record, took } = booted;
            let milliseconds = answer::fits(took.as_millis()).unwrap_or(u64::MAX);
            let fill = |folder: &Path| -> Result<(), cache::Error> {
                cache::write_file(&folder.join(CONSOLE), &record.console)?;
                cache::write_file(&folder.join(COUNTED), &record.counts)?;
                cache::write_json(&folder.join(ABOUT), &About { milliseconds })
            };
            self.cache.remove_installed(&place(&key))?;
            self.cache.install(&place(&key), fill)?;
        }
        Ok(())
    }
}

fn place(key: &str) -> PathBuf {
    Path::new(COUNTS).join(key)
}
