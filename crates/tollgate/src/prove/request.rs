//! What was asked of a proof, as plain data.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_lab::slurm::Site;
use tollgate_report::profile::ProfileFormat;

use crate::output::Output;
use crate::place::Place;

/// Everything that the command line says of a proof.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The case; none where patches stand for one.
    pub(crate) case: Option<String>,
    /// The tree; Debian's where none is named.
    pub(crate) tree: Option<PathBuf>,
    /// The architecture.
    pub(crate) arch: String,
    /// The configuration; the case's own profile where none is named.
    pub(crate) config: Option<Configuration>,
    /// The variants of the case.
    pub(crate) variant: Vec<String>,
    /// Patches, each of which is a variant.
    pub(crate) patch: Vec<PathBuf>,
    /// The benchmarks, where some are named.
    pub(crate) bench: Vec<String>,
    /// Values of their parameters.
    pub(crate) param: Vec<Param>,
    /// The series to measure point by point; empty for the case's own.
    pub(crate) series: Option<OsString>,
    /// The points of it; all where none is named.
    pub(crate) points: Vec<usize>,
    /// Other programs to compare with the user's, on the base's kernel.
    pub(crate) against: Vec<Against>,
    /// What is shown, and where the JSON goes.
    pub(crate) output: Output,
    /// Where the page goes beside the cache.
    pub(crate) html: Option<Place>,
    /// Where the counts by function go as a profile.
    pub(crate) profile_out: Option<Place>,
    /// Its form, where the file's ending does not say it.
    pub(crate) profile_format: Option<ProfileFormat>,
    /// The cache.
    pub(crate) cache: Option<PathBuf>,
    /// The compilers of the kernels: that of the base, and those beside it. The
    /// architecture's own where none is named.
    pub(crate) compiler: Vec<String>,
    /// The emulator.
    pub(crate) qemu: Option<String>,
    /// Compiler runs, or guests, at a time.
    pub(crate) jobs: Option<u16>,
    /// Whether the base is booted although what it counts is kept.
    pub(crate) recount: bool,
    /// How long a guest may run.
    pub(crate) timeout: Option<Duration>,
    /// A program of the user's and its arguments; empty where there is none.
    pub(crate) program: Vec<OsString>,
    /// The cluster whose nodes build and boot; none where this machine does.
    pub(crate) site: Option<Site>,
}

/// How the kernels are configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Configuration {
    /// By a profile that comes along.
    Profile(String),
    /// By a file of the user's.
    File(PathBuf),
}

impl Configuration {
    /// As it is given in the folder of the file.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Profile(name) => name.clone(),
            Self::File(path) => {
                let name = path.file_name().map_or(path.as_path(), Path::new);
                format!("./{}", name.to_string_lossy())
            }
        }
    }
}

/// Another build or mode of a program of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Against {
    /// What results call it.
    pub(crate) name: String,
    /// The program and its arguments; without any it takes those of the base's.
    pub(crate) program: Vec<OsString>,
}

/// The values that a parameter takes, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) key: String,
    pub(crate) values: Vec<i64>,
}
