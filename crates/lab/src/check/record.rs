//! What the rules said of a tree, file by file, with the state of all that it hangs on:
//! what is as it was need not be looked at again.
//!
//! What is said of a file hangs on its text, on all headers of the tree (what they call
//! windows, their types, their inline functions) and on whatever else was read for it: a
//! Makefile that names a folder of headers, a file of C that another includes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tollgate_source::check::{Checks, KeptChecks};
use tollgate_source::{Name, TreePath};

use super::files::Each;
use crate::cache;
use crate::input;
use crate::sealed;
use crate::stamp::{self, Stamp};
use crate::tree;

/// So many trees have a record, those that were looked at last: one is a few megabytes,
/// and nobody works in more at once.
const TREES: usize = 4;

/// Digits of a hash that are kept of it: 128 bits.
const DIGITS: usize = 32;

/// Where the records are, for one program: another may say something else.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
    program: Stamp,
    /// Whether nothing that is known counts.
    fresh: bool,
}

impl Records {
    /// Those of this program in a cache.
    ///
    /// # Errors
    /// When the program's own file cannot be looked at.
    pub fn of(cache: &Path) -> io::Result<Self> {
        let program = std::env::current_exe()?;
        Ok(Self {
            folder: cache.join("known"),
            program: stamp::stamp(&fs::metadata(program)?),
            fresh: false,
        })
    }

    /// The same, to be made anew whatever is known.
    #[must_use]
    pub fn anew(self) -> Self {
        let fresh = true;
        Self { fresh, ..self }
    }

    /// The same, as another build of tollgate has it.
    #[cfg(test)]
    pub(super) fn of_another_program(mut self) -> Self {
        self.program.1 += 1;
        self
    }

    fn place(&self, root: &Name) -> PathBuf {
        let name = short(root.as_bytes());
        self.folder.join(format!("{BEGINNING}{name}.json"))
    }

    /// What is known of the tree at a place, by this program.
    pub(super) fn read(&self, root: &Name) -> Result<Option<Record>, cache::Error> {
        let kept: Option<Record> = match self.fresh {
            true => None,
            false => sealed::kept(&self.place(root))?,
        };
        Ok(kept.filter(|record| record.program == self.program && record.root == *root))
    }

    /// Keeps it, and drops the oldest of too many.
    pub(super) fn keep(&self, record: &Record) -> Result<(), cache::Error> {
        cache::make_folder(&self.folder)?;
        sealed::keep(&self.place(&record.root), record)?;
        self.drop_old()
    }

    /// An empty one.
    pub(super) fn begin(&self, root: Name) -> Record {
        Record {
            program: self.program,
            root,
            files: BTreeMap::new(),
            others: BTreeMap::new(),
            said: BTreeMap::new(),
            asked: BTreeSet::new(),
            none: BTreeSet::new(),
        }
    }

    fn drop_old(&self) -> Result<(), cache::Error> {
        let read = |source| cache::Error::Write {
            path: self.folder.clone(),
            source,
        };
        let names = input::names_in(&self.folder).map_err(read)?.into_iter();
        let own = names.filter(|name| {
            let name = name.as_encoded_bytes();
            name.starts_with(BEGINNING.as_bytes()) && name.ends_with(b".json")
        });
        let mut all: Vec<(SystemTime, PathBuf)> = Vec::new();
        for path in own.map(|name| self.folder.join(name)) {
            let about = fs::metadata(&path).map_err(read)?;
            all.push((about.modified().map_err(read)?, path));
        }
        all.sort_unstable();
        let many = all.len().saturating_sub(TREES);
        for (_, path) in all.into_iter().take(many) {
            fs::remove_file(path).map_err(read)?;
        }
        Ok(())
    }
}

/// How the name of a record begins.
const BEGINNING: &str = "check-";

/// The state of a file that something hangs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    /// It had settled: a hash of its stamp.
    #[serde(rename = "s")]
    Settled(String),
    /// It had not: a hash of its bytes.
    #[serde(rename = "b")]
    Bytes(String),
    /// There was none.
    #[serde(rename = "n")]
    Nothing,
}

fn short(bytes: &[u8]) -> String {
    let mut hash = tree::hash(bytes);
    hash.truncate(DIGITS);
    hash
}

/// How a file stands there now.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stand {
    Settled(String),
    Unsettled,
    Nothing,
    /// It cannot be looked at.
    Unknown,
}

fn stand(place: &Path, began: i64) -> Stand {
    told(&fs::metadata(place), began)
}

fn told(about: &io::Result<Metadata>, began: i64) -> Stand {
    match about {
        Ok(about) if stamp::is_settled(about, began) => {
            Stand::Settled(short(format!("{:?}", stamp::stamp(about)).as_bytes()))
        }
        Ok(_) => Stand::Unsettled,
        Err(error) if input::is_absent(error) => Stand::Nothing,
        Err(_) => Stand::Unknown,
    }
}

impl State {
    /// Whether a file is as it was.
    fn holds(&self, place: &Path, stand: &Stand) -> bool {
        match (self, stand) {
            (Self::Settled(then), Stand::Settled(now)) => then == now,
            (Self::Bytes(then), Stand::Settled(_) | Stand::Unsettled) => {
                match input::source(place) {
                    Ok(text) => *then == short(&text),
                    Err(_) => false,
                }
            }
            (Self::Nothing, Stand::Nothing) => true,
            _ => false,
        }
    }
}

/// How the C files of a tree stand there, before any of them is read.
pub(super) struct Stands<'r> {
    root: &'r Path,
    began: i64,
    files: BTreeMap<Name, Stand>,
    /// Those of them that are there and no ordinary files: few, if any.
    others: HashSet<Name>,
}

impl<'r> Stands<'r> {
    /// Those of a tree that is checked from a time on, in seconds since 1970.
    pub(super) fn of(root: &'r Path, paths: &[TreePath], began: i64) -> Self {
        let one = |path: &TreePath| {
            let about = fs::metadata(root.join(path));
            let other = matches!(&about, Ok(about) if !about.is_file());
            (path.name().clone(), told(&about, began), other)
        };
        let all: Vec<(Name, Stand, bool)> = paths.par_iter().map(one).collect();
        let others = all.iter().filter(|(_, _, other)| *other);
        let others = others.map(|(name, _, _)| name.clone()).collect();
        let files = all.into_iter().map(|(name, stand, _)| (name, stand));
        Self {
            root,
            began,
            files: files.collect(),
            others,
        }
    }

    fn place(&self, name: &Name) -> PathBuf {
        self.root.join(name.as_path())
    }
}

/// Sees what is read while a tree is checked.
pub(super) struct Watch<'s> {
    stands: &'s Stands<'s>,
    /// Hashes of the texts of files that have not settled.
    bytes: Mutex<HashMap<Name, String>>,
    /// What was read beside the C files that are listed, or is not there.
    others: Mutex<BTreeMap<Name, Option<State>>>,
}

impl<'s> Watch<'s> {
    pub(super) fn of(stands: &'s Stands<'s>) -> Self {
        Self {
            stands,
            bytes: Mutex::default(),
            others: Mutex::default(),
        }
    }

    /// A file of the tree was read, and held that.
    pub(super) fn saw(&self, name: &Name, text: &[u8]) {
        if self.stands.files.get(name) == Some(&Stand::Unsettled) {
            locked(&self.bytes).insert(name.clone(), short(text));
        }
    }

    /// Whether a C file of the tree was an ordinary one when all of them were looked at, so
    /// that it need not be looked at again before it is opened.
    pub(super) fn is_ordinary(&self, name: &Name) -> bool {
        let stands = self.stands;
        let there = matches!(
            stands.files.get(name),
            Some(Stand::Settled(_) | Stand::Unsettled)
        );
        there && !stands.others.contains(name)
    }

    /// Reads a file for what another says.
    pub(super) fn source(&self, path: &TreePath) -> io::Result<Vec<u8>> {
        let name = path.name();
        let place = self.stands.root.join(path);
        let listed = name.is_header() && self.stands.files.contains_key(name);
        if listed {
            let mut text = Vec::new();
            return match self.is_ordinary(name) {
                true => input::known_into(&place, &mut text).map(|()| text),
                false => input::source(&place),
            };
        }
        let about = fs::metadata(&place);
        let stand = told(&about, self.stands.began);
        let text = about.and_then(|about| input::source_of(&place, &about));
        let state = match (stand, &text) {
            (Stand::Settled(hash), _) => Some(State::Settled(hash)),
            (Stand::Unsettled, Ok(text)) => Some(State::Bytes(short(text))),
            (Stand::Nothing, Err(_)) => Some(State::Nothing),
            _ => None,
        };
        locked(&self.others).insert(name.clone(), state);
        text
    }

    /// The state in which a file of the tree was read; none where nobody can say.
    fn state(&self, name: &Name) -> Option<State> {
        match self.stands.files.get(name)? {
            Stand::Settled(hash) => Some(State::Settled(hash.clone())),
            Stand::Unsettled => locked(&self.bytes).get(name).cloned().map(State::Bytes),
            Stand::Nothing | Stand::Unknown => None,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the rules said of a tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    program: Stamp,
    /// The tree's top.
    root: Name,
    /// Its C files.
    files: BTreeMap<Name, State>,
    /// What else was read for them.
    others: BTreeMap<Name, State>,
    /// What was said of each of them; of the others nothing but that they were read.
    said: BTreeMap<Name, KeptChecks>,
    /// Names of calls that were looked for among the headers.
    asked: BTreeSet<String>,
    /// Those of them that are none, and what was found to be none beside.
    none: BTreeSet<String>,
}

impl Record {
    /// Whether all holds that more than one file hangs on.
    pub(super) fn stands_on(&self, now: &Stands<'_>) -> bool {
        let headers = |name: &&Name| name.is_header();
        let then = self.files.keys().filter(headers);
        let there = now.files.keys().filter(headers);
        then.eq(there)
            && self.files.par_iter().all(|(name, state)| {
                let stand = now.files.get(name).filter(|_| name.is_header());
                stand.is_none_or(|stand| state.holds(&now.place(name), stand))
            })
            && self.others.par_iter().all(|(name, state)| {
                let place = now.place(name);
                state.holds(&place, &stand(&place, now.began))
            })
    }

    /// The files that are not as they were.
    pub(super) fn changed(&self, now: &Stands<'_>) -> BTreeSet<Name> {
        let is_changed = |(name, stand): &(&Name, &Stand)| {
            let known = self.files.get(name);
            !known.is_some_and(|state| state.holds(&now.place(name), stand))
        };
        let changed: Vec<Name> = now
            .files
            .par_iter()
            .filter(is_changed)
            .map(|(name, _)| name.clone())
            .collect();
        changed.into_iter().collect()
    }

    /// Drops what is not there any more, or is looked at again; whether there was any.
    pub(super) fn forget(&mut self, now: &Stands<'_>, again: &BTreeSet<Name>) -> bool {
        let before = self.files.len();
        let stays = |name: &Name| now.files.contains_key(name) && !again.contains(name);
        self.files.retain(|name, _| stays(name));
        self.said.retain(|name, _| stays(name));
        before != self.files.len()
    }

    /// Takes the stamps of files that have settled since; whether there were any.
    pub(super) fn settle(&mut self, now: &Stands<'_>) -> bool {
        let mut settled = false;
        for (name, state) in &mut self.files {
            if let (State::Bytes(_), Some(Stand::Settled(hash))) = (&*state, now.files.get(name)) {
                *state = State::Settled(hash.clone());
                settled = true;
            }
        }
        settled
    }

    /// Adds what the rules say of some files, which were read under `watch`; whether all
    /// that it hangs on is known.
    pub(super) fn add(&mut self, each: Each, watch: &Watch<'_>) -> bool {
        for (name, checks) in each.files {
            // One that could not be read is tried again.
            let state = watch.state(&name).filter(|_| checks.files == 1);
            let Some(state) = state else { continue };
            self.files.insert(name.clone(), state);
            if !checks.is_silent() {
                self.said.insert(name, checks.into());
            }
        }
        let others = locked(&watch.others);
        let known = others.values().all(Option::is_some);
        let others = others.iter();
        let states = others.filter_map(|(name, state)| Some((name.clone(), state.clone()?)));
        self.others.extend(states);
        known
    }

    /// What the rules say of all files of it.
    pub(super) fn checks(&self) -> Checks {
        let mut all = Checks::default();
        for kept in self.said.values() {
            all.merge(kept.clone().into());
        }
        all.files += self.files.len() - self.said.len();
        all
    }

    /// Which of some names leave no call, where all of them were looked for.
    pub(super) fn without_calls(&self, names: &BTreeSet<String>) -> Option<&BTreeSet<String>> {
        names.is_subset(&self.asked).then_some(&self.none)
    }

    /// The names of calls that are none.
    pub(super) fn none(&self) -> &BTreeSet<String> {
        &self.none
    }

    /// Notes which of some names leave no call.
    pub(super) fn note_names(&mut self, asked: BTreeSet<String>, none: BTreeSet<String>) {
        self.asked = asked;
        self.none = none;
    }
}
