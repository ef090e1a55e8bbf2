//! What of a scan is shown, and in which order.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use tollgate_source::{Finding, Kind, LocatedOpportunity, Scan, TreePath};

/// A function's part of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Its part, in percent of what the profile counted.
    pub percent: f64,
    /// The symbol that the profile names: the function's own, or that of a caller
    /// in its file into which it was inlined.
    pub symbol: String,
}

/// What of a scan is shown, and in which order.
#[derive(Clone, Debug)]
pub struct View<'s> {
    /// The scan.
    pub scan: &'s Scan,
    /// The kinds that are shown; the others are counted.
    pub kinds: BTreeSet<Kind>,
    /// Whether each part that was not analysed has its line.
    pub verbose: bool,
    /// Whether the hottest come first, with the reason.
    pub ranked: bool,
    /// How many are shown at most where people read them; the others are counted.
    pub top: Option<usize>,
    /// By file and function: its part of a profile.
    pub shares: HashMap<(TreePath, String), Share>,
    /// What the profile counted, and which of its symbols nothing here matches.
    pub profile: Option<Profiled>,
}

/// What a profile was, beside the shares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profiled {
    /// What it counted: `samples of cycles`.
    pub unit: String,
    /// Symbols of the kernel in it that are no function with a finding.
    pub unmatched: Vec<String>,
}

impl<'s> View<'s> {
    /// A view of those kinds, by file and line.
    #[must_use]
    pub fn new(scan: &'s Scan, kinds: BTreeSet<Kind>) -> Self {
        Self {
            scan,
            kinds,
            verbose: false,
            ranked: false,
            top: None,
            shares: HashMap::new(),
            profile: None,
        }
    }

    /// Whether nothing is shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings().is_empty() && self.opportunities().is_empty()
    }

    /// The functions with runs, in the order in which they are shown.
    #[must_use]
    pub fn findings(&self) -> Vec<&'s Finding> {
        let shown = self.kinds.contains(&Kind::Run);
        let mut all: Vec<&Finding> = self.scan.findings.iter().filter(|_| shown).collect();
        if self.ranked {
            all.sort_by(|a, b| {
                let (first, second) = (self.percent(b), self.percent(a));
                let heat = Reverse(a.weight()).cmp(&Reverse(b.weight()));
                first.total_cmp(&second).then(heat)
            });
        }
        all
    }

    /// How much of that kind there is, shown or not.
    #[must_use]
    pub fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Run => self.scan.findings.len(),
            kind => self.scan.of(kind).count(),
        }
    }

    /// The same; none of small copies whose sizes nobody asked for.
    pub(crate) fn known_count(&self, kind: Kind) -> Option<usize> {
        let unknown = kind == Kind::SmallCopy && self.scan.copies().not_looked_up > 0;
        (!unknown).then(|| self.count(kind))
    }

    fn percent(&self, finding: &Finding) -> f64 {
        self.share(finding).map_or(0.0, |share| share.percent)
    }

    /// The part of the profile that a function has.
    #[must_use]
    pub fn share(&self, finding: &Finding) -> Option<&Share> {
        let key = (finding.path.clone(), finding.function.name.clone());
        self.shares.get(&key)
    }

    /// Why a function stands where it does, if the order says something.
    pub(crate) fn reason(&self, finding: &Finding) -> Option<String> {
        let warmth = &finding.function.warmth;
        match (self.ranked, self.share(finding)) {
            (false, _) => None,
            (true, Some(share)) => Some(format!("{:.2} % in {}", share.percent, share.symbol)),
            (true, None) if self.profile.is_some() => Some("not in the profile".to_owned()),
            (true, None) => Some(format!("heat {}: {}", warmth.heat, warmth.words)),
        }
    }

    /// What is shown beside runs, by file and line.
    #[must_use]
    pub fn opportunities(&self) -> Vec<&'s LocatedOpportunity> {
        let kinds = self.kinds.iter().filter(|kind| **kind != Kind::Run);
        let mut all: Vec<&LocatedOpportunity> =
            kinds.flat_map(|kind| self.scan.of(*kind)).collect();
        all.sort_by_key(|found| {
            (
                &found.path,
                found.opportunity.position,
                found.opportunity.kind,
            )
        });
        all
    }
}
