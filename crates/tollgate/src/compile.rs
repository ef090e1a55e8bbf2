//! `tollgate fix --check`: each touched object compiled before and after, and
//! what the compiler and objtool say compared.

use std::ffi::OsStr;
use std::path::Path;

use tollgate_arch::{Architecture, Architectures};
use tollgate_defect::OrDefect as _;
use tollgate_lab::config::Fragment;
use tollgate_lab::includers::objects_of;
use tollgate_lab::objects::{Objects, Setting};
use tollgate_lab::process::Runner;
use tollgate_rewrite::{Patched, Probes};
use tollgate_robot::{Diagnostic, Severity, Tool, fresh, read};

use crate::progress::Steps;
use crate::signals;
use crate::{door, folders};
use tollgate_lab::tree::Tree;

/// What came of one patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The object compiles and nothing new is said; the object.
    Clean(String),
    /// What is said of the object that was not said before.
    NewWarning(String, Vec<String>),
    /// The object does not compile any more; the first error.
    Broken(String, String),
    /// No object of this configuration holds the place; why.
    NotBuilt(String),
}

impl Verdict {
    /// The verdict as a sentence behind the name of the function.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Clean(object) => format!("clean: {object} compiles and no warning is new"),
            Self::NewWarning(object, lines) => {
                format!("new warning in {object}: {}", lines.join("; "))
            }
            Self::Broken(object, error) => format!("{object} does not compile: {error}"),
            Self::NotBuilt(why) => format!("not built: {why}"),
        }
    }

    /// Whether the patch is known to be wrong.
    pub(crate) fn is_bad(&self) -> bool {
        matches!(self, Self::NewWarning(..) | Self::Broken(..))
    }
}

/// Checks each patch; the verdicts are in the order of the patches.
///
/// # Errors
/// When the tree cannot be built at all.
pub(crate) fn all(
    tree: &Tree,
    patches: &[Patched],
    cache: Option<&Path>,
    steps: &Steps<'_>,
) -> anyhow::Result<Vec<Verdict>> {
    let place = folders::cache(cache)?;
    door::refuse_unbuildable(&place)?;
    door::refuse_inside(tree.root(), "the cache", &place)?;
    let cache = folders::open_cache(&place, steps.term())?;
    door::refuse_own(tree.root(), cache.root())?;
    let runner = Runner::new(signals::obeyed(), Some(cache.lock_handle()?));
    let manifest = steps.step(
        "read the tree",
        || tree.manifest(runner.interrupt()),
        |_| String::new(),
    )?;
    let compiled = Architectures::built_in()?.compiled();
    let (architecture, target, fragment) =
        compiled.or_defect("no architecture names the objects of `fix --check`")?;
    let fragment = Fragment::named(fragment)?;
    let jobs = folders::processors();
    let root = cache.root().join("objects").join(tollgate_lab::tree::hash(
        tree.root().as_os_str().as_encoded_bytes(),
    ));
    let setting = Setting {
        tree,
        manifest: &manifest,
        arch: &target.kbuild,
        fragment: &fragment,
        runner: &runner,
        jobs,
    };
    let objects = steps.step(
        "configure (allmodconfig)",
        || Objects::open(root, setting),
        |_| String::new(),
    )?;
    let verdict = |(number, patched): (usize, &Patched)| {
        steps.step(
            &format!("check {number} of {}: {}", patches.len(), patched.function),
            || one(tree, &objects, architecture, patched),
            |_| String::new(),
        )
    };
    (1..).zip(patches).map(verdict).collect()
}

/// The verdict of the first object that compiles the place.
fn one(
    tree: &Tree,
    objects: &Objects<'_>,
    architecture: &Architecture,
    patched: &Patched,
) -> anyhow::Result<Verdict> {
    let mut why = format!("no C file includes {}", patched.path);
    for object in objects_of(tree, architecture, &patched.path) {
        let Some(recipe) = objects.recipe(&object)? else {
            why = format!("this configuration does not build {object}");
            continue;
        };
        match compared(objects, patched, &object, &recipe)? {
            Verdict::NotBuilt(reason) => why = reason,
            verdict => return Ok(verdict),
        }
    }
    Ok(Verdict::NotBuilt(why))
}

fn compared(
    objects: &Objects<'_>,
    patched: &Patched,
    object: &str,
    recipe: &OsStr,
) -> anyhow::Result<Verdict> {
    let compile = |text: &[u8]| objects.compile(recipe, &patched.path, text);
    let probes = Probes::of(patched);
    if probes.lines.is_empty() {
        let why = "the patch has no line whose compilation can be seen";
        return Ok(Verdict::NotBuilt(why.to_owned()));
    }
    if let Some(line) = probes.unread(&compile(&probes.text)?.said) {
        return Ok(Verdict::NotBuilt(format!(
            "line {line} of the new {} is not compiled into {object}",
            patched.path
        )));
    }
    let before = compile(&patched.original)?;
    if !before.success {
        return Ok(Verdict::NotBuilt(format!(
            "{object} does not compile without the patch either"
        )));
    }
    let after = compile(&patched.rewritten)?;
    let new = added(&before.said, &after.said);
    let object = object.to_owned();
    Ok(match (after.success, new.as_slice()) {
        (false, new) => Verdict::Broken(object, first_error(new)),
        (true, []) => Verdict::Clean(object),
        (true, new) => Verdict::NewWarning(object, new.iter().map(words).collect()),
    })
}

/// What stopped the compiler: an error before any warning.
fn first_error(new: &[Diagnostic]) -> String {
    let error = new.iter().find(|one| one.severity == Severity::Error);
    let said = error.or(new.first()).map(words);
    said.unwrap_or_else(|| "the compiler failed without a word".to_owned())
}

/// What of the second is new; a line that moved is not.
fn added(before: &str, after: &str) -> Vec<Diagnostic> {
    let [before, after] = [before, after].map(|said| read(said, Tool::Gcc, ""));
    fresh(&before, &after).into_iter().cloned().collect()
}

/// `warning: text`, without its place.
fn words(said: &Diagnostic) -> String {
    let (severity, text) = (said.severity.name(), &said.text);
    match said.tool {
        Tool::Objtool => format!("{severity}: objtool: {}(): {text}", said.function),
        _ if said.kind.is_empty() => format!("{severity}: {text}"),
        _ => format!("{severity}: {text} [-W{}]", said.kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_said_before_is_new() {
        let before = "a.c:1:2: warning: unused x\nb.o: warning: objtool: f+0x12: call to g()\n";
        let after = "a.c:9:2: warning: unused x\nb.o: warning: objtool: f+0xab: call to g()\na.c:3: warning: unused x\n";
        let new: Vec<String> = added(before, after).iter().map(words).collect();
        assert_eq!(new, ["warning: unused x"]);
        assert_eq!(added(after, before), []);
    }
}
