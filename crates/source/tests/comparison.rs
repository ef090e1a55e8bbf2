//! A change compared over two states of a tree that lie in memory.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

use std::collections::{BTreeMap, BTreeSet};

use tollgate_defect::Defect;
use tollgate_source::check::{ChangedFile, Checks, Comparison, Seen, Side, Snapshot};
use tollgate_source::{GrammarError, TreePath};

/// A tree in memory.
#[derive(Clone, Default)]
struct Memory(BTreeMap<TreePath, String>);

#[derive(Debug, thiserror::Error)]
enum Wrong {
    #[error(transparent)]
    Grammar(#[from] GrammarError),
    #[error(transparent)]
    Defect(#[from] Defect),
}

impl Memory {
    fn with(&self, path: &str, text: &str) -> Self {
        let mut new = self.clone();
        new.0.insert(TreePath::within(path), text.to_owned());
        new
    }
}

impl Snapshot for Memory {
    type Error = Wrong;

    fn has(&self, path: &TreePath) -> bool {
        self.0.contains_key(path)
    }

    fn texts(&self, paths: &[TreePath]) -> Result<Vec<Option<Vec<u8>>>, Wrong> {
        let text = |path: &TreePath| Some(self.0.get(path)?.clone().into_bytes());
        Ok(paths.iter().map(text).collect())
    }

    fn names(&self, folder: &TreePath) -> Result<BTreeSet<Vec<u8>>, Wrong> {
        let below = self.0.keys().filter_map(|path| path.below(folder));
        let first = below.filter_map(|path| path.parts().next().map(<[u8]>::to_vec));
        Ok(first.collect())
    }

    fn below(&self, folder: &TreePath) -> Vec<TreePath> {
        let all = self.0.keys();
        let below = all.filter(|path| path.below(folder).is_some());
        below.cloned().collect()
    }

    fn seen(&self, names: &BTreeSet<String>, held: &BTreeSet<&TreePath>) -> Result<Seen, Wrong> {
        let mut seen = Seen::default();
        for (path, text) in &self.0 {
            seen.look(text.as_bytes(), names, !held.contains(path));
        }
        Ok(seen)
    }

    fn spread<P: Sync, T: Send>(&self, parts: &[P], work: impl Fn(&P) -> T + Sync) -> Vec<T> {
        parts.iter().map(work).collect()
    }
}

const FILE: &str = "linux/fs/a.c";

fn kernel() -> Memory {
    let uaccess =
        "#define my_begin(p, n) user_access_begin(p, n)\n#define my_end() user_access_end()\n";
    Memory::default()
        .with("linux/Kconfig", "")
        .with("linux/include/linux/uaccess.h", uaccess)
        .with(
            "linux/include/linux/quick.h",
            "static inline int quick(int a)\n{\n\treturn a;\n}\nint slow(int a);\n",
        )
}

/// A window around `inside`.
fn window(inside: &str, end: &str) -> String {
    format!(
        "int f(int __user *p, int a)\n{{\n\tif (!my_begin(p, 4))\n\t\treturn -EFAULT;\n\
         \tunsafe_put_user({inside}, p, out);\n\t{end}\n\treturn 0;\nout:\n\tmy_end();\n\treturn -EFAULT;\n}}\n"
    )
}

fn compared(trees: [&Memory; 2], texts: [&str; 2], top: &str) -> Checks {
    let [old, new] = texts;
    let top = TreePath::within(top);
    let side = |tree: &Memory, text: &str| Side::new(tree.with(FILE, text), &top);
    Comparison {
        before: side(trees[0], old),
        after: side(trees[1], new),
        files: vec![ChangedFile {
            path: TreePath::within(FILE),
            before: Some(old.as_bytes().to_vec()),
            after: Some(new.as_bytes().to_vec()),
            unread: None,
        }],
        others: vec![TreePath::within("linux/Kconfig")],
        heard: None,
        top,
    }
    .checks()
    .unwrap()
}

fn found(checks: &Checks) -> Vec<String> {
    let all = checks.violations.iter();
    all.map(|one| format!("{} {}", one.path, one.violation.rule))
        .collect()
}

#[test]
fn what_both_sides_have_is_not_said() {
    let tree = kernel();
    let (right, wrong) = (window("1", "my_end();"), window("1", ""));
    let both = [&tree, &tree];
    let new = compared(both, [&right, &wrong], "linux");
    assert_eq!(found(&new), ["fs/a.c window-left-open"]);
    assert_eq!(new.left_out.not_c, ["Kconfig"]);
    assert_eq!(found(&compared(both, [&wrong, &wrong], "linux")), [""; 0]);
    // Below a folder of the tree, the tree is found above it.
    let deep = compared(both, [&right, &wrong], "linux/fs");
    assert_eq!(found(&deep), ["a.c window-left-open"]);
    // Elsewhere nobody says what my_begin() opens.
    let none = Memory::default();
    let untaught = compared([&none, &none], [&right, &wrong], "linux");
    assert_ne!(found(&untaught), found(&new));
}

#[test]
fn headers_of_the_side_say_what_is_a_call() {
    let tree = kernel();
    let right = window("1", "my_end();");
    let said = |inside: &str| {
        let new = window(inside, "my_end();");
        found(&compared([&tree, &tree], [&right, &new], "linux"))
    };
    assert_eq!(said("quick(a)"), [""; 0]);
    assert_eq!(said("slow(a)"), ["fs/a.c argument-in-window"]);
    let undefined = said("nowhere(a)");
    assert!(
        undefined.contains(&"fs/a.c undefined-call".to_owned()),
        "{undefined:?}"
    );
}
