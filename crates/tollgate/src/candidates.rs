//! The functions of a tree that open the gate more than once, for a profile to be
//! explained by.

use std::path::Path;

use memchr::memmem;
use rayon::prelude::*;
use tollgate_profile::Candidate;
use tollgate_source::{Finding, TreePath, Vocabulary, callers_of};

use crate::cmd::scan::with_windows;
use crate::scanner;
use crate::tree::Tree;

/// All of them, where a window saves something, with who calls them: of a function in
/// a header also who calls it in other files.
///
/// # Errors
/// When the tree cannot be read.
pub(crate) fn of(root: &Path) -> anyhow::Result<Vec<Candidate>> {
    let tree = Tree::open(root)?;
    let mut scan = scanner::scan(&tree)?;
    let wanted = with_windows(&tree)?;
    if !wanted.is_empty() {
        scan.keep_architectures(&wanted);
    }
    let mut all: Vec<Candidate> = scan.findings.iter().map(candidate).collect();
    let headers: Vec<usize> = (0..)
        .zip(&scan.findings)
        .filter(|(_, finding): &(usize, &Finding)| finding.path.is_header())
        .map(|(at, _)| at)
        .collect();
    let vocabulary = Vocabulary::builtin()?;
    let names: Vec<(usize, String)> = headers
        .iter()
        .filter_map(|at| Some((*at, all.get(*at)?.function.clone())))
        .collect();
    let paths = tree.sources().paths;
    let found: Vec<(usize, Vec<String>)> = paths
        .par_iter()
        .flat_map_iter(|path| callers_in(&tree, path, &names, &vocabulary))
        .collect();
    for (at, callers) in found {
        let Some(candidate) = all.get_mut(at) else {
            continue;
        };
        for caller in callers {
            if !candidate.callers.contains(&caller) {
                candidate.callers.push(caller);
            }
        }
    }
    Ok(all)
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
