//! What the boots of a base left, kept: the same image, guest, plugin, QEMU and machine
//! count the same each time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;
use tollgate_lab::boot::Record;
use tollgate_lab::cache::{self, Cache};
use tollgate_lab::tree;

use super::side_by_side::locked;

/// Part of every key: raise it when what is kept, or how a guest is booted, changes.
const VERSION: u32 = 1;
/// Where in the cache they are.
const COUNTS: &str = "counts";
const CONSOLE: &str = "console";
const COUNTED: &str = "counts";

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
    first: Mutex<BTreeMap<String, Record>>,
}

impl<'a> Kept<'a> {
    pub(super) fn of(cache: &'a Cache) -> Self {
        Self {
            cache,
            first: Mutex::default(),
        }
    }

    /// Notes what a boot left.
    pub(super) fn note(&self, key: String, record: &Record) {
        locked(&self.first)
            .entry(key)
            .or_insert_with(|| record.clone());
    }

    /// What an earlier run kept.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub(super) fn find(&self, key: &str) -> Result<Option<Record>, cache::Error> {
        let folder = self.cache.root().join(place(key));
        let console = cache::read_if_there(&folder.join(CONSOLE))?;
        let counts = cache::read_if_there(&folder.join(COUNTED))?;
        Ok(match (console, counts) {
            (Some(console), Some(counts)) => Some(Record { console, counts }),
            _ => None,
        })
    }

    /// Keeps what was noted, once a second boot has counted the same.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub(super) fn keep(&self) -> Result<(), cache::Error> {
        for (key, record) in std::mem::take(&mut *locked(&self.first)) {
            self.cache
                .install(&place(&key), |folder| -> Result<(), cache::Error> {
                    cache::write_file(&folder.join(CONSOLE), &record.console)?;
                    cache::write_file(&folder.join(COUNTED), &record.counts)
                })?;
        }
        Ok(())
    }
}

fn place(key: &str) -> PathBuf {
    Path::new(COUNTS).join(key)
}
