//! The tree's own checks: found in the tree, run as they are, their answers taken in.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use tollgate_lab::cache;
use tollgate_lab::patch::Applied;
use tollgate_lab::process;
use tollgate_robot::{Check, Finding, FindingKind, PatchReport, Status};
use tollgate_source::TreePath;

use super::build::Sides;
use super::context::{Delegated, Robot};
use super::plan::Plan;
use super::series::{Patch, Series, held};
use crate::check::change;
use crate::progress::Steps;

/// Where the tree has them.
const CHECKPATCH: &str = "scripts/checkpatch.pl";
const KERNEL_DOC: &str = "scripts/kernel-doc";
const GET_MAINTAINER: &str = "scripts/get_maintainer.pl";
const COCCINELLE: &str = "scripts/coccinelle";

impl Robot<'_> {
    /// What `tollgate check` says of the patch, then what was asked for.
    pub(crate) fn checked(
        &self,
        series: &Series,
        patch: &Patch,
        _sides: &[Sides],
        _plan: &Plan,
        judged: &mut PatchReport,
        steps: &Steps<'_>,
    ) -> anyhow::Result<()> {
        self.boundary(series, patch, judged)?;
        for one in &self.asked.delegated {
            let name = match one {
                Delegated::Checkpatch => "checkpatch.pl",
                Delegated::KernelDoc => "kernel-doc",
                Delegated::GetMaintainer => "get_maintainer.pl",
                Delegated::Coccicheck => "coccicheck",
            };
            let check = steps.step(
                name,
                || self.delegated(*one, series, patch),
                |_| String::new(),
            )?;
            judged.checks.push(check);
        }
        Ok(())
    }

    fn boundary(
        &self,
        series: &Series,
        patch: &Patch,
        judged: &mut PatchReport,
    ) -> anyhow::Result<()> {
        let (Some(before), Some(after)) = (
            series.states.get(patch.number - 1),
            series.states.get(patch.number),
        ) else {
            return Ok(());
        };
        let mut applied = Applied::default();
        for (path, (old, new)) in &patch.files {
            if let Some(old) = old {
                applied.before.insert(path.clone(), old.clone());
            }
            applied.change.files.insert(path.clone(), new.clone());
        }
        let checks = change::between(self.tree.root(), before, after, applied)?;
        for located in &checks.violations {
            let violation = &located.violation;
            judged.findings.push(Finding {
                kind: FindingKind::Boundary,
                cell: String::new(),
                object: String::new(),
                diagnostic: None,
                message: format!("{} (tollgate check: {})", violation.message, violation.rule),
                file: located.path.to_string(),
                line: violation.mark.position.line,
                also: Vec::new(),
            });
        }
        Ok(())
    }

    fn delegated(&self, one: Delegated, series: &Series, patch: &Patch) -> anyhow::Result<Check> {
        let scratch = self.cache.scratch()?;
        match one {
            Delegated::Checkpatch | Delegated::GetMaintainer => {
                let Some(diff) = &patch.diff else {
                    return Ok(unknown(
                        one,
                        "a commit of a range has no mail to be checked",
                    ));
                };
                let place = scratch.path().join("patch");
                let author = patch
                    .author
                    .as_deref()
                    .unwrap_or("nobody <nobody@localhost>");
                let mail = [
                    format!(
                        "From: {author}\nSubject: [PATCH] {}\n\n---\n",
                        patch.subject
                    )
                    .as_bytes(),
                    diff,
                ]
                .concat();
                cache::write_file(&place, &mail)?;
                self.on_patch(one, &place)
            }
            Delegated::KernelDoc => {
                self.on_files(one, series, patch, scratch.path(), &|path, file| {
                    let mut command = Command::new(self.tree.root().join(KERNEL_DOC));
                    command.args(["-none", "-Wall"]).arg(file).current_dir(path);
                    command
                })
            }
            Delegated::Coccicheck => self.coccicheck(series, patch, scratch.path()),
        }
    }

    fn on_patch(&self, one: Delegated, patch: &Path) -> anyhow::Result<Check> {
        let (script, arguments): (_, &[&str]) = match one {
            Delegated::Checkpatch => (
                CHECKPATCH,
                &[
                    "--terse",
                    "--no-summary",
                    "--show-types",
                    "--ignore",
                    "MISSING_SIGN_OFF,COMMIT_MESSAGE,NO_AUTHOR_SIGN_OFF,FILE_PATH_CHANGES",
                ],
            ),
            _ => (GET_MAINTAINER, &["--no-git", "--no-git-fallback"]),
        };
        let program = self.tree.root().join(script);
        if !program.is_file() {
            return Ok(unknown(one, &format!("the tree has no {script}")));
        }
        let mut command = Command::new("perl");
        command
            .arg(&program)
            .args(arguments)
            .arg(patch)
            .current_dir(self.tree.root());
        let said = self.said(&mut command)?;
        let name = patch.to_string_lossy().into_owned();
        let said = said.replace(&format!("{name}:"), "");
        let lines: Vec<&str> = said
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        Ok(match one {
            Delegated::Checkpatch => {
                let wrong = lines
                    .iter()
                    .filter(|line| line.contains("ERROR:") || line.contains("WARNING:"));
                let wrong = wrong.count();
                check(
                    one,
                    wrong == 0,
                    &format!("{wrong} errors and warnings"),
                    &said,
                )
            }
            _ => check(one, !lines.is_empty(), &lines.join(", "), &said),
        })
    }

    /// A program on each C file before and after: what is new of its lines, without
    /// their numbers.
    fn on_files(
        &self,
        one: Delegated,
        series: &Series,
        patch: &Patch,
        scratch: &Path,
        program: &dyn Fn(&Path, &str) -> Command,
    ) -> anyhow::Result<Check> {
        let script = self.tree.root().join(KERNEL_DOC);
        if one == Delegated::KernelDoc && !script.is_file() {
            return Ok(unknown(one, &format!("the tree has no {KERNEL_DOC}")));
        }
        let mut sides = Vec::new();
        for (number, side) in [(patch.number - 1, "before"), (patch.number, "after")] {
            let folder = scratch.join(side);
            let mut said = String::new();
            for path in patch.files.keys().filter(|path| path.is_c()) {
                let state = series.states.get(number);
                let text = state
                    .map(|state| held(self.tree, state, path))
                    .transpose()?
                    .flatten();
                let Some(text) = text else { continue };
                let place = folder.join(path);
                cache::make_folder(place.parent().unwrap_or(&folder))?;
                cache::write_file(&place, &text)?;
                said += &self.said(&mut program(&folder, &path.to_string()))?;
            }
            sides.push(said);
        }
        let numberless = |line: &str| -> String {
            let mut words = line.split(':');
            let all: Vec<&str> = words
                .by_ref()
                .filter(|word| {
                    !word.bytes().all(|b| b.is_ascii_digit() || b == b'-') || word.is_empty()
                })
                .collect();
            all.join(":")
        };
        let [before, after] = sides.as_slice() else {
            return Ok(unknown(one, "one side was not looked at"));
        };
        let known: BTreeSet<String> = before.lines().map(numberless).collect();
        let new: Vec<&str> = after
            .lines()
            .filter(|line| !line.trim().is_empty() && !known.contains(&numberless(line)))
            .collect();
        Ok(check(
            one,
            new.is_empty(),
            &format!("{} new", new.len()),
            &new.join("\n"),
        ))
    }

    fn coccicheck(&self, series: &Series, patch: &Patch, scratch: &Path) -> anyhow::Result<Check> {
        let one = Delegated::Coccicheck;
        let folder = self.tree.root().join(COCCINELLE);
        if !folder.is_dir() {
            return Ok(unknown(one, &format!("the tree has no {COCCINELLE}")));
        }
        if self
            .runner
            .output(Command::new("spatch").arg("--version"))
            .is_err()
        {
            return Ok(unknown(
                one,
                "there is no spatch (Debian's coccinelle has it)",
            ));
        }
        let rules = tollgate_lab::tree::manifest_of(&folder, self.runner.interrupt())?;
        let rules: Vec<TreePath> = rules
            .entries()
            .keys()
            .filter(|path| path.as_bytes().ends_with(b".cocci"))
            .cloned()
            .collect();
        let script = rules.iter().fold(String::from("for f; do\n"), |text, rule| {
            let rule = folder.join(rule);
            let rule = format!("'{}'", rule.to_string_lossy().replace('\'', "'\\''"));
            // What scripts/coccicheck passes in the mode `report`.
            text + &format!("spatch -D report --no-show-diff --very-quiet --no-includes --timeout 60 --cocci-file {rule} \"$f\" 2>/dev/null || :\n")
        }) + "done\n";
        let place = scratch.join("coccicheck.sh");
        cache::write_file(&place, script.as_bytes())?;
        let counted = format!("{} rules", rules.len());
        let mut said = self.on_files(one, series, patch, scratch, &|folder, file| {
            let mut command = Command::new("sh");
            command.arg(&place).arg(file).current_dir(folder);
            command
        })?;
        said.summary = format!("{}, of {counted}", said.summary);
        Ok(said)
    }

    /// What a program says, whatever it ends with.
    fn said(&self, command: &mut Command) -> anyhow::Result<String> {
        let scratch = self.cache.scratch()?;
        let log = scratch.path().join("log");
        let mut said = String::new();
        let mut keep = |line: &str| {
            said.push_str(line);
            said.push('\n');
        };
        let limit = Some(std::time::Duration::from_secs(self.limits.seconds));
        match self.runner.logged(command, &log, limit, &mut keep) {
            Ok(_) => Ok(said),
            Err(process::Error::Start { program, source }) => {
                anyhow::bail!("could not start {program}: {source}")
            }
            Err(other) => Err(other.into()),
        }
    }
}

fn name(one: Delegated) -> &'static str {
    match one {
        Delegated::Checkpatch => CHECKPATCH,
        Delegated::KernelDoc => KERNEL_DOC,
        Delegated::GetMaintainer => GET_MAINTAINER,
        Delegated::Coccicheck => COCCINELLE,
    }
}

fn check(one: Delegated, clean: bool, summary: &str, details: &str) -> Check {
    Check {
        tool: name(one).to_owned(),
        status: match clean {
            true => Status::Clean,
            false => Status::Findings,
        },
        summary: summary.to_owned(),
        details: details.to_owned(),
    }
}

fn unknown(one: Delegated, why: &str) -> Check {
    Check {
        status: Status::CouldNotTell,
        ..check(one, true, why, "")
    }
}
