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
use super::objects::{Edited, Reached, belongs, object_of, readers};
use super::options::Turn;
use super::seat::{Seat, Spot};
use super::series::Patch;

/// What a patch could be built in.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) seats: Vec<Seat>,
    /// Cells that were asked for and cannot be had.
    pub(crate) unbuilt: Vec<Unbuilt>,
}

/// Configurations that were made for one line or option are so many at most.
const DERIVED: usize = 4;
/// Cells that are tried for it.
const TRIED: usize = 6;
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
        let mut configs = Vec::new();
        for (cell, made) in cells.iter().copied().zip(made) {
            match made {
                Ok((config, turn)) => {
                    let now = config.clone();
                    let seat = self.seat(cell, config, reached, atlas)?;
                    let seat = match &turn {
                        Some(turn) => self.turned(seat, turn, &read, atlas),
                        None => seat,
                    };
                    if !seat.objects.is_empty() || !seat.named.is_empty() {
                        plan.seats.push(seat);
                    }
                    configs.push((cell.clone(), now));
                }
                Err(error) if self.given_up(&error) => return Err(error.into()),
                Err(error) => plan.unbuilt.push(Unbuilt {
                    cell: cell.name.clone(),
                    what: "the cell".to_owned(),
                    why: error.to_string(),
                }),
            }
        }
        self.selects(patch, &configs, states, atlas, &mut plan)?;
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
        let cell = match cell.base.seed {
            Some(_) => cell.clone().measured(&config),
            None => cell.clone(),
        };
        let cell = &cell;
        let mut seat = Seat::new(cell.clone(), config);
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
        seat.named = seat.take(reached.named.keys(), most, "Kbuild or Kconfig files", atlas);
        seat.once = seat.take(&reached.documented, most, "edited kernel-doc", atlas);
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
                // Any value of an axis that every cell has one of.
                let once = seat.once.iter().cloned();
                needs.extend(once.map(|object| need(object, Axis::Word, "any")));
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
            for Wish { cell, options } in self.wishes(edited, *group, atlas)? {
                let Some(seat) = self.derived(&cell, &options, edited, *group, reached, atlas)?
                else {
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

    /// The cells that could be made to compile some lines, those first that need the
    /// fewest options.
    fn wishes(&self, edited: &Edited, group: usize, atlas: &Atlas) -> anyhow::Result<Vec<Wish>> {
        let mut all = Vec::new();
        let own = |cell: &&Cell| cell.base.seed.is_none() && belongs(&edited.path, cell);
        for cell in self.cells.iter().filter(own) {
            let base = match self.job(cell).configure(self.cache, self.runner) {
                Ok(prepared) => prepared.config,
                Err(error) if self.given_up(&error) => return Err(error.into()),
                // A cell that cannot be had is named where it was asked for.
                Err(_) => continue,
            };
            let mut condition = edited.condition(group);
            if let Some(way) = self.way(&edited.path, cell, &base, atlas) {
                condition = condition.and(way);
            }
            let options = wanted(&condition, &base, atlas).filter(|options| !options.is_empty());
            all.extend(options.map(|options| Wish {
                cell: cell.clone(),
                options,
            }));
        }
        all.sort_by_key(|wish| wish.options.len());
        all.truncate(TRIED);
        Ok(all)
    }

    /// A cell with the options that some lines need; none where that cannot be.
    fn derived(
        &self,
        cell: &Cell,
        options: &BTreeMap<String, bool>,
        edited: &Edited,
        group: usize,
        reached: &Reached,
        atlas: &Atlas,
    ) -> anyhow::Result<Option<Seat>> {
        let short: Vec<String> = options
            .iter()
            .map(|(option, on)| match on {
                true => option.clone(),
                false => format!("no-{option}"),
            })
            .collect();
        let name = format!("{}+{}", cell.name, short.join("+"));
        let reason = format!("made for {}: {}", edited.path, edited.condition(group));
        let cell = cell.with(&name, &lines(options), &reason);
        match self.job(&cell).configure(self.cache, self.runner) {
            Ok(prepared) => {
                let cell = cell.measured(&prepared.config);
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

/// A cell, and the options that it would need.
struct Wish {
    cell: Cell,
    options: BTreeMap<String, bool>,
}

/// Options as lines of a configuration.
pub(super) fn lines(options: &BTreeMap<String, bool>) -> String {
    let line = |(option, on): (&String, &bool)| match on {
        true => format!("CONFIG_{option}=y\n"),
        false => format!("# CONFIG_{option} is not set\n"),
    };
    options.iter().map(line).collect()
}

/// What has to be set for a condition to hold, with what that depends on. What nobody
/// can choose is left to somebody who selects it, and of a choice the other sides are
/// off.
pub(super) fn wanted(
    condition: &Condition,
    config: &Config,
    atlas: &Atlas,
) -> Option<BTreeMap<String, bool>> {
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
            let rivals = atlas.kconfig.rivals(&option).into_iter();
            let rivals = rivals.map(|rival| (rival.to_owned(), false));
            let more = depends.wants(true, config)?.into_iter().chain(rivals);
            for (name, on) in more.chain(selector(&option, config, atlas)) {
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
    // What is selected cannot be asked for.
    all.retain(|option, on| !*on || atlas.kconfig.has_prompt(option));
    Some(all)
}

/// Of those who select an option that nobody can choose the one that needs least.
fn selector(option: &str, config: &Config, atlas: &Atlas) -> Option<(String, bool)> {
    if atlas.kconfig.has_prompt(option) || config.is_on(option) {
        return None;
    }
    let able = atlas.kconfig.selecting(option).filter_map(|(by, when)| {
        let needs = atlas.kconfig.needed(by).and(when.clone());
        let needs = needs.wants(true, config)?;
        by.prompt.then_some((needs.len(), by.option.clone()))
    });
    able.min().map(|(_, option)| (option, true))
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
        let depends = atlas.kconfig.depends(option).told();
        if !matches!(depends, Condition::Yes | Condition::No) {
            words.push(format!("CONFIG_{option} depends on {depends}"));
        }
    }
    words.join("; ")
}
