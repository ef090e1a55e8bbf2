//! A file with a function to be fixed, and a tree for it.

use std::io;

use tollgate_rewrite::{FixError, Patched, Request, Target, UACCESS, fix};
use tollgate_source::TreePath;

/// What the tree's uaccess.h has.
pub(crate) const HEADER: &str = "\
#define user_access_begin(ptr,len) access_ok(ptr, len)
#define user_access_end() do { } while (0)
#define user_write_access_begin user_access_begin
#define user_write_access_end user_access_end
#define user_read_access_begin user_access_begin
#define user_read_access_end user_access_end
";

/// What comes of a function of a file.
pub(crate) fn fix_in(file: &str, function: &str, request: &Request) -> Result<Patched, FixError> {
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(HEADER.as_bytes().to_vec()),
        "f.c" => Ok(file.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let target = Target {
        path: TreePath::within("f.c"),
        function: function.to_owned(),
    };
    fix(&tree, &target, request)
}

/// The function `f` with that body, in a file that includes what it needs.
pub(crate) fn file(body: &str) -> String {
    format!(
        "#include <linux/uaccess.h>\n\nint f(struct s __user *p, struct s *k, int c)\n{{\n{body}}}\n"
    )
}
