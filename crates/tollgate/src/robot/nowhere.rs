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
            for (line, option) in options_in(name, after) {
                let own = edits.new.contains(&line) && !known.contains(&option);
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

/// The options that a file names, with their lines, without `CONFIG_`.
fn options_in(path: &str, text: &[u8]) -> Vec<(u32, String)> {
    match sort(path) {
        Sort::Code => in_code(text),
        Sort::Kbuild => {
            let text = String::from_utf8_lossy(text);
            tollgate_robot::Makefile::parse(&text).options
        }
        Sort::Kconfig => in_kconfig(path, &String::from_utf8_lossy(text)),
        _ => Vec::new(),
    }
}

/// The options that a Kconfig file's entries depend on or select, on each line of the
/// entry that names them.
fn in_kconfig(path: &str, text: &str) -> Vec<(u32, String)> {
    let mut own = tollgate_robot::Kconfig::default();
    own.add(path, text);
    let lines: Vec<(u32, &str)> = (1..).zip(text.lines()).collect();
    let mut found = Vec::new();
    for entry in own.in_file(path) {
        let inside = |line: &u32| (entry.lines.0..=entry.lines.1).contains(line);
        let own = lines.iter().filter(|(line, _)| inside(line));
        let own: Vec<&(u32, &str)> = own.collect();
        let selects = entry.selects.iter().map(|(option, _)| option.as_str());
        for option in entry.depends.options().into_iter().chain(selects) {
            let named = own.iter().filter(|(_, text)| names(text, option));
            found.extend(named.map(|(line, _)| (*line, option.to_owned())));
        }
    }
    found
}

/// Whether a line of a Kconfig file has an option among its words.
fn names(line: &str, option: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| word == option)
}

/// The options of a C file: what its `#if`s ask for, and words of its code.
fn in_code(text: &[u8]) -> Vec<(u32, String)> {
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
        found.extend(options.into_iter().map(|option| (line, option)));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what a new entry named was seen: its first line stood for all of it.
    #[test]
    fn an_option_of_kconfig_is_named_where_it_stands() {
        let text = "config A\n\ttristate \"a\"\n\tdepends on B && C_D\n\tselect E if F\n";
        let found = options_in("lib/Kconfig", text.as_bytes());
        let at = |name: &str| {
            let own = found.iter().filter(|(_, option)| option == name);
            own.map(|(line, _)| *line).collect::<Vec<_>>()
        };
        assert_eq!((at("B"), at("C_D"), at("E")), (vec![3], vec![3], vec![4]));
        assert_eq!((at("A"), at("C")), (Vec::new(), Vec::new()));
    }
}
