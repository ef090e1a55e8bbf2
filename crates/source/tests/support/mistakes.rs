//! What the rules say of a text by itself, and what its marks say that they should.

use std::collections::BTreeMap;

use tollgate_source::check::{
    CheckWords, Checked, Checker, Checks, Confidence, Heard, Said, Severity, Subject, Undefined,
};
use tollgate_source::{Headers, TreePath, Vocabulary};

/// The folder of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The findings of a text at the default confidence, as `RULE line`; `before`
/// is the text before a change.
pub(crate) fn found(before: Option<&str>, text: &str) -> Vec<(String, u32)> {
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let undefined = before.map(|before| undefined(&vocabulary, &words, &headers, before, text));
    let words = words.with_undefined(&undefined.unwrap_or_default());
    let mut checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    let path = TreePath::within("a.c");
    let checked = match before {
        Some(before) => checker.check_change(&path, before.as_bytes(), text.as_bytes()),
        None => checker.check(&path, text.as_bytes()),
    };
    rules_and_lines(checked)
}

fn rules_and_lines(checked: Checked) -> Vec<(String, u32)> {
    let mut checks = Checks::default();
    checks.add(&"a.c".into(), checked);
    checks.finish();
    checks.keep(Severity::Note, Confidence::Medium, &[]);
    let all = checks.violations.iter();
    all.map(|l| (l.violation.rule.clone(), l.violation.mark.position.line))
        .collect()
}

/// The findings of a text of which a tool said something.
#[allow(dead_code, reason = "not every test hears a tool")]
pub(crate) fn heard(text: &str, said: Said) -> Vec<(String, u32)> {
    let vocabulary = Vocabulary::builtin().unwrap();
    let words = CheckWords::builtin().unwrap();
    let headers = Headers::new(&tollgate_source::no_tree).unwrap();
    let path = TreePath::within("a.c");
    let mut all = Heard::default();
    all.add(Subject::File(path.clone()), said);
    let checker = Checker::new(&vocabulary, &words, &headers).unwrap();
    rules_and_lines(checker.hearing(&all).check(&path, text.as_bytes()))
}

/// What a page's code begins to call and does not define, in a tree that has
/// everything but one call of a series that was posted.
fn undefined(
    vocabulary: &Vocabulary,
    words: &CheckWords,
    headers: &Headers<'_>,
    before: &str,
    text: &str,
) -> BTreeMap<String, Undefined> {
    let checker = Checker::new(vocabulary, words, headers).unwrap();
    let mut names = checker.new_calls(before.as_bytes(), text.as_bytes());
    names.retain(|name| name == "__user_write_access_begin");
    let mentioned = checker.mentions(text.as_bytes(), &names);
    let unknown = names.into_iter().filter(|name| !mentioned.contains(name));
    unknown.map(|name| (name, Undefined::Nowhere)).collect()
}

/// `// finds: RULE` marks the line of a finding.
pub(crate) fn expected(text: &str) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some((_, names)) = line.split_once("// finds: ") {
            all.extend(
                names
                    .split_whitespace()
                    .map(|name| (name.to_owned(), number)),
            );
        }
    }
    all.sort();
    all
}

/// The rules that say something of a text.
#[allow(dead_code, reason = "not every test asks for the rules alone")]
pub(crate) fn rules(text: &str) -> Vec<String> {
    let found = found(None, text).into_iter();
    let mut found: Vec<String> = found.map(|(rule, _)| rule).collect();
    found.dedup();
    found
}

/// Each text is right, and wrong in the one way once the words are changed.
#[allow(dead_code, reason = "not every test asks for the rules alone")]
pub(crate) fn changed(rule: &str, right: &str, changes: &[(&str, &str)]) {
    assert!(rules(right).is_empty(), "{right}");
    for (was, now) in changes {
        let wrong = right.replace(was, now);
        assert_ne!(wrong, right, "{was}");
        assert_eq!(rules(&wrong), [rule], "{wrong}");
    }
}
