//! What came of a job.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind};
use serde::{Deserialize, Serialize};
use tollgate_defect::answer;
use tollgate_gates::Analysis;
use tollgate_robot::{Preprocessed, Tool};

use super::asked::{CellJob, Error, death, ended_by};
use super::prepare::Prepared;
use super::script::Made;
use crate::cache;
use crate::input;
use crate::sealed;
use crate::tree;

/// What came of the objects of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellResult {
    /// The compiler, as it calls itself.
    pub compiler: String,
    /// Each object that was asked for.
    pub objects: BTreeMap<String, ObjectResult>,
    /// What make said of no object.
    pub make: String,
    /// What the configuration said, where it was made anew.
    pub configured: String,
    /// The `.config` that was built with, where it was made anew.
    pub config: Option<String>,
}

impl CellResult {
    /// Whether something stopped that is not the patch's doing.
    #[must_use]
    pub fn died(&self) -> bool {
        let mut outcomes = self.objects.values().map(|object| &object.outcome);
        outcomes.any(|outcome| matches!(outcome, Outcome::Died(_)))
    }

    /// Keeps it, but not where something died: that is no answer, and next time it may
    /// not happen.
    pub(super) fn keep(&self, place: &Path) -> Result<(), cache::Error> {
        if self.died() {
            return Ok(());
        }
        cache::make_folder(place.parent().unwrap_or(place))?;
        sealed::keep(place, self)
    }
}

/// What came of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectResult {
    /// What it came to.
    pub outcome: Outcome,
    /// What the compiler said, then objtool, modpost, sparse.
    pub said: Vec<(Tool, String)>,
    /// A hash over the command line.
    pub command: String,
    /// A hash over what the compiler reads; none where the preprocessor failed.
    pub text: Option<String>,
    /// The lines of the watched files that reach the compiler.
    pub lines: BTreeMap<String, BTreeSet<u32>>,
    /// Bytes of code; none without an object.
    pub size: Option<u64>,
    /// Instructions in it that open or close the gate to user memory; none of an
    /// object that `tollgate gates` does not read.
    pub gates: Option<usize>,
    /// The symbols that it exports to modules.
    pub exports: BTreeSet<String>,
    /// The symbols that it takes from elsewhere.
    pub imports: BTreeSet<String>,
}

/// What an object came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "reason", rename_all = "kebab-case")]
pub enum Outcome {
    /// It is there.
    Built,
    /// The compiler refused.
    Refused,
    /// It was only preprocessed.
    Preprocessed,
    /// make did not come to it; why.
    NotMade(String),
    /// Something that is not the patch's doing; what.
    Died(String),
}

/// Where a job's builds find the tree.
const ROOT: &str = "/tmp/linux";

pub(super) fn read(job: &CellJob, made: &Made, prepared: &Prepared) -> Result<CellResult, Error> {
    let text = |name: &str| -> Result<Option<String>, Error> {
        let bytes = plain(&made.out.join(name))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let make = ran(job, made, &text)?;
    let (own, rest) = by_object(&make, &job.objects);
    let wanted: BTreeSet<String> = job.watched.iter().cloned().collect();
    let mut objects = BTreeMap::new();
    for object in &job.objects {
        let reader = Reader {
            job,
            made,
            object,
            wanted: &wanted,
        };
        let said = own.get(object).map_or("", String::as_str);
        objects.insert(object.clone(), reader.read(said, &rest)?);
    }
    Ok(CellResult {
        compiler: prepared.compiler.version.clone(),
        objects,
        make: rest,
        configured: text("config.said")?.unwrap_or_else(String::new),
        config: match job.reconfigure {
            true => text("config")?,
            false => None,
        },
    })
}

/// What make said, where it and the configuration ran to their ends: of what they were
/// stopped in nothing is known, and what make did not come to may well be there.
fn ran(
    job: &CellJob,
    made: &Made,
    text: &dyn Fn(&str) -> Result<Option<String>, Error>,
) -> Result<String, Error> {
    let died = |reason: String| Error::Died {
        what: format!("the build of {}", job.cell.name),
        reason,
    };
    let Some(make) = text("make.said")? else {
        let reason = death(&made.said).unwrap_or_else(|| "make was never begun".to_owned());
        return Err(died(reason));
    };
    let mut begun = Vec::new();
    if job.reconfigure {
        begun.push("config");
    }
    if !job.objects.is_empty() {
        begun.push("make");
    }
    for name in begun {
        let status = text(&format!("{name}.status"))?;
        let status = status.and_then(|status| answer::number(status.trim()));
        let status = status.ok_or_else(|| died("make was stopped".to_owned()))?;
        let said = match name {
            "config" if status != 0 => text("config.said")?,
            _ => None,
        };
        let killed = ended_by(status).or_else(|| said.as_deref().and_then(death));
        if let Some(reason) = killed {
            return Err(died(reason));
        }
    }
    Ok(make)
}

/// An ordinary file that a sandbox left; what else it is is not read.
fn plain(place: &Path) -> Result<Option<Vec<u8>>, Error> {
    match std::fs::symlink_metadata(place) {
        Ok(about) if about.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) if input::is_absent(&error) => return Ok(None),
        Err(error) => {
            return Err(Error::Cache(cache::Error::Read {
                path: place.to_owned(),
                reason: error.to_string(),
            }));
        }
    }
    Ok(Some(cache::read_file(place)?))
}

/// The lines of make's log that begin with an object's name, by object, and the rest.
fn by_object(make: &str, objects: &[String]) -> (BTreeMap<String, String>, String) {
    let mut own: BTreeMap<String, String> = BTreeMap::new();
    let mut rest = String::new();
    for line in make.lines() {
        let line = line.strip_prefix("/tmp/build/").unwrap_or(line);
        let named = line.split_once(": ").map(|(name, _)| name);
        match named.filter(|name| objects.iter().any(|object| object == name)) {
            Some(name) => {
                let text = own.entry(name.to_owned()).or_default();
                text.push_str(line);
                text.push('\n');
            }
            None => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    (own, rest)
}

struct Reader<'a> {
    job: &'a CellJob,
    made: &'a Made,
    object: &'a str,
    wanted: &'a BTreeSet<String>,
}

impl Reader<'_> {
    fn file(&self, ending: &str) -> Result<Option<Vec<u8>>, Error> {
        plain(
            &self
                .made
                .out
                .join("o")
                .join(format!("{}{ending}", self.object)),
        )
    }

    fn text(&self, ending: &str) -> Result<String, Error> {
        let bytes = self.file(ending)?;
        Ok(bytes.map_or(String::new(), |bytes| {
            String::from_utf8_lossy(&bytes).into_owned()
        }))
    }

    fn read(&self, objtool: &str, make: &str) -> Result<ObjectResult, Error> {
        let said = self.text(".said")?;
        let args = self.file(".args")?;
        let read = self
            .file(".i")?
            .map(|text| Preprocessed::read(&text, ROOT, self.wanted));
        let built = self.file("")?;
        let outcome = self.outcome(&said, args.is_some(), built.is_some(), make)?;
        let mut all = vec![(self.job.cell.tool(), said)];
        all.push((Tool::Objtool, objtool.to_owned()));
        all.push((Tool::Modpost, placed(&self.text(".modpost")?)));
        all.push((Tool::Sparse, self.text(".sparse")?));
        let gates = built.as_deref().and_then(gates);
        if let Some((_, said)) = &gates {
            all.push((Tool::Gates, said.clone()));
        }
        all.retain(|(_, said)| !said.trim().is_empty());
        let symbols = built.as_deref().map_or_else(Symbols::default, Symbols::of);
        Ok(ObjectResult {
            outcome,
            said: all,
            command: args.map_or(String::new(), |args| tree::hash(&args)),
            text: read.as_ref().map(|read| read.hash.clone()),
            lines: read.map_or_else(BTreeMap::new, |read| read.lines),
            size: symbols.size,
            gates: gates.map(|(gates, _)| gates),
            exports: symbols.exports,
            imports: symbols.imports,
        })
    }

    fn outcome(&self, said: &str, begun: bool, built: bool, make: &str) -> Result<Outcome, Error> {
        if self.job.preprocess_only && begun {
            return Ok(Outcome::Preprocessed);
        }
        let status: Option<i32> = answer::number(self.text(".status")?.trim());
        if let Some(reason) = death(said).filter(|_| status != Some(0)) {
            return Ok(Outcome::Died(reason));
        }
        Ok(match status {
            Some(0) if built => Outcome::Built,
            Some(0) => Outcome::NotMade(last_words(make, self.object)),
            Some(1) => Outcome::Refused,
            Some(other) => Outcome::Died(format!("the compiler ended with status {other}")),
            None if begun => Outcome::Died("the compiler was stopped".to_owned()),
            None => match death(make) {
                Some(reason) => Outcome::Died(reason),
                None => Outcome::NotMade(last_words(make, self.object)),
            },
        })
    }
}

/// The gates of an object, and the rules that its functions break; none where the
/// machine is not one of those that are read.
fn gates(object: &[u8]) -> Option<(usize, String)> {
    let analysis = answer::there(Analysis::of(object).map_err(drop))?;
    let mut said = String::new();
    for function in &analysis.functions {
        for one in &function.findings {
            let of = one
                .target
                .as_ref()
                .map_or(String::new(), |target| format!(" of {target}"));
            let (rule, words) = (one.rule.name(), one.rule.words());
            said += &format!("tollgate gates: {}: {words}{of} [{rule}]\n", function.name);
        }
    }
    Some((analysis.totals().gates(), said))
}

/// What modpost says of an object by itself: not which symbols other objects have.
fn placed(said: &str) -> String {
    let own = |line: &&str| !line.ends_with(" undefined!") && !line.contains("suppressed ");
    let lines = said.lines().filter(own);
    lines.map(|line| format!("{line}\n")).collect()
}

/// What make says of an object that it did not make.
fn last_words(make: &str, object: &str) -> String {
    let about = make.lines().find(|line| line.contains(object));
    let first = || {
        make.lines()
            .find(|line| line.contains("*** ") || line.contains("rror"))
    };
    match about.or_else(first) {
        Some(line) => line.trim().to_owned(),
        None => "make did not come to it".to_owned(),
    }
}

#[derive(Default)]
struct Symbols {
    size: Option<u64>,
    exports: BTreeSet<String>,
    imports: BTreeSet<String>,
}

impl Symbols {
    /// EXPORT_SYMBOL() leaves a local symbol `__export_symbol_NAME` (6.4 and later),
    /// `__ksymtab_NAME` before that (include/linux/export.h).
    fn of(bytes: &[u8]) -> Self {
        let Ok(file) = object::File::parse(bytes) else {
            return Self::default();
        };
        let code = file
            .sections()
            .filter(|section| section.kind() == SectionKind::Text);
        let mut found = Self {
            size: Some(code.map(|section| section.size()).sum()),
            ..Self::default()
        };
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            let exported = ["__export_symbol_", "__ksymtab_"];
            if let Some(name) = exported.iter().find_map(|begin| name.strip_prefix(begin)) {
                found.exports.insert(name.to_owned());
            } else if symbol.is_undefined() && !name.is_empty() {
                found.imports.insert(name.to_owned());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What modpost said of sound/core/pcm_native.o of Linux 6.12, which is one part of
    /// a module, before and after a patch that takes one symbol more from elsewhere.
    const BEFORE: &str = "\
WARNING: modpost: missing MODULE_DESCRIPTION() in sound/core/pcm_native.o
WARNING: modpost: \"snd_pcm_hw_refine\" [sound/core/pcm_native.o] undefined!
WARNING: modpost: suppressed 131 unresolved symbol warnings because there were too many)
";

    #[test]
    fn what_other_objects_have_is_no_word_of_this_one() {
        let after = BEFORE
            .replace("131", "132")
            .replace("snd_pcm_hw_refine", "__copy_overflow");
        assert_eq!(placed(BEFORE), placed(&after));
        assert!(placed(BEFORE).contains("MODULE_DESCRIPTION"));
        let mismatch = "WARNING: modpost: lib/glob: section mismatch in reference: a (section: .text) -> b (section: .init.text)\n";
        assert_eq!(placed(mismatch), mismatch);
    }
}
