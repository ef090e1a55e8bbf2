//! The functions of a tree that open the gate more than once, for a profile to be
//! explained by.

use std::path::Path;

use tollgate_lab::sources::{Sizes, scan, with_callers, with_windows};
use tollgate_lab::tree::Tree;
use tollgate_profile::Candidate;
use tollgate_source::Finding;

use crate::progress::Meter;
use crate::term::Term;

/// All of them, where a window saves something, with who calls them: of a function in
/// a header also who calls it in other files.
///
/// # Errors
/// When the tree cannot be read.
pub(crate) fn of(root: &Path, term: &Term) -> anyhow::Result<Vec<Candidate>> {
    let tree = Tree::open(root)?;
    let mut scan = scan(
        &tree,
        Sizes::OfNeighbours,
        &Meter::new(term, "scan", "files", Some(0)),
    )?;
    let wanted = with_windows(&tree)?;
    if !wanted.is_empty() {
        scan.keep_architectures(&wanted);
    }
    with_callers(
        &tree,
        &mut scan,
        &Meter::new(term, "who calls headers", "files", Some(0)),
    )?;
    Ok(scan.findings.iter().map(candidate).collect())
}

fn candidate(finding: &Finding) -> Candidate {
    let function = &finding.function;
    let sites = function.runs.iter().flat_map(|run| &run.sites);
    let mut calls: Vec<String> = sites.map(|site| site.call.clone()).collect();
    calls.sort_unstable();
    calls.dedup();
    Candidate {
        path: finding.path.to_string(),
        line: function.position.line as usize,
        function: function.name.clone(),
        callers: function.callers.clone(),
        calls,
        windows_saved: function.windows_saved(),
    }
}
