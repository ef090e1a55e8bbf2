//! A file with a function to be fixed, and a tree for it.

use std::io;

use tollgate_rewrite::{FixError, Patched, Reason, Request, Target, UACCESS, fix};
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
    fix_by(HEADER, file, function, request)
}

/// The same in a tree whose uaccess.h has that.
pub(crate) fn fix_by(
    header: &str,
    file: &str,
    function: &str,
    request: &Request,
) -> Result<Patched, FixError> {
    let tree = |path: &TreePath| match &*path.lossy() {
        UACCESS => Ok(header.as_bytes().to_vec()),
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

/// The body of `f` after the fix.
pub(crate) fn fixed(body: &str, request: &Request) -> String {
    let patched = fix_in(&file(body), "f", request).unwrap();
    let text = String::from_utf8(patched.rewritten).unwrap();
    text.split_once("\n{\n").unwrap().1.to_owned()
}

/// Why `f` with that body is not rewritten.
pub(crate) fn refused(body: &str) -> String {
    fix_in(&file(body), "f", &Request::default())
        .unwrap_err()
        .to_string()
}

/// The reason for which a run is refused, if that is the answer.
#[allow(dead_code, reason = "not every test asks for it")]
pub(crate) fn reason_of(answer: Result<Patched, FixError>) -> Option<Reason> {
    match answer {
        Err(FixError::Refused { refusal, .. }) => Some(refusal.reason),
        _ => None,
    }
}

/// Who takes it that the accesses stop at the first fault.
pub(crate) fn stopping() -> Request {
    Request {
        stop_at_first_fault: true,
        ..Request::default()
    }
}
