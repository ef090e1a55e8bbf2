//! Body of the fuzz target in `fuzz/`: what must hold for any bytes. The
//! ordinary tests run it over `fuzz/corpus`.

use crate::{Analysis, Changes, Input, Listing, Symbols, is_archive, members};

/// Listings of a file: each reads the file again.
const LISTED: usize = 4;

/// Whatever a file holds, it is analysed or refused with a sentence, and its
/// figures agree with each other.
pub fn gates(bytes: &[u8]) {
    if let Err(error) = Symbols::parse(bytes) {
        assert!(!error.to_string().is_empty());
    }
    if is_archive(bytes) {
        match members(bytes) {
            Ok(members) => members
                .into_iter()
                .filter_map(|m| m.object)
                .for_each(object),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    } else {
        object(bytes.into());
    }
}

fn object(bytes: Input<'_>) {
    let analysis = match Analysis::of(bytes) {
        Ok(analysis) => analysis,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for function in &analysis.functions {
        assert!(function.inside <= function.instructions);
        assert!(function.counts.gates() <= function.instructions);
    }
    assert!(!Changes::between(&analysis, &analysis).regressed());
    let crossing = analysis.functions.iter().filter(|f| f.crosses());
    for function in crossing.take(LISTED) {
        let listed = Listing::of(bytes, &function.name);
        let is_listed = matches!(&listed, Ok(listings) if !listings.is_empty());
        assert!(is_listed, "{} is listed: {listed:?}", function.name);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_corpus_of_objects_holds() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/gates");
        let files = std::fs::read_dir(corpus).unwrap();
        let ran = files.map(|file| super::gates(&std::fs::read(file.unwrap().path()).unwrap()));
        assert!(ran.count() > 0, "the corpus is empty");
    }
}
