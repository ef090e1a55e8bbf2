//! Jobs that other machines do: each is handed to the queue of a cluster where nobody has
//! done it before.

use std::path::Path;
use std::time::Duration;

use tollgate_defect::OrDefect as _;

use super::answer::Came;
use super::asked::{CellJob, Error};
use super::guest::{BootJob, Input};
use super::kernel::ImageJob;
use super::prepare::Prepared;
use super::result::CellResult;
use super::work::Work;
use crate::boot::{self, Boot, Record};
use crate::cache::{self, Cache};
use crate::image::{Image, ImageBuilder, Variant};
use crate::process::Runner;
use crate::sealed;
use crate::slurm::Queue;
use crate::tree;

impl CellJob {
    /// Has it done on another machine, or gives the result of the same job that was done
    /// before; what it gives counts only where the compilers are the same.
    ///
    /// # Errors
    /// When it could not be done, or was done with another compiler.
    pub fn run_on(
        &self,
        queue: &Queue,
        cache: &Cache,
        runner: &Runner,
    ) -> Result<CellResult, Error> {
        let here = Prepared::of(self, runner)?.compiler.version;
        let key = self.key(&here)?;
        let folder = cache.root().join("robot/results");
        let place = folder.join(format!("{key}.json"));
        if let Some(known) = sealed::kept(&place)? {
            return Ok(known);
        }
        if let Some(known) = queue.store().answer::<CellResult>(&key)? {
            known.keep(&place)?;
            return Ok(known);
        }
        let result = match queue.run(&Work::Cell(Box::new(self.clone())))? {
            Came::Cell(result) => *result,
            other => return Err(other.unexpected().into()),
        };
        if result.compiler != here {
            return Err(Error::OtherCompiler {
                cell: self.cell.name.clone(),
                there: result.compiler,
                here,
            });
        }
        if !result.died()
            && let Err(error) = queue.store().keep_answer(&key, &result)
        {
            queue.event(&format!("others will not have this answer: {error}"));
        }
        result.keep(&place)?;
        Ok(result)
    }
}

/// The image of a variant, in the store of a cluster: the one that is there, this
/// machine's own that is put there, or one that a node builds.
///
/// # Errors
/// Why there is none.
pub fn image(queue: &Queue, builder: &ImageBuilder<'_>, variant: &Variant) -> Result<Image, Error> {
    if let Some(there) = in_store(queue, builder, variant)? {
        return Ok(there);
    }
    let job = ImageJob::of(builder, variant, queue.store().root());
    match queue.run(&Work::Image(Box::new(job)))? {
        Came::Image(_) => {}
        other => return Err(other.unexpected().into()),
    }
    let there = queue.arrived(|| in_store(queue, builder, variant))?;
    there.ok_or_else(|| Error::Died {
        what: format!("the kernel {}", variant.name),
        reason: "a node built it, and the shared folder does not have it".to_owned(),
    })
}

/// The image of a variant in the store of a queue: the one that is there, one of this
/// machine's that is put there, or none yet.
fn in_store(
    queue: &Queue,
    builder: &ImageBuilder<'_>,
    variant: &Variant,
) -> Result<Option<Image>, Error> {
    let store = queue.store();
    let key = builder.key_of(variant);
    if let Some(there) = store.image(&key)? {
        return Ok(Some(there));
    }
    let own = builder.find(variant)?;
    let kept = own.map(|own| queue.patiently(|| store.keep_image(&own)));
    Ok(kept.transpose()?)
}

impl BootJob {
    /// A boot whose kernel is in a store, with all else that it begins with put there.
    ///
    /// # Errors
    /// When a file cannot be read, or the store takes none for long.
    pub fn of(boot: &Boot<'_>, what: String, queue: &Queue) -> Result<Self, Error> {
        let input = |path: &Path| -> Result<Input, Error> {
            let bytes = cache::read_file(path)?;
            Ok(queue.patiently(|| queue.store().input(&bytes))?)
        };
        let kernel = Input {
            path: boot.kernel.to_owned(),
            hash: tree::hash(&cache::read_file(boot.kernel)?),
        };
        let (initramfs, plugin) = (input(boot.initramfs)?, input(boot.plugin)?);
        let placed = Boot {
            initramfs: &initramfs.path,
            plugin: &plugin.path,
            ..boot.clone()
        };
        let words = placed.words(Path::new(boot::COUNTS)).into_iter();
        let words: Result<Vec<String>, std::ffi::OsString> =
            words.map(std::ffi::OsString::into_string).collect();
        Ok(Self {
            what,
            qemu: boot.qemu.clone(),
            words: words
                .map_err(|word| word.to_string_lossy().into_owned())
                .or_defect("a name in the shared folder is no text")?,
            files: vec![kernel, initramfs, plugin],
            seconds: boot.limit.time.as_secs(),
        })
    }

    /// Has it booted on some node; what a guest that failed left is read as here, and
    /// told in the same words.
    ///
    /// # Errors
    /// Why there are no counts.
    pub fn run_on(self, queue: &Queue, boot: &Boot<'_>) -> Result<(Record, Duration), Error> {
        let left = match queue.run(&Work::Boot(Box::new(self)))? {
            Came::Boot(left) => *left,
            other => return Err(other.unexpected().into()),
        };
        let took = left.took();
        Ok((boot.read(left)?, took))
    }
}
