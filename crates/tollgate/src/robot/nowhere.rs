//! Names that lead nowhere: options that no Kconfig file defines, exports that are
//! gone and still used.

use std::collections::{BTreeMap, BTreeSet};

use tollgate_lab::job::{CellResult, Outcome};
use tollgate_robot::{Finding, FindingKind, PatchReport};
use tollgate_source::{LineIndex, TokenKind, TreePath, tokens};

use super::Robot;
use super::atlas::Atlas;
use super::build::Sides;
use super::plan::Plan;
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

    /// Exports that are gone and that something still uses.
    pub(super) fn lost_exports(
        &self,
        sides: &[Sides],
        plan: &Plan,
        atlas: &Atlas,
        patch: &Patch,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let mut lost: BTreeMap<String, (String, String)> = BTreeMap::new();
        for one in sides {
            let Some(seat) = plan.seats.get(one.seat) else {
                continue;
            };
            let exports = |side: &CellResult| -> BTreeSet<String> {
                side.objects
                    .values()
                    .flat_map(|one| one.exports.clone())
                    .collect()
            };
            let broken = one
                .after
                .objects
                .values()
                .any(|one| one.outcome != Outcome::Built);
            if broken {
                continue;
            }
            for name in exports(&one.before).difference(&exports(&one.after)) {
                let of = one
                    .before
                    .objects
                    .iter()
                    .find(|(_, built)| built.exports.contains(name));
                let object = of.map_or(String::new(), |(object, _)| object.clone());
                lost.entry(name.clone())
                    .or_insert((seat.cell.name.clone(), object));
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        let users = self.users(&lost.keys().cloned().collect(), patch)?;
        for (name, (cell, object)) in lost {
            let whole = atlas.kbuild.wholes(&object);
            let outside = users.get(&name).into_iter().flatten().find(|user| {
                let own = super::objects::object_of(user);
                own.is_some_and(|own| {
                    own != object
                        && atlas.kbuild.condition(&own).is_some()
                        && !atlas
                            .kbuild
                            .wholes(&own)
                            .iter()
                            .any(|one| whole.contains(one))
                })
            });
            if let Some(user) = outside {
                judged.findings.push(Finding {
                    kind: FindingKind::LostExport,
                    message: format!("{object} no longer exports {name}, which {user} uses: as a module that would not load"),
                    cell,
                    object: object.clone(),
                    diagnostic: None,
                    file: object.replace(".o", ".c"),
                    line: 0,
                    also: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// The C files that have some words in their code, after the patch.
    fn users(
        &self,
        words: &BTreeSet<String>,
        patch: &Patch,
    ) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
        use rayon::prelude::*;
        let sources = self.tree.sources().paths;
        let code: Vec<&TreePath> = sources.iter().filter(|path| !path.is_header()).collect();
        let read = |path: &&TreePath| -> anyhow::Result<Vec<(String, String)>> {
            self.runner.interrupt().check()?;
            let text = match patch.files.get(*path) {
                Some((_, after)) => after.clone().unwrap_or_else(Vec::new),
                None => self.tree.source(path)?,
            };
            let there = |word: &&String| memchr::memmem::find(&text, word.as_bytes()).is_some();
            let maybe: Vec<&String> = words.iter().filter(there).collect();
            if maybe.is_empty() {
                return Ok(Vec::new());
            }
            let used: BTreeSet<&[u8]> = tokens(&text, 0)
                .iter()
                .filter(|token| token.kind == TokenKind::Word)
                .filter_map(|token| text.get(token.span.start..token.span.end))
                .collect();
            let own = maybe
                .into_iter()
                .filter(|word| used.contains(word.as_bytes()));
            Ok(own.map(|word| (word.clone(), path.to_string())).collect())
        };
        let found: Vec<Vec<(String, String)>> =
            code.par_iter().map(read).collect::<anyhow::Result<_>>()?;
        let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (word, path) in found.into_iter().flatten() {
            users.entry(word).or_default().push(path);
        }
        Ok(users)
    }
}

/// The options that a file names, with their lines, without `CONFIG_`.
fn options_in(path: &str, text: &[u8]) -> Vec<(u32, String)> {
    use super::atlas::{Sort, sort};
    let mut found = Vec::new();
    let mut take = |line: u32, words: &str| {
        for part in words.split("CONFIG_").skip(1) {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
            if !name.is_empty()
                && !part
                    .get(name.len()..)
                    .is_some_and(|rest| rest.starts_with("##"))
            {
                found.push((
                    line,
                    name.strip_suffix("_MODULE").unwrap_or(name).to_owned(),
                ));
            }
        }
    };
    match sort(path) {
        Sort::Code => {
            let index = LineIndex::new(text);
            for token in tokens(text, 0) {
                if matches!(token.kind, TokenKind::Word | TokenKind::Directive) {
                    let words = text
                        .get(token.span.start..token.span.end)
                        .unwrap_or_default();
                    let words = String::from_utf8_lossy(words).into_owned();
                    if token.kind == TokenKind::Directive || words.starts_with("CONFIG_") {
                        take(index.position(token.span.start).line, &words);
                    }
                }
            }
        }
        Sort::Kbuild => {
            let text = String::from_utf8_lossy(text).into_owned();
            for (number, line) in (1_u32..).zip(text.lines()) {
                take(number, line.split('#').next().unwrap_or(line));
            }
        }
        Sort::Kconfig => {
            let mut own = tollgate_robot::Kconfig::default();
            own.add(path, &String::from_utf8_lossy(text));
            for entry in own.in_file(path) {
                for option in entry.depends.options() {
                    found.push((entry.lines.0, option.to_owned()));
                }
            }
        }
        _ => {}
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
