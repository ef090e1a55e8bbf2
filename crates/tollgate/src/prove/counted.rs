//! What the images of one compiler counted: the base twice, or in an earlier run, and each
//! variant once.

use tollgate_defect::OrDefect as _;
use tollgate_lab::{boot, job};
use tollgate_measure::{Benchmark, BootResult};

use super::Built;
use super::guests::Guests;
use super::setup::{Named, Setup};
use crate::progress::Steps;

/// What all images counted.
pub(super) struct Counted {
    pub(super) benchmarks: Vec<Benchmark>,
    pub(super) before: BootResult,
    /// A second boot of the base.
    pub(super) again: BootResult,
    /// Whether an earlier run booted the base.
    pub(super) kept: bool,
    /// Of each variant, in their order.
    pub(super) variants: Vec<anyhow::Result<BootResult>>,
}

impl Counted {
    /// By what an earlier run counted of the base, where that is known.
    ///
    /// How long the base took then says what a variant may take, on a host that was as
    /// busy as then. Where one takes longer, the base is booted after all.
    ///
    /// # Errors
    /// When the base cannot be booted.
    pub(super) fn of(
        setup: &Setup<'_>,
        guests: &Guests<'_>,
        built: &Built,
        steps: &Steps<'_>,
    ) -> anyhow::Result<Self> {
        let base = &built.base;
        if let Some(before) = known(guests, base, steps)? {
            let benchmarks = setup.benchmarks(&before)?;
            let variants = guests.counts(&variants(built), steps)?;
            let given = setup.request.timeout.is_some();
            if given || !variants.iter().any(hung) {
                return Ok(Self {
                    benchmarks,
                    again: before.clone(),
                    before,
                    kept: true,
                    variants,
                });
            }
            guests.forget_times();
            let how = "it may take longer than it took then";
            steps.step(
                &format!("boot {} ({}) after all", base.letter, base.variant),
                || anyhow::Ok(()),
                |()| how.to_owned(),
            )?;
        }
        Self::anew(setup, guests, built, steps)
    }

    fn anew(
        setup: &Setup<'_>,
        guests: &Guests<'_>,
        built: &Built,
        steps: &Steps<'_>,
    ) -> anyhow::Result<Self> {
        let base = &built.base;
        let count = format!("boot and count {}", base.letter);
        let before = guests.count(base, &count, steps)?;
        let benchmarks = setup.benchmarks(&before)?;
        let mut boots = vec![(base, format!("{count} again"))];
        boots.extend(variants(built));
        let mut counted = guests.counts(&boots, steps)?.into_iter();
        let again = counted
            .next()
            .or_defect("the base was not booted again")??;
        guests.keep(&before, &again)?;
        Ok(Self {
            benchmarks,
            before,
            again,
            kept: false,
            variants: counted.collect(),
        })
    }
}

fn variants(built: &Built) -> Vec<(&Named, String)> {
    let named = built.variants.iter().map(|one| &one.named);
    named
        .map(|named| (named, format!("boot and count {}", named.letter)))
        .collect()
}

/// What the base counted in an earlier run.
fn known(
    guests: &Guests<'_>,
    base: &Named,
    steps: &Steps<'_>,
) -> anyhow::Result<Option<BootResult>> {
    let kept = guests.kept(base)?;
    if kept.is_some() {
        let (what, how) = (
            format!("boot and count {} ({})", base.letter, base.variant),
            "counts from the cache",
        );
        steps.step(&what, || anyhow::Ok(()), |()| how.to_owned())?;
    }
    Ok(kept)
}

/// Whether a guest did not end in its time, here or on a node.
fn hung(counted: &anyhow::Result<BootResult>) -> bool {
    let Err(error) = counted else {
        return false;
    };
    let there = error.downcast_ref().and_then(|error| match error {
        job::Error::Boot(error) => Some(error),
        _ => None,
    });
    let own = error.downcast_ref().or(there);
    own.is_some_and(|error| matches!(error, boot::Error::Hung { .. }))
}
