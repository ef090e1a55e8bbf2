//! The functions of a tree that open the gate more than once, for a profile to be
//! explained by.

use std::path::Path;

use memchr::memmem;
use rayon::prelude::*;
use tollgate_profile::Candidate;
use tollgate_source::{Finding, Scan, TreePath, Vocabulary, callers_of};

use crate::cmd::scan::with_windows;
use crate::progress::Meter;
use crate::scanner;
use crate::term::Term;
use crate::tree::Tree;

/// All of them, where a window saves something, with who calls them: of a function in
/// a header also who calls it in other files.
///
/// # Errors
/// When the tree cannot be read.
pub(crate) fn of(root: &Path, term: &Term) -> anyhow::Result<Vec<Candidate>> {
    let tree = Tree::open(root)?;
    let mut scan = scanner::scan(&tree, &Meter::new(term, "scan", "files", None))?;
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

/// Adds to functions of headers who calls them in other files: an inline one is part
/// of the functions that it was put into.
///
/// # Errors
/// When the vocabulary is not what it should be.
pub(crate) fn with_callers(tree: &Tree, scan: &mut Scan, meter: &Meter) -> anyhow::Result<()> {
    let vocabulary = Vocabulary::builtin()?;
    let findings = (0..).zip(&scan.findings);
    let names: Vec<(usize, String)> = findings
        .filter(|(_, finding): &(usize, &Finding)| finding.path.is_header())
        .map(|(at, finding)| (at, finding.function.name.clone()))
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    let paths = tree.sources().paths;
    meter.begin(paths.len());
    let found: Vec<(usize, Vec<String>)> = paths
        .par_iter()
        .flat_map_iter(|path| {
            meter.advance(1);
            callers_in(tree, path, &names, &vocabulary)
        })
        .collect();
    for (at, callers) in found {
        let Some(finding) = scan.findings.get_mut(at) else {
            continue;
        };
        for caller in callers {
            if !finding.function.callers.contains(&caller) {
                finding.function.callers.push(caller);
            }
        }
    }
    Ok(())
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

/// What a file that could not be read would have said is missing; the scan has named
/// the file.
fn callers_in(
    tree: &Tree,
    path: &TreePath,
    names: &[(usize, String)],
    vocabulary: &Vocabulary,
) -> Vec<(usize, Vec<String>)> {
    let Ok(text) = tree.read(path) else {
        return Vec::new();
    };
    let held = names
        .iter()
        .filter(|(_, name)| memmem::find(&text, name.as_bytes()).is_some());
    held.map(|(at, name)| (*at, callers_of(&text, name, vocabulary)))
        .filter(|(_, callers)| !callers.is_empty())
        .collect()
}
