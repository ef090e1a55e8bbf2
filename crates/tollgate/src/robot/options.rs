//! What a change of Kconfig files does to configurations, and who reads it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use tollgate_lab::job::{self, CellJob, FileChange};
use tollgate_robot::{Cell, Config, Truth};
use tollgate_source::TreePath;

use super::atlas::Atlas;
use super::build::States;
use super::context::Robot;
use super::objects::{belongs, builds, object_of};
use super::seat::Seat;
use super::series::Patch;

/// The configuration of a cell without a patch and with it.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// Without.
    pub(super) before: Config,
    /// With it.
    pub(super) after: Config,
    /// Whether Kconfig says something else with it.
    said: bool,
}

/// By option, the files that read it.
pub(super) type Readers = BTreeMap<String, Vec<String>>;

impl Robot<'_> {
    /// Configures both sides of a patch in a cell.
    pub(super) fn turn(&self, cell: &Cell, states: &States) -> Result<Turn, job::Error> {
        let made = |changes: &[FileChange]| {
            let job = CellJob {
                reconfigure: true,
                changes: changes.to_vec(),
                ..self.job(cell)
            };
            job.run(1, self.cache, self.runner)
        };
        let (before, after) = (made(&states.before)?, made(&states.after)?);
        let config =
            |text: &Option<String>| text.as_deref().map_or_else(Config::default, Config::parse);
        Ok(Turn {
            said: before.configured != after.configured,
            before: config(&before.config),
            after: config(&after.config),
        })
    }

    /// The files that read an option that has another value in some cell.
    pub(super) fn option_readers(
        &self,
        turns: &[&Turn],
        patch: &Patch,
        atlas: &Atlas,
    ) -> anyhow::Result<Readers> {
        let changed = turns
            .iter()
            .flat_map(|turn| turn.before.differing(&turn.after));
        let options: BTreeSet<String> = changed.collect();
        let mut readers = Readers::new();
        if options.is_empty() {
            return Ok(readers);
        }
        let read = |path: &TreePath| -> anyhow::Result<(String, BTreeSet<String>)> {
            self.runner.interrupt().check()?;
            let text = match patch.files.get(path) {
                Some((_, after)) => after.clone().unwrap_or_else(Vec::new),
                None => self.tree.read(path)?,
            };
            Ok((path.to_string(), named(&text, &options)))
        };
        let all: Vec<_> = atlas
            .files
            .par_iter()
            .map(read)
            .collect::<anyhow::Result<_>>()?;
        for (path, options) in all {
            for option in options {
                readers.entry(option).or_default().push(path.clone());
            }
        }
        Ok(readers)
    }

    /// A seat with what reads the options that the patch changes in it.
    pub(super) fn turned(
        &self,
        mut seat: Seat,
        turn: &Turn,
        readers: &Readers,
        atlas: &Atlas,
    ) -> Seat {
        let changed = turn.before.differing(&turn.after);
        if turn.said || !changed.is_empty() {
            seat.named.insert("the configuration".to_owned());
        }
        let most = match self.asked.full {
            true => usize::MAX,
            false => self.limits.objects,
        };
        let built = |object: &String| {
            let here = [&turn.before, &turn.after];
            belongs(object, &seat.cell)
                && here
                    .iter()
                    .any(|config| builds(object, config, atlas) != Truth::No)
        };
        let reading: Vec<(&String, &String)> = changed
            .iter()
            .flat_map(|option| {
                readers
                    .get(option)
                    .into_iter()
                    .flatten()
                    .map(move |path| (option, path))
            })
            .filter(|(_, path)| belongs(path, &seat.cell))
            .collect();
        let mut objects: BTreeSet<String> = atlas.kbuild.depending(&changed).into_iter().collect();
        objects.extend(reading.iter().filter_map(|(_, path)| object_of(path)));
        objects.retain(built);
        let (mut taken, mut left) = (Vec::new(), 0);
        for object in objects {
            match taken.len() < most {
                true => taken.push(object),
                false => left += 1,
            }
        }
        // What headers and Kbuild's own files pass on nobody follows.
        let passed = reading.iter().find(|(_, path)| passes_on(path));
        seat.unread = match (left, passed) {
            (0, None) => None,
            (left, None) => Some(format!(
                "{left} more objects read options that change and are over the limit of {most}; --full builds them"
            )),
            (_, Some((option, path))) => Some(format!(
                "{path} reads CONFIG_{option}, which changes: all that it reaches may be another"
            )),
        };
        seat.named.extend(taken.iter().cloned());
        seat.objects.extend(taken);
        seat.objects.sort();
        seat.objects.dedup();
        seat
    }
}

/// Whether what a file reads reaches objects that its name says nothing of: headers, and
/// Kbuild files that are included for every folder. Those of one folder name what they
/// reach.
fn passes_on(path: &str) -> bool {
    let folders = path.matches('/').count();
    let common = path == "Makefile" || path.starts_with("scripts/");
    let of_machine = path.starts_with("arch/") && folders == 2 && path.contains("/Makefile");
    common || of_machine || path.ends_with(".h")
}

/// The options of some that a text names.
fn named(text: &[u8], options: &BTreeSet<String>) -> BTreeSet<String> {
    let is_end = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'_');
    let words = text
        .split(is_end)
        .filter_map(|word| word.strip_prefix(b"CONFIG_"));
    let names = words.filter_map(tollgate_defect::answer::text);
    let names = names.map(|name| name.strip_suffix("_MODULE").unwrap_or(name));
    names
        .filter(|name| options.contains(*name))
        .map(str::to_owned)
        .collect()
}
