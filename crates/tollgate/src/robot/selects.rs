//! Options that a patch lets select others: turned on where little else is, so that
//! Kconfig says where what they select may not be on.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_robot::{Cell, Condition, Config, Entry, Kconfig, Unbuilt};

use super::atlas::{Atlas, Sort, sort};
use super::build::States;
use super::context::Robot;
use super::objects::belongs;
use super::plan::{Plan, lines, wanted};
use super::seat::Seat;
use super::series::Patch;

/// So many are looked at for a patch.
const SELECTS: usize = 6;
/// In so many cells each.
const CELLS: usize = 3;

/// An option that selects another, one of which is edited.
#[derive(Debug)]
struct Selected {
    /// Who selects.
    by: String,
    file: String,
    /// When it does.
    needs: Condition,
    /// What is selected.
    option: String,
}

impl Robot<'_> {
    /// Adds a seat for each option that may select more than before. What cannot be
    /// turned on is named.
    pub(super) fn selects(
        &self,
        patch: &Patch,
        configs: &[(Cell, Config)],
        states: &States,
        atlas: &Atlas,
        plan: &mut Plan,
    ) -> anyhow::Result<()> {
        let all = selected(patch, atlas);
        for one in all.iter().take(SELECTS) {
            match self.select(one, configs, states, atlas)? {
                Some(seat) => plan.seats.push(seat),
                None => plan.unbuilt.push(untried(one)),
            }
        }
        for one in all.iter().skip(SELECTS) {
            plan.unbuilt.push(untried(one));
        }
        Ok(())
    }

    /// A cell in which the option is on with as little else as can be; none where that
    /// is not to be had.
    fn select(
        &self,
        one: &Selected,
        configs: &[(Cell, Config)],
        states: &States,
        atlas: &Atlas,
    ) -> anyhow::Result<Option<Seat>> {
        let own = configs.iter().filter(|(cell, _)| belongs(&one.file, cell));
        let (able, others): (Vec<_>, Vec<_>) = own.partition(|(_, config)| config.is_on(&one.by));
        for (cell, _) in able.into_iter().chain(others).take(CELLS) {
            let little = cell.little(&format!("{}-allnoconfig", cell.name), "", &cell.reason);
            let base = match self.job(&little).configure(self.cache, self.runner) {
                Ok(prepared) => prepared.config,
                Err(error) if self.given_up(&error) => return Err(error.into()),
                Err(_) => continue,
            };
            let needs = Condition::option(&one.by).and(one.needs.clone());
            let Some(options) = wanted(&needs, &base, atlas) else {
                continue;
            };
            let reason = format!("made for CONFIG_{} to select CONFIG_{}", one.by, one.option);
            let name = format!("{}+{}", little.name, one.by);
            let cell = cell.little(&name, &lines(&options), &reason);
            let turn = self.turn(&cell, states)?;
            if turn.after.is_on(&one.by) {
                return Ok(Some(Seat {
                    named: BTreeSet::from(["the configuration".to_owned()]),
                    because: reason,
                    always: true,
                    ..Seat::new(cell.measured(&turn.after), turn.after)
                }));
            }
        }
        Ok(None)
    }
}

fn untried(one: &Selected) -> Unbuilt {
    Unbuilt {
        cell: String::new(),
        what: format!("CONFIG_{}", one.by),
        why: format!(
            "it selects CONFIG_{}, and was not turned on with little else: whether what that depends on is on nobody looked",
            one.option
        ),
    }
}

/// What selects something that it may not, as far as their own dependencies tell.
fn selected(patch: &Patch, atlas: &Atlas) -> Vec<Selected> {
    let (mut edited, mut after) = (Vec::new(), BTreeMap::new());
    for (path, (before, now)) in &patch.files {
        let (Some(path), Some(now)) = (path.as_text(), now) else {
            continue;
        };
        if sort(path) != Sort::Kconfig {
            continue;
        }
        let read = |text: &[u8]| {
            let mut read = Kconfig::default();
            read.add(path, &String::from_utf8_lossy(text));
            read
        };
        let (old, new) = (
            before.as_deref().map_or_else(Kconfig::default, read),
            read(now),
        );
        for entry in new.in_file(path) {
            let known = old.entries(&entry.option);
            if !known
                .iter()
                .any(|one| one.depends == entry.depends && one.selects == entry.selects)
            {
                edited.push((entry.clone(), known.to_vec()));
            }
            after.insert(entry.option.clone(), atlas.kconfig.needed(entry));
        }
    }
    let mut all = Vec::new();
    for (entry, known) in &edited {
        pairs(entry, known, &after, atlas, &mut all);
    }
    all
}

/// The pairs that an edited entry is one half of.
fn pairs(
    entry: &Entry,
    known: &[Entry],
    after: &BTreeMap<String, Condition>,
    atlas: &Atlas,
    all: &mut Vec<Selected>,
) {
    let mut add = |by: &Entry, option: &str, when: &Condition| {
        let needs = atlas.kconfig.needed(by).and(when.clone());
        let depends = match after.get(option) {
            Some(depends) => depends.clone(),
            None => atlas.kconfig.depends(option),
        };
        let there = all
            .iter()
            .any(|one: &Selected| one.by == by.option && one.option == option);
        if !there && atlas.kconfig.has(option) && !implies(&needs, &depends.told()) {
            all.push(Selected {
                by: by.option.clone(),
                file: by.file.clone(),
                needs,
                option: option.to_owned(),
            });
        }
    };
    let same_needs = known.iter().any(|one| one.depends == entry.depends);
    for (option, when) in &entry.selects {
        let had = known
            .iter()
            .any(|one| one.selects.contains(&(option.clone(), when.clone())));
        if !had || !same_needs {
            add(entry, option, when);
        }
    }
    // Who selected it may not any more.
    if !same_needs && !known.is_empty() {
        for (by, when) in atlas.kconfig.selecting(&entry.option) {
            add(by, &entry.option, when);
        }
    }
}

/// Whether what one condition asks for stands in the other, part by part.
fn implies(given: &Condition, asked: &Condition) -> bool {
    fn parts(condition: &Condition) -> &[Condition] {
        match condition {
            Condition::All(all) => all,
            one => std::slice::from_ref(one),
        }
    }
    let holds = |one: &Condition| *one == Condition::Yes || parts(given).contains(one);
    parts(asked).iter().all(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_condition_is_implied() {
        let read = Condition::of_kconfig;
        assert!(implies(&read("A && B"), &read("B")));
        assert!(implies(&read("A && (B || C)"), &read("(B || C) && A")));
        assert!(implies(&read("A"), &Condition::Yes));
        assert!(!implies(&read("A || B"), &read("A")));
        assert!(!implies(&Condition::Yes, &read("A")));
    }
}
