//! Both sides of a patch, built in the cells that were chosen.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use tollgate_lab::cache;
use tollgate_lab::job::{self, CellJob, CellResult, FileChange, Job, Outcome, Work};
use tollgate_robot::Unbuilt;
use tollgate_source::TreePath;

use super::context::Robot;
use super::objects::Reached;
use super::seat::Seat;

/// What came of a seat.
#[derive(Debug)]
pub(crate) struct Sides {
    pub(crate) seat: usize,
    pub(crate) before: CellResult,
    pub(crate) after: CellResult,
}

/// Both states of the tree, as jobs have them.
pub(crate) struct States {
    /// The number of the patch.
    pub(crate) number: usize,
    pub(crate) before: Vec<FileChange>,
    pub(crate) after: Vec<FileChange>,
}

impl Robot<'_> {
    /// Builds in each of some seats. What could not be done is given back with why.
    pub(crate) fn build(
        &self,
        seats: &[(usize, &Seat)],
        states: &States,
        reached: &Reached,
    ) -> anyhow::Result<(Vec<Sides>, Vec<Unbuilt>)> {
        // Where fewer cells than processors are built in, each has more than one.
        let jobs = (self.asked.jobs / seats.len().max(1)).max(1);
        let one = |(number, seat): &(usize, &Seat)| {
            let built = self.sides(seat, jobs, states, reached);
            (*number, seat.cell.name.clone(), built)
        };
        let all = || seats.par_iter().map(one).collect::<Vec<_>>();
        let all = match self.queue {
            None => self.pool.install(all),
            // Who waits for a node takes no processor: all cells are asked for at once.
            Some(_) => rayon::ThreadPoolBuilder::new()
                .num_threads(seats.len().max(1))
                .build()?
                .install(all),
        };
        let (mut built, mut unbuilt) = (Vec::new(), Vec::new());
        for (number, cell, sides) in all {
            match sides {
                Ok((before, after)) => built.push(Sides {
                    seat: number,
                    before,
                    after,
                }),
                Err(error) if self.given_up(&error) => return Err(error.into()),
                Err(error) => unbuilt.push(Unbuilt {
                    cell,
                    what: "the cell".to_owned(),
                    why: error.to_string(),
                }),
            }
        }
        Ok((built, unbuilt))
    }

    fn sides(
        &self,
        seat: &Seat,
        jobs: usize,
        states: &States,
        reached: &Reached,
    ) -> Result<(CellResult, CellResult), job::Error> {
        let watched: Vec<String> = reached.edited.iter().map(|one| one.path.clone()).collect();
        let base = CellJob {
            objects: seat.objects.clone(),
            watched,
            reconfigure: !reached.kconfig.is_empty(),
            ..self.job(&seat.cell)
        };
        let job = |changes: &[FileChange]| CellJob {
            changes: changes.to_vec(),
            objects: self.with_source(&seat.objects, changes),
            ..base.clone()
        };
        let before = self.done(job(&states.before), (states.number, jobs), "before")?;
        let mut after = job(&states.after);
        after
            .objects
            .retain(|object| !reached.unnamed.contains(object));
        // Where much may read what changed, what reads nothing new is not built again.
        let many = seat.objects.len() > 2 || !reached.kconfig.is_empty();
        if !many || seat.objects.is_empty() {
            return Ok((before, self.done(after, (states.number, jobs), "after")?));
        }
        let looked = self.done(
            CellJob {
                preprocess_only: true,
                ..after.clone()
            },
            (states.number, jobs),
            "look",
        )?;
        let same: BTreeSet<&String> = after
            .objects
            .iter()
            .filter(|object| !reached.documented.contains(*object))
            .filter(|object| is_same(&before, &looked, object))
            .collect();
        let objects: Vec<String> = after
            .objects
            .iter()
            .filter(|o| !same.contains(o))
            .cloned()
            .collect();
        let mut result = match objects.is_empty() {
            true => looked.clone(),
            false => self.done(
                CellJob {
                    objects,
                    ..after.clone()
                },
                (states.number, jobs),
                "after",
            )?,
        };
        for object in same {
            let (Some(old), Some(new)) = (before.objects.get(object), looked.objects.get(object))
            else {
                continue;
            };
            let mut kept = old.clone();
            kept.lines = new.lines.clone();
            result.objects.insert(object.clone(), kept);
        }
        Ok((before, result))
    }

    fn done(
        &self,
        job: CellJob,
        (patch, jobs): (usize, usize),
        side: &str,
    ) -> Result<CellResult, job::Error> {
        if let Some(folder) = &self.asked.job_files {
            let name = format!("{patch:04}-{}-{side}.json", job.cell.name.replace('/', "-"));
            cache::make_folder(folder)?;
            cache::write_json(
                &folder.join(name),
                &Job {
                    version: job::VERSION,
                    work: Work::Cell(Box::new(job.clone())),
                },
            )?;
        }
        if job.objects.is_empty() && !job.reconfigure {
            return Ok(CellResult {
                compiler: String::new(),
                objects: BTreeMap::new(),
                make: String::new(),
                configured: String::new(),
                config: None,
            });
        }
        match self.queue {
            Some(queue) => job.run_on(queue, self.cache, self.runner),
            None => job.run(jobs, self.cache, self.runner),
        }
    }

    /// The objects whose source is there.
    fn with_source(&self, objects: &[String], changes: &[FileChange]) -> Vec<String> {
        let there = |object: &&String| {
            let stem = object.strip_suffix(".o").unwrap_or(object);
            ["c", "S"].iter().any(|ending| {
                let path = format!("{stem}.{ending}");
                match changes.iter().find(|one| one.path == path) {
                    Some(change) => change.content.is_some(),
                    None => self.tree.place(&TreePath::within(&path)).is_file(),
                }
            })
        };
        // One that is made of generated C is asked for all the same.
        let generated = |object: &&String| {
            let stem = object.strip_suffix(".o").unwrap_or(object);
            !changes
                .iter()
                .any(|one| one.path == format!("{stem}.c") || one.path == format!("{stem}.S"))
                && object.contains('/')
        };
        objects
            .iter()
            .filter(|object| there(object) || generated(object))
            .cloned()
            .collect()
    }
}

/// Whether a compiler would read and be told the same.
fn is_same(before: &CellResult, after: &CellResult, object: &str) -> bool {
    let (Some(old), Some(new)) = (before.objects.get(object), after.objects.get(object)) else {
        return false;
    };
    let known = old.text.is_some() && !old.command.is_empty();
    known
        && matches!(old.outcome, Outcome::Built | Outcome::Refused)
        && old.text == new.text
        && old.command == new.command
}
