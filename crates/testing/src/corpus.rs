//! The corpora of the fuzz targets, which the ordinary tests run.

use std::fs;
use std::path::Path;

/// Runs the body of a fuzz target over its corpus.
///
/// # Panics
/// Where the corpus cannot be read or is empty, and where the body does.
pub fn run(target: &str, body: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let files = fs::read_dir(corpus.join(target)).unwrap();
    let ran = files.map(|file| body(&fs::read(file.unwrap().path()).unwrap()));
    assert!(ran.count() > 0, "{target} has no corpus");
}
