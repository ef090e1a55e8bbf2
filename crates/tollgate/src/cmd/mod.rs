//! The commands: one file each, flags in, exit code out.

mod cache;
mod cases;
mod check;
mod compare;
mod doctor;
mod fix;
mod gates;
mod init;
mod job;
mod profile;
pub(crate) mod prove;
mod robot;
pub(crate) mod run;
pub(crate) mod scan;
mod share;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::{ColorChoice, Term};

/// Find where a Linux hot path pays to cross the user/kernel boundary, rewrite
/// it to pay once, and prove the gain to the instruction.
///
/// Each get_user() and put_user() opens the gate to user memory and closes it
/// again: stac and clac on x86 with SMAP, writes of a protection register on
/// powerpc. Adjacent accesses can share one window (user_access_begin(),
/// unsafe_put_user(), user_access_end()) and pay once.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, max_term_width = 80, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// When to colour the output: auto, always or never
    #[arg(
        long,
        value_enum,
        default_value_t,
        global = true,
        hide_possible_values = true
    )]
    pub(crate) color: ColorChoice,
    /// No progress, only results and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// The settings, instead of the tollgate.toml that is found upwards from the
    /// tree or the current folder (docs/configuration.md)
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config_file: Option<PathBuf>,
}

/// What tollgate can be asked to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find functions that open the gate more than once
    Scan(scan::Args),
    /// Write the patch that makes them open it once
    Fix(fix::Args),
    /// Check that windows are used rightly and closed on every path
    Check(check::Args),
    /// Show what opens and closes the gate in object code
    Gates(gates::Args),
    /// Build both kernels, boot both, count, compare
    Prove(Box<prove::Args>),
    /// Time benchmarks on this machine and its kernel
    Run(run::Args),
    /// Read a profile: which part of it is paid at the boundary
    Profile(profile::Args),
    /// Compare profiles, or times of several boots
    Compare(compare::Args),
    /// Compile every edited line of a patch somewhere, before it is mailed
    Robot(Box<robot::Args>),
    /// Do the work of a job file
    Job(job::Args),
    /// List the cases that prove knows, with what was claimed of them
    Cases(cases::Args),
    /// Say what this machine can and cannot do, and what mends it
    Doctor(doctor::Args),
    /// Say what the cache holds, and make it smaller
    Cache(cache::Args),
    /// Write a tollgate.toml that says what can be set
    Init(init::Args),
    /// Write the man pages and completions of this program
    Share(share::Args),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// A sentence for the user, when the command could not tell.
    pub(crate) fn run(self, settings: &Settings, term: &Term) -> anyhow::Result<Exit> {
        match self {
            Self::Scan(args) => scan::run(args, term),
            Self::Fix(args) => fix::run(args, term),
            Self::Check(args) => check::run(args, term),
            Self::Gates(args) => gates::run(args, term),
            Self::Prove(args) => prove::run(*args, term),
            Self::Run(args) => run::run(args, term),
            Self::Profile(args) => profile::run(args, term),
            Self::Compare(args) => compare::run(args, term),
            Self::Robot(args) => robot::run(&args, term),
            Self::Job(args) => job::run(&args, term),
            Self::Cases(args) => cases::run(&args, term),
            Self::Doctor(args) => doctor::run(args, settings, term),
            Self::Cache(args) => cache::run(&args, term),
            Self::Share(args) => share::run(&args, term),
            Self::Init(args) => init::run(&args, term),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  tollgate scan ~/linux                 which functions pay twice?
  tollgate fix ~/linux include/linux/eventpoll.h:epoll_put_uevent
                                        the patch that makes one pay once
  tollgate prove epoll                  what does it gain, is it the same?
  tollgate run signal                   and in time, on this machine?
  tollgate profile perf.data            what does a workload pay?
  tollgate check ~/linux                is every window closed on every path?
  tollgate robot my.patch               does every line of it compile somewhere?
  tollgate gates vmlinux                what opens the gate in object code?

Exit codes: 0 clean or a gain, 1 findings, a regression or a difference,
2 could not tell; 130 interrupted, 143 terminated (128 and the signal's number).
Colour stays away where NO_COLOR is set or TERM is dumb; in a locale without
UTF-8 (LC_ALL=C) everything but a patch is ASCII. Lines are as wide as the
terminal, or as COLUMNS says; 80 columns elsewhere.

Settings: a flag goes over the environment (TOLLGATE_TREE, TOLLGATE_CACHE, ...),
and that over tollgate.toml; `tollgate init` writes one that names them all.";
