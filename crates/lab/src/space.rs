//! Room on disks: which file system it is that has none left, in words.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{StatVfs, statvfs};

use tollgate_source::shown;

/// What every program calls a full disk (errno(3), ENOSPC).
pub const NO_SPACE: &str = "No space left on device";
/// And a quota that is used up (EDQUOT).
const NO_QUOTA: &str = "Disk quota exceeded";

/// What else helps where the cache has no room.
pub const OR_CACHE: &str = ", or give another folder with --cache";

/// Less than this is left where a program failed for want of room and has removed
/// what it was writing, in bytes.
const NEARLY_FULL: u64 = 64 << 10;

/// What to do about an error of the file system that befell `path`: `; ` and half a
/// sentence, or nothing. `or` is what else helps than to make room.
#[must_use]
pub fn hint(error: &io::Error, path: &Path, or: &str) -> String {
    match error.kind() {
        // What a device has no room for says nothing of the disk that its name is on.
        io::ErrorKind::StorageFull if is_device(path) => {
            "; it is a device, and no file: give a file".to_owned()
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            format!("; {}: make room there{or}", state(path))
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => alone(or),
        // A folder was to be made there, or below it.
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            format!("; a file is in the way{}", alone(or))
        }
        _ => String::new(),
    }
}

/// `; ` and what helps, where there is nothing else.
fn alone(or: &str) -> String {
    let or = or.strip_prefix(", or ").unwrap_or(or);
    let separator = if or.is_empty() { "" } else { "; " };
    format!("{separator}{or}")
}

/// What to do about what a program said that failed, where it wants room: a line of
/// its own, or nothing. `folders` are where it writes: what it names itself counts
/// first.
#[must_use]
pub fn after_failure(said: &str, folders: &[&Path]) -> String {
    let named = said.lines().filter(|line| says_full(line));
    let named: Vec<PathBuf> = named.filter_map(path_in).collect();
    let all = || {
        named
            .iter()
            .map(PathBuf::as_path)
            .chain(folders.iter().copied())
    };
    let nearly_full = all().filter(|path| is_nearly_full(path));
    let mut full: Vec<String> = nearly_full.map(state).collect();
    if full.is_empty() && says_full(said) {
        // What it was writing is gone again: what it named, else the smallest.
        let smallest = folders.iter().copied().min_by_key(|path| free(path));
        let likely = named.first().map(PathBuf::as_path).or(smallest);
        full.extend(likely.map(state));
    }
    full.sort();
    full.dedup();
    match full.as_slice() {
        [] => String::new(),
        full => format!(
            "\n{}: make room there, or give another folder (--cache for what is kept, TMPDIR for what is not)",
            capital(&full.join(", "))
        ),
    }
}

fn is_device(path: &Path) -> bool {
    matches!(fs::metadata(path), Ok(about) if !about.is_file() && !about.is_dir())
}

fn says_full(text: &str) -> bool {
    text.contains(NO_SPACE) || text.contains(NO_QUOTA)
}

/// The absolute path in a line of a program that was writing there. A program that
/// says who it is (`/usr/bin/ld: `) was not writing into itself.
fn path_in(line: &str) -> Option<PathBuf> {
    let words = line.split([' ', '\t', '\'', '"', '(', ')', '\u{2018}', '\u{2019}']);
    let paths = words.filter(|word| word.starts_with('/') && word.len() > 1);
    let paths = paths.map(|word| PathBuf::from(word.trim_end_matches([':', ',', ';'])));
    let mut written = paths.filter(|path| !is_program(path));
    written.next_back()
}

#[expect(
    clippy::disallowed_methods,
    reason = "what cannot be looked at cannot be run"
)]
fn is_program(path: &Path) -> bool {
    let mode = |about: fs::Metadata| about.is_file() && about.mode() & 0o111 != 0;
    fs::metadata(path).is_ok_and(mode)
}

fn is_nearly_full(path: &Path) -> bool {
    let left =
        stat(path).is_some_and(|all| all.f_bavail.saturating_mul(all.f_frsize) < NEARLY_FULL);
    let files = stat(path).is_some_and(|all| all.f_files > 0 && all.f_favail == 0);
    left || files
}

/// Bytes that are free.
fn free(path: &Path) -> u64 {
    stat(path).map_or(u64::MAX, |all| all.f_bavail.saturating_mul(all.f_frsize))
}

/// `the file system of /mnt has too little room (8 KiB of 64 KiB are free)`
fn state(path: &Path) -> String {
    let place = mount_point(path);
    let shown = shown(&place);
    let Some(all) = stat(path) else {
        return format!("the file system of {shown} has too little room");
    };
    if all.f_files > 0 && all.f_favail == 0 {
        return format!("the file system of {shown} has no inode left for another file");
    }
    let bytes = |blocks: u64| size(blocks.saturating_mul(all.f_frsize));
    let (free, total) = (bytes(all.f_bavail), bytes(all.f_blocks));
    format!("the file system of {shown} has too little room ({free} of {total} are free)")
}

/// The bytes that a user may still write where a path is, or would be; none where the
/// system does not say.
#[must_use]
pub fn room(path: &Path) -> Option<u64> {
    stat(path).map(|all| all.f_bavail.saturating_mul(all.f_frsize))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a hint for a message that says what failed"
)]
fn stat(path: &Path) -> Option<StatVfs> {
    statvfs(existing(path)?).ok()
}

/// The path, or what there is of it.
#[expect(
    clippy::disallowed_methods,
    reason = "the part of a path that is there was asked for"
)]
fn existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut parts = path.ancestors();
    parts.find_map(|part| fs::canonicalize(part).ok())
}

/// The folder in which the file system of a path begins.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "what cannot be looked at is on no device that is known"
)]
pub fn mount_point(path: &Path) -> PathBuf {
    let Some(path) = existing(path) else {
        return path.to_owned();
    };
    let device = |path: &Path| fs::metadata(path).ok().map(|about| about.dev());
    let own = device(&path);
    let inside = path.ancestors().take_while(|part| device(part) == own);
    inside.last().unwrap_or(&path).to_owned()
}

/// In the largest unit that leaves a whole number to show.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes >> 10),
        1_048_576..1_073_741_824 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_with_its_folder() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let said = hint(&full, Path::new("/proc/nowhere/x"), ", or pray");
        assert!(
            said.starts_with("; the file system of /proc ")
                && said.ends_with(": make room there, or pray"),
            "{said}"
        );
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        assert_eq!(hint(&denied, Path::new("/"), ", or pray"), "; pray");
        assert_eq!(hint(&denied, Path::new("/"), ""), "");
        // What `mkdir -p` gets where the folder that is wanted is a file, or below one.
        for kind in [io::ErrorKind::AlreadyExists, io::ErrorKind::NotADirectory] {
            let said = hint(&kind.into(), Path::new("/"), ", or pray");
            assert_eq!(said, "; a file is in the way; pray");
        }
        let other = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(hint(&other, Path::new("/"), ", or pray"), "");
    }

    #[test]
    fn a_program_that_wants_room_names_where() {
        let line = "as: BFD: /proc/x/ccA1.o: No space left on device";
        assert_eq!(path_in(line), Some("/proc/x/ccA1.o".into()));
        let said = after_failure(line, &[Path::new("/")]);
        assert!(said.starts_with("\nThe file system of /proc"), "{said}");
        let said = after_failure(
            "/bin/sh: final link: No space left on device",
            &[Path::new("/proc")],
        );
        assert!(said.starts_with("\nThe file system of /proc"), "{said}");
        let said = after_failure("write error: No space left on device", &[Path::new("/")]);
        assert!(
            said.starts_with("\nThe file system of / has too little room ("),
            "{said}"
        );
        assert_eq!(after_failure("undefined reference", &[Path::new("/")]), "");
    }

    #[test]
    fn a_mount_point_is_found_of_what_is_not_there_yet() {
        assert_eq!(
            mount_point(Path::new("/proc/self/nowhere/x")),
            Path::new("/proc")
        );
        assert_eq!(mount_point(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 65_536, 5 << 20, 3 << 30].map(size);
        assert_eq!(sizes, ["0 bytes", "64 KiB", "5 MiB", "3 GiB"]);
    }
}
