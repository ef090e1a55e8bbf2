//! The folders that a Makefile of the kernel has its files compiled with.

use crate::path::TreePath;

/// What a folder's Makefile may be called; kbuild takes the first that is there
/// (Documentation/kbuild/makefiles.rst).
pub(super) const NAMES: [&[u8]; 2] = [b"Kbuild", b"Makefile"];

/// The folders behind each `-I` of a Makefile in `own`, in their order. What only a
/// variable says is left out, but for the tree (`$(srctree)`) and the Makefile's own
/// folder (`$(src)`); other paths count from the top of the tree, where make runs.
pub(super) fn included(text: &[u8], own: &TreePath) -> Vec<TreePath> {
    let lines = text.split(|byte| *byte == b'\n');
    let said = lines.filter_map(|line| line.split(|byte| *byte == b'#').next());
    let mut found = Vec::new();
    for line in said {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|w| !w.is_empty());
        while let Some(word) = words.next() {
            let named = match word.strip_prefix(b"-I") {
                Some(b"") => words.next(),
                rest => rest,
            };
            found.extend(named.and_then(|name| folder(name, own)));
        }
    }
    found
}

fn folder(name: &[u8], own: &TreePath) -> Option<TreePath> {
    let top = TreePath::top();
    let (from, rest) = match name {
        [b'$', ..] => {
            let at = name.iter().position(|byte| *byte == b')')?;
            let (variable, rest) = name.split_at(at + 1);
            match variable {
                b"$(src)" => (own, rest),
                b"$(srctree)" => match rest.strip_prefix(b"/$(src)") {
                    Some(rest) => (own, rest),
                    None => (&top, rest),
                },
                _ => return None,
            }
        }
        [b'/', ..] => return None,
        _ => (&top, name),
    };
    (!rest.contains(&b'$')).then(|| from.joined(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_the_trees_and_the_makefiles_own() {
        let own = TreePath::within("fs/xfs");
        let text = b"ccflags-y += -I $(src) -I $(src)/libxfs # -I$(src)/none\n\
            subdir-ccflags-y := -I$(srctree)/$(src)/include \\\n\t-I$(srctree)/include/drm -Iinclude/x\n\
            ccflags-y += -I$(FULL)/inc -I/usr/include -I$(src)/$(V) -I\n";
        let found = included(text, &own);
        let found: Vec<String> = found.iter().map(|own| own.lossy().into_owned()).collect();
        let wanted = [
            "fs/xfs",
            "fs/xfs/libxfs",
            "fs/xfs/include",
            "include/drm",
            "include/x",
        ];
        assert_eq!(found, wanted);
    }
}
