//! The result of one run of `prove` as a document.

use tollgate_measure::{
    Comparison, ImageName, NotRun, Per, Proof, Row, Verdict, WorkloadComparison,
};

use super::tables::{self, Most};
use super::{asked, behaviour, checks, claims, commands};
use crate::document::{self, Block, Document, Extent, Fact, Plots, Section, Table, Tone};
use crate::text::{plural, signed};
use crate::words;

/// Functions shown of a workload in a brief form, and in a full one.
const BRIEF: Most = Most {
    rows: 12,
    changed: 8,
};
const FULL: Most = Most {
    rows: 32,
    changed: 24,
};
/// Patches of more lines are shut at first.
const OPEN: usize = 80;
/// What the plots of several images have in common.
const OF_IMAGES: &str = "A line for each image; counts under QEMU TCG, not time. Filled marks \
    are exact, hollow ones medians. Where lines coincide the later one is drawn over the earlier.";

/// One comparison in full, or an overview of several and a section for each.
#[must_use]
pub fn document(proof: &Proof) -> Document {
    let alone = match proof.comparisons.as_slice() {
        [one] => Some(one),
        _ => None,
    };
    let mut sections = alone.map_or_else(|| of_many(proof), |one| of_one(one, proof));
    sections.extend(programs(proof));
    sections.extend(claims::section(proof));
    sections.extend(
        alone
            .is_none()
            .then(|| variants(proof))
            .into_iter()
            .flatten(),
    );
    sections.extend(evidence(proof));
    sections.extend(commands::section(&proof.commands));
    let word = match alone {
        Some(one) => words::title(one.verdict).to_owned(),
        None => plural(proof.comparisons.len(), "variant"),
    };
    let first = proof.comparisons.first();
    let find = first.and_then(checks::find);
    Document {
        title: proof.subject.clone(),
        short: format!("{}: {word}", proof.subject),
        about: images(proof).into_iter().chain(find).collect(),
        date: None,
        head: Extent::All,
        verdicts: proof
            .comparisons
            .iter()
            .map(|one| verdict(one, alone.is_some()))
            .collect(),
        not_run: proof.not_run.iter().map(not_run).collect(),
        sections,
    }
}

/// `A = base, B = window`.
fn images(proof: &Proof) -> Option<String> {
    let all = proof.images().into_iter();
    let all: Vec<String> = all
        .map(|image| format!("{} = {}", image.letter, image.variant))
        .collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn verdict(comparison: &Comparison, alone: bool) -> document::Verdict {
    let after = &comparison.after;
    let headline = comparison.headline();
    document::Verdict {
        of: (!alone).then(|| format!("{} = {}", after.letter, after.variant)),
        anchor: (!alone).then(|| after.letter.to_string()),
        word: words::title(comparison.verdict).to_owned(),
        tone: words::tone(comparison.verdict),
        statement: words::statement(comparison),
        headline: headline
            .filter(|_| speaks_of_counts(comparison.verdict))
            .map(headline_of),
        details: behaviour::lines(
            &comparison.behaviour.differences,
            &comparison.behaviour.layouts,
            (comparison.before.letter, after.letter),
        ),
    }
}

/// Whether the counts are what the verdict rests on; otherwise a large figure
/// would say more than is known.
fn speaks_of_counts(verdict: Verdict) -> bool {
    use Verdict::{Gain, Mixed, NoDifference, Regression};
    matches!(verdict, Gain | NoDifference | Regression | Mixed)
}

fn headline_of(row: &WorkloadComparison) -> (String, String) {
    let figure = row.decisive(Per::Unit);
    let places = figure.difference().visible_places(1);
    let shown = format!(
        "{} -> {}",
        figure.before.decimal(places),
        figure.after.decimal(places)
    );
    let percent = match tables::signed_percent(figure) {
        percent if percent.is_empty() => percent,
        percent => format!(" ({percent})"),
    };
    let median = if row.exact() { "" } else { ", median" };
    let of = format!(
        "{} per {}, {}: {}{percent}{median}",
        row.decisive_name(),
        row.per_name(Per::Unit),
        row.workload,
        signed(figure.difference(), 1)
    );
    (shown, of)
}

fn not_run(variant: &NotRun) -> document::Verdict {
    let mut reason = variant.reason.lines();
    let tone = if variant.failed {
        Tone::Bad
    } else {
        Tone::Plain
    };
    document::Verdict {
        of: Some(variant.variant.clone()),
        word: "not run".to_owned(),
        tone,
        statement: reason.next().unwrap_or_default().to_owned(),
        details: reason.map(str::to_owned).collect(),
        ..document::Verdict::default()
    }
}

/// What kind of figures these are.
fn counted<'a>(rows: impl IntoIterator<Item = &'a WorkloadComparison>) -> String {
    let kind = match rows.into_iter().all(WorkloadComparison::exact) {
        true => "exact counts under QEMU TCG, not time",
        false => "counts under QEMU TCG, not time; medians are marked",
    };
    format!("Kernel instructions ({kind})")
}

fn of_table(title: impl Into<String>, table: Table) -> Section {
    Section::new(title, vec![Block::Table(table)])
}

fn of_one(comparison: &Comparison, proof: &Proof) -> Vec<Section> {
    let mut sections: Vec<Section> = patch(comparison).into_iter().collect();
    sections.extend(counts(comparison));
    sections.extend(growth(proof));
    sections.extend(comparison.headline().map(|row| {
        let table = tables::functions(row, letters(comparison), BRIEF);
        of_table(functions_of(row), table).only(Extent::Brief)
    }));
    sections.extend(functions(comparison));
    sections
}

fn letters(comparison: &Comparison) -> (char, char) {
    (comparison.before.letter, comparison.after.letter)
}

fn functions_of(row: &WorkloadComparison) -> String {
    format!(
        "Kernel instructions by function, {} per {}",
        row.workload,
        row.per_name(Per::Unit)
    )
}

/// The patch, where a page has room for it.
fn patch(comparison: &Comparison) -> Option<Section> {
    let text = &comparison.setting.patch;
    let (a, b) = letters(comparison);
    let summary = format!("{b} is {a} with this patch");
    let section = Section::new("The patch", vec![folded(summary, text)]).only(Extent::Full);
    (!text.is_empty()).then_some(section)
}

/// A patch under its summary, shut at first where it is long.
pub(super) fn folded(summary: String, patch: &str) -> Block {
    let is_open = patch.lines().count() <= OPEN;
    Block::Fold(summary, is_open, vec![Block::Patch(patch.to_owned())])
}

/// The counts of one variant beside the base's.
fn counts(comparison: &Comparison) -> Vec<Section> {
    if comparison.workloads.is_empty() {
        return Vec::new();
    }
    let registers = tables::registers(comparison);
    let nets = tables::nets(comparison);
    let all = [
        Some(of_table(
            counted(&comparison.workloads),
            tables::kernel(comparison),
        )),
        Some(of_table("Passages of the gate", tables::gate(comparison))),
        registers.map(|table| of_table("Registers of the FPU", table)),
        nets.map(|table| of_table("Less the call alone", table)),
    ];
    all.into_iter().flatten().collect()
}

/// Every workload by function; that of the headline is open.
fn functions(comparison: &Comparison) -> Option<Section> {
    let headline = comparison.headline();
    let fold = |row: &WorkloadComparison| {
        let median = if row.exact() { "" } else { ", median" };
        let title = format!("{}, per {}{median}", row.workload, row.per_name(Per::Unit));
        let is_open = headline.is_some_and(|one| one.workload == row.workload);
        let table = tables::functions(row, letters(comparison), FULL);
        Block::Fold(title, is_open, vec![Block::Table(table)])
    };
    let blocks: Vec<Block> = comparison.workloads.iter().map(fold).collect();
    let some = !blocks.is_empty();
    some.then(|| Section::new("Kernel instructions by function", blocks).only(Extent::Full))
}

fn growth(proof: &Proof) -> Option<Section> {
    plots("As the work grows", OF_IMAGES, proof.plots())
}

/// Curves, where there are any.
pub(super) fn plots(
    title: &str,
    note: &'static str,
    plots: Vec<tollgate_measure::Plot>,
) -> Option<Section> {
    let some = !plots.is_empty();
    let block = Block::Plots(Plots { note, plots });
    some.then(|| Section::new(title, vec![block]).only(Extent::Full))
}

/// Programs of which variants are compared.
fn programs(proof: &Proof) -> Vec<Section> {
    let all = [
        (asked::instructions(proof), "Instructions of the program"),
        (asked::shares(proof), "Shares of all instructions"),
        (asked::asked(proof), "What the program asked"),
    ];
    let section = |(table, title): (Option<Table>, &str)| Some(of_table(title, table?));
    all.into_iter().filter_map(section).collect()
}

/// All variants beside each other.
fn of_many(proof: &Proof) -> Vec<Section> {
    let rows = proof.rows();
    if rows.is_empty() {
        return Vec::new();
    }
    let compared = proof.comparisons.iter().flat_map(|one| &one.workloads);
    let mut sections = vec![
        of_table(counted(compared), tables::kernel_of_all(proof)),
        of_table(against(proof), tables::against(proof)),
        of_table("Passages of the gate", tables::passages_of_all(proof)),
    ];
    let nets = tables::nets_of_all(proof);
    sections.extend(nets.map(|table| of_table("Less the call alone", table)));
    let headline = proof.headline();
    let mut rows = rows.iter();
    if let Some(row) = rows.find(|row| Some(&row.comparison.workload) == headline) {
        let functions = tables::functions_of_all(proof, row);
        sections.push(of_table(functions_of(row.comparison), functions));
        let pairs = Block::Facts(pairs(proof, row));
        sections.push(Section::new("Variants with each other", vec![pairs]));
    }
    sections.extend(growth(proof));
    sections
}

/// What the differences of the variants are of.
fn against(proof: &Proof) -> String {
    match proof.bases().as_slice() {
        [base] => format!("Against {}", base.letter),
        _ => "Against the base that the same compiler made".to_owned(),
    }
}

/// The order of all images in the headline's workload, then each pair.
fn pairs(proof: &Proof, row: &Row<'_>) -> Vec<Fact> {
    let mut figures = row.figures(Per::Unit, |measured| measured.kernel.instructions());
    figures.sort_by(|a, b| a.1.value().total_cmp(&b.1.value()));
    let order: Vec<String> = figures
        .iter()
        .map(|(letter, ratio)| format!("{letter} {}", ratio.decimal(2)))
        .collect();
    let order = format!(
        "{} per {}, fewest first: {}",
        row.comparison.workload,
        row.comparison.per_name(Per::Unit),
        order.join(", ")
    );
    let pair = |pair: &Comparison| {
        let label = format!("{} against {}", pair.after.letter, pair.before.letter);
        Fact::plain(label, pair_words(pair))
    };
    let order = Fact::plain("Order", order);
    std::iter::once(order)
        .chain(proof.pairs.iter().map(pair))
        .collect()
}

fn pair_words(pair: &Comparison) -> String {
    let count = pair.workloads.len();
    let differ = pair.workloads.iter().filter(|row| row.differs()).count();
    let behaviour = match pair.behaviour.differences.len() {
        0 => "the same behaviour".to_owned(),
        differences => format!("{} of behaviour", plural(differences, "difference")),
    };
    let counts = match pair.headline().filter(|row| row.differs()) {
        None => format!("the same counts in {}", plural(count, "workload")),
        Some(row) => {
            let figure = row.decisive(Per::Unit);
            format!(
                "{} per {} in {} ({}); {differ} of {} differ",
                signed(figure.difference(), 2),
                row.per_name(Per::Unit),
                row.workload,
                tables::signed_percent(figure),
                plural(count, "workload")
            )
        }
    };
    format!("{counts}; {behaviour}")
}

/// A section for each variant: its verdict, its patch, all of its counts.
fn variants(proof: &Proof) -> Vec<Section> {
    let one = |comparison: &Comparison| {
        let after = &comparison.after;
        let own = document::Verdict {
            of: None,
            ..verdict(comparison, true)
        };
        let find = checks::find(comparison).map(Block::Text);
        let sections = patch(comparison).into_iter();
        let sections = sections.chain(counts(comparison));
        Section {
            title: format!("{} = {}", after.letter, after.variant),
            anchor: Some(after.letter.to_string()),
            extent: Extent::Full,
            blocks: find.into_iter().chain([Block::Verdict(own)]).collect(),
            sections: sections.chain(functions(comparison)).collect(),
        }
    };
    proof.comparisons.iter().map(one).collect()
}

/// Checks, setting and limits; nothing where nothing was compared.
fn evidence(proof: &Proof) -> Vec<Section> {
    if proof.comparisons.is_empty() {
        return Vec::new();
    }
    vec![
        Section::new("Checks", vec![Block::Facts(all_checks(proof))]),
        Section::new("Measured on", vec![Block::Facts(setting(proof))]),
        limits(),
    ]
}

/// What no figure here tells.
pub(super) fn limits() -> Section {
    let limits = words::LIMITS.iter().map(|limit| (*limit).to_owned());
    Section::new(
        "What the figures do not tell",
        vec![Block::List(limits.collect())],
    )
}

/// The checks of all comparisons.
fn all_checks(proof: &Proof) -> Vec<Fact> {
    merged(proof, checks::checks)
}

/// Each base and its variants, then what they were counted on.
fn setting(proof: &Proof) -> Vec<Fact> {
    let images = proof.images().into_iter().map(checks::image);
    images.chain(merged(proof, checks::setting)).collect()
}

/// What is said of each comparison; what several say in the same words is one line,
/// with the letters of those that do not agree with the rest. Lines of one label stand
/// together.
fn merged(proof: &Proof, facts: impl Fn(&Comparison) -> Vec<Fact>) -> Vec<Fact> {
    let mut all: Vec<(Fact, Vec<&Comparison>)> = Vec::new();
    for comparison in &proof.comparisons {
        for fact in facts(comparison) {
            let same = |one: &Fact| one.label == fact.label && one.text == fact.text;
            if let Some((_, of)) = all.iter_mut().find(|(one, _)| same(one)) {
                of.push(comparison);
                continue;
            }
            let behind = all.iter().rposition(|(one, _)| one.label == fact.label);
            let place = behind.map_or(all.len(), |last| last + 1);
            all.insert(place, (fact, vec![comparison]));
        }
    }
    let letters = |of: &[&Comparison]| -> Vec<String> {
        of.iter().map(|one| one.after.letter.to_string()).collect()
    };
    let one = |(fact, of): &(Fact, Vec<&Comparison>)| {
        let mut shown = fact.clone();
        let alone = all
            .iter()
            .filter(|(one, _)| one.label == fact.label)
            .count()
            == 1;
        if of.len() < proof.comparisons.len() && !(alone && are_of_one_base(of, proof)) {
            shown.text = format!("{}: {}", letters(of).join(", "), fact.text);
        }
        shown
    };
    all.iter().map(one).collect()
}

/// Whether these are all that stand against one base, which their label names then.
fn are_of_one_base(of: &[&Comparison], proof: &Proof) -> bool {
    let is_same = |one: &Comparison, base: &ImageName| one.before == *base;
    of.first().is_some_and(|first| {
        let base = &first.before;
        let all = proof.comparisons.iter().filter(|one| is_same(one, base));
        of.iter().all(|one| is_same(one, base)) && all.count() == of.len()
    })
}
