//! The sentences that several forms have.

use tollgate_robot::{Check, Finding, LineState, PatchReport, Status};

use crate::text::plural;

/// One line of what was said, without a place: `error: text [cells]`.
pub(super) fn sentence(finding: &Finding) -> String {
    let kind = match &finding.diagnostic {
        Some(said) if !said.kind.is_empty() => format!(" [-W{}]", said.kind),
        _ => String::new(),
    };
    let tool = match &finding.diagnostic {
        Some(said) => format!(" ({})", said.tool.name()),
        None => String::new(),
    };
    format!("{}: {}{kind}{tool}", finding.kind.name(), finding.message)
}

/// `fs/x.c:12:3`, as far as it is known.
pub(super) fn place(finding: &Finding) -> String {
    let column = finding.diagnostic.as_ref().map_or(0, |said| said.column);
    match (finding.file.is_empty(), finding.line, column) {
        (true, ..) => finding.object.clone(),
        (false, 0, _) => finding.file.clone(),
        (false, line, 0) => format!("{}:{line}", finding.file),
        (false, line, column) => format!("{}:{line}:{column}", finding.file),
    }
}

/// The sentence behind its place, where there is one.
pub(super) fn located(finding: &Finding) -> String {
    match place(finding).as_str() {
        "" => sentence(finding),
        place => format!("{place}: {}", sentence(finding)),
    }
}

/// `12-14, 20`
pub(super) fn ranges(lines: &[(u32, u32)]) -> String {
    let one = |(from, to): &(u32, u32)| match from == to {
        true => from.to_string(),
        false => format!("{from}-{to}"),
    };
    lines.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The number of edited lines.
pub(super) fn count(lines: &[(u32, u32)]) -> u32 {
    lines.iter().map(|(from, to)| to - from + 1).sum()
}

/// What a patch came to, in one line.
pub(super) fn summary(patch: &PatchReport) -> String {
    let cells = cells_of(patch);
    match patch.status() {
        Status::Findings => {
            let dead = patch
                .lines
                .iter()
                .filter(|line| matches!(line.state, LineState::Dead { .. }));
            let bad = patch
                .checks
                .iter()
                .filter(|check| check.status == Status::Findings);
            let found = patch.findings.len() + dead.count() + bad.count();
            format!(
                "{found} new and wrong, in {} of {} cells",
                cells_with(patch).len(),
                cells.len()
            )
        }
        Status::CouldNotTell => format!("could not tell: {}", untold(patch)),
        Status::Clean if patch.objects.is_empty() => {
            "clean: nothing that it edits is compiled".to_owned()
        }
        Status::Clean => format!(
            "clean: every edited line compiled, nothing new said, in {}",
            cells.join(", ")
        ),
    }
}

fn untold(patch: &PatchReport) -> String {
    let unreached = patch
        .lines
        .iter()
        .filter(|line| matches!(line.state, LineState::Unreached { .. }));
    let short = patch.lines.iter().filter(|line| match &line.state {
        LineState::Compiled { missing, .. } => !missing.is_empty(),
        _ => false,
    });
    let (unreached, short) = (unreached.count(), short.count());
    let mut parts = Vec::new();
    if unreached > 0 {
        let ranges = plural(unreached, "range");
        parts.push(format!("{ranges} of edited lines compiled by none"));
    }
    if short > 0 {
        parts.push(format!("{short} not in every value of the axes"));
    }
    if !patch.unbuilt.is_empty() {
        parts.push(format!("{} not built", patch.unbuilt.len()));
    }
    let unknown = patch
        .checks
        .iter()
        .filter(|check| check.status == Status::CouldNotTell);
    parts.extend(unknown.map(|check| check.tool.clone()));
    parts.join(", ")
}

fn cells_of(patch: &PatchReport) -> Vec<&str> {
    let built = patch.objects.iter().map(|one| one.cell.as_str());
    let mut cells: Vec<&str> = built.chain(cells_with(patch)).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// The cells in which something is found.
fn cells_with(patch: &PatchReport) -> Vec<&str> {
    let own = patch
        .findings
        .iter()
        .flat_map(|one| std::iter::once(&one.cell).chain(&one.also));
    let own = own.map(String::as_str).filter(|cell| !cell.is_empty());
    let mut cells: Vec<&str> = own.collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// What a check of the tree's own came to.
pub(super) fn check_word(check: &Check) -> &'static str {
    match check.status {
        Status::Clean => "ok",
        Status::CouldNotTell => "could not tell",
        Status::Findings => "says",
    }
}
