//! Images: kernels built once for a content and kept under it.

use crate::cache::read_file as read;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tollgate_source::TreePath;

use crate::build::{self, BuildDir, Built, Order};
use crate::cache::{self, Cache};
use crate::config::Fragment;
use crate::copy::{self, PrivateCopy};
use crate::machine::Kbuild;
use crate::process::Runner;
use crate::progress::Progress;
use crate::remembered::Memory;
use crate::toolchain::Compiler;
use crate::tree::{self, Change, Manifest, Tree};

/// Part of every key: raise it when the way an image is built changes.
const RECIPE: &str = "image 1";

const VMLINUX: &str = "vmlinux";
/// The configuration of an image.
const CONFIGURATION: &str = "config";

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// The private copy could not be made.
    #[error(transparent)]
    Copy(#[from] copy::Error),
    /// The kernel could not be built.
    #[error(transparent)]
    Build(#[from] build::Error),
    /// The cache could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
}

/// A kernel tree with one change, or with none.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name, `base` or `window`.
    pub name: String,
    /// What it changes.
    pub change: Change,
    /// Lines of a `.config` that it has beside the fragment's.
    pub config: Vec<String>,
}

/// A kernel that can be booted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The content it was built from, as one hash: tree, change, fragment,
    /// compiler, recipe.
    pub key: String,
    /// Its folder; not part of the record, which may move.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The kernel's version, `6.12.117`.
    pub kernel: String,
    /// The compiler's own words.
    pub compiler: String,
    /// The fragment's name.
    pub config: String,
    /// The hash of `vmlinux`.
    pub vmlinux: String,
    /// The file in the folder that is booted, where that is not `vmlinux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boots: Option<String>,
}

impl Image {
    /// The kernel with its symbols.
    #[must_use]
    pub fn vmlinux_path(&self) -> PathBuf {
        self.folder.join(VMLINUX)
    }

    /// The configuration that Kconfig made for it, if it was kept.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn configuration(&self) -> Result<Option<String>, cache::Error> {
        let bytes = cache::read_if_there(&self.folder.join(CONFIGURATION))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The kernel in the form that is booted.
    #[must_use]
    pub fn boot_path(&self) -> PathBuf {
        self.folder.join(self.boots.as_deref().unwrap_or(VMLINUX))
    }
}

/// Builds images of one tree, in one configuration, with one compiler.
#[derive(Debug)]
pub struct ImageBuilder<'a> {
    /// Where images and workshops are.
    pub cache: &'a Cache,
    /// The tree.
    pub tree: &'a Tree,
    /// What the tree holds.
    pub manifest: &'a Manifest,
    /// What is remembered of it.
    pub memory: &'a Arc<Memory>,
    /// The options.
    pub fragment: &'a Fragment,
    /// The compiler.
    pub compiler: &'a Compiler,
    /// What kernels are built for.
    pub kbuild: &'a Kbuild,
    /// Compiler runs at a time.
    pub jobs: usize,
    /// Starts programs.
    pub runner: &'a Runner,
}

impl ImageBuilder<'_> {
    /// The image of a variant: out of the cache, or built.
    ///
    /// # Errors
    /// When it is not there and cannot be built.
    pub fn image(&self, variant: &Variant, progress: &dyn Progress) -> Result<Image, Error> {
        let wanted = self.manifest.with(&variant.change);
        let key = self.key(&wanted, variant);
        match self.cached(&key)? {
            Some(image) => Ok(image),
            None => self.build(variant, &wanted, key, progress),
        }
    }

    /// The image of a variant if it is in the cache.
    ///
    /// # Errors
    /// When what is there cannot be read.
    pub fn find(&self, variant: &Variant) -> Result<Option<Image>, Error> {
        self.cached(&self.key_of(variant))
    }

    /// The content that a variant's image is built from, as one hash: tree, change,
    /// fragment, compiler, recipe.
    #[must_use]
    pub fn key_of(&self, variant: &Variant) -> String {
        self.key(&self.manifest.with(&variant.change), variant)
    }

    fn cached(&self, key: &str) -> Result<Option<Image>, Error> {
        let Some(folder) = self.cache.installed(&place(key))? else {
            return Ok(None);
        };
        let record: Option<Image> = cache::read_json(&folder.join("image.json"))?;
        let Some(image) = record else {
            return Ok(None);
        };
        self.cache.used(&folder)?;
        Ok(Some(Image { folder, ..image }))
    }

    fn build(
        &self,
        variant: &Variant,
        wanted: &Manifest,
        key: String,
        progress: &dyn Progress,
    ) -> Result<Image, Error> {
        let root = self.cache.root().join(self.workshop_name());
        cache::make_folder(&root)?;
        self.cache.used(&root)?;
        let build_dir = BuildDir::new(root.clone());
        let products = build_dir.products();
        let memory = Arc::clone(self.memory);
        let source = PrivateCopy::new(
            root.join("source"),
            root.join("source.json"),
            products,
            memory,
        );
        let interrupt = self.runner.interrupt();
        source.sync(self.tree, &variant.change, wanted, interrupt)?;
        let kconfig = wanted.id_of(is_kconfig);
        let ccache = ccache().then(|| self.cache.root().join("ccache"));
        let fragment = self.fragment.with(&variant.config);
        let order = Order {
            what: &variant.name,
            source: source.root(),
            kbuild: self.kbuild,
            fragment: &fragment,
            kconfig: &kconfig,
            compiler: self.compiler,
            jobs: self.jobs,
            ccache: ccache.as_deref(),
        };
        let built = build_dir.build_kernel(&order, self.runner, progress)?;
        source.verify(wanted, interrupt)?;
        self.keep(key, &built, &build_dir)
    }

    fn keep(&self, key: String, built: &Built, build_dir: &BuildDir) -> Result<Image, Error> {
        let bytes = read(&built.vmlinux)?;
        let boots = built.image.as_deref();
        let image = Image {
            boots: boots
                .and_then(Path::file_name)
                .map(|name| name.to_string_lossy().into()),
            folder: PathBuf::new(),
            kernel: self.tree.version().to_owned(),
            compiler: self.compiler.version.clone(),
            config: self.fragment.name.clone(),
            vmlinux: tree::hash(&bytes),
            key,
        };
        let folder = self.cache.install(&place(&image.key), |scratch| {
            cache::write_file(&scratch.join(VMLINUX), &bytes)?;
            if let (Some(from), Some(name)) = (boots, &image.boots) {
                cache::write_file(&scratch.join(name), &read(from)?)?;
            }
            copy_text(&build_dir.config(), &scratch.join(CONFIGURATION))?;
            copy_text(&build_dir.log(), &scratch.join("build.log"))?;
            cache::write_json(&scratch.join("image.json"), &image)
        })?;
        Ok(Image { folder, ..image })
    }

    fn key(&self, wanted: &Manifest, variant: &Variant) -> String {
        let Fragment { text, ground, .. } = self.fragment.with(&variant.config);
        let mut parts = BTreeMap::new();
        parts.insert("recipe", RECIPE);
        let id = wanted.id();
        parts.insert("tree", &id);
        parts.insert("fragment", &text);
        if let Some(ground) = &ground {
            parts.insert("ground", ground);
        }
        parts.insert("compiler", &self.compiler.version);
        parts.insert("arch", &self.kbuild.arch);
        if let Some(image) = &self.kbuild.image {
            parts.insert("boots", &image.file);
        }
        let text: Vec<String> = parts
            .iter()
            .map(|(name, value)| format!("{name}\0{value}\0"))
            .collect();
        tree::hash(text.concat().as_bytes())
    }

    /// One build_dir for all variants and all states of a series, so that each
    /// build starts from the objects of the one before.
    fn workshop_name(&self) -> PathBuf {
        let own = [&self.fragment.text, &self.compiler.version];
        let identity: Vec<&str> = own
            .into_iter()
            .chain(&self.fragment.ground)
            .map(String::as_str)
            .collect();
        let identity = identity.join("\0");
        let short: String = tree::hash(identity.as_bytes()).chars().take(12).collect();
        Path::new("work").join(format!(
            "{}-{}-{short}",
            self.kbuild.arch,
            self.tree.series()
        ))
    }
}

fn place(key: &str) -> PathBuf {
    Path::new("images").join(key)
}

fn is_kconfig(path: &TreePath) -> bool {
    path.file().starts_with(b"Kconfig")
}

fn ccache() -> bool {
    let has =
        |path: &OsString| std::env::split_paths(path).any(|folder| folder.join("ccache").is_file());
    std::env::var_os("PATH").as_ref().is_some_and(has)
}

/// A log or configuration that is not there is no reason to lose an image.
fn copy_text(from: &Path, to: &Path) -> Result<(), cache::Error> {
    match cache::read_if_there(from)? {
        Some(bytes) => cache::write_file(to, &bytes),
        None => Ok(()),
    }
}
