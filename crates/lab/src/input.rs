//! Files that tollgate reads: a limit to each, and none that has no end.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The most bytes that are read of one file of source or of one text that is
/// given: 30 times the largest of a kernel.
pub const LARGEST: u64 = 256 << 20;

/// So many bytes of memory stay for the next file that is read into it: four times what
/// 95 of 100 files of a kernel have.
const KEPT: usize = 256 << 10;

/// What a pipe without a name says of its file system (`PIPEFS_MAGIC` of
/// include/uapi/linux/magic.h).
const PIPES: i64 = 0x5049_5045;

/// The bytes of an ordinary file of at most [`LARGEST`].
///
/// # Errors
/// The system's own, or what else the file is: a pipe, a device, larger.
pub fn source(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source_into(path, &mut bytes)?;
    Ok(bytes)
}

/// The same of what is known to stand there.
///
/// # Errors
/// As [`source`].
pub(crate) fn source_of(path: &Path, about: &Metadata) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    whole(ordinary(path, about)?, &mut bytes)?;
    Ok(bytes)
}

/// The same in the place of what some bytes were: who reads one file after the other asks
/// the system for no memory of each.
///
/// # Errors
/// As [`source`]; what the bytes are then is not said.
pub fn source_into(path: &Path, bytes: &mut Vec<u8>) -> io::Result<()> {
    whole(ordinary(path, &fs::metadata(path)?)?, bytes)
}

/// The same of what was looked at already and was an ordinary file then.
///
/// # Errors
/// As [`source`]; what the bytes are then is not said.
pub(crate) fn known_into(path: &Path, bytes: &mut Vec<u8>) -> io::Result<()> {
    whole(opened(path)?, bytes)
}

/// Opens an ordinary file. Neither a pipe that nobody writes to nor a device
/// makes this wait.
///
/// # Errors
/// The system's own, or what else the file is.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(ordinary(path, &fs::metadata(path)?)?.0)
}

/// An ordinary file that is open, and its length in bytes. `about` is what stands there:
/// some devices do something when they are opened.
fn ordinary(path: &Path, about: &Metadata) -> io::Result<(File, u64)> {
    refuse_other(about)?;
    opened(path)
}

fn opened(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    // Another may have taken its place.
    let about = file.metadata()?;
    refuse_other(&about)?;
    Ok((file, about.len()))
}

/// Reads a file of so many bytes: most with one call of the system, which gives less than
/// there is room for.
fn whole((file, length): (File, u64), bytes: &mut Vec<u8>) -> io::Result<()> {
    if length > LARGEST {
        return Err(too_large());
    }
    bytes.clear();
    bytes.shrink_to(KEPT);
    bytes.reserve(length as usize + 1);
    let more = match rustix::io::read(&file, spare_capacity(bytes)) {
        Err(Errno::INTR) => true,
        read => read? != 0,
    };
    // It has grown, or says no length, as those of /proc: or the read was cut short.
    let unread = more && bytes.len() as u64 != length;
    match unread {
        true => filled(bytes, file),
        false => Ok(()),
    }
}

fn refuse_other(about: &Metadata) -> io::Result<()> {
    match other(about) {
        None => Ok(()),
        Some(what) => Err(io::Error::other(format!(
            "it is {what}, and no ordinary file"
        ))),
    }
}

/// The bytes of a text that a user names: an ordinary file, or what the process
/// already has open, as `/dev/stdin` and as `<(…)` of a shell; at most
/// [`LARGEST`].
///
/// # Errors
/// The system's own, or what else the file is.
pub fn given(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    given_into(path, &mut bytes)?;
    Ok(bytes)
}

/// The same in the place of what some bytes were, as [`source_into`].
///
/// # Errors
/// As [`given`]; what the bytes are then is not said.
pub fn given_into(path: &Path, bytes: &mut Vec<u8>) -> io::Result<()> {
    if is_stdin(path) {
        bytes.clear();
        return filled(bytes, io::stdin());
    }
    let about = fs::metadata(path)?;
    match is_unnamed(path, &about) {
        true => {
            bytes.clear();
            filled(bytes, File::open(path)?)
        }
        false => whole(ordinary(path, &about)?, bytes),
    }
}

/// The names of what a folder holds, sorted; none where there is no such folder.
///
/// # Errors
/// When the folder is there and cannot be listed to its end, with its name.
pub fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let listed = fs::read_dir(folder).and_then(|entries| {
        let names = entries.map(|entry| Ok(entry?.file_name()));
        names.collect::<io::Result<Vec<_>>>()
    });
    let mut names = match listed {
        Err(error) if is_absent(&error) => Vec::new(),
        other => other.map_err(|error| {
            let folder = tollgate_source::shown(folder);
            io::Error::new(
                error.kind(),
                format!("the folder {folder} could not be listed: {error}"),
            )
        })?,
    };
    names.sort_unstable();
    Ok(names)
}

/// Whether an error says that nothing has that name. Any other says that there is
/// something, and that it is not known what.
#[must_use]
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether a path is that of a stream which the process has open: its standard
/// input, or a pipe without a name, which ends when its other end is closed.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "what cannot be looked at is no stream, and reading it says why"
)]
pub fn is_stream(path: &Path) -> bool {
    is_stdin(path) || fs::metadata(path).is_ok_and(|about| is_unnamed(path, &about))
}

/// Whether what stands there is a pipe without a name.
#[expect(
    clippy::disallowed_methods,
    reason = "a pipe of an unknown file system is taken for one with a name, and refused"
)]
fn is_unnamed(path: &Path, about: &Metadata) -> bool {
    let unnamed = || rustix::fs::statfs(path).is_ok_and(|about| about.f_type == PIPES);
    about.file_type().is_fifo() && unnamed()
}

/// It may be a socket, which cannot be opened by a path.
fn is_stdin(path: &Path) -> bool {
    ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]
        .map(Path::new)
        .contains(&path)
}

/// What a file is that is no ordinary one.
#[must_use]
pub fn other(about: &Metadata) -> Option<&'static str> {
    let kind = about.file_type();
    let kinds = [
        (kind.is_dir(), "a folder"),
        (kind.is_fifo(), "a pipe"),
        (kind.is_socket(), "a socket"),
        (kind.is_block_device() || kind.is_char_device(), "a device"),
    ];
    let found = kinds.into_iter().find(|(is, _)| *is);
    found.map(|(_, what)| what)
}

/// Everything that a reader has, at most [`LARGEST`] bytes.
///
/// # Errors
/// The reader's own, or that there is more.
pub fn limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    filled(&mut bytes, reader)?;
    Ok(bytes)
}

fn filled(bytes: &mut Vec<u8>, reader: impl Read) -> io::Result<()> {
    reader.take(LARGEST + 1).read_to_end(bytes)?;
    match bytes.len() as u64 > LARGEST {
        true => Err(too_large()),
        false => Ok(()),
    }
}

/// That a file has more bytes than are read of one.
#[must_use]
pub fn too_large() -> io::Error {
    let words = format!(
        "it has more than the {} MiB that are read of one file",
        LARGEST >> 20
    );
    io::Error::new(io::ErrorKind::FileTooLarge, words)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_folder_that_cannot_be_listed_is_not_an_empty_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        std::os::unix::fs::symlink("loop", place("loop")).unwrap();
        fs::write(place("b"), "").unwrap();
        assert_eq!(names_in(dir.path()).unwrap(), ["b", "loop"]);
        for absent in ["none", "b", "b/c"] {
            assert_eq!(names_in(&place(absent)).unwrap(), [""; 0]);
        }
        let told = names_in(&place("loop")).unwrap_err().to_string();
        assert!(told.contains("loop could not be listed: "), "{told}");
    }

    #[test]
    fn bytes_that_are_read_take_the_place_of_those_before() {
        let dir = tempfile::tempdir().unwrap();
        let (large, small) = (dir.path().join("large"), dir.path().join("small"));
        fs::write(&large, vec![b'a'; 2 * KEPT]).unwrap();
        fs::write(&small, "b").unwrap();
        let mut bytes = Vec::new();
        for read in [source_into, given_into] {
            read(&large, &mut bytes).unwrap();
            assert_eq!(bytes.len(), 2 * KEPT);
            read(&small, &mut bytes).unwrap();
            assert_eq!(bytes, b"b");
            assert!(bytes.capacity() <= KEPT);
        }
    }

    #[test]
    fn what_is_no_ordinary_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("x.c");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let socket = dir.path().join("socket.c");
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, what) in [
            (pipe.as_path(), "a pipe"),
            (dir.path(), "a folder"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            for read in [source, given] {
                let said = read(path).unwrap_err().to_string();
                assert_eq!(said, format!("it is {what}, and no ordinary file"));
            }
        }
        assert!(source(&socket).is_err() && given(&socket).is_err());
    }

    #[test]
    fn a_file_has_a_largest_size() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.c");
        fs::write(&path, "int x;\n").unwrap();
        assert_eq!(source(&path).unwrap(), b"int x;\n");
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(LARGEST + 1)
            .unwrap();
        let said = source(&path).unwrap_err().to_string();
        assert_eq!(
            said,
            "it has more than the 256 MiB that are read of one file"
        );
        assert!(limited(io::repeat(0)).is_err());
    }

    #[test]
    fn a_pipe_that_a_shell_hands_over_is_read() {
        use std::os::fd::AsRawFd as _;
        let (reader, mut writer) = io::pipe().unwrap();
        io::Write::write_all(&mut writer, b"text").unwrap();
        drop(writer);
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        assert_eq!(given(Path::new(&path)).unwrap(), b"text");
    }
}
