//! What a job's sandbox holds: the changed files, the compiler's wrapper, the
//! commands.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_defect::answer;
use tollgate_robot::Cell;
use tollgate_source::TreePath;

use super::asked::{CellJob, Error, death, ended_by};
use super::sandbox;
use crate::cache;
use crate::process::{self, Runner};

/// What of this file decides a result; another one makes another key.
pub(super) const WAY: &str = concat!(
    include_str!("outer.sh"),
    include_str!("cc.sh"),
    include_str!("check.sh"),
    "1"
);

/// What Kbuild would otherwise take from the clock, the user and the machine.
const FIXED: &str = "KBUILD_BUILD_TIMESTAMP='Mon Jan  1 00:00:00 UTC 2024' KBUILD_BUILD_USER=tollgate KBUILD_BUILD_HOST=tollgate KBUILD_BUILD_VERSION=1 LOCALVERSION=";

/// What a sandbox left behind.
#[derive(Debug)]
pub(super) struct Made {
    /// What was handed back.
    pub(super) out: PathBuf,
    /// The build folder, where it was asked for.
    pub(super) build: PathBuf,
    /// All that was said outside of make's own log.
    pub(super) said: String,
}

/// What runs in a sandbox.
pub(super) struct Inside<'a> {
    pub(super) job: &'a CellJob,
    /// The build folder that it begins with; none for an empty one.
    pub(super) lower: Option<&'a Path>,
    /// The commands.
    pub(super) inner: String,
    /// Whether the changes of the job are made.
    pub(super) changed: bool,
    /// Whether the build folder is handed back.
    pub(super) keep: bool,
    /// What it is called.
    pub(super) what: &'a str,
}

/// Builds the objects of a job.
pub(super) fn run(
    job: &CellJob,
    jobs: usize,
    build: &Path,
    folder: &Path,
    runner: &Runner,
) -> Result<Made, Error> {
    let what = format!("the build of {}", job.cell.name);
    let inside = Inside {
        job,
        lower: Some(build),
        inner: objects(job, jobs.max(1)),
        changed: true,
        keep: false,
        what: &what,
    };
    inside.run(folder, runner)
}

impl Inside<'_> {
    /// Runs the commands in a sandbox in a folder that is empty.
    pub(super) fn run(&self, folder: &Path, runner: &Runner) -> Result<Made, Error> {
        let (own, result) = (folder.join("job"), folder.join("result"));
        for place in [&own, &result] {
            cache::make_folder(place)?;
        }
        self.lay_out(&own)?;
        let script = own.join("outer.sh");
        cache::write_file(&script, sandbox::OUTER.as_bytes())?;
        let limits = &self.job.limits;
        let mut command = sandbox::command(script.as_os_str(), limits);
        command.arg(&self.job.tree);
        command.arg(self.lower.unwrap_or(Path::new("")));
        command.args([&own, &result]).current_dir(folder);
        if self.keep {
            command.env("TOLLGATE_KEEP", "1");
        }
        let limit = Some(Duration::from_secs(limits.seconds));
        let log = folder.join("log");
        let mut said = String::new();
        let mut keep = |line: &str| {
            said.push_str(line);
            said.push('\n');
        };
        let died = |reason: String| Error::Died {
            what: self.what.to_owned(),
            reason,
        };
        match runner.logged(&mut command, &log, limit, &mut keep) {
            Ok(status) if status.success() => {}
            Ok(status) => {
                let own = || first_lines(&said, &status.to_string());
                let reason = match status.code() {
                    Some(sandbox::STOPPED) => own(),
                    _ => death(&said).unwrap_or_else(own),
                };
                return Err(died(reason));
            }
            Err(error @ process::Error::TimedOut { .. }) => return Err(died(error.to_string())),
            Err(other) => return Err(other.into()),
        }
        // The first program of the namespaces goes on where its commands are ended.
        let status = cache::read_file(&result.join("status"))?;
        let status = answer::number(String::from_utf8_lossy(&status).trim());
        let status = status.ok_or_else(|| died("how it ended is not known".to_owned()))?;
        if let Some(reason) = ended_by(status) {
            return Err(died(reason));
        }
        Ok(Made {
            out: result.join("out"),
            build: result.join("build"),
            said,
        })
    }

    fn lay_out(&self, own: &Path) -> Result<(), Error> {
        let (change, tool) = (own.join("change"), own.join("tool"));
        for place in [&change, &tool] {
            cache::make_folder(place)?;
        }
        let mut gone = Vec::new();
        let changes = self.job.changes.iter().filter(|_| self.changed);
        // Links last: nothing is written through one.
        let (links, files): (Vec<_>, Vec<_>) = changes.partition(|one| one.link);
        for one in files.into_iter().chain(links) {
            let path = TreePath::within(&one.path);
            match &one.content {
                None => {
                    gone.extend_from_slice(path.as_bytes());
                    gone.push(0);
                }
                Some(content) if one.link => link(&change.join(&path), content.bytes())?,
                Some(content) => put(&change.join(&path), content.bytes(), one.program)?,
            }
        }
        cache::write_file(&own.join("gone"), &gone)?;
        let cell = &self.job.cell;
        put(&tool.join("cc"), wrapper(self.job).as_bytes(), true)?;
        put(
            &tool.join("check"),
            include_str!("check.sh").as_bytes(),
            true,
        )?;
        put(&tool.join("fragment"), cell.overlay().as_bytes(), false)?;
        put(&tool.join("inner.sh"), self.inner.as_bytes(), false)
    }
}

fn put(place: &Path, bytes: &[u8], program: bool) -> Result<(), Error> {
    let written = || -> io::Result<()> {
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = fs::File::create(place)?;
        file.write_all(bytes)?;
        let mode = if program { 0o755 } else { 0o644 };
        file.set_permissions(fs::Permissions::from_mode(mode))
    };
    written().map_err(|source| {
        Error::Cache(cache::Error::Write {
            path: place.to_owned(),
            source,
        })
    })
}

fn link(place: &Path, to: &[u8]) -> Result<(), Error> {
    let made = || -> io::Result<()> {
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(to), place)
    };
    made().map_err(|source| {
        Error::Cache(cache::Error::Write {
            path: place.to_owned(),
            source,
        })
    })
}

fn first_lines(said: &str, status: &str) -> String {
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(8)
        .collect();
    match lines.as_slice() {
        [] => format!("it ended with {status}"),
        lines => lines.join("; "),
    }
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The compiler's place: it compiles as it is told, and of the objects that are asked
/// for leaves behind what was said and what the preprocessor made.
fn wrapper(job: &CellJob) -> String {
    let mode = match job.preprocess_only {
        true => "preprocess",
        false => "compile",
    };
    let objects: Vec<&str> = job.objects.iter().map(String::as_str).collect();
    include_str!("cc.sh")
        .replace("@COMPILER@", &job.cell.compiler)
        .replace("@MODE@", mode)
        .replace("@OBJECTS@", &quoted(&format!(" {} ", objects.join(" "))))
}

/// `make` with all that every call of it has.
pub(super) fn make(job: &CellJob) -> String {
    let Cell {
        arch, cross, llvm, ..
    } = &job.cell;
    let mut line = format!(
        "make -s O=/tmp/build ARCH={} CC=/tmp/tool/cc {FIXED}",
        quoted(arch)
    );
    if !cross.is_empty() {
        line += &format!(" CROSS_COMPILE={}", quoted(cross));
    }
    if let Some(version) = llvm {
        line += &format!(" LLVM={}", quoted(version));
    }
    if !job.warn.is_empty() {
        line += &format!(" W={}", quoted(&job.warn));
    }
    line
}

/// The goal that makes the configuration.
pub(super) fn configuration(job: &CellJob) -> String {
    let base = &job.cell.base;
    let seed = base
        .seed
        .map_or(String::new(), |seed| format!("KCONFIG_SEED={seed} "));
    format!(
        "{} {seed}KCONFIG_ALLCONFIG=/tmp/tool/fragment {}",
        make(job),
        quoted(&base.goal)
    )
}

fn objects(job: &CellJob, jobs: usize) -> String {
    let make = make(job);
    let mut text = String::new();
    if job.reconfigure {
        text += &format!(
            "{} >/tmp/out/config.said 2>&1\necho $? >/tmp/out/config.status\n",
            configuration(job)
        );
    }
    let check = match job.sparse {
        true => " C=1 CHECK=/tmp/tool/check",
        false => "",
    };
    let goals: Vec<String> = job.objects.iter().map(|object| quoted(object)).collect();
    text += &match goals.is_empty() {
        true => ": >/tmp/out/make.said\n".to_owned(),
        false => format!(
            "{make}{check} -k -j{jobs} {} >/tmp/out/make.said 2>&1\necho $? >/tmp/out/make.status\n",
            goals.join(" ")
        ),
    };
    text += "cp /tmp/build/.config /tmp/out/config 2>/dev/null\n";
    if !job.preprocess_only && !goals.is_empty() {
        text += &format!("cd /tmp/build\nfor o in {}; do\n", goals.join(" "));
        text += "[ -f \"$o\" ] || continue\nmkdir -p \"/tmp/out/o/$(dirname \"$o\")\"\n";
        text += "cp \"$o\" \"/tmp/out/o/$o\"\n";
        // Symbols of other modules are none of one object's: -w.
        text += "echo \"$o\" >/tmp/tmp/one\n";
        text += "scripts/mod/modpost -w -o /tmp/tmp/symvers -T /tmp/tmp/one >\"/tmp/out/o/$o.modpost\" 2>&1 || :\ndone\n";
    }
    text + "exit 0\n"
}

/// Whether a path can be handed to make and to a shell as it is.
#[must_use]
pub fn is_plain(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,".contains(&byte);
    !path.is_empty()
        && Path::new(path)
            .as_os_str()
            .as_bytes()
            .iter()
            .copied()
            .all(plain)
}
