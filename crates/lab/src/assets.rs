//! The files that tollgate brings with it, inside the program: an installed
//! tollgate needs no checkout.

use include_dir::{Dir, include_dir};
use tollgate_defect::{Defect, OrDefect as _};

/// Cases: a folder each.
pub static CASES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../cases");
/// Architectures, configuration fragments, versions of QEMU.
pub static DATA: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../data");
/// init and the benchmarks, in C.
pub static GUEST: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../guest");
/// The counting plugin, in C.
pub static PLUGIN: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../plugin");

/// The text of a file that has to be among them.
///
/// # Errors
/// Where it is not: a defect of how tollgate was built.
pub fn own(dir: &'static Dir<'static>, path: &str) -> Result<&'static str, Defect> {
    text(dir, path).or_defect(&format!("{path} is not inside the program"))
}

/// The text of one of the files, `None` where there is no such file.
#[must_use]
pub fn text(dir: &'static Dir<'static>, path: &str) -> Option<&'static str> {
    dir.get_file(path)?.contents_utf8()
}

/// Every file of a folder of assets, by path, in order.
#[must_use]
pub fn files(dir: &'static Dir<'static>) -> Vec<(&'static str, &'static [u8])> {
    let mut all = Vec::new();
    collect(dir, &mut all);
    all.sort_unstable_by_key(|(path, _)| *path);
    all
}

fn collect(dir: &'static Dir<'static>, all: &mut Vec<(&'static str, &'static [u8])>) {
    let named = dir
        .files()
        .filter_map(|file| Some((file.path().to_str()?, file.contents())));
    all.extend(named);
    for inner in dir.dirs() {
        collect(inner, all);
    }
}
