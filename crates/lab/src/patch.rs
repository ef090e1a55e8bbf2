//! A patch file laid over a tree: which files it makes out of which. Done by
//! `git apply` in a scratch folder; the tree is only read.

mod damage;
mod ground;
mod header;
mod mail;

pub use damage::{Cause, Damage};
pub use ground::{AtCommit, Changed, File, Folder, Ground};
pub use header::diff_of;
pub use mail::{Part, Parts, parts, parts_of};

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tollgate_source::{Name, TreePath, shown};

use crate::cache::{self, Cache};
use crate::git;
use crate::process::{self, Runner};
use crate::tree::{self, Change, Kind};

/// Why a patch gives no variant.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The patch file cannot be read.
    #[error("could not read the patch {}: {source}", shown(.path))]
    Missing {
        /// The patch.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It holds no diff.
    #[error("{} holds no patch: {reason}", shown(.path))]
    NoPatch {
        /// The patch.
        path: PathBuf,
        /// What git said.
        reason: String,
    },
    /// It names a file outside the tree.
    #[error("{} names {file}, which is outside the tree; it was not applied", shown(.path))]
    Outside {
        /// The patch.
        path: PathBuf,
        /// The file that it names.
        file: Name,
    },
    /// It names a file behind a symbolic link of the tree.
    #[error("{} names {file}, which is behind the symbolic link {link}; name the file by its own path", shown(.path))]
    BehindLink {
        /// The patch.
        path: PathBuf,
        /// The file that it names.
        file: TreePath,
        /// The link.
        link: TreePath,
    },
    /// A hunk does not fit.
    #[error("{} does not apply to {ground}: {reason}{}", shown(.path), rejected(.hunk))]
    DoesNotApply {
        /// The patch.
        path: PathBuf,
        /// What it was laid over.
        ground: String,
        /// What git said first.
        reason: String,
        /// The hunks that were rejected.
        hunk: String,
    },
    /// Something was done to it on its way.
    #[error("{} is damaged in line {} of its diff ({text:?}): {}", shown(.path), .damage.line, .damage.cause)]
    Damaged {
        /// The patch.
        path: PathBuf,
        /// What was done, and where that shows first.
        damage: Damage,
        /// How that line begins.
        text: String,
    },
    /// The ground is as it would be after it.
    #[error("{} does not apply to {ground}: the tree has its change already", shown(.path))]
    There {
        /// The patch.
        path: PathBuf,
        /// What it was laid over.
        ground: String,
    },
    /// The tree could not be read.
    #[error(transparent)]
    Tree(#[from] tree::Error),
    /// The scratch folder could not be used.
    #[error(transparent)]
    Cache(#[from] cache::Error),
    /// The commit that it is laid over could not be read.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// git could not be run.
    #[error(transparent)]
    Process(process::Error),
}

/// All that is read of a mail or a diff without git, for the fuzz target.
pub(crate) fn read_any(text: &[u8]) {
    mail::read_any(text);
    assert!(header::strip(text) <= 1);
    for line in text.split(|byte| *byte == b'\n') {
        // In quotes it is a file of that name, as git takes it, and outside of every tree.
        let quoted = line.get(4) == Some(&b'"');
        assert!(quoted || header::names(line).iter().all(|name| name != b"/dev/null"));
    }
    assert!(header::sources(text).len() >= header::renames(text).len());
}

fn rejected(hunk: &str) -> String {
    if hunk.is_empty() {
        String::new()
    } else {
        format!("\n\nThe hunk that does not fit:\n\n{hunk}")
    }
}

/// A patch as git applies it: one diff, of one patch or of several that build on
/// each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// What it is called in messages: the file that was given.
    pub path: PathBuf,
    /// The diffs in the order in which they apply.
    pub diff: Vec<u8>,
    /// How many patches it holds: 1, or the mails of a mailbox that have one.
    pub patches: usize,
    /// The subjects of the patches of which the mailbox has a newer version.
    pub superseded: Vec<String>,
    /// The commit that it says it was made for, `base-commit:` of
    /// git-format-patch(1).
    pub base: Option<String>,
}

/// What a patch makes of the files that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The files after it.
    pub change: Change,
    /// Those files before it, where they were there.
    pub before: BTreeMap<TreePath, Vec<u8>>,
    /// What files that it renames were called before, by what they are called after.
    pub renamed: BTreeMap<TreePath, TreePath>,
}

/// What `patch` makes of the files of `ground`.
///
/// # Errors
/// With the hunk when it does not apply.
pub fn apply(
    patch: &Patch,
    ground: &dyn Ground,
    cache: &Cache,
    runner: &Runner,
) -> Result<Applied, Error> {
    in_scratch(patch, ground, cache, runner, |applier| {
        let (files, before) = applier.begin()?;
        applier.apply(&files)?;
        Ok(Applied {
            change: applier.collect(&files)?,
            before,
            renamed: header::renames(&patch.diff),
        })
    })
}

/// What `ground` was before `patch`; none where it does not have it, or no longer as the
/// patch has it.
///
/// # Errors
/// When the patch is none, or a file that it names cannot be read.
pub fn taken_back(
    patch: &Patch,
    ground: &dyn Ground,
    cache: &Cache,
    runner: &Runner,
) -> Result<Option<Change>, Error> {
    in_scratch(patch, ground, cache, runner, |applier| {
        let (files, _) = applier.begin()?;
        match applier.git(&["--reverse", "--whitespace=nowarn"]) {
            Ok(_) => Ok(Some(applier.collect(&files)?)),
            Err(process::Error::Failed { room, .. }) if room.is_empty() => Ok(None),
            Err(other) => Err(Error::Process(other)),
        }
    })
}

/// Does something with the files that a patch names, in a folder of its own.
fn in_scratch<T>(
    patch: &Patch,
    ground: &dyn Ground,
    cache: &Cache,
    runner: &Runner,
    work: impl FnOnce(&mut Applier<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let scratch = cache.scratch()?;
    let folder = scratch.path().join("tree");
    cache::make_folder(&folder)?;
    let file = scratch.path().join("diff");
    cache::write_scratch(&file, &patch.diff)?;
    work(&mut Applier {
        patch,
        file: &file,
        ground,
        folder: &folder,
        runner,
        strip: header::strip(&patch.diff),
    })
}

struct Applier<'a> {
    patch: &'a Patch,
    /// The diff that git reads.
    file: &'a Path,
    ground: &'a dyn Ground,
    folder: &'a Path,
    runner: &'a Runner,
    /// Folders that stand before the tree's own in the names of the diff: 1 for
    /// `a/` and `b/`.
    strip: usize,
}

/// What is said of a text that is neither a diff nor a mail.
const NO_DIFF: &str = "there is no diff in it; give a diff, a mail or a mailbox";

/// What git says of something that it cannot read as a patch, without advice on
/// git's own flags.
fn reason(message: &str, diff: &[u8]) -> String {
    if memchr::memmem::find(diff, b"\x1b[").is_some() {
        return "it holds the codes of a terminal's colours; write it with --no-color".to_owned();
    }
    if message.contains("No valid patches in input") {
        return NO_DIFF.to_owned();
    }
    let words = message.trim();
    words.strip_prefix("error: ").unwrap_or(words).to_owned()
}

/// Characters of a damaged line that are shown.
const SHOWN: usize = 60;
/// Lines that are shown of what does not fit.
const HUNK: usize = 24;

/// Files by their paths, with what they hold.
type Texts = BTreeMap<TreePath, Vec<u8>>;

impl Applier<'_> {
    /// Lays out the files that the patch names: their paths, and what they hold where
    /// they are there.
    fn begin(&mut self) -> Result<(Vec<TreePath>, Texts), Error> {
        let mut files = self.files()?;
        if self.strip == 1 && self.knows_only_without_prefix(&files)? {
            self.strip = 0;
            files = self.files()?;
        }
        let before = self.lay_out(&files)?;
        Ok((files, before))
    }

    /// Every path that the patch names, before and after.
    fn files(&self) -> Result<Vec<TreePath>, Error> {
        let listed = self
            .git(&["--numstat", "-z"])
            .map_err(|error| match error {
                process::Error::Failed { message, .. } => {
                    self.damaged().unwrap_or_else(|| Error::NoPatch {
                        path: self.patch.path.clone(),
                        reason: reason(&message, &self.patch.diff),
                    })
                }
                other => Error::Process(other),
            })?;
        // What a file is renamed or copied from is not listed.
        let sources = header::sources(&self.patch.diff);
        let names = names_of(&listed).map(<[u8]>::to_vec).chain(sources);
        let mut files: Vec<TreePath> = names
            .map(|name| self.inside(&name))
            .collect::<Result<_, _>>()?;
        files.sort();
        files.dedup();
        Ok(files)
    }

    fn inside(&self, name: &[u8]) -> Result<TreePath, Error> {
        TreePath::new(name).ok_or_else(|| Error::Outside {
            path: self.patch.path.clone(),
            file: name.into(),
        })
    }

    /// Whether no file of the diff is there, but one is when nothing is taken off
    /// the names, as `diff.noprefix` writes them.
    fn knows_only_without_prefix(&self, files: &[TreePath]) -> Result<bool, Error> {
        let any = |files: &[TreePath]| -> Result<bool, Error> {
            Ok(self.ground.read(files)?.iter().any(Option::is_some))
        };
        let whole = header::names(&self.patch.diff).into_iter();
        let whole: Option<Vec<TreePath>> = whole.map(|name| TreePath::new(&name)).collect();
        match whole {
            Some(whole) if !any(files)? => any(&whole),
            _ => Ok(false),
        }
    }

    /// Puts the files that are there where git looks for them.
    fn lay_out(&self, files: &[TreePath]) -> Result<BTreeMap<TreePath, Vec<u8>>, Error> {
        for file in files {
            self.not_behind_link(file)?;
        }
        let mut before = BTreeMap::new();
        for (path, found) in files.iter().zip(self.ground.read(files)?) {
            let Some(File { bytes, kind }) = found else {
                continue;
            };
            let target = self.folder.join(path);
            if let Some(parent) = target.parent() {
                cache::make_folder(parent)?;
            }
            match kind {
                Kind::Link => link(&bytes, &target)?,
                Kind::File => cache::write_scratch(&target, &bytes)?,
                Kind::Program => {
                    cache::write_scratch(&target, &bytes)?;
                    cache::make_executable(&target)?;
                }
            }
            before.insert(path.clone(), bytes);
        }
        Ok(before)
    }

    /// Whatever is behind a link is another file of the tree, or lies outside.
    fn not_behind_link(&self, file: &TreePath) -> Result<(), Error> {
        let mut link = file.folder();
        while link != TreePath::top() {
            if self.ground.is_link(&link) {
                return Err(Error::BehindLink {
                    path: self.patch.path.clone(),
                    file: file.clone(),
                    link,
                });
            }
            link = link.folder();
        }
        Ok(())
    }

    fn apply(&self, files: &[TreePath]) -> Result<(), Error> {
        match self.git(&["--reject", "--whitespace=nowarn"]) {
            Ok(_) => Ok(()),
            Err(process::Error::Failed { message, room, .. }) if room.is_empty() => {
                Err(self.misfit(&message, files))
            }
            Err(other) => Err(Error::Process(other)),
        }
    }

    /// Why it does not fit: one cause where there is one, else the hunk.
    fn misfit(&self, message: &str, files: &[TreePath]) -> Error {
        let hunk = self.rejects();
        let (path, ground) = (self.patch.path.clone(), self.ground.name());
        if let Some(damaged) = self.damaged() {
            return damaged;
        }
        // What git has begun is undone first.
        let reverse = ["--reverse", "--check", "--whitespace=nowarn"];
        if self.lay_out(files).is_ok() && self.git(&reverse).is_ok() {
            return Error::There { path, ground };
        }
        Error::DoesNotApply {
            path,
            ground,
            reason: first_error(message),
            hunk,
        }
    }

    /// What was done to the diff on its way, if that can be told.
    fn damaged(&self) -> Option<Error> {
        let diff = &self.patch.diff;
        let read = |path: &Path| {
            let path = TreePath::new(path.as_os_str().as_bytes())?;
            // What cannot be read has been named before; nothing is known of it here.
            let Ok(mut found) = self.ground.read(&[path]) else {
                return None;
            };
            found.pop()?.map(|file| file.bytes)
        };
        let damage = damage::damage(diff, &read)?;
        let mut lines = diff.split(|byte| *byte == b'\n');
        let line = lines.nth(damage.line.saturating_sub(1)).unwrap_or_default();
        let text = String::from_utf8_lossy(line).chars().take(SHOWN).collect();
        Some(Error::Damaged {
            path: self.patch.path.clone(),
            damage,
            text,
        })
    }

    fn collect(&self, files: &[TreePath]) -> Result<Change, Error> {
        let mut change = Change::default();
        let found = Folder::new(self.folder).read(files)?;
        for (path, found) in files.iter().zip(found) {
            if let Some(found) = &found {
                change.kinds.insert(path.clone(), found.kind);
            }
            let bytes = found.map(|found| found.bytes);
            change.files.insert(path.clone(), bytes);
        }
        Ok(change)
    }

    fn rejects(&self) -> String {
        let found = ignore::WalkBuilder::new(self.folder)
            .standard_filters(false)
            .build();
        let is_reject = |path: &Path| path.extension().is_some_and(|ending| ending == "rej");
        let mut text = String::new();
        for file in found {
            let reject = match file {
                Ok(file) if !is_reject(file.path()) => continue,
                Ok(file) => fs::read(file.path()).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            text += &match reject {
                Ok(bytes) => indented(&String::from_utf8_lossy(&bytes)),
                Err(error) => indented(&format!(
                    "a hunk that git has put aside is not shown: {error}"
                )),
            };
        }
        let lines: Vec<&str> = text.lines().collect();
        let shown = lines.get(..HUNK).map(|lines| lines.join("\n"));
        match shown {
            None => text,
            Some(shown) => format!("{shown}\n  ... and {} more lines\n", lines.len() - HUNK),
        }
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, process::Error> {
        let mut command = git::isolated(self.folder);
        command.arg("apply").arg(format!("-p{}", self.strip));
        self.runner.output(command.args(arguments).arg(self.file))
    }
}

fn link(to: &[u8], target: &Path) -> Result<(), Error> {
    symlink(OsStr::from_bytes(to), target).map_err(|source| {
        Error::Cache(cache::Error::Write {
            path: target.to_owned(),
            source,
        })
    })
}

/// `added TAB removed TAB path NUL`; of a rename only the name after it
/// (git-apply(1) under `--numstat -z`).
fn names_of(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let fields = listed.split(|byte| *byte == 0);
    let names = fields.filter_map(|field| field.splitn(3, |byte| *byte == b'\t').nth(2));
    names.filter(|name| !name.is_empty())
}

/// git first shows the lines that it looked for, then says where it failed.
fn first_error(message: &str) -> String {
    let errors = || {
        message
            .lines()
            .filter_map(|line| line.trim().strip_prefix("error: "))
    };
    let failed = errors().find(|error| error.starts_with("patch failed"));
    failed
        .or_else(|| errors().next())
        .unwrap_or("git said nothing")
        .to_owned()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Interrupt;
    use crate::tree::Tree;

    struct Fixture {
        dir: tempfile::TempDir,
        tree: Tree,
        cache: Cache,
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let tree = crate::fixture::kernel(&dir.path().join("tree"));
            let cache = Cache::open(&dir.path().join("cache")).unwrap();
            Self { dir, tree, cache }
        }

        fn apply(&self, patch: &str) -> Result<Change, Error> {
            let path = self.dir.path().join("x.patch");
            fs::write(&path, patch).unwrap();
            let runner = Runner::new(Interrupt::default(), None);
            let patch = Patch::read(&path, &self.cache, &runner)?;
            let applied = apply(&patch, &self.tree, &self.cache, &runner)?;
            Ok(applied.change)
        }
    }

    fn mail(number: &str, diff: &str) -> String {
        format!(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
             From: A <a@example.org>\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\
             Subject: [PATCH {number}] x\n\nWhy.\n---\n a.h | 2 +-\n\n{diff}-- \n2.39.5\n\n"
        )
    }

    #[test]
    fn the_mails_of_a_mailbox_build_on_each_other_in_their_order() {
        let fixture = Fixture::new();
        let second = GOOD.replace("-two\n+2", "-2\n+zwei");
        let cover = mail("0/2", "");
        let mailbox = cover + &mail("2/2", &second) + &mail("1/2", GOOD);
        let change = fixture.apply(&mailbox).unwrap();
        let file = change
            .files
            .get(&TreePath::within("include/linux/a.h"))
            .unwrap();
        assert_eq!(file.as_deref(), Some(b"one\nzwei\nthree\n".as_slice()));
    }

    #[test]
    fn a_patch_is_taken_back_from_what_has_it_alone() {
        let fixture = Fixture::new();
        let runner = Runner::new(Interrupt::default(), None);
        let patch = Patch::plain(Path::new("x.patch"), GOOD.into());
        let back =
            |ground: &dyn Ground| taken_back(&patch, ground, &fixture.cache, &runner).unwrap();
        assert_eq!(back(&fixture.tree), None);
        let change = fixture.apply(GOOD).unwrap();
        let words = "with it";
        let (tree, after) = (&fixture.tree, &change);
        let after = Changed {
            ground: tree,
            change: after,
            words,
        };
        let before = back(&after).unwrap();
        let path = TreePath::within("include/linux/a.h");
        assert_eq!(
            before.files.get(&path).unwrap().as_deref(),
            Some(b"one\ntwo\nthree\n".as_slice())
        );
        assert!(after.name().ends_with("with it"), "{}", after.name());
    }

    #[test]
    fn names_without_a_prefix_are_known_by_the_files_that_are_there() {
        let fixture = Fixture::new();
        let bare = GOOD
            .replace("a/include", "include")
            .replace("b/include", "include");
        let change = fixture.apply(&bare).unwrap();
        let names: Vec<String> = change.files.keys().map(ToString::to_string).collect();
        assert_eq!(names, ["include/linux/a.h"]);
    }

    #[test]
    fn a_mail_in_another_encoding_is_decoded() {
        let fixture = Fixture::new();
        let quoted = GOOD.replace("=", "=3D").replace("+2\n", "+=32\n");
        let text = mail("", &quoted).replace(
            "Subject:",
            "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n\
             Content-Transfer-Encoding: quoted-printable\nSubject:",
        );
        let change = fixture.apply(&text).unwrap();
        let file = change
            .files
            .get(&TreePath::within("include/linux/a.h"))
            .unwrap();
        assert_eq!(file.as_deref(), Some(b"one\n2\nthree\n".as_slice()));
    }

    #[test]
    fn a_mailbox_without_a_patch_says_so() {
        let error = Fixture::new().apply(&mail("0/2", "")).unwrap_err();
        assert!(error.to_string().contains("holds no patch"), "{error}");
    }

    const GOOD: &str = "--- a/include/linux/a.h\n+++ b/include/linux/a.h\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

    #[test]
    fn a_patch_gives_whole_files_and_leaves_the_tree_alone() {
        let fixture = Fixture::new();
        let change = fixture.apply(GOOD).unwrap();
        let file = change
            .files
            .get(&TreePath::within("include/linux/a.h"))
            .unwrap();
        assert_eq!(file.as_deref(), Some(b"one\n2\nthree\n".as_slice()));
        assert_eq!(
            fixture
                .tree
                .read(&TreePath::within("include/linux/a.h"))
                .unwrap(),
            b"one\ntwo\nthree\n"
        );
    }

    #[test]
    fn new_and_deleted_files_are_part_of_the_change() {
        let fixture = Fixture::new();
        let patch = "diff --git a/include/linux/a.h b/include/linux/a.h\ndeleted file mode 100644\n\
                     --- a/include/linux/a.h\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n\
                     diff --git a/b.c b/b.c\nnew file mode 100644\n--- /dev/null\n+++ b/b.c\n\
                     @@ -0,0 +1 @@\n+new\n";
        let change = fixture.apply(patch).unwrap();
        assert_eq!(
            change.files.get(&TreePath::within("include/linux/a.h")),
            Some(&None)
        );
        assert_eq!(
            change.files.get(&TreePath::within("b.c")),
            Some(&Some(b"new\n".to_vec()))
        );
    }

    #[test]
    fn a_hunk_that_does_not_fit_is_shown() {
        let error = Fixture::new()
            .apply(&GOOD.replace("-two", "-zwei"))
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("does not apply to Linux 6.12.7-rc1: patch failed: include/linux/a.h:1"),
            "{text}"
        );
        assert!(text.contains("  -zwei\n  +2\n"), "{text}");
    }

    #[test]
    fn what_was_done_to_a_patch_is_one_sentence() {
        let fixture = Fixture::new();
        let wide: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let done = [
            (
                GOOD.replace('\n', "\r\n").into_bytes(),
                "line 4 of its diff (\" one\\r\"): its lines end in CR LF",
            ),
            (GOOD.replace("\n one", "\n  one").into_bytes(), "line 4"),
            (
                GOOD.replace("-two", "-t=77o").into_bytes(),
                "it is quoted-printable and was not decoded",
            ),
            ([b"\xff\xfe".to_vec(), wide].concat(), "it is UTF-16"),
            (
                GOOD.replace(" three\n", "").into_bytes(),
                "the hunk has other lines than its header says",
            ),
        ];
        for (patch, wanted) in done {
            let path = fixture.dir.path().join("x.patch");
            fs::write(&path, &patch).unwrap();
            let runner = Runner::new(Interrupt::default(), None);
            let patch = Patch::read(&path, &fixture.cache, &runner).unwrap();
            let error = apply(&patch, &fixture.tree, &fixture.cache, &runner).unwrap_err();
            let said = error.to_string();
            assert!(
                said.contains("x.patch is damaged in line") && said.contains(wanted),
                "{said}"
            );
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }

    #[test]
    fn a_change_that_is_there_already_is_said() {
        let error = Fixture::new()
            .apply(&GOOD.replace("-two\n+2", "-2\n+two"))
            .unwrap_err();
        let said = error.to_string();
        assert!(said.ends_with("the tree has its change already"), "{said}");
    }

    #[test]
    fn of_a_long_hunk_the_beginning_is_shown() {
        let lines: String = (0..200).map(|line| format!("-line {line}\n")).collect();
        let patch = GOOD
            .replace("-1,3 +1,3", "-1,203 +1,3")
            .replace("-two\n", &format!("-two\n{lines}"));
        let said = Fixture::new().apply(&patch).unwrap_err().to_string();
        assert!(
            said.lines().count() < 40 && said.contains("more lines"),
            "{said}"
        );
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Fixture::new()
            .apply(&GOOD.replace("a.h", "nowhere.h"))
            .unwrap_err();
        assert!(
            error.to_string().contains("include/linux/nowhere.h"),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_patch_says_so() {
        let error = Fixture::new().apply("hello\n").unwrap_err();
        let said = error.to_string();
        assert!(
            said.ends_with("there is no diff in it; give a diff, a mail or a mailbox"),
            "{said}"
        );
    }

    #[test]
    fn a_patch_cannot_leave_the_tree() {
        let fixture = Fixture::new();
        let error = fixture
            .apply(&GOOD.replace("include/linux/a.h", "../../evil.h"))
            .unwrap_err();
        assert!(
            matches!(error, Error::Outside { .. } | Error::NoPatch { .. }),
            "{error}"
        );
    }
}
