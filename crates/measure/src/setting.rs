//! What a comparison must carry so that another machine can repeat it.

use serde::{Deserialize, Serialize};

/// Everything that the counts depend on, beside the two images' difference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// What is being proved: the case's name, or the patch's.
    pub subject: String,
    /// The version of tollgate.
    pub tollgate: String,
    /// The kernel tree's version, `6.12.117`.
    pub tree: String,
    /// What the base is, where it is not the tree as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The architecture, as QEMU names its target.
    pub arch: String,
    /// The compiler and its version, as it names itself.
    pub compiler: String,
    /// The configuration fragment, `x86_64-minimal`.
    pub config: String,
    /// Lines of the fragment that the tree does not have and what was asked for in their
    /// place, a sentence each; none where the tree has them all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjusted: Vec<String>,
    /// Whether what the base counted, twice, is of an earlier run of the same image, guest,
    /// plugin, QEMU and machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// QEMU's version.
    pub qemu: String,
    /// The version of QEMU's plugin interface that the plugin was built for.
    pub plugin_api: u32,
    /// QEMU's `-cpu`.
    pub cpu: String,
    /// The kernel's command line.
    pub command_line: String,
    /// The packages that the program is made of, each with its version; none of one that
    /// is not made of any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// Where `scan` found the site that the patch changes, if it did.
    pub find: Option<Find>,
    /// The patch that makes B of A, as `git diff` writes it.
    pub patch: String,
}

/// Where the site of a patch was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// The file in the tree.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The function that holds it.
    pub function: String,
}

/// One of the kernels compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageName {
    /// What figures call it: `A` is the base, `B` the first variant.
    pub letter: char,
    /// The variant's name, `base` or `window`.
    pub variant: String,
    /// The key of its content: tree, patches, configuration, compiler.
    pub id: String,
}

/// A benchmark of a case, with what the reader has to know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Benchmark {
    /// What runs.
    pub workload: crate::Workload,
    /// Whether it is a control: something the patch does not touch, which must
    /// not move.
    pub control: bool,
    /// What a call handles several of, if it does.
    pub unit: Option<Unit>,
    /// The workload of which its own cost is the difference, if it is one:
    /// `signal_null` of `signal_catch`.
    pub less: Option<crate::Workload>,
    /// Whether what runs is itself a part of what is compared, so that its own
    /// instructions decide with the kernel's: a program of which variants are
    /// builds or modes.
    pub whole: bool,
}

/// What a call handles several of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its name, `event`.
    pub name: String,
    /// The parameter that says how many a call handles, `events`; none where a
    /// call is one.
    pub parameter: Option<String>,
}
