//! Samples with their stacks, added up to a profile.

use std::collections::HashMap;

use crate::profile::{Form, Frame, Measure, Profile, Row, Samples, Stack};

/// What samples have added up to.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// By leaf and image: periods and samples.
    leaves: HashMap<(Frame, String), (f64, u64)>,
    stacks: HashMap<Vec<Frame>, f64>,
    total: f64,
    samples: u64,
    /// Of the periods, squared.
    squares: f64,
    deep: bool,
}

/// Stacks that are kept: more say nothing that these do not.
const MOST_STACKS: usize = 200_000;

impl Gather {
    /// A sample: its frames, the innermost first, the image of that one, its period.
    pub(crate) fn add(&mut self, frames: Vec<Frame>, object: &str, period: f64) {
        self.add_many(frames, object, period, 1);
    }

    /// Several samples with one stack.
    pub(crate) fn add_many(&mut self, frames: Vec<Frame>, object: &str, period: f64, samples: u64) {
        let Some(leaf) = frames.first() else {
            return;
        };
        let counts = self
            .leaves
            .entry((leaf.clone(), object.to_owned()))
            .or_default();
        counts.0 += period;
        counts.1 = counts.1.saturating_add(samples);
        self.total += period;
        self.squares += period * period / (samples.max(1) as f64);
        self.samples = self.samples.saturating_add(samples);
        self.deep |= frames.len() > 1;
        if self.stacks.len() < MOST_STACKS || self.stacks.contains_key(&frames) {
            *self.stacks.entry(frames).or_default() += period;
        }
    }

    /// Everything in percent of all periods.
    pub(crate) fn profile(self, form: Form, measure: Measure) -> Profile {
        let total = self.total;
        let percent = |part: f64| {
            if total > 0.0 {
                100.0 * part / total
            } else {
                0.0
            }
        };
        let mut profile = Profile::new(form, measure);
        profile.samples = Samples::Exactly(self.samples);
        profile.effective = effective(self.total, self.squares, self.samples);
        let row = |((frame, object), (period, count)): ((Frame, String), (f64, u64))| Row {
            symbol: frame.symbol,
            object,
            space: frame.space,
            percent: percent(period),
            with_callees: None,
            count: Some(count),
            marked: false,
            inlined: Vec::new(),
            line: 0,
        };
        profile.rows = self.leaves.into_iter().map(row).collect();
        if self.deep {
            let stack = |(frames, period)| Stack {
                frames,
                percent: percent(period),
            };
            profile.stacks = self.stacks.into_iter().map(stack).collect();
            profile.stacks.sort_by(|a, b| {
                let names = |stack: &Stack| {
                    stack
                        .frames
                        .iter()
                        .map(|f| f.symbol.clone())
                        .collect::<Vec<_>>()
                };
                b.percent
                    .total_cmp(&a.percent)
                    .then_with(|| names(a).cmp(&names(b)))
            });
        }
        profile.settle();
        profile
    }
}

/// Samples of one weight that would say as much (Kish 1965): fewer than there are where
/// some weigh more than others. None where that is all of them, or next to it.
fn effective(total: f64, squares: f64, samples: u64) -> Option<u64> {
    const NEARLY: f64 = 0.95;
    let effective = if squares > 0.0 {
        total * total / squares
    } else {
        0.0
    };
    (effective < NEARLY * samples as f64).then(|| (effective as u64).max(1))
}
