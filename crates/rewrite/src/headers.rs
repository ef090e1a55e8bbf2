//! The text in which the types of a file may be defined: the file, the headers
//! that it includes, and theirs.

use std::collections::BTreeSet;

use crate::fix::ReadTree;
use crate::include;

/// How many files are read for the types of one.
const FILES: usize = 1500;

/// The bytes of a file and of the headers that it includes, nearest first. A
/// header that cannot be read is left out: what it defines is then not known.
pub(crate) fn texts(tree: &dyn ReadTree, path: &str, text: &[u8]) -> Vec<Vec<u8>> {
    let mut found = vec![text.to_vec()];
    let mut seen = BTreeSet::from([path.to_owned()]);
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
fn includes(root: &str, from: &str, text: &[u8]) -> Vec<Vec<String>> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut own = Vec::new();
    for name in include::all(text) {
        let inner = name.trim_matches(['"', '<', '>']);
        let mut places = Vec::new();
        if name.starts_with('"') {
            places.push(joined(folder, inner));
        }
        places.extend(searched(root, inner));
        own.push(places);
    }
    own
}

/// The folders that every file of the kernel is compiled with. `asm/` is another
/// header on each architecture: it is read only for the files of one.
fn searched(root: &str, name: &str) -> Vec<String> {
    let mut folders = vec!["include".to_owned(), "include/uapi".to_owned()];
    let mut parts = root.split('/');
    if let (Some("arch"), Some(architecture)) = (parts.next(), parts.next()) {
        folders.push(format!("arch/{architecture}/include"));
        folders.push(format!("arch/{architecture}/include/uapi"));
    }
    folders
        .iter()
        .map(|folder| format!("{folder}/{name}"))
        .collect()
}

/// `folder/name` without its `..`.
fn joined(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}
