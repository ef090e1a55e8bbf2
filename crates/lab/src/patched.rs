//! What a patch does to the first object that compiles its lines: compiled before
//! and after, and what the compiler and objtool say compared.

use std::ffi::OsStr;

use tollgate_arch::Architecture;
use tollgate_rewrite::{Patched, Probes};
use tollgate_robot::{Diagnostic, Severity, Tool, fresh, read};

use crate::includers::objects_of;
use crate::objects::{Error, Objects};
use crate::tree::Tree;

/// What came of one patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
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
    #[must_use]
    pub fn words(&self) -> String {
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
    #[must_use]
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::NewWarning(..) | Self::Broken(..))
    }
}

/// The verdict of the first object that compiles the place.
///
/// # Errors
/// When a program could not be run, or the user asked to stop.
pub fn verdict(
    tree: &Tree,
    objects: &Objects<'_>,
    architecture: &Architecture,
    patched: &Patched,
) -> Result<Verdict, Error> {
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
) -> Result<Verdict, Error> {
    let compile = |text: &[u8]| objects.compile(recipe, &patched.path, text);
    let probes = Probes::of(patched)?;
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

    #[test]
    fn what_objtool_says_is_of_a_function() {
        let said = "b.o: warning: objtool: f+0x12: call to g() with UACCESS enabled\n";
        let new: Vec<String> = added("", said).iter().map(words).collect();
        assert_eq!(
            new,
            ["warning: objtool: f(): call to g() with UACCESS enabled"]
        );
    }
}
