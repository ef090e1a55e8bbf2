//! The whole pipeline, from a tree to a verdict.

mod booth;
pub(crate) mod jobs;
pub(crate) mod lab;
mod question;
mod results;
mod series;
mod shelf;
mod variant;

use tollgate_lab::image::Variant;
use tollgate_lab::tree::Manifest;
use tollgate_measure::{Booted, NotRun, Proof, Run, Setting, Tried};
use tollgate_report::comparison::proof_terminal;
use tollgate_source::TreePath;

use crate::cmd::prove::Args;
use crate::exit::{self, Exit};
use crate::progress::Steps;
use crate::term::Term;
use booth::Booth;
use lab::{Bench, Named};
use question::Question;
use results::Outcome;
use variant::{Asked, Candidate};

/// The letter of the base.
const BASE: char = 'A';

/// Finds, fixes, builds, boots, counts, compares, and says what came of it.
///
/// # Errors
/// A sentence, when any step could not be done.
pub(crate) fn run(args: &Args, term: &Term) -> anyhow::Result<Exit> {
    if let Some(wanted) = &args.series {
        return series::run(args, wanted, term);
    }
    let steps = Steps::new(term);
    let mut bench = Bench::open(args, &steps)?;
    let asked = variant::candidates(args, &bench, &steps)?;
    jobs::choose(args, &mut bench.case, &changed(&asked))?;
    let proved = prove(&bench, asked, &steps)?;
    drop(steps);
    let written = results::write(args, &bench, &proved.outcome(), term)?;
    let text = |color| proof_terminal(&proved.proof, color);
    results::show(args, term, text, &written)?;
    Exit::from_code(proved.proof.exit_code())
}

/// Every file that a variant changes.
fn changed(asked: &[Asked]) -> Vec<TreePath> {
    let files = asked.iter().flat_map(|asked| match asked {
        Asked::Ready(candidate) => candidate.variant.change.files.keys().cloned().collect(),
        Asked::Not(_) => Vec::new(),
    });
    files.collect()
}

/// What came of a proof.
struct Proved {
    question: Question,
    proof: Proof,
    /// The variants that were booted, in the order of the comparisons.
    candidates: Vec<Candidate>,
}

impl Proved {
    fn outcome(&self) -> Outcome<'_> {
        Outcome {
            question: &self.question,
            candidates: &self.candidates,
            proof: &self.proof,
        }
    }
}

/// A variant with an image.
struct Built {
    candidate: Candidate,
    named: Named,
}

/// Builds and boots the base and all variants. One of several that cannot be
/// built or booted is named in the result, and the others are compared.
fn prove(bench: &Bench<'_>, asked: Vec<Asked>, steps: &Steps<'_>) -> anyhow::Result<Proved> {
    let alone = asked.len() == 1;
    let mut failures = Failures {
        bench,
        alone,
        not_run: Vec::new(),
    };
    let booth = Booth::open(bench, steps)?;
    let manifest = bench.read(steps)?;
    let question = question(bench, &manifest, &asked, &booth)?;
    let base = bench.image(&manifest, &variant::base(), BASE, steps)?;
    let built = build(bench, &manifest, asked, &mut failures, steps)?;
    let before = booth.count(&base, "boot and count A", steps)?;
    let benchmarks = bench.benchmarks(&before)?;
    let again = booth.count(&base, "boot and count A again", steps)?;
    let (mut tried, mut candidates) = (Vec::new(), Vec::new());
    for Built { candidate, named } in built {
        let what = format!("boot and count {}", named.letter);
        let counted = booth.count(&named, &what, steps);
        if let Some(run) = failures.keep(&named.variant, counted)? {
            tried.push(try_of(bench, &candidate, &named, run));
            candidates.push(candidate);
        }
    }
    let proof = Proof::new(
        bench.subject(),
        &benchmarks,
        &Booted {
            image: base.name(),
            run: &before,
        },
        Some(&again),
        &tried,
        failures.not_run,
    )
    .with_claims(bench.claims());
    Ok(Proved {
        question,
        proof,
        candidates,
    })
}

fn question(
    bench: &Bench<'_>,
    manifest: &Manifest,
    asked: &[Asked],
    booth: &Booth<'_>,
) -> anyhow::Result<Question> {
    let image = |variant: &Variant| question::Asked {
        name: variant.name.clone(),
        content: Some(bench.key(manifest, variant)),
    };
    let of = |asked: &Asked| match asked {
        Asked::Ready(candidate) => image(&candidate.variant),
        Asked::Not(not_run) => question::Asked {
            name: not_run.variant.clone(),
            content: None,
        },
    };
    let base = std::iter::once(image(&variant::base()));
    let images = base.chain(asked.iter().map(of)).collect();
    Question::new("prove", bench, images, booth)
}

fn build(
    bench: &Bench<'_>,
    manifest: &Manifest,
    asked: Vec<Asked>,
    failures: &mut Failures<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Vec<Built>> {
    let mut letters = (BASE..='Z').skip(1);
    let mut built = Vec::new();
    for asked in asked {
        let candidate = match asked {
            Asked::Ready(candidate) => *candidate,
            Asked::Not(not_run) => {
                failures.not_run.push(not_run);
                continue;
            }
        };
        let letter = letters.next().unwrap_or('?');
        let image = bench.image(manifest, &candidate.variant, letter, steps);
        if let Some(named) = failures.keep(&candidate.variant.name, image)? {
            built.push(Built { candidate, named });
        }
    }
    Ok(built)
}

/// What befell single variants.
struct Failures<'a> {
    bench: &'a Bench<'a>,
    /// Whether there is one variant, whose failure is the command's.
    alone: bool,
    not_run: Vec<NotRun>,
}

impl Failures<'_> {
    /// The result, or none where the failure of one variant was noted.
    fn keep<T>(&mut self, variant: &str, result: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.alone || self.bench.runner.interrupt().is_set() => Err(error),
            Err(error) => {
                self.not_run.push(NotRun {
                    variant: variant.to_owned(),
                    reason: exit::sentence(&error),
                    failed: true,
                });
                Ok(None)
            }
        }
    }
}

fn try_of(bench: &Bench<'_>, candidate: &Candidate, named: &Named, run: Run) -> Tried {
    Tried {
        setting: setting(bench, candidate),
        image: named.name(),
        run,
    }
}

fn setting(bench: &Bench<'_>, candidate: &Candidate) -> Setting {
    let more = candidate.variant.config.join(", ");
    let config = match more.as_str() {
        "" => bench.config(),
        more => format!(
            "{}, in {} also {more}",
            bench.config(),
            candidate.variant.name
        ),
    };
    Setting {
        subject: bench.subject(),
        tollgate: env!("CARGO_PKG_VERSION").to_owned(),
        tree: bench.tree.version().to_owned(),
        arch: bench.machine.name.clone(),
        compiler: bench.compiler.version.clone(),
        config,
        qemu: bench.qemu.version.clone(),
        plugin_api: bench.qemu.plugin_api,
        cpu: bench.machine.cpu.clone(),
        command_line: bench.machine.command_line(),
        find: candidate.fixes.first().and_then(|fixed| fixed.find.clone()),
        patch: String::from_utf8_lossy(&candidate.patch).into_owned(),
    }
}
