//! The headers that a file includes, by how many steps away they are.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::file::{File, Included};
use super::find::id;
use super::machine::Machine;
use super::query::Types;

/// Files that are looked through for one name.
const FILES: usize = 3000;

/// Headers that are as many steps away from a file, and no fewer.
#[derive(Debug, Default)]
pub(super) struct Level {
    pub(super) files: Vec<Arc<File>>,
    /// Whether there are more than are followed.
    pub(super) cut: bool,
}

/// What was followed from one file on one machine.
#[derive(Debug, Default)]
struct Reach {
    levels: Vec<Rc<Level>>,
    /// The files in them, and the one itself.
    seen: HashSet<usize, RandomState>,
}

/// What was followed for a file that is asked about: many names are looked for on the same
/// way.
#[derive(Debug, Default)]
pub(super) struct Reaches(RefCell<HashMap<(usize, usize), Reach, RandomState>>);

impl Reach {
    fn from(file: &Arc<File>) -> Self {
        let files = vec![Arc::clone(file)];
        let first = Level { files, cut: false };
        Self {
            levels: vec![Rc::new(first)],
            seen: HashSet::from_iter([id(file)]),
        }
    }

    /// Adds what the files of the last level include.
    fn add(&mut self, included: &[Included]) {
        let mut next = Level::default();
        for files in included {
            if self.seen.len() >= FILES {
                next.cut = true;
                break;
            }
            let new = files.iter().filter(|file| self.seen.insert(id(file)));
            next.files.extend(new.cloned());
        }
        self.levels.push(Rc::new(next));
    }
}

impl Types<'_> {
    /// The headers that many steps away from a file, which is itself no step away; none
    /// behind the last.
    pub(super) fn level(
        &self,
        from: &Arc<File>,
        machine: &Machine,
        steps: usize,
    ) -> Option<Rc<Level>> {
        let key = (id(from), machine.id);
        loop {
            let (known, last) = {
                let mut all = self.reaches.0.borrow_mut();
                let own = all.entry(key).or_insert_with(|| Reach::from(from));
                let last = own.levels.last().map(Rc::clone)?;
                (
                    own.levels.get(steps).map(Rc::clone),
                    (last, own.levels.len()),
                )
            };
            let (last, count) = last;
            if let Some(level) = known {
                return (!level.files.is_empty() || level.cut).then_some(level);
            }
            if last.files.is_empty() {
                return None;
            }
            // Whether an #include counts may take a look at these headers, too.
            let files = last.files.iter();
            let included: Vec<Included> = files.map(|file| self.included(file, machine)).collect();
            let mut all = self.reaches.0.borrow_mut();
            let own = all.get_mut(&key).filter(|own| own.levels.len() == count);
            own.into_iter().for_each(|own| own.add(&included));
        }
    }
}
