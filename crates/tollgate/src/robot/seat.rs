//! A cell with what it would build of a patch.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_robot::{Axis, Cell, Config, Truth};

use super::atlas::Atlas;
use super::objects::{belongs, builds};

/// A file of a patch by its number, and a group of its lines.
pub(crate) type Spot = (usize, usize);

/// A cell with its configuration, and what it would build of a patch.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    pub(crate) cell: Cell,
    /// With the patch, where it changes Kconfig files.
    pub(crate) config: Config,
    pub(crate) objects: Vec<String>,
    /// Objects that also read an edited file and are over the limit, by file.
    pub(crate) left: BTreeMap<String, usize>,
    /// What it is taken to compile.
    pub(crate) spots: BTreeSet<Spot>,
    /// Objects that it has because a rule or an option of theirs is edited.
    pub(crate) named: BTreeSet<String>,
    /// Why it is built in.
    pub(crate) because: String,
    /// Who else reads options that the patch gives another value.
    pub(crate) unread: Option<String>,
    /// Objects that one seat is enough for: what is asked of them no axis changes.
    pub(crate) once: BTreeSet<String>,
    /// Whether it is taken whatever others compile.
    pub(crate) always: bool,
}

impl Seat {
    /// A seat that nothing is known of yet.
    pub(crate) fn new(cell: Cell, config: Config) -> Self {
        Self {
            always: cell.base.seed.is_some(),
            cell,
            config,
            objects: Vec::new(),
            left: BTreeMap::new(),
            spots: BTreeSet::new(),
            named: BTreeSet::new(),
            because: String::new(),
            unread: None,
            once: BTreeSet::new(),
        }
    }

    /// Takes in the objects of some that are built here, at most so many.
    pub(crate) fn take<'o>(
        &mut self,
        objects: impl IntoIterator<Item = &'o String>,
        most: usize,
        what: &str,
        atlas: &Atlas,
    ) -> BTreeSet<String> {
        let built = objects.into_iter().filter(|object| {
            belongs(object, &self.cell) && builds(object, &self.config, atlas) != Truth::No
        });
        let mut all: Vec<String> = built.cloned().collect();
        let left = all.split_off(most.min(all.len()));
        if !left.is_empty() {
            self.left.insert(what.to_owned(), left.len());
        }
        self.objects.extend(all.iter().cloned());
        all.into_iter().collect()
    }

    pub(crate) fn values(&self) -> &[(Axis, String)] {
        &self.cell.axes
    }
}
