//! Options that no Kconfig file defines.

use std::collections::BTreeSet;

use tollgate_robot::{Finding, FindingKind, PatchReport};
use tollgate_source::{LineIndex, TokenKind, tokens};

use super::atlas::{Atlas, Sort, sort};
use super::context::Robot;
use super::series::Patch;

impl Robot<'_> {
    /// Options that edited lines name and no Kconfig file defines.
    pub(super) fn dead_options(&self, patch: &Patch, atlas: &Atlas, judged: &mut PatchReport) {
        if atlas.kconfig.is_empty() {
            return;
        }
        for (path, (before, after)) in &patch.files {
            let (Some(name), Some(after)) = (path.as_text(), after) else {
                continue;
            };
            let old = before.clone().unwrap_or_else(Vec::new);
            let edits = tollgate_robot::edits(&old, after);
            let known: BTreeSet<String> = options_in(name, &old)
                .into_iter()
                .map(|(_, option)| option)
                .collect();
            for ((first, last), option) in options_in(name, after) {
                let Some(&line) = edits.new.range(first..=last).next() else {
                    continue;
                };
                let own = !known.contains(&option);
                if own && !atlas.kconfig.has(&option) && !defines(after, &option) {
                    let message = format!(
                        "CONFIG_{option} is an option that no Kconfig file defines: what asks for it can never be"
                    );
                    judged.findings.push(Finding {
                        kind: FindingKind::DeadOption,
                        cell: String::new(),
                        object: String::new(),
                        diagnostic: None,
                        message,
                        file: name.to_owned(),
                        line,
                        also: Vec::new(),
                    });
                }
            }
        }
    }
}

/// The options that a file names, without `CONFIG_`, with the first and the last line of
/// where they are named.
fn options_in(path: &str, text: &[u8]) -> Vec<((u32, u32), String)> {
    match sort(path) {
        Sort::Code => in_code(text),
        Sort::Kbuild => {
            let text = String::from_utf8_lossy(text);
            let named = tollgate_robot::Makefile::parse(&text).options.into_iter();
            named.map(|(line, option)| ((line, line), option)).collect()
        }
        Sort::Kconfig => tollgate_robot::options_named(&String::from_utf8_lossy(text)),
        _ => Vec::new(),
    }
}

/// The options of a C file: what its `#if`s ask for, and words of its code.
fn in_code(text: &[u8]) -> Vec<((u32, u32), String)> {
    let index = LineIndex::new(text);
    let mut found = Vec::new();
    for token in tokens(text, 0) {
        let words = text
            .get(token.span.start..token.span.end)
            .unwrap_or_default();
        let words = String::from_utf8_lossy(words);
        let options = match token.kind {
            TokenKind::Directive => tollgate_robot::options_of_directive(&words),
            TokenKind::Word => tollgate_robot::option_of_word(&words).into_iter().collect(),
            _ => continue,
        };
        let line = index.position(token.span.start).line;
        found.extend(options.into_iter().map(|option| ((line, line), option)));
    }
    found
}

/// Whether a file defines the name of an option itself.
fn defines(text: &[u8], option: &str) -> bool {
    let all = tokens(text, 0);
    let mut directives = all
        .iter()
        .filter(|token| token.kind == TokenKind::Directive);
    directives.any(|token| {
        let words = text
            .get(token.span.start..token.span.end)
            .unwrap_or_default();
        let words = String::from_utf8_lossy(words).into_owned();
        let mut words = words.trim_start_matches('#').split_whitespace();
        words.next() == Some("define")
            && words
                .next()
                .is_some_and(|name| name.split('(').next() == Some(&format!("CONFIG_{option}")))
    })
}
