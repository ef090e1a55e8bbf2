//! The comparison as one HTML page that needs nothing else: no script, no
//! style sheet, no font, no picture from elsewhere.

use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;
use tollgate_measure::{
    Comparison, LIMITS, Net, Per, Proof, Quantity, Ratio, Verdict, WorkloadComparison,
};

use super::facts::{self, Most, Tone};
use super::plot::Growth;
use super::text::{clean, clean_lines, grouped, signed};
use tollgate_defect::{Defect, OrDefect as _};

mod overview;
mod series;

use overview::Document;
pub use series::series_html;

/// The templates' names end in `.html`: that is what switches escaping on.
const PAGE: &str = "comparison.html";
const SECTION: &str = "section.html";
/// What pages and sections include.
const PARTS: [(&str, &str); 4] = [
    ("style.css", include_str!("../../templates/style.css")),
    ("growth.html", include_str!("../../templates/growth.html")),
    ("claims.html", include_str!("../../templates/claims.html")),
    (
        "evidence.html",
        include_str!("../../templates/evidence.html"),
    ),
];
const PAGE_TEXT: &str = include_str!("../../templates/comparison.html");
const SECTION_TEXT: &str = include_str!("../../templates/section.html");
/// Functions shown of a workload.
const FUNCTIONS: Most = Most {
    rows: 32,
    changed: 24,
};

/// The result of one run of `prove` as a self-contained HTML page in UTF-8: one
/// comparison, or an overview and a section for each. Everything that comes
/// from a guest, a tree or a user is escaped.
///
/// # Errors
/// When template and data do not fit, which no input can cause.
pub fn html(proof: &Proof) -> Result<String, Defect> {
    rendered(proof).or_defect(NO_PAGE)
}

/// What is said where a template and its data do not fit.
const NO_PAGE: &str = "the HTML page cannot be made";

fn rendered(proof: &Proof) -> Result<String, minijinja::Error> {
    let mut environment = environment()?;
    environment.add_template(PAGE, PAGE_TEXT)?;
    environment.add_template(SECTION, SECTION_TEXT)?;
    let section = environment.get_template(SECTION)?;
    let alone = proof.comparisons.len() == 1 && proof.not_run.is_empty();
    let growth = || Growth::new("As the work grows", OF_IMAGES, &proof.plots());
    let mut sections = Vec::new();
    for comparison in &proof.comparisons {
        let growth = growth().filter(|_| alone);
        let text = section.render(Serde(Section::new(comparison, alone, growth)))?;
        sections.push((comparison.after.letter, text));
    }
    let document = Document::new(proof, sections, alone, growth().filter(|_| !alone));
    environment.get_template(PAGE)?.render(Serde(document))
}

/// With what every page includes.
fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("grouped", grouped);
    for (name, text) in PARTS {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// What the plots of several images have in common.
const OF_IMAGES: &str = "A line for each image; counts under QEMU TCG, not time. Filled marks \
    are exact, hollow ones medians. Where lines coincide the later one is drawn over the earlier.";

#[derive(Serialize)]
struct Section {
    /// Whether it is the page; otherwise it stands below others.
    alone: bool,
    /// Of its headings.
    level: u8,
    /// None where the page has shown it above.
    growth: Option<Growth>,
    letters: (char, char),
    subject: String,
    before: String,
    after: String,
    find: Option<String>,
    verdict: &'static str,
    tone: &'static str,
    statement: String,
    headline: Option<Headline>,
    workloads: Vec<Row>,
    nets: Vec<Less>,
    functions: Vec<Functions>,
    differences: Vec<String>,
    checks: Vec<Check>,
    setting: Vec<(String, String)>,
    limits: &'static [&'static str],
    patch: Vec<PatchLine>,
}

impl Section {
    fn new(comparison: &Comparison, alone: bool, growth: Option<Growth>) -> Self {
        let headline = comparison.headline();
        let mut functions: Vec<_> = comparison.workloads.iter().map(Functions::new).collect();
        for (functions, row) in functions.iter_mut().zip(&comparison.workloads) {
            functions.open = headline.is_some_and(|headline| headline.workload == row.workload);
        }
        let checks = facts::checks(comparison).into_iter();
        Self {
            alone,
            level: if alone { 2 } else { 3 },
            growth,
            letters: (comparison.before.letter, comparison.after.letter),
            subject: clean(&comparison.setting.subject),
            before: clean(&comparison.before.variant),
            after: clean(&comparison.after.variant),
            find: facts::find(comparison),
            verdict: comparison.verdict.title(),
            tone: tone(comparison.verdict),
            statement: arrows(&clean(&comparison.statement())),
            headline: headline
                .filter(|_| speaks_of_counts(comparison.verdict))
                .map(Headline::new),
            workloads: comparison.workloads.iter().flat_map(rows).collect(),
            nets: comparison.nets().map(Less::new).collect(),
            functions,
            differences: facts::point_lines(comparison),
            checks: checks
                .map(|fact| Check::new(fact.label, &fact.text, fact.tone))
                .collect(),
            setting: facts::setting(comparison),
            limits: LIMITS,
            patch: clean_lines(&comparison.setting.patch)
                .lines()
                .map(PatchLine::new)
                .collect(),
        }
    }
}

fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Gain => "good",
        Verdict::NoDifference => "plain",
        Verdict::Regression | Verdict::BehaviourDiffers => "bad",
        Verdict::Mixed | Verdict::ControlMoved | Verdict::NotReproducible | Verdict::Incomplete => {
            "doubt"
        }
    }
}

/// Whether the counts are what the verdict rests on; otherwise a large figure
/// would say more than is known.
fn speaks_of_counts(verdict: Verdict) -> bool {
    use Verdict::{Gain, Mixed, NoDifference, Regression};
    matches!(verdict, Gain | NoDifference | Regression | Mixed)
}

/// The arrow as one character, and the minus of a difference in a sentence as the
/// tables have it.
fn arrows(text: &str) -> String {
    text.replace("->", "→").replace(", -", ", −")
}

/// A typographic minus, as wide as the plus.
fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[derive(Serialize)]
struct Headline {
    workload: String,
    per: String,
    before: String,
    after: String,
    difference: String,
    percent: String,
    median: bool,
}

impl Headline {
    fn new(row: &WorkloadComparison) -> Self {
        let figure = row.kernel(Per::Unit);
        let places = figure.difference().visible_places(1);
        Self {
            workload: clean(&row.workload.to_string()),
            per: clean(row.per_name(Per::Unit)),
            before: figure.before.decimal(places),
            after: figure.after.decimal(places),
            difference: minus(&signed(figure.difference(), 1)),
            percent: minus(&facts::signed_percent(figure)),
            median: !row.exact(),
        }
    }
}

/// A workload by one of its divisions.
#[derive(Serialize)]
struct Row {
    /// Empty in the second row of a workload.
    workload: String,
    control: bool,
    median: bool,
    per: String,
    before: String,
    after: String,
    difference: String,
    percent: String,
    way: &'static str,
    opens: String,
    closes: String,
    fences: String,
    /// Empty where no register that opens or closes by its value was written.
    writes: String,
    user: String,
    /// Empty where the kernel saved and loaded no registers.
    registers: Vec<String>,
}

fn rows(row: &WorkloadComparison) -> Vec<Row> {
    let one = |(index, per): (usize, Per)| {
        let figure = row.kernel(per);
        let change = |quantity| arrows(&facts::change(row.figure(per, quantity)));
        let difference = figure.difference();
        Row {
            workload: if index == 0 {
                clean(&row.workload.to_string())
            } else {
                String::new()
            },
            control: row.control,
            median: !row.exact(),
            per: clean(row.per_name(per)),
            before: figure.before.decimal(2),
            after: figure.after.decimal(2),
            difference: minus(&signed(difference, 2)),
            percent: minus(&facts::signed_percent(figure)),
            way: way(difference),
            opens: change(Quantity::Opens),
            closes: change(Quantity::Closes),
            fences: change(Quantity::Fences),
            writes: if row.writes_gate() {
                change(Quantity::Writes)
            } else {
                String::new()
            },
            user: change(Quantity::User),
            registers: registers(row, per),
        }
    };
    facts::divisions(row)
        .into_iter()
        .enumerate()
        .map(one)
        .collect()
}

/// The style of a difference.
fn way(difference: Ratio) -> &'static str {
    match difference.numerator.signum() {
        -1 => "fewer",
        0 => "same",
        _ => "more",
    }
}

fn registers(row: &WorkloadComparison, per: Per) -> Vec<String> {
    if !row.moves_registers() {
        return Vec::new();
    }
    let cells = facts::register_changes(row, per).map(|(_, text)| arrows(&text));
    let bytes = row.context_moved(per).map(facts::change);
    // An empty cell would read as none.
    let bytes = bytes.map_or_else(|| "not known".to_owned(), |bytes| arrows(&bytes));
    cells.into_iter().chain([bytes]).collect()
}

/// One benchmark less another.
#[derive(Serialize)]
struct Less {
    name: String,
    median: bool,
    per: String,
    before: String,
    after: String,
    difference: String,
    percent: String,
}

impl Less {
    fn new(net: Net<'_>) -> Self {
        let figure = net.kernel();
        Self {
            name: clean(&facts::net_name(net)),
            median: !net.exact(),
            per: clean(net.row.per_name(Per::Unit)),
            before: figure.before.decimal(2),
            after: figure.after.decimal(2),
            difference: minus(&signed(figure.difference(), 2)),
            percent: minus(&facts::signed_percent(figure)),
        }
    }
}

/// The functions of one workload, a bar for each share.
#[derive(Serialize)]
struct Functions {
    title: String,
    median: bool,
    open: bool,
    rows: Vec<Bar>,
}

#[derive(Serialize)]
struct Bar {
    name: String,
    before: String,
    after: String,
    difference: String,
    way: &'static str,
    before_share: String,
    after_share: String,
    /// Lengths of the bars, in hundredths of the longest.
    before_width: String,
    after_width: String,
}

impl Functions {
    fn new(row: &WorkloadComparison) -> Self {
        let rows = facts::function_rows(row, FUNCTIONS);
        let shares = rows
            .iter()
            .flat_map(|row| [row.before_share, row.after_share]);
        let longest = shares.max_by(|a, b| a.value().total_cmp(&b.value()));
        let longest = longest.unwrap_or(Ratio::new(1, 1));
        let width = |share: Ratio| {
            share
                .percent_of(longest, 2)
                .unwrap_or_else(|| "0".to_owned())
        };
        let bars = rows.into_iter().map(|row| Bar {
            before_width: width(row.before_share),
            after_width: width(row.after_share),
            before_share: facts::percent(row.before_share),
            after_share: facts::percent(row.after_share),
            name: row.name,
            before: row.before,
            after: row.after,
            difference: minus(&signed(row.difference, 2)),
            way: way(row.difference),
        });
        let title = format!("{}, per {}", row.workload, row.per_name(Per::Unit));
        Self {
            title: clean(&title),
            median: !row.exact(),
            open: false,
            rows: bars.collect(),
        }
    }
}

#[derive(Serialize)]
struct Check {
    label: &'static str,
    text: String,
    tone: Tone,
}

impl Check {
    fn new(label: &'static str, text: &str, tone: Tone) -> Self {
        Self {
            label,
            text: arrows(text),
            tone,
        }
    }
}

#[derive(Serialize)]
struct PatchLine {
    kind: &'static str,
    text: String,
}

impl PatchLine {
    fn new(line: &str) -> Self {
        let kind = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
            [b'+', ..] => "added",
            [b'-', ..] => "removed",
            [b'@', ..] => "hunk",
            _ => "context",
        };
        Self {
            kind,
            text: line.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
