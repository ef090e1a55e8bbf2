//! A change: a diff, mails, a commit, or a range of git history. Both sides are
//! checked; what both have is not reported. The tree is only read.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use tollgate_defect::answer;

use anyhow::{Context, bail};
use rayon::prelude::*;
use tollgate_lab::cache::Cache;
use tollgate_lab::git::{self, Content, Difference, Range, Repository};
use tollgate_lab::input;
use tollgate_lab::patch::{self, Applied, AtCommit, Folder, Ground, Patch};
use tollgate_lab::process::Runner;
use tollgate_lab::tree::{Change, Tree};
use tollgate_source::check::{CheckWords, Checked, Checker, Checks, Confidence, Severity};
use tollgate_source::{GrammarError, Headers, Name, TreePath, Vocabulary, shown};

use super::input::{Answer, STANDARD_INPUT};
use super::side::{Base, C, Side, Sought};
use crate::patch::note_superseded;
use crate::signals;
use crate::term::Term;

/// A C file before and after; none where it is not there.
struct File {
    /// Its path, after the change where it is there.
    path: TreePath,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    /// Why a side of it was not read.
    unread: Option<String>,
}

impl File {
    /// Whether there may be something to check in it.
    fn is_suspect(&self, words: &CheckWords) -> bool {
        let sides = [&self.before, &self.after];
        sides.into_iter().flatten().any(|text| words.suspects(text))
    }
}

/// What a change adds to what the rules say.
pub(crate) fn check(paths: &[PathBuf], change: &OsStr, term: &Term) -> anyhow::Result<Answer> {
    let root = match paths {
        [] => Path::new("."),
        [tree] if tree.is_dir() => tree,
        _ => bail!("--patch takes the kernel tree that the change is for, and no files"),
    };
    let runner = Runner::new(signals::interrupt().clone(), None);
    let words = change.to_str();
    let asked = words.map(|words| git::asked(words, root, &runner));
    let checks = match asked.transpose()?.flatten() {
        Some((repository, asked)) => range(&repository, &asked, term)?,
        None => diff(root, Path::new(change), &runner, term)?,
    };
    Ok(Answer {
        checks,
        named: HashSet::new(),
    })
}

/// What a range of history adds, whatever is checked out.
fn range(repository: &Repository<'_>, range: &Range, term: &Term) -> anyhow::Result<Checks> {
    let all = repository.differences(range, &C)?;
    let (own, outside): (Vec<Difference>, Vec<Difference>) = all
        .into_iter()
        .partition(|one| repository.below(&one.path).is_some());
    if !outside.is_empty() {
        let files = count(outside.len(), "file");
        let folder = shown(repository.folder());
        term.note(&format!(
            "not checked: {files} that {} changes outside {folder}",
            range.asked
        ));
    }
    let (differ, other): (Vec<Difference>, Vec<Difference>) =
        own.into_iter().partition(|one| one.path.is_c());
    let others = other.into_iter().map(|one| one.path).collect();
    if differ.is_empty() {
        return Ok(nothing(&range.asked, others, term));
    }
    let files = read(repository, &differ)?;
    let after = repository.revision(&range.after)?;
    let before = range.before.as_ref();
    let before = before
        .map(|commit| repository.revision(commit))
        .transpose()?;
    let before = before.as_ref().unwrap_or(&after);
    Comparison {
        before: Side::new(Base::Commit(repository, before), BTreeMap::new()),
        after: Side::new(Base::Commit(repository, &after), BTreeMap::new()),
        shown: &|path| repository.below(path).unwrap_or_else(|| path.clone()),
        files,
        others,
    }
    .checks()
}

/// A change without C files leaves nothing to say.
fn nothing(what: &str, others: Vec<TreePath>, term: &Term) -> Checks {
    let words = match others.len() {
        0 => "it changes nothing".to_owned(),
        others => format!("it changes {} of other kinds", count(others, "file")),
    };
    term.note(&format!(
        "{what} touches no C file ({words}): nothing was checked"
    ));
    let mut checks = Checks::default();
    checks.left_out.not_c = others.into_iter().map(Name::from).collect();
    checks
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Both sides of files, out of git's objects. Texts without anything to check are
/// let go as soon as they are read.
fn read(repository: &Repository<'_>, differ: &[Difference]) -> anyhow::Result<Vec<File>> {
    let blobs = differ.iter().flat_map(|one| [&one.before, &one.after]);
    let blobs = blobs.flatten().filter(|blob| blob.is_file());
    let ids: Vec<&str> = blobs.map(|blob| blob.id.as_str()).collect();
    let mut contents = repository.contents(&ids)?;
    let mut files = Vec::new();
    for one in differ {
        let mut file = File {
            path: one.path.clone(),
            before: None,
            after: None,
            unread: None,
        };
        for (blob, after) in [(&one.before, false), (&one.after, true)] {
            if !blob.as_ref().is_some_and(|blob| blob.is_file()) {
                continue;
            }
            let text = match contents.next().transpose()? {
                Some(Content::Bytes(bytes)) => Some(bytes),
                Some(Content::TooLarge(_)) => {
                    file.unread = Some(input::too_large().to_string());
                    None
                }
                Some(Content::Missing) | None => {
                    file.unread = Some("the repository lacks its text".to_owned());
                    None
                }
            };
            *(if after {
                &mut file.after
            } else {
                &mut file.before
            }) = text;
        }
        // A link or a submodule by that name has no text of its own.
        if file.before.is_some() || file.after.is_some() || file.unread.is_some() {
            files.push(file);
        }
    }
    Ok(files)
}

/// A diff or mails, laid over the commit that they say they were made for where the
/// tree's history has it and they fit there, else over the tree as it is.
fn diff(root: &Path, file: &Path, runner: &Runner, term: &Term) -> anyhow::Result<Checks> {
    let scratch = tempfile::tempdir().context("no scratch folder could be made for the patch")?;
    let (mut path, mut called) = (file.to_owned(), file);
    if file == Path::new("-") {
        called = Path::new(STANDARD_INPUT);
        let text =
            input::limited(io::stdin()).context("the patch on standard input could not be read")?;
        path = scratch.path().join("stdin.patch");
        std::fs::write(&path, text).context("the patch could not be put aside")?;
    }
    let cache = Cache::open(&scratch.path().join("cache"))?;
    let mut patch = Patch::read(&path, &cache, runner)?;
    patch.path = called.to_owned();
    note_superseded(&patch.superseded, term);
    let lay_over = |ground: &dyn Ground| patch::apply(&patch, ground, &cache, runner);
    if let Some((repository, base)) = stated_base(root, &patch, runner) {
        let revision = repository.revision(&base)?;
        let ground = AtCommit {
            repository: &repository,
            revision: &revision,
        };
        match lay_over(&ground) {
            Ok(applied) => {
                let base = ground.name();
                term.note(&format!("laid over {base}, which the patch says it was made for"));
                let place = |path: &TreePath| repository.whole(path);
                let base = || Base::Commit(&repository, &revision);
                return compared(&base, applied, &place, called, term);
            }
            Err(error) => term.note(&format!(
                "laid over the tree as it is, since it does not fit what it says it was made for: {error}"
            )),
        }
    }
    let tree = Tree::open(root);
    let folder = Folder::new(root);
    // A folder need not be a whole kernel tree.
    let ground: &dyn Ground = match &tree {
        Ok(tree) => tree,
        Err(_) => &folder,
    };
    let applied = lay_over(ground)?;
    compared(
        &|| Base::Folder(root),
        applied,
        &TreePath::clone,
        called,
        term,
    )
}

/// The commit of the line `base-commit:` (git-format-patch(1)), if the repository
/// around the tree has it.
#[expect(
    clippy::disallowed_methods,
    reason = "whether the repository has it was asked"
)]
fn stated_base<'r>(
    root: &Path,
    patch: &Patch,
    runner: &'r Runner,
) -> Option<(Repository<'r>, git::Commit)> {
    let base = patch.base.as_ref()?;
    let repository = Repository::around(root, runner).ok()?;
    let commit = repository.commit(base).ok()?;
    Some((repository, commit))
}

/// What a change adds between two states of a tree, each given by what makes it of
/// the tree as it is.
pub(crate) fn between(
    root: &Path,
    before: &Change,
    after: &Change,
    applied: Applied,
) -> anyhow::Result<Checks> {
    let mut files = Vec::new();
    for (path, text) in applied.change.files {
        if path.is_c() {
            files.push(File {
                before: applied.before.get(&path).cloned(),
                path,
                after: text,
                unread: None,
            });
        }
    }
    if files.is_empty() {
        return Ok(Checks::default());
    }
    let mut checks = Comparison {
        before: Side::new(Base::Folder(root), before.files.clone()),
        after: Side::new(Base::Folder(root), after.files.clone()),
        shown: &TreePath::clone,
        files,
        others: Vec::new(),
    }
    .checks()?;
    checks.keep(Severity::Warning, Confidence::Medium, &[]);
    Ok(checks)
}

fn compared<'a>(
    base: &dyn Fn() -> Base<'a>,
    applied: Applied,
    place: &(dyn Fn(&TreePath) -> TreePath + Sync),
    patch: &Path,
    term: &Term,
) -> anyhow::Result<Checks> {
    let renamed: BTreeSet<&TreePath> = applied.renamed.values().collect();
    let mut files = Vec::new();
    let mut others = Vec::new();
    for (path, after) in &applied.change.files {
        if after.is_none() && renamed.contains(path) {
            continue;
        }
        if !path.is_c() {
            others.push(path.clone());
            continue;
        }
        let old = applied.renamed.get(path).unwrap_or(path);
        files.push(File {
            path: place(path),
            before: applied.before.get(old).cloned(),
            after: after.clone(),
            unread: None,
        });
    }
    if files.is_empty() {
        return Ok(nothing(&shown(patch), others, term));
    }
    let changed = applied.change.files.into_iter();
    let changed = changed.map(|(path, after)| (place(&path), after)).collect();
    Comparison {
        before: Side::new(base(), BTreeMap::new()),
        after: Side::new(base(), changed),
        shown: &|path| {
            let below = answer::below(path.as_path(), place(&TreePath::top()).as_path());
            let below = below.and_then(|path| TreePath::new(path.as_os_str().as_bytes()));
            below.unwrap_or_else(|| path.clone())
        },
        files,
        others,
    }
    .checks()
}

/// The files of a change with what they are read against.
struct Comparison<'a> {
    before: Side<'a>,
    after: Side<'a>,
    /// What people are shown of a path.
    shown: &'a (dyn Fn(&TreePath) -> TreePath + Sync),
    files: Vec<File>,
    /// What of the change is no C file.
    others: Vec<TreePath>,
}

impl Comparison<'_> {
    fn checks(mut self) -> anyhow::Result<Checks> {
        let mut checks = Checks::default();
        let paths = self.files.iter().map(|file| &file.path);
        let headers = paths.filter(|path| path.is_header());
        let headers: Vec<TreePath> = headers.cloned().collect();
        let others = self.others.drain(..);
        checks.left_out.not_c = others.map(|path| (self.shown)(&path).into()).collect();
        let builtin = Vocabulary::shared()?;
        self.files.retain(|file| {
            let (suspect, name) = (file.is_suspect(builtin.words()), (self.shown)(&file.path));
            if let Some(reason) = &file.unread {
                checks.miss(&name, reason.clone());
            } else if !suspect && file.after.is_some() {
                checks.add(&name, Checked::default());
            }
            suspect
        });
        let vocabulary = Vocabulary::builtin()?;
        let before = self
            .before
            .words(&self.texts(|file| file.before.as_deref()), &headers)?;
        let after = self
            .after
            .words(&self.texts(|file| file.after.as_deref()), &headers)?;
        let old_tree = |path: &TreePath| self.before.header(path);
        let new_tree = |path: &TreePath| self.after.header(path);
        let (old_headers, new_headers) = (Headers::new(&old_tree)?, Headers::new(&new_tree)?);
        let sought = self.undefined(&Checker::new(&vocabulary, &after, &new_headers)?)?;
        for (path, error) in sought.unread {
            let name = (self.shown)(&path);
            checks.miss(&name, format!("{error}, so it is not known which names that the change calls are defined nowhere"));
        }
        let after = after.with_undefined(&sought.undefined);
        let old = || Checker::new(&vocabulary, &before, &old_headers);
        let new = || Checker::new(&vocabulary, &after, &new_headers);
        let (old, new) = self.both(&old, &new)?;
        checks.merge(new);
        checks.finish();
        checks.keep_new(&old);
        self.after.spare(&mut checks, &after)?;
        Ok(checks)
    }

    fn texts<'f>(
        &'f self,
        side: impl Fn(&'f File) -> Option<&'f [u8]>,
    ) -> BTreeMap<TreePath, &'f [u8]> {
        let texts = self.files.iter();
        texts
            .filter_map(|file| Some((file.path.clone(), side(file)?)))
            .collect()
    }

    /// What the change begins to call, and nothing defines.
    fn undefined(&self, checker: &Checker<'_>) -> anyhow::Result<Sought> {
        let mut names = BTreeSet::new();
        for file in &self.files {
            names.extend(checker.new_calls(text(&file.before), text(&file.after)));
        }
        for file in &self.files {
            let mentioned = checker.mentions(text(&file.after), &names);
            names.retain(|name| !mentioned.contains(name));
        }
        let held = self.files.iter().map(|file| &file.path).collect();
        self.after.undefined(names, &held)
    }

    /// What the rules say of each side.
    fn both<'c>(
        &self,
        before: &(dyn Fn() -> Result<Checker<'c>, GrammarError> + Sync),
        after: &(dyn Fn() -> Result<Checker<'c>, GrammarError> + Sync),
    ) -> anyhow::Result<(Checks, Checks)> {
        let names = self.files.iter();
        let names: Vec<TreePath> = names.map(|file| (self.shown)(&file.path)).collect();
        let part = |chunk: &[(&File, &TreePath)]| -> anyhow::Result<(Checks, Checks)> {
            let (mut old_rules, mut new_rules) = (before()?, after()?);
            let (mut old, mut new) = (Checks::default(), Checks::default());
            for (file, name) in chunk {
                let path = self.before.in_kernel(&file.path);
                old.add(name, old_rules.check(&path, text(&file.before)));
                if let Some(after) = &file.after {
                    let before = old_rules.before(&path, text(&file.before));
                    let path = self.after.in_kernel(&file.path);
                    new.add(name, new_rules.check_after(&before, &path, after));
                }
            }
            Ok((old, new))
        };
        let files: Vec<(&File, &TreePath)> = self.files.iter().zip(&names).collect();
        let parts: Vec<_> = files
            .par_chunks(8)
            .map(part)
            .collect::<anyhow::Result<_>>()?;
        let (mut old, mut new) = (Checks::default(), Checks::default());
        for (before, after) in parts {
            old.merge(before);
            new.merge(after);
        }
        old.finish();
        Ok((old, new))
    }
}

/// The text of one side; a file that is not there holds nothing.
fn text(side: &Option<Vec<u8>>) -> &[u8] {
    side.as_ref().map_or(&[], Vec::as_slice)
}
