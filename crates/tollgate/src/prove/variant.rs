//! The two sides of a proof: the tree as it is, and the tree with a patch.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tollgate_lab::case::VariantPlan;
use tollgate_lab::image::Variant;
use tollgate_lab::patch as applied;
use tollgate_lab::tree::Change;
use tollgate_measure::Find;
use tollgate_rewrite::{FixError, Patched, Request, Target};
use tollgate_source::{Analyser, Direction, Function, Vocabulary};

use super::lab::Bench;
use crate::cmd::prove::Args;
use crate::patch::{self, Author};
use crate::progress::Steps;

/// The variant that is held against the base.
pub(crate) struct Candidate {
    pub(crate) variant: Variant,
    /// What tollgate wrote, if it is not the user's patch.
    pub(crate) fixed: Option<Fixed>,
    /// The patch as a plain diff where it is ours, without a date, so that two
    /// results of the same images are the same bytes; else the user's file.
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
        return from_patch(path, bench, steps);
    }
    match bench.case.variants.first() {
        Some(plan) => from_fix(plan, bench, steps),
        None => anyhow::bail!(
            "the case {} has no variant of its own; give a patch with --patch",
            bench.case.about.name
        ),
    }
}

fn from_patch(path: &Path, bench: &Bench<'_>, steps: &Steps<'_>) -> anyhow::Result<Candidate> {
    let change = steps.step(
        "apply the patch",
        || applied::apply(path, &bench.tree, &bench.cache, &bench.runner),
        |change| format!("{} changed", count(change.files.len(), "file")),
    )?;
    let text = std::fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    let name = path
        .file_stem()
        .map_or_else(|| "patch".into(), |stem| stem.to_string_lossy());
    Ok(Candidate {
        variant: Variant {
            name: name.into_owned(),
            change,
        },
        fixed: None,
        patch: String::from_utf8_lossy(&text).into_owned(),
    })
}

fn from_fix(plan: &VariantPlan, bench: &Bench<'_>, steps: &Steps<'_>) -> anyhow::Result<Candidate> {
    let target: Target = bench.case.about.target.parse()?;
    let find = steps.step("find the runs", || find(&target, bench), found)?;
    let request = Request {
        style: plan.style.parse()?,
        prefix: patch::prefix(bench.tree.root(), &target.path),
        ..Request::default()
    };
    let what = format!("fix in the {} style", plan.style);
    let patched = steps.step(&what, || fix(bench, &target, &request), windows)?;
    let mut change = Change::default();
    change.files.insert(
        PathBuf::from(&patched.path),
        Some(patched.rewritten.clone()),
    );
    let fixed = Fixed {
        find: find.as_ref().map(|f| place(&target.path, f)),
        patched,
        request,
        target,
    };
    Ok(Candidate {
        variant: Variant {
            name: plan.name.clone(),
            change,
        },
        patch: diff_of(&fixed.mail(bench)?),
        fixed: Some(fixed),
    })
}

impl Fixed {
    /// The same patch with measured figures in its message.
    ///
    /// # Errors
    /// When git fails.
    pub(crate) fn with_figures(self, figures: &str, bench: &Bench<'_>) -> anyhow::Result<String> {
        let figures = figures.lines().map(str::to_owned).collect();
        let request = Request {
            figures,
            ..self.request.clone()
        };
        let patched = fix(bench, &self.target, &request)?;
        Self { patched, ..self }.mail(bench)
    }

    fn mail(&self, bench: &Bench<'_>) -> anyhow::Result<String> {
        patch::mail(&self.patched, &Author::configured(bench.tree.root()), &[])
    }
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

/// The function that the fix is for, as a scan sees it; `None` leaves it to
/// the fix to say why there is none.
fn find(target: &Target, bench: &Bench<'_>) -> anyhow::Result<Option<Function>> {
    let text = read(bench, &target.path).unwrap_or_default();
    let vocabulary = Vocabulary::builtin()?;
    let functions = Analyser::new(&vocabulary)?.analyse(&text).functions;
    let meant = |function: &Function| function.name == target.function && !function.runs.is_empty();
    Ok(functions.into_iter().find(meant))
}

fn fix(bench: &Bench<'_>, target: &Target, request: &Request) -> Result<Patched, FixError> {
    tollgate_rewrite::fix(&|path: &str| read(bench, path), target, request)
}

fn read(bench: &Bench<'_>, path: &str) -> std::io::Result<Vec<u8>> {
    std::fs::read(bench.tree.root().join(path))
}

fn found(function: &Option<Function>) -> String {
    let Some(function) = function else {
        return "nothing".to_owned();
    };
    let (reads, writes) = (
        function.count(Direction::Read),
        function.count(Direction::Write),
    );
    format!("{}, {}", count(reads, "read"), count(writes, "write"))
}

fn windows(patched: &Patched) -> String {
    format!(
        "{} -> {}",
        count(patched.windows_before, "window"),
        patched.windows_after
    )
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
