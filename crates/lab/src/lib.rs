//! Variants to images to samples: configure, build, cache, boot, count.
//!
//! The one library crate that has effects: it reads trees, runs make and QEMU,
//! and keeps a cache. What it counts is read by `tollgate-measure`.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::let_underscore_must_use)
)]

pub mod assets;
pub mod boot;
pub mod build;
pub mod cache;
pub mod case;
pub mod check;
pub mod config;
mod console;
pub mod copy;
pub mod damage;
mod expected;
#[cfg(test)]
mod fixture;
pub mod fuzz;
pub mod git;
pub mod guest;
pub mod host;
pub mod image;
pub mod includers;
pub mod input;
pub mod inventory;
pub mod job;
pub mod kconfig;
pub mod machine;
pub mod native;
pub mod objects;
mod objtool;
mod own_cpu;
pub mod parameter;
pub mod patch;
pub mod patched;
pub mod process;
pub mod products;
pub mod program;
pub mod progress;
pub mod registry;
pub mod remembered;
pub mod rounds;
pub mod sealed;
pub mod series;
pub mod slurm;
pub mod sources;
pub mod space;
mod stamp;
pub mod sums;
pub mod toolchain;
pub mod tree;
pub mod unpack;
