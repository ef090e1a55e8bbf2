//! The files that are checked, and those that teach what a tree calls its windows.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rayon::prelude::*;
use tollgate_source::check::{CheckWords, Checker, Checks, Learned};
use tollgate_source::{GrammarError, Vocabulary};

use crate::tree::sources;

/// Headers that say what a tree calls its windows, where only some files of it
/// are checked.
const TEACHERS: [&str; 4] = [
    "include/linux/uaccess.h",
    "include/linux/compat.h",
    "include/linux/signal.h",
    "include/asm-generic/access_ok.h",
];

/// Checks what the paths of the command line name.
pub(crate) fn check(paths: &[PathBuf]) -> anyhow::Result<Checks> {
    match paths {
        [] => folder(Path::new(".")),
        [only] if only == Path::new("-") => standard_input(),
        [only] if only.is_dir() => folder(only),
        [tree, rest @ ..] if tree.is_dir() => {
            let files = listed(rest)?;
            files_of(tree, &files)
        }
        files => {
            let names: Vec<String> = files
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect();
            files_of(Path::new(""), &names)
        }
    }
}

/// The files that are named behind a tree, or listed on standard input.
fn listed(rest: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    if let [dash] = rest
        && dash == Path::new("-")
    {
        let lines: io::Result<Vec<String>> = io::stdin().lines().collect();
        let mut lines = lines.context("the list of files on standard input could not be read")?;
        lines.retain(|line| is_c(line.trim()));
        return Ok(lines.iter().map(|line| line.trim().to_owned()).collect());
    }
    Ok(rest
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect())
}

fn is_c(name: &str) -> bool {
    name.ends_with(".c") || name.ends_with(".h")
}

fn standard_input() -> anyhow::Result<Checks> {
    let mut text = Vec::new();
    io::stdin()
        .read_to_end(&mut text)
        .context("the source on standard input could not be read")?;
    let (vocabulary, words) = (Vocabulary::builtin()?, CheckWords::builtin()?);
    let mut checks = Checks::default();
    let checked = Checker::new(&vocabulary, &words)?.check(&text);
    checks.add("<stdin>", checked);
    checks.finish();
    Ok(checks)
}

/// Everything that a folder holds. Headers come first: they say what the tree
/// calls its windows.
fn folder(root: &Path) -> anyhow::Result<Checks> {
    let found = sources(root);
    let (headers, files): (Vec<String>, Vec<String>) = found
        .paths
        .into_iter()
        .partition(|path| path.ends_with(".h"));
    if headers.is_empty() && files.is_empty() {
        anyhow::bail!("{} holds no C file: nothing was checked", root.display());
    }
    let builtin = CheckWords::builtin()?;
    let learned = learned_from(root, &headers, &builtin)?;
    let words = builtin.with(&learned);
    let all: Vec<String> = headers.into_iter().chain(files).collect();
    let mut checks = run(root, &all, &words)?;
    for error in &found.unread {
        checks.miss(error, "the folder could not be listed".to_owned());
    }
    checks.finish();
    Ok(checks)
}

/// Some files; `root` is empty where they are named from the current folder.
fn files_of(root: &Path, files: &[String]) -> anyhow::Result<Checks> {
    if files.is_empty() {
        anyhow::bail!("no C file is named: nothing was checked");
    }
    let words = words_for(root, files)?;
    let mut checks = run(root, files, &words)?;
    checks.finish();
    Ok(checks)
}

/// The words for some files of a tree: what its own headers teach, and those
/// beside the files.
pub(crate) fn words_for(root: &Path, files: &[String]) -> anyhow::Result<CheckWords> {
    let builtin = CheckWords::builtin()?;
    let tree = files
        .iter()
        .map(|file| root.join(file))
        .find_map(|file| tree_around(&file))
        .unwrap_or_else(|| root.to_owned());
    let mut teachers: BTreeSet<PathBuf> = TEACHERS.iter().map(|name| tree.join(name)).collect();
    teachers.extend(architectures(&tree));
    for file in files
        .iter()
        .filter_map(|file| root.join(file).parent().map(Path::to_owned))
    {
        teachers.extend(headers_in(&file));
    }
    let names: Vec<String> = teachers
        .iter()
        .filter(|path| path.is_file())
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let learned = learned_from(Path::new(""), &names, &builtin)?;
    Ok(builtin.with(&learned))
}

/// The kernel tree that a file lies in.
fn tree_around(file: &Path) -> Option<PathBuf> {
    let full = fs::canonicalize(file).ok()?;
    let mut above = full.ancestors().skip(1);
    above
        .find(|folder| folder.join("include/linux/uaccess.h").is_file())
        .map(Path::to_owned)
}

fn architectures(tree: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(tree.join("arch")).into_iter().flatten();
    folders
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("include/asm/uaccess.h"))
        .collect()
}

fn headers_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "h"))
        .collect()
}

/// What headers teach. One that cannot be read is named when it is checked.
fn learned_from(root: &Path, headers: &[String], words: &CheckWords) -> anyhow::Result<Learned> {
    let vocabulary = Vocabulary::builtin()?;
    let checker = Checker::new(&vocabulary, words)?;
    drop(checker);
    let parts: Vec<Learned> = headers
        .par_chunks(64)
        .map_init(
            || Checker::new(&vocabulary, words),
            |checker, paths| {
                let mut all = Learned::default();
                for path in paths {
                    if let (Ok(checker), Ok(text)) = (checker.as_ref(), fs::read(root.join(path))) {
                        all.merge(checker.learn(&text));
                    }
                }
                all
            },
        )
        .collect();
    let mut all = Learned::default();
    parts.into_iter().for_each(|part| all.merge(part));
    Ok(all)
}

/// Files are read, checked and dropped one by one on each processor.
fn run(root: &Path, paths: &[String], words: &CheckWords) -> anyhow::Result<Checks> {
    let vocabulary = Vocabulary::builtin()?;
    let parts: Vec<Checks> = paths
        .par_chunks(32)
        .map_init(
            || Checker::new(&vocabulary, words),
            |checker, paths| part(root, checker, paths),
        )
        .collect();
    let mut all = Checks::default();
    parts.into_iter().for_each(|part| all.merge(part));
    Ok(all)
}

fn part(root: &Path, checker: &mut Result<Checker<'_>, GrammarError>, paths: &[String]) -> Checks {
    let mut checks = Checks::default();
    for path in paths {
        match (fs::read(root.join(path)), checker.as_mut()) {
            (Ok(text), Ok(checker)) => checks.add(path, checker.check(&text)),
            (Err(error), _) => checks.miss(path, error.to_string()),
            (_, Err(error)) => checks.miss(path, error.to_string()),
        }
    }
    checks
}
