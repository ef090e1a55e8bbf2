//! A change: a diff, mails, or a range of git history. The files before and
//! after it are checked; what both have is not reported. The tree is only read.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use tollgate_lab::cache::Cache;
use tollgate_lab::input;
use tollgate_lab::patch;
use tollgate_lab::process::{Interrupt, Runner};
use tollgate_lab::tree::Tree;
use tollgate_source::check::{Checker, Checks};
use tollgate_source::{TreePath, Vocabulary};

use super::input::{Answer, words_beside};

/// A file before and after; `None` where it is not there.
#[derive(Default)]
struct Sides {
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

type Files = BTreeMap<TreePath, Sides>;

/// What a change adds to what the rules say.
pub(crate) fn check(paths: &[PathBuf], change: &OsStr) -> anyhow::Result<Answer> {
    let root = match paths {
        [] => Path::new("."),
        [tree] if tree.is_dir() => tree,
        _ => bail!("--patch takes the kernel tree that the change is for, and no files"),
    };
    let range = change.to_str().filter(|text| text.contains(".."));
    let files = match range.filter(|_| !Path::new(change).exists()) {
        Some(range) => self::range(root, range)?,
        None => diff(root, Path::new(change))?,
    };
    Ok(Answer {
        checks: compared(root, &files)?,
        named: HashSet::new(),
    })
}

fn compared(root: &Path, files: &Files) -> anyhow::Result<Checks> {
    let (c, not_c): (Vec<&TreePath>, Vec<&TreePath>) = files.keys().partition(|name| name.is_c());
    let places: Vec<PathBuf> = c.iter().map(|name| root.join(name)).collect();
    let (vocabulary, words) = (Vocabulary::builtin()?, words_beside(root, &places)?);
    let mut checker = Checker::new(&vocabulary, &words)?;
    let (mut old, mut new) = (Checks::default(), Checks::default());
    for (name, sides) in files.iter().filter(|(name, _)| name.is_c()) {
        let before = sides.before.as_deref().unwrap_or_default();
        old.add(name, checker.check(before));
        if let Some(after) = &sides.after {
            new.add(name, checker.check_change(before, after));
        }
    }
    old.finish();
    new.finish();
    new.keep_new(&old);
    new.left_out.not_c = not_c.into_iter().map(|name| name.name().clone()).collect();
    Ok(new)
}

/// A diff or an mbox, applied by git in a scratch folder.
fn diff(root: &Path, file: &Path) -> anyhow::Result<Files> {
    let scratch = tempfile::tempdir().context("no scratch folder could be made for the patch")?;
    let mut path = file.to_owned();
    if file == Path::new("-") {
        let text =
            input::limited(io::stdin()).context("the patch on standard input could not be read")?;
        path = scratch.path().join("stdin.patch");
        std::fs::write(&path, text).context("the patch could not be put aside")?;
    }
    let tree = Tree::open(root)?;
    let cache = Cache::open(&scratch.path().join("cache"))?;
    let runner = Runner::new(Interrupt::default(), None);
    let patch = patch::Patch::read(&path, &cache, &runner)?;
    let change = patch::apply(&patch, &tree, &cache, &runner)?;
    let mut files = Files::new();
    for (name, after) in change.files {
        let before = input::source(&root.join(&name)).ok();
        files.insert(name, Sides { before, after });
    }
    Ok(files)
}

/// `A..B`, or `A...B` from where the two parted.
fn range(root: &Path, text: &str) -> anyhow::Result<Files> {
    let (first, last) = match text.split_once("...") {
        Some((first, last)) => {
            let (first, last) = (or_head(first), or_head(last));
            let base = git(root, &["merge-base", "--end-of-options", first, last])?;
            (String::from_utf8_lossy(&base).trim().to_owned(), last)
        }
        None => {
            let (first, last) = text.split_once("..").unwrap_or((text, ""));
            (or_head(first).to_owned(), or_head(last))
        }
    };
    let list = [
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--relative",
        "--end-of-options",
        &first,
        last,
        "--",
    ];
    let listed = git(root, &list)?;
    let mut files = Files::new();
    let names = listed.split(|byte| *byte == 0).filter_map(TreePath::new);
    for name in names.filter(|name| *name != TreePath::top()) {
        let side = |revision: &str| {
            let object = format!("{revision}:./{}", name.lossy());
            git(root, &["show", &object]).ok()
        };
        let sides = match name.is_c() {
            true => Sides {
                before: side(&first),
                after: side(last),
            },
            false => Sides::default(),
        };
        files.insert(name, sides);
    }
    Ok(files)
}

fn or_head(revision: &str) -> &str {
    if revision.is_empty() {
        "HEAD"
    } else {
        revision
    }
}

fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    if let Some(reason) = crate::patch::not_a_repository(root) {
        bail!("the change is not known: git says: {reason}");
    }
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .env("LC_ALL", "C")
        .output()
        .context("git could not be started; it knows what the range changes")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().next().unwrap_or("it gave no reason");
        bail!(
            "the change is not known: git {}: {first}",
            arguments.first().unwrap_or(&"")
        );
    }
    Ok(output.stdout)
}
