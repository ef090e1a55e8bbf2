//! Bodies of the fuzz targets in `fuzz/`: what must hold for any bytes. The
//! ordinary tests run it over `fuzz/corpus`.

use crate::check::{CheckWords, Checker, Violation};
use crate::{Analyser, Function, Headers, TreePath, Types, Vocabulary, definitions};

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

/// Whatever a file holds, before a change and after it: every place that a rule
/// names lies inside the file, and its lines are there to be shown.
pub fn check(bytes: &[u8]) {
    let (Ok(vocabulary), Ok(words)) = (Vocabulary::builtin(), CheckWords::builtin()) else {
        return;
    };
    // The headers of a tree that holds nothing else.
    let reader = |_: &TreePath| Ok(bytes.to_vec());
    let Ok(headers) = Headers::new(&reader) else {
        return;
    };
    let Ok(mut checker) = Checker::new(&vocabulary, &words, &headers) else {
        return;
    };
    let learned = checker.learn(bytes);
    let before = bytes.get(bytes.len() / 2..).unwrap_or_default();
    for checked in [
        checker.check(&TreePath::within("a.c"), bytes),
        checker.check_change(&TreePath::within("a.c"), before, bytes),
    ] {
        checked.violations.iter().for_each(|v| shown(v, bytes));
    }
    let words = words.with(&learned);
    if let Ok(mut checker) = Checker::new(&vocabulary, &words, &headers) {
        checker.check(&TreePath::within("a.c"), bytes);
    }
}

/// Whatever a file holds, its types have a layout or a reason on every machine.
pub fn types(bytes: &[u8]) {
    let reader = |_: &TreePath| Ok(bytes.to_vec());
    let Ok(headers) = Headers::new(&reader) else {
        return;
    };
    let types = Types::new(&headers, &TreePath::within("a.c"), bytes);
    for name in definitions(bytes) {
        for machine in types.machines() {
            if let Ok(of) = types.layout_on(&name, machine) {
                assert!(of.size.is_multiple_of(of.align.max(1)), "{name}: {of:?}");
            }
        }
    }
    drop(types.value(&String::from_utf8_lossy(bytes)));
}

fn shown(violation: &Violation, bytes: &[u8]) {
    for mark in violation.related.iter().chain([&violation.mark]) {
        assert!(mark.span.start <= mark.span.end && mark.span.end <= bytes.len());
        let excerpts = &violation.excerpts;
        assert!(
            excerpts
                .iter()
                .any(|excerpt| excerpt.span.contains(mark.span)),
            "a mark has no lines"
        );
    }
    for excerpt in &violation.excerpts {
        assert_eq!(excerpt.text.len(), excerpt.span.end - excerpt.span.start);
    }
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

    fn over_the_corpus(name: &str, body: fn(&[u8])) {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        let files = std::fs::read_dir(corpus.join(name)).unwrap();
        let ran = files.map(|file| body(&std::fs::read(file.unwrap().path()).unwrap()));
        assert!(ran.count() > 0, "the corpus is empty");
    }

    #[test]
    fn the_corpus_of_sources_holds() {
        over_the_corpus("analyse", super::analyse);
    }

    #[test]
    fn the_corpus_of_checks_holds() {
        over_the_corpus("check", super::check);
    }

    #[test]
    fn the_corpus_of_types_holds() {
        over_the_corpus("types", super::types);
    }
}
