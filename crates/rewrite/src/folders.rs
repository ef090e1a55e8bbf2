//! Where else the compiler looks for a header in quotes: the folders that the makefiles
//! above a file name (`subdir-ccflags-y += -I$(src)`).

use tollgate_source::TreePath;

use crate::calls::is_absent;
use crate::refusal::FixError;
use crate::request::ReadTree;

/// The names that a makefile of the kernel's build has.
const NAMES: [&[u8]; 2] = [b"Kbuild", b"Makefile"];

/// The folders of a file's makefiles and of those above it.
///
/// # Errors
/// When a makefile is there and cannot be read.
pub(crate) fn named(tree: &dyn ReadTree, path: &TreePath) -> Result<Vec<TreePath>, FixError> {
    let mut found = Vec::new();
    let mut folder = path.folder();
    while folder.parts().next().is_some() {
        for path in NAMES.map(|name| folder.joined(name)) {
            match tree.read(&path) {
                Ok(text) => found.extend(of(&String::from_utf8_lossy(&text), &folder)),
                Err(error) if is_absent(&error) => {}
                Err(error) => {
                    let reason = error.to_string();
                    return Err(FixError::File { path, reason });
                }
            }
        }
        folder = folder.folder();
    }
    Ok(found)
}

/// What the flags of a makefile name in the tree; a path of other variables is unknown.
fn of(text: &str, folder: &TreePath) -> Vec<TreePath> {
    let lines = text.replace("\\\n", " ");
    let flags = lines.lines().filter_map(|line| {
        let code = line.split('#').next().unwrap_or(line);
        let (name, flags) = code.split_once('=')?;
        let name = name.trim_end_matches([':', '+', '?']).trim();
        matches!(name, "ccflags-y" | "subdir-ccflags-y").then_some(flags)
    });
    let flags = flags.flat_map(|flags| flags.split("-I").skip(1));
    let words = flags.filter_map(|rest| rest.split_whitespace().next());
    words.filter_map(|word| place(word, folder)).collect()
}

fn place(word: &str, folder: &TreePath) -> Option<TreePath> {
    let inside = word.strip_prefix("$(srctree)/");
    let rest = inside.unwrap_or(word);
    let (from, rest) = match rest.strip_prefix("$(src)") {
        Some(rest) => (folder.clone(), rest),
        None => (TreePath::top(), rest),
    };
    let known = (inside.is_some() || word != rest) && !rest.contains('$');
    known.then(|| from.joined(rest.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_makefile_above_names_where_headers_are() {
        let tree = |path: &TreePath| {
            match &*path.lossy() {
            "drivers/gpu/Makefile" => Ok(
                b"# ccflags-y += -I$(src)/no\nsubdir-ccflags-y += -Wall -I$(src) \\\n\t-I $(src)/../lib\n\
                ccflags-y := -I$(srctree)/drivers/tuners # why\nccflags-y += -I$(OTHER) -I/usr/include\nobj-y += a.o\n"
                    .to_vec(),
            ),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
        };
        let path = TreePath::within("drivers/gpu/gem/a.c");
        let found = named(&tree, &path).unwrap();
        let found: Vec<_> = found.iter().map(|path| path.lossy()).collect();
        assert_eq!(found, ["drivers/gpu", "drivers/lib", "drivers/tuners"]);
    }

    #[test]
    fn a_makefile_that_cannot_be_read_is_an_error() {
        let tree = |_: &TreePath| Err(io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(named(&tree, &TreePath::within("drivers/a.c")).is_err());
    }
}
