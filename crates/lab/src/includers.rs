//! Which objects may compile a file: its own, or those of the files that include it.

use rayon::prelude::*;
use tollgate_arch::Architecture;
use tollgate_source::TreePath;

use crate::tree::Tree;

/// How many files that include a header are tried.
const INCLUDERS: usize = 6;

/// The objects that may compile the file: its own, or those of its includers.
#[must_use]
pub fn objects_of(tree: &Tree, architecture: &Architecture, path: &TreePath) -> Vec<String> {
    let includers = includers(tree, architecture, path);
    let is_own = !path.is_header() && includers.is_empty();
    let own = is_own.then(|| path.clone());
    let all = own.into_iter().chain(includers).take(INCLUDERS);
    // make knows no object by a name that is no text.
    all.filter_map(|file| Some(format!("{}.o", file.as_text()?.strip_suffix(".c")?)))
        .collect()
}

/// C files that include it, nearest first; of a `.c` file only from its folder.
fn includers(tree: &Tree, architecture: &Architecture, path: &TreePath) -> Vec<TreePath> {
    let (folder, name) = (path.folder(), path.file());
    let stem = stem(name);
    let sources = tree.sources().paths;
    let may = |file: &&TreePath| {
        let own = path.is_header() || file.folder() == folder;
        own && !file.is_header() && *file != path && !is_foreign(architecture, file)
    };
    let mut found: Vec<TreePath> = sources
        .par_iter()
        .filter(may)
        // One that cannot be read cannot be compiled either.
        .filter(|file| matches!(tree.source(file), Ok(text) if includes(&text, name)))
        .cloned()
        .collect();
    let shared = |file: &TreePath| {
        let both = file.parts().zip(path.parts());
        both.take_while(|(a, b)| a == b).count()
    };
    found.sort_by_cached_key(|file| {
        let same = self::stem(file.file()) == stem;
        (!same, std::cmp::Reverse(shared(file)), file.clone())
    });
    found
}

/// A file's name up to its first dot.
fn stem(name: &[u8]) -> &[u8] {
    name.split(|byte| *byte == b'.').next().unwrap_or(name)
}

/// Whether a kernel of this architecture has no object of the file, or one that is
/// compiled with rules of its own.
fn is_foreign(architecture: &Architecture, file: &TreePath) -> bool {
    let own = format!("arch/{}/", architecture.name);
    let other = file.is_below("arch/") && !file.is_below(&own);
    let mut apart = architecture.own_rules();
    other || apart.any(|folder| file.is_below(&folder))
}

/// Whether an `#include` line of the text ends in that file name.
fn includes(text: &[u8], name: &[u8]) -> bool {
    let named = |line: &[u8]| {
        let path = line.trim_ascii().strip_prefix(b"#include");
        let path = path.map(<[u8]>::trim_ascii_start);
        let (open, rest) = path.and_then(<[u8]>::split_first)?;
        let end = rest.iter().position(|byte| matches!(byte, b'"' | b'>'));
        let path = rest.get(..end.unwrap_or(rest.len()))?;
        let file = path.rsplit(|byte| *byte == b'/').next()?;
        Some(matches!(open, b'"' | b'<') && file == name)
    };
    let mut lines = text.split(|byte| *byte == b'\n');
    memchr::memmem::find(text, name).is_some() && lines.any(|line| named(line) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_include_is_known_by_its_last_part() {
        assert!(includes(b"#include <linux/eventpoll.h>\n", b"eventpoll.h"));
        assert!(includes(b"#include \"pcm_compat.c\"\n", b"pcm_compat.c"));
        assert!(!includes(
            b"#include <linux/xeventpoll.h>\n",
            b"eventpoll.h"
        ));
        assert!(!includes(b"// eventpoll.h\n", b"eventpoll.h"));
    }
}
