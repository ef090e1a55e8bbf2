//! What a proof leaves: the page, the JSON, the patch; beside each other, each
//! renamed into place.

use std::path::{Path, PathBuf};

use anyhow::bail;
use tollgate_lab::{cache, tree};
use tollgate_measure::{Comparison, Proof};
use tollgate_report::comparison as render;
use tollgate_report::profile::{ProfileFormat, profile};

use super::lab::Bench;
use super::variant::Candidate;
use crate::cmd::prove::Args;
use crate::{figures, folders};

/// Checks before the work that its results will have a place.
///
/// # Errors
/// When a path that was given is in no folder, or is one.
pub(crate) fn check(args: &Args) -> anyhow::Result<()> {
    profile_format(args)?;
    let files = [
        ("--json", &args.json),
        ("--html", &args.html),
        ("--profile-out", &args.profile_out),
    ];
    for (flag, path) in files {
        let Some(path) = path else { continue };
        folders::check_file(flag, path)?;
    }
    Ok(())
}

/// The form of the profile, none where there is none to write.
fn profile_format(args: &Args) -> anyhow::Result<Option<ProfileFormat>> {
    let Some(path) = &args.profile_out else {
        return Ok(None);
    };
    let ending = path.extension().and_then(|ending| ending.to_str());
    let of_ending = || ProfileFormat::of_ending(ending?);
    match args.profile_format.map(Into::into).or_else(of_ending) {
        Some(format) => Ok(Some(format)),
        None => bail!(
            "--profile-out {}: its ending is none of .perf, .txt, .folded, .json; say the form with --profile-format",
            path.display()
        ),
    }
}

/// Writes the results and returns the lines that say where they are.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(
    args: &Args,
    bench: &Bench<'_>,
    candidates: &[Candidate],
    proof: &Proof,
) -> anyhow::Result<String> {
    let folder = bench.cache.root().join("results").join(folder_name(proof));
    cache::make_folder(&folder)?;
    let mut written = String::new();
    let mut put = |what: &str, path: PathBuf, text: &[u8]| {
        cache::write_result(&path, text)?;
        written.push_str(&format!("{what:7} {}\n", path.display()));
        anyhow::Ok(())
    };
    let page = place(args.html.as_deref(), &folder, "report.html");
    put("Page:", page, render::html(proof)?.as_bytes())?;
    let document = place(args.json.as_deref(), &folder, "result.json");
    put("JSON:", document, render::json(proof)?.as_bytes())?;
    if let (Some(path), Some(format)) = (&args.profile_out, profile_format(args)?) {
        put("Profile:", path.clone(), profile(proof, format).as_bytes())?;
    }
    for (candidate, comparison) in candidates.iter().zip(&proof.comparisons) {
        let name = match candidates.len() {
            1 => "variant.patch".to_owned(),
            _ => format!("{}.patch", candidate.variant.name),
        };
        let patch = patch(bench, candidate, comparison)?;
        put("Patch:", folder.join(name), &patch)?;
    }
    Ok(written)
}

/// The patch; one of ours gets the figures into its message, here and, through
/// the cache, from `tollgate fix`, which nobody else's program can have measured. Figures without a verdict are none, and those
/// of several functions together are not of each.
fn patch(
    bench: &Bench<'_>,
    candidate: &Candidate,
    comparison: &Comparison,
) -> anyhow::Result<Vec<u8>> {
    match candidate.fixes.as_slice() {
        [fixed] if comparison.verdict.exit_code() < 2 => {
            let text = render::commit_figures(comparison);
            if bench.program.is_none() {
                figures::keep(bench.cache.root(), &fixed.patched, &text)?;
            }
            fixed.with_figures(&text, bench)
        }
        _ => Ok(candidate.patch.clone()),
    }
}

fn place(given: Option<&Path>, folder: &Path, name: &str) -> PathBuf {
    given.map_or_else(|| folder.join(name), Path::to_owned)
}

/// One folder for the same images of a case: the same proof overwrites itself.
fn folder_name(proof: &Proof) -> String {
    let short = |id: &str| id.chars().take(8).collect::<String>();
    let base = proof.comparisons.first().map(|one| short(&one.before.id));
    let base = base.unwrap_or_else(|| "none".to_owned());
    let ids: Vec<&str> = proof
        .comparisons
        .iter()
        .map(|one| one.after.id.as_str())
        .collect();
    let variants = match ids.as_slice() {
        [one] => short(one),
        many => short(&tree::hash(many.join("\0").as_bytes())),
    };
    let subject: String = proof
        .subject
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(60)
        .collect();
    format!("{subject}-{base}-{variants}")
}
