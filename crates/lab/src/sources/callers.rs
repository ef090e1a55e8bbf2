//! Who calls the inline functions of headers.

use memchr::memmem;
use rayon::prelude::*;
use tollgate_defect::Defect;
use tollgate_source::{Finding, Scan, TreePath, Vocabulary, callers_of};

use crate::progress::Count;
use crate::tree::Tree;

/// Adds to functions of headers who calls them in other files: an inline one is part
/// of the functions that it was put into.
///
/// # Errors
/// When the vocabulary is not what it should be.
pub fn with_callers(tree: &Tree, scan: &mut Scan, meter: &dyn Count) -> Result<(), Defect> {
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
    meter.expect(paths.len());
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

/// What a file that could not be read would have said is missing; the scan has named
/// the file.
fn callers_in(
    tree: &Tree,
    path: &TreePath,
    names: &[(usize, String)],
    vocabulary: &Vocabulary,
) -> Vec<(usize, Vec<String>)> {
    let Ok(text) = tree.source(path) else {
        return Vec::new();
    };
    let held = names
        .iter()
        .filter(|(_, name)| memmem::find(&text, name.as_bytes()).is_some());
    held.map(|(at, name)| (*at, callers_of(&text, name, vocabulary)))
        .filter(|(_, callers)| !callers.is_empty())
        .collect()
}
