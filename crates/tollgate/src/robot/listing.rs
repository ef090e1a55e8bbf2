//! The function around what a tool says, as the mail lists it.

use std::collections::BTreeSet;

use tollgate_lab::job::ObjectResult;
use tollgate_robot::{Diagnostic, Listing, PatchReport};
use tollgate_source::{LineIndex, Vocabulary, bodies, tokens};

use super::context::{ROOT, Robot};
use super::series::Patch;

/// Lines of a listing before and behind the wrong ones, where no function is known.
const AROUND: u32 = 8;

impl Robot<'_> {
    /// Adds the lines around the first of some words of a tool, each once.
    pub(super) fn listing(
        &self,
        cell: &str,
        result: &ObjectResult,
        fresh: &[&Diagnostic],
        patch: &Patch,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let Some(first) = fresh
            .iter()
            .find(|one| one.line > 0 && !one.file.is_empty())
        else {
            return Ok(());
        };
        let known = |listing: &Listing| listing.file == first.file && listing.line == first.line;
        if judged.listings.iter().any(known) {
            return Ok(());
        }
        let Some(text) = self.text_of(&first.file, patch, true) else {
            return Ok(());
        };
        let wrong: BTreeSet<u32> = fresh
            .iter()
            .filter(|one| one.file == first.file)
            .map(|one| one.line)
            .collect();
        let around = (first.line.saturating_sub(AROUND), first.line + AROUND);
        let (from, to) = function_at(&text, first.line)
            .map_or(around, |(_, from, to)| (from.saturating_sub(1), to + 2));
        let text = String::from_utf8_lossy(&text).into_owned();
        let numbered = (1_u32..).zip(text.lines());
        let lines = numbered.filter(|(number, _)| (from..=to).contains(number));
        let lines: Vec<_> = lines
            .map(|(number, line)| (number, wrong.contains(&number), line.to_owned()))
            .collect();
        let said = result.said.iter().flat_map(|(tool, said)| {
            let own: BTreeSet<usize> = fresh
                .iter()
                .filter(|one| one.tool == *tool)
                .map(|one| one.at)
                .collect();
            let marked = said
                .lines()
                .enumerate()
                .map(move |(at, line)| (own.contains(&at), line.replace(&format!("{ROOT}/"), "")));
            marked.collect::<Vec<_>>()
        });
        judged.listings.push(Listing {
            file: first.file.clone(),
            name: subject_of(first),
            line: first.line,
            lines,
            said: said.collect(),
            cell: cell.to_owned(),
        });
        Ok(())
    }
}

/// The function around a line, with its first and its last line.
pub(super) fn function_at(text: &[u8], line: u32) -> Option<(String, u32, u32)> {
    let Ok(vocabulary) = Vocabulary::shared() else {
        return None;
    };
    let index = LineIndex::new(text);
    let all = bodies(text, &tokens(text, 0), vocabulary);
    let lined = all.into_iter().map(|body| {
        let from = index.position(body.header.start).line;
        (
            body.name,
            from,
            index.position(body.span.end.saturating_sub(1)).line,
        )
    });
    lined
        .into_iter()
        .find(|(_, from, to)| (*from..=*to).contains(&line))
}

/// What an editor looks for: the name in quotes of a message, else its function.
fn subject_of(one: &Diagnostic) -> String {
    let quote = |c: char| matches!(c, '\'' | '"');
    let mut parts = one.text.split(quote);
    match parts.nth(1).filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => one.function.clone(),
    }
}
