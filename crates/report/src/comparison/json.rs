//! The comparison for programs; `schema/prove.schema.json` describes it.

use crate::json::to_json;
use std::collections::BTreeMap;
use tollgate_defect::Defect;

use serde::{Serialize, Serializer};
use tollgate_measure::{
    Behaviour, ClaimCheck, ClaimCounts, ClaimHere, ClaimRow, ClaimedFigures, Comparison, Context,
    Counts, Figure, FunctionComparison, Group, ImageName, Measured, NotRun, Note, Per,
    PointDifference, Proof, Quantity, Ratio, RepeatDifference, Repetitions, Setting, UnitCount,
    Verdict, Workload, WorkloadComparison,
};

use super::claims;
use super::commands::script;
use crate::words::{self, LIMITS};

/// The version of the JSON form of comparisons; it grows when a reader would
/// break.
pub const PROVE_VERSION: u32 = 2;

/// The result of one run of `prove` as a JSON document that ends with a newline.
/// Totals are integers of all operations of a repetition, and exact where the
/// workload says so; `per_call` and `per_unit` are those divided, as the nearest
/// floats.
///
/// # Errors
/// None that input can cause.
pub fn json(proof: &Proof) -> Result<String, Defect> {
    to_json(&Document {
        version: PROVE_VERSION,
        kind: "prove",
        subject: &proof.subject,
        exit_code: proof.exit_code(),
        comparisons: proof.comparisons.iter().map(JsonComparison::new).collect(),
        pairs: proof.pairs.iter().map(JsonPair::new).collect(),
        not_run: &proof.not_run,
        claims: proof.claims.iter().map(JsonClaim::new).collect(),
        commands: script(&proof.commands),
    })
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    kind: &'static str,
    subject: &'a str,
    exit_code: u8,
    comparisons: Vec<JsonComparison<'a>>,
    pairs: Vec<JsonPair<'a>>,
    not_run: &'a [NotRun],
    claims: Vec<JsonClaim<'a>>,
    commands: Vec<String>,
}

/// A claim, and either what was counted or why nothing was.
#[derive(Serialize)]
struct JsonClaim<'a> {
    text: &'a str,
    source: &'a str,
    nothing: Option<String>,
    here: Option<JsonClaimCounts<'a>>,
}

#[derive(Serialize)]
struct JsonClaimCounts<'a> {
    of: &'a str,
    more_is_better: bool,
    #[serde(flatten)]
    workload: JsonName<'a>,
    net: bool,
    per: &'a str,
    images: Vec<JsonClaimRow<'a>>,
    order: Option<JsonOrder<'a>>,
}

#[derive(Serialize)]
struct JsonClaimRow<'a> {
    letter: char,
    variant: &'a str,
    claimed: f64,
    here: f64,
    groups: BTreeMap<&'a str, u64>,
    agrees: Option<bool>,
}

#[derive(Serialize)]
struct JsonOrder<'a> {
    claimed: &'a str,
    here: &'a str,
    agrees: bool,
}

impl<'a> JsonClaim<'a> {
    fn new(check: &'a ClaimCheck) -> Self {
        let here = match (&check.here, &check.claim.figures) {
            (ClaimHere::Counted(counts), Some(figures)) => {
                Some(JsonClaimCounts::new(figures, counts))
            }
            _ => None,
        };
        Self {
            text: &check.claim.text,
            source: &check.claim.source,
            nothing: here.is_none().then(|| claims::nothing(&check.here)),
            here,
        }
    }
}

impl<'a> JsonClaimCounts<'a> {
    fn new(figures: &'a ClaimedFigures, counts: &'a ClaimCounts) -> Self {
        let row = |row: &'a ClaimRow| {
            let names = figures.groups.iter().map(|group| group.name.as_str());
            JsonClaimRow {
                letter: row.letter,
                variant: &row.variant,
                claimed: row.claimed,
                here: row.here().value(),
                groups: names.zip(row.groups.iter().copied()).collect(),
                agrees: row.agrees,
            }
        };
        Self {
            of: &figures.of,
            more_is_better: figures.more_is_better,
            workload: JsonName::new(&figures.workload),
            net: figures.net,
            per: &counts.per,
            images: counts.rows.iter().map(row).collect(),
            order: counts.order.as_ref().map(|order| JsonOrder {
                claimed: &order.claimed,
                here: &order.here,
                agrees: order.agrees(),
            }),
        }
    }
}

/// Two variants: their figures, without the functions.
#[derive(Serialize)]
struct JsonPair<'a> {
    before: &'a ImageName,
    after: &'a ImageName,
    workloads: Vec<JsonPairWorkload<'a>>,
    behaviour: &'a Behaviour,
}

#[derive(Serialize)]
struct JsonPairWorkload<'a> {
    #[serde(flatten)]
    name: JsonName<'a>,
    control: bool,
    exact: bool,
    per_call: JsonFigures,
    per_unit: Option<JsonFigures>,
}

impl<'a> JsonPair<'a> {
    fn new(pair: &'a Comparison) -> Self {
        Self {
            before: &pair.before,
            after: &pair.after,
            workloads: pair.workloads.iter().map(JsonPairWorkload::new).collect(),
            behaviour: &pair.behaviour,
        }
    }
}

impl<'a> JsonPairWorkload<'a> {
    fn new(row: &'a WorkloadComparison) -> Self {
        Self {
            name: JsonName::new(&row.workload),
            control: row.control,
            exact: row.exact(),
            per_call: JsonFigures::new(row, Per::Call),
            per_unit: row.unit.as_ref().map(|_| JsonFigures::new(row, Per::Unit)),
        }
    }
}

#[derive(Serialize)]
struct JsonComparison<'a> {
    verdict: Verdict,
    exit_code: u8,
    statement: String,
    before: &'a ImageName,
    after: &'a ImageName,
    setting: &'a Setting,
    workloads: Vec<JsonWorkload<'a>>,
    repeat: Option<JsonRepeat<'a>>,
    behaviour: &'a Behaviour,
    contexts: &'a [Context],
    notes: Vec<JsonNote>,
    limits: &'static [&'static str],
}

impl<'a> JsonComparison<'a> {
    fn new(comparison: &'a Comparison) -> Self {
        Self {
            verdict: comparison.verdict,
            exit_code: comparison.verdict.exit_code(),
            statement: words::statement(comparison),
            before: &comparison.before,
            after: &comparison.after,
            setting: &comparison.setting,
            workloads: comparison
                .workloads
                .iter()
                .map(|row| JsonWorkload::new(comparison, row))
                .collect(),
            contexts: &comparison.contexts,
            repeat: comparison.repeat.as_ref().map(|repeat| JsonRepeat {
                workloads: repeat.workloads,
                moved: repeat.moved.iter().map(JsonMoved::new).collect(),
                points: repeat.behaviour.points,
                differences: &repeat.behaviour.differences,
            }),
            behaviour: &comparison.behaviour,
            notes: comparison.notes.iter().map(JsonNote::new).collect(),
            limits: LIMITS,
        }
    }
}

#[derive(Serialize)]
struct JsonWorkload<'a> {
    #[serde(flatten)]
    name: JsonName<'a>,
    control: bool,
    exact: bool,
    unit: Option<&'a UnitCount>,
    before: JsonMeasured<'a>,
    after: JsonMeasured<'a>,
    per_call: JsonFigures,
    per_unit: Option<JsonFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<JsonContext>,
    #[serde(skip_serializing_if = "Option::is_none")]
    net: Option<JsonNet<'a>>,
    functions: Vec<JsonFunction<'a>>,
}

/// Bytes of registers per unit: the saves and loads by the size of a context.
#[derive(Serialize)]
struct JsonContext {
    bytes: u64,
    moved: JsonFigure,
}

/// What is left per unit without another benchmark.
#[derive(Serialize)]
struct JsonNet<'a> {
    less: JsonName<'a>,
    exact: bool,
    kernel: JsonFigure,
}

impl<'a> JsonWorkload<'a> {
    fn new(comparison: &'a Comparison, row: &'a WorkloadComparison) -> Self {
        let function = |function| JsonFunction::new(row, function);
        let moved = row.context_moved(Per::Unit).map(JsonFigure::new);
        let net = comparison
            .nets()
            .find(|net| net.row.workload == row.workload);
        Self {
            name: JsonName::new(&row.workload),
            control: row.control,
            exact: row.exact(),
            unit: row.unit.as_ref(),
            before: JsonMeasured::new(&row.before),
            after: JsonMeasured::new(&row.after),
            per_call: JsonFigures::new(row, Per::Call),
            per_unit: row.unit.as_ref().map(|_| JsonFigures::new(row, Per::Unit)),
            context: row
                .context_bytes
                .zip(moved)
                .map(|(bytes, moved)| JsonContext { bytes, moved }),
            net: net.map(|net| JsonNet {
                less: JsonName::new(&net.less.workload),
                exact: net.exact(),
                kernel: JsonFigure::new(net.kernel()),
            }),
            functions: row.functions.iter().map(function).collect(),
        }
    }
}

#[derive(Serialize)]
struct JsonName<'a> {
    benchmark: &'a str,
    parameters: BTreeMap<&'a str, i64>,
    abi: Option<&'a str>,
    cpu: Option<&'a str>,
}

impl<'a> JsonName<'a> {
    fn new(workload: &'a Workload) -> Self {
        let parameters = workload
            .parameters
            .iter()
            .map(|(name, value)| (name.as_str(), *value));
        Self {
            benchmark: &workload.benchmark,
            parameters: parameters.collect(),
            abi: workload.abi.as_deref(),
            cpu: workload.cpu.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct JsonMeasured<'a> {
    operations: u64,
    user: u64,
    kernel: Counts,
    repetitions: Repetitions,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    system_calls: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    tallies: &'a BTreeMap<String, u64>,
}

impl<'a> JsonMeasured<'a> {
    fn new(measured: &'a Measured) -> Self {
        Self {
            operations: measured.operations,
            user: measured.user,
            kernel: measured.kernel,
            repetitions: measured.repetitions,
            system_calls: &measured.system_calls,
            tallies: &measured.tallies,
        }
    }
}

/// Every quantity by its key; what is not always shown is left out where there is
/// none, that of the registers together.
#[derive(Serialize)]
struct JsonFigures {
    #[serde(flatten)]
    own: Named,
    #[serde(skip_serializing_if = "Option::is_none")]
    fpu: Option<Named>,
}

/// Figures by key, in their order.
struct Named(Vec<(&'static str, JsonFigure)>);

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, figure)| (key, figure)))
    }
}

impl JsonFigures {
    fn new(row: &WorkloadComparison, per: Per) -> Self {
        let named = |quantity: Quantity| {
            let figure = JsonFigure::new(row.figure(per, quantity));
            (quantity.key(), figure)
        };
        let shown = |one: &Quantity| one.is_always_shown() || row.has(*one);
        let own = Quantity::all().filter(|one| one.group() != Group::Registers);
        Self {
            own: Named(own.filter(shown).map(named).collect()),
            fpu: row
                .moves_registers()
                .then(|| Named(Quantity::of_group(Group::Registers).map(named).collect())),
        }
    }
}

#[derive(Serialize)]
struct JsonFigure {
    before: f64,
    after: f64,
    difference: f64,
}

impl JsonFigure {
    fn new(figure: Figure) -> Self {
        let difference = figure.difference().value();
        Self {
            before: figure.before.value(),
            after: figure.after.value(),
            difference,
        }
    }
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    #[serde(flatten)]
    counts: &'a FunctionComparison,
    before_share: f64,
    after_share: f64,
}

impl<'a> JsonFunction<'a> {
    fn new(row: &WorkloadComparison, counts: &'a FunctionComparison) -> Self {
        let share =
            |of: Counts, whole: Counts| Ratio::new(of.instructions(), whole.instructions()).value();
        Self {
            counts,
            before_share: share(counts.before, row.before.kernel),
            after_share: share(counts.after, row.after.kernel),
        }
    }
}

#[derive(Serialize)]
struct JsonRepeat<'a> {
    workloads: usize,
    moved: Vec<JsonMoved<'a>>,
    points: usize,
    differences: &'a [PointDifference],
}

#[derive(Serialize)]
struct JsonMoved<'a> {
    #[serde(flatten)]
    name: JsonName<'a>,
    operations: u64,
    first: JsonTotals,
    second: JsonTotals,
}

#[derive(Serialize)]
struct JsonTotals {
    user: u64,
    kernel: Counts,
}

impl<'a> JsonMoved<'a> {
    fn new(moved: &'a RepeatDifference) -> Self {
        Self {
            name: JsonName::new(&moved.workload),
            operations: moved.operations,
            first: JsonTotals {
                user: moved.first_user,
                kernel: moved.first,
            },
            second: JsonTotals {
                user: moved.second_user,
                kernel: moved.second,
            },
        }
    }
}

#[derive(Serialize)]
struct JsonNote {
    kind: &'static str,
    incomplete: bool,
    text: String,
}

impl JsonNote {
    fn new(note: &Note) -> Self {
        Self {
            kind: note.kind(),
            incomplete: note.incomplete(),
            text: words::note(note),
        }
    }
}
