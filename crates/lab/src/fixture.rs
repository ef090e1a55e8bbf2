//! The smallest folder that counts as a kernel tree, for tests.

use std::fs;
use std::path::Path;

use crate::tree::Tree;

/// Makes the tree at `root`: Linux 6.12.7-rc1 with one header and one program.
pub(crate) fn kernel(root: &Path) -> Tree {
    for name in ["scripts", "arch/x86/include/generated", "include/linux"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    let makefile = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 7\nEXTRAVERSION = -rc1\n";
    fs::write(root.join("Makefile"), makefile).unwrap();
    fs::write(root.join("Kconfig"), "").unwrap();
    fs::write(root.join("include/linux/a.h"), "one\ntwo\nthree\n").unwrap();
    Tree::open(root).unwrap()
}
