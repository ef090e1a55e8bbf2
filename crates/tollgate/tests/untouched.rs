//! Nothing of the user's is touched: every command on a tree that is compared
//! afterwards, on one that cannot be written, and under a watch for what is
//! opened for writing.

#![allow(clippy::unwrap_used, reason = "a test says what it expects")]

#[allow(dead_code, reason = "other tests use the rest of it")]
mod support;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use support::{Lab, code, run};
use tollgate_testing::{elsewhere, missing};

const TARGET: &str = "include/linux/eventpoll.h:epoll_put_uevent";

const PATCH: &str = "\
diff --git a/kernel/gate.c b/kernel/named.c
similarity index 90%
rename from kernel/gate.c
rename to kernel/named.c
diff --git a/fs/new.h b/fs/new.h
new file mode 100644
--- /dev/null
+++ b/fs/new.h
@@ -0,0 +1 @@
+int x;
";

/// Every command with the exit code that it ends with, each a line of words; TREE
/// stands for the tree's absolute path.
const COMMANDS: [(&str, i32); 23] = [
    ("cases", 0),
    ("scan tree", 1),
    ("scan TREE/", 1),
    ("scan link include/linux/eventpoll.h", 1),
    ("scan tree TREE/include", 1),
    ("scan tree - --format sarif", 1),
    ("scan tree --changed-since HEAD --kind all -v", 0),
    ("scan tree --format source", 1),
    ("check tree --cache cache", 0),
    ("check tree/kernel/gate.c link/fs/eventpoll.c", 0),
    ("check tree --patch x.patch", 0),
    ("check tree --patch HEAD~1..HEAD", 0),
    ("fix tree include/linux/eventpoll.h:epoll_put_uevent", 0),
    (
        "fix tree TREE/include/linux/eventpoll.h:epoll_put_uevent",
        0,
    ),
    (
        "fix link ../tree/include/linux/eventpoll.h:epoll_put_uevent",
        0,
    ),
    ("fix tree/ -o out/series", 0),
    ("fix tree TARGET --check --cache cache", 0),
    (
        "prove epoll --tree tree --cache cache --qemu QEMU --json out/a.json --html out/a.html",
        0,
    ),
    (
        "prove epoll --tree link/ --cache cache --qemu QEMU --profile-out out/a.folded",
        0,
    ),
    (
        "prove --patch x.patch --bench getppid --tree tree --cache cache --qemu QEMU",
        2,
    ),
    (
        "prove epoll --series HEAD~1..HEAD --tree tree --cache cache --qemu QEMU",
        0,
    ),
    ("gates --find cache/vmlinux", 0),
    ("run getppid --reps 10 --cache cache --json out/run.json", 0),
];

fn git(lab: &Lab, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
    let output = run(command.args(arguments).current_dir(lab.tree()));
    assert!(output.status.success(), "{}", lab.said(&output));
}

/// A tree with a history and an index that is out of date, which git would bring up
/// to date; a patch; folders for what is written.
fn lab() -> Lab {
    let lab = Lab::new();
    for folder in ["out", "tmp", "home"] {
        fs::create_dir(lab.path(folder)).unwrap();
    }
    git(&lab, &["init", "-q"]);
    git(&lab, &["add", "-A"]);
    git(&lab, &["commit", "-q", "-m", "one"]);
    git(&lab, &["commit", "-q", "--allow-empty", "-m", "two"]);
    let gate = fs::File::options()
        .write(true)
        .open(lab.tree().join("kernel/gate.c"));
    gate.unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    std::os::unix::fs::symlink("tree", lab.path("link")).unwrap();
    fs::write(lab.path("x.patch"), PATCH).unwrap();
    lab
}

fn words(lab: &Lab, line: &str) -> Vec<OsString> {
    let qemu = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-qemu");
    let tree = fs::canonicalize(lab.tree()).unwrap();
    let word = |word: &str| match word {
        "QEMU" => qemu.into(),
        "TARGET" => TARGET.into(),
        word => word.replace("TREE", tree.to_str().unwrap()).into(),
    };
    line.split(' ').map(word).collect()
}

/// Runs a line of words behind `before`, which may be nothing.
fn ended(lab: &Lab, before: &[OsString], line: &str) -> Output {
    if line.contains("cache/vmlinux") {
        let images = fs::read_dir(lab.cache().join("images")).unwrap();
        let image = images.map(|image| image.unwrap().path()).min().unwrap();
        fs::copy(image.join("vmlinux"), lab.cache().join("vmlinux")).unwrap();
    }
    let own = lab.tollgate(&[]);
    let mut all = before.to_vec();
    all.push(own.get_program().to_owned());
    all.extend(words(lab, line));
    let mut command = Command::new(&all[0]);
    command.args(&all[1..]).current_dir(lab.path("."));
    for (name, value) in own.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("TMPDIR", lab.path("tmp"))
        .env("HOME", lab.path("home"));
    // Kconfig writes where this says, and gcc where that does.
    command.env("KCONFIG_CONFIG", lab.path("home/.config"));
    command.env("DEPENDENCIES_OUTPUT", lab.path("home/gcc.d"));
    let list = lab.path("list");
    fs::write(&list, "include/linux/eventpoll.h\nkernel/gone.c\n").unwrap();
    command.stdin(Stdio::from(fs::File::open(list).unwrap()));
    run(&mut command)
}

/// What is known of a file: its bytes, its place on the disk, its time, its mode.
type Known = (Option<Vec<u8>>, u64, i64, i64, u32);

/// Every file and folder, links as themselves.
fn everything(folder: &Path) -> BTreeMap<PathBuf, Known> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            all.extend(everything(&path));
        }
        let bytes = about.is_file().then(|| fs::read(&path).unwrap());
        let known = (
            bytes,
            about.ino(),
            about.mtime(),
            about.mtime_nsec(),
            about.mode(),
        );
        all.insert(path, known);
    }
    all
}

fn same(before: &BTreeMap<PathBuf, Known>, folder: &Path, line: &str) {
    let after = everything(folder);
    let differs =
        |(path, known): (&PathBuf, &Known)| (after.get(path) != Some(known)).then(|| path.clone());
    let changed: Vec<PathBuf> = before.iter().filter_map(differs).collect();
    assert_eq!(changed, Vec::<PathBuf>::new(), "{line}");
    let new: Vec<&PathBuf> = after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .collect();
    assert_eq!(new, Vec::<&PathBuf>::new(), "{line}");
}

#[test]
fn every_command_leaves_the_tree_as_it_was() {
    let lab = lab();
    let before = everything(&lab.tree());
    for (line, wanted) in COMMANDS {
        let output = ended(&lab, &[], line);
        assert_eq!(code(&output), wanted, "{line}: {}", lab.said(&output));
        same(&before, &lab.tree(), line);
    }
    assert_eq!(fs::read_dir(lab.path("home")).unwrap().count(), 0);
}

#[test]
fn a_tree_that_cannot_be_written_does_as_well() {
    let lab = lab();
    let tree = fs::canonicalize(lab.tree()).unwrap();
    let script = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" || exit 99\n\
        touch \"$0/written\" 2>/dev/null && exit 98\nexec \"$@\"";
    let before: Vec<OsString> = ["unshare", "--mount", "--", "sh", "-c", script]
        .map(OsString::from)
        .into_iter()
        .chain([tree.into_os_string()])
        .collect();
    let tried = Command::new(&before[0])
        .args(&before[1..])
        .arg("true")
        .output();
    match tried.ok().and_then(|tried| tried.status.code()) {
        Some(0) => {}
        Some(98) => panic!("a read-only mount was written"),
        _ => return elsewhere("no-mount-namespaces"),
    }
    for (line, wanted) in COMMANDS {
        let output = ended(&lab, &before, line);
        assert_eq!(code(&output), wanted, "{line}: {}", lab.said(&output));
    }
}

/// The calls that write, and which of their paths they write to.
const CALLS: [(&str, &[usize]); 25] = [
    ("open", &[0]),
    ("openat", &[0]),
    ("openat2", &[0]),
    ("creat", &[0]),
    ("mkdir", &[0]),
    ("mkdirat", &[0]),
    ("rmdir", &[0]),
    ("unlink", &[0]),
    ("unlinkat", &[0]),
    ("rename", &[0, 1]),
    ("renameat", &[0, 1]),
    ("renameat2", &[0, 1]),
    // What is linked stays as it is.
    ("link", &[1]),
    ("linkat", &[1]),
    ("symlink", &[1]),
    ("symlinkat", &[1]),
    ("truncate", &[0]),
    ("chmod", &[0]),
    ("fchmodat", &[0]),
    ("chown", &[0]),
    ("lchown", &[0]),
    ("fchownat", &[0]),
    ("utimensat", &[0]),
    ("mknod", &[0]),
    ("mknodat", &[0]),
];

/// Who started whom: the call of the one may end after the other has begun.
fn parents(log: &str) -> HashMap<&str, &str> {
    let starts = |line: &&str| {
        ["clone", "fork"].iter().any(|name| line.contains(name)) && !line.ends_with("...>")
    };
    let lines = log.lines().filter(starts);
    lines
        .filter_map(|line| {
            let (parent, _) = line.split_once(' ')?;
            let child = line.rsplit(" = ").next()?.split_whitespace().next()?;
            Some((child, parent))
        })
        .collect()
}

/// What a log of `strace -f -y` says was written, by absolute path.
fn written(log: &str, start: &Path) -> Vec<PathBuf> {
    let parents = parents(log);
    let mut folders: HashMap<&str, PathBuf> = HashMap::new();
    let mut all = Vec::new();
    for line in log.lines() {
        let Some((pid, call)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, rest)) = call.trim_start().split_once('(') else {
            continue;
        };
        if !folders.contains_key(pid) {
            let parent = parents.get(pid).and_then(|parent| folders.get(parent));
            let own = parent.cloned().unwrap_or_else(|| start.to_owned());
            folders.insert(pid, own);
        }
        let own = folders[pid].clone();
        let result = rest.rsplit(" = ").next().unwrap_or_default();
        if name == "chdir" && !result.starts_with("-1") {
            folders.insert(pid, own.join(paths(rest, &own).remove(0)));
        }
        let Some((_, which)) = CALLS.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
        if name.starts_with("open") && !writes.iter().any(|flag| rest.contains(flag)) {
            continue;
        }
        // `mkdir -p` makes sure of every folder from the top.
        if name.starts_with("mkdir") && !result.starts_with('0') {
            continue;
        }
        let paths = paths(rest, &own);
        all.extend(which.iter().filter_map(|at| paths.get(*at).cloned()));
    }
    all.iter().map(|path| plain(path)).collect()
}

/// The path without its `..`; links are none of the folders that are written to.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// The paths of a call: each string behind the folder that it is relative to.
fn paths(arguments: &str, own: &Path) -> Vec<PathBuf> {
    let mut folder = own.to_owned();
    let mut found = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.find(['<', '"']) {
        let quoted = rest[at..].starts_with('"');
        let inner = &rest[at + 1..];
        let Some(end) = inner.find(if quoted { '"' } else { '>' }) else {
            break;
        };
        match quoted {
            true => found.push(folder.join(&inner[..end])),
            false => folder = PathBuf::from(&inner[..end]),
        }
        rest = &inner[end + 1..];
    }
    found
}

#[test]
fn nothing_is_opened_for_writing_but_cache_output_and_temporary_folders() {
    let lab = lab();
    let top = fs::canonicalize(lab.path(".")).unwrap();
    let log = top.join("strace.log");
    let before: Vec<OsString> = ["strace", "-f", "-y", "-qq", "-s", "4096", "-e"]
        .map(OsString::from)
        .into_iter()
        .chain([
            "trace=%file,%process".into(),
            "-o".into(),
            log.clone().into(),
        ])
        .collect();
    let tried = Command::new(&before[0])
        .args(&before[1..])
        .arg("true")
        .status();
    match tried {
        Ok(status) if status.success() => {}
        Ok(_) => return elsewhere("no-tracing"),
        Err(_) => return missing("strace", "scripts/setup installs it"),
    }
    let may = |path: &Path| {
        let own = ["cache", "out", "tmp"]
            .iter()
            .any(|own| path.starts_with(top.join(own)));
        own || path.starts_with("/dev") || path.starts_with("/proc")
    };
    let mut seen = 0;
    for (line, wanted) in COMMANDS {
        let output = ended(&lab, &before, line);
        assert_eq!(code(&output), wanted, "{line}: {}", lab.said(&output));
        let text = String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned();
        let written = written(&text, &top);
        let mut away: Vec<&PathBuf> = written.iter().filter(|path| !may(path)).collect();
        away.sort();
        away.dedup();
        assert_eq!(away, Vec::<&PathBuf>::new(), "{line}");
        seen += written.len();
    }
    // A watch that sees nothing is none.
    assert!(seen > 100, "{seen}");
}

/// The watch sees a write by whatever call and path it comes.
#[test]
fn the_watch_sees_what_is_written() {
    let log = "7 chdir(\"/a\") = 0\n\
        7 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID) = 8\n\
        8 open(\"b\", O_WRONLY|O_CREAT) = 3</a/b>\n\
        8 openat(AT_FDCWD</a>, \"c\", O_RDONLY) = 3</a/c>\n\
        8 openat(5</d>, \"c\", O_RDWR) = -1 EACCES (Permission denied)\n\
        7 linkat(AT_FDCWD</a>, \"/u/x\", AT_FDCWD</a>, \"y\", 0) = 0\n\
        7 vfork( <unfinished ...>\n\
        10 creat(\"h/../i\", 0644) = 3</a/i>\n\
        7 <... vfork resumed>) = 10\n\
        9 rename(\"e\", \"/f\") = 0\n\
        9 mkdir(\"g\", 0777) = 0\n";
    let shown: Vec<String> = written(log, Path::new("/s"))
        .iter()
        .map(|p| p.display().to_string())
        .collect();
    assert_eq!(
        shown,
        ["/a/b", "/d/c", "/a/y", "/a/i", "/s/e", "/f", "/s/g"]
    );
}
