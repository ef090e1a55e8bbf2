//! The body is in the library, where the ordinary tests run it too.
#![no_main]

use std::sync::LazyLock;

use tempfile::TempDir;

/// Where programs are built, one after the other.
static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = tollgate_behaviour::fuzz::rewritings(FOLDER.path(), bytes) {
        panic!("{wrong}");
    }
});
