//! The kernels of a proof as jobs: a tree with one change becomes an image.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tollgate_source::TreePath;

use super::asked::Error;
use super::content::Content;
use crate::build;
use crate::cache::Cache;
use crate::config::Fragment;
use crate::image::{self, Image, ImageBuilder, Variant};
use crate::machine::Kbuild;
use crate::process::Runner;
use crate::progress::Silent;
use crate::remembered::Memory;
use crate::slurm::Store;
use crate::toolchain::Compiler;
use crate::tree::{Change, Kind, Tree};

/// A kernel of a tree with one change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageJob {
    /// What it is called in messages: the variant's name.
    pub name: String,
    /// The tree; only read.
    pub tree: PathBuf,
    /// The id of its manifest.
    pub tree_id: String,
    /// What the variant changes.
    pub edits: Vec<Edit>,
    /// Lines of its configuration beside the fragment's.
    pub config: Vec<String>,
    /// The options.
    pub fragment: Fragment,
    /// What it is built for.
    pub kbuild: Kbuild,
    /// The compiler, and what it calls itself.
    pub compiler: Compiler,
    /// The key that the image has to have.
    pub key: String,
    /// The folder whose store gets it.
    pub shared: PathBuf,
}

/// A file of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Its path.
    pub path: TreePath,
    /// What it holds; none where it is gone.
    pub content: Option<Content>,
    /// What kind of file it is, where that is told.
    pub kind: Option<Kind>,
}

impl Edit {
    /// Those of a change.
    #[must_use]
    pub fn all(change: &Change) -> Vec<Self> {
        let one = |(path, bytes): (&TreePath, &Option<Vec<u8>>)| Self {
            path: path.clone(),
            content: bytes.as_deref().map(Content::of),
            kind: change.kinds.get(path).copied(),
        };
        change.files.iter().map(one).collect()
    }

    fn change(edits: &[Self]) -> Change {
        let mut change = Change::default();
        for edit in edits {
            let bytes = edit.content.as_ref().map(|held| held.bytes().to_vec());
            change.files.insert(edit.path.clone(), bytes);
            if let Some(kind) = edit.kind {
                change.kinds.insert(edit.path.clone(), kind);
            }
        }
        change
    }
}

impl ImageJob {
    /// What has the image of a variant built elsewhere: by whom `shared` is seen, too.
    #[must_use]
    pub fn of(builder: &ImageBuilder<'_>, variant: &Variant, shared: &Path) -> Self {
        Self {
            name: variant.name.clone(),
            tree: builder.tree.root().to_owned(),
            tree_id: builder.manifest.id(),
            edits: Edit::all(&variant.change),
            config: variant.config.clone(),
            fragment: builder.fragment.clone(),
            kbuild: builder.kbuild.clone(),
            compiler: builder.compiler.clone(),
            key: builder.key_of(variant),
            shared: shared.to_owned(),
        }
    }

    /// Builds it with so many compilers at a time, and puts it into the store.
    ///
    /// # Errors
    /// When it cannot be built, or would be another image than the one that is asked for.
    pub fn run(&self, jobs: usize, cache: &Cache, runner: &Runner) -> Result<Image, Error> {
        let store = Store::new(&self.shared);
        if let Some(there) = store.image(&self.key)? {
            return Ok(there);
        }
        let tree = Tree::open(&self.tree)?;
        let memory = Arc::new(Memory::of(tree.root(), cache));
        let manifest = memory.manifest(tree.root(), runner.interrupt())?;
        if manifest.id() != self.tree_id {
            let tree = self.tree.clone();
            return Err(Error::OtherTree { tree });
        }
        let compiler = self.compiler(runner)?;
        let builder = ImageBuilder {
            cache,
            tree: &tree,
            manifest: &manifest,
            memory: &memory,
            fragment: &self.fragment,
            compiler: &compiler,
            kbuild: &self.kbuild,
            jobs,
            runner,
        };
        let variant = Variant {
            name: self.name.clone(),
            change: Edit::change(&self.edits),
            config: self.config.clone(),
        };
        if builder.key_of(&variant) != self.key {
            return Err(Error::NoJob {
                path: self.tree.clone(),
                reason: format!("the kernel {} would be another one", self.name),
            });
        }
        let image = builder.image(&variant, &Silent);
        let image = image.map_err(|error| self.with_log(&store, error))?;
        Ok(store.keep_image(&image)?)
    }

    fn compiler(&self, runner: &Runner) -> Result<Compiler, Error> {
        let here = Compiler::find(&self.compiler.command, runner)?;
        match here.version == self.compiler.version {
            true => Ok(here),
            false => Err(Error::OtherCompiler {
                cell: self.name.clone(),
                there: here.version,
                here: self.compiler.version.clone(),
            }),
        }
    }

    /// Whoever is told of a build that failed reads its log in the store.
    fn with_log(&self, store: &Store, error: image::Error) -> Error {
        let image::Error::Build(mut failed) = error else {
            return error.into();
        };
        if let build::Error::Failed { log, .. }
        | build::Error::Windows { log, .. }
        | build::Error::NoKernel { log, .. } = &mut failed
        {
            match store.keep_log(&self.key, log) {
                Ok(kept) => *log = kept,
                Err(error) => return Error::Cache(error),
            }
        }
        image::Error::Build(failed).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_the_same_on_the_other_side() {
        let mut change = Change::default();
        let path = |name: &str| TreePath::within(name);
        change.files.insert(path("a"), Some(vec![0xff, 0]));
        change.files.insert(path("b"), None);
        change.files.insert(path("c"), Some(b"text".to_vec()));
        change.kinds.insert(path("c"), Kind::Program);
        let text = serde_json::to_string(&Edit::all(&change)).unwrap();
        let edits: Vec<Edit> = serde_json::from_str(&text).unwrap();
        assert_eq!(Edit::change(&edits), change);
    }
}
