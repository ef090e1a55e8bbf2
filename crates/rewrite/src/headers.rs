//! The text in which the types of a file may be defined: the file, the headers
//! that it includes, and theirs.

use std::collections::BTreeSet;

use tollgate_source::TreePath;

use crate::fix::ReadTree;
use crate::include;

/// How many files are read for the types of one.
const FILES: usize = 1500;

/// The bytes of a file and of the headers that it includes, nearest first. A
/// header that cannot be read is left out: what it defines is then not known.
pub(crate) fn texts(tree: &dyn ReadTree, path: &TreePath, text: &[u8]) -> Vec<Vec<u8>> {
    let mut found = vec![text.to_vec()];
    let mut seen = BTreeSet::from([path.clone()]);
    let mut waiting = includes(path, path, text);
    while !waiting.is_empty() && found.len() < FILES {
        let mut next = Vec::new();
        for places in waiting {
            let first = places
                .into_iter()
                .filter(|place| seen.insert(place.clone()))
                .find_map(|place| Some((tree.read(&place).ok()?, place)));
            if let Some((header, place)) = first.filter(|_| found.len() < FILES) {
                next.extend(includes(path, &place, &header));
                found.push(header);
            }
        }
        waiting = next;
    }
    found
}

/// Where each header that `from` includes may be, the likeliest first.
fn includes(root: &TreePath, from: &TreePath, text: &[u8]) -> Vec<Vec<TreePath>> {
    let folder = from.folder();
    let mut own = Vec::new();
    for name in include::all(text) {
        let inner = name.trim_matches(['"', '<', '>']);
        let mut places = Vec::new();
        if name.starts_with('"') {
            places.push(folder.joined(inner.as_bytes()));
        }
        places.extend(searched(root, inner));
        own.push(places);
    }
    own
}

/// The folders that every file of the kernel is compiled with. `asm/` is another
/// header on each architecture: it is read only for the files of one.
fn searched(root: &TreePath, name: &str) -> Vec<TreePath> {
    let mut folders = vec![TreePath::top()];
    let mut parts = root.parts();
    if let (Some(b"arch"), Some(architecture)) = (parts.next(), parts.next()) {
        folders.push(TreePath::within("arch").joined(architecture));
    }
    let both =
        |folder: &TreePath| ["include", "include/uapi"].map(|own| folder.joined(own.as_bytes()));
    let folders = folders.iter().flat_map(both);
    folders
        .map(|folder| folder.joined(name.as_bytes()))
        .collect()
}
