//! The whole pipeline, from a tree to a verdict.

mod counted;
mod guests;
pub(crate) mod jobs;
mod kept;
mod landed;
mod opening;
mod question;
mod repeat;
pub(crate) mod request;
mod results;
mod series;
pub(crate) mod setup;
mod side_by_side;
mod store;
mod variant;

use tollgate_defect::OrDefect as _;
use tollgate_lab::case::Case;
use tollgate_lab::image::Variant;
use tollgate_lab::program::Program;
use tollgate_lab::toolchain::Compiler;
use tollgate_lab::tree::Manifest;
use tollgate_measure::{BootResult, Booted, NotRun, Proof, Setting, Skip, Tried};
use tollgate_report::comparison as render;
use tollgate_source::TreePath;

use crate::exit::{self, Exit};
use crate::progress::Steps;
use crate::term::Term;
use counted::Counted;
use guests::Guests;
use question::Question;
use request::Request;
use results::Outcome;
use setup::{BASE, Named, Setup, Wanted};
use variant::{Asked, Candidate};

/// Finds, fixes, builds, boots, counts, compares, and says what came of it.
///
/// # Errors
/// A sentence, when any step could not be done.
pub(crate) fn run(request: &Request, term: &Term) -> anyhow::Result<Exit> {
    if let Some(wanted) = &request.series {
        return series::run(request, wanted, term);
    }
    let steps = Steps::new(term);
    let check = |case: &_| series::check(request, case);
    let mut setup = opening::open(request, check, &steps)?;
    let asked = variant::candidates(request, &setup, &steps)?;
    jobs::choose(request, &mut setup.case, &changed(&asked))?;
    let proved = prove(&setup, asked, &steps)?;
    drop(steps);
    let written = results::write(request, &setup, &proved.outcome(), term)?;
    let shown = results::Shown {
        document: results::dated(render::document(&proved.proof)),
        json: render::json(&proved.proof)?,
        written,
    };
    shown.show(request, term)?;
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
fn prove(setup: &Setup<'_>, asked: Vec<Asked>, steps: &Steps<'_>) -> anyhow::Result<Proved> {
    let alone = asked.len() == 1;
    let mut failures = Failures {
        setup,
        alone,
        not_run: Vec::new(),
    };
    let guests = Guests::open(setup, steps)?;
    let manifest = setup.read(steps)?;
    let question = question(setup, &manifest, &asked, &guests);
    let (base, built) = build(setup, &manifest, asked, &mut failures, steps)?;
    let counted = Counted::of(setup, &guests, (&base, &built), steps)?;
    let kept = counted.kept;
    let (mut tried, mut candidates) = (Vec::new(), Vec::new());
    for (Built { candidate, named }, counted) in built.into_iter().zip(counted.variants) {
        if let Some(mut run) = failures.keep(&named.variant, counted)? {
            run.skips.extend(lacked(&setup.case, &named.variant));
            tried.push(try_of(setup, &candidate, &named, run, kept)?);
            candidates.push(candidate);
        }
    }
    let proof = Proof::new(
        setup.subject(),
        &counted.benchmarks,
        &Booted {
            image: base.name(),
            run: &counted.before,
        },
        Some(&counted.again),
        &tried,
        failures.not_run,
    )
    .with_claims(setup.claims())
    .with_commands(repeat::proof(setup, &candidates));
    Ok(Proved {
        question,
        proof,
        candidates,
    })
}

/// The phases of the case's program that a variant of it lacks.
fn lacked(case: &Case, variant: &str) -> Vec<Skip> {
    let mut plans = case.variants.iter();
    let plan = plans.find(|plan| plan.name == variant);
    let (Some(plan), Some(program)) = (plan, &case.program) else {
        return Vec::new();
    };
    let skip = |phase: &String| Skip {
        job: format!("bench {}", program.workload(phase)),
        reason: plan.reason.clone(),
    };
    plan.lacks.iter().map(skip).collect()
}

fn question(
    setup: &Setup<'_>,
    manifest: &Manifest,
    asked: &[Asked],
    guests: &Guests<'_>,
) -> Question {
    let image = |variant: &Variant, compiler: Option<&Compiler>, program: Option<&Program>| {
        let kernel = setup.key(manifest, variant, compiler);
        question::Asked {
            name: variant.name.clone(),
            content: Some(setup::content(&kernel, program)),
        }
    };
    let of = |asked: &Asked| match asked {
        Asked::Ready(candidate) => image(
            &candidate.variant,
            candidate.compiler.as_ref(),
            candidate.program.as_deref(),
        ),
        Asked::Not(not_run) => question::Asked {
            name: not_run.variant.clone(),
            content: None,
        },
    };
    let base = std::iter::once(image(&variant::base(setup), None, None));
    let images = base.chain(asked.iter().map(of)).collect();
    Question::new("prove", setup, images, guests)
}

/// The base's image and those of the variants.
fn build(
    setup: &Setup<'_>,
    manifest: &Manifest,
    asked: Vec<Asked>,
    failures: &mut Failures<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<(Named, Vec<Built>)> {
    let mut candidates = Vec::new();
    for asked in asked {
        match asked {
            Asked::Ready(candidate) => candidates.push(*candidate),
            Asked::Not(not_run) => failures.not_run.push(not_run),
        }
    }
    let base = variant::base(setup);
    let mut wanted = vec![Wanted {
        letter: BASE,
        variant: &base,
        program: None,
        compiler: None,
    }];
    let letters = (BASE..='Z').skip(1).chain(std::iter::repeat('?'));
    wanted.extend(letters.zip(&candidates).map(|(letter, candidate)| Wanted {
        letter,
        variant: &candidate.variant,
        program: candidate.program.as_ref(),
        compiler: candidate.compiler.as_ref(),
    }));
    let mut images = setup.images(manifest, &wanted, steps)?.into_iter();
    let named = images.next().or_defect("the base was not built")??;
    let mut built = Vec::new();
    for (candidate, image) in candidates.into_iter().zip(images) {
        if let Some(named) = failures.keep(&candidate.variant.name, image)? {
            built.push(Built { candidate, named });
        }
    }
    Ok((named, built))
}

/// What befell single variants.
struct Failures<'a> {
    setup: &'a Setup<'a>,
    /// Whether there is one variant, whose failure is the command's.
    alone: bool,
    not_run: Vec<NotRun>,
}

impl Failures<'_> {
    /// The result, or none where the failure of one variant was noted.
    fn keep<T>(&mut self, variant: &str, result: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.alone || self.setup.runner.interrupt().is_set() => Err(error),
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

fn try_of(
    setup: &Setup<'_>,
    candidate: &Candidate,
    named: &Named,
    run: BootResult,
    kept: bool,
) -> anyhow::Result<Tried> {
    Ok(Tried {
        setting: Setting {
            kept,
            ..variant::setting(setup, candidate, &named.image)?
        },
        image: named.name(),
        run,
    })
}
