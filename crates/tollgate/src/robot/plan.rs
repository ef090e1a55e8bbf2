//! Which cells are built in: worked out from Kbuild files, options and `#if`s, then
//! proved by the line markers of what was built.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use tollgate_arch::Architectures;
use tollgate_lab::job;
use tollgate_robot::{Axis, Cell, Choice, Condition, Config, Truth, Unbuilt, cover};

use super::atlas::Atlas;
use super::build::States;
use super::context::Robot;
use super::objects::{Reached, belongs, builds, object_of, readers};
use super::options::Turn;
use super::series::Patch;

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
}

impl Seat {
    fn values(&self) -> &[(Axis, String)] {
        &self.cell.axes
    }
}

/// What a patch could be built in.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) seats: Vec<Seat>,
    /// Cells that were asked for and cannot be had.
    pub(crate) unbuilt: Vec<Unbuilt>,
}

/// Configurations that were made for one line or option are so many at most.
const DERIVED: usize = 4;
/// How far `depends on` is followed.
const DEPTH: usize = 6;

impl Robot<'_> {
    /// Every cell that compiles something of the patch.
    pub(crate) fn plan(
        &self,
        reached: &Reached,
        states: &States,
        patch: &Patch,
        atlas: &Atlas,
    ) -> anyhow::Result<Plan> {
        let concerned = |cell: &&Cell| {
            let mut files = reached.edited.iter().map(|one| one.path.as_str());
            let mut named = reached.named.keys();
            let mut options = reached.kconfig.iter();
            files.any(|path| belongs(path, cell))
                || named.any(|object| belongs(object, cell))
                || options.any(|path| belongs(path, cell))
        };
        let cells: Vec<&Cell> = self.cells.iter().filter(concerned).collect();
        let configure = |cell: &&Cell| {
            let prepared = self.job(cell).configure(self.cache, self.runner)?;
            match reached.kconfig.is_empty() {
                true => Ok((prepared.config, None)),
                false => {
                    let turn = self.turn(cell, states)?;
                    Ok((turn.after.clone(), Some(turn)))
                }
            }
        };
        let made: Vec<_> = self
            .pool
            .install(|| cells.par_iter().map(configure).collect());
        let turned = made.iter().flatten().filter_map(|(_, turn)| turn.as_ref());
        let turned: Vec<&Turn> = turned.collect();
        let read = self.option_readers(&turned, patch, atlas)?;
        let mut plan = Plan::default();
        for (cell, made) in cells.iter().copied().zip(made) {
            match made {
                Ok((config, turn)) => {
                    let seat = self.seat(cell, config, reached, atlas)?;
                    let seat = match &turn {
                        Some(turn) => self.turned(seat, turn, &read, atlas),
                        None => seat,
                    };
                    if !seat.objects.is_empty() || !seat.named.is_empty() {
                        plan.seats.push(seat);
                    }
                }
                Err(error) if self.given_up(&error) => return Err(error.into()),
                Err(error) => plan.unbuilt.push(Unbuilt {
                    cell: cell.name.clone(),
                    what: "the cell".to_owned(),
                    why: error.to_string(),
                }),
            }
        }
        Ok(plan)
    }

    /// What a cell would build.
    fn seat(
        &self,
        cell: &Cell,
        config: Config,
        reached: &Reached,
        atlas: &Atlas,
    ) -> anyhow::Result<Seat> {
        let architecture = Architectures::built_in()?.folder(&cell.folder);
        let foreign: Vec<String> =
            architecture.map_or_else(Vec::new, |all| all.own_rules().collect());
        let most = match self.asked.full {
            true => usize::MAX,
            false => self.limits.objects,
        };
        let mut seat = Seat {
            cell: cell.clone(),
            config,
            objects: Vec::new(),
            left: BTreeMap::new(),
            spots: BTreeSet::new(),
            named: BTreeSet::new(),
            because: String::new(),
            unread: None,
        };
        for (number, file) in reached.edited.iter().enumerate() {
            let all = readers(&file.path, cell, &seat.config, atlas, &foreign);
            if all.is_empty() {
                continue;
            }
            let touched = file.touched.keys();
            let possible =
                touched.filter(|group| file.condition(**group).truth(&seat.config) != Truth::No);
            let spots: Vec<Spot> = possible.map(|group| (number, *group)).collect();
            // A file of which nothing is compiled here still changes what others read.
            let wanted = !spots.is_empty();
            seat.spots.extend(spots);
            if !wanted {
                continue;
            }
            let (taken, left) = all.split_at(most.min(all.len()));
            seat.objects
                .extend(taken.iter().map(|(_, object)| object.clone()));
            if !left.is_empty() {
                seat.left.insert(file.path.clone(), left.len());
            }
        }
        let named = reached.named.keys().filter(|object| {
            belongs(object, cell) && builds(object, &seat.config, atlas) != Truth::No
        });
        let named: Vec<String> = named.cloned().collect();
        let (taken, left) = named.split_at(most.min(named.len()));
        seat.named.extend(taken.iter().cloned());
        seat.objects.extend(taken.iter().cloned());
        if !left.is_empty() {
            seat.left
                .insert("Kbuild or Kconfig files".to_owned(), left.len());
        }
        seat.objects.sort();
        seat.objects.dedup();
        Ok(seat)
    }

    /// The numbers of the seats to take: all edited lines in every value of every
    /// axis. `without` are seats that were taken already, `only` what is still to be
    /// compiled.
    pub(crate) fn choose(
        plan: &Plan,
        without: &BTreeSet<usize>,
        only: Option<&BTreeSet<Spot>>,
    ) -> Vec<usize> {
        let mut numbers: BTreeMap<(String, Axis, String), usize> = BTreeMap::new();
        let mut need = |what: String, axis: Axis, value: &str| {
            let next = numbers.len();
            *numbers
                .entry((what, axis, value.to_owned()))
                .or_insert(next)
        };
        let mut choices = Vec::new();
        for (number, seat) in plan.seats.iter().enumerate() {
            let mut needs = BTreeSet::new();
            let spots = seat
                .spots
                .iter()
                .filter(|spot| only.is_none_or(|only| only.contains(spot)));
            let mut what: Vec<String> = spots.map(|spot| format!("{spot:?}")).collect();
            if only.is_none() {
                what.extend(seat.named.iter().cloned());
            }
            for one in what {
                for (axis, value) in seat.values() {
                    needs.insert(need(one.clone(), *axis, value));
                }
            }
            if without.contains(&number) {
                needs.clear();
            }
            choices.push(Choice { needs, cost: 1 });
        }
        cover(&choices)
    }

    /// Cells made for lines that no cell of the table compiles.
    pub(crate) fn derive(
        &self,
        missing: &BTreeSet<Spot>,
        reached: &Reached,
        atlas: &Atlas,
        plan: &mut Plan,
    ) -> anyhow::Result<Vec<usize>> {
        let mut made = Vec::new();
        for (file, group) in missing {
            if made.len() >= DERIVED {
                break;
            }
            let Some(edited) = reached.edited.get(*file) else {
                continue;
            };
            let spot = (*file, *group);
            if made.iter().any(|number: &usize| {
                plan.seats
                    .get(*number)
                    .is_some_and(|seat: &Seat| seat.spots.contains(&spot))
            }) {
                continue;
            }
            for cell in self.cells.iter().filter(|cell| belongs(&edited.path, cell)) {
                let Some(seat) = self.derived(cell, spot, reached, atlas)? else {
                    continue;
                };
                if seat.spots.contains(&spot) {
                    made.push(plan.seats.len());
                    plan.seats.push(seat);
                    break;
                }
            }
        }
        Ok(made)
    }

    /// A cell with the options that some lines need; none where that cannot be.
    fn derived(
        &self,
        cell: &Cell,
        (file, group): Spot,
        reached: &Reached,
        atlas: &Atlas,
    ) -> anyhow::Result<Option<Seat>> {
        let Some(edited) = reached.edited.get(file) else {
            return Ok(None);
        };
        let Ok(base) = self.job(cell).configure(self.cache, self.runner) else {
            return Ok(None);
        };
        let mut condition = edited.condition(group);
        if let Some(own) = self.way(&edited.path, cell, &base.config, atlas) {
            condition = condition.and(own);
        }
        let Some(wanted) = wanted(&condition, &base.config, atlas) else {
            return Ok(None);
        };
        if wanted.is_empty() {
            return Ok(None);
        }
        let line = |(option, on): (&String, &bool)| match on {
            true => format!("CONFIG_{option}=y\n"),
            false => format!("# CONFIG_{option} is not set\n"),
        };
        let lines: String = wanted.iter().map(line).collect();
        let short: Vec<String> = wanted
            .iter()
            .map(|(option, on)| match on {
                true => option.clone(),
                false => format!("no-{option}"),
            })
            .collect();
        let name = format!("{}+{}", cell.name, short.join("+"));
        let reason = format!("made for {}: {}", edited.path, condition);
        let cell = cell.with(&name, &lines, &reason);
        match self.job(&cell).configure(self.cache, self.runner) {
            Ok(prepared) => {
                let mut seat = self.seat(&cell, prepared.config, reached, atlas)?;
                seat.because = reason;
                Ok(Some(seat))
            }
            Err(error) if self.given_up(&error) => Err(error.into()),
            // Kconfig does not take it: the lines stay without a cell, which is said.
            Err(job::Error::Config { .. } | job::Error::Died { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The condition under which the nearest object that reads a file is built.
    fn way(&self, path: &str, cell: &Cell, config: &Config, atlas: &Atlas) -> Option<Condition> {
        let own = object_of(path).and_then(|object| atlas.kbuild.condition(&object));
        if own.is_some() {
            return own;
        }
        let users = atlas.includes.users(path, &cell.folder);
        let objects = users.iter().filter_map(|(_, user)| object_of(user));
        let mut all = objects.filter(|object| belongs(object, cell));
        let mut conditions = all
            .by_ref()
            .take(8)
            .filter_map(|object| atlas.kbuild.condition(&object));
        conditions
            .by_ref()
            .find(|condition| condition.wants(true, config).is_some())
    }
}

/// What has to be set for a condition to hold, with what that depends on.
fn wanted(condition: &Condition, config: &Config, atlas: &Atlas) -> Option<BTreeMap<String, bool>> {
    let mut all = condition.wants(true, config)?;
    let mut open: Vec<String> = all
        .iter()
        .filter(|(_, on)| **on)
        .map(|(name, _)| name.clone())
        .collect();
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for option in open {
            if !atlas.kconfig.has(&option) {
                return None;
            }
            let depends = atlas.kconfig.depends(&option);
            for (name, on) in depends.wants(true, config)? {
                if let Entry::Vacant(place) = all.entry(name) {
                    if on {
                        next.push(place.key().clone());
                    }
                    place.insert(on);
                }
            }
        }
        open = next;
    }
    Some(all)
}

/// The options of a condition that no Kconfig file defines and without which it can
/// never hold.
pub(crate) fn dead(condition: &Condition, atlas: &Atlas) -> Vec<String> {
    let mut options = Vec::new();
    match condition {
        Condition::Option(name) if !atlas.kconfig.is_empty() && !atlas.kconfig.has(name) => {
            options.push(format!("CONFIG_{name}"));
        }
        Condition::All(all) => {
            for one in all {
                options.extend(dead(one, atlas));
            }
        }
        Condition::Any(any) => {
            let each: Vec<Vec<String>> = any.iter().map(|one| dead(one, atlas)).collect();
            if each.iter().all(|one| !one.is_empty()) {
                options.extend(each.into_iter().flatten());
            }
        }
        _ => {}
    }
    options.sort();
    options.dedup();
    options
}

/// What would be needed, as people read it: options with what they depend on.
pub(crate) fn needs(condition: &Condition, atlas: &Atlas) -> String {
    let mut words = vec![condition.to_string()];
    for option in condition.options() {
        let depends = atlas.kconfig.depends(option);
        if !matches!(depends, Condition::Yes | Condition::No) {
            words.push(format!("CONFIG_{option} depends on {depends}"));
        }
    }
    words.join("; ")
}
