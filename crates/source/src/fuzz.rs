//! Body of the fuzz target in `fuzz/`: what must hold for any bytes. The
//! ordinary tests run it over `fuzz/corpus`.

use crate::{Analyser, Function, Vocabulary};

/// Whatever a file holds, every call that the words show is either parsed or
/// named with a reason, and every span lies inside the file.
pub fn analyse(bytes: &[u8]) {
    let Ok(vocabulary) = Vocabulary::builtin() else {
        return;
    };
    let Ok(mut analyser) = Analyser::new(&vocabulary) else {
        return;
    };
    let report = analyser.analyse(bytes);
    assert_eq!(
        report.lexical,
        report.parsed + report.not_analysed.len(),
        "a call was dropped in silence"
    );
    report.functions.iter().for_each(|f| inside(f, bytes));
}

fn inside(function: &Function, bytes: &[u8]) {
    let sites = function.runs.iter().flat_map(|run| &run.sites);
    let spans = sites.flat_map(|site| [site.span, site.value, site.address]);
    for span in spans.chain([function.header, function.body]) {
        assert!(span.start <= span.end && span.end <= bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_corpus_of_sources_holds() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/analyse");
        let files = std::fs::read_dir(corpus).unwrap();
        let ran = files.map(|file| super::analyse(&std::fs::read(file.unwrap().path()).unwrap()));
        assert!(ran.count() > 0, "the corpus is empty");
    }
}
