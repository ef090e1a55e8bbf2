//! The kernel that the tests of real places read: Linux 6.12.117, unpacked once
//! into the folder that cargo builds in. What lies in the user's cache, and which
//! test ran before, has no part in it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, io, time};

use crate::missing;

/// Where Debian's package linux-source-6.12 puts the source.
const ARCHIVE: &str = "/usr/src/linux-source-6.12.tar.xz";
/// The kernel that the judged lists were read from.
const VERSION: [&str; 3] = ["VERSION = 6", "PATCHLEVEL = 12", "SUBLEVEL = 117"];

/// The newer one that lists were read from.
const NEWER: [&str; 3] = ["VERSION = 7", "PATCHLEVEL = 3", "SUBLEVEL = 4"];

/// Set to 1: no kernel.
const LEFT_OUT: &str = "TOLLGATE_NO_KERNEL";

/// The tree: `TOLLGATE_TREE`, or the tests' own. Without one the test says that it
/// is skipped. It is only to be read.
///
/// # Panics
/// Where `TOLLGATE_TREE` is another kernel, the archive does not unpack, or
/// `TOLLGATE_TEST_ALL` is 1 and there is none.
#[must_use]
pub fn tree() -> Option<PathBuf> {
    if is_left_out() {
        return None;
    }
    if let Some(given) = env::var_os("TOLLGATE_TREE").map(PathBuf::from) {
        assert!(
            is_the_kernel(&given),
            "TOLLGATE_TREE={}: that is no Linux 6.12.117",
            given.display()
        );
        return Some(given);
    }
    if !Path::new(ARCHIVE).exists() {
        missing(ARCHIVE, "scripts/setup installs it, or set TOLLGATE_TREE");
        return None;
    }
    static UNPACKED: OnceLock<PathBuf> = OnceLock::new();
    let tree = UNPACKED.get_or_init(|| made(&name("linux"), unpack));
    if !is_the_kernel(tree) {
        missing(
            "Linux 6.12.117",
            "the archive holds another; set TOLLGATE_TREE",
        );
        return None;
    }
    Some(tree.clone())
}

/// A newer tree, 7.3.4: `TOLLGATE_NEWER_TREE`, or what `scripts/tree 7.3` has put into
/// the user's cache. Without one the test says that it is skipped. It is only to be
/// read.
///
/// # Panics
/// Where it is another kernel, or `TOLLGATE_TEST_ALL` is 1 and there is none.
#[must_use]
pub fn newer() -> Option<PathBuf> {
    if is_left_out() {
        return None;
    }
    let given = env::var_os("TOLLGATE_NEWER_TREE").map(PathBuf::from);
    let Some(tree) = given.or_else(fetched) else {
        missing("Linux 7.3.4", "scripts/tree 7.3 fetches it");
        return None;
    };
    assert!(
        is_version(&tree, NEWER),
        "{}: that is no Linux 7.3.4; set TOLLGATE_NEWER_TREE",
        tree.display()
    );
    Some(tree)
}

/// The tree of scripts/tree, which prints where it is; --kept fetches nothing.
fn fetched() -> Option<PathBuf> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/tree");
    let told = Command::new(script).args(["--kept", "7.3"]).output();
    let told = told.unwrap();
    let path = String::from_utf8(told.stdout).unwrap();
    let path = path.trim_end();
    (told.status.success() && !path.is_empty()).then(|| path.into())
}

/// Whether `TOLLGATE_NO_KERNEL=1` leaves out what reads or builds a kernel; the
/// test then says that it is skipped.
///
/// # Panics
/// Where `TOLLGATE_TEST_ALL` is 1, too.
#[must_use]
pub fn is_left_out() -> bool {
    let left_out = env::var_os(LEFT_OUT).is_some_and(|set| set == "1");
    if left_out {
        missing("a kernel", "TOLLGATE_NO_KERNEL=1 leaves it out");
    }
    left_out
}

fn is_the_kernel(tree: &Path) -> bool {
    is_version(tree, VERSION)
}

fn is_version(tree: &Path, version: [&str; 3]) -> bool {
    let path = tree.join("Makefile");
    let makefile = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
        Err(error) => panic!("{} cannot be read: {error}", path.display()),
    };
    let has = |line: &&str| makefile.lines().any(|have| have == *line);
    version.iter().all(has)
}

/// The kernel's own checker of objects, built from [`tree`] in a copy of what that
/// takes: `TOLLGATE_OBJTOOL`, or the tests' own.
///
/// # Panics
/// As [`tree`], and where it does not build.
#[must_use]
pub fn objtool() -> Option<PathBuf> {
    if is_left_out() {
        return None;
    }
    if let Some(given) = env::var_os("TOLLGATE_OBJTOOL") {
        return Some(given.into());
    }
    let tree = tree()?;
    let headers = ["/usr/include/libelf.h", "/usr/include/gelf.h"];
    if !headers.iter().all(|header| Path::new(header).exists()) {
        missing("libelf-dev", "scripts/setup installs it");
        return None;
    }
    let built = made(&name("objtool"), |folder| build_objtool(&tree, folder));
    Some(built.join("tools/objtool/objtool"))
}

/// What of a tree objtool is built from.
const SOURCES: [&str; 7] = [
    "tools/objtool",
    "tools/lib",
    "tools/include",
    "tools/arch",
    "tools/build",
    "tools/scripts",
    "scripts",
];

fn build_objtool(tree: &Path, folder: &Path) {
    for source in SOURCES {
        let target = folder.join(source);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        let mut copy = Command::new("cp");
        run(copy.arg("-a").arg(tree.join(source)).arg(target));
    }
    let mut make = Command::new("make");
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        make.env_remove(name);
    }
    run(make
        .arg("-C")
        .arg(folder.join("tools/objtool"))
        .arg("ARCH=x86"));
}

fn unpack(folder: &Path) {
    let mut tar = Command::new("tar");
    tar.args([
        "-xf",
        ARCHIVE,
        "--strip-components=1",
        "--no-same-owner",
        "-C",
    ]);
    run(tar.arg(folder));
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// A name that another archive does not have.
fn name(what: &str) -> String {
    let about = fs::metadata(env::var_os("TOLLGATE_TREE").map_or(ARCHIVE.into(), PathBuf::from));
    let about = about.unwrap();
    let since = about.modified().unwrap().duration_since(time::UNIX_EPOCH);
    format!("{what}-{}-{}", about.len(), since.unwrap().as_secs())
}

/// A folder beside the test programs that `fill` has filled, once for all of them.
fn made(name: &str, fill: impl FnOnce(&Path)) -> PathBuf {
    let program = env::current_exe().unwrap();
    // `target/debug/deps/PROGRAM`
    let target = program.ancestors().nth(3).unwrap();
    made_in(&target.join("kernels"), name, fill)
}

fn made_in(all: &Path, name: &str, fill: impl FnOnce(&Path)) -> PathBuf {
    fs::create_dir_all(all).unwrap();
    let lock = File::create(all.join("lock")).unwrap();
    lock.lock().unwrap();
    let folder = all.join(name);
    if !folder.exists() {
        let scratch = tempfile::tempdir_in(all).unwrap();
        fill(scratch.path());
        // Only a complete folder is ever there under this name.
        fs::rename(scratch.keep(), &folder).unwrap();
    }
    folder
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_folder_is_filled_once_by_whoever_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let times = AtomicUsize::new(0);
        let fill = |place: &Path| {
            times.fetch_add(1, Ordering::SeqCst);
            fs::write(place.join("a"), "whole").unwrap();
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let made = made_in(folder.path(), "x", fill);
                    assert_eq!(fs::read_to_string(made.join("a")).unwrap(), "whole");
                });
            }
        });
        assert_eq!(times.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn one_that_was_not_filled_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let failed = std::thread::spawn(move || made_in(&path, "x", |_| panic!("no room")));
        assert!(failed.join().is_err());
        assert!(!folder.path().join("x").exists());
    }

    #[test]
    fn another_kernel_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let makefile = |sublevel: &str| {
            let text = format!("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = {sublevel}\n");
            fs::write(folder.path().join("Makefile"), text).unwrap();
            is_the_kernel(folder.path())
        };
        assert!(!is_the_kernel(folder.path()));
        assert!(makefile("117") && !makefile("11") && !makefile("1170"));
    }

    #[test]
    #[should_panic(expected = "cannot be read")]
    fn a_makefile_that_cannot_be_read_is_not_that_of_another_kernel() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("Makefile")).unwrap();
        is_the_kernel(folder.path());
    }
}
