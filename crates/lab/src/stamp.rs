//! What tells one state of a file from another without its bytes, as git's index has it
//! (racy-git in git's documentation).

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use tollgate_defect::answer;

/// A file that changed less than so many seconds before it was read is read again next
/// time. It may change again within the same tick of its file system's clock; and one
/// that a program has mapped changes without a new time until the kernel has written it
/// out, which it does after 30 seconds and looks for every 5
/// (Documentation/admin-guide/sysctl/vm.rst, dirty_expire_centisecs).
pub(crate) const SETTLED: i64 = 60;

/// Device, inode, size, when its content and when anything of it changed last, in seconds
/// and nanoseconds, and its mode. When anything of it changed no program can set.
pub(crate) type Stamp = (u64, u64, u64, i64, i64, i64, i64, u32);

pub(crate) fn stamp(about: &fs::Metadata) -> Stamp {
    (
        about.dev(),
        about.ino(),
        about.size(),
        about.mtime(),
        about.mtime_nsec(),
        about.ctime(),
        about.ctime_nsec(),
        about.mode(),
    )
}

/// Whether the stamp of a file that is read from `began` on, in seconds since 1970, stands
/// for its bytes.
pub(crate) fn is_settled(about: &fs::Metadata, began: i64) -> bool {
    about.ctime() + SETTLED < began
}

/// Now, in seconds since 1970. By a clock before that no file has settled.
pub(crate) fn now() -> i64 {
    let since = answer::there(SystemTime::now().duration_since(UNIX_EPOCH).map_err(drop));
    since.map_or(0, |since| since.as_secs() as i64)
}
