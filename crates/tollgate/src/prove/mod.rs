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
use tollgate_measure::{BootResult, Compared, NotRun, Proof, Setting, Skip, Tried};
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
use variant::{Asked, Candidate, Made};

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
fn changed(made: &[Made]) -> Vec<TreePath> {
    let asked = made.iter().flat_map(|made| &made.asked);
    let files = asked.flat_map(|asked| match asked {
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

/// What one compiler made, with images.
struct Built {
    base: Named,
    variants: Vec<BuiltVariant>,
}

/// A variant with an image.
struct BuiltVariant {
    candidate: Candidate,
    named: Named,
}

/// Builds and boots each base and all variants. One of several variants that cannot be
/// built or booted is named in the result, and the others are compared; so are a base of
/// another compiler and what would stand beside it.
fn prove(setup: &Setup<'_>, made: Vec<Made>, steps: &Steps<'_>) -> anyhow::Result<Proved> {
    let alone = matches!(made.as_slice(), [made] if made.asked.len() == 1);
    let mut failures = Failures {
        setup,
        alone,
        not_run: Vec::new(),
    };
    let guests = Guests::open(setup, steps)?;
    let manifest = setup.read(steps)?;
    let question = question(setup, &manifest, &made, &guests);
    let all = build(setup, &manifest, made, &mut failures, steps)?;
    let (mut compared, mut candidates) = (Vec::new(), Vec::new());
    let mut benchmarks = None;
    for built in all {
        let counted = Counted::of(setup, &guests, &built, steps);
        let base = &built.base;
        let is_first = base.letter == BASE;
        let names = names(&built.variants);
        let Some(counted) = failures.keep_base(&base.variant, is_first, &names, counted)? else {
            continue;
        };
        benchmarks.get_or_insert_with(|| counted.benchmarks.clone());
        compared.push(compare(
            setup,
            built,
            counted,
            &mut candidates,
            &mut failures,
        )?);
    }
    let benchmarks = benchmarks.or_defect("the first base was not counted")?;
    let proof = Proof::new(setup.subject(), &benchmarks, &compared, failures.not_run)
        .with_claims(setup.claims())
        .with_commands(repeat::proof(setup, &candidates));
    Ok(Proved {
        question,
        proof,
        candidates,
    })
}

fn names(variants: &[BuiltVariant]) -> Vec<String> {
    let names = variants.iter().map(|one| one.named.variant.clone());
    names.collect()
}

/// What one compiler made and what it counted, for the proof.
///
/// # Errors
/// When the only variant of a run was not counted.
fn compare(
    setup: &Setup<'_>,
    built: Built,
    counted: Counted,
    candidates: &mut Vec<Candidate>,
    failures: &mut Failures<'_>,
) -> anyhow::Result<Compared> {
    let kept = counted.kept;
    let mut tried = Vec::new();
    for (BuiltVariant { candidate, named }, counted) in
        built.variants.into_iter().zip(counted.variants)
    {
        if let Some(mut run) = failures.keep(&named.variant, counted)? {
            run.skips.extend(lacked(&setup.case, &named.variant));
            tried.push(try_of(setup, &candidate, &named, run, kept)?);
            candidates.push(candidate);
        }
    }
    Ok(Compared {
        base: built.base.name(),
        run: counted.before,
        again: Some(counted.again),
        tried,
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
    made: &[Made],
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
    let images = made.iter().flat_map(|made| {
        let base = image(&made.base, made.compiler.as_ref(), None);
        std::iter::once(base).chain(made.asked.iter().map(of))
    });
    Question::new("prove", setup, images.collect(), guests)
}

/// Each compiler's base and variants that can be built, in the order of their letters.
type Ready = Vec<(Made, Vec<Candidate>)>;

/// The images of all bases and variants.
fn build(
    setup: &Setup<'_>,
    manifest: &Manifest,
    made: Vec<Made>,
    failures: &mut Failures<'_>,
    steps: &Steps<'_>,
) -> anyhow::Result<Vec<Built>> {
    let ready = ready(made, failures);
    let wanted = wanted(&ready);
    let mut images = setup.images(manifest, &wanted, steps)?.into_iter();
    drop(wanted);
    let mut all = Vec::new();
    for (made, candidates) in ready {
        let base = images.next().or_defect("a base was not built")?;
        let own: Vec<_> = candidates.into_iter().zip(images.by_ref()).collect();
        let names: Vec<String> = own
            .iter()
            .map(|(one, _)| one.variant.name.clone())
            .collect();
        let is_first = made.compiler.is_none();
        let Some(base) = failures.keep_base(&made.base.name, is_first, &names, base)? else {
            continue;
        };
        let mut variants = Vec::new();
        for (candidate, image) in own {
            if let Some(named) = failures.keep(&candidate.variant.name, image)? {
                variants.push(BuiltVariant { candidate, named });
            }
        }
        all.push(Built { base, variants });
    }
    Ok(all)
}

/// What can be built; what cannot is noted.
fn ready(made: Vec<Made>, failures: &mut Failures<'_>) -> Ready {
    let mut all = Vec::new();
    for mut made in made {
        let mut candidates = Vec::new();
        for asked in std::mem::take(&mut made.asked) {
            match asked {
                Asked::Ready(candidate) => candidates.push(*candidate),
                Asked::Not(not_run) => failures.not_run.push(not_run),
            }
        }
        all.push((made, candidates));
    }
    all
}

/// Each with its letter.
fn wanted(ready: &Ready) -> Vec<Wanted<'_>> {
    let mut letters = (BASE..='Z').chain(std::iter::repeat('?'));
    let mut letter = || letters.next().unwrap_or('?');
    let mut wanted = Vec::new();
    for (made, candidates) in ready {
        wanted.push(Wanted {
            letter: letter(),
            is_base: true,
            variant: &made.base,
            program: None,
            compiler: made.compiler.as_ref(),
        });
        wanted.extend(candidates.iter().map(|candidate| Wanted {
            letter: letter(),
            is_base: false,
            variant: &candidate.variant,
            program: candidate.program.as_ref(),
            compiler: candidate.compiler.as_ref(),
        }));
    }
    wanted
}

/// What befell single variants.
struct Failures<'a> {
    setup: &'a Setup<'a>,
    /// Whether there is one variant, whose failure is the command's.
    alone: bool,
    not_run: Vec<NotRun>,
}

impl Failures<'_> {
    /// The base, or none where its failure was noted, and that `variants` have nothing to
    /// stand beside. Without the first there is nothing to say.
    fn keep_base<T>(
        &mut self,
        base: &str,
        is_first: bool,
        variants: &[String],
        result: anyhow::Result<T>,
    ) -> anyhow::Result<Option<T>> {
        if is_first {
            return result.map(Some);
        }
        let came = self.keep(base, result)?;
        if came.is_none() {
            self.not_run.extend(variants.iter().map(|variant| NotRun {
                variant: variant.clone(),
                reason: format!("{base} was not run, and there is nothing else to hold it against"),
                failed: true,
            }));
        }
        Ok(came)
    }

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
