//! The two sides of a proof: the tree as it is, and the tree with a patch.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tollgate_lab::case::VariantPlan;
use tollgate_lab::image::Variant;
use tollgate_lab::patch::{self as applied, Patch};
use tollgate_lab::tree::Change;
use tollgate_measure::Find;
use tollgate_rewrite::{Patched, Request, Target};
use tollgate_source::{Analyser, Direction, Function, Vocabulary};

use super::lab::Bench;
use crate::cmd::prove::Args;
use crate::patch::{self, Author};
use crate::progress::Steps;

/// A variant that is held against the base.
pub(crate) struct Candidate {
    pub(crate) variant: Variant,
    /// What tollgate wrote, if it is not a patch.
    pub(crate) fixes: Vec<Fixed>,
    /// The patch as a plain diff where it is ours, without a date, so that two
    /// results of the same images are the same bytes; else the file's text.
    pub(crate) patch: String,
}

/// A fix of ours: where it is, and all that its mail is made of.
pub(crate) struct Fixed {
    pub(crate) find: Option<Find>,
    pub(crate) patched: Patched,
    request: Request,
    target: Target,
}

/// The tree as it is.
pub(crate) fn base() -> Variant {
    Variant {
        name: "base".to_owned(),
        change: Change::default(),
        config: Vec::new(),
    }
}

/// The user's patch, or the one that the case asks `fix` for.
///
/// # Errors
/// When the patch does not apply, or the function cannot be fixed.
pub(crate) fn candidate(
    args: &Args,
    bench: &Bench<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Candidate> {
    if let Some(path) = &args.patch {
        let patch = Patch::read(path, &bench.cache, &bench.runner)?;
        return from_patch(&stem(path), patch, Vec::new(), bench, steps);
    }
    let plan = match bench.case.variants.first() {
        Some(plan) => plan,
        None => anyhow::bail!(
            "the case {} has no variant of its own; give a patch with --patch",
            bench.case.about.name
        ),
    };
    let case = &bench.case.about.name;
    match plan.patch_text(case) {
        Some(text) => {
            let shown = PathBuf::from(format!("cases/{case}/{}", plan.name));
            let patch = Patch::plain(&shown, text.into());
            from_patch(&plan.name, patch, plan.config.clone(), bench, steps)
        }
        None => from_fix(plan, bench, steps),
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(
        || "patch".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

fn from_patch(
    name: &str,
    patch: Patch,
    config: Vec<String>,
    bench: &Bench<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Candidate> {
    let change = steps.step(
        "apply the patch",
        || applied::apply(&patch, &bench.tree, &bench.cache, &bench.runner),
        |change| applied_words(&patch, change),
    )?;
    Ok(Candidate {
        variant: Variant {
            name: name.to_owned(),
            change,
            config,
        },
        fixes: Vec::new(),
        patch: String::from_utf8_lossy(&patch.diff).into_owned(),
    })
}

fn applied_words(patch: &Patch, change: &Change) -> String {
    let files = format!("{} changed", count(change.files.len(), "file"));
    match patch.patches {
        1 => files,
        patches => format!("{patches} patches, {files}"),
    }
}

/// Fixes function after function; a later one builds on the earlier.
fn from_fix(plan: &VariantPlan, bench: &Bench<'_>, steps: &Steps<'_>) -> anyhow::Result<Candidate> {
    let targets = targets(plan, bench)?;
    let finds = steps.step(
        "find the runs",
        || finds(&targets, bench),
        |finds| found(finds),
    )?;
    let what = format!("fix in the {} style", plan.style.as_deref().unwrap_or(""));
    let fixes = steps.step(
        &what,
        || fixes(plan, &targets, finds, bench),
        |fixes| windows(fixes),
    )?;
    let mut change = Change::default();
    let mut patch = String::new();
    for fixed in &fixes {
        let path = PathBuf::from(&fixed.patched.path);
        let text = fixed.patched.rewritten.clone();
        change.files.insert(path, Some(text));
        patch.push_str(&diff_of(&fixed.mail(bench)?));
    }
    Ok(Candidate {
        variant: Variant {
            name: plan.name.clone(),
            change,
            config: plan.config.clone(),
        },
        patch,
        fixes,
    })
}

fn targets(plan: &VariantPlan, bench: &Bench<'_>) -> anyhow::Result<Vec<Target>> {
    let words = match plan.targets.as_slice() {
        [] => &bench.case.about.targets,
        own => own,
    };
    let parsed: Result<Vec<Target>, _> = words.iter().map(|word| word.parse()).collect();
    Ok(parsed?)
}

fn fixes(
    plan: &VariantPlan,
    targets: &[Target],
    finds: Vec<Option<Function>>,
    bench: &Bench<'_>,
) -> anyhow::Result<Vec<Fixed>> {
    let mut changed: HashMap<String, Vec<u8>> = HashMap::new();
    let mut fixes = Vec::new();
    for (target, find) in targets.iter().zip(finds) {
        let request = Request {
            style: plan.style.as_deref().unwrap_or_default().parse()?,
            prefix: patch::prefix(bench.tree.root(), &target.path),
            stop_at_first_fault: plan.stop_at_first_fault,
            sizes: plan.sizes.clone(),
            ..Request::default()
        };
        let read_changed = |path: &str| match changed.get(path) {
            Some(text) => Ok(text.clone()),
            None => read(bench, path),
        };
        let patched = tollgate_rewrite::fix(&read_changed, target, &request)?;
        changed.insert(patched.path.clone(), patched.rewritten.clone());
        fixes.push(Fixed {
            find: find.as_ref().map(|function| place(&target.path, function)),
            patched,
            request,
            target: target.clone(),
        });
    }
    Ok(fixes)
}

impl Fixed {
    /// The same patch with measured figures in its message.
    ///
    /// # Errors
    /// When git fails.
    pub(crate) fn with_figures(&self, figures: &str, bench: &Bench<'_>) -> anyhow::Result<String> {
        let request = Request {
            figures: figures.lines().map(str::to_owned).collect(),
            ..self.request.clone()
        };
        let read = |path: &str| read(bench, path);
        let patched = tollgate_rewrite::fix(&read, &self.target, &request)?;
        mail(&patched, bench)
    }

    fn mail(&self, bench: &Bench<'_>) -> anyhow::Result<String> {
        mail(&self.patched, bench)
    }
}

fn mail(patched: &Patched, bench: &Bench<'_>) -> anyhow::Result<String> {
    patch::mail(patched, &Author::configured(bench.tree.root()), &[])
}

/// The diff of a mail that git wrote: from its header to the signature.
fn diff_of(mail: &str) -> String {
    let start = mail.find("\ndiff --git ").map_or(0, |newline| newline + 1);
    let diff = mail.get(start..).unwrap_or(mail);
    let end = diff
        .rfind("\n-- \n")
        .map_or(diff.len(), |newline| newline + 1);
    diff.get(..end).unwrap_or(diff).to_owned()
}

/// The functions that the fix is for, as a scan sees them; `None` leaves it to
/// the fix to say why there is none.
fn finds(targets: &[Target], bench: &Bench<'_>) -> anyhow::Result<Vec<Option<Function>>> {
    let vocabulary = Vocabulary::builtin()?;
    let mut analyser = Analyser::new(&vocabulary)?;
    let mut find = |target: &Target| {
        let text = read(bench, &target.path).unwrap_or_default();
        let mut functions = analyser.analyse(&text).functions.into_iter();
        functions.find(|function| function.name == target.function && !function.runs.is_empty())
    };
    Ok(targets.iter().map(&mut find).collect())
}

fn read(bench: &Bench<'_>, path: &str) -> std::io::Result<Vec<u8>> {
    std::fs::read(bench.tree.root().join(path))
}

fn found(functions: &[Option<Function>]) -> String {
    let of = |direction| {
        let functions = functions.iter().flatten();
        functions
            .map(|function| function.count(direction))
            .sum::<usize>()
    };
    match functions.iter().flatten().count() {
        0 => "nothing".to_owned(),
        _ => format!(
            "{}, {}",
            count(of(Direction::Read), "read"),
            count(of(Direction::Write), "write")
        ),
    }
}

fn windows(fixes: &[Fixed]) -> String {
    let before = fixes.iter().map(|fixed| fixed.patched.windows_before);
    let after = fixes.iter().map(|fixed| fixed.patched.windows_after);
    let (before, after): (usize, usize) = (before.sum(), after.sum());
    format!("{} -> {after}", count(before, "window"))
}

fn place(path: &str, function: &Function) -> Find {
    let first = function.runs.first().and_then(|run| run.sites.first());
    let position = first.map_or(function.position, |site| site.position);
    Find {
        path: path.to_owned(),
        line: position.line as usize,
        column: position.column as usize,
        function: function.name.clone(),
    }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diff_of_a_mail_has_neither_date_nor_signature() {
        let mail = "From 0\nDate: today\nSubject: x\n\nbody\n---\n a.c | 2 +-\n\n\
                    diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39.5\n\n";
        let diff = "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(diff_of(mail), diff);
        assert_eq!(diff_of(diff), diff);
    }
}
