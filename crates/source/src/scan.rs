//! Many files: what they hold together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use tollgate_defect::answer;

use serde::{Deserialize, Serialize};

use crate::calls::Direction;
use crate::model::{FileReport, Function, NotAnalysed, Reason};
use crate::opportunity::{Kind, Opportunity, SMALL, Size};
use crate::path::{Name, TreePath};
use crate::span::Position;
use crate::types::LayoutError;

/// A function with at least one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file, relative to the tree.
    pub path: TreePath,
    /// The function.
    pub function: Function,
}

/// Something that pays beside runs, in its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocatedOpportunity {
    /// The file, relative to the tree.
    pub path: TreePath,
    /// What.
    pub opportunity: Opportunity,
}

/// How many copies there are of each sort; together they are all that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyCounts {
    /// Of a constant size of at most [`SMALL`] bytes.
    pub small: usize,
    /// Of a larger constant size.
    pub larger: usize,
    /// Of a constant size that the tree's definitions do not tell.
    pub without_size: usize,
    /// Of a constant size that nobody asked to look up: small or larger.
    pub not_looked_up: usize,
    /// Of a size known only when they happen, on an ioctl path.
    pub runtime_ioctl: usize,
    /// Of a size known only when they happen, elsewhere.
    pub runtime: usize,
}

/// Something that a scan could not look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// The file, relative to the tree.
    pub path: TreePath,
    /// What of it.
    pub what: MissedPart,
}

/// What of a file a scan could not look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissedPart {
    /// All of it: it could not be read, for the reason given.
    File(String),
    /// A function whose braces do not end, and where it is named.
    Unended(String, Position),
    /// One access, or one copy.
    Access(NotAnalysed),
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            MissedPart::File(reason) => write!(f, "{}: not read: {reason}", self.path),
            MissedPart::Unended(function, place) => write!(
                f,
                "{}:{}:{}: {function} not analysed: its braces do not end",
                self.path, place.line, place.column
            ),
            MissedPart::Access(access) => {
                let place = access.position;
                write!(f, "{}:{}:{}: ", self.path, place.line, place.column)?;
                if let Some(function) = &access.function {
                    write!(f, "{function}: ")?;
                }
                write!(
                    f,
                    "{}() not analysed: {}",
                    access.call,
                    access.reason.words()
                )
            }
        }
    }
}

/// What a tree holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// Files that were read.
    pub files: usize,
    /// Calls of accesses as the words of the files count them.
    pub lexical: usize,
    /// Calls of accesses that were parsed, or that the tokens show to be in no run.
    pub parsed: usize,
    /// Functions with at least one run, by path, then line.
    pub findings: Vec<Finding>,
    /// What was not looked at, by path, then line.
    pub missed: Vec<Missed>,
    /// What pays beside runs, by path, then line.
    pub opportunities: Vec<LocatedOpportunity>,
    /// How many copies were seen, by the folder of `arch/` that they lie in and
    /// by none for code of no architecture; complete after [`Scan::measure`].
    pub copies: BTreeMap<Option<String>, CopyCounts>,
    /// What lies in code of architectures that were not asked for.
    pub elsewhere: Elsewhere,
    /// What was listed and not looked at.
    pub left_out: LeftOut,
}

/// What a list or a change names that is no file to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// C files that are not there, in order: a change may have deleted them.
    pub gone: Vec<Name>,
    /// What is no C file, in order.
    pub not_c: Vec<Name>,
}

impl LeftOut {
    /// Puts it in order, each once.
    pub fn order(&mut self) {
        for names in [&mut self.gone, &mut self.not_c] {
            names.sort_unstable();
            names.dedup();
        }
    }

    /// Each with the reason, in order.
    pub fn reasons(&self) -> impl Iterator<Item = (&Name, &'static str)> {
        let gone = self.gone.iter().map(|name| (name, "it is not there"));
        gone.chain(self.not_c.iter().map(|name| (name, "it is no C file")))
    }

    /// Whether there is nothing of the kind.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.not_c.is_empty()
    }
}

/// What [`Scan::keep_architectures`] left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The architectures that hold it, sorted.
    pub architectures: Vec<String>,
    /// Functions with runs.
    pub functions: usize,
    /// What pays beside runs.
    pub opportunities: usize,
}

impl Scan {
    /// Adds what one file holds.
    pub fn add(&mut self, path: &TreePath, report: FileReport) {
        self.files += 1;
        self.lexical += report.lexical;
        self.parsed += report.parsed;
        let paying = report
            .functions
            .into_iter()
            .filter(|function| !function.runs.is_empty());
        self.findings.extend(paying.map(|function| Finding {
            path: path.clone(),
            function,
        }));
        self.opportunities
            .extend(
                report
                    .opportunities
                    .into_iter()
                    .map(|opportunity| LocatedOpportunity {
                        path: path.clone(),
                        opportunity,
                    }),
            );
        let left_out = report
            .not_analysed
            .into_iter()
            .chain(report.copies_left_out);
        let accesses = left_out.map(MissedPart::Access);
        let unended = report.unended.into_iter();
        let unended = unended.map(|(name, place)| MissedPart::Unended(name, place));
        self.missed
            .extend(unended.chain(accesses).map(|what| Missed {
                path: path.clone(),
                what,
            }));
    }

    /// Notes a file that could not be read.
    pub fn miss(&mut self, path: &TreePath, reason: String) {
        self.missed.push(Missed {
            path: path.clone(),
            what: MissedPart::File(reason),
        });
    }

    /// Takes over what another part of the tree holds.
    pub fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.lexical += other.lexical;
        self.parsed += other.parsed;
        self.findings.extend(other.findings);
        self.missed.extend(other.missed);
        self.opportunities.extend(other.opportunities);
    }

    /// Looks the sizes of copies up, and keeps of what pays beside runs what is
    /// small, is not known before it happens, or could not be looked up.
    /// `bytes` gives the size of a constant for code in a file, or says what it
    /// lacks.
    pub fn measure(&mut self, mut bytes: impl FnMut(&str, &TreePath) -> Result<u64, LayoutError>) {
        for found in &mut self.opportunities {
            found.measure(&mut bytes);
        }
        self.keep_paying();
    }

    /// What is left of [`Scan::measure`] when each opportunity is measured: counts the
    /// copies, and keeps what pays. A copy of a constant size that nobody measured is
    /// counted alone.
    pub fn keep_paying(&mut self) {
        for found in &self.opportunities {
            let own = architecture(&found.path);
            self.copies
                .entry(own)
                .or_default()
                .count(&found.opportunity);
        }
        self.opportunities.retain(|found| pays(&found.opportunity));
    }

    /// Orders by path, then line, so that two scans of one tree are equal.
    pub fn sort(&mut self) {
        self.findings
            .sort_by(|a, b| (&a.path, a.function.position).cmp(&(&b.path, b.function.position)));
        self.missed
            .sort_by(|a, b| (&a.path, a.place()).cmp(&(&b.path, b.place())));
        self.opportunities.sort_by(|a, b| a.key().cmp(&b.key()));
    }

    /// What is of that kind, beside runs.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &LocatedOpportunity> {
        let is_sized =
            |found: &&LocatedOpportunity| !matches!(found.opportunity.size, Size::Unsized(_));
        self.opportunities
            .iter()
            .filter(move |found| found.opportunity.kind == kind)
            .filter(is_sized)
    }

    /// Copies and neighbours whose size the tree's definitions do not tell.
    pub fn without_size(&self) -> impl Iterator<Item = &LocatedOpportunity> {
        self.opportunities
            .iter()
            .filter(|found| matches!(found.opportunity.size, Size::Unsized(_)))
    }

    /// Orders by windows saved times heat, most first; then by path and line.
    pub fn rank(&mut self) {
        self.sort();
        self.findings
            .sort_by_key(|finding| std::cmp::Reverse(finding.weight()));
    }

    /// Leaves out what lies under `arch/` but not under `arch/NAME/` of a name
    /// in `wanted`, and notes how much that is. What was not looked at stays:
    /// the counts of accesses are those of the whole tree.
    pub fn keep_architectures(&mut self, wanted: &[String]) {
        let mut left: BTreeSet<String> = BTreeSet::new();
        let (functions, opportunities) = (self.findings.len(), self.opportunities.len());
        self.findings
            .retain(|finding| is_wanted(&finding.path, wanted, &mut left));
        self.opportunities
            .retain(|found| is_wanted(&found.path, wanted, &mut left));
        self.copies
            .retain(|own, _| own.as_ref().is_none_or(|own| wanted.contains(own)));
        self.elsewhere = Elsewhere {
            architectures: left.into_iter().collect(),
            functions: functions - self.findings.len(),
            opportunities: opportunities - self.opportunities.len(),
        };
    }

    /// How many copies were seen in all.
    #[must_use]
    pub fn copies(&self) -> CopyCounts {
        let add = |all: CopyCounts, part: &CopyCounts| all.plus(part);
        self.copies.values().fold(CopyCounts::default(), add)
    }

    /// Accesses in runs that go that way.
    #[must_use]
    pub fn count(&self, direction: Direction) -> usize {
        self.findings
            .iter()
            .map(|finding| finding.function.count(direction))
            .sum()
    }

    /// Windows that one window for each object of a run would save.
    #[must_use]
    pub fn windows_saved(&self) -> usize {
        self.findings
            .iter()
            .map(|finding| finding.function.windows_saved())
            .sum()
    }

    /// Windows that are left because the objects of a run differ.
    #[must_use]
    pub fn windows_apart(&self) -> usize {
        let findings = self.findings.iter();
        findings.map(|own| own.function.windows_apart()).sum()
    }

    /// How many runs there are.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.findings
            .iter()
            .map(|finding| finding.function.runs.len())
            .sum()
    }
}

fn is_wanted(path: &TreePath, wanted: &[String], left: &mut BTreeSet<String>) -> bool {
    let own = architecture(path);
    let Some(other) = own.filter(|own| !wanted.contains(own)) else {
        return true;
    };
    left.insert(other);
    false
}

/// The folder of `arch/` that a file lies in, if it lies in one.
fn architecture(path: &TreePath) -> Option<String> {
    let mut parts = path.parts();
    let name = parts
        .next()
        .filter(|first| *first == b"arch")
        .and(parts.next())?;
    Some(String::from_utf8_lossy(name).into_owned())
}

/// Whether an opportunity is one, now that its size is known.
fn pays(opportunity: &Opportunity) -> bool {
    match opportunity.size {
        Size::Bytes(bytes) => bytes <= SMALL,
        Size::Runtime => opportunity.path.is_some(),
        Size::Unsized(_) => opportunity.kind == Kind::SmallCopy,
        Size::Constant(_) => false,
    }
}

impl CopyCounts {
    fn count(&mut self, opportunity: &Opportunity) {
        let which = match (opportunity.kind, &opportunity.size) {
            (Kind::SmallCopy, Size::Bytes(bytes)) if *bytes <= SMALL => &mut self.small,
            (Kind::SmallCopy, Size::Bytes(_)) => &mut self.larger,
            (Kind::SmallCopy, Size::Constant(_)) => &mut self.not_looked_up,
            (Kind::SmallCopy, _) => &mut self.without_size,
            (Kind::RuntimeSizeCopy, _) if opportunity.path.is_some() => &mut self.runtime_ioctl,
            (Kind::RuntimeSizeCopy, _) => &mut self.runtime,
            _ => return,
        };
        *which += 1;
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            small: self.small + other.small,
            larger: self.larger + other.larger,
            without_size: self.without_size + other.without_size,
            not_looked_up: self.not_looked_up + other.not_looked_up,
            runtime_ioctl: self.runtime_ioctl + other.runtime_ioctl,
            runtime: self.runtime + other.runtime,
        }
    }
}

impl LocatedOpportunity {
    /// Looks its size up, as [`Scan::measure`] does for all.
    pub fn measure(&mut self, mut bytes: impl FnMut(&str, &TreePath) -> Result<u64, LayoutError>) {
        if let Size::Constant(constant) = &self.opportunity.size {
            self.opportunity.size = match bytes(constant, &self.path) {
                Ok(bytes) => Size::Bytes(bytes),
                Err(lacks) => Size::Unsized(lacks.what()),
            };
        }
    }

    fn key(&self) -> (&TreePath, crate::span::Position, Kind) {
        (&self.path, self.opportunity.position, self.opportunity.kind)
    }
}

impl Finding {
    /// What ranks it: windows saved times heat.
    #[must_use]
    pub fn weight(&self) -> usize {
        let heat = answer::fits::<usize, _>(self.function.warmth.heat).unwrap_or(1);
        self.function.windows_saved().saturating_mul(heat)
    }
}

impl Missed {
    /// Whether something may be there that was not seen: a declaration holds
    /// nothing to see.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        let declares = |access: &NotAnalysed| access.reason == Reason::Declaration;
        !matches!(&self.what, MissedPart::Access(access) if declares(access))
    }

    fn place(&self) -> Position {
        match &self.what {
            MissedPart::File(_) => Position::default(),
            MissedPart::Unended(_, place) => *place,
            MissedPart::Access(access) => access.position,
        }
    }
}
