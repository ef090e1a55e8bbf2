//! Bodies of the fuzz targets in `fuzz/`: what must hold for any bytes. The
//! ordinary tests run them over `fuzz/corpus`.

use crate::{Executions, Results};

/// Whatever the plugin's file holds, it is read or refused in a sentence; one
/// that is cut off is never taken for a whole one.
pub fn counts(bytes: &[u8]) {
    match Executions::parse(bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(_) => {
            let cut = bytes.get(..bytes.len() / 2).unwrap_or_default();
            assert!(Executions::parse(cut).is_err(), "half a file was accepted");
        }
    }
}

/// Whatever the guest's console holds, it is read or refused in a sentence.
pub fn console(bytes: &[u8]) {
    if let Err(error) = Results::parse(bytes) {
        assert!(!error.to_string().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use tollgate_testing::corpus::run;

    #[test]
    fn the_corpus_of_counts_holds() {
        run("counts", super::counts);
    }

    #[test]
    fn the_corpus_of_consoles_holds() {
        run("console", super::console);
    }
}
