use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tollgate_source::TreePath;

use super::grep::LONGEST;
use super::*;
use crate::process::Interrupt;
use crate::process::Runner;
use crate::tree::{Kind, manifest_of};

/// A repository in a temporary folder.
struct Lab {
    dir: tempfile::TempDir,
    runner: Runner,
}

impl Lab {
    fn new() -> Self {
        Self::made(&["init", "-q", "-b", "main", "tree"])
    }

    fn made(arguments: &[&str]) -> Self {
        let lab = Self {
            dir: tempfile::tempdir().unwrap(),
            runner: Runner::new(Interrupt::default(), None),
        };
        lab.git_in("", arguments);
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn git_in(&self, folder: &str, arguments: &[&str]) -> String {
        let mut command = isolated(&self.path(folder));
        command.args(["-c", "user.name=A", "-c", "user.email=a@example.org"]);
        command.args(["-c", "protocol.file.allow=always"]);
        let said = self.runner.output(command.args(arguments)).unwrap();
        String::from_utf8(said).unwrap().trim().to_owned()
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_in("tree", arguments)
    }

    fn write(&self, name: impl AsRef<Path>, text: &str) {
        let path = self.path("tree").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
    }

    fn at(&self, folder: &str) -> Repository<'_> {
        Repository::around(&self.path(folder), &self.runner).unwrap()
    }

    fn tree(&self) -> Repository<'_> {
        self.at("tree")
    }
}

/// Two commits, and something else checked out.
fn history() -> Lab {
    let lab = Lab::new();
    lab.write("fs/a.c", "one\n");
    lab.write("fs/b.h", "b\n");
    lab.commit("first");
    lab.write("fs/a.c", "two\n");
    fs::remove_file(lab.path("tree/fs/b.h")).unwrap();
    lab.write("new.c", "new\n");
    lab.commit("second");
    lab.git(&["checkout", "-q", "--orphan", "other"]);
    lab.git(&["rm", "-rfq", "."]);
    lab.write("elsewhere.c", "else\n");
    lab.commit("elsewhere");
    lab
}

fn texts(repository: &Repository<'_>, commit: &Commit, paths: &[&str]) -> Vec<Option<String>> {
    let revision = repository.revision(commit).unwrap();
    let paths: Vec<TreePath> = paths.iter().map(|path| TreePath::within(path)).collect();
    let found = repository.texts(&revision, &paths).unwrap().into_iter();
    found
        .map(|text| text.map(|text| String::from_utf8(text).unwrap()))
        .collect()
}

/// `D path`, `R old -> new` and so on.
fn listed(repository: &Repository<'_>, range: &Range) -> Vec<String> {
    let all = repository.differences(range, &[".c", ".h"]).unwrap();
    let line = |one: Difference| {
        let path = one.path.to_string();
        match (&one.before, &one.after, one.renamed_from) {
            (_, _, Some(old)) => format!("R {old} -> {path}"),
            (None, _, _) => format!("A {path}"),
            (_, None, _) => format!("D {path}"),
            _ => format!("M {path}"),
        }
    };
    all.into_iter().map(line).collect()
}

#[test]
fn both_sides_come_from_the_range_whatever_is_checked_out() {
    let lab = history();
    let repository = lab.tree();
    let range = repository.range("main~1..main").unwrap();
    assert_eq!(
        listed(&repository, &range),
        ["M fs/a.c", "D fs/b.h", "A new.c"]
    );
    let paths = ["fs/a.c", "fs/b.h", "new.c", "elsewhere.c"];
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        texts(&repository, &range.before.unwrap(), &paths),
        [some("one\n"), some("b\n"), None, None]
    );
    assert_eq!(
        texts(&repository, &range.after, &paths),
        [some("two\n"), None, some("new\n"), None]
    );
}

#[test]
fn revisions_are_what_git_calls_them() {
    let lab = history();
    lab.git(&["checkout", "-q", "main"]);
    lab.git(&["tag", "-a", "-m", "x", "v1", "main~1"]);
    lab.git(&["branch", "-q", "side", "main~1"]);
    lab.git(&["checkout", "-q", "side"]);
    lab.commit("aside");
    let repository = lab.tree();
    let id = |words: &str| repository.commit(words).unwrap().id().to_owned();
    let range = |words: &str| {
        let found = repository.range(words).unwrap();
        (
            found.before.map(|one| one.id().to_owned()),
            found.after.id().to_owned(),
        )
    };
    let (first, second, aside) = (id("main~1"), id("main"), id("side"));
    let whole = |before: &str, after: &str| (Some(before.to_owned()), after.to_owned());
    assert_eq!(range("v1..main"), whole(&first, &second));
    assert_eq!(range("main.."), whole(&second, &aside));
    assert_eq!(range("..main"), whole(&aside, &second));
    assert_eq!(range("side...main"), whole(&first, &second));
    assert_eq!(range("main"), whole(&first, &second));
    assert_eq!(range(":/second"), whole(&first, &second));
    assert_eq!(range(&second[..10]), whole(&first, &second));
    assert_eq!(range("v1"), (None, first.clone()));
    assert_eq!(
        listed(&repository, &repository.range("v1").unwrap()),
        ["A fs/a.c", "A fs/b.h"]
    );
}

#[test]
fn what_is_no_revision_is_said_in_a_sentence() {
    let lab = history();
    lab.git(&["tag", "blob", "main:fs/a.c"]);
    let repository = lab.tree();
    let said = |words: &str| {
        let error = repository.range(words).unwrap_err().to_string();
        error.replace(&lab.path("tree").display().to_string(), "TREE")
    };
    assert_eq!(said("nowhere..main"), "git knows no commit nowhere in TREE");
    assert_eq!(
        said("main..no where"),
        "git knows no commit no where in TREE"
    );
    assert_eq!(
        said("--all..main"),
        "git knows no commit --all in TREE: that is no name of a revision"
    );
    assert_eq!(
        said("main...other"),
        "main...other: the two have no commit in common in TREE"
    );
    assert!(
        said("blob").starts_with("git knows no commit"),
        "{}",
        said("blob")
    );
    assert!(said("main~9").starts_with("git knows no commit main~9 in TREE"));
    let none = Repository::around(lab.dir.path(), &lab.runner).unwrap_err();
    assert!(
        none.to_string().contains("is in no git repository"),
        "{none}"
    );
}

#[test]
fn a_merge_is_what_it_brought_to_its_first_parent() {
    let lab = Lab::new();
    lab.write("a.c", "a\n");
    lab.commit("first");
    lab.git(&["checkout", "-q", "-b", "side"]);
    lab.write("side.c", "s\n");
    lab.commit("aside");
    lab.git(&["checkout", "-q", "main"]);
    lab.write("main.c", "m\n");
    lab.commit("on");
    lab.git(&["merge", "-q", "--no-ff", "--no-edit", "side"]);
    let repository = lab.tree();
    let of = |words: &str| listed(&repository, &repository.range(words).unwrap());
    assert_eq!(of("main"), ["A side.c"]);
    assert_eq!(of("main^2..main"), ["A main.c"]);
    let commits = repository
        .commits(&repository.range("main~2..main").unwrap())
        .unwrap();
    let subjects: Vec<&str> = commits
        .iter()
        .map(|(_, subject)| subject.as_str())
        .collect();
    assert_eq!(subjects, ["on", "Merge branch 'side'"]);
}

#[test]
fn a_shallow_clone_says_what_it_lacks() {
    let lab = history();
    let from = format!("file://{}", lab.path("tree").display());
    lab.git_in(
        "",
        &["clone", "-q", "--depth=1", "--branch=main", &from, "short"],
    );
    let repository = lab.at("short");
    for words in ["HEAD", "HEAD~1..HEAD", "HEAD~1"] {
        let said = repository.range(words).unwrap_err().to_string();
        assert!(said.contains("(a shallow clone)"), "{words}: {said}");
    }
}

#[test]
fn names_of_any_bytes_are_known() {
    let lab = Lab::new();
    let names: [&[u8]; 7] = [
        b"\xff\xfe.c",
        b"a\nb.c",
        b"a\tb.c",
        b"\"q\".c",
        b"-x.c",
        b" s p.c",
        b"\xc3\xbc.h",
    ];
    let path = |name: &[u8]| PathBuf::from(OsStr::from_bytes(name));
    for name in names {
        lab.write(path(name), "one\n");
    }
    lab.commit("first");
    for name in names {
        lab.write(path(name), "two\n");
    }
    lab.commit("second");
    lab.git(&["checkout", "-q", "main~1"]);
    let repository = lab.tree();
    let range = repository.range("main~1..main").unwrap();
    let paths: Vec<TreePath> = repository
        .differences(&range, &[".c"])
        .unwrap()
        .into_iter()
        .map(|one| one.path)
        .collect();
    let mut wanted: Vec<TreePath> = names
        .iter()
        .filter_map(|name| TreePath::new(name))
        .collect();
    wanted.sort();
    assert_eq!(paths, wanted);
    let after = repository.revision(&range.after).unwrap();
    let texts = repository.texts(&after, &paths).unwrap();
    assert!(texts.iter().all(|text| text.as_deref() == Some(b"two\n")));
    let since = repository.since(&range.after).unwrap();
    assert_eq!(since.changed, wanted.iter().cloned().collect());
    let now = manifest_of(&lab.path("tree"), &Interrupt::default()).unwrap();
    let change = repository.change_to(&after, &now).unwrap();
    assert_eq!(change.files.len(), names.len());
    let words = BTreeSet::from(["two".to_owned()]);
    // More than one pattern, and words that are too long to be many of one argument.
    let many = (0..20).map(|number| format!("{}{number}", "t".repeat(LONGEST / 2)));
    let many: BTreeSet<String> = many.chain(["two".to_owned(), "two$".to_owned()]).collect();
    let what = Words {
        words: &many,
        endings: &[".c"],
    };
    let odd = |path: &TreePath| *path == "a\nb.c";
    assert_eq!(repository.holds(&range.after, what, &odd).unwrap(), words);
    assert!(
        repository
            .holds(range.before.as_ref().unwrap(), what, &odd)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_repository_of_any_kind_is_read() {
    let lab = history();
    lab.git_in("", &["clone", "-q", "--bare", "tree", "bare.git"]);
    lab.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    for folder in ["bare.git", "linked", "tree/.git"] {
        let repository = lab.at(folder);
        let range = repository.range("main~1..main").unwrap();
        assert_eq!(listed(&repository, &range).len(), 3, "{folder}");
        assert_eq!(*repository.prefix(), TreePath::top(), "{folder}");
    }
    let lab = Lab::made(&["init", "-q", "-b", "main", "--object-format=sha256", "tree"]);
    lab.write("fs/a.c", "one\n");
    lab.commit("first");
    lab.write("fs/a.c", "two\n");
    lab.commit("second");
    lab.write("fs/a.c", "three\n");
    let repository = lab.at("tree/fs");
    assert_eq!(*repository.prefix(), "fs");
    let range = repository.range("HEAD").unwrap();
    assert_eq!(range.after.id().len(), 64);
    assert_eq!(listed(&repository, &range), ["M fs/a.c"]);
    assert_eq!(
        texts(&repository, &range.after, &["fs/a.c"]),
        [Some("two\n".to_owned())]
    );
    let now = manifest_of(&lab.path("tree/fs"), &Interrupt::default()).unwrap();
    let revision = repository.revision(&range.after).unwrap();
    let change = repository.change_to(&revision, &now).unwrap();
    let files: Vec<_> = change.files.into_iter().collect();
    assert_eq!(files, [(TreePath::within("a.c"), Some(b"two\n".to_vec()))]);
}

#[test]
fn no_setting_of_the_user_changes_an_answer() {
    let lab = history();
    lab.git(&["checkout", "-q", "main"]);
    lab.write("fs/a.c", "three\n");
    let ask = || {
        let repository = lab.tree();
        let range = repository.range("main~1..main").unwrap();
        let words = BTreeSet::from(["two".to_owned()]);
        let what = Words {
            words: &words,
            endings: &[".c", ".h"],
        };
        (
            listed(&repository, &range),
            repository.commits(&range).unwrap(),
            repository.since(&range.after).unwrap(),
            repository
                .subjects(&TreePath::within("fs/a.c"), 20)
                .unwrap(),
            repository.holds(&range.after, what, &|_| true).unwrap(),
        )
    };
    let before = ask();
    let mark = lab.path("ran");
    let hook = lab.path("hook");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.renames", "copies"),
        ("diff.relative", "true"),
        ("diff.orderFile", "/nowhere"),
        ("diff.external", hook.to_str().unwrap()),
        ("core.fsmonitor", hook.to_str().unwrap()),
        ("core.pager", hook.to_str().unwrap()),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("core.autocrlf", "true"),
        ("grep.column", "true"),
        ("grep.lineNumber", "true"),
        ("grep.patternType", "perl"),
        ("log.showSignature", "true"),
        ("log.decorate", "full"),
        ("format.pretty", "raw"),
        ("i18n.logOutputEncoding", "UTF-16"),
    ] {
        lab.git(&["config", key, value]);
    }
    assert_eq!(ask(), before);
    assert!(!mark.exists());
}

#[test]
fn reading_writes_nothing() {
    let lab = history();
    lab.git(&["checkout", "-q", "main"]);
    let index = lab.path("tree/.git/index");
    // A file whose time is newer than the index knows: git would note that.
    fs::File::open(lab.path("tree/new.c"))
        .unwrap()
        .set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60))
        .unwrap();
    let about = || {
        let about = fs::metadata(&index).unwrap();
        (about.ino(), about.mtime(), about.mtime_nsec())
    };
    let before = about();
    let repository = lab.tree();
    let since = repository
        .since(&repository.commit("HEAD").unwrap())
        .unwrap();
    assert_eq!(since, Since::default());
    assert_eq!(about(), before);
}

#[test]
fn a_work_tree_differs_by_what_it_holds() {
    let lab = history();
    lab.git(&["checkout", "-q", "main"]);
    lab.write("fs/a.c", "three\n");
    lab.write("fs/more.c", "more\n");
    fs::remove_file(lab.path("tree/new.c")).unwrap();
    let repository = lab.tree();
    let since = repository
        .since(&repository.commit("main~1").unwrap())
        .unwrap();
    let set = |names: &[&str]| -> BTreeSet<TreePath> {
        names.iter().map(|name| TreePath::within(name)).collect()
    };
    assert_eq!(since.changed, set(&["fs/a.c"]));
    assert_eq!(since.deleted, set(&["fs/b.h"]));
    assert_eq!(since.untracked, set(&["fs/more.c"]));
    let below = lab.at("tree/fs");
    let since = below.since(&below.commit("main~1").unwrap()).unwrap();
    assert_eq!(since.changed, set(&["a.c"]));
    assert_eq!(since.untracked, set(&["more.c"]));
}

#[test]
fn a_renamed_file_is_one_that_differs() {
    let lab = Lab::new();
    let text: String = (0..40).map(|line| format!("line {line}\n")).collect();
    lab.write("old.c", &text);
    lab.write("copied.c", "x\n");
    lab.write("gone.txt", "t\n");
    lab.commit("first");
    fs::remove_file(lab.path("tree/gone.txt")).unwrap();
    fs::rename(lab.path("tree/old.c"), lab.path("tree/fresh.c")).unwrap();
    lab.write("fresh.c", &text.replace("line 7\n", "seven\n"));
    lab.write("copy.c", "x\n");
    lab.write("run", "#!/bin/sh\n");
    fs::set_permissions(lab.path("tree/run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("fresh.c", lab.path("tree/link.c")).unwrap();
    lab.commit("second");
    let repository = lab.tree();
    let range = repository.range("HEAD").unwrap();
    assert_eq!(
        listed(&repository, &range),
        [
            "A copy.c",
            "R old.c -> fresh.c",
            "D gone.txt",
            "A link.c",
            "A run"
        ]
    );
    let revision = repository.revision(&range.after).unwrap();
    let mode = |name: &str| revision.files.get(&TreePath::within(name)).unwrap().mode;
    assert_eq!(
        [mode("run"), mode("link.c"), mode("copy.c")],
        [Mode::Program, Mode::Link, Mode::File]
    );
    assert_eq!(
        texts(&repository, &range.after, &["link.c", "run"])[0],
        None
    );
}

#[test]
fn a_revision_is_made_of_what_a_folder_holds() {
    let lab = Lab::new();
    lab.write("a.c", "one\n");
    lab.write("same.c", "same\n");
    lab.write("run", "#!/bin/sh\n");
    fs::set_permissions(lab.path("tree/run"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("a.c", lab.path("tree/link")).unwrap();
    lab.write(".gitignore", "*.log\n");
    let from = lab.path("tree").display().to_string();
    lab.commit("first");
    lab.git(&["submodule", "--quiet", "add", &from, "sub"]);
    lab.commit("second");
    lab.git(&["rm", "-q", "link", "run"]);
    lab.write("link", "a plain file\n");
    lab.write("run", "#!/bin/sh\n");
    lab.write("a.c", "one\r\n");
    lab.write("more.c", "untracked\n");
    lab.write("x.log", "ignored\n");
    lab.write("x.o", "object\n");
    let repository = lab.tree();
    let commit = repository.commit("HEAD").unwrap();
    let now = manifest_of(&lab.path("tree"), &Interrupt::default()).unwrap();
    let change = repository
        .change_to(&repository.revision(&commit).unwrap(), &now)
        .unwrap();
    let bytes = |name: &str| change.files.get(&TreePath::within(name)).cloned();
    assert_eq!(bytes("a.c"), Some(Some(b"one\n".to_vec())));
    assert_eq!(bytes("link"), Some(Some(b"a.c".to_vec())));
    assert_eq!(
        change.kinds.get(&TreePath::within("link")),
        Some(&Kind::Link)
    );
    assert_eq!(
        change.kinds.get(&TreePath::within("run")),
        Some(&Kind::Program)
    );
    assert_eq!(bytes("more.c"), Some(None));
    assert_eq!(bytes("x.log"), Some(None));
    assert_eq!([bytes("same.c"), bytes("x.o")], [None, None]);
    let other = tempfile::tempdir().unwrap();
    lab.git_in(
        "",
        &[
            "clone",
            "-q",
            "tree",
            other.path().join("c").to_str().unwrap(),
        ],
    );
    let wanted = manifest_of(&other.path().join("c"), &Interrupt::default()).unwrap();
    let without_sub =
        |manifest: &crate::tree::Manifest| manifest.id_of(|path| !path.is_below("sub/"));
    assert_eq!(without_sub(&now.with(&change)), without_sub(&wanted));
}

#[test]
fn an_object_that_is_too_large_or_missing_is_told_from_one_that_is_there() {
    let lab = history();
    let repository = lab.tree();
    let revision = repository
        .revision(&repository.commit("main").unwrap())
        .unwrap();
    let id = |name: &str| {
        revision
            .files
            .get(&TreePath::within(name))
            .unwrap()
            .id
            .clone()
    };
    let (a, new) = (id("fs/a.c"), id("new.c"));
    let none = "0123456789012345678901234567890123456789";
    let mut contents = repository.contents(&[&a, none, &new]).unwrap();
    contents.largest = 3;
    let all: Vec<Content> = contents.map(Result::unwrap).collect();
    assert_eq!(
        all,
        [Content::TooLarge(4), Content::Missing, Content::TooLarge(4)]
    );
    let object = lab.path("tree/.git/objects").join(&a[..2]).join(&a[2..]);
    fs::remove_file(object).unwrap();
    let error = repository
        .texts(&revision, &[TreePath::within("fs/a.c")])
        .unwrap_err();
    assert!(
        error.to_string().contains("names an object that"),
        "{error}"
    );
}
