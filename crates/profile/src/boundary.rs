//! What a profile pays at the boundary.

use std::collections::HashMap;

use serde::Serialize;

use crate::interval::{Interval, Level, share};
use crate::kinds::Kinds;
use crate::profile::{Profile, Space};
use crate::text::annotate::Annotation;

/// A function that reached a helper, and for which part of all samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Caller {
    /// Its symbol.
    pub symbol: String,
    /// In percent of the profile.
    pub percent: f64,
}

/// A symbol of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymbolShare {
    /// As the profile has it.
    pub symbol: String,
    /// In percent of the profile.
    pub percent: f64,
    /// Whose it is, the largest part first; empty without stacks.
    pub callers: Vec<Caller>,
}

/// One kind's part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindShare {
    /// The kind, as `data/boundary.toml` names it.
    pub kind: String,
    /// In percent of the profile.
    pub percent: f64,
    /// With the interval that chance leaves, where the number of samples is known.
    pub interval: Option<Interval>,
    /// Whether windows can save a part of it.
    pub windowed: bool,
    /// Its symbols, the largest part first.
    pub symbols: Vec<SymbolShare>,
}

/// An instruction of the gate in annotated lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateShare {
    /// The function, where it is known.
    pub function: Option<String>,
    /// The instruction.
    pub code: String,
    /// `opens`, `closes` or `either`.
    pub does: String,
    /// In percent of the function.
    pub percent: f64,
    /// In percent of a whole profile in the same text that has the function.
    pub of_all: Option<f64>,
}

/// Debugging that was on in the kernel of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DebugShare {
    /// `lock debugging`.
    pub what: String,
    /// In percent of the profile.
    pub percent: f64,
    /// The symbols that say so.
    pub symbols: Vec<String>,
}

/// The boundary's part of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Boundary {
    /// In percent of the profile, of all kinds.
    pub percent: f64,
    /// With the interval that chance leaves, where the number of samples is known.
    pub interval: Option<Interval>,
    /// The kernel's whole part, in percent.
    pub kernel: f64,
    /// The kinds that were met, the largest part first.
    pub kinds: Vec<KindShare>,
    /// What says that the kernel was built to be debugged.
    pub debugging: Vec<DebugShare>,
}

impl Boundary {
    /// Sorts the symbols of a profile into kinds.
    #[must_use]
    pub fn of(profile: &Profile, kinds: &Kinds) -> Self {
        let mut found: Vec<KindShare> = Vec::new();
        let mut debugging: Vec<DebugShare> = Vec::new();
        let callers = Callers::of(profile, kinds);
        for row in profile.kernel() {
            if let Some(debug) = kinds.debugging(&row.symbol) {
                add_debugging(&mut debugging, &debug.what, &row.symbol, row.percent);
            }
            let Some(kind) = kinds.of(&row.symbol) else {
                continue;
            };
            let symbol = SymbolShare {
                symbol: row.symbol.clone(),
                percent: row.percent,
                callers: callers.of_symbol(&row.symbol),
            };
            match found.iter_mut().find(|share| share.kind == kind.name) {
                Some(share) => share.add(symbol),
                None => found.push(KindShare {
                    kind: kind.name.clone(),
                    percent: symbol.percent,
                    interval: None,
                    windowed: kind.windowed,
                    symbols: vec![symbol],
                }),
            }
        }
        found.sort_by(|a, b| b.percent.total_cmp(&a.percent));
        let samples = profile.weighed();
        let level = Level::of(1);
        for kind in &mut found {
            kind.interval = samples.map(|samples| share(kind.percent, samples, level));
        }
        let percent = found.iter().fold(0.0, |sum, kind| sum + kind.percent);
        Self {
            percent,
            interval: samples.map(|samples| share(percent, samples, level)),
            kernel: profile
                .rows
                .iter()
                .filter(|row| row.space == Space::Kernel)
                .map(|row| row.percent)
                .sum(),
            kinds: found,
            debugging,
        }
    }
}

impl KindShare {
    fn add(&mut self, symbol: SymbolShare) {
        self.percent += symbol.percent;
        match self
            .symbols
            .iter_mut()
            .find(|known| known.symbol == symbol.symbol)
        {
            Some(known) => known.percent += symbol.percent,
            None => self.symbols.push(symbol),
        }
    }
}

fn add_debugging(all: &mut Vec<DebugShare>, what: &str, symbol: &str, percent: f64) {
    match all.iter_mut().find(|known| known.what == what) {
        Some(known) => {
            known.percent += percent;
            known.symbols.push(symbol.to_owned());
        }
        None => all.push(DebugShare {
            what: what.to_owned(),
            percent,
            symbols: vec![symbol.to_owned()],
        }),
    }
}

/// By helper: who reached it.
struct Callers(HashMap<String, HashMap<String, f64>>);

impl Callers {
    /// Helpers that call helpers are passed over: `_copy_to_user` for `__copy_user`.
    fn of(profile: &Profile, kinds: &Kinds) -> Self {
        let mut all: HashMap<String, HashMap<String, f64>> = HashMap::new();
        let is_helper = |symbol: &str| kinds.of(symbol).is_some_and(|kind| kind.windowed);
        for stack in &profile.stacks {
            let Some(leaf) = stack
                .frames
                .first()
                .filter(|leaf| leaf.space != Space::User)
            else {
                continue;
            };
            if kinds.of(&leaf.symbol).is_none() {
                continue;
            }
            let mut callers = stack.frames.iter().skip(1);
            if let Some(caller) = callers.find(|frame| !is_helper(&frame.symbol)) {
                let of_leaf = all.entry(leaf.symbol.clone()).or_default();
                *of_leaf.entry(caller.symbol.clone()).or_default() += stack.percent;
            }
        }
        Self(all)
    }

    fn of_symbol(&self, symbol: &str) -> Vec<Caller> {
        let found = self.0.get(symbol).into_iter().flatten();
        let mut callers: Vec<Caller> = found
            .map(|(symbol, percent)| Caller {
                symbol: symbol.clone(),
                percent: *percent,
            })
            .collect();
        callers.sort_by(|a, b| {
            b.percent
                .total_cmp(&a.percent)
                .then(a.symbol.cmp(&b.symbol))
        });
        callers
    }
}

/// The gate's own instructions in annotated functions; `profiles` of the same text
/// say what the functions are of everything.
#[must_use]
pub fn gate_shares(
    annotations: &[Annotation],
    profiles: &[Profile],
    kinds: &Kinds,
) -> Vec<GateShare> {
    let mut found = Vec::new();
    for block in annotations {
        let whole = block
            .function
            .as_ref()
            .and_then(|name| part_of(name, profiles, kinds));
        for line in &block.lines {
            let Some(gate) = kinds.gate(&line.code) else {
                continue;
            };
            found.push(GateShare {
                function: block.function.clone(),
                code: line.code.clone(),
                does: gate.does.clone(),
                percent: line.percent,
                of_all: whole.map(|whole| whole * line.percent / 100.0),
            });
        }
    }
    found
}

/// What a function is of everything, where exactly one profile has it.
fn part_of(name: &str, profiles: &[Profile], kinds: &Kinds) -> Option<f64> {
    let rows = |profile: &Profile| {
        let all: Vec<f64> = profile
            .kernel()
            .filter(|row| kinds.plain(&row.symbol) == kinds.plain(name))
            .map(|row| row.percent)
            .collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>())
    };
    let mut found = profiles.iter().filter_map(rows);
    found.next().filter(|_| found.next().is_none())
}
