//! The kernel that the tests of real places read: `TOLLGATE_TREE`, or what
//! `tollgate prove` has unpacked into the cache.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A tree of Linux 6.12.117; without one the test says that it is skipped.
pub(crate) fn tree(test: &str) -> Option<PathBuf> {
    let given = env::var_os("TOLLGATE_TREE").map(PathBuf::from);
    let of = |name: &str, below: &str| env::var_os(name).map(|dir| PathBuf::from(dir).join(below));
    let caches = [
        of("TOLLGATE_CACHE", ""),
        of("XDG_CACHE_HOME", "tollgate"),
        of("HOME", ".cache/tollgate"),
    ];
    let folders = caches.into_iter().flatten();
    let unpacked = folders.filter_map(|cache| fs::read_dir(cache.join("trees")).ok());
    let unpacked = unpacked.flatten().flatten().map(|entry| entry.path());
    let found = given
        .into_iter()
        .chain(unpacked)
        .find(|tree| is_the_kernel(tree));
    if found.is_none() {
        // Not eprintln!, which the test runner keeps to itself.
        let _ = writeln!(
            io::stderr(),
            "skipped: {test}: no Linux 6.12.117 in the cache; `tollgate prove epoll` unpacks it, or set TOLLGATE_TREE"
        );
    }
    found
}

fn is_the_kernel(tree: &Path) -> bool {
    let makefile = fs::read_to_string(tree.join("Makefile")).unwrap_or_default();
    let wanted = ["VERSION = 6", "PATCHLEVEL = 12", "SUBLEVEL = 117"];
    let has = |line: &&str| makefile.lines().any(|have| have == *line);
    wanted.iter().all(has)
}
